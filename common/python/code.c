/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <string.h>
#include "base/die.h"
#include "bpf/map_backend.h"
#include "proc/vm_read.h"
#include "python/code.h"

/* Python's strings as UTF-8. */

enum { REPLACEMENT = 0xfffd, LONGEST = 4 /* bytes of a character in UTF-8 */ };

static char *put_utf8(char *to, unsigned c)
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

/* Returns n bytes of characters of 1, 2 or 4 bytes (untrusted) as UTF-8, which the caller frees; with an
 * ellipsis if cut.  A byte of a file name that is no UTF-8, which Python keeps as U+DC80 to U+DCFF,
 * becomes that byte again. */
static char *text_utf8(const void *text, size_t n, unsigned kind, bool cut)
{
	size_t size = kind == 1 || kind == 2 || kind == 4 ? kind : 1;
	char *utf8 = xcalloc(n / size * LONGEST + LONGEST, 1), *to = utf8;

	for (const char *at = text; n >= size; at += size, n -= size) {
		unsigned c = 0;

		memcpy(&c, at, size);	/* little-endian: x86-64 */
		to = put_utf8(to, c);
	}
	if (cut)
		put_utf8(to, 0x2026);
	return utf8;
}

/* The line numbers of Python code: co_lnotab (3.8, 3.9), co_linetable of PEP 626 (3.10), and the location
 * table (3.11 and newer); see Objects/lnotab_notes.txt and InternalDocs/code_objects.md in CPython. */

struct reading {
	const unsigned char *at, *end;
	long long line;
	unsigned long long unit;	/* of a version before 3.11: bytes */
	struct line_range *ranges;
	size_t n;
};

/* From r->unit on there is this line. */
static void line_table_put(struct reading *r, unsigned unit_bytes, long long line)
{
	unsigned long long unit = r->unit / unit_bytes;
	struct line_range *last = r->n ? &r->ranges[r->n - 1] : NULL;

	if (line < 0 || line > INT_MAX)
		line = 0;
	if (last && last->unit == unit)
		last->line = line;
	else if (!last || last->line != line)
		r->ranges[r->n++] = (struct line_range){ unit, line };
}

/* Pairs: so many bytes later, so many lines further. */
static void read_lnotab(struct reading *r)
{
	line_table_put(r, 2, r->line);
	for (; r->end - r->at >= 2; r->at += 2) {
		r->unit += r->at[0];
		r->line += (signed char)r->at[1];
		line_table_put(r, 2, r->line);
	}
}

/* Pairs: so many bytes have the line that is so much further; -128: none. */
static void read_pep626(struct reading *r)
{
	for (; r->end - r->at >= 2; r->at += 2) {
		signed char delta = r->at[1];

		if (delta != -128)
			r->line += delta;
		line_table_put(r, 2, delta == -128 ? 0 : r->line);
		r->unit += r->at[0];
	}
	line_table_put(r, 2, 0);
}

static unsigned long long read_varint(struct reading *r)
{
	unsigned long long value = 0;
	unsigned shift = 0;

	while (r->at < r->end) {
		unsigned char byte = *r->at++;

		if (shift < 32)
			value |= (byte & 63ull) << shift;
		shift += 6;
		if (!(byte & 64))
			break;
	}
	return value;
}

static long long read_signed_varint(struct reading *r)
{
	unsigned long long value = read_varint(r);

	return value & 1 ? -(long long)(value >> 1) : (long long)(value >> 1);
}

enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG_FORM = 14, NONE = 15 };

/* Reads an entry; returns the line. */
static long long read_entry(struct reading *r)
{
	unsigned code = *r->at >> 3 & 15;

	r->at++;
	if (code >= ONE_LINE_0 && code <= ONE_LINE_2)
		r->line += code - ONE_LINE_0;
	else if (code == NO_COLUMNS || code == LONG_FORM)
		r->line += read_signed_varint(r);
	return code == NONE ? 0 : r->line;
}

/* The first byte of an entry, and no other, has its highest bit set. */
static void read_locations(struct reading *r)
{
	while (r->at < r->end) {
		unsigned units = (*r->at & 7) + 1;

		if (!(*r->at & 128)) {
			r->at++;
			continue;
		}
		line_table_put(r, 1, read_entry(r));
		r->unit += units;
	}
	line_table_put(r, 1, 0);
}

size_t line_table_read(unsigned version, unsigned first_line, const unsigned char *table, size_t size,
		       struct line_range *ranges)
{
	struct reading r = { .at = table, .end = table + size, .line = first_line, .ranges = ranges };

	if (version >= 0x030b)
		read_locations(&r);
	else if (version >= 0x030a)
		read_pep626(&r);
	else
		read_lnotab(&r);
	return r.n;
}

unsigned line_table_find(const struct line_range *ranges, size_t n, unsigned unit)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ranges[mid].unit <= unit)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? ranges[low - 1].line : 0;
}

/* MAX_MEMORY: what programs can make the tool keep, in bytes.  MAX_TABLE: of a line table; code of a
 * million lines has no larger one. */
enum { MAX_MEMORY = 64 << 20, MAX_TABLE = 4 << 20 };

/* Of a process: in the map, and known. */
enum { MAX_MAPPED = 2048, MAX_KNOWN = MAX_MAPPED + 512 };

void codes_init(struct codes *cs, struct helper_pool *helpers, const struct bpf_map *map, struct shares *shares)
{
	*cs = (struct codes){
		.helpers = helpers, .map = map, .shares = shares,
		.memory = {
			.limit = MAX_MEMORY, .what = "memory for Python code",
			.loss = "some of its functions have no names or lines",
		},
	};
}

static size_t size_of(const struct code *c)
{
	return sizeof(*c) + c->nlines * sizeof(*c->lines);
}

/* Makes the kernel forget it. */
static void unmap(const struct codes *cs, const struct python_code_key *key, const struct python_code_value *value)
{
	if (cs->map && !bmap_delete(cs->map, key))
		shares_give_back(cs->shares, value->share);
}

static void unmap_oldest(const struct codes *cs, struct code_list *list)
{
	struct code *c = list->mapped;

	unmap(cs, &c->key, &c->value);
	list->mapped = c->newer;
	list->nmapped--;
}

static void drop_oldest(struct codes *cs, struct code_list *list)
{
	struct code *c = list->oldest;

	if (list->mapped == c)
		unmap_oldest(cs, list);
	list->oldest = c->newer;
	list->n--;
	HASH_DEL(cs->by_number, c);
	quota_give(&cs->memory, c->user, size_of(c));
	free(c->lines);
	free(c);
}

void codes_drop(struct codes *cs, struct code_list *list)
{
	while (list->oldest)
		drop_oldest(cs, list);
	list->newest = NULL;
}

void codes_free(struct codes *cs)
{
	HASH_FREE(cs->names);
	quota_free(&cs->memory);
}

/* Takes ownership of nothing; NULL if there is no memory for it. */
static const struct code_name *intern(struct codes *cs, unsigned user, int pid, int first_line, const char *name,
				      const char *file)
{
	size_t name_size = strlen(name) + 1, file_size = strlen(file) + 1;
	unsigned size = sizeof(first_line) + name_size + file_size;
	struct code_name *made = xcalloc(1, sizeof(*made) + size), *found;
	char *at = made->key;

	memcpy(at, &first_line, sizeof(first_line));
	made->code.first_line = first_line;
	made->code.name = memcpy(at + sizeof(first_line), name, name_size);
	made->code.file = memcpy(at + sizeof(first_line) + name_size, file, file_size);
	made->size = size;
	HASH_FIND(hh, cs->names, at, size, found);
	if (found || !quota_take(&cs->memory, user, pid, sizeof(*made) + size)) {
		free(made);
		return found;
	}
	HASH_ADD(hh, cs->names, key, size, made);
	return made;
}

static char *text_of(const struct python_text *t, const char *text, size_t room)
{
	char *utf8 = t->bytes && t->bytes <= room ? text_utf8(text, t->bytes, t->kind, t->cut) : NULL;

	if (utf8 && *utf8)
		return utf8;
	free(utf8);
	return xstrdup("?");
}

static const struct code_name *name_of(struct codes *cs, unsigned user, const struct python_code_record *r)
{
	char *name = text_of(&r->name, r->name_text, sizeof(r->name_text));
	char *file = text_of(&r->file, r->file_text, sizeof(r->file_text));
	const struct code_name *code = intern(cs, user, r->key.pid, r->key.first_line, name, file);

	free(name);
	free(file);
	return code;
}

static void read_lines(struct codes *cs, struct code *c, unsigned version, const unsigned char *table, size_t size)
{
	struct line_range *ranges = xcalloc(size + 2, sizeof(*ranges));
	size_t n = line_table_read(version, c->key.first_line, table, size, ranges);

	if (quota_take(&cs->memory, c->user, c->key.pid, n * sizeof(*ranges))) {
		c->lines = xrealloc(ranges, n ? n : 1, sizeof(*ranges));
		c->nlines = n;
	} else {
		free(ranges);
	}
}

/* A table that is not in the record is read from the process, if it lives. */
static void find_lines(struct codes *cs, struct code *c, const struct python_code_record *r, size_t size)
{
	unsigned char *table;

	if (r->lines_bytes == r->lines_size) {
		if (r->lines_bytes <= size - sizeof(*r))
			read_lines(cs, c, r->version, r->lines, r->lines_bytes);
		return;
	}
	if (r->lines_size > MAX_TABLE)
		return;
	table = vm_read_bytes(cs->helpers, r->key.pid, r->lines_at, r->lines_size);
	if (table)
		read_lines(cs, c, r->version, table, r->lines_size);
	free(table);
}

static void append(struct codes *cs, struct code_list *list, struct code *c)
{
	if (list->newest)
		list->newest->newer = c;
	else
		list->oldest = c;
	list->newest = c;
	if (!list->mapped)
		list->mapped = c;
	list->n++;
	list->nmapped++;
	HASH_ADD(hh, cs->by_number, value.number, sizeof(c->value.number), c);
	if (list->nmapped > MAX_MAPPED)
		unmap_oldest(cs, list);
	if (list->n > MAX_KNOWN)
		drop_oldest(cs, list);
}

void codes_add(struct codes *cs, struct code_list *list, unsigned user, const struct python_code_record *r,
	       size_t size)
{
	struct code *c;

	HASH_FIND(hh, cs->by_number, &r->value.number, sizeof(r->value.number), c);
	if (c || !quota_take(&cs->memory, user, r->key.pid, sizeof(*c))) {
		unmap(cs, &r->key, &r->value);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->key = r->key;
	c->value = r->value;
	c->user = user;
	c->name = name_of(cs, user, r);
	find_lines(cs, c, r, size);
	append(cs, list, c);
}

const struct code *codes_find(const struct codes *cs, int pid, unsigned long long frame)
{
	unsigned number = frame_python_code(frame);
	struct code *c;

	HASH_FIND(hh, cs->by_number, &number, sizeof(number), c);
	return c && c->key.pid == (unsigned)pid ? c : NULL;
}
