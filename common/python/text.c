/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/die.h"
#include "python/text.h"

enum { REPLACEMENT = 0xfffd, LONGEST = 4 /* bytes of a character in UTF-8 */ };

static char *put(char *to, unsigned c)
{
	if (c >= 0xdc80 && c <= 0xdcff) {	/* PEP 383 */
		*to++ = c - 0xdc00;
		return to;
	}
	if (!c || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = REPLACEMENT;
	if (c < 0x80) {
		*to++ = c;
		return to;
	}
	if (c < 0x800) {
		*to++ = 0xc0 | c >> 6;
	} else {
		if (c < 0x10000) {
			*to++ = 0xe0 | c >> 12;
		} else {
			*to++ = 0xf0 | c >> 18;
			*to++ = 0x80 | (c >> 12 & 63);
		}
		*to++ = 0x80 | (c >> 6 & 63);
	}
	*to++ = 0x80 | (c & 63);
	return to;
}

char *text_utf8(const void *text, size_t n, unsigned kind, bool cut)
{
	size_t size = kind == 1 || kind == 2 || kind == 4 ? kind : 1;
	char *utf8 = xcalloc(n / size * LONGEST + LONGEST, 1), *to = utf8;

	for (const char *at = text; n >= size; at += size, n -= size) {
		unsigned c = 0;

		memcpy(&c, at, size);	/* little-endian: x86-64 */
		to = put(to, c);
	}
	if (cut)
		put(to, 0x2026);
	return utf8;
}
