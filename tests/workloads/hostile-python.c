/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* hostile-python KIND [N] - a program that looks like Python 3.11 and has nothing but traps where the
 * interpreter keeps its frames.  Calls cudaMalloc N times (7).  KIND:
 *   frames    the frames call each other in a circle
 *   shared    a million frames, all of the same code
 *   threads   the list of threads is a circle without this one
 *   interps   the list of interpreters is a circle
 *   pointers  the frame points to nowhere
 *   code      its code object points to nowhere
 *   strings   names of 2^60 characters
 *   lines     a line table of 2^60 bytes
 *   flood     another code object at each call
 *   none      no trap: victim() in line 41
 * VERSION: what Py_Version says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>

int cudaMalloc(void **p, size_t size);

/* As in common/python/layouts.def, 3.11. */
enum {
	INTERPRETERS = 40, INTERP_NEXT = 0, THREADS = 16, THREAD_NEXT = 8, CFRAME = 56, THREAD_ID = 152,
	CFRAME_FRAME = 8, CODE = 32, BACK = 48, INSTR = 56, NAME = 128, LINES = 136, FILE_NAME = 112, FIRST = 72,
	LENGTH = 16, STATE = 32, TEXT = 48, SIZE = 16, FRAMES = 1000000,
};

#ifndef VERSION
#define VERSION 0x030b02f0
#endif
unsigned long Py_Version = VERSION;
__attribute__((section(".PyRuntime"))) char _PyRuntime[0x28b20] = { 1 };

/* not static: a compiler would leave out what nothing here reads */
char interp[256], thread[256], cframe[64], frame[2][128], code[256], text[128], table[64];
static char *const nowhere = (char *)0x7ff8deadbeef000;

static void set(char *at, size_t offset, const void *value)
{
	memcpy(at + offset, &value, sizeof(value));
}

/* One frame of one function. */
static void make(void)
{
	set(_PyRuntime, INTERPRETERS, interp);
	set(interp, THREADS, thread);
	set(thread, CFRAME, cframe);
	set(thread, THREAD_ID, (void *)pthread_self());
	set(cframe, CFRAME_FRAME, frame[0]);
	set(frame[0], CODE, code);
	set(frame[0], INSTR, code + 186);
	set(code, NAME, text);
	set(code, FILE_NAME, text);
	set(code, LINES, table);
	set(code, FIRST, (void *)41);
	set(text, LENGTH, (void *)6);
	set(text, STATE, (void *)(1 << 2 | 8 << 2 | 16 << 2));
	strcpy(text + TEXT, "victim");
	set(table, SIZE, (void *)4);
	memset(table + 32, 0x80, 4);
}

static void share(void)
{
	char *all = calloc(FRAMES, 128);

	for (size_t i = 0; all && i < FRAMES; i++) {
		memcpy(all + i * 128, frame[0], 128);
		set(all + i * 128, BACK, i ? all + (i - 1) * 128 : NULL);
	}
	set(cframe, CFRAME_FRAME, all + (FRAMES - 1) * 128ul);
}

static void spoil(const char *kind)
{
	if (!strcmp(kind, "frames")) {
		memcpy(frame[1], frame[0], sizeof(frame[0]));
		set(frame[0], BACK, frame[1]);
		set(frame[1], BACK, frame[0]);
	} else if (!strcmp(kind, "shared")) {
		share();
	} else if (!strcmp(kind, "threads")) {
		set(thread, THREAD_ID, NULL);
		set(thread, THREAD_NEXT, thread);
	} else if (!strcmp(kind, "interps")) {
		set(thread, THREAD_ID, NULL);
		set(interp, INTERP_NEXT, interp);
	} else if (!strcmp(kind, "pointers")) {
		set(cframe, CFRAME_FRAME, nowhere);
	} else if (!strcmp(kind, "code")) {
		set(frame[0], CODE, nowhere);
	} else if (!strcmp(kind, "strings")) {
		set(text, LENGTH, (void *)(1ul << 60));
	} else if (!strcmp(kind, "lines")) {
		set(table, SIZE, (void *)(1ul << 60));
	} else if (strcmp(kind, "flood") && strcmp(kind, "none")) {
		exit(2);
	}
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 7;
	void *p;

	if (argc < 2)
		return 2;
	make();
	spoil(argv[1]);
	for (long i = 0; i < n; i++) {
		if (!strcmp(argv[1], "flood"))
			set(code, FIRST, (void *)(1000 + i));
		cudaMalloc(&p, 64);
	}
	return 0;
}
