/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "elf/elf.h"
#include "elf/elf_debug.h"
#include "proc/helper_files.h"
#include "proc/helper_pool.h"
#include "proc/proc.h"
#include "sym/debug_file.h"
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

static void module_names_free(struct module *m)
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
	char key[];		/* the module's, which distinguishes the helper call from others */
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

/* Returns the name at this offset of the file, see elf_symbols_name_offset(), which is read once; NULL if it
 * cannot be read.  It lives as long as the module. */
static const char *module_name_at(struct module *m, unsigned long long at)
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
	if (!helper_call(m->modules->helpers, &(struct helper_request){
			m->pid, m->path, read_name, r, size, .fd = m->fd }, &a)) {
		n = a.size ? add_name(m, at, a.bytes, a.size) : NULL;
		helper_drop(&a);
	}
	free(r);
	return n && *n->text ? n->text : NULL;
}

/* Limits on what programs can make the tool keep.  Files: a share of the limit on open files. */
enum { MAX_VARIABLES = 1 << 17, MAX_MEMORY = 8 << 20, MAX_SYMBOLS = 96 << 20, OPEN_PART = 2 };

/* For the headers of a file: real ones take less than a millisecond. */
enum { CPU_SECONDS = 2 };

static const unsigned long long AGAIN_NS = 100 * 1000000ull;

void modules_init(struct modules *ms, struct helper_pool *helpers)
{
	*ms = (struct modules){ .helpers = helpers };
	ms->files.limit = sysconf(_SC_OPEN_MAX) / OPEN_PART;
	ms->files.what = "open files";
	ms->memory.limit = MAX_MEMORY;
	ms->memory.what = "memory for file names";
	ms->symbols.limit = MAX_SYMBOLS;
	ms->symbols.what = "memory for symbols";
	ms->files.loss = ms->memory.loss = ms->symbols.loss = "some functions of its processes have no names";
}

static size_t module_size_of(const struct module *m)
{
	return sizeof(*m) + strlen(m->key) + 1;
}

static void table_free(struct module *m, struct module_table *t)
{
	if (t->symbols)
		quota_give(&m->modules->symbols, m->user, elf_symbols_size(t->symbols));
	free(t->symbols);
	*t = (struct module_table){ 0 };
}

static void module_free(struct module *m)
{
	struct modules *ms = m->modules;

	HASH_DEL(ms->all, m);
	if (m->fd >= 0) {
		close(m->fd);
		quota_give(&ms->files, m->user, 1);
	}
	quota_give(&ms->memory, m->user, module_size_of(m));
	table_free(m, &m->functions);
	table_free(m, &m->variables);
	module_names_free(m);
	module_rules_free(m);
	free(m->key);
	free(m);
}

void modules_free(struct modules *ms)
{
	struct module *m, *next;

	HASH_ITER(hh, ms->all, m, next)
		module_free(m);
	quota_free(&ms->files);
	quota_free(&ms->memory);
	quota_free(&ms->symbols);
}

/* Frees what is only a cache. */
static void evict(struct modules *ms, unsigned user)
{
	struct module *m, *next;

	HASH_ITER(hh, ms->all, m, next)
		if (!m->refs && m->user == user)
			module_free(m);
}

bool modules_take(struct modules *ms, struct quota *q, unsigned user, int pid, size_t n)
{
	if (!quota_fits(q, user, n))
		evict(ms, user);
	return quota_take(q, user, pid, n);
}

static void open_file(struct module *m, const struct mapping *map)
{
	struct modules *ms = m->modules;

	m->fd = -EMFILE;
	if (!modules_take(ms, &ms->files, m->user, m->pid, 1))
		return;
	m->fd = helper_open(ms->helpers, m->pid, map);
	if (m->fd < 0)
		quota_give(&ms->files, m->user, 1);
	if (m->fd == -EMFILE && !ms->few_files)
		warning(m->fd, "cannot open %s of process %d and perhaps others: some functions have no names",
			m->path, m->pid);
	ms->few_files |= m->fd == -EMFILE;
}

static struct module *module_add(struct modules *ms, int pid, unsigned user, char *key)
{
	struct module *m = xcalloc(1, sizeof(*m));

	m->modules = ms;
	m->key = key;
	m->path = strchr(strchr(key, ':') + 1, ':') + 1;
	m->pid = pid;
	m->user = user;
	m->refs = 1;
	if (modules_take(ms, &ms->memory, user, pid, module_size_of(m))) {
		HASH_ADD_KEYPTR(hh, ms->all, m->key, strlen(m->key), m);
		return m;
	}
	free(key);
	free(m);
	return NULL;
}

/* A file that was opened when it still had its name: not every user can open it by its mapping. */
static struct module *find_deleted(const struct modules *ms, const char *key)
{
	static const char mark[] = " (deleted)";	/* the kernel's */
	size_t n = strlen(key), end = sizeof(mark) - 1;
	struct module *m;

	if (n < end || strcmp(key + n - end, mark))
		return NULL;
	HASH_FIND(hh, ms->all, key, n - end, m);
	return m && m->fd >= 0 ? m : NULL;
}

struct module *modules_get(struct modules *ms, int pid, unsigned user, const struct mapping *map)
{
	char *key = xprintf("%llx:%llu:%s", map->dev, map->ino, map->path);
	struct module *m = find_deleted(ms, key);

	if (!m)
		HASH_FIND_STR(ms->all, key, m);
	if (m) {
		free(key);
		m->refs++;
	} else {
		m = module_add(ms, pid, user, key);
		if (m)
			open_file(m, map);
		return m;
	}
	if (m->fd < 0) {	/* access through another process may work */
		m->pid = pid;
		open_file(m, map);
	}
	return m;
}

struct module *module_ref(struct module *m)
{
	if (m)
		m->refs++;
	return m;
}

void module_put(struct module *m)
{
	if (m)
		m->refs--;
}

struct table_request {
	int pid;		/* that has the file mapped */
	char end[];		/* of variables; then the module's key, which distinguishes the helper call from others */
};

/* A stripped file's functions may be in its debug file. */
static struct elf_symbols *load_functions(int pid, int fd)
{
	struct elf_symbols *s;
	struct elf_debug d;
	int debug = -1;

	helper_limit_cpu(CPU_SECONDS);
	if (elf_debug_read(fd, &d) && !d.symbols)
		debug = debug_file_open(pid, fd, &d);
	helper_limit_cpu(0);
	s = elf_functions_load(fd, debug);
	if (debug >= 0)
		close(debug);
	return s;
}

static void read_functions(struct helper_job *job)
{
	const struct table_request *r = job->in;
	int fd = proc_reopen(job->fd);
	struct elf_symbols *s = fd < 0 ? NULL : load_functions(r->pid, fd);

	helper_put(job, s, s ? elf_symbols_size(s) : 0);
	if (fd >= 0)
		close(fd);
	free(s);
}

static void read_variables(struct helper_job *job)
{
	const struct table_request *r = job->in;
	int fd = proc_reopen(job->fd);
	struct elf_symbols *s = fd < 0 ? NULL : elf_variables_load(fd, r->end, MAX_VARIABLES);

	helper_put(job, s, s ? elf_symbols_size(s) : 0);
	if (fd >= 0)
		close(fd);
	free(s);
}

static struct table_request *request_of(const struct module *m, const char *end, size_t *size)
{
	size_t len = strlen(end) + 1, key_len = strlen(m->key) + 1;
	struct table_request *r = xcalloc(1, sizeof(*r) + len + key_len);

	r->pid = m->pid;
	memcpy(r->end, end, len);
	memcpy(r->end + len, m->key, key_len);
	*size = sizeof(*r) + len + key_len;
	return r;
}

static void read_table(struct module *m, struct module_table *t, helper_fn *fn, const char *end)
{
	struct modules *ms = m->modules;
	struct table_request *in;
	struct helper_answer a;
	size_t size;
	int err;

	if (t->read || m->fd < 0 || (t->tried && clock_ns() - t->tried < AGAIN_NS))
		return;
	in = request_of(m, end, &size);
	t->tried = clock_ns();
	err = helper_call(ms->helpers, &(struct helper_request){
			m->pid, m->path, fn, in, size, .fd = m->fd }, &a);
	free(in);
	t->read = !err_is_transient(err);
	if (err)
		return;
	if (a.size && modules_take(ms, &ms->symbols, m->user, m->pid, a.size)) {
		t->symbols = (struct elf_symbols *)a.bytes;
		a.bytes = NULL;
	}
	helper_drop(&a);
}

void module_want(struct module *m)
{
	if (!m || m->wanted)
		return;
	m->wanted = true;
	m->modules->nwanted++;
}

void modules_read_ahead(struct modules *ms)
{
	struct module *m = ms->nwanted ? ms->all : NULL;

	while (m && (!m->wanted || m->functions.tried))
		m = m->hh.next;
	if (!m) {		/* the others are read when they are needed */
		ms->nwanted = 0;
		return;
	}
	ms->nwanted--;
	read_table(m, &m->functions, read_functions, "");
	if (!m->functions.tried)	/* it is not open */
		m->functions.tried = 1;
}

const char *module_symbol(struct module *m, unsigned long long offset, unsigned long long *off)
{
	const struct elf_symbols *functions = module_functions(m);
	const char *name = functions ? elf_symbols_find(functions, offset, off) : NULL;
	unsigned long long at = functions && !name ? elf_symbols_name_offset(functions, offset, off) : 0;

	return at ? module_name_at(m, at) : name;
}

const struct elf_symbols *module_functions(struct module *m)
{
	read_table(m, &m->functions, read_functions, "");
	return m->functions.symbols;
}

const struct elf_symbols *module_variables(struct module *m, const char *end)
{
	read_table(m, &m->variables, read_variables, end);
	return m->variables.symbols;
}
