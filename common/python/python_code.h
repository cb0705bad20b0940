/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What Python calls its code. */
#ifndef PYTHON_CODE_H
#define PYTHON_CODE_H

/* One code object: a function, class body, comprehension or module. */
struct python_code {
	const char *name;	/* qualified if known (Python 3.11 and newer) */
	const char *file;
	int first_line;
};

#endif
