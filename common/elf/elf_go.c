/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "elf/elf_file.h"
#include "elf/elf_go.h"
#include "machine/thread.h"

/* strip leaves them: the program needs them.  The third is that of position-independent programs. */
bool elf_has_go(const struct elf_file *f)
{
	return elf_file_section(f, ".go.buildinfo") || elf_file_section(f, ".gopclntab") ||
	       elf_file_section(f, ".data.rel.ro.gopclntab");
}

static bool find_place(void *ctx, const char *name, const Elf64_Sym *sym)
{
	struct elf_go *go = ctx;

	if (strcmp(name, "runtime.tlsg"))
		return true;
	go->has_place = true;
	go->place = sym->st_value;
	return false;
}

/* A stripped program has one thread-local variable, unless its parts in C have some. */
static void read_place(struct elf_file *f, struct elf_go *go)
{
	const Elf64_Phdr *tls = elf_file_segment(f, PT_TLS);

	if (!tls)
		return;
	elf_file_symbols(f, STT_TLS, find_place, go);
	go->has_place |= tls->p_memsz == sizeof(void *);
	go->place = thread_tls_offset(go->place, tls->p_memsz, tls->p_align);
}

void elf_go_read(int fd, struct elf_go *go)
{
	struct elf_file f;

	*go = (struct elf_go){ 0 };
	if (elf_file_open(&f, fd))
		return;
	go->is = elf_has_go(&f);
	if (go->is)
		read_place(&f, go);
	elf_file_close(&f);
}
