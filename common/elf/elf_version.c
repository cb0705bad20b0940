/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "elf/elf_file.h"
#include "elf/elf_version.h"

/* A runtime defines two versions: the file's own and this one. */
enum { MAX_SIZE = 1 << 16, MAX_DEFINITIONS = 256, MAX_MAJOR = 1000 };

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
			/* the file's own is its DT_SONAME, which those who rename it change */
			if (!(def.vd_flags & VER_FLG_BASE) && name.vda_name < strings_size)
				major = cudart_major(strings + name.vda_name);
		}
		if (!def.vd_next)
			break;
	}
	return major;
}

int elf_cudart_version(const struct elf_file *f)
{
	const Elf64_Shdr *s = f->sections;
	size_t i = 0, strings_size = 0;
	char *part, *strings;
	int major = 0;

	while (i < f->nsections && s[i].sh_type != SHT_GNU_verdef)
		i++;
	if (i == f->nsections || s[i].sh_size > MAX_SIZE || s[i].sh_flags & SHF_COMPRESSED)
		return 0;
	part = elf_bytes_part(&f->bytes, s[i].sh_offset, s[i].sh_size);
	strings = part ? elf_file_strings(f, s[i].sh_link, &strings_size) : NULL;
	if (strings)
		major = find_major(part, s[i].sh_size, strings, strings_size);
	free(strings);
	free(part);
	return major;
}
