/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include <string.h>
#include "python/layouts.h"

/* From 3.13 on: where struct _Py_DebugOffsets has the offset, but for version, free_threaded,
 * text_kind. */
static const struct python_layout layouts[] = {
#include "python/layouts.def"
};

/* cookie, version, free_threaded: the first words of struct _Py_DebugOffsets. */
static const char COOKIE[] = "xdebugpy";

/* No struct is larger than the interpreter's state. */
enum { MAX_OFFSET = 1 << 20, POINTER = 8 };

static const struct python_layout *find(unsigned version, bool free_threaded)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].version == version && layouts[i].free_threaded == free_threaded)
			return &layouts[i];
	return NULL;
}

/* Replaces a place in the struct by what is there. */
static bool resolve(unsigned *offset, const unsigned long long *words)
{
	unsigned long long value = words[*offset / POINTER];

	*offset = value;
	return value < MAX_OFFSET;
}

/* Of those that differ from their place: all from interpreters to bytes_data but text_kind and
 * text_compact, and what a version does not have. */
static bool resolve_all(struct python_layout *l, const unsigned long long *words)
{
	unsigned *fields[] = {
		&l->interpreters, &l->interp_next, &l->threads, &l->thread_next, &l->thread_id,
		&l->thread_frame, &l->frame_back, &l->frame_code, &l->frame_instr, &l->frame_owner,
		&l->code_file, &l->code_name, &l->code_lines, &l->code_first, &l->code_units,
		&l->text_state, &l->text_length, &l->text_ascii, &l->bytes_size, &l->bytes_data,
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!resolve(fields[i], words))
			return false;
	if (l->frame_tlbc && (!resolve(&l->frame_tlbc, words) || !resolve(&l->code_tlbc, words)))
		return false;
	l->text_compact = l->text_ascii + 2 * POINTER;	/* utf8_length and utf8 */
	return true;
}

/* Takes a field into what is read; false if it is too far away or, as the BPF program rounds it down,
 * not aligned. */
static bool reach(unsigned *end, unsigned offset, unsigned size, unsigned limit)
{
	if (offset % size || offset + size > limit)
		return false;
	if (*end < offset + size)
		*end = (offset + size + POINTER - 1) & -POINTER;
	return true;
}

static bool measure(struct python_process *p)
{
	const struct python_layout *l = &p->at;
	unsigned *frame = &p->frame_size, *code = &p->code_size;

	return reach(frame, l->frame_back, 8, PYTHON_FRAME_BYTES) &&
	       reach(frame, l->frame_code, 8, PYTHON_FRAME_BYTES) &&
	       reach(frame, l->frame_instr, l->version < 0x030b ? 4 : 8, PYTHON_FRAME_BYTES) &&
	       reach(frame, l->frame_owner, 1, PYTHON_FRAME_BYTES) &&
	       reach(frame, l->frame_entry, 1, PYTHON_FRAME_BYTES) &&
	       reach(frame, l->frame_tlbc, 4, PYTHON_FRAME_BYTES) &&
	       reach(code, l->code_file, 8, PYTHON_CODE_BYTES) &&
	       reach(code, l->code_name, 8, PYTHON_CODE_BYTES) &&
	       reach(code, l->code_lines, 8, PYTHON_CODE_BYTES) &&
	       reach(code, l->code_first, 4, PYTHON_CODE_BYTES) &&
	       reach(code, l->code_tlbc, 8, PYTHON_CODE_BYTES) &&
	       reach(code, l->code_version, 4, PYTHON_CODE_BYTES);
}

bool layout_choose(struct python_process *p, unsigned version, const unsigned long long words[PYTHON_DEBUG_WORDS])
{
	bool debug = version >= PYTHON_DEBUG;
	const struct python_layout *l;

	if (debug && (memcmp(words, COOKIE, strlen(COOKIE)) || words[1] >> 16 != version))
		return false;
	l = find(version, debug && words[2]);
	if (!l)
		return false;
	p->at = *l;
	p->frame_size = p->code_size = 0;
	return (!debug || resolve_all(&p->at, words)) && measure(p);
}
