/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "proc/proc.h"

bool proc_parse_mapping(char *line, struct mapping *m, bool *executable)
{
	unsigned major, minor;
	char perms[5] = "";
	int path = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &m->start, &m->end, perms,
		   &m->offset, &major, &minor, &m->ino, &path) < 7 || !path)
		return false;
	m->dev = (unsigned long long)major << 32 | minor;
	m->path = line + path;
	line[strcspn(line, "\n")] = 0;
	*executable = strchr(perms, 'x');
	return m->ino && *m->path == '/';
}

static int read_maps(const char *name, bool all, bool (*fn)(void *ctx, const struct mapping *m),
		     void *ctx)
{
	char *line = NULL;
	struct mapping m;
	size_t size = 0;
	bool executable;
	FILE *f;
	int err;

	f = fopen(name, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	errno = 0;
	while (getline(&line, &size, f) > 0)
		if (proc_parse_mapping(line, &m, &executable) && (all || executable) &&
		    !fn(ctx, &m))
			break;
	err = ferror(f) ? -errno : 0;
	free(line);
	fclose(f);
	return err;
}

int proc_mappings(int pid, bool (*fn)(void *ctx, const struct mapping *m), void *ctx)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	return read_maps(name, false, fn, ctx);
}

/* fd was opened with O_PATH, which has no side effects on the file */
static int reopen_regular(int fd)
{
	char name[32];
	struct stat st;
	int real;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	real = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (real < 0)
		real = -errno;
	close(fd);
	return real;
}

struct own {
	unsigned long long start;
	struct mapping *found;
	bool yes;
};

static bool find_own(void *ctx, const struct mapping *m)
{
	struct own *own = ctx;

	own->yes = m->start == own->start;
	if (own->yes)
		*own->found = *m;
	return !own->yes;
}

bool proc_file_id(int fd, unsigned long long *dev, unsigned long long *ino)
{
	void *at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	struct mapping m;
	struct own own = { (unsigned long)at, &m, false };

	if (at == MAP_FAILED)
		return false;
	read_maps("/proc/self/maps", true, find_own, &own);
	munmap(at, 1);
	if (!own.yes)
		return false;
	*dev = m.dev;
	*ino = m.ino;
	return true;
}

int proc_open_mapping(int pid, const struct mapping *m)
{
	unsigned long long dev, ino;
	char name[80];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/map_files/%llx-%llx", pid, m->start, m->end);
	fd = reopen_regular(open(name, O_PATH | O_CLOEXEC));
	if (fd < 0 || (proc_file_id(fd, &dev, &ino) && dev == m->dev && ino == m->ino))
		return fd;
	close(fd);
	return -ESTALE;
}

int proc_open_file(const char *path)
{
	return reopen_regular(open(path, O_PATH | O_CLOEXEC));
}

bool proc_comm(int pid, char *comm)
{
	char name[32];
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/comm", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, comm, 16);
	close(fd);
	if (n < 1)
		return false;
	comm[n - 1] = 0;
	return true;
}

void proc_each(void (*fn)(void *ctx, int pid), void *ctx)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)*e->d_name))
			fn(ctx, atoi(e->d_name));
	if (d)
		closedir(d);
}

int proc_leader(int tid)
{
	char name[32], line[128];
	int leader = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", tid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &leader) == 1)
			break;
	if (f)
		fclose(f);
	return leader;
}
