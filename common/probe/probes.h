/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What one run of a tool probes: which functions of which files, for which processes, and how.
 * Starts zeroed.  Files are found by scan.h, opened by dso.h, probed by uprobes.h. */
#ifndef PROBES_H
#define PROBES_H
#include <stdbool.h>
#include "api/cuda_api.h"
#include "base/failure.h"
#include "probe/attach.h"

struct dso;
struct dso_table;
struct elf_probe;
struct function;
struct probe_source;
struct uprobe_sites;
struct watch;

struct probes {
	/* to be set before the first scan */
	struct attacher attacher;
	const struct probe_source *source;
	unsigned classes, return_classes, toggle_classes; /* masks, for cuda_probe_source */
	int layer;		/* enum cuda_lib; CUDA_LIB_MAX: both */
	const int *pids;	/* probed for these processes, 0-terminated; NULL: for every one */
	bool tree;		/* pids is one, which is yet to begin; its descendants too */
	bool linkers;		/* watch has dynamic linkers tell what they load: of watch_tree() */
	struct watch *watch;

	/* Whoever runs the probes is told, where these are set: of each function that is wanted of a
	 * file, with the reason if it is skipped; of a file that has nothing to probe, and why; and
	 * of a process that has CUDA's files mapped, each time it was scanned. */
	void *session;
	void (*on_probe)(void *session, const char *path, const struct function *fn,
			 const struct elf_probe *p, const char *skipped);
	void (*on_skipped)(void *session, const char *path, const char *why);
	void (*on_process)(void *session, int pid);

	/* The tool is told, where these are set: of each file with functions that are wanted, in
	 * process pid or (0) everywhere, in place of probing it, as another program does; and when
	 * a process that is watched was scanned, before it may go on. */
	void *tool;
	void (*on_dso)(void *tool, struct dso *d, int pid);
	void (*on_scanned)(void *tool, int pid);

	/* what came of it */
	int nprobes, nfiles;
	bool refused;		/* it was said that processes may not be looked into */
	struct failure failure;	/* set by what is in scan.h: the tool cannot go on */

	/* each its file's own: made when needed, freed by dso_free() and uprobes_detach(-1) */
	struct dso_table *dsos;
	struct uprobe_sites *sites;
};

#endif
