/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/failure.h"
#include "probe/scan.h"
#include "probe/share.h"
#include "probe/uprobes.h"
#include "probe/watch.h"
#include "proc/privileges.h"
#include "session/session.h"
#include "session/session_watch.h"
#include "sym/syms.h"

static void scan_again(struct session *t)
{
	struct probes *p = &t->probes;

	for (int i = 0; p->pids && p->pids[i] && !p->failure.text; i++)
		scan_process(p, p->pids[i]);
	if (!p->pids)
		scan_all(p);
	session_die_if_failed(t);
}

void session_scan_new(struct session *t, int pid)
{
	struct probes *p = &t->probes;

	if (!pid) {
		scan_again(t);
		if (p->on_scanned)
			p->on_scanned(p->tool, pid);
		return;
	}
	scan_watched(p, pid);
	session_die_if_failed(t);
	syms_refresh(t->syms, pid);	/* its first call may come when it is gone */
	if (p->on_scanned)
		p->on_scanned(p->tool, pid);
}

static void on_watch(void *ctx, const struct watch_event *e)
{
	struct session *t = ctx;
	struct probes *p = &t->probes;

	if (e->head.kind == RECORD_EXIT) {
		uprobes_detach(p, e->head.pid);
		return;
	}
	if (t->syms && t->handle_records)	/* they are of the mappings of before, perhaps another program's */
		t->handle_records(t->events);
	if (!t->finishing)
		session_scan_new(t, e->head.pid);
	watch_continue(p->watch, e);
}

/* Return true if this new mapping is worth a scan; with -p, all those of the processes are. */
static bool is_wanted(void *ctx, int pid, const char *path)
{
	const struct session *t = ctx;
	const int *pids = t->probes.pids;

	syms_changed(t->syms, pid);
	for (int i = 0; pids && pids[i]; i++)
		if (pids[i] == pid)
			return true;
	return !pids && pid != getpid() && scan_is_cuda(path);
}

void session_watch(struct session *t)
{
	struct probes *p = &t->probes;
	char *why;
	int err;

	p->watch = watch_new(&p->attacher, on_watch, t);
	t->watching = t->inject;	/* the command's programs tell */
	if (t->inject)
		return;
	err = t->command ? watch_tree(p->watch, p->pids[0]) : watch_all(p->watch, is_wanted);
	t->watching = !err;
	p->linkers = t->command && t->watching;
	if (!err)
		return;
	if (err == -EMFILE || err == -ENFILE)
		die(err, "cannot watch for new mappings");
	why = err == -EPERM || err == -EACCES ?
	      privilege_missing(t->command ? PRIVILEGE_BPF : PRIVILEGE_EVENTS) : xstrdup(strerror(-err));
	warning(0, "no mmap events (%s): polling for new mappings once a second; earlier calls "
		"are missed", why);
	free(why);
}

void session_tick(struct session *t)
{
	helper_pool_tick(&t->helpers);
	uprobes_tick(&t->probes);
	share_tick(&t->probes);
	syms_tick(t->syms);
	if (t->watching || time(NULL) == t->scanned)
		return;
	t->scanned = time(NULL);
	scan_again(t);
}
