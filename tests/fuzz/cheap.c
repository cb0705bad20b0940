/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The code at a function's start. */
#include "elf/elf.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = uprobe_cheap_offset(data, size);

	CHECK(at == 0 || at < size);
	/* the place found is cheap itself, and cheap whatever stands before it */
	CHECK(uprobe_cheap_offset(data + at, size - at) == 0);
	CHECK(!at || uprobe_cheap_offset(data, at) == 0);
	return 0;
}
