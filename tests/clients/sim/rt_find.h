/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The driver's functions that only clients' runtimes need. */
#ifndef TESTS_CLIENTS_SIM_RT_FIND_H
#define TESTS_CLIENTS_SIM_RT_FIND_H

/* The driver's function of that name; NULL: it has none, or there is no driver. */
__attribute__((visibility("hidden"))) void *rt_find(const char *name);
#define DRIVER(name) ((__typeof__(name) *)rt_find(#name))

#endif
