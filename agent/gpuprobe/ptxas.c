/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cudagpuprobe-ptxas, cudagpuprobe-ptxas-blackwell: Triton calls them instead of ptxas.  They put the tool's probe into the
 * PTX and have the real ptxas assemble it; or the original, if anything fails.  --version also prints a hash of the
 * request: Triton caches machine code by that text, and so separates code with probes from code without. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi/agent_gpuprobe.h"
#include "agent/gpuprobe/fnv.h"
#include "agent/gpuprobe/link.h"
#include "agent/gpuprobe/select.h"
#include "ptx/instrument.h"
#include "ptx/probe.h"

#define BLACKWELL "-blackwell"

enum { TEXT_MAX = 1 << 30 };

/* The tool's request; parts point to others. */
struct request {
	struct instrument options;
	struct gpu_probe probe;
	struct select select;
	uint64_t hash;
};

/* A command's output, in memory files: printed only if it succeeds. */
struct output {
	int out, err;
};

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
	const char *set = getenv(variable);
	char *found;

	if (set && is_program(set))
		return strdup(set);
	found = of_triton(name);
	if (!found)
		found = of_cuda(name);
	return found ? found : in_path(name);
}

/* Returns the ptxas that Triton would call instead of this program, called as `name`: the user's setting, else that of the
 * Triton that the caller has loaded, else that of CUDA_HOME or PATH; malloc'd.  NULL: none. */
static char *real_ptxas(const char *name)
{
	size_t n = strlen(name), tail = strlen(BLACKWELL);
	bool blackwell = n > tail && !strcmp(name + n - tail, BLACKWELL);
	char *found = blackwell ? find("ptxas" BLACKWELL, GPUPROBE_PTXAS_BLACKWELL) : NULL;

	return found ? found : find("ptxas", GPUPROBE_PTXAS);
}

static bool succeeds(const struct output *output, const char *file, char **argv)
{
	pid_t child = fork(), got;
	int status;

	if (!child) {
		if (dup2(output->out, STDOUT_FILENO) >= 0 && dup2(output->err, STDERR_FILENO) >= 0)
			execv(file, argv);
		_exit(255);
	}
	if (child < 0)
		return false;
	do
		got = waitpid(child, &status, 0);
	while (got < 0 && errno == EINTR);
	return got == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Runs a command; returns true if it succeeds: print_output() afterwards. */
static bool run(struct output *output, const char *file, char **argv)
{
	output->out = memfd_create("out", MFD_CLOEXEC);
	output->err = memfd_create("err", MFD_CLOEXEC);
	if (output->out >= 0 && output->err >= 0 && succeeds(output, file, argv))
		return true;
	close(output->out);
	close(output->err);
	return false;
}

static void copy(int from, int to)
{
	char buffer[4096];
	ssize_t n;

	lseek(from, 0, SEEK_SET);
	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		for (ssize_t at = 0, put; at < n; at += put) {
			put = write(to, buffer + at, (size_t)(n - at));
			if (put < 0)
				return;
		}
}

/* Prints the output, and closes the files. */
static void print_output(struct output *output)
{
	copy(output->out, STDOUT_FILENO);
	copy(output->err, STDERR_FILENO);
	close(output->out);
	close(output->err);
}

static bool selects(void *ctx, const char *name, size_t n)
{
	return select_matches(ctx, name, n);
}

/* Receives the request; false if there is no tool.  Sends nothing: the library in the program reports loaded images. */
static bool ask_tool(struct request *request)
{
	const char *name = secure_getenv(GPUPROBE_SOCKET);
	struct gpuprobe_config config;
	struct link link;
	char *payload;

	if (!name || !link_open(&link, name, &config, &payload))
		return false;
	link_close(&link);
	if (gpu_probe_read(&request->probe, payload + config.kernels_size, config.probe_size))
		return false;
	request->options = instrument_options(&config, &request->probe);
	request->select = (struct select){ payload, config.kernels_size };
	if (config.kernels_size) {
		request->options.selects = selects;
		request->options.ctx = &request->select;
	}
	config.period_ms = 0;
	request->hash = fnv64_more(fnv64(&config, sizeof(config)), payload, (size_t)config.kernels_size + config.probe_size);
	return true;
}

static char *text_of(const char *file, size_t *size)
{
	FILE *f = fopen(file, "re");
	size_t room = 0;
	char *text = NULL;
	ssize_t n = f ? getdelim(&text, &room, 0, f) : -1;

	if (f)
		fclose(f);
	if (n > 0 && n < TEXT_MAX) {
		*size = strnlen(text, (size_t)n);
		return text;
	}
	free(text);
	return NULL;
}

static char *file_with(const struct instrumented *what)
{
	const char *folder = secure_getenv("TMPDIR");
	char *name;
	int fd;
	FILE *f;

	if (asprintf(&name, "%s/cuda-bpf-tools-XXXXXX.ptx", folder && *folder ? folder : "/tmp") < 0)
		return NULL;
	fd = mkostemps(name, 4, 0);
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (f && fwrite(what->text, 1, what->size, f) == what->size && !fclose(f))
		return name;
	if (fd >= 0)
		unlink(name);
	free(name);
	return NULL;
}

/* Returns the name of a new file to assemble instead, malloc'd; NULL: the original. */
static char *rewrite(const struct request *request, const char *file)
{
	struct instrumented out = { 0 };
	size_t size = 0;
	char *text = text_of(file, &size), *name = NULL;

	if (text && !memmem(text, size, "__cuprobe_sites_", 16) &&
	    instrument(&out, text, size, &request->options) == INSTRUMENT_DONE)
		name = file_with(&out);
	free(out.text);
	free(text);
	return name;
}

static int assemble(const char *real, char **argv)
{
	execv(real, argv);
	fprintf(stderr, "%s: cannot run %s: %s\n", program_invocation_short_name, real, strerror(errno));
	return 255;
}

/* Returns the argument that names the PTX, or NULL: there is none, or there are several. */
static char **input_of(char **argv)
{
	char **input = NULL;
	size_t n;

	for (argv++; *argv; argv++) {
		n = strlen(*argv);
		if (**argv == '-' || n < 4 || strcmp(*argv + n - 4, ".ptx"))
			continue;
		if (input)
			return NULL;
		input = argv;
	}
	return input;
}

static bool asks_version(char **argv)
{
	for (argv++; *argv; argv++)
		if (!strcmp(*argv, "--version") || !strcmp(*argv, "-V"))
			return true;
	return false;
}

static int version(const char *real, char **argv, const struct request *request)
{
	struct output output;

	if (!run(&output, real, argv))
		return assemble(real, argv);
	print_output(&output);
	printf("With probes of cuda-bpf-tools, %016llx\n", (unsigned long long)request->hash);
	return 0;
}

static int assemble_rewritten(const char *real, char **argv, const struct request *request)
{
	char **input = input_of(argv), *original = input ? *input : NULL, *file;
	struct output output;
	bool ok;

	file = input ? rewrite(request, original) : NULL;
	if (!file)
		return assemble(real, argv);
	*input = file;
	ok = run(&output, real, argv);
	*input = original;
	unlink(file);
	free(file);
	if (!ok)
		return assemble(real, argv);
	print_output(&output);
	return 0;
}

int main(int argc, char **argv)
{
	char *real = argc > 0 ? real_ptxas(argv[0]) : NULL;
	struct request request;

	if (!real) {
		fprintf(stderr, "%s: there is no ptxas: neither Triton's nor in CUDA_HOME or PATH\n", program_invocation_short_name);
		return 255;
	}
	argv[0] = real;
	if (!ask_tool(&request))
		return assemble(real, argv);
	return asks_version(argv) ? version(real, argv, &request) : assemble_rewritten(real, argv, &request);
}
