/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes the walk of a thread's Python frames in a process's memory, which is the input, again and again: most pointers lead
 * somewhere. */
#include "fuzz.h"
#include "python/code.h"
#include "python/interpreter.h"
#include "python/walk.h"

enum { PID = 4711, PAGE = 4096, READS = 20000 };

struct memory {
	const uint8_t *data;
	size_t size;
	unsigned reads, codes;
	struct codes known;
	struct code_list list;
};

/* Each 16th page is missing. */
static bool read_input(void *ctx, unsigned long long at, void *bytes, size_t size)
{
	struct memory *m = ctx;

	CHECK(++m->reads < READS);
	if (!m->size || at / PAGE % 16 == 15 || size > m->size)
		return false;
	at %= m->size - size + 1;
	memcpy(bytes, m->data + at, size);
	return true;
}

static void take_code(void *ctx, const struct python_code_record *r, size_t size)
{
	struct memory *m = ctx;

	CHECK(size == sizeof(*r) + r->lines_bytes && r->value.number == ++m->codes && r->key.pid == PID);
	CHECK(r->lines_bytes == r->lines_size || r->lines_size == ~0ull);
	codes_add(&m->known, &m->list, 0, r, size);
}

static void check_frames(const struct memory *m, const struct walk_frames *f)
{
	CHECK(f->n && f->n <= STACK_PYTHON + 1);
	for (unsigned i = 0; i < f->n; i++) {
		if (f->frame[i] & FRAME_PYTHON)
			CHECK(i < STACK_PYTHON && codes_find(&m->known, PID, f->frame[i]));
		else
			CHECK(i == f->n - 1 || frame_note_of(f->frame[i]) == NOTE_PYTHON_LOST);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	unsigned version = PYTHON_FIRST + take(&in, 1) % (PYTHON_LAST - PYTHON_FIRST + 1);
	unsigned long long words[PYTHON_DEBUG_WORDS] = { 0, version << 16, take(&in, 1) & 1 };
	struct walk w = { .self = take(&in, 1), .pid = PID, .read = read_input, .code = take_code };
	struct memory m = { .data = data, .size = size };
	struct walk_frames frames;

	memcpy(words, "xdebugpy", 8);
	for (int i = 3; i < PYTHON_DEBUG_WORDS; i++)
		words[i] = version < PYTHON_DEBUG ? 0 : take(&in, 1) % 16 * 8;
	if (!layout_choose(&w.process, version, words))
		return 0;
	w.process.runtime = take(&in, 2);
	w.ctx = &m;
	codes_init(&m.known, NULL, NULL, NULL);
	walk_thread(&w, &frames);
	check_frames(&m, &frames);
	codes_drop(&m.known, &m.list);
	codes_free(&m.known);
	return 0;
}
