/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* For LD_PRELOAD into a tool: makes slow what SLOW names, so that tests need nothing that is slow by itself.
 *   scan    the list of processes: 1.2 s before the first
 *   read    each helper process opens the first file that it is to read after 1.2 s
 *   place   each perf event takes 100 ms longer to place …
 *   remove  … or to remove
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG_US = 1200000, SHORT_US = 100000 };

struct bpf_link;
struct bpf_program;

/* Once in a process, or each time. */
static void slow(const char *what, bool *done, int us)
{
	const char *want = getenv("SLOW");

	if (!want || strcmp(want, what) || (done && *done))
		return;
	if (done)
		*done = true;
	usleep(us);
}

struct dirent *readdir(DIR *dir)
{
	struct dirent *(*next)(DIR *) = dlsym(RTLD_NEXT, "readdir");
	struct dirent *e = next(dir);
	static bool done;

	if (e && isdigit((unsigned char)*e->d_name))
		slow("scan", &done, LONG_US);
	return e;
}

int open(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
	static bool done;
	va_list ap;
	int mode;

	if (!strncmp(path, "/proc/self/fd/", 14))
		slow("read", &done, LONG_US);
	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, int) : 0;
	va_end(ap);
	return next(path, flags, mode);
}

struct bpf_link *bpf_program__attach_uprobe_opts(const struct bpf_program *prog, int pid, const char *path,
						 size_t offset, const void *opts)
{
	struct bpf_link *(*next)(const struct bpf_program *, int, const char *, size_t, const void *) =
		dlsym(RTLD_NEXT, "bpf_program__attach_uprobe_opts");

	slow("place", NULL, SHORT_US);
	return next(prog, pid, path, offset, opts);
}

int bpf_link__destroy(struct bpf_link *link)
{
	int (*next)(struct bpf_link *) = dlsym(RTLD_NEXT, "bpf_link__destroy");

	slow("remove", NULL, SHORT_US);
	return next(link);
}
