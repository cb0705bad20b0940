/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include "base/die.h"
#include "base/hash.h"
#include "base/quota.h"
#include "proc/helper_pool.h"
#include "sym/lines.h"
#include "sym/lines_read.h"
#include "sym/module.h"

/* MAX_MEMORY: what programs can make the tool keep, in bytes.  READER: for a file's tables, and its debug sections if
 * they are compressed; what is mapped does not count. */
enum { MAX_MEMORY = 16 << 20, READER = 512 << 20, LIMIT_MS = 1000 };

/* Stacks have references to their modules, so that a module's address is not used again. */
struct place {
	const struct module *module;
	unsigned long long offset;
};

struct found {
	UT_hash_handle hh;
	struct place place;
	int n;
	struct source_line lines[];	/* the strings follow */
};

/* A file without debug information, or whose debug information cannot be read. */
struct bad {
	UT_hash_handle hh;
	const struct module *module;
};

struct lines {
	struct helper_pool *tool;	/* the tool's */
	struct helper_pool helpers;
	struct lines_reader *reader;
	struct found *found;
	struct bad *bad;
	struct quota memory;
};

struct lines *lines_new(struct helper_pool *helpers)
{
	struct lines *l = xcalloc(1, sizeof(*l));

	l->tool = helpers;
	l->helpers = (struct helper_pool)HELPER_POOL_INIT;
	l->helpers.helper.memory = READER;
	l->reader = lines_reader_new();
	l->memory = (struct quota){
		.limit = MAX_MEMORY, .what = "memory for source lines",
		.loss = "some functions of its processes have no lines",
	};
	return l;
}

void lines_free(struct lines *l)
{
	if (!l)
		return;
	HASH_FREE(l->found);
	HASH_FREE(l->bad);
	helper_pool_free(&l->helpers);
	lines_reader_free(l->reader);
	quota_free(&l->memory);
	free(l);
}

/* Takes the next entry of an answer; returns where the one after it begins, NULL at the end. */
static const char *next_entry(const char *at, const char *end, struct lines_entry *e)
{
	if ((size_t)(end - at) < sizeof(*e))
		return NULL;
	memcpy(e, at, sizeof(*e));
	at += sizeof(*e);
	if (e->function > (size_t)(end - at) || e->file > (size_t)(end - at) - e->function)
		return NULL;
	return at + e->function + e->file;
}

/* Keeps the answer's strings behind the lines. */
static struct found *unpack(const struct place *place, const struct helper_answer *a)
{
	const char *at = a->bytes, *end = at + a->size, *next;
	struct lines_entry e;
	struct found *f;
	char *strings;
	int n = 0;

	for (next = at; (next = next_entry(next, end, &e)); )
		n++;
	f = xcalloc(1, sizeof(*f) + n * sizeof(*f->lines) + a->size + 1);
	f->place = *place;
	f->n = n;
	strings = (char *)(f->lines + n);
	memcpy(strings, at, a->size);
	for (int i = 0; i < n; i++, at = next) {
		char *text = strings + (at - a->bytes) + sizeof(e);

		next = next_entry(at, end, &e);
		f->lines[i] = (struct source_line){
			e.function ? text : NULL, e.file ? text + e.function : NULL, e.line, e.inlined,
		};
	}
	return f;
}

static size_t lines_size_of(const struct found *f)
{
	return sizeof(*f) + f->n * sizeof(*f->lines);
}

static void mark_bad(struct lines *l, const struct module *m)
{
	struct bad *bad = xcalloc(1, sizeof(*bad));

	bad->module = m;
	HASH_ADD(hh, l->bad, module, sizeof(bad->module), bad);
}

static bool is_bad(const struct lines *l, const struct module *m)
{
	struct bad *bad;

	HASH_FIND(hh, l->bad, &m, sizeof(m), bad);
	return bad;
}

static int ask(struct lines *l, const struct module *m, unsigned long long offset, struct helper_answer *a)
{
	size_t key = strlen(m->key) + 1, size = sizeof(struct lines_request) + key;
	struct lines_request *r = xcalloc(1, size);
	int err;

	r->reader = l->reader;
	r->offset = offset;
	r->pid = m->pid;
	memcpy(r->key, m->key, key);
	l->helpers.helper.idle = l->tool->helper.idle;
	l->helpers.helper.ctx = l->tool->helper.ctx;
	l->helpers.helper.keep = l->tool->helper.keep;
	l->helpers.limit = LIMIT_MS;
	l->helpers.asked_for = l->tool->asked_for;
	l->helpers.end = l->tool->end;
	l->helpers.no_fork = l->tool->no_fork;
	l->helpers.progress = l->tool->progress;
	err = helper_call(&l->helpers, &(struct helper_request){
			m->pid, m->path, lines_read, r, size, .fd = m->fd }, a);
	free(r);
	return err;
}

static struct found *look_at(struct lines *l, struct module *m, const struct place *place)
{
	struct helper_answer a;
	struct found *f;
	int err = ask(l, m, place->offset, &a);

	if (err == -EPIPE || (!err && !a.size))
		mark_bad(l, m);
	if (err)
		return NULL;
	f = unpack(place, &a);
	if (!quota_take(&l->memory, m->user, m->pid, lines_size_of(f) + a.size)) {
		free(f);
		f = NULL;
	}
	helper_drop(&a);
	if (f)
		HASH_ADD(hh, l->found, place, sizeof(f->place), f);
	return f;
}

int lines_at(struct lines *l, struct module *m, unsigned long long offset, const struct source_line **lines)
{
	const struct place place = { m, offset };
	struct found *f;

	HASH_FIND(hh, l->found, &place, sizeof(place), f);
	if (!f && m->fd >= 0 && !is_bad(l, m))
		f = look_at(l, m, &place);
	*lines = f ? f->lines : NULL;
	return f ? f->n : 0;
}
