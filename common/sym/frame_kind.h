/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a line of a call stack is. */
#ifndef FRAME_KIND_H
#define FRAME_KIND_H

enum frame_kind {
	FRAME_KIND_NATIVE,
	FRAME_KIND_PYTHON,
	FRAME_KIND_NOTE,	/* why frames are missing */
	FRAME_KIND_JIT,		/* generated code of which the program itself says the name */
};

#endif
