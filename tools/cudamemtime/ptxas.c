/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/die.h"
#include "cudamemtime/cubin.h"
#include "cudamemtime/ptxas.h"

extern char **environ;

char *ptxas_find(void)
{
	char *path = xprintf("%s:/usr/local/cuda/bin", getenv("PATH") ?: "/usr/bin"), *rest = path, *found = NULL;

	for (char *folder; !found && (folder = strsep(&rest, ":")); ) {
		found = xprintf("%s/ptxas", *folder ? folder : ".");
		if (!access(found, X_OK))
			break;
		free(found);
		found = NULL;
	}
	free(path);
	return found;
}

/* Files without names: nothing is left behind, and nobody can put anything in their place. */
static int temporary(const char *text, size_t size)
{
	int fd = memfd_create("cudamemtime", MFD_CLOEXEC);

	if (fd < 0)
		die(errno, "cannot create a file in memory");
	for (size_t at = 0; at < size; ) {
		ssize_t n = write(fd, text + at, size - at);

		if (n < 0)
			die(errno, "cannot write to a file in memory");
		at += n;
	}
	return fd;
}

static int spawn(const char *ptxas, const char *arch, int in, int out, int said)
{
	char *input = xprintf("/proc/%d/fd/%d", getpid(), in), *output = xprintf("/proc/%d/fd/%d", getpid(), out);
	char *argv[] = { "ptxas", "-v", "-arch", (char *)arch, input, "-o", output, NULL };
	posix_spawn_file_actions_t actions;
	int status = -1, err;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, said, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, said, STDERR_FILENO);
	err = posix_spawn(&pid, ptxas, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		die(err, "cannot run %s", ptxas);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	free(input);
	free(output);
	return status;
}

static struct ptxas_kernel *add(struct ptxas_kernels *out, const char *symbol, size_t n)
{
	out->kernel = xrealloc(out->kernel, out->n + 1, sizeof(*out->kernel));
	out->kernel[out->n] = (struct ptxas_kernel){ .symbol = strndup(symbol, n) };
	return &out->kernel[out->n++];
}

/* Of each kernel it says three lines: "Compiling entry function 'NAME' for 'sm_90'", then "0 bytes stack frame, 0
 * bytes spill stores, 0 bytes spill loads", then "Used 12 registers, …".  Device functions have the second, too. */
static void read_said(struct ptxas_kernels *out, FILE *f)
{
	static const char entry[] = "Compiling entry function '";
	struct ptxas_kernel *k = NULL;
	unsigned stack, stores, loads, registers;
	char *line = NULL, *at;
	bool own = false;
	size_t room = 0;

	while (getline(&line, &room, f) > 0) {
		if ((at = strstr(line, entry))) {
			at += strlen(entry);
			k = add(out, at, strcspn(at, "'"));
		} else if (k && (at = strstr(line, "Function properties for "))) {
			at += strlen("Function properties for ");
			own = !strncmp(at, k->symbol, strlen(k->symbol)) && strchr("\r\n ", at[strlen(k->symbol)]);
		} else if (k && own && sscanf(line, " %u bytes stack frame, %u bytes spill stores, %u bytes spill",
					      &stack, &stores, &loads) == 3) {
			k->stack = stack;
			k->spills = stores + loads;
		} else if (k && (at = strstr(line, "Used ")) && sscanf(at, "Used %u registers", &registers) == 1) {
			k->registers = registers;
			k = NULL;
		}
	}
	free(line);
}

/* Returns the first line with an error. */
static char *first_error(FILE *f)
{
	char *line = NULL;
	size_t room = 0;

	rewind(f);
	while (getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, "error") || strstr(line, "fatal"))
			return line;
	}
	free(line);
	return xstrdup("it failed");
}

char *ptxas_run(struct ptxas_kernels *out, const char *ptxas, const char *arch, const char *text, size_t size)
{
	int in = temporary(text, size), cubin = temporary("", 0), said = temporary("", 0);
	int status = spawn(ptxas, arch, in, cubin, said);
	FILE *f = fdopen(said, "r");
	char *why = NULL;

	*out = (struct ptxas_kernels){ 0 };
	if (!f)
		die(errno, "cannot read what ptxas says");
	rewind(f);
	if (status)
		why = first_error(f);
	else
		read_said(out, f);
	for (size_t i = 0; i < out->n; i++)
		out->kernel[i].instructions = cubin_instructions(cubin, out->kernel[i].symbol);
	fclose(f);
	close(in);
	close(cubin);
	return why;
}

void ptxas_free(struct ptxas_kernels *kernels)
{
	for (size_t i = 0; i < kernels->n; i++)
		free(kernels->kernel[i].symbol);
	free(kernels->kernel);
	*kernels = (struct ptxas_kernels){ 0 };
}

const struct ptxas_kernel *ptxas_get(const struct ptxas_kernels *kernels, const char *symbol, size_t n)
{
	for (size_t i = 0; i < kernels->n; i++)
		if (strlen(kernels->kernel[i].symbol) == n && !memcmp(kernels->kernel[i].symbol, symbol, n))
			return &kernels->kernel[i];
	return NULL;
}
