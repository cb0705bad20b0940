/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "elf/elf.h"
#include "elf/elf_file.h"

enum { CODE = 32, MAX_PROBES = 4096, MAX_ENTRIES = 4096, MAX_PREFIX = 64 };

/* Symbol versions: bytes, and definitions.  A runtime defines two: the file's own and this one. */
enum { MAX_VERSIONS = 1 << 16, MAX_DEFINITIONS = 256, MAX_MAJOR = 1000 };

static int by_id(const void *a, const void *b)
{
	const struct elf_probe *p = a, *q = b;

	return p->id != q->id ? p->id - q->id : (p->symbol > q->symbol) - (p->symbol < q->symbol);
}

struct scanning {
	struct elf_scan *scan;
	const struct elf_file *file;
	int (*find)(const void *ctx, const char *symbol);
	const void *ctx;
	int fd;
};

/* Most symbols of most files are not: it is asked of each. */
static bool may_be_cuda(const char *name)
{
	if (name[0] == '_' && name[1] == '_')
		name += 2;
	return (name[0] == 'c' && name[1] == 'u') || (name[0] == 'n' && (name[1] == 'c' || name[1] == 'v'));
}

static bool on_symbol(void *ctx, const char *name, const Elf64_Sym *sym)
{
	struct scanning *s = ctx;
	struct elf_scan *scan = s->scan;
	unsigned char code[CODE];
	unsigned long long offset;
	char plain[128];
	size_t len;
	ssize_t n;
	int id;

	if (*name == '_' && !strcmp(name, "_dl_debug_state") && elf_file_offset(s->file, sym->st_value, &offset))
		scan->linker = offset;
	if (!may_be_cuda(name))
		return true;
	len = strcspn(name, "@");	/* cudaMalloc@@libcudart.so.12 */
	if (len >= sizeof(plain))
		return true;
	memcpy(plain, name, len);
	plain[len] = 0;
	id = s->find(s->ctx, plain);
	if (id < 0 || !elf_file_offset(s->file, sym->st_value, &offset))
		return true;
	n = pread(s->fd, code, sizeof(code), offset);
	if (n <= 0)
		return true;
	if (scan->n == MAX_PROBES)
		return false;
	scan->probes = xrealloc(scan->probes, scan->n + 1, sizeof(*scan->probes));
	scan->probes[scan->n++] = (struct elf_probe){
		.id = id, .symbol = offset, .offset = offset + uprobe_cheap_offset(code, n),
		.exported = !s->file->strings[1],	/* .symtab is read after .dynsym */
	};
	return true;
}

/* Keeps one of each function found in both tables, and one of functions that share their code. */
static void drop_doubles(struct elf_scan *scan)
{
	int kept = 0;

	qsort(scan->probes, scan->n, sizeof(*scan->probes), by_id);
	for (int i = 0; i < scan->n; i++) {
		int j = 0;

		while (j < kept && scan->probes[j].symbol != scan->probes[i].symbol)
			j++;
		if (j == kept)
			scan->probes[kept++] = scan->probes[i];
		else
			scan->probes[j].exported |= scan->probes[i].exported;
	}
	scan->n = kept;
}

/* Return true if the file has the text there. */
static bool is_there(const struct elf_file *f, unsigned long long at, const char *text)
{
	size_t len = strlen(text);
	char bytes[MAX_PREFIX];

	return len <= sizeof(bytes) && pread(f->bytes.fd, bytes, len, at) == (ssize_t)len && !memcmp(bytes, text, len);
}

static bool any_needs(const struct elf_file *f, const Elf64_Shdr *dynamic, const Elf64_Dyn *entries,
		      const char *prefix)
{
	const Elf64_Shdr *strings = dynamic->sh_link < f->nsections ? &f->sections[dynamic->sh_link] : NULL;

	for (size_t i = 0; strings && i < dynamic->sh_size / sizeof(*entries) && entries[i].d_tag != DT_NULL; i++)
		if (entries[i].d_tag == DT_NEEDED && entries[i].d_un.d_val < strings->sh_size &&
		    is_there(f, strings->sh_offset + entries[i].d_un.d_val, prefix))
			return true;
	return false;
}

/* Return true if the file needs a library whose name begins so. */
static bool needs_library(const struct elf_file *f, const char *prefix)
{
	const Elf64_Shdr *s = f->sections;
	Elf64_Dyn *entries;
	size_t i = 0;
	bool needs;

	while (i < f->nsections && s[i].sh_type != SHT_DYNAMIC)
		i++;
	if (i == f->nsections || s[i].sh_size > MAX_ENTRIES * sizeof(*entries))
		return false;
	entries = elf_bytes_part(&f->bytes, s[i].sh_offset, s[i].sh_size);
	needs = entries && any_needs(f, &s[i], entries, prefix);
	free(entries);
	return needs;
}

static int cudart_major(const char *name)
{
	int major = 0;

	if (sscanf(name, "libcudart.so.%4d", &major) != 1 || major < 1 || major > MAX_MAJOR)
		return 0;
	return major;
}

/* Definitions and names are linked by distances ("Symbol Versioning" in the LSB's ELF supplement). */
static int find_major(const char *part, size_t size, const char *strings, size_t strings_size)
{
	size_t at = 0, name_at;
	Elf64_Verdaux name;
	Elf64_Verdef def;
	int major = 0;

	for (int n = 0; n < MAX_DEFINITIONS && !major; n++, at += def.vd_next) {
		if (at > size || size - at < sizeof(def))
			break;
		memcpy(&def, part + at, sizeof(def));
		name_at = at + def.vd_aux;
		if (def.vd_cnt && name_at <= size && size - name_at >= sizeof(name)) {
			memcpy(&name, part + name_at, sizeof(name));
			/* the base version repeats DT_SONAME, which a renamed file may change */
			if (!(def.vd_flags & VER_FLG_BASE) && name.vda_name < strings_size)
				major = cudart_major(strings + name.vda_name);
		}
		if (!def.vd_next)
			break;
	}
	return major;
}

/* Returns 12 for a file that defines the symbol version libcudart.so.12, as NVIDIA's runtimes do for all that
 * they export, whatever the file is called; 0 for any other file, also one without section headers. */
static int cudart_version(const struct elf_file *f)
{
	const Elf64_Shdr *s = f->sections;
	size_t i = 0, strings_size = 0;
	char *part, *strings;
	int major = 0;

	while (i < f->nsections && s[i].sh_type != SHT_GNU_verdef)
		i++;
	if (i == f->nsections || s[i].sh_size > MAX_VERSIONS || s[i].sh_flags & SHF_COMPRESSED)
		return 0;
	part = elf_bytes_part(&f->bytes, s[i].sh_offset, s[i].sh_size);
	strings = part ? elf_file_strings(f, s[i].sh_link, &strings_size) : NULL;
	if (strings)
		major = find_major(part, s[i].sh_size, strings, strings_size);
	free(strings);
	free(part);
	return major;
}

void elf_scan(int fd, int (*find)(const void *ctx, const char *symbol), const void *ctx,
	      struct elf_scan *scan)
{
	struct scanning s = { .scan = scan, .find = find, .ctx = ctx, .fd = fd };
	struct elf_file file;

	memset(scan, 0, sizeof(*scan));
	scan->error = elf_file_open(&file, fd);
	if (scan->error)
		return;
	s.file = &file;
	scan->runtime = cudart_version(&file);
	scan->fatbin = elf_file_section(&file, ".nv_fatbin");
	file.exports_only = elf_file_has_many_names(&file) && needs_library(&file, "libcudart.so.");
	scan->error = elf_file_symbols(&file, STT_FUNC, on_symbol, &s);
	if (file.bare && !scan->error && !scan->n)
		scan->error = "has no section headers and exports no CUDA functions";
	elf_file_close(&file);
	scan->functions = scan->n;
	if (scan->n)
		drop_doubles(scan);
}
