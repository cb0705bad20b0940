/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "elf/elf_file.h"
#include "proc/helper_pool.h"
#include "proc/proc.h"
#include "python/interpreter.h"

enum { PAGE = 4096 };

static const unsigned long long AGAIN_NS = 100 * 1000000ull;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Libraries are named libpython. */
static bool may_be(const char *path)
{
	const char *name = base_name(path);

	return strncmp(name, "libpython", 9) == 0 || !strstr(name, ".so");
}

static bool find_object(void *ctx, const char *name, const Elf64_Sym *sym)
{
	struct interpreter *it = ctx;

	if (!strcmp(name, "_PyRuntime"))
		it->runtime = sym->st_value;
	else if (!strcmp(name, "Py_Version"))
		it->version_at = sym->st_value;
	return !it->runtime || !it->version_at;
}

struct functions {
	unsigned version;
	Elf64_Sym eval;
};

/* The version before Py_Version, by what each added to the functions that extension modules may use
 * (Misc/stable_abi.toml, and Doc/data for the first): they are exported, also of a stripped file. */
static bool find_function(void *ctx, const char *name, const Elf64_Sym *sym)
{
	static const struct { const char *name; unsigned version; } added[] = {
		{ "PyCode_NewWithPosOnlyArgs", 0x0308 },
		{ "PyThreadState_GetFrame", 0x0309 },
		{ "PyModule_AddObjectRef", 0x030a },
	};
	struct functions *found = ctx;

	for (size_t i = 0; i < sizeof(added) / sizeof(*added); i++)
		if (!strcmp(name, added[i].name) && found->version < added[i].version)
			found->version = added[i].version;
	if (!found->eval.st_value && !strcmp(name, "_PyEval_EvalFrameDefault"))
		found->eval = *sym;
	return true;
}

static void copy_segments(const struct elf_file *f, struct interpreter *it)
{
	for (size_t i = 0; i < f->nloads && it->nsegments < INTERPRETER_SEGMENTS; i++) {
		const Elf64_Phdr *p = &f->loads[i];

		it->segments[it->nsegments].offset = p->p_offset;
		it->segments[it->nsegments].size = p->p_filesz;
		it->segments[it->nsegments++].address = p->p_vaddr;
	}
}

/* Most programs are no interpreters: look at their symbols only if there is a reason.  The section is
 * there from 3.10 on. */
static void read_objects(int fd, const char *path, struct interpreter *it)
{
	struct elf_file f;

	if (elf_file_open(&f, fd))
		return;
	if (strstr(base_name(path), "python") || f.bare || elf_file_section(&f, ".PyRuntime"))
		elf_file_symbols(&f, STT_OBJECT, find_object, it);
	copy_segments(&f, it);
	elf_file_close(&f);
}

static void read_functions(int fd, struct interpreter *it)
{
	struct functions found = { 0 };
	struct elf_file f;

	if (elf_file_open(&f, fd))
		return;
	elf_file_symbols(&f, STT_FUNC, find_function, &found);
	if (!it->version_at)
		it->version = found.version;
	eval_code_find(&it->eval, &f, found.eval.st_value, found.eval.st_size);
	elf_file_close(&f);
}

static void read_file(struct helper_job *job)
{
	int fd = proc_reopen(job->fd);
	struct interpreter it = { 0 };

	if (fd >= 0) {
		read_objects(fd, job->in, &it);
		if (it.runtime)
			read_functions(fd, &it);
		close(fd);
	}
	helper_put(job, &it, sizeof(it));
}

static int look_at(struct helper_pool *l, int pid, const char *key, int fd, struct interpreter *it)
{
	struct helper_answer a;
	int err = helper_call(l, pid, key, read_file, key, strlen(key) + 1, fd, &a);

	if (err)
		return err;
	memcpy(it, a.bytes, sizeof(*it));
	helper_drop(&a);
	return 0;
}

const struct interpreter *interpreter_get(struct interpreter_file *f, struct helper_pool *l, int pid,
					  const char *key, const char *path, int fd)
{
	if (!f->read && fd >= 0 && may_be(path) && (!f->tried || clock_ns() - f->tried > AGAIN_NS)) {
		f->tried = clock_ns();
		f->read = !err_is_transient(look_at(l, pid, key, fd, &f->interpreter));
	}
	return f->interpreter.runtime ? &f->interpreter : NULL;
}

bool interpreter_bias(const struct interpreter *it, unsigned long long start, unsigned long long offset,
		      unsigned long long *bias)
{
	for (unsigned i = 0; i < it->nsegments; i++) {
		unsigned long long from = it->segments[i].offset & -PAGE;

		if (offset < from || offset - from >= it->segments[i].size + (it->segments[i].offset - from))
			continue;
		*bias = start - (it->segments[i].address - it->segments[i].offset + offset);
		return true;
	}
	return false;
}
