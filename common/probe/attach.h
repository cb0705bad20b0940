/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Attaches a tool's programs to functions of a file, in the best way that the kernel supports. */
#ifndef PROBE_ATTACH_H
#define PROBE_ATTACH_H
#include <errno.h>
#include <stdbool.h>

struct attachment;
struct bpf_object;
struct bpf_program;
struct elf_probe;
struct failure;

/* enum bpf_attach_type of Linux 6.6 and 6.13 (include/uapi/linux/bpf.h), which may be newer than
 * the installed headers. */
enum { TRACE_UPROBE_MULTI = 48, TRACE_UPROBE_SESSION = 57 };

enum attach_kind {
	ATTACH_AUTO,
	ATTACH_SESSION,	/* one link for entries and returns (Linux 6.13) */
	ATTACH_MULTI,	/* uprobe_multi: one link for entries, one for returns (6.6) */
	ATTACH_PERF,	/* a perf event per probe (attach cookies: 5.15) */
	ATTACH_INJECT,	/* no uprobes: the command's dynamic linker loads the probes */
};
#define ATTACH_WORDS "auto|session|multi|perf|inject"

/* Programs and attach kind of a tool, and how many links it has; must outlive its attachments. */
struct attacher {
	struct bpf_object *obj;	/* with cuda_enter, cuda_return (optional) and cuda_session */
	struct bpf_object *other;	/* with programs of attach_one(), or NULL */
	enum attach_kind kind;
	int nlinks;		/* attached now; starts as 0 */
	int *live;		/* the same in all processes that share this memory, or NULL */
	void (*toggle)(void *ctx, bool in);	/* ATTACH_INJECT: for uprobes_toggle() */
	void *ctx;
	bool off;		/* those that toggle are not probed */
	unsigned generation;	/* of the next links: see probe/bindings.h */
};

/* The errno at the limit on links of one tool: it would never finish closing more. */
#define ATTACH_TOO_MANY EUSERS

const char *attach_name(enum attach_kind kind);

/* Sets *f to the reason if the kernel or the privileges do not permit this kind, one of the kernel's: not root, a kernel
 * that is too old. */
void attach_refuse(enum attach_kind kind, struct failure *f);

/* Returns 0 if the kernel supports this kind, -EOPNOTSUPP if it does not, or another error: -EPERM. */
int attach_try(enum attach_kind kind);

/* Return true if programs may read kernel memory, which lockdown forbids in confidentiality mode. */
bool attach_may_read(void);

/* Loads an empty program of this attach type.  Returns its descriptor, which the caller closes, or -errno. */
int attach_empty_program(int type);

/* Call between open and load: makes libbpf load those of cuda_enter, cuda_return (optional) and
 * cuda_session that this kind needs, and cuda_launch and cuda_empty if there are such. */
void attach_prepare(struct bpf_object *obj, enum attach_kind kind);

/* Returns the descriptors of the loaded programs, ending with -1.  The caller frees it. */
int *attach_programs(const struct attacher *to);

/* Attaches n probes to the file behind fd, each with its id as cookie, in process pid or in every
 * process (0).  Returns NULL if the kernel refuses, with errno set, or to ATTACH_TOO_MANY at the
 * limit.  Stays attached until attach_remove(), or until this process ends in any way. */
struct attachment *attach_file(struct attacher *to, int fd, int pid, const struct elf_probe *probes,
			       int n);
void attach_remove(struct attachment *a);

/* The same for the program cuda_launch, at entries only. */
struct attachment *attach_entries(struct attacher *to, int fd, int pid, const struct elf_probe *probes, int n);

/* The same for a single program that belongs to no tool: call attach_prepare_one() before load;
 * attach_one() attaches it at one offset of a file, in every process (0) with COOKIE_SHARED unless
 * it is of a generation. */
void attach_prepare_one(struct bpf_program *prog, enum attach_kind kind);
struct attachment *attach_one(struct attacher *to, struct bpf_program *prog, int fd, int pid,
			      unsigned long long offset);

struct uprobe_multi {
	int prog, type;		/* the program's descriptor and attach type */
	const char *path;
	int pid;		/* 0: every process */
	bool returns;		/* at returns instead of entries */
	const unsigned long long *offsets, *cookies;	/* cookies may be NULL */
	const unsigned long long *semaphores;	/* their offsets, 0: none; NULL: no probe has one */
	int n;
};

/* bpf(BPF_LINK_CREATE).  Returns the link's descriptor, which the caller closes, or -1 with errno set. */
int uprobe_multi_link(const struct uprobe_multi *u);

#endif
