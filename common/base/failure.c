/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include "base/failure.h"

void failure_set(struct failure *f, int status, int err, const char *fmt, ...)
{
	va_list ap;

	if (f->text)
		return;
	va_start(ap, fmt);
	if (vasprintf(&f->text, fmt, ap) < 0)
		die(ENOMEM, "a string");
	va_end(ap);
	f->err = err;
	f->status = status;
}

void failure_die(const struct failure *f)
{
	if (f->status == EXIT_FAILURE)
		die(f->err, "%s", f->text);
	die_status(f->status, f->err, "%s", f->text);
}
