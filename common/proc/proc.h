/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Processes and the files they have mapped, read from /proc.  A file is opened through the
 * mapping itself (/proc/PID/map_files), never by its name: that works for deleted files and
 * inside containers, and follows no link of the traced program. */
#ifndef PROC_H
#define PROC_H
#include <stdbool.h>
#include <sys/types.h>

/* A mapping of a file. */
struct mapping {
	unsigned long long start, end, offset;
	unsigned long long dev, ino;	/* as /proc/PID/maps prints them, major << 32 | minor */
	const char *path;		/* as the process sees it; may end in " (deleted)" */
};

/* Parses a line of /proc/PID/maps, "7f12-7f34 r-xp 00001000 fe:01 1234   /path"; m->path lies in
 * the line, whose newline is cut off.  False if it is not a file's mapping. */
bool proc_parse_mapping(char *line, struct mapping *m, bool *executable);

/* Calls fn for each executable, file-backed mapping of the process, in address order, until
 * it returns false.  0, or -errno: -ESRCH when the process is gone. */
int proc_mappings(int pid, bool (*fn)(void *ctx, const struct mapping *m), void *ctx);

/* Opens the file behind a mapping, to read; the caller's to close.  -errno; -EINVAL if it is
 * not a regular file, -ESTALE if another file is mapped there meanwhile. */
int proc_open_mapping(int pid, const struct mapping *m);

/* The device and inode number of an open file as mappings of it have them: on overlayfs and btrfs
 * fstat() may give others.  False if it cannot be mapped. */
bool proc_file_id(int fd, unsigned long long *dev, unsigned long long *ino);

/* Opens a regular file by name: a FIFO or device there is refused without opening it.
 * A descriptor, or -errno. */
int proc_open_file(const char *path);

/* The process's name into comm (16 bytes); false if it is gone. */
bool proc_comm(int pid, char *comm);

/* Calls fn with each process there is now. */
void proc_each(void (*fn)(void *ctx, int pid), void *ctx);

/* The process that this thread id belongs to; 0 if there is no such thread. */
int proc_leader(int tid);

#endif
