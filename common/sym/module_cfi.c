/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "elf/cfi.h"
#include "proc/helper_files.h"
#include "sym/module.h"

static const unsigned long long AGAIN_NS = 100 * 1000000ull;

/* Functions of real files take less than a millisecond. */
enum { CPU_SECONDS = 2 };

struct cfi_request {
	unsigned long long offset;
	char key[];		/* of the module */
};

static void read_rules(struct helper_job *job)
{
	const struct cfi_request *r = (const void *)job->in;
	int fd = proc_reopen(job->fd);
	struct cfi *c;

	helper_limit_cpu(CPU_SECONDS);
	c = fd < 0 ? NULL : cfi_load(fd, r->offset);
	helper_limit_cpu(0);
	helper_put(job, c, c ? cfi_size(c) : 0);
	if (fd >= 0)
		close(fd);
	free(c);
}

static size_t module_cfi_size_of(const struct module_rule *r)
{
	return sizeof(*r) + (r->cfi ? cfi_size(r->cfi) : 0);
}

/* Returns the index of the first rule that ends after the offset. */
static size_t place_of(const struct module_rules *rules, unsigned long long offset)
{
	size_t low = 0, high = rules->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (rules->all[mid].end <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Takes cfi.  What it covers of its neighbours' code is left to them. */
static void module_cfi_add(struct module *m, unsigned long long offset, struct cfi *cfi)
{
	struct module_rules *rules = &m->rules;
	struct module_rule r = { offset, offset + 1, cfi };
	size_t at = place_of(rules, offset);

	if (cfi)
		cfi_range(cfi, &r.start, &r.end);
	if (at && r.start < rules->all[at - 1].end)
		r.start = rules->all[at - 1].end;
	if (at < rules->n && r.end > rules->all[at].start)
		r.end = rules->all[at].start;
	if (!modules_take(m->modules, &m->modules->symbols, m->user, m->pid, module_cfi_size_of(&r))) {
		free(cfi);
		return;
	}
	ALLOC_GROW(rules->all, rules->n, rules->room);
	memmove(&rules->all[at + 1], &rules->all[at], (rules->n - at) * sizeof(*rules->all));
	rules->all[at] = r;
	rules->n++;
}

static bool read_at(struct module *m, unsigned long long offset)
{
	size_t size = sizeof(struct cfi_request) + strlen(m->key) + 1;
	struct cfi_request *in = xcalloc(1, size);
	struct helper_answer a;
	int err;

	in->offset = offset;
	strcpy(in->key, m->key);
	err = helper_call(m->modules->helpers, &(struct helper_request){
			m->pid, m->path, read_rules, in, size, .fd = m->fd }, &a);
	free(in);
	if (err_is_transient(err)) {
		m->rules.tried = clock_ns();
		return false;
	}
	if (err) {
		module_cfi_add(m, offset, NULL);
		return true;
	}
	if (a.size && cfi_covers((struct cfi *)a.bytes, offset)) {
		module_cfi_add(m, offset, (struct cfi *)a.bytes);
		a.bytes = NULL;
	} else {
		module_cfi_add(m, offset, NULL);
	}
	helper_drop(&a);
	return true;
}

bool module_cfi(struct module *m, unsigned long long offset, const struct cfi **cfi)
{
	size_t at = place_of(&m->rules, offset);

	*cfi = NULL;
	if (at == m->rules.n || m->rules.all[at].start > offset) {
		if (m->fd < 0)
			return true;
		if (m->rules.tried && clock_ns() - m->rules.tried < AGAIN_NS)
			return false;
		if (!read_at(m, offset))
			return false;
		at = place_of(&m->rules, offset);
		if (at == m->rules.n || m->rules.all[at].start > offset)
			return true;		/* too much memory */
	}
	*cfi = m->rules.all[at].cfi;
	return true;
}

void module_rules_free(struct module *m)
{
	for (size_t i = 0; i < m->rules.n; i++) {
		quota_give(&m->modules->symbols, m->user, module_cfi_size_of(&m->rules.all[i]));
		free(m->rules.all[i].cfi);
	}
	free(m->rules.all);
	m->rules = (struct module_rules){ 0 };
}
