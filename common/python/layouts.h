/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Where each version of Python keeps what is read of it. */
#ifndef LAYOUTS_H
#define LAYOUTS_H
#include <stdbool.h>
#include "abi/python.h"

enum {
	PYTHON_FIRST = 0x0308, PYTHON_LAST = 0x030f,	/* PY_VERSION_HEX >> 16 */
	PYTHON_DEBUG = 0x030d,		/* from here on _PyRuntime says where everything is */
	PYTHON_DEBUG_WORDS = 112	/* that are needed of struct _Py_DebugOffsets */
};

/* Sets frame_size, code_size and at for an interpreter of this version, from the words at its
 * _PyRuntime, which only newer ones than 3.12 need.  Return false if the version is not supported, or
 * if the words make no sense: they are another user's program's. */
bool layout_choose(struct python_process *p, unsigned version, const unsigned long long words[PYTHON_DEBUG_WORDS]);

#endif
