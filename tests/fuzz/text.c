/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes text chosen by a program, printed to a terminal, in JSON, a flame graph or a message. */
#include <jansson.h>
#include <wchar.h>
#include "base/die.h"
#include "base/escape.h"
#include "fuzz.h"
#include "sym/stack.h"

/* Characters of common scripts, none of which needs an escape. */
static const struct { wchar_t first, last; } common[] = {
	{ ' ', '~' }, { 0xa0, 0xac }, { 0xae, 0x2ff }, { 0x370, 0x5ff }, { 0x3041, 0x312f },
	{ 0x4e00, 0x9fff }, { 0xac00, 0xd7a3 }, { 0x1f300, 0x1f64f },
};

static bool is_common(wchar_t c)
{
	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
		if (c >= common[i].first && c <= common[i].last)
			return true;
	return false;
}

/* Return true if the text must be left as it is. */
static bool plain(const char *s)
{
	wchar_t c;
	int len;

	if (printable(s, false) < 0)
		return false;
	for (; *s; s += len) {
		len = mbtowc(&c, s, MB_CUR_MAX);
		if (len < 1 || !is_common(c))
			return false;
	}
	return true;
}

static char *as_text(const char *s)
{
	char *text;
	int columns;

	capture(false);
	columns = escape_text(stdout, s);
	text = strdup(captured());
	CHECK(printable(text, false) == columns);
	CHECK(strlen(text) <= 4 * strlen(s));
	CHECK(!plain(s) || !strcmp(s, text));
	return text;
}

static void as_json(const char *s)
{
	const char *text;
	json_t *value;

	capture(false);
	escape_json(stdout, s);
	putchar('\n');
	text = captured();
	CHECK(is_json(text));
	CHECK(strlen(text) <= 6 * strlen(s) + 3);
	value = json_loads(text, JSON_DECODE_ANY, NULL);
	CHECK(json_is_string(value));
	CHECK(!plain(s) || !strcmp(json_string_value(value), s));
	CHECK(strstr(json_string_value(value), "\ufffd") || !strcmp(json_string_value(value), s));
	json_decref(value);
}

static void as_lines(const char *s, size_t size)
{
	capture(false);
	escape_lines(stdout, s, size, false);
	CHECK(printable(captured(), true) >= 0);
	CHECK(!plain(s) || size != strlen(s) || !strcmp(captured(), s));
	capture(false);
	escape_lines(stdout, s, size, true);
	CHECK(printable(captured(), true) >= 0);
}

static void as_folded(const char *s, char *text)
{
	capture(false);
	stack_folded_name(s);
	for (char *at = text; (at = strchr(at, ';')); )
		*at = ':';
	CHECK(!strcmp(captured(), text));
}

static void as_message(const char *s, const char *text)
{
	const char *message;

	capture(true);
	warning(0, "cannot open %s", s);
	message = strstr(captured(), ": cannot open ");
	CHECK(message && !strncmp(message + 14, text, strlen(text)));
	CHECK(!strcmp(message + 14 + strlen(text), "\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *all = calloc(1, size + 1), *s = strndup((const char *)data, size), *text = as_text(s);

	memcpy(all, data, size);
	as_lines(all, size);
	free(all);
	as_json(s);
	as_message(s, text);
	as_folded(s, text);
	free(text);
	free(s);
	return 0;
}
