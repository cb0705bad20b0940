/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* rust-names: writes of each symbol of the input, one a line, its name, and with -c tab and its name by libiberty; "-" for none.
 * On standard error, the most microseconds that one of our names took. */
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "sym/demangle.h"

static void append(const char *s, size_t len, void *ctx)
{
	strncat(ctx, s, len);
}

/* libiberty's function loops for hours on some symbols that are not valid. */
static const char *theirs(const char *symbol, char *text)
{
	*text = 0;
	return rust_demangle_callback(symbol, DMGL_RUST, append, text) ? text : "-";
}

static unsigned long long cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000ull + now.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	static char line[1 << 17], text[1 << 20];
	static struct demangler demangler;
	unsigned long long most = 0;
	bool compare = argc > 1 && !strcmp(argv[1], "-c");

	while (fgets(line, sizeof(line), stdin)) {
		unsigned long long from = cpu_us(), took;
		const char *name;

		line[strcspn(line, "\n")] = 0;
		name = demangle(&demangler, line);
		took = cpu_us() - from;
		most = took > most ? took : most;
		printf("%s\t%s\n", name == line ? "-" : name, compare && name != line ? theirs(line, text) : "-");
	}
	fprintf(stderr, "%llu\n", most);
	return 0;
}
