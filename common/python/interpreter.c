/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "elf/elf_file.h"
#include "proc/helper_pool.h"
#include "proc/proc.h"
#include "python/interpreter.h"

/* Where each version of Python keeps what is read of it. */

/* From 3.13 on: where struct _Py_DebugOffsets has the offset, except version, free_threaded,
 * text_kind. */
static const struct python_layout layouts[] = {
#include "python/layouts.def"
};

/* cookie, version, free_threaded: the first words of struct _Py_DebugOffsets. */
static const char COOKIE[] = "xdebugpy";

/* No struct is larger than the interpreter's state. */
enum { MAX_OFFSET = 1 << 20, POINTER = 8 };

static const struct python_layout *interpreter_find(unsigned version, bool free_threaded)
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

/* Replaces each field's word number by the offset found there; text_compact is derived from text_ascii, and fields that a
 * version does not have are left. */
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
	l = interpreter_find(version, debug && words[2]);
	if (!l)
		return false;
	p->at = *l;
	p->frame_size = p->code_size = 0;
	return (!debug || resolve_all(&p->at, words)) && measure(p);
}

enum { PAGE = 4096 };

static const unsigned long long AGAIN_NS = 100 * 1000000ull;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool interpreter_is_usual(const char *path)
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
	unsigned version, major;	/* major: of one without _PyRuntime */
	unsigned long long get_version;
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
	if (!strcmp(name, "Py_GetVersion"))
		found->get_version = sym->st_value;
	else if (!strcmp(name, "PyString_FromString"))
		found->major = 2;
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

/* Return true if a name is among those of the section's symbols, defined there or not. */
static bool has_name(const struct elf_file *f, const char *section, const char *name)
{
	const Elf64_Shdr *s = elf_file_section(f, section);
	size_t size, len = strlen(name) + 1;
	char *strings = s ? elf_file_strings(f, s - f->sections, &size) : NULL;
	bool found = strings && memmem(strings, size, name, len);

	free(strings);
	return found;
}

/* Most files are no interpreters: look at their symbols only if there is a reason.  The section is
 * there from 3.10 on.  Extension modules have names of the interpreter's functions, too, but not this one. */
static bool may_be(const struct elf_file *f, const char *path)
{
	return strstr(base_name(path), "python") || f->bare || elf_file_section(f, ".PyRuntime") ||
	       has_name(f, ".dynstr", "Py_GetVersion") ||
	       (!elf_file_has_many_names(f) && has_name(f, ".strtab", "_PyRuntime"));
}

/* Return true if the file's functions are to be looked at. */
static bool read_objects(int fd, const char *path, struct interpreter *it)
{
	struct elf_file f;
	bool may;

	if (elf_file_open(&f, fd))
		return false;
	may = may_be(&f, path);
	if (may)
		elf_file_symbols(&f, STT_OBJECT, find_object, it);
	copy_segments(&f, it);
	elf_file_close(&f);
	return may;
}

static void read_functions(int fd, struct interpreter *it)
{
	struct functions found = { .major = 3 };
	struct elf_file f;

	if (elf_file_open(&f, fd))
		return;
	elf_file_symbols(&f, STT_FUNC, find_function, &found);
	if (!it->version_at)
		it->version = found.version;
	if (!it->runtime && found.get_version) {
		it->is_old = true;
		it->runtime = found.get_version;
		it->version = found.major;
	}
	if (it->runtime)
		eval_code_find(&it->eval, &f, found.eval.st_value, found.eval.st_size);
	elf_file_close(&f);
}

static void read_file(struct helper_job *job)
{
	int fd = proc_reopen(job->fd);
	struct interpreter it = { 0 };

	if (fd >= 0) {
		if (read_objects(fd, job->in, &it))
			read_functions(fd, &it);
		close(fd);
	}
	helper_put(job, &it, sizeof(it));
}

static int look_at(struct helper_pool *l, int pid, const char *key, int fd, struct interpreter *it)
{
	struct helper_answer a;
	int err = helper_call(l, &(struct helper_request){
			pid, key, read_file, key, strlen(key) + 1, .fd = fd }, &a);

	if (err)
		return err;
	memcpy(it, a.bytes, sizeof(*it));
	helper_drop(&a);
	return 0;
}

const struct interpreter *interpreter_get(struct interpreter_file *f, struct helper_pool *l, int pid,
					  const char *key, int fd)
{
	if (!f->read && fd >= 0 && (!f->tried || clock_ns() - f->tried > AGAIN_NS)) {
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
