/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/die.h"
#include "bpf/map_backend.h"
#include "proc/vm_read.h"
#include "python/code.h"
#include "python/text.h"

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
	struct code_name *name, *next_name;

	HASH_ITER(hh, cs->names, name, next_name) {
		HASH_DEL(cs->names, name);
		free(name);
	}
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
	if (!t->bytes || t->bytes > room)
		return xstrdup("?");
	return text_utf8(text, t->bytes, t->kind, t->cut);
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
