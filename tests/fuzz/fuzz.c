/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <jansson.h>
#include <locale.h>
#include <wchar.h>
#include <wctype.h>
#include "fuzz.h"

static FILE *real_stdout, *real_stderr;
static char *text;
static size_t text_len;

unsigned long long take(struct input *in, size_t n)
{
	unsigned long long value = 0;

	n = n < in->left ? n : in->left;
	memcpy(&value, in->at, n);
	in->at += n;
	in->left -= n;
	return value;
}

char *take_text(struct input *in)
{
	char *s = strndup((const char *)in->at, in->left);
	size_t len = strlen(s);

	len += len < in->left;
	in->at += len;
	in->left -= len;
	return s;
}

void capture(bool errors_too)
{
	free(text);
	text = NULL;
	real_stdout = stdout;
	stdout = open_memstream(&text, &text_len);
	if (!stdout)
		abort();
	if (errors_too) {
		real_stderr = stderr;
		stderr = stdout;
	}
}

const char *captured(void)
{
	fclose(stdout);
	stdout = real_stdout;
	if (real_stderr)
		stderr = real_stderr;
	real_stderr = NULL;
	CHECK(strlen(text) == text_len);
	return text;
}

FILE *fuzz_stderr(void)
{
	return real_stderr ? real_stderr : stderr;
}

/* Return true for characters with the property Bidi_Control (Unicode 15, PropList.txt), and for the
 * line and paragraph separators. */
static bool turns(wchar_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

long printable(const char *s, bool lines)
{
	long n = 0;
	wchar_t c;
	int len;

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		abort();
	for (; *s; s += len, n++) {
		len = mbtowc(&c, s, MB_CUR_MAX);
		if (len < 1 || c > 0x10ffff || turns(c) || ((iswcntrl(c) || c < ' ') && !(lines && (c == '\n' || c == '\t'))))
			return -1;
	}
	return n;
}

bool is_json(const char *s)
{
	const size_t flags = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL;
	size_t len;

	if (printable(s, true) < 0)
		return false;
	for (; *s; s += len + 1) {
		json_t *value;

		len = strcspn(s, "\n");
		value = s[len] ? json_loadb(s, len, flags, NULL) : NULL;
		if (!value)
			return false;
		json_decref(value);
	}
	return true;
}
