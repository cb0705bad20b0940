/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Python frames: where the interpreters in processes are, so that the BPF programs can walk their
 * frames, and the names and lines of the code objects that the programs report. */
#ifndef PYTHON_PYTHON_H
#define PYTHON_PYTHON_H
#include <stdbool.h>
#include <stddef.h>
#include "python/code.h"

struct bpf_object;
struct helper_pool;
struct python;

/* Opens the maps of bpf/lib/python.bpf.h in a loaded object; NULL if it has none.  looks must outlive
 * it.  Without an object the frames are those of python_frames() only.  The functions below accept NULL. */
struct python *python_new(struct helper_pool *helpers, const struct bpf_object *obj);

/* Frees everything that the functions below returned. */
void python_free(struct python *p);

struct interpreter_file;
struct python_file {
	const char *key, *path;	/* key identifies the file among all */
	int fd;			/* with O_PATH, or negative */
	struct interpreter_file *known;	/* is kept with the file */
};

/* Call for each executable mapping of a file in a process, in address order: if it is an interpreter,
 * its frames are walked from now on. */
void python_mapping(struct python *p, int pid, const struct python_file *f, unsigned long long start,
		    unsigned long long offset);

/* Return true if the process has an interpreter. */
bool python_runs(const struct python *p, int pid);

/* Call when the process ended or exec replaced its program. */
void python_forget(struct python *p, int pid);

/* Call regularly: an interpreter may not have been readable at first. */
void python_tick(struct python *p);

struct walk_frames;

/* Reads the frames of a thread, whose thread pointer this is, from outside (python/walk.h): for one without an
 * object.  Valid until the next call, as is what the functions below return for them.  Return false if the process
 * does not run Python, as far as is known. */
bool python_frames(struct python *p, int pid, unsigned long long self, struct walk_frames *to);

/* Takes a record of kind RECORD_CODE. */
void python_record(struct python *p, const void *data, size_t size);

/* Returns the code object of a frame (abi/python_frames.h) taken in a process; NULL if it is unknown.  Code with
 * equal names and lines is one pointer, in any process. */
const struct python_code *python_code(struct python *p, int pid, unsigned long long frame);

/* Returns the line that a frame runs; 0 if it is unknown. */
int python_line(struct python *p, int pid, unsigned long long frame);

/* Return true if Python hides the frame of this code and line, too: from 3.12 on a warm call of a class has
 * one more, for the code that runs when __init__ returns (_Py_InitCleanup in Python/specialize.c). */
bool python_hides(const struct python_code *code, int line);

/* Writes why Python frames end here: the value of a note NOTE_PYTHON_LOST. */
void python_loss(unsigned long long value, char *text, size_t size);

/* Return true if this native function runs Python frames. */
bool python_is_eval(const char *function);

#endif
