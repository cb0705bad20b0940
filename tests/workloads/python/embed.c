/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* embed LIBPYTHON ARGUMENT...: a program with Python inside, from a shared library. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *lib = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	int (*run)(int, char **);

	if (!lib) {
		fprintf(stderr, "embed: %s\n", argc > 2 ? dlerror() : "usage: embed LIBPYTHON ARGUMENT...");
		return 2;
	}
	*(void **)&run = dlsym(lib, "Py_BytesMain");
	argv[1] = argv[0];
	return run(argc - 1, argv + 1);
}
