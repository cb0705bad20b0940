/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Helpers of all fuzzers.  Each fuzzer is one file that defines LLVMFuzzerTestOneInput(): it feeds
 * bytes to code that reads input from a traced program or a user, and aborts if the code breaks
 * its contract.  (libFuzzer: https://llvm.org/docs/LibFuzzer.html) */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H
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

/* The bytes not consumed yet. */
struct input { const uint8_t *at; size_t left; };

/* Takes a number from the next n bytes, from fewer near the end, 0 at the end. */
unsigned long long take(struct input *in, size_t n);

/* Takes the text up to the next 0 byte or the end.  The caller frees it. */
char *take_text(struct input *in);

/* capture() redirects standard output, and optionally standard error, to memory.  captured() ends
 * that and returns the text, valid until the next capture(). */
void capture(bool errors_too);
const char *captured(void);
FILE *fuzz_stderr(void);

/* Returns the number of characters if the text is UTF-8 with nothing that a terminal acts upon,
 * except newlines and tabs if lines is true; else -1. */
long printable(const char *text, bool lines);

/* Return true if each line of the text is a JSON value, and printable. */
bool is_json(const char *text);

#endif
