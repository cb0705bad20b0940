/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Python frames in call stacks. */
#ifndef PYTHON_H
#define PYTHON_H
#include "abi/record.h"
#include "abi/stack_frames.h"

/* A frame of kind FRAME_PYTHON: the number of the code object, which a record of kind RECORD_CODE
 * described before; the instruction that runs, in code units; and whether the interpreter's C function
 * was entered here, so that the next Python frame belongs to another native one. */
#define FRAME_PYTHON_ENTRY	(1ull << 62)
#define FRAME_PYTHON_UNIT_BITS	24
#define FRAME_PYTHON_OF(code, unit, entry)						\
	(FRAME_PYTHON | ((entry) ? FRAME_PYTHON_ENTRY : 0) |				\
	 ((unsigned long long)(unit) & 0xffffff) << 32 | (unsigned int)(code))

static inline unsigned int frame_python_code(unsigned long long frame)
{
	return frame;
}

static inline unsigned int frame_python_unit(unsigned long long frame)
{
	return frame >> 32 & 0xffffff;
}

#endif
