/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "proc/helper_pool.h"
#include "proc/proc.h"
#include "sym/module.h"

enum { MAX_NAME = 8192 };

struct module_name {
	unsigned long long at;
	UT_hash_handle hh;
	char text[];
};

static size_t name_cost(const struct module_name *n)
{
	return sizeof(*n) + strlen(n->text) + 1 + 32;
}

void module_names_free(struct module *m)
{
	struct module_name *n, *next;

	HASH_ITER(hh, m->names, n, next) {
		HASH_DEL(m->names, n);
		quota_give(&m->modules->symbols, m->user, name_cost(n));
		free(n);
	}
}

struct name_request {
	unsigned long long at;
	char key[];		/* the module's, which tells the look from others */
};

static void read_name(struct helper_job *job)
{
	const struct name_request *r = job->in;
	int fd = proc_reopen(job->fd);
	char text[MAX_NAME];
	ssize_t n = fd < 0 ? 0 : pread(fd, text, sizeof(text) - 1, r->at);

	text[n > 0 ? n : 0] = 0;
	helper_put(job, text, strlen(text) + 1);
	if (fd >= 0)
		close(fd);
}

static struct module_name *add_name(struct module *m, unsigned long long at, const char *text, size_t size)
{
	struct module_name *n = xcalloc(1, sizeof(*n) + size);

	n->at = at;
	memcpy(n->text, text, size - 1);
	if (!modules_take(m->modules, &m->modules->symbols, m->user, m->pid, name_cost(n))) {
		free(n);
		return NULL;
	}
	HASH_ADD(hh, m->names, at, sizeof(n->at), n);
	return n;
}

const char *module_name_at(struct module *m, unsigned long long at)
{
	size_t size = sizeof(struct name_request) + strlen(m->key) + 1;
	struct name_request *r;
	struct module_name *n;
	struct helper_answer a;

	HASH_FIND(hh, m->names, &at, sizeof(at), n);
	if (n || m->fd < 0)
		return n ? n->text : NULL;
	r = xcalloc(1, size);
	r->at = at;
	strcpy(r->key, m->key);
	if (!helper_call(m->modules->helpers, m->pid, m->path, read_name, r, size, m->fd, &a)) {
		n = a.size ? add_name(m, at, a.bytes, a.size) : NULL;
		helper_drop(&a);
	}
	free(r);
	return n && *n->text ? n->text : NULL;
}
