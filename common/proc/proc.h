/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Processes and the files they map, read from /proc by proc_living().  A file is opened through
 * the mapping itself (/proc/PID/map_files): that works for deleted files and inside containers,
 * and follows no link of the traced program.  Only who may not do so opens it by its name, below
 * the process's root, and compares. */
#ifndef PROC_PROC_H
#define PROC_PROC_H
#include <stdbool.h>
#include <sys/types.h>

/* Distinguishes a file from a later one with the same device and inode number. */
struct file_id {
	long long changed, modified;	/* ns since the epoch */
	unsigned long long size, mount;	/* mount: a number that is not reused (Linux 6.8) */
};

/* A mapping of a file; where a function says so, of any kind: ino is then 0 if there is no file. */
struct mapping {
	unsigned long long start, end, offset;
	unsigned long long dev, ino;	/* as /proc/PID/maps prints them, major << 32 | minor */
	const char *path;		/* as the process sees it; may end in " (deleted)" */
	struct file_id id;		/* see helper_mappings() */
	bool executable;
};

/* Parses a line of /proc/PID/maps, "7f12-7f34 r-xp 00001000 fe:01 1234   /path"; m->path points
 * into the line, whose newline is removed, and is "" or "[name]" without a file.  Return false if it is
 * not a file mapping. */
bool proc_parse_mapping(char *line, struct mapping *m);

/* Calls fn for each executable, file-backed mapping of the process, in address order, until
 * it returns false.  Returns 0 or -errno: -ESRCH if the process is gone, or meanwhile ended or called
 * execve(), so that there may be more. */
int proc_mappings(int pid, bool (*fn)(void *ctx, const struct mapping *m), void *ctx);

/* Signs in a process's mappings of "Hazards of probes" (cuda-bpf-tools(7)). */
struct proc_hazards {
	bool uprobes;		/* the kernel's mapping [uprobes], which stays after its first breakpoint */
	char moved[256];	/* a file whose text is in anonymous memory, as with BOLT's -hugify; "": none */
};

/* Finds them.  Returns the errors of proc_mappings(). */
int proc_hazards(int pid, struct proc_hazards *h);

/* Opens the file behind a mapping: *fd is an O_PATH descriptor, which the caller closes.  Returns 0
 * or -errno: -EINVAL if it is not a regular file, -ESTALE if another file is mapped there by now,
 * -EWOULDBLOCK if it has a lease.  May wait for the file's owner forever: see helper_files.h.  by_name: who lacks
 * CAP_CHECKPOINT_RESTORE gets the file that has the mapping's name, if it is the same. */
int proc_open_mapping(int pid, const struct mapping *m, bool by_name, int *fd);

/* Opens the regular file behind an O_PATH descriptor for reading.  Returns a descriptor or -errno.
 * May wait for the file's owner forever. */
int proc_reopen(int fd);

/* Identifies the file behind a mapping; all zero if that fails.  May wait as well. */
void proc_identify(int pid, const struct mapping *m, bool by_name, struct file_id *id);

/* Gets the device and inode number of an open file as its mappings show them: on overlayfs and
 * btrfs, fstat() may return different ones.  Return false if the file cannot be mapped. */
bool proc_file_id(int fd, unsigned long long *dev, unsigned long long *ino);

/* Opens a file that the tool's user named, for reading; rejects a FIFO or device without opening it.
 * Returns a descriptor or -errno. */
int proc_open_file(const char *path);

/* Reads the process's name into comm (16 bytes); false if the process is gone. */
bool proc_comm(int pid, char *comm);

/* Reads the path of the process's program, which may end in " (deleted)".  Returns its length; 0 if the process is gone or has
 * none. */
size_t proc_exe(int pid, char *path, size_t size);

/* Tells a process, and the program that it runs, from others that have its id. */
struct proc_identity {
	unsigned long long started;	/* clock ticks since the machine did; 0: the process is gone */
	unsigned long long stack;	/* where that of the program begins, at random; 0: it has ended */
};

struct proc_identity proc_identity(int pid);

/* Return true if it is the same program of the same process still: one that ends has no stack any more. */
static inline bool proc_identity_is(struct proc_identity was, struct proc_identity now)
{
	return now.started == was.started && (!now.stack || now.stack == was.stack);
}

/* Sets where the program's environment was when it began: addresses in the process.  Return false if they may not be known, or
 * the process is gone. */
bool proc_environment(int pid, unsigned long long *start, unsigned long long *end);

/* The same of its arguments. */
bool proc_arguments(int pid, unsigned long long *start, unsigned long long *end);

/* Rights of a process, as far as it can change them itself. */
struct proc_rights {
	unsigned uid, effective;	/* user ids of its first thread that lives */
	unsigned filters;		/* and seccomp filters; 1 if it has some and the kernel (before 5.9) has no number */
};

/* Returns false if the process is gone. */
bool proc_rights(int pid, struct proc_rights *r);

/* Reads a thread's name into comm (16 bytes); false if the thread is gone. */
bool proc_thread_comm(int pid, int tid, char *comm);

/* Returns the process's parent; 0 if it has none here, or is gone. */
int proc_parent(int pid);

/* Return true if the process is gone or about to be: Linux may then refuse what it would permit otherwise (seen on 6.18). */
bool proc_is_ending(int pid);

/* Return true if the process is in that process group; no process is in group 0. */
bool proc_in_group(int pid, int group);

/* Calls fn for each process that exists now. */
void proc_each(void (*fn)(void *ctx, int pid), void *ctx);

/* Returns the process that a thread id belongs to; 0 if there is no such thread. */
int proc_leader(int tid);

#endif
