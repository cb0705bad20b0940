/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "abi/audit.h"
#include "base/die.h"
#include "session/command.h"
#include "session/inject_library.h"

/* Returns the file of the tool itself. */
static char *tool_file(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		die(errno, "cannot read /proc/self/exe");
	path[n] = '\0';
	return xstrdup(path);
}

char *inject_library_find(char **why)
{
	static const char *const places[] = { "audit", "../lib/cuda-bpf-tools/audit" };
	char *folder = tool_file(), *object = strrchr(folder, '/'), *path = NULL;

	*why = NULL;
	*object++ = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !path; i++) {
		path = xprintf("%s/%s/%s.so", folder, places[i], object);
		if (!access(path, R_OK))
			continue;
		free(path);
		path = NULL;
	}
	if (!path)
		*why = xprintf("there is no %s.so in %s/%s or %s/%s", object, folder, places[0], folder, places[1]);
	else if (strpbrk(path, ":$"))
		*why = xprintf("LD_AUDIT cannot name %s: its path has a colon or a dollar sign", path);
	free(folder);
	if (!*why)
		return path;
	free(path);
	return NULL;
}

/* Sets a variable to value, joined with what is in it. */
static void set(const char *name, const char *value, const char *before, const char *between, const char *after)
{
	const char *others = before ?: after;
	char *all = !others || !*others ? xstrdup(value) : before ? xprintf("%s%s%s", before, between, value) :
		    xprintf("%s%s%s", value, between, after);

	command_setenv(name, all);
	free(all);
}

void inject_library_set(const char *library, const char *socket)
{
	const char *object = strrchr(library, '/') + 1;
	char *entry = xprintf("%.*s=%s", (int)strcspn(object, "."), object, socket);

	/* The C library stops telling the libraries behind one that does not ask what dlsym() finds (glibc 2.35 to 2.43). */
	set("LD_AUDIT", library, getenv("LD_AUDIT"), ":", NULL);
	set(AUDIT_SOCKETS, entry, getenv(AUDIT_SOCKETS), " ", NULL);
	free(entry);
}
