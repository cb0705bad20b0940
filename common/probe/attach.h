/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Puts a tool's programs at places of a file, in the best way that the kernel has. */
#ifndef ATTACH_H
#define ATTACH_H
#include <errno.h>
#include <stdbool.h>

struct bpf_object;
struct bpf_program;
struct elf_probe;
struct failure;

enum attach_kind {
	ATTACH_AUTO,
	ATTACH_SESSION,	/* one link for entries and returns (Linux 6.13) */
	ATTACH_MULTI,	/* uprobe_multi: a link for entries, one for returns (6.6) */
	ATTACH_PERF,	/* a perf event for each (attach cookies: 5.15) */
};
#define ATTACH_WORDS "auto|session|multi|perf"

const char *attach_name(enum attach_kind kind);

/* Returns the kind to use, found by trying: the wanted one, or the best there is.  ATTACH_AUTO if
 * there is none, with the reason in *f: not root, too old a kernel. */
enum attach_kind attach_choose(enum attach_kind wanted, struct failure *f);

/* What a tool attaches, how, and how much of it; it must outlive its attachments. */
struct attacher {
	struct bpf_object *obj;	/* with cuda_enter, cuda_return (optional) and cuda_session */
	enum attach_kind kind;
	int nlinks;		/* that there are now; starts as 0 */
};

/* Between open and load: makes libbpf load the programs that this kind needs of cuda_enter,
 * cuda_return (optional) and cuda_session. */
void attach_prepare(struct bpf_object *obj, enum attach_kind kind);

struct attachment;

/* The error of one link more than a tool may have at a time: it would never get rid of them. */
#define ATTACH_TOO_MANY EUSERS

/* Attaches at n places of the file behind fd, each with its id as cookie, in the process pid
 * or in every process (0).  NULL with errno set if the kernel refuses, or ATTACH_TOO_MANY.  Stays
 * until attach_remove() or the end of this process, by whatever cause. */
struct attachment *attach_file(struct attacher *to, int fd, int pid, const struct elf_probe *probes,
			       int n);
void attach_remove(struct attachment *a);

/* The same for one program that is no tool's: before load, and at one place of a file. */
void attach_prepare_one(struct bpf_program *prog, enum attach_kind kind);
struct attachment *attach_one(struct attacher *to, struct bpf_program *prog, int fd, int pid,
			      unsigned long long offset);

#endif
