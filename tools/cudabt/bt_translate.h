/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Translates a program with CUDA probes, cuda:FUNC and cudaret:FUNC, to plain bpftrace, without access
 * to files or processes. */
#ifndef CUDABT_BT_TRANSLATE_H
#define CUDABT_BT_TRANSLATE_H
#include <stdbool.h>
#include <stddef.h>
#include "cudabt/bt_parse.h"

/* A file with CUDA functions. */
struct bt_file {
	const char *path;	/* can be quoted in a script, and is taken literally there */
	const int *ids;		/* ids of its n functions, as in cuda_protos[] */
	int n;
	int fd;			/* of the stand-in; unused by the translation */
};

/* A program with CUDA probes, and the bpftrace script that it is translated to. */
struct bt_script {
	const char *text;	/* the program; needs no terminating NUL */
	size_t len;
	const struct bt_file *files;
	int nfiles;
	/* Only processes for which the condition is true are traced.  The statements run before it and
	 * set its variables.  NULL: none. */
	const char *condition, *statements;
	/* set by bt_analyze() and bt_translate(), freed by bt_script_free() */
	bool *wanted;		/* by id: the program probes this function */
	bool returns;		/* it probes the returns of some */
	unsigned char *blocks;	/* at 2 * id for the entry, at 2 * id + 1 for the return: 1 if one
				 * block is for it, 2 if several are */
	char *out;		/* the script */
	size_t out_len;
	int nprobes;		/* uprobes and uretprobes in it */
	char *notes;		/* requested functions that are not probed, one note per line, or NULL */
	struct bt_error error;
};

/* Checks the program and sets wanted; false with error set. */
bool bt_analyze(struct bt_script *s);

/* Call after bt_analyze(): writes the script for the functions that the files have; false with error
 * set. */
bool bt_translate(struct bt_script *s);

/* Frees the results of bt_analyze() and bt_translate(). */
void bt_script_free(struct bt_script *s);

#endif
