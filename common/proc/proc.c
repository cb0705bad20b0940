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
#include "proc/living.h"
#include "proc/proc.h"
#include "proc/proc_root.h"

/* Reads a number that is followed by a separator; *line is set after that. */
static bool number(char **line, int base, char separator, unsigned long long *n)
{
	char *end;

	*n = strtoull(*line, &end, base);
	if (end == *line || *end != separator)
		return false;
	*line = end + 1;
	return true;
}

bool proc_parse_mapping(char *line, struct mapping *m)
{
	unsigned long long major, minor;
	char *at = line;

	*m = (struct mapping){ .path = "" };
	line[strcspn(line, "\n")] = 0;
	if (!number(&at, 16, '-', &m->start) || !number(&at, 16, ' ', &m->end))
		return false;
	m->executable = strnlen(at, 5) == 5 && at[2] == 'x';
	if (strnlen(at, 5) < 5 || at[4] != ' ')
		return false;
	at += 5;
	if (!number(&at, 16, ' ', &m->offset) || !number(&at, 16, ':', &major) ||
	    !number(&at, 16, ' ', &minor) || !number(&at, 10, ' ', &m->ino))
		return false;
	m->dev = major << 32 | (minor & ~0u);
	m->path = at + strspn(at, " ");
	return m->ino && *m->path == '/';
}

/* At the end of /proc/PID/maps: when a program ends or calls execve(), what remains of the file is missing
 * as if it had none, and so is then its beginning. */
static bool has_ended(FILE *f)
{
	return !fseek(f, 0, SEEK_SET) && getc(f) == EOF;
}

enum which { EXECUTABLE_FILES, ALL_FILES, ALL_MAPPINGS };

static int read_maps(const char *name, enum which which,
		     bool (*fn)(void *ctx, const struct mapping *m), void *ctx)
{
	char *line = NULL;
	struct mapping m;
	size_t size = 0;
	bool some = false;
	FILE *f;
	int err;

	f = fopen(name, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	errno = 0;
	while (getline(&line, &size, f) > 0) {
		bool file = proc_parse_mapping(line, &m);

		some = true;
		if ((which == ALL_MAPPINGS || (file && (which == ALL_FILES || m.executable))) &&
		    !fn(ctx, &m))
			break;
	}
	err = ferror(f) ? -errno : some && feof(f) && has_ended(f) ? -ESRCH : 0;
	free(line);
	fclose(f);
	return err;
}

int proc_mappings(int pid, bool (*fn)(void *ctx, const struct mapping *m), void *ctx)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/maps", proc_living(pid));
	return read_maps(name, EXECUTABLE_FILES, fn, ctx);
}

/* Mappings are in address order, and a file's stand together: anonymous text between two of one file
 * was the file's. */
struct hazard_scan {
	struct proc_hazards *h;
	unsigned long long end;	/* of the mapping before */
	char path[256];		/* of the file mapping before, if only anonymous text is in between */
	bool text;		/* there is such text */
};

static bool find_hazard(void *ctx, const struct mapping *m)
{
	struct hazard_scan *s = ctx;
	bool adjacent = m->start == s->end;

	s->end = m->end;
	s->h->uprobes |= !strcmp(m->path, "[uprobes]");
	if (m->ino && adjacent && s->text && !strncmp(s->path, m->path, sizeof(s->path) - 1))
		strcpy(s->h->moved, s->path);
	if (m->ino) {
		snprintf(s->path, sizeof(s->path), "%s", m->path);
		s->text = false;
	} else if (!adjacent || !*s->path || !m->executable || *m->path) {
		*s->path = 0;
	} else {
		s->text = true;
	}
	return true;
}

int proc_hazards(int pid, struct proc_hazards *h)
{
	struct hazard_scan s = { .h = h };
	char name[32];

	*h = (struct proc_hazards){ 0 };
	snprintf(name, sizeof(name), "/proc/%d/maps", proc_living(pid));
	return read_maps(name, ALL_MAPPINGS, find_hazard, &s);
}

int proc_reopen(int fd)
{
	char name[32];
	struct stat st;
	int real;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	real = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return real < 0 ? -errno : real;
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
	read_maps("/proc/self/maps", ALL_FILES, find_own, &own);
	munmap(at, 1);
	if (!own.yes)
		return false;
	*dev = m.dev;
	*ino = m.ino;
	return true;
}

/* Returns an O_PATH descriptor, which has no side effects on the file, or -errno.  Sets *named if it is that of the file
 * which has the mapping's name now. */
static int open_path(int pid, const struct mapping *m, bool by_name, bool *named)
{
	char name[80];
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/map_files/%llx-%llx", proc_living(pid), m->start,
		 m->end);
	fd = open(name, O_PATH | O_CLOEXEC);
	*named = fd < 0 && errno == EPERM && by_name;
	if (*named)
		return proc_root_open_mapped(pid, m->path);
	return fd < 0 ? -errno : fd;
}

/* named: the file was opened by its name, and is any. */
static int check_mapped(int fd, const struct mapping *m, bool named)
{
	unsigned long long dev, ino;
	int real = proc_reopen(fd), err = real < 0 ? real : 0;
	bool known = !err && proc_file_id(real, &dev, &ino);

	if (known ? dev != m->dev || ino != m->ino : !err && named)
		err = -ESTALE;
	if (real >= 0)
		close(real);
	return err;
}

int proc_open_mapping(int pid, const struct mapping *m, bool by_name, int *fd)
{
	bool named;
	int err;

	*fd = open_path(pid, m, by_name, &named);
	if (*fd < 0)
		return *fd;
	err = check_mapped(*fd, m, named);
	if (err)
		close(*fd);
	return err;
}

static long long ns_of(const struct statx_timestamp *t)
{
	return t->tv_sec * 1000000000ll + t->tv_nsec;
}

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x4000u
#endif

void proc_identify(int pid, const struct mapping *m, bool by_name, struct file_id *id)
{
	struct statx st = { 0 };
	bool named;
	int fd = open_path(pid, m, by_name, &named);

	*id = (struct file_id){ 0 };
	if (fd < 0)
		return;
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID | STATX_MNT_ID_UNIQUE, &st))
		*id = (struct file_id){ ns_of(&st.stx_ctime), ns_of(&st.stx_mtime), st.stx_size,
					st.stx_mnt_id };
	close(fd);
}

int proc_open_file(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC), real;

	if (fd < 0)
		return -errno;
	real = proc_reopen(fd);
	close(fd);
	return real;
}

static bool read_comm(const char *name, char *comm)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, comm, 16);
	close(fd);
	if (n < 1)
		return false;
	comm[n - 1] = 0;
	return true;
}

bool proc_comm(int pid, char *comm)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/comm", pid);
	return read_comm(name, comm);
}

bool proc_thread_comm(int pid, int tid, char *comm)
{
	char name[48];

	snprintf(name, sizeof(name), "/proc/%d/task/%d/comm", pid, tid);
	return read_comm(name, comm);
}

size_t proc_exe(int pid, char *path, size_t size)
{
	char name[32];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/exe", proc_living(pid));
	n = readlink(name, path, size - 1);
	n = n < 0 ? 0 : n;
	path[n] = '\0';
	return n;
}

bool proc_rights(int pid, struct proc_rights *r)
{
	char line[256], *text;

	*r = (struct proc_rights){ 0 };
	pid = proc_living(pid);
	text = proc_status(pid, "Uid", line, sizeof(line));
	if (!text)
		return false;
	sscanf(text, "%u %u", &r->uid, &r->effective);
	text = proc_status(pid, "Seccomp_filters", line, sizeof(line));	/* since Linux 5.9 */
	if (text) {
		r->filters = atoi(text);
		return true;
	}
	text = proc_status(pid, "Seccomp", line, sizeof(line));
	r->filters = text && atoi(text) == 2 /* SECCOMP_MODE_FILTER */;
	return true;
}

/* Reads /proc/TID/stat (proc_pid_stat(5)).  Returns what follows the second field, the name, which
 * may contain anything; NULL if the thread is gone. */
static const char *read_stat(int tid, char *line, size_t size)
{
	char name[32], *end;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/stat", tid);
	f = fopen(name, "re");
	if (!f)
		return NULL;
	line[fread(line, 1, size - 1, f)] = 0;
	fclose(f);
	end = strrchr(line, ')');
	return end ? end + 1 : NULL;
}

/* Fields 22 and 28. */
struct proc_identity proc_identity(int pid)
{
	struct proc_identity id = { 0 };
	char line[1024];
	const char *at = read_stat(pid, line, sizeof(line));

	if (!at || sscanf(at, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u"
			  " %*d %*d %*d %*d %*d %*d %llu %*u %*d %*u %*u %*u %llu",
			  &id.started, &id.stack) != 2)
		return (struct proc_identity){ 0 };
	return id;
}

/* Fields 50 and 51. */
/* Reads two addresses, which are these fields of /proc/PID/stat (proc(5)) and the next. */
static bool read_span(int pid, int first, unsigned long long *start, unsigned long long *end)
{
	char line[1024];
	const char *at = read_stat(proc_living(pid), line, sizeof(line));

	for (int field = 3; at && field < first; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, " %llu %llu", start, end) == 2 && *start && *start < *end;
}

bool proc_environment(int pid, unsigned long long *start, unsigned long long *end)
{
	return read_span(pid, 50, start, end);
}

bool proc_arguments(int pid, unsigned long long *start, unsigned long long *end)
{
	return read_span(pid, 48, start, end);
}

int proc_parent(int pid)
{
	char line[1024];
	const char *at = read_stat(pid, line, sizeof(line));
	int parent = 0;

	return at && sscanf(at, " %*c %d", &parent) == 1 ? parent : 0;
}

bool proc_is_ending(int pid)
{
	const unsigned exiting = 4;	/* PF_EXITING, include/linux/sched.h */
	char line[1024];
	const char *at = read_stat(proc_living(pid), line, sizeof(line));
	unsigned flags;

	return !at || sscanf(at, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1 || flags & exiting;
}

bool proc_in_group(int pid, int group)
{
	return group && getpgid(pid) == group;
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
	char line[128], *text = proc_status(tid, "Tgid", line, sizeof(line));

	return text ? atoi(text) : 0;
}
