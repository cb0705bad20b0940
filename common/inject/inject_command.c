/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "abi/agent_inject.h"
#include "base/die.h"
#include "elf/elf_file.h"
#include "inject/inject_command.h"
#include "proc/command.h"
#include "proc/helper_pool.h"
#include "proc/installed.h"
#include "proc/proc.h"

enum { STATIC_TLS_ADDED = 2048 };	/* bytes, of each thread's stack */

/* Scripts whose interpreters are scripts. */
enum { DEPTH = 4 };

/* Returns the file that would be run, or NULL; the caller frees it. */
static char *find_file(const char *name)
{
	char *path, *rest, *dir, *file = NULL;

	if (strchr(name, '/'))
		return xstrdup(name);
	path = rest = xstrdup(getenv("PATH") ?: "/bin:/usr/bin");
	while (!file && (dir = strsep(&rest, ":"))) {
		file = xprintf("%s/%s", *dir ? dir : ".", name);
		if (!access(file, X_OK))
			break;
		free(file);
		file = NULL;
	}
	free(path);
	return file;
}

/* Return true if the kernel gives the program more than its user has: then the linker ignores LD_AUDIT. */
static bool is_secure(int fd, const char *path, uid_t user)
{
	struct stat st;

	if (fstat(fd, &st) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) > 0)
		return false;
	return (st.st_mode & S_ISUID && st.st_uid != user) || (st.st_mode & S_ISGID && st.st_gid != getgid()) ||
	       (user && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* The dynamic linker has no linker of its own, but takes a program as its argument. */
static bool is_linker(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !strncmp(name, "ld-", 3) || !strncmp(name, "ld.so", 5);
}

static const char *refuse_elf(const struct elf_file *f, const char *path)
{
	const char *why = "is statically linked";

	for (size_t i = 0; i < f->nsegments; i++) {
		const Elf64_Phdr *ph = &f->segments[i];
		char *linker = NULL;

		if (ph->p_type != PT_INTERP || !ph->p_filesz || ph->p_filesz > PATH_MAX)
			continue;
		linker = elf_bytes_part(&f->bytes, ph->p_offset, ph->p_filesz);
		if (linker)
			linker[ph->p_filesz - 1] = 0;
		why = linker && strstr(linker, "musl") ? "is linked with musl, whose dynamic linker has no audit interface" : NULL;
		free(linker);
		return why;
	}
	return is_linker(path) ? NULL : why;
}

/* The first line of a script: "#!/bin/sh -e".  Returns "/bin/sh", or NULL; the caller frees it. */
static char *interpreter_of(int fd)
{
	char line[256] = "", *at = line + 2;
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

	if (n < 2 || strncmp(line, "#!", 2))
		return NULL;
	at += strspn(at, " \t");
	at[strcspn(at, " \t\n")] = 0;
	return *at ? xstrdup(at) : NULL;
}

static char *refuse_file(const char *path, uid_t user, int depth)
{
	int fd = proc_open_file(path);
	char *script, *text = NULL;
	const char *why = NULL;
	struct elf_file f;

	if (fd < 0)
		return NULL;
	script = interpreter_of(fd);
	if (is_secure(fd, path, user))
		why = "runs with more privileges than its user (setuid, setgid or file capabilities): its dynamic linker "
		      "ignores LD_AUDIT";
	else if (!script && !elf_file_open(&f, fd)) {
		why = refuse_elf(&f, path);
		elf_file_close(&f);
	}
	if (why)
		text = xprintf("%s %s", path, why);
	else if (script && depth)
		text = refuse_file(script, user, depth - 1);
	free(script);
	close(fd);
	return text;
}

/* A script names further files, so a helper opens all of them. */
struct refusal_request {
	uid_t user;
	char path[];
};

static void find_refusal(struct helper_job *job)
{
	const struct refusal_request *r = job->in;
	char *why = refuse_file(r->path, r->user, DEPTH);

	if (why)
		helper_put(job, why, strlen(why) + 1);
	free(why);
}

static char *ask_refusal(struct helper_pool *l, const char *path, uid_t user)
{
	size_t size = sizeof(struct refusal_request) + strlen(path) + 1;
	struct refusal_request *r = xcalloc(1, size);
	struct helper_answer a;
	char *why = NULL;

	r->user = user;
	strcpy(r->path, path);
	if (!helper_call(l, &(struct helper_request){
			0, path, find_refusal, r, size, .fd = -1 }, &a) && a.size)
		why = xstrdup(a.bytes);
	helper_drop(&a);
	free(r);
	return why;
}

/* Returns the program of a command that is just a program and its arguments, else NULL; the caller frees it. */
static char *program_of(const char *text)
{
	size_t n;

	text += strspn(text, " \t");
	n = strcspn(text, " \t");
	if (!n || strpbrk(text, ";|&()<>`\n") || strcspn(text, "$'\"\\*?[{=~#!") < n)
		return NULL;
	return xprintf("%.*s", (int)n, text);
}

char *inject_command_refusal(struct helper_pool *l, const char *text, char **argv, uid_t user)
{
	char *name = argv ? xstrdup(*argv) : program_of(text);
	char *file = name ? find_file(name) : NULL;
	char *why = file ? ask_refusal(l, file, user) : NULL;

	free(file);
	free(name);
	return why;
}

char *inject_library_find(char **why)
{
	return beside_find("/inject", NULL, "LD_AUDIT", ":$", why);
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

/* Return true if a process listens there. */
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

/* With an audit library the program's libraries take static TLS from the surplus for dlopen().  One
 * that needs more than this is executed again: agent/inject/static_tls.c. */
static void static_tls_set(void)
{
	static const char name[] = STATIC_TLS_TUNABLE;
	const char *list = getenv("GLIBC_TUNABLES");
	unsigned long bytes = STATIC_TLS_DEFAULT;
	char *entry;

	for (const char *at = list; at && *at; at += *at == ':') {
		if (!strncmp(at, name, strlen(name)))
			bytes = strtoul(at + strlen(name), NULL, 0);
		at = strchrnul(at, ':');
	}
	entry = xprintf("%s%lu", name, bytes + STATIC_TLS_ADDED);
	set("GLIBC_TUNABLES", ':', name, entry);
	free(entry);
}

void inject_library_set(const char *library, const char *socket)
{
	char *begins = entry_of(library), *entry = xprintf("%s%s", begins, socket);

	/* The C library stops telling the libraries behind one that does not ask what dlsym() finds (glibc 2.35 to 2.43), so
	 * that the user's own are the first.  What a tool that has ended left in the environment is replaced: a library that
	 * is named twice would be loaded twice, and count everything twice. */
	set("LD_AUDIT", ':', library, library);
	set(INJECT_SOCKETS, ' ', begins, entry);
	static_tls_set();
	free(entry);
	free(begins);
}
