/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes the code at the start of a function. */
#include "elf/elf.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = uprobe_cheap_offset(data, size);

	CHECK(at == 0 || at < size);
	/* the offset found is cheap itself, and cheap whatever comes before it */
	CHECK(uprobe_cheap_offset(data + at, size - at) == 0);
	CHECK(!at || uprobe_cheap_offset(data, at) == 0);
	return 0;
}
