/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "proc/installed.h"

/* Returns the path of the tool's own file. */
static char *tool_file(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		die(errno, "cannot read /proc/self/exe");
	path[n] = '\0';
	return xstrdup(path);
}

char *beside_find(const char *folder, const char *file, const char *variable, const char *forbidden, char **why)
{
	static const char *const places[] = { "", "/../lib/cuda-bpf-tools" };
	char *own = tool_file(), *slash = strrchr(own, '/'), *name, *path = NULL;

	*why = NULL;
	*slash = '\0';
	name = file ? xstrdup(file) : xprintf("%s.so", slash + 1);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !path; i++) {
		path = xprintf("%s%s%s/%s", own, places[i], folder, name);
		if (!access(path, R_OK))
			continue;
		free(path);
		path = NULL;
	}
	if (!path)
		*why = xprintf("there is no %s in %s%s or %s%s%s", name, own, folder, own, places[1], folder);
	else if (strpbrk(path, forbidden))
		*why = xprintf("%s cannot name %s: its path has one of the characters '%s'", variable, path, forbidden);
	free(name);
	free(own);
	if (!*why)
		return path;
	free(path);
	return NULL;
}
