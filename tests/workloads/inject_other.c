/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* An audit library of the program's own, for LD_AUDIT: says which CUDA functions are bound, once each. */
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned la_version(unsigned version)
{
	return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	(void)map, (void)namespace, (void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags, const char *name)
{
	char line[128];
	int length;

	(void)index, (void)from, (void)to, (void)flags;
	if (!strncmp(name, "cudaMalloc", 11)) {
		length = snprintf(line, sizeof(line), "own audit library: %s\n", name);
		if (write(2, line, (size_t)length) != length)
			return symbol->st_value;
	}
	return symbol->st_value;
}
