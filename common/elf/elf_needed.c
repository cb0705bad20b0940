/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "elf/elf_file.h"
#include "elf/elf_needed.h"

enum { MAX_ENTRIES = 4096, MAX_PREFIX = 64 };

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

bool elf_needs(const struct elf_file *f, const char *prefix)
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
