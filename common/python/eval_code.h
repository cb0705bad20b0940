/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The code of _PyEval_EvalFrameDefault that the compiler has moved away from its function.  gcc 16 moves nearly
 * all of it; the symbols of such parts (".cold") are stripped with the others that are not exported. */
#ifndef PYTHON_EVAL_CODE_H
#define PYTHON_EVAL_CODE_H
#include <stdbool.h>

struct elf_file;

enum { EVAL_PARTS = 2 };

/* File offsets; all zero: there is none. */
struct eval_code {
	struct { unsigned long long start, end; } parts[EVAL_PARTS];
};

/* Finds the parts by the jumps to them from the function of size bytes at this address.  For a helper:
 * the file is another user's. */
void eval_code_find(struct eval_code *e, const struct elf_file *f, unsigned long long addr,
		    unsigned long long size);

/* Return true if the code at this file offset is in one of the parts. */
bool eval_code_has(const struct eval_code *e, unsigned long long offset);

#endif
