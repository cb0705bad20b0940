/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* usdt_places PLACE...: where a USDT probe's argument is, as machine/usdt.h reads it, which it is compiled with: a line each */
#include <stdio.h>
#include "machine/usdt.h"

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "none", "constant", "register", "memory" };

	(void)argc;
	while (*++argv) {
		struct usdt_arg arg = { .reg = USDT_NO_REGISTER, .index = USDT_NO_REGISTER };
		const char *at = *argv;

		if (!take_place(&at, &arg) || *at)
			printf("%s: not understood\n", *argv);
		else
			printf("%s: %s %lld, %d, %d * %d\n", *argv, kinds[arg.kind], arg.value, arg.reg, arg.index, arg.scale);
	}
	return 0;
}
