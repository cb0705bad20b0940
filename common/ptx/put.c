// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/put.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void put_bytes(struct ptx_out *out, const char *s, size_t n)
{
	if (out->failed)
		return;
	if (out->max - out->n <= n) {
		size_t max = out->max ? out->max : 4096;
		char *grown;

		while (max - out->n <= n && max <= (size_t)-1 / 4)
			max *= 2;
		grown = max - out->n > n ? realloc(out->s, max) : NULL;
		if (!grown) {
			out->failed = true;
			return;
		}
		out->s = grown;
		out->max = max;
	}
	if (n)
		memcpy(out->s + out->n, s, n);
	out->n += n;
	out->s[out->n] = 0;
}

void put(struct ptx_out *out, const char *text)
{
	put_bytes(out, text, strlen(text));
}

void put_str(struct ptx_out *out, struct ptx_str str)
{
	put_bytes(out, str.s, str.n);
}

void put_number(struct ptx_out *out, unsigned long long number)
{
	char digits[24], *p = digits + sizeof(digits);

	do
		*--p = (char)('0' + number % 10);
	while (number /= 10);
	put_bytes(out, p, (size_t)(digits + sizeof(digits) - p));
}

void put_format(struct ptx_out *out, const char *format, ...)
{
	char text[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(text))
		out->failed = true;
	else
		put_bytes(out, text, (size_t)n);
}
