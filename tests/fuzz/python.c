/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes what Python programs say of themselves: offsets of an interpreter, code objects, line tables. */
#include <limits.h>
#include "fuzz.h"
#include "python/code.h"
#include "python/interpreter.h"

enum { RECORDS = 8, PID = 4711 };

static void check_layout(struct input *in)
{
	unsigned version = PYTHON_FIRST + take(in, 1) % 10;
	unsigned long long words[PYTHON_DEBUG_WORDS];
	struct python_process p = { 0 };

	for (int i = 0; i < PYTHON_DEBUG_WORDS; i++)
		words[i] = take(in, 1) * 8;
	if (take(in, 1) & 1)
		memcpy(words, "xdebugpy", 8);
	words[1] = version << 16;
	words[2] = take(in, 1) & 1;
	if (!layout_choose(&p, version, words))
		return;
	CHECK(p.frame_size && p.frame_size <= PYTHON_FRAME_BYTES && p.frame_size % 8 == 0);
	CHECK(p.code_size && p.code_size <= PYTHON_CODE_BYTES);
	CHECK(p.at.frame_back + 8 <= p.frame_size && p.at.code_file + 8 <= p.code_size);
}

static void check_lines(const uint8_t *table, size_t size, unsigned version)
{
	struct line_range *ranges = calloc(size + 2, sizeof(*ranges));
	size_t n = line_table_read(version, 1, table, size, ranges);

	CHECK(n <= size + 2);
	for (size_t i = 0; i < n; i++) {
		CHECK(!i || ranges[i - 1].unit < ranges[i].unit);
		CHECK(ranges[i].line <= INT_MAX);
		CHECK(line_table_find(ranges, n, ranges[i].unit) == ranges[i].line);
	}
	free(ranges);
}

static void take_code(struct input *in, struct codes *cs, struct code_list *list, unsigned number)
{
	size_t room = take(in, 1), size = sizeof(struct python_code_record) + room;
	struct python_code_record *r = calloc(1, size);
	unsigned long long frame;
	const struct code *c;

	for (size_t i = 0; i < size; i++)
		((char *)r)[i] = in->left ? take(in, 1) : 'a' + i % 26;
	r->key.pid = PID;
	r->value.number = number;
	codes_add(cs, list, 0, r, size);
	frame = FRAME_PYTHON_OF(number, take(in, 3), false);
	c = codes_find(cs, PID, frame);
	CHECK(c && c->name && *c->name->code.name && strlen(c->name->code.name) < 4 * PYTHON_NAME + 8);
	CHECK(!codes_find(cs, PID + 1, frame));
	line_table_find(c->lines, c->nlines, frame_python_unit(frame));
	free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct code_list list = { 0 };
	struct codes cs;

	for (unsigned version = PYTHON_FIRST; version <= PYTHON_LAST; version++)
		check_lines(data, size, version);
	check_layout(&in);
	codes_init(&cs, NULL, NULL, NULL);
	for (unsigned i = 1; i <= RECORDS && in.left; i++)
		take_code(&in, &cs, &list, i);
	codes_drop(&cs, &list);
	CHECK(!cs.by_number);
	codes_free(&cs);
	return 0;
}
