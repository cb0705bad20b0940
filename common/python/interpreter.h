/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which files are Python interpreters, by their symbols. */
#ifndef PYTHON_INTERPRETER_H
#define PYTHON_INTERPRETER_H
#include <stdbool.h>
#include "abi/python_frames.h"
#include "python/eval_code.h"

struct helper_pool;

enum {
	PYTHON_FIRST = 0x0308, PYTHON_LAST = 0x030f,	/* PY_VERSION_HEX >> 16 */
	PYTHON_DEBUG = 0x030d,		/* from here on _PyRuntime says where everything is */
	PYTHON_DEBUG_WORDS = 112	/* that are needed of struct _Py_DebugOffsets */
};

enum { INTERPRETER_SEGMENTS = 4 };

struct interpreter {
	unsigned long long runtime;	/* address of _PyRuntime in the file; 0: it is none … */
	bool is_old;			/* … or of Py_GetVersion(), if it is older than 3.7, and then version is 2 or 3 */
	unsigned long long version_at;	/* of Py_Version (3.11 and newer), or 0 … */
	unsigned version;		/* … and then PY_VERSION_HEX >> 16, or 0 if it is older than 3.8 */
	unsigned nsegments;
	struct { unsigned long long offset, size, address; } segments[INTERPRETER_SEGMENTS];	/* of code */
	struct eval_code eval;
};

/* Data of a file.  Starts zeroed. */
struct interpreter_file {
	bool read;
	unsigned long long tried;	/* when, ns */
	struct interpreter interpreter;
};

/* Return true if files of this name are often interpreters: libpython, and what is no library. */
bool interpreter_is_usual(const char *path);

/* Returns what the file is, whatever its name, read through an O_PATH descriptor for a process, once if
 * that is possible; key identifies it among all files.  NULL if it is no interpreter, as far as is
 * known.  It lives within f. */
const struct interpreter *interpreter_get(struct interpreter_file *f, struct helper_pool *l, int pid,
					  const char *key, int fd);

/* Sets *bias to what is to be added to addresses in the file, if its code at this file offset is mapped
 * at start; false if the file has no code there. */
bool interpreter_bias(const struct interpreter *it, unsigned long long start, unsigned long long offset,
		      unsigned long long *bias);

/* Sets frame_size, code_size and at for an interpreter of this version, from the words at its
 * _PyRuntime, which only newer ones than 3.12 need.  Return false if the version is not supported, or
 * if the words make no sense: they are another user's program's. */
bool layout_choose(struct python_process *p, unsigned version, const unsigned long long words[PYTHON_DEBUG_WORDS]);

#endif
