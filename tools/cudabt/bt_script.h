/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A program with CUDA's probes, and the script for bpftrace that it becomes. */
#ifndef BT_SCRIPT_H
#define BT_SCRIPT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "cudabt/bt_lex.h"

/* A file with CUDA functions. */
struct bt_file {
	const char *path;	/* one that can stand between quotes in a script, and means itself there */
	const int *ids;		/* its functions, n of them, as in cuda_protos[] */
	int n;
};

struct bt_script {
	const char *text;	/* the program; needs no NUL at its end */
	size_t len;
	const struct bt_file *files;
	int nfiles;
	/* Calls are seen of processes for which the condition is true, computed by statements, which
	 * leave it in variables of their own, before; NULL: no condition, no statements. */
	const char *condition, *statements;
	/* what bt_check() and bt_translate() leave, for bt_script_free() */
	bool *wanted;		/* by id: functions that the program means */
	unsigned char *blocks;	/* by 2 * id, of its entry, and 2 * id + 1, of its return: 1 if a block
				 * is for it, 2 if several are */
	char *out;		/* the script */
	size_t out_len;
	int nprobes;		/* uprobes and uretprobes in it */
	char *notes;		/* what is not probed though it was asked for, a line each, or
				 * NULL */
	struct bt_error error;
};

/* Frees what bt_check() and bt_translate() left; not the program, the files or the condition. */
void bt_script_free(struct bt_script *s);

/* Writes statements, under a condition unless it is NULL. */
void bt_print_if(FILE *f, const char *condition, const char *statements);

#endif
