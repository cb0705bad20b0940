/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A timeline that Perfetto and chrome://tracing open: the Trace Event Format, a JSON array of
 * complete events ("ph":"X"), https://chromium.googlesource.com/catapult, docs/trace-event-format */
#ifndef TRACE_CHROME_H
#define TRACE_CHROME_H
#include <stdbool.h>

struct trace_call;

/* Makes or empties the file; exits 1 if it cannot. */
void trace_chrome_open(const char *path);

void trace_chrome_call(const struct trace_call *call);

/* Ends the array and closes the file.  A failure to write is a warning, and false. */
bool trace_chrome_close(void);

#endif
