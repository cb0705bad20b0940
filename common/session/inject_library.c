/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "abi/inject.h"
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
	static const char *const places[] = { "inject", "../lib/cuda-bpf-tools/inject" };
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

/* Returns a list without a word, and with another one at its end; the caller frees it.  drop: the word, or, with = at its
 * end, how it begins. */
static char *replace(const char *list, char between, const char *drop, const char *with)
{
	char *all = xstrdup("");
	size_t n, m = strlen(drop);

	for (; list && *list; list += n + (list[n] == between)) {
		char *more;

		n = strchrnul(list, between) - list;
		if (!n || (n >= m && !strncmp(list, drop, m) && (n == m || drop[m - 1] == '=')))
			continue;
		more = xprintf("%s%.*s%c", all, (int)n, list, between);
		free(all);
		all = more;
	}
	with = xprintf("%s%s", all, with);
	free(all);
	return (char *)with;
}

static void set(const char *name, char between, const char *drop, const char *with)
{
	char *all = replace(getenv(name), between, drop, with);

	command_setenv(name, all);
	free(all);
}

/* Returns how the entry of this library's tool begins: "cudaleak="; the caller frees it. */
static char *entry_of(const char *library)
{
	const char *object = strrchr(library, '/') + 1;

	return xprintf("%.*s=", (int)strcspn(object, "."), object);
}

/* Return true if somebody listens there. */
static bool answers(const char *socket_name, size_t n)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool yes;

	if (n >= sizeof(to.sun_path))
		n = sizeof(to.sun_path) - 1;
	memcpy(to.sun_path + 1, socket_name, n);
	yes = fd >= 0 && (!connect(fd, (void *)&to, offsetof(struct sockaddr_un, sun_path) + 1 + n) || errno == EAGAIN);
	if (fd >= 0)
		close(fd);
	return yes;
}

bool inject_library_is_used(const char *library)
{
	char *begins = entry_of(library);
	size_t m = strlen(begins), n;
	const char *list = getenv(INJECT_SOCKETS);
	bool yes = false;

	for (; list && *list && !yes; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		yes = n > m && !strncmp(list, begins, m) && answers(list + m, n - m);
	}
	free(begins);
	return yes;
}

void inject_library_set(const char *library, const char *socket)
{
	char *begins = entry_of(library), *entry = xprintf("%s%s", begins, socket);

	/* The C library stops telling the libraries behind one that does not ask what dlsym() finds (glibc 2.35 to 2.43), so
	 * that the user's own are the first.  What a tool that has ended left in the environment is replaced: a library that
	 * is named twice would be loaded twice, and count everything twice. */
	set("LD_AUDIT", ':', library, library);
	set(INJECT_SOCKETS, ' ', begins, entry);
	free(entry);
	free(begins);
}
