/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Python frames in call stacks, and what bpf/lib/python.bpf.h and common/python exchange. */
#ifndef ABI_PYTHON_FRAMES_H
#define ABI_PYTHON_FRAMES_H
#include "abi/record.h"
#include "abi/shares.h"
#include "abi/stack_frames.h"

/* A frame of kind FRAME_PYTHON: the number of the code object, which a record of kind RECORD_CODE
 * described before, 0 = unknown; the instruction that runs, in code units; and whether the
 * interpreter's C function was entered here, so that the next Python frame belongs to another native
 * one. */
#define FRAME_PYTHON_ENTRY	(1ull << 62)
#define FRAME_PYTHON_UNIT_BITS	24
#define FRAME_PYTHON_NOT_BEGUN	0xffffff	/* a unit: before the first instruction */
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

/* The value of a note NOTE_PYTHON_LOST. */
enum python_loss {
	PYTHON_NO_FRAMES,	/* nothing is lost: the thread has none */
	PYTHON_TOO_DEEP,	/* there are more than STACK_PYTHON frames */
	PYTHON_UNREADABLE,	/* a frame or code object cannot be read */
	PYTHON_TOO_MANY,	/* threads or interpreters: this thread's frames were not found */
	PYTHON_NO_MEMORY,	/* for what is kept of the thread */
	PYTHON_UNSUPPORTED,	/* this version of Python: see PYTHON_UNSUPPORTED_OF() */
	PYTHON_NOT_YET,		/* the programs did not know that the process runs Python */
	PYTHON_LOSSES
};

/* version: PY_VERSION_HEX >> 16; for one without Py_Version, its major version */
#define PYTHON_UNSUPPORTED_OF(version) (PYTHON_UNSUPPORTED | ((version) & 0xffffu) << 8)

/* Where an interpreter keeps what is read of it: offsets in its structs, in bytes, and the values of
 * flags.  CPython's names are in scripts/gen-python-layouts. */
struct python_layout {
	unsigned int version;		/* PY_VERSION_HEX >> 16 */
	unsigned int free_threaded;	/* built without a GIL */
	unsigned int interpreters, interp_next, threads;
	unsigned int thread_next, thread_id, thread_frame, cframe_frame;
	unsigned int frame_back, frame_code, frame_instr, frame_owner, frame_entry, frame_tlbc;
	unsigned int code_file, code_name, code_lines, code_first, code_units, code_tlbc, code_version;
	unsigned int text_state, text_kind, text_length, text_ascii, text_compact;
	unsigned int bytes_size, bytes_data;
};

/* How much is read of a frame and a code object at most: powers of two, as the verifier can track
 * such bounds. */
enum { PYTHON_FRAME_BYTES = 128, PYTHON_CODE_BYTES = 256 };

/* A process that runs Python: an element of the map python_processes, by process id. */
struct python_process {
	unsigned long long runtime;	/* the address of _PyRuntime */
	unsigned int loss;		/* as in a note NOTE_PYTHON_LOST: why its frames are not walked, or 0 */
	unsigned int frame_size, code_size;	/* what is read of a frame and a code object: words */
	unsigned int unused;
	struct python_layout at;
};

/* Tells a code object from another one at the same address later. */
struct python_code_key {
	unsigned int first_line, pid;
	unsigned long long code;	/* its address */
	unsigned long long tag;		/* made of its version (3.12 and newer) or of what is in it */
};

/* Such an object has a number, from 1 on, in the map python_codes. */
struct python_code_value {
	unsigned int number, share;	/* share: the user's number, see abi/shares.h */
};

enum { PYTHON_CODES = 65536 };

/* In a map of its own. */
struct python_shared {
	struct shares codes;
	unsigned long long last;	/* number given */
};

enum {
	PYTHON_NAME = 256, PYTHON_FILE = 512,	/* bytes of strings; longer ones are cut */
	PYTHON_LINES = 60 << 10,	/* bytes of a line table; larger ones are not sent */
};

/* A string as Python has it: characters of 1, 2 or 4 bytes. */
struct python_text {
	unsigned long long at;		/* its address */
	unsigned short bytes;		/* in the record; 0: it could not be read */
	unsigned char kind;		/* bytes of a character */
	unsigned char cut;		/* it is longer */
	unsigned int unused;
};

/* The record of kind RECORD_CODE: followed by bytes of the line table. */
struct python_code_record {
	struct record head;
	struct python_code_key key;
	struct python_code_value value;
	unsigned int version;		/* python_layout.version: how the line table is encoded */
	unsigned int lines_bytes;	/* in the record; 0: the table could not be read, or is larger */
	unsigned long long lines_size;	/* of the whole table, ~0 = unknown … */
	unsigned long long lines_at;	/* … and its address */
	struct python_text name, file;
	char name_text[PYTHON_NAME], file_text[PYTHON_FILE];
	unsigned char lines[];
};

#endif
