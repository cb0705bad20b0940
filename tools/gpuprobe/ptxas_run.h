/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runs a program whose output counts only if it succeeds. */
#ifndef GPUPROBE_PTXAS_RUN_H
#define GPUPROBE_PTXAS_RUN_H
#include <stdbool.h>

struct ran {
	int out, err;		/* memory that has what it printed */
};

/* Returns true if it has ended with status 0: ptxas_ran() afterwards. */
bool ptxas_run(struct ran *ran, const char *file, char **argv);

/* Prints what it has printed. */
void ptxas_ran(struct ran *ran);

#endif
