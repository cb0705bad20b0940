/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/escape.h"

/* The length of the UTF-8 sequence at s and its code point; 0 if it is not one
 * (Unicode 15, table 3-7: no overlong forms, no surrogates). */
static int utf8(const unsigned char *s, unsigned *point)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	int len = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;

	if (len < 2) {
		*point = *s;
		return len;
	}
	*point = *s & (0x7f >> len);
	for (int i = 1; i < len; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		*point = *point << 6 | (s[i] & 0x3f);
	}
	if (*point < least[len] || *point > 0x10ffff || *point >> 11 == 0x1b)
		return 0;
	return len;
}

/* Characters that control the terminal or reorder what it displays, and those without a width, by which two names that look alike
 * differ (Unicode 15: Cc, Cf, Zl, Zp, and Default_Ignorable_Code_Point). */
static const struct { unsigned first, last; } controls[] = {
	{ 0x0, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x34f, 0x34f }, { 0x600, 0x605 }, { 0x61c, 0x61c }, { 0x6dd, 0x6dd },
	{ 0x70f, 0x70f }, { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f }, { 0x2028, 0x202e },
	{ 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb },
	{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

static bool is_control(unsigned point)
{
	for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++)
		if (point >= controls[i].first && point <= controls[i].last)
			return true;
	return false;
}

/* As JSON has characters: those beyond U+FFFF as two surrogates. */
static void json_escape(FILE *f, unsigned point)
{
	if (point > 0xffff)
		fprintf(f, "\\u%04x\\u%04x", 0xd7c0 + (point >> 10), 0xdc00 + (point & 0x3ff));
	else
		fprintf(f, "\\u%04x", point);
}

/* The length of the leading ASCII that needs no escaping: most text, which takes a single write. */
static size_t plain(const unsigned char *s)
{
	size_t n = 0;

	while (s[n] >= ' ' && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

/* Writes each byte as \xNN; returns the columns written. */
static int hex(FILE *f, const unsigned char *s, int len)
{
	int columns = 0;

	for (int i = 0; i < len; i++)
		columns += fprintf(f, "\\x%02x", s[i]);
	return columns;
}

int escape_next(const char *text, bool *keep)
{
	const unsigned char *s = (const void *)text;
	int len = plain(s);
	unsigned point;

	*keep = len;
	if (len)
		return len;
	len = utf8(s, &point);
	*keep = len && !is_control(point);
	return len ? len : 1;
}

int escape_text(FILE *f, const char *text)
{
	int columns = 0, len;
	bool keep;

	for (; *text; text += len) {
		len = escape_next(text, &keep);
		if (!keep) {
			columns += hex(f, (const void *)text, len);
			continue;
		}
		fwrite_unlocked(text, 1, len, f);
		columns += (unsigned char)*text < 0x80 ? len : 1;
	}
	return columns;
}

void escape_json(FILE *f, const char *text)
{
	const unsigned char *s = (const void *)text;
	unsigned point;
	int len;

	putc_unlocked('"', f);
	for (; *s; s += len) {
		len = plain(s);
		if (len) {
			fwrite_unlocked(s, 1, len, f);
			continue;
		}
		len = utf8(s, &point);
		if (!len) {
			fputs("\\ufffd", f);
			len = 1;
		} else if (point == '"' || point == '\\') {
			fprintf(f, "\\%c", point);
		} else if (is_control(point)) {
			json_escape(f, point);
		} else {
			fwrite_unlocked(s, 1, len, f);
		}
	}
	putc_unlocked('"', f);
}

void escape_lines(FILE *f, const char *text, size_t size, bool json)
{
	const unsigned char *s = (const void *)text, *end = s + size;
	unsigned point;
	int len;

	for (; s < end; s += len) {
		len = plain(s);
		if (len) {
			fwrite_unlocked(s, 1, len, f);
			continue;
		}
		len = utf8(s, &point);
		if (!len) {
			point = 0xfffd;
			len = 1;
		} else if (!is_control(point) || point == '\n' || point == '\t') {
			fwrite_unlocked(s, 1, len, f);
			continue;
		}
		if (json)
			json_escape(f, point);
		else
			hex(f, s, len);
	}
}
