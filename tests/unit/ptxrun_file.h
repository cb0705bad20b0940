/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef TESTS_UNIT_PTXRUN_FILE_H
#define TESTS_UNIT_PTXRUN_FILE_H
#include "interp.h"

struct world;

/* Loads a file of PTX; exits with 1 if it cannot.  moved: all its variables are elsewhere than they would be. */
struct interp_module *load_file(const char *name, struct world *world, bool moved);
/* Return the name of a fault; "done" for none. */
const char *fault_name(enum interp_fault_kind kind);
bool kernel_reads_clocks(const struct interp_kernel *kernel);

#endif
