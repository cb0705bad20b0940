/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "die.h"
#include "elf_file.h"

/* More than any library has; a file that claims more is not worth the memory. */
#define MAX_TABLE	(1ull << 30)
enum { MAX_SEGMENTS = 4096 };

/* libelf reads a whole segment of headers or symbols at once; a bad one is its error. */
static const char *fault(const char *otherwise)
{
	const char *msg = elf_errmsg(-1);

	return msg ? msg : otherwise;
}

/* libelf passes over tables that are not there. */
static bool is_whole(int fd, const GElf_Ehdr *head)
{
	unsigned long long sections = head->e_shoff +
				      (unsigned long long)head->e_shnum * head->e_shentsize;
	struct stat st;

	return !fstat(fd, &st) && sections >= head->e_shoff &&
	       sections <= (unsigned long long)st.st_size;
}

static const char *read_segments(struct elf_file *f)
{
	size_t n;

	if (elf_getphdrnum(f->elf, &n) || !n || n > MAX_SEGMENTS)
		return "no program headers";
	f->loads = xcalloc(n, sizeof(*f->loads));
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr *p = &f->loads[f->nloads];

		if (!gelf_getphdr(f->elf, i, p))
			return fault("bad program headers");
		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			f->nloads++;
	}
	return NULL;
}

const char *elf_file_open(struct elf_file *f, int fd)
{
	const char *error = NULL;
	GElf_Ehdr head;

	memset(f, 0, sizeof(*f));
	elf_version(EV_CURRENT);
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	/* not ELF_C_READ_MMAP: its owner may truncate the file under us */
	f->elf = f->fd < 0 ? NULL : elf_begin(f->fd, ELF_C_READ, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF)
		error = "not an ELF file";
	else if (!gelf_getehdr(f->elf, &head))
		error = fault("bad ELF header");
	else if (head.e_machine != EM_X86_64 || gelf_getclass(f->elf) != ELFCLASS64)
		error = "not a 64-bit x86 ELF file";
	else if (head.e_type != ET_EXEC && head.e_type != ET_DYN)
		error = "neither a program nor a shared library";
	else if (!is_whole(f->fd, &head))
		error = "a truncated ELF file";
	else
		error = read_segments(f);
	if (error)
		elf_file_close(f);
	return error;
}

void elf_file_close(struct elf_file *f)
{
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	free(f->loads);
}

bool elf_file_offset(const struct elf_file *f, unsigned long long addr,
		     unsigned long long *offset)
{
	for (size_t i = 0; i < f->nloads; i++) {
		const GElf_Phdr *p = &f->loads[i];

		if (addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz) {
			*offset = addr - p->p_vaddr + p->p_offset;
			return true;
		}
	}
	return false;
}

bool elf_file_address(const struct elf_file *f, unsigned long long offset,
		      unsigned long long *addr)
{
	for (size_t i = 0; i < f->nloads; i++) {
		const GElf_Phdr *p = &f->loads[i];

		/* what is mapped begins with the page */
		if (offset >= (p->p_offset & ~0xfffull) && offset < p->p_offset + p->p_filesz) {
			*addr = offset - p->p_offset + p->p_vaddr;
			return true;
		}
	}
	return false;
}

bool elf_file_section(const struct elf_file *f, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(f->elf, &names))
		return false;
	while ((scn = elf_nextscn(f->elf, scn))) {
		GElf_Shdr head;
		const char *s = gelf_getshdr(scn, &head) ?
				elf_strptr(f->elf, names, head.sh_name) : NULL;

		if (s && !strcmp(s, name))
			return true;
	}
	return false;
}

static const char *read_table(const struct elf_file *f, Elf_Scn *scn, const GElf_Shdr *head,
			      int type, bool (*fn)(void *ctx, const char *name, const GElf_Sym *sym),
			      void *ctx)
{
	Elf_Data *data;

	if (head->sh_size > MAX_TABLE || !head->sh_entsize)
		return "a symbol table of absurd size";
	data = elf_getdata(scn, NULL);
	if (!data)
		return fault("an unreadable symbol table");
	for (size_t i = 0; i < head->sh_size / head->sh_entsize; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, i, &sym))
			return fault("a bad symbol");
		if (GELF_ST_TYPE(sym.st_info) != type || sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(f->elf, head->sh_link, sym.st_name);
		if (name && !fn(ctx, name, &sym))
			return NULL;
	}
	return NULL;
}

const char *elf_file_symbols_of(const struct elf_file *f, int type,
				bool (*fn)(void *ctx, const char *name, const GElf_Sym *sym),
				void *ctx)
{
	const char *error = NULL;
	Elf_Scn *scn = NULL;

	while (!error && (scn = elf_nextscn(f->elf, scn))) {
		GElf_Shdr head;

		if (!gelf_getshdr(scn, &head))
			error = fault("bad section headers");
		else if (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM)
			error = read_table(f, scn, &head, type, fn, ctx);
	}
	return error;
}

const char *elf_file_symbols(const struct elf_file *f,
			     bool (*fn)(void *ctx, const char *name, const GElf_Sym *sym),
			     void *ctx)
{
	return elf_file_symbols_of(f, STT_FUNC, fn, ctx);
}
