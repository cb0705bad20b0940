/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the fuzzers share.  Each is one file that defines LLVMFuzzerTestOneInput(): it hands bytes
 * to a part that reads what a traced program or a user gives, and aborts where the part breaks
 * its word.  (libFuzzer: https://llvm.org/docs/LibFuzzer.html) */
#ifndef FUZZ_H
#define FUZZ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(what)									\
	do {										\
		if (!(what)) {								\
			fprintf(fuzz_stderr(), "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
			abort();							\
		}									\
	} while (0)

/* Bytes not used yet. */
struct input { const uint8_t *at; size_t left; };

/* Takes a number of the next n bytes, fewer or 0 at the end. */
unsigned long long take(struct input *in, size_t n);

/* Takes the text up to the next 0 byte or the end; the caller's to free(). */
char *take_text(struct input *in);

/* From here standard output, or standard error too, is kept, up to captured(), which returns
 * the text, good until the next capture(). */
void capture(bool errors_too);
const char *captured(void);
FILE *fuzz_stderr(void);

/* Is it UTF-8 with nothing that a terminal acts upon, but for line ends and tabs if they are allowed?
 * The number of its characters, or -1. */
long printable(const char *text, bool lines);

/* Is each line of the text a JSON value, and printable? */
bool is_json(const char *text);

#endif
