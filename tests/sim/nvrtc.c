/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A simulated libnvrtc.so.13, which compiles nothing.
 *
 * SIM_NVRTC_US  how long nvrtcCompileProgram() takes: us
 *
 * It fails with NVRTC_ERROR_COMPILATION (6) if the source begins with #error. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef struct program { int wrong; } *nvrtcProgram;

EXPORTED int nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int n,
				const char *const *headers, const char *const *names);
EXPORTED int nvrtcCompileProgram(nvrtcProgram program, int n, const char *const *options);
EXPORTED int nvrtcDestroyProgram(nvrtcProgram *program);

int nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int n,
		       const char *const *headers, const char *const *names)
{
	(void)name, (void)n, (void)headers, (void)names;
	*program = calloc(1, sizeof(**program));
	if (!*program)
		return 1;
	(*program)->wrong = !strncmp(source, "#error", 6);
	return 0;
}

int nvrtcCompileProgram(nvrtcProgram program, int n, const char *const *options)
{
	const char *us = getenv("SIM_NVRTC_US");

	(void)n, (void)options;
	if (us)
		usleep(atoi(us));
	return program->wrong ? 6 : 0;
}

int nvrtcDestroyProgram(nvrtcProgram *program)
{
	free(*program);
	*program = NULL;
	return 0;
}
