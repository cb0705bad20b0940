/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "abi/inject.h"
#include "base/die.h"
#include "session/gpu_preload.h"

#define LIBRARY "libcudainject.so"

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

void gpu_preload_find(struct gpu_preload *p)
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

void gpu_preload_set(struct gpu_preload *p, const char *socket)
{
	const char *others = getenv("LD_PRELOAD");
	/* sanitizers insist on being the first; and what wraps functions of CUDA itself goes on to ours */
	char *all = others && *others ? xprintf("%s:%s", others, p->library) : xstrdup(p->library);

	p->preload = others ? xstrdup(others) : NULL;
	set("LD_PRELOAD", all);
	set(INJECT_SOCKET, socket);
	free(all);
}

void gpu_preload_unset(struct gpu_preload *p)
{
	set("LD_PRELOAD", p->preload);
	set(INJECT_SOCKET, NULL);
}

void gpu_preload_free(struct gpu_preload *p)
{
	free(p->library);
	free(p->preload);
	*p = (struct gpu_preload){ 0 };
}
