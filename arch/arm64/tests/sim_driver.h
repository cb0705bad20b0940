/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How the exports of the simulated driver begin: tests/sim/drv.h, which includes this. */
#ifndef TESTS_SIM_DRIVER_H
#define TESTS_SIM_DRIVER_H

/* as the compiler has them: NVIDIA's were not at hand */
#define DRV_IMPL(name) name
#define DRV_STUB(name) EXPORTED __typeof__(name) name

#endif
