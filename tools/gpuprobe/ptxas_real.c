/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "abi/gpuprobe.h"
#include "gpuprobe/ptxas_real.h"

#define BLACKWELL "-blackwell"

static bool is_program(const char *file)
{
	struct stat st, own;

	if (stat(file, &st) || !S_ISREG(st.st_mode) || access(file, X_OK))
		return false;
	return stat("/proc/self/exe", &own) || own.st_dev != st.st_dev || own.st_ino != st.st_ino;
}

static char *program(const char *folder, size_t n, const char *name)
{
	char *file;

	if (!n || asprintf(&file, "%.*s/%s", n < PATH_MAX ? (int)n : 0, folder, name) < 0)
		return NULL;
	if (is_program(file))
		return file;
	free(file);
	return NULL;
}

/* The wheel's own, beside the library that the caller has mapped. */
static char *of_triton(const char *name)
{
	char maps[32], *line = NULL, *found = NULL;
	size_t room = 0;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)getppid());
	f = fopen(maps, "re");
	while (f && !found && getline(&line, &room, f) > 0) {
		char *path = strchr(line, '/'), *end = path ? strstr(path, "/_C/libtriton") : NULL, *folder;

		if (!end || asprintf(&folder, "%.*s/backends/nvidia/bin", (int)(end - path), path) < 0)
			continue;
		found = program(folder, strlen(folder), name);
		free(folder);
	}
	if (f)
		fclose(f);
	free(line);
	return found;
}

static char *of_cuda(const char *name)
{
	const char *home = getenv("CUDA_HOME");
	char *folder, *found;

	if (!home || asprintf(&folder, "%s/bin", home) < 0)
		return NULL;
	found = program(folder, strlen(folder), name);
	free(folder);
	return found;
}

static char *in_path(const char *name)
{
	const char *path = getenv("PATH");
	char *found = NULL;

	for (size_t n; path && !found; path = path[n] ? path + n + 1 : NULL) {
		n = strcspn(path, ":");
		found = program(path, n, name);
	}
	return found;
}

static char *find(const char *name, const char *variable)
{
	const char *said = getenv(variable);
	char *found;

	if (said && is_program(said))
		return strdup(said);
	found = of_triton(name);
	if (!found)
		found = of_cuda(name);
	return found ? found : in_path(name);
}

char *ptxas_real(const char *name)
{
	size_t n = strlen(name), tail = strlen(BLACKWELL);
	bool blackwell = n > tail && !strcmp(name + n - tail, BLACKWELL);
	char *found = blackwell ? find("ptxas" BLACKWELL, GPUPROBE_PTXAS_BLACKWELL) : NULL;

	return found ? found : find("ptxas", GPUPROBE_PTXAS);
}
