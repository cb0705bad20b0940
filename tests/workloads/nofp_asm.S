/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Functions as people write them by hand, with CFI that compilers never emit: nofp.h lists them. */
#include "tests/nofp_asm.S"
