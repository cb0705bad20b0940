/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cfi: unwinds itself.  cfi rows FILE: prints rules.  cfi time FILE: measures, at the file offsets in
 * standard input. */
#include <string.h>
#include "cfi.h"

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "rows"))
		return cfi_print_rows(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "time"))
		return cfi_print_times(argv[2]);
	cfi_cases();
	return 0;
}
