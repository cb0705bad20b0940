/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes what a client says that it takes: Accept and Accept-Encoding. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "cudaexporter/web_page.h"
#include "fuzz.h"

/* The header with a prefix, which the caller frees. */
static char *after(const char *prefix, const char *s)
{
	char *both = malloc(strlen(prefix) + strlen(s) + 1);

	strcpy(both, prefix);
	return strcat(both, s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s = calloc(1, size + 1), *first, *last;

	memcpy(s, data, size);
	/* nothing weighs more than 1, and the first of equals is taken */
	first = after("application/openmetrics-text,", s);
	CHECK(web_accept_format(first) == WEB_OPENMETRICS);
	last = after("text/plain;version=0.0.4 ,", s);
	CHECK(web_accept_format(last) == WEB_TEXT);
	CHECK(web_accept_format(s) == WEB_TEXT || strcasestr(s, "application/openmetrics-text"));
	CHECK(!web_accept_gzip(s) || strcasestr(s, "gzip") || strchr(s, '*'));
	free(first);
	free(last);
	free(s);
	return 0;
}
