/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* place - for each line of standard input, a function's first bytes in hexadecimal numbers, prints uprobe_cheap_offset(). */
#include <stdio.h>
#include <stdlib.h>
#include "elf/elf.h"

static size_t bytes_of(const char *line, unsigned char *bytes, size_t room)
{
	char *end;
	size_t n = 0;

	for (unsigned long byte = strtoul(line, &end, 16); end != line && n < room; byte = strtoul(line, &end, 16)) {
		bytes[n++] = byte;
		line = end;
	}
	return n;
}

int main(void)
{
	unsigned char bytes[32];
	char line[256];

	while (fgets(line, sizeof(line), stdin))
		printf("%zu\n", uprobe_cheap_offset(bytes, bytes_of(line, bytes, sizeof(bytes))));
	return 0;
}
