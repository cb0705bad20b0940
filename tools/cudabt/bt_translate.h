/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A program with CUDA's probes, cuda:FUNC and cudaret:FUNC, made one that bpftrace knows.  Nothing
 * here looks at files or processes: what is known of them is passed. */
#ifndef BT_TRANSLATE_H
#define BT_TRANSLATE_H
#include <stdbool.h>
#include <stddef.h>
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
	/* what bt_check() and bt_translate() leave */
	bool *wanted;		/* by id: functions that the program means; the caller's */
	unsigned char *blocks;	/* by 2 * id, of its entry, and 2 * id + 1, of its return: 1 if a block
				 * is for it, 2 if several are; the caller's */
	char *out;		/* the script; the caller's */
	size_t out_len;
	int nprobes;		/* uprobes and uretprobes in it */
	char *notes;		/* what is not probed though it was asked for, a line each, or
				 * NULL; the caller's */
	struct bt_error error;
};

/* Looks for mistakes, and for which functions files are to be searched; false with error set. */
bool bt_check(struct bt_script *s);

/* After that: writes the script for the functions that the files have; false with error set. */
bool bt_translate(struct bt_script *s);

#endif
