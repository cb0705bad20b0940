/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "abi/gpuprobe.h"
#include "base/die.h"
#include "session/gpuprobe_preload.h"

#define LIBRARY "libcudagpuprobe.so"

/* By what names Triton knows ptxas; what it calls instead, beside the library; what tells that its own. */
static const struct {
	const char *triton, *file, *own;
} ptxas[] = {
	{ "TRITON_PTXAS_PATH", "cudagpuprobe-ptxas", GPUPROBE_PTXAS },
	{ "TRITON_PTXAS_BLACKWELL_PATH", "cudagpuprobe-ptxas-blackwell", GPUPROBE_PTXAS_BLACKWELL },
};

/* Returns the folder of the tool itself. */
static char *tool_folder(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		die(errno, "cannot read /proc/self/exe");
	path[n] = '\0';
	*strrchr(path, '/') = '\0';
	return xstrdup(path);
}

void gpuprobe_preload_find(struct gpuprobe_preload *p)
{
	static const char *const places[] = { "", "/../lib/cuda-bpf-tools" };
	char *folder = tool_folder();

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !p->library; i++) {
		p->library = xprintf("%s%s/" LIBRARY, folder, places[i]);
		if (!access(p->library, R_OK))
			continue;
		free(p->library);
		p->library = NULL;
	}
	if (!p->library)
		die(0, "there is no " LIBRARY " in %s or %s/../lib/cuda-bpf-tools: it belongs to this tool",
		    folder, folder);
	if (strpbrk(p->library, " :$"))
		die(0, "LD_PRELOAD cannot name %s: its path has a space, a colon or a dollar sign", p->library);
	free(folder);
}

static void set(const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		die(errno, "cannot set %s", name);
}

static char *copy_of(const char *name)
{
	const char *value = getenv(name);

	return value ? xstrdup(value) : NULL;
}

static void set_ptxas(struct gpuprobe_preload *p)
{
	for (size_t i = 0; i < sizeof(ptxas) / sizeof(*ptxas); i++) {
		char *file = xprintf("%.*s%s", (int)(strrchr(p->library, '/') + 1 - p->library), p->library, ptxas[i].file);

		p->ptxas[i] = copy_of(ptxas[i].triton);
		set(ptxas[i].own, p->ptxas[i]);
		if (access(file, X_OK))
			warning(errno, "Triton's kernels are not measured: %s", file);
		else
			set(ptxas[i].triton, file);
		free(file);
	}
}

void gpuprobe_preload_set(struct gpuprobe_preload *p, const char *socket)
{
	const char *others = getenv("LD_PRELOAD");
	/* sanitizers insist on being the first; and what wraps functions of CUDA itself goes on to ours */
	char *all = others && *others ? xprintf("%s:%s", others, p->library) : xstrdup(p->library);

	p->preload = copy_of("LD_PRELOAD");
	set("LD_PRELOAD", all);
	set(GPUPROBE_SOCKET, socket);
	set_ptxas(p);
	free(all);
}

void gpuprobe_preload_unset(struct gpuprobe_preload *p)
{
	set("LD_PRELOAD", p->preload);
	set(GPUPROBE_SOCKET, NULL);
	for (size_t i = 0; i < sizeof(ptxas) / sizeof(*ptxas); i++) {
		set(ptxas[i].triton, p->ptxas[i]);
		set(ptxas[i].own, NULL);
	}
}

void gpuprobe_preload_free(struct gpuprobe_preload *p)
{
	free(p->library);
	free(p->preload);
	for (size_t i = 0; i < sizeof(ptxas) / sizeof(*ptxas); i++)
		free(p->ptxas[i]);
	*p = (struct gpuprobe_preload){ 0 };
}
