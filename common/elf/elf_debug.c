/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "elf/elf_bytes.h"
#include "elf/elf_debug.h"

/* Notes of more than NOTES bytes are not read. */
enum { MAX_HEADERS = 4096, NOTES = 1 << 16 };

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

/* Takes the build id from the notes at these bytes of the file. */
static void read_notes(const struct elf_bytes *b, unsigned long long at, unsigned long long size,
		       struct elf_debug *d)
{
	char *notes = size <= NOTES ? elf_bytes_part(b, at, size) : NULL;
	Elf64_Nhdr n;

	for (size_t i = 0; notes && !d->id_size && size - i >= sizeof(n); ) {
		memcpy(&n, notes + i, sizeof(n));
		i += sizeof(n);
		if (n.n_namesz > size - i || padded(n.n_namesz) > size - i ||
		    n.n_descsz > size - i - padded(n.n_namesz))
			break;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(notes + i, "GNU", 4) &&
		    n.n_descsz <= sizeof(d->id)) {
			d->id_size = n.n_descsz;
			memcpy(d->id, notes + i + padded(n.n_namesz), n.n_descsz);
		}
		i += padded(n.n_namesz) + n.n_descsz;
		i = padded(i) < size ? padded(i) : size;
	}
	free(notes);
}

/* n: of sections. */
static void read_sections(const struct elf_bytes *b, const Elf64_Shdr *sections, size_t n, size_t names_at,
			  struct elf_debug *d)
{
	const Elf64_Shdr *of_names = names_at < n ? &sections[names_at] : NULL;
	char *names = of_names ? elf_bytes_part(b, of_names->sh_offset, of_names->sh_size) : NULL;
	static const char info[] = ".debug_info";

	for (size_t i = 0; i < n; i++) {
		const Elf64_Shdr *s = &sections[i];

		if (s->sh_type == SHT_SYMTAB)
			d->symbols = true;
		if (s->sh_type == SHT_NOTE && !d->id_size)
			read_notes(b, s->sh_offset, s->sh_size, d);
		if (names && s->sh_type == SHT_PROGBITS && of_names->sh_size >= sizeof(info) &&
		    s->sh_name <= of_names->sh_size - sizeof(info) &&
		    !memcmp(names + s->sh_name, info, sizeof(info)))
			d->lines = true;
	}
	free(names);
}

/* A file without section headers has the notes in a segment. */
static void read_segments(const struct elf_bytes *b, const Elf64_Phdr *segments, size_t n, struct elf_debug *d)
{
	for (size_t i = 0; i < n && !d->id_size; i++)
		if (segments[i].p_type == PT_NOTE)
			read_notes(b, segments[i].p_offset, segments[i].p_filesz, d);
}

static bool is_ours(const Elf64_Ehdr *h)
{
	return h && !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_machine == EM_X86_64 &&
	       h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_ident[EI_DATA] == ELFDATA2LSB;
}

static void *read_headers(const struct elf_bytes *b, unsigned long long at, size_t n, size_t size,
			  size_t expected)
{
	return n <= MAX_HEADERS && size == expected ? elf_bytes_part(b, at, n * size) : NULL;
}

bool elf_debug_read(int fd, struct elf_debug *d)
{
	struct elf_bytes b = { .fd = fd };
	struct stat st;
	Elf64_Ehdr *h;
	Elf64_Shdr *sections;
	Elf64_Phdr *segments;
	bool ok;

	*d = (struct elf_debug){ 0 };
	b.size = fstat(fd, &st) ? 0 : st.st_size;
	h = elf_bytes_part(&b, 0, sizeof(*h));
	ok = is_ours(h);
	if (ok) {
		sections = read_headers(&b, h->e_shoff, h->e_shnum, h->e_shentsize, sizeof(*sections));
		if (sections)
			read_sections(&b, sections, h->e_shnum, h->e_shstrndx, d);
		free(sections);
		segments = read_headers(&b, h->e_phoff, h->e_phnum, h->e_phentsize, sizeof(*segments));
		if (segments && !d->id_size)
			read_segments(&b, segments, h->e_phnum, d);
		free(segments);
	}
	free(h);
	return ok;
}

bool elf_debug_same(const struct elf_debug *a, const struct elf_debug *b)
{
	return a->id_size && a->id_size == b->id_size && !memcmp(a->id, b->id, a->id_size);
}
