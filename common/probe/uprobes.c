/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include "abi/watch_event.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/progress.h"
#include "base/util.h"
#include "probe/bindings.h"
#include "probe/dso.h"
#include "probe/link_pool.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "probe/seccomp_uretprobe.h"
#include "probe/uprobes.h"
#include "probe/uretprobe.h"
#include "probe/usdt_sets.h"
#include "probe/watch.h"
#include "proc/helper_pool.h"
#include "proc/living.h"
#include "proc/user.h"

/* The probes of one file in one process. */
struct uprobe_site {
	struct { struct dso *dso; long pid; } key;
	struct pooled_link *link, *toggle, *entries;	/* NULL: not attached */
	struct pooled_link *old, *old_toggle;	/* of the generation before: see uprobes_renew() */
	enum launch_level launches;	/* with p->sheds */
	bool refused;		/* not attached, nor to be tried again */
	bool filtered;		/* only the probes without a return probe may be placed */
	bool own;		/* of launches only, see uprobes_attach_own() */
	UT_hash_handle hh;
};

/* Limit on the time of holders: see link_pool.h.  A perf event also waits for those that other
 * tools remove, a tenth of a second each; to place fifty probes in five hundred processes takes two seconds. */
enum { MAX_STUCK = 32, LIMIT_MS = 3000, PERF_LIMIT_MS = 60000 };

struct uprobe_sites {
	struct uprobe_site *sites;
	struct link_pool *pool;
	struct probe_progress progress;
	int *programs;		/* descriptors */
	struct quota stuck;
	struct bindings bindings;
	int ended;		/* a process whose links in all processes the next tick detaches, or 0 */
	const struct dso *last;	/* probed in a process */
	unsigned long refused;	/* files not probed because of the limit on links */
};

struct attaching {
	struct probes *p;	/* in the helper: as it was at the first attach */
	int pid, nlinks;
	unsigned generation;
	unsigned long long linker;	/* or 0 … */
	bool entries;		/* by attach_entries() */
	int n;			/* … and probes */
	struct elf_probe probes[];
};

static struct uprobe_sites *sites_of(struct probes *p)
{
	struct uprobe_sites *all = p->sites;

	if (all)
		return all;
	all = p->sites = xcalloc(1, sizeof(*all));
	all->programs = attach_programs(&p->attacher);
	probe_progress_init(&all->progress, p->helpers);
	p->attacher.live = all->progress.live;
	all->pool = link_pool_new(&(struct helper){
		.keep = all->programs, .not_killed = true, .idle = probe_progress_idle, .ctx = &all->progress,
	}, p->attacher.kind == ATTACH_PERF ? PERF_LIMIT_MS : LIMIT_MS);
	all->stuck = (struct quota){ .limit = MAX_STUCK, .what = "probes that cannot be placed",
				     .loss = "no more files of its processes are probed" };
	return all;
}

/* In the helper. */
static void attach_in_helper(struct helper_job *job)
{
	const struct attaching *a = job->in;
	struct attacher *to = &a->p->attacher;
	struct attached answer = { 0 };

	to->nlinks = a->nlinks;
	to->generation = a->generation;
	if (a->linker)
		answer.attachment = watch_linker(a->p->watch, job->fd, a->pid, a->linker);
	else if (a->entries)
		answer.attachment = attach_entries(to, job->fd, a->pid, a->probes, a->n);
	else
		answer.attachment = attach_file(to, job->fd, a->pid, a->probes, a->n);
	answer.error = errno;
	answer.nlinks = to->nlinks - a->nlinks;
	helper_put(job, &answer, sizeof(answer));
}

/* Detaches the link asynchronously, if there is one. */
static void remove_link(struct pooled_link **link)
{
	if (*link)
		link_pool_remove(*link);
	*link = NULL;
}

static void site_free(struct uprobe_site *s)
{
	remove_link(&s->link);
	remove_link(&s->toggle);
	remove_link(&s->entries);
	remove_link(&s->old);
	remove_link(&s->old_toggle);
	free(s);
}

/* The process whose user is charged if it hangs. */
static int charged_pid(const struct uprobe_site *s)
{
	return s->key.pid ? s->key.pid : s->key.dso->pid;
}

/* Returns how many links these probes take one by one; 0 if all of a file's take one or two. */
static int count_links(const struct probes *p, const struct attaching *a)
{
	int n = 0;

	for (int i = 0; p->attacher.kind == ATTACH_PERF && i < a->n; i++)
		n += 1 + a->probes[i].returns;
	return n;
}

static struct pooled_link *attach_limited(struct probes *p, const struct uprobe_site *s,
					  const struct attaching *a)
{
	size_t size = sizeof(*a) + a->n * sizeof(*a->probes);
	int pid = charged_pid(s);
	unsigned user = pid ? proc_user(pid) : 0;
	unsigned long long began = clock_ns();
	struct helper_pool *l = p->helpers;
	struct pooled_link *link;
	int err;

	errno = EAGAIN;
	if (!l->asked_for && !budget_left(&l->budget, user, began))
		return NULL;
	errno = EBUSY;
	if (!quota_take(&p->sites->stuck, user, pid, 1))
		return NULL;
	helper_pool_prepare(l);
	probe_progress_place(&p->sites->progress, s->key.dso->path, count_links(p, a));
	link = link_pool_attach(p->sites->pool, attach_in_helper, a, size, dso_fd(s->key.dso));
	err = errno;
	probe_progress_place(&p->sites->progress, NULL, 0);
	if (link || err != ETIME)
		quota_give(&p->sites->stuck, user, 1);
	l->no_fork = link_pool_stuck(p->sites->pool);
	if (p->attacher.kind != ATTACH_PERF)	/* it waits for others, see above */
		budget_charge(&l->budget, user, clock_ns() - began);
	errno = err;
	return link;
}

/* The runtime's launches call the driver's. */
static bool has_entry(const struct probes *p, const struct elf_probe *probe)
{
	return p->layer == CUDA_RT || p->source->get(p, probe->id).lib == CUDA_DRV;
}

/* Attaches n of a file's probes, or if n is 0 the probe of a dynamic linker. */
static int attach_some(struct probes *p, const struct uprobe_site *s, int from, int n,
		       struct pooled_link **link)
{
	const struct binding *bound = binding_find(&p->sites->bindings, s->key.pid);
	struct attaching *a = xcalloc(1, sizeof(*a) + n * sizeof(*a->probes));
	unsigned usdt = 0;

	a->p = p;
	a->pid = bound && bound->everywhere ? 0 : s->key.pid;
	a->generation = bound ? bound->generation : s->key.pid ? GENERATION_FIRST : 0;
	a->nlinks = link_pool_count(p->sites->pool);
	a->linker = n ? 0 : s->key.dso->scan.linker;
	a->entries = link == &s->entries;
	for (int i = from; i < from + n; i++) {
		struct elf_probe *probe = &a->probes[a->n];

		*probe = s->key.dso->scan.probes[i];
		if ((s->filtered && probe->returns) || (a->entries && !has_entry(p, probe)))
			continue;
		if ((p->tree || p->share.listed) && !s->key.pid)
			probe->id |= COOKIE_SHARED;
		if (s->own)
			probe->id |= COOKIE_OWN;
		probe->id |= s->key.dso->driver;
		probe->set = probe->usdt ? usdt_set_of(p, &probe->args, charged_pid(s)) : 0;
		a->n += probe->set || !probe->usdt;
		usdt |= probe->set;
	}
	if (n && !a->n) {
		free(a);
		return 0;
	}
	*link = attach_limited(p, s, a);
	free(a);
	p->usdt_placed |= *link && usdt;
	return *link ? 0 : -errno;
}

/* Returns how many of a file's probes do not toggle: those come first. */
static int count_fixed(const struct uprobe_site *s)
{
	const struct elf_scan *scan = &s->key.dso->scan;
	int n = 0;

	while (n < scan->n && !scan->probes[n].detachable)
		n++;
	return n;
}

static int attach_toggle(struct probes *p, struct uprobe_site *s)
{
	int from = count_fixed(s), n = s->key.dso->scan.n - from;

	return n && !s->toggle ? attach_some(p, s, from, n, &s->toggle) : 0;
}

static int attach_launches(struct probes *p, struct uprobe_site *s)
{
	int from = count_fixed(s), n = s->key.dso->scan.n - from;

	if (s->launches == LAUNCHES_FULL)
		return attach_toggle(p, s);
	return s->launches == LAUNCHES_ENTRIES && n && !s->entries ? attach_some(p, s, from, n, &s->entries) : 0;
}

/* How the process's launches are probed: the same in all files. */
static enum launch_level launches_in(const struct uprobe_sites *all, int pid)
{
	const struct uprobe_site *s = all->sites;

	while (s && s->key.pid != pid)
		s = s->hh.next;
	return s ? s->launches : LAUNCHES_FULL;
}

/* Return true if uprobes_late() was called for the process. */
static bool is_late(const struct uprobe_sites *all, int pid)
{
	const struct uprobe_site *s = all->sites;

	while (s && (s->key.pid != pid || !s->toggle))
		s = s->hh.next;
	return s != NULL;
}

static bool said_filtered(const struct uprobe_sites *all, int pid)
{
	const struct uprobe_site *s = all->sites;

	while (s && (s->key.pid != pid || !s->filtered))
		s = s->hh.next;
	return s != NULL;
}

/* Return true if the file's return probes are left out in the process, or everywhere (0). */
static bool is_filtered(struct probes *p, const struct dso *d, int pid)
{
	const struct binding *bound = binding_find(&p->sites->bindings, pid);
	bool said = said_filtered(p->sites, pid);

	if (p->attacher.kind == ATTACH_INJECT)
		return false;
	if (uretprobe_unsafe(p, d, pid, said))
		return true;
	return bound && bound->everywhere && uretprobe_unsafe_elsewhere(p, d, pid, said);
}

/* The process's links of one file, of the former generation. */
struct former {
	struct uprobe_site *site;
	struct pooled_link *link, *toggle, *entries;
};

static int attach_again(struct probes *p, const struct former *was)
{
	struct uprobe_site *s = was->site;
	int n = count_fixed(s), err = was->link ? attach_some(p, s, 0, n, &s->link) : 0;

	if (!err && was->toggle)
		err = attach_toggle(p, s);
	if (!err && was->entries)
		err = attach_some(p, s, n, s->key.dso->scan.n - n, &s->entries);
	return err;
}

static void site_drop(struct uprobe_sites *all, struct uprobe_site *s)
{
	HASH_DEL(all->sites, s);
	s->key.dso->processes -= s->key.pid != 0;
	site_free(s);
}

/* Where links cannot be attached now, the next scan attaches all of the file's.  Returns false then. */
static bool renew_file(struct probes *p, struct former *was)
{
	struct uprobe_site *s = was->site;
	int err;

	s->link = s->toggle = s->entries = NULL;
	s->filtered |= is_filtered(p, s->key.dso, s->key.pid);
	err = attach_again(p, was);
	if (!err)
		return true;
	if (err != -EAGAIN && err != -ESRCH)
		warning(-err, "cannot probe %s in process %ld again", s->key.dso->path, s->key.pid);
	if (err != -ESRCH)
		watch_again(p->watch, s->key.pid);
	site_drop(p->sites, s);
	was->site = NULL;
	return err == -ESRCH;
}

/* keep: calls that they have seen begin may still return. */
static void retire(struct former *was, bool keep)
{
	struct uprobe_site *s = was->site;

	if (s) {
		remove_link(&s->old);
		remove_link(&s->old_toggle);
	}
	if (s && keep) {
		s->old = was->link;
		s->old_toggle = was->toggle;
	} else {
		remove_link(&was->link);
		remove_link(&was->toggle);
	}
	remove_link(&was->entries);
}

static void publish(struct probes *p, int pid)
{
	if (!binding_publish(p, &p->sites->bindings, pid))
		warning(0, "too many processes whose first thread has ended: not tracing "
			"process %d", pid);
}

static struct former *former_links(const struct uprobe_sites *all, int pid, int *n)
{
	struct former *was = NULL;

	*n = 0;
	for (struct uprobe_site *s = all->sites; s; s = s->hh.next) {
		if (s->key.pid != pid || s->refused)
			continue;
		was = xrealloc(was, *n + 1, sizeof(*was));
		was[(*n)++] = (struct former){ s, s->link, s->toggle, s->entries };
	}
	return was;
}

bool uprobes_renew(struct probes *p, int pid, bool leaderless)
{
	bool none_counts, renewed = true;
	struct former *was;
	int n;

	if (!uprobes_has_own(p, pid) || p->attacher.kind == ATTACH_INJECT || p->on_dso)
		return true;
	/* a perf event of a thread that has ended does not run any more */
	none_counts = leaderless && p->attacher.kind == ATTACH_PERF;
	binding_next(&p->sites->bindings, pid, leaderless);
	was = former_links(p->sites, pid, &n);
	if (none_counts)
		publish(p, pid);
	for (int i = 0; i < n; i++)
		renewed &= renew_file(p, &was[i]);
	if (!none_counts)
		publish(p, pid);
	for (int i = 0; i < n; i++)
		retire(&was[i], leaderless && !none_counts);
	free(was);
	return renewed;
}

/* Call before links of the process are made. */
static void bind(struct probes *p, int pid)
{
	struct bindings *b = &p->sites->bindings;
	const struct binding *bound = binding_find(b, pid);

	if (!pid || p->attacher.kind == ATTACH_INJECT || p->on_dso)
		return;
	if ((bound && bound->everywhere) || !proc_is_leaderless(pid))
		return;
	if (uprobes_has_own(p, pid)) {
		uprobes_renew(p, pid, true);
		return;
	}
	binding_next(b, pid, true);
	publish(p, pid);
}

static int attach_all(struct probes *p, struct uprobe_site *s)
{
	int n = count_fixed(s), err = 0;

	if (n || !s->key.dso->scan.n)
		err = attach_some(p, s, 0, n, &s->link);
	if (err || (p->late_classes && !is_late(p->sites, s->key.pid)))
		return err;
	s->launches = launches_in(p->sites, s->key.pid);
	return attach_launches(p, s);
}

static void too_many(struct probes *p, const struct uprobe_site *s)
{
	if (!p->sites->refused++)
		warning(0, "uprobe link limit reached: not probing %s in process %ld or anything mapped later",
			s->key.dso->path, s->key.pid);
}

static bool is_placed(const struct probes *p, const struct uprobe_site *s)
{
	return s->link || s->toggle || (p->on_dso && !s->filtered) || (p->attacher.kind == ATTACH_INJECT &&
								      s->key.dso->scan.n);
}

int uprobes_attach(struct probes *p, struct dso *d, int pid)
{
	struct uprobe_sites *all = sites_of(p);
	struct uprobe_site want, *s;
	int err;

	if (dso_fd(d) < 0)
		return 0;
	memset(&want, 0, sizeof(want));
	want.key.dso = d;
	want.key.pid = pid;
	HASH_FIND(hh, all->sites, &want.key, sizeof(want.key), s);
	if (s)
		return 0;
	bind(p, pid);
	s = xcalloc(1, sizeof(*s));
	s->key = want.key;
	s->filtered = is_filtered(p, d, pid);
	if (p->attacher.kind == ATTACH_INJECT || (s->filtered && uretprobe_is_all(p, d))) {
		err = 0;
	} else if (d->scan.n && p->on_dso) {
		if (!s->filtered)
			p->on_dso(p->tool, d, pid);
		err = 0;
	} else {
		err = attach_all(p, s);
	}
	if (err == -ATTACH_TOO_MANY || err == -ETIME || err == -EBUSY) {	/* do not try again */
		remove_link(&s->link);
		s->refused = true;
		if (err == -ATTACH_TOO_MANY && (pid || !p->tree))
			too_many(p, s);
		if (err == -ETIME)
			warning(0, "cannot probe %s: process %d, or another one that maps it, keeps the kernel "
				"waiting, and every process that forks", d->path, charged_pid(s));
	} else if (err) {
		site_free(s);
		return err;
	}
	HASH_ADD(hh, all->sites, key, sizeof(s->key), s);
	if (pid) {
		d->processes++;
		all->last = d;
	}
	if (!err && !d->counted && is_placed(p, s) && dso_shows(p, d)) {
		d->counted = true;
		p->nprobes += p->late_classes ? count_fixed(s) : d->scan.n;
		p->nfiles++;
	}
	return 0;
}

int uprobes_attach_own(struct probes *p, struct dso *d, int pid)
{
	struct uprobe_sites *all = sites_of(p);
	struct uprobe_site want, *s;
	int err;

	bind(p, pid);
	memset(&want, 0, sizeof(want));
	want.key.dso = d;
	want.key.pid = pid;
	want.own = true;
	want.filtered = is_filtered(p, d, pid);
	want.launches = launches_in(all, pid);
	HASH_FIND(hh, all->sites, &want.key, sizeof(want.key), s);
	if (s || dso_fd(d) < 0 || count_fixed(&want) == d->scan.n)
		return 0;
	s = xcalloc(1, sizeof(*s));
	*s = want;
	err = attach_launches(p, s);
	if (err) {
		site_free(s);
		return err;
	}
	HASH_ADD(hh, all->sites, key, sizeof(s->key), s);
	d->processes++;
	all->last = d;
	return 0;
}

bool uprobes_share(struct probes *p, struct dso *d)
{
	struct uprobe_site want, *s;

	if (dso_fd(d) < 0)
		return true;
	if (dso_on_fuse(d) || uprobes_attach(p, d, 0))
		return false;
	memset(&want, 0, sizeof(want));
	want.key.dso = d;
	HASH_FIND(hh, p->sites->sites, &want.key, sizeof(want.key), s);
	return s && !s->refused;
}

bool uprobes_share_all(struct probes *p)
{
	struct uprobe_site *s = sites_of(p)->sites;

	while (s && uprobes_share(p, s->key.dso))	/* new ones come last */
		s = s->hh.next;
	return !s;
}

bool uprobes_crowded(const struct probes *p, int processes)
{
	return p->sites && p->sites->last && p->sites->last->processes >= processes;
}

static void toggle_failed(struct probes *p, const struct uprobe_site *s, int err)
{
	if (err == -ATTACH_TOO_MANY)
		too_many(p, s);
	else if (err != -ESRCH)	/* ESRCH: the process has ended */
		warning(err, "cannot probe %s", s->key.dso->path);
}

static void toggle_in(struct probes *p, struct uprobe_site *s)
{
	int err = attach_toggle(p, s);

	if (err)
		toggle_failed(p, s, err);
}

static void toggle_out(struct uprobe_site *s)
{
	remove_link(&s->toggle);
	remove_link(&s->old_toggle);
}

bool uprobes_toggle(struct probes *p, bool in)
{
	struct uprobe_sites *all = sites_of(p);

	if (p->attacher.kind == ATTACH_INJECT) {
		p->attacher.toggle(p->attacher.ctx, in);
		p->attacher.off = !in;
		return true;
	}
	if (in && link_pool_busy(all->pool))
		return false;
	for (struct uprobe_site *s = all->sites; s; s = s->hh.next) {
		if (in)
			toggle_in(p, s);
		else
			toggle_out(s);
	}
	return true;
}

bool uprobes_late(struct probes *p, int pid)
{
	struct uprobe_site *s = p->sites ? p->sites->sites : NULL;
	bool any = false;

	if (p->attacher.kind == ATTACH_INJECT)
		return p->attacher.off && uprobes_toggle(p, true);
	for (; s; s = s->hh.next) {
		if ((s->key.pid != pid && s->key.pid) || s->refused || s->toggle)
			continue;
		toggle_in(p, s);
		any |= s->toggle != NULL;
	}
	return any;
}

bool uprobes_toggled_in(const struct probes *p)
{
	const struct uprobe_site *s = p->sites ? p->sites->sites : NULL;

	if (p->attacher.kind == ATTACH_INJECT)
		return s && !p->attacher.off;
	while (s && !s->toggle)
		s = s->hh.next;
	return s != NULL;
}

bool uprobes_has_own(const struct probes *p, int pid)
{
	const struct uprobe_site *s = p->sites ? p->sites->sites : NULL;

	while (s && s->key.pid != pid)
		s = s->hh.next;
	return s != NULL;
}

/* Detaches what is not part of it. */
static void shed_out(struct uprobe_site *s)
{
	if (s->launches != LAUNCHES_FULL)
		toggle_out(s);
	if (s->launches != LAUNCHES_ENTRIES)
		remove_link(&s->entries);
}

/* Prints no progress: this happens all the time.  Returns false if it is possible later. */
static bool shed_in(struct probes *p, struct uprobe_site *s)
{
	struct progress *progress = p->helpers->progress;
	bool hidden = progress->hidden;
	int err;

	progress->hidden = true;
	err = attach_launches(p, s);
	progress->hidden = hidden;
	if (err == -EAGAIN || err == -ECANCELED)	/* ECANCELED: the tool is to end */
		return false;
	if (err)
		toggle_failed(p, s, err);
	return true;
}

bool uprobes_shed(struct probes *p, int pid, enum launch_level how)
{
	struct uprobe_sites *all = sites_of(p);
	bool done = true;

	for (struct uprobe_site *s = all->sites; s; s = s->hh.next) {
		if (s->key.pid != pid || s->refused)
			continue;
		s->launches = how;
		shed_out(s);
	}
	if (how == LAUNCHES_OUT)
		return true;
	if (link_pool_busy(all->pool))	/* a call would count twice */
		return false;
	for (struct uprobe_site *s = all->sites; s; s = s->hh.next)
		if (s->key.pid == pid && !s->refused)
			done &= shed_in(p, s);
	return done;
}

static void remove_sites(struct uprobe_sites *all, int pid)
{
	struct uprobe_site *s, *next;

	HASH_ITER(hh, all->sites, s, next)
		if (pid < 0 || s->key.pid == pid)
			site_drop(all, s);
}

void uprobes_drop_own(struct probes *p)
{
	struct uprobe_site *s, *next;

	HASH_ITER(hh, p->sites->sites, s, next) {
		if (s->own)
			site_drop(p->sites, s);
	}
}

void uprobes_detach(struct probes *p, int pid)
{
	if (!p->sites)
		return;
	remove_sites(p->sites, pid);
	binding_drop(p, &p->sites->bindings, pid);
}

bool uprobes_detaching(const struct probes *p)
{
	return p->sites && link_pool_busy(p->sites->pool);
}

void uprobes_tick(struct probes *p)
{
	struct uprobe_sites *all = p->sites;

	if (!all)
		return;
	if (all->ended)		/* what the watcher had to report of it has been handled since */
		uprobes_detach(p, all->ended);
	all->ended = binding_ended(&all->bindings);
	link_pool_busy(all->pool);
	p->helpers->no_fork = link_pool_stuck(all->pool);
}

void uprobes_end(struct probes *p, long ms)
{
	struct uprobe_sites *all = p->sites;
	int left;

	if (!all)
		return;
	probe_progress_remove(&all->progress);
	remove_sites(all, -1);
	binding_drop(p, &all->bindings, -1);
	left = link_pool_free(all->pool, ms);
	if (left)
		note("the kernel is still removing %d probe%s", left, plural(left));
	if (all->refused)
		warning(0, "uprobe link limit reached: a mapped file was not probed %lu time%s",
			all->refused, plural(all->refused));
	quota_free(&all->stuck);
	usdt_sets_free(p);
	p->attacher.live = NULL;
	probe_progress_free(&all->progress);
	free(all->programs);
	free(all);
	p->sites = NULL;
}
