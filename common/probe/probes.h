/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Subject of one run of a tool: which functions of which files, in which processes, and how.
 * Starts zeroed.  scan.h finds the files, dso.h opens them, uprobes.h attaches to them. */
#ifndef PROBE_PROBES_H
#define PROBE_PROBES_H
#include <errno.h>
#include <stdbool.h>
#include "api/cuda_api.h"
#include "base/failure.h"
#include "probe/attach.h"

struct dso;
struct dso_table;
struct elf_probe;
struct function;
struct helper_pool;
struct probe_source;
struct uprobe_sites;
struct usdt_sets;
struct watch;

struct probes {
	/* set before the first scan */
	struct attacher attacher;
	const struct probe_source *source;
	/* masks, for cuda_probe_source; late_classes: attached in a process once uprobes_late() is called for it */
	unsigned classes, return_classes, helper_classes, detachable_classes, late_classes, outermost_classes;
	bool errors;		/* for cuda_error_source: also functions of which only errors matter */
	bool sheds;		/* kernel launches toggle in both layers: see uprobes_shed() */
	int layer;		/* enum cuda_lib; CUDA_LIB_MAX: both */
	const int *pids;	/* probe these processes, 0-terminated; NULL: every process */
	bool usdt;		/* the source's USDT probes, too */
	bool tree;		/* pids is one, not started yet; probe its descendants too */
	bool linkers;		/* with watch_tree(): dynamic linkers report what they load */
	bool seccomp_force;	/* return probes also where they kill, see seccomp_uretprobe.h */
	struct watch *watch;
	struct helper_pool *helpers;

	/* The tool's callbacks, those of --list, or NULL.  on_probe: for each wanted function of a file, with the
	 * reason if it is skipped.  on_skipped: for a file that has nothing to probe, with the reason. */
	void *listener;
	void (*on_probe)(void *listener, const char *path, const struct function *fn,
			 const struct elf_probe *p, const char *skipped);
	void (*on_skipped)(void *listener, const char *path, const char *why);

	/* The session's callbacks.  on_process: after each scan of a process that has mapped CUDA files.  on_unread:
	 * for a process that could not be read: it may have mapped some. */
	void *session;
	void (*on_process)(void *session, int pid);
	void (*on_unread)(void *session, int pid);

	/* The tool's callbacks, or NULL.  on_dso: for each file with wanted functions, in process
	 * pid or everywhere (0); the file is not probed here, as another program does that.
	 * on_scanned: after the scan of a watched process, before it is resumed. */
	void *tool;
	void (*on_dso)(void *tool, struct dso *d, int pid);
	void (*on_scanned)(void *tool, int pid);

	/* results */
	int nprobes, nfiles;
	bool usdt_placed, usdt_left;	/* some USDT probes are in; some could not be used */
	bool cuda;		/* a file of CUDA's, or with kernels, was mapped, whatever its functions */
	bool refused;		/* warned that processes may not be inspected */
	bool incomplete;	/* some file could not be read or probed: see probes_lack() … */
	bool starved;		/* … as the tool has no more descriptors */
	struct failure failure;	/* set by the functions of scan.h: the tool cannot go on */

	/* private to share.c */
	struct {
		bool on, ends, removed, impossible;
		bool listed;	/* those of -p share links: set by share_list() */
		unsigned long long checked;	/* ns */
	} share;

	/* private to split.c; on: processes have links of their own for launches; drains: since when the former ones are not
	 * counted, ns, or 0; began, ended: when processes last got their own, lost them; pause: after that, before it is tried again, ns */
	struct { bool on, crowded; unsigned long long drains, began, ended, pause; } split;

	/* private to seccomp_uretprobe.c */
	bool uretprobe_tried, uretprobe_kills, uretprobe_said;

	/* private to dso.c and uprobes.c: made on first use, freed by dso_free() and
	 * uprobes_detach(-1) */
	struct dso_table *dsos;
	struct uprobe_sites *sites;
	struct usdt_sets *usdt_sets;
};

/* Some file could not be read or probed. */
static inline void probes_lack(struct probes *p, int err)
{
	p->incomplete = true;
	p->starved |= err == -EMFILE || err == -ENFILE;
}

#endif
