/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Call stacks in records: frames of 8 bytes each, from the caller outwards: first the native frames,
 * return addresses; then the Python frames of the same thread.  Where there are no more, or why, is
 * replaced by notes. */
#ifndef ABI_STACK_FRAMES_H
#define ABI_STACK_FRAMES_H

enum {
	STACK_NATIVE = 127,	/* the kernel's default limit, kernel.perf_event_max_stack */
	STACK_PYTHON = 92,	/* as much as fits into cudatrace's record */
	STACK_FRAMES = STACK_NATIVE + STACK_PYTHON + 2	/* each part may end with a note */
};

/* The kind of a frame is in its top byte, which no user address has. */
#define FRAME_PYTHON	(1ull << 63)	/* see abi/python_frames.h */
#define FRAME_NOTE	(1ull << 62)
#define FRAME_EXACT	(1ull << 61)	/* native: the function was interrupted there, so that the
					 * address is that of an instruction, not one behind a call */

/* Of a note: bits 56 to 61 say which, the others have a value. */
enum frame_note {
	NOTE_COPIED,		/* instead of native frames: the number of a struct stack_copy */
	NOTE_TOO_LARGE,		/* the stack is larger than value KiB */
	NOTE_TOO_DEEP,		/* there are more than value frames */
	NOTE_NO_RULES,		/* the code at address value has no unwind information */
	NOTE_BAD_RULES,		/* … has some that leads nowhere */
	NOTE_UNREADABLE,	/* the stack cannot be read at address value */
	NOTE_LOST,		/* there was no room for a copy of the stack */
	NOTE_PYTHON_LOST,	/* Python frames: why they end is in value, see abi/python_frames.h */
	NOTE_GO_LOST,		/* Go frames: value is an enum go_loss */
	NOTE_NO_STACK,		/* the only frame, never in a record: value is an enum no_stack */
};

/* Why the frames of a goroutine that called C are not there. */
enum go_loss {
	GO_NOT_YET,		/* the programs did not know that the process runs Go */
	GO_NO_PLACE,		/* it is unknown where a thread has its goroutine */
	GO_UNREADABLE,		/* the goroutine, or what says which it is */
	GO_CALLED_BACK,		/* the outermost frame was called by C: its callers are on the stack of C */
	GO_FRAMES,		/* nothing is lost */
	GO_LOSSES
};

/* Why there is a note instead of a stack. */
enum no_stack {
	NO_STACK_CALL,		/* nothing is lost: the call was not seen */
	NO_STACK_RETURN,	/* … it is taken at the return of the call */
	NO_STACK_PYTHON,	/* … only Python frames are wanted, and the thread has none */
	NO_STACK_CALLER,	/* … the thread began with the call */
	NO_STACK_INJECT,	/* … with --attach inject, only threads in calls have stacks */
	NO_STACK_MEMORY,	/* the user's share of memory for call stacks is used up */
	NO_STACK_RECORD,	/* the record with the stack was dropped */
	NO_STACK_TIME,		/* of a call in flight: reading stacks took too long */
	NO_STACK_FORBIDDEN,	/* … the kernel refuses to read it */
	NO_STACK_GONE,		/* … the thread or its memory is gone */
	NO_STACKS
};

#define FRAME_VALUE_BITS 56
#define FRAME_VALUE_MASK ((1ull << FRAME_VALUE_BITS) - 1)
#define FRAME_NOTE_OF(note, value) \
	(FRAME_NOTE | (unsigned long long)(note) << FRAME_VALUE_BITS | ((value) & FRAME_VALUE_MASK))

static inline enum frame_note frame_note_of(unsigned long long frame)
{
	return frame >> FRAME_VALUE_BITS & 63;
}

/* Set before the programs are loaded. */
struct stack_config {
	unsigned int dwarf;	/* unwind by rules, not by frame pointers */
	unsigned int copy;	/* bytes of a stack to copy at most: 4096 to 65536, a power of two */
	unsigned int python;	/* with Python frames */
	unsigned int native;	/* with native frames */
};

#endif
