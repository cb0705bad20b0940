/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/progress.h"
#include "probe/attach.h"
#include "probe/link_pool.h"
#include "proc/helper_pool.h"

/* One process per link, so that links are closed in parallel, up to this many. */
enum { MAX_HOLDERS = 64, NS_PER_MS = 1000000 };

struct pooled_link {
	struct holder *holder;
	struct attachment *attachment;	/* in the helper */
	int nlinks;
};

/* A process, and the links to be removed from it. */
struct holder {
	struct link_pool *pool;
	struct helper helper;
	int n;			/* links that it holds */
	bool stuck;		/* in an attach */
	struct attachment **removals;
	int nremovals, nsent;	/* nsent: being removed now */
	int removing;		/* links of all these */
};

struct link_pool {
	struct helper model;
	struct holder holders[MAX_HOLDERS];
	int n, nlinks;
	long limit;		/* ms */
};

struct link_pool *link_pool_new(const struct helper *model, long limit)
{
	struct link_pool *p = xcalloc(1, sizeof(*p));

	p->model = *model;
	p->limit = limit;
	return p;
}

int link_pool_count(const struct link_pool *p)
{
	return p->nlinks;
}

/* In the helper. */
static void remove_links(struct helper_job *job)
{
	struct attachment *const *all = job->in;

	for (size_t i = 0; i < job->size / sizeof(*all); i++)
		attach_remove(all[i]);
}

/* Takes the answer to an attach that has no waiter any more: its link is not wanted. */
static void take_late(struct holder *h)
{
	struct helper_answer a;
	struct attached late;
	int err = helper_receive(&h->helper, 0, &a);

	if (err == -ETIME || err == -ECANCELED)
		return;
	h->stuck = false;
	if (err) {
		helper_leave(&h->helper);
		return;
	}
	memcpy(&late, a.bytes, sizeof(late));
	helper_drop(&a);
	if (!late.attachment)
		return;
	h->removals = xrealloc(h->removals, h->nremovals + 1, sizeof(*h->removals));
	h->removals[h->nremovals++] = late.attachment;
	h->removing += late.nlinks;
}

/* Takes the answer to a removal, if it is there after ms milliseconds, and sends the next one. */
static void pump(struct holder *h, long ms)
{
	struct helper_answer a;

	if (h->stuck)
		take_late(h);
	if (h->stuck)
		return;
	if (h->nsent && helper_receive(&h->helper, ms, &a) != -ETIME) {
		helper_drop(&a);
		h->nsent = 0;
		if (!h->nremovals)
			h->removing = 0;
	}
	if (h->nsent || !h->nremovals)
		return;
	if (helper_send(&h->helper, remove_links, h->removals, h->nremovals * sizeof(*h->removals), -1))
		h->nsent = h->nremovals;
	h->nremovals = 0;
}

bool link_pool_busy(struct link_pool *p)
{
	bool busy = false;

	for (int i = 0; i < p->n; i++) {
		pump(&p->holders[i], 0);
		busy |= p->holders[i].nsent;
	}
	return busy;
}

bool link_pool_stuck(struct link_pool *p)
{
	for (int i = 0; i < p->n; i++) {
		if (p->holders[i].stuck)
			take_late(&p->holders[i]);
		if (p->holders[i].stuck)
			return true;
	}
	return false;
}

static bool better(const struct holder *a, const struct holder *b)
{
	return !a->nsent != !b->nsent ? b->nsent : a->n < b->n;
}

/* Returns an idle holder of few links. */
static struct holder *choose(struct link_pool *p)
{
	struct holder *best = p->n ? p->holders : NULL;

	link_pool_busy(p);
	for (int i = 1; i < p->n; i++)
		if (better(&p->holders[i], best))
			best = &p->holders[i];
	if ((best && !best->nsent && !best->n) || p->n == MAX_HOLDERS)
		return best;
	best = &p->holders[p->n++];
	best->pool = p;
	best->helper = p->model;
	return best;
}

static struct pooled_link *link_new(struct holder *h, const struct attached *a)
{
	struct pooled_link *link = xcalloc(1, sizeof(*link));

	link->holder = h;
	link->attachment = a->attachment;
	link->nlinks = a->nlinks;
	h->n++;
	h->pool->nlinks += a->nlinks;
	return link;
}

/* Returns 0 or -errno. */
static int call(struct holder *h, helper_fn *attach, const void *in, size_t size, int fd,
		struct attached *attached)
{
	long limit = h->pool->limit;
	unsigned long long end = clock_ns() + limit * NS_PER_MS;
	struct helper_answer a;
	int err;

	while (h->nsent && clock_ns() < end)
		pump(h, limit);
	if (h->nsent || !helper_send(&h->helper, attach, in, size, fd))
		return h->nsent ? -ETIME : -errno;
	err = helper_receive(&h->helper, limit, &a);
	h->stuck = err != 0;
	if (!err)
		memcpy(attached, a.bytes, sizeof(*attached));
	helper_drop(&a);
	return err;
}

struct pooled_link *link_pool_attach(struct link_pool *p, helper_fn *attach, const void *in,
				     size_t size, int fd)
{
	struct attached attached = { 0 };
	struct holder *h;
	int err;

	if (link_pool_stuck(p)) {
		errno = EAGAIN;
		return NULL;
	}
	h = choose(p);
	err = call(h, attach, in, size, fd, &attached);
	if (!err && attached.attachment)
		return link_new(h, &attached);
	errno = err ? -err : attached.error;
	return NULL;
}

void link_pool_remove(struct pooled_link *link)
{
	struct holder *h = link->holder;

	h->removals = xrealloc(h->removals, h->nremovals + 1, sizeof(*h->removals));
	h->removals[h->nremovals++] = link->attachment;
	h->removing += link->nlinks;
	h->pool->nlinks -= link->nlinks;
	h->n--;
	free(link);
	pump(h, 0);
}

int link_pool_free(struct link_pool *p, long ms)
{
	unsigned long long end = clock_ns() + ms * NS_PER_MS;
	const struct timespec pause = { 0, NS_PER_MS };
	int left = 0;

	for (int i = 0; i < p->n; i++)	/* it is asked below */
		p->holders[i].helper.idle = NULL;
	while (link_pool_busy(p) && clock_ns() < end && (!p->model.idle || p->model.idle(p->model.ctx)))
		nanosleep(&pause, NULL);
	for (int i = 0; i < p->n; i++) {
		left += p->holders[i].removing;
		helper_leave(&p->holders[i].helper);
		free(p->holders[i].removals);
	}
	free(p);
	return left;
}

/* How far the helpers of a link pool are that place and remove probes. */

void probe_progress_init(struct probe_progress *p, struct helper_pool *helpers)
{
	*p = (struct probe_progress){ .helpers = helpers };
	p->live = mmap(NULL, sizeof(*p->live), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->live == MAP_FAILED)
		die(errno, "%zu bytes", sizeof(*p->live));
}

void probe_progress_free(struct probe_progress *p)
{
	munmap(p->live, sizeof(*p->live));
}

static int live(const struct probe_progress *p)
{
	return __atomic_load_n(p->live, __ATOMIC_RELAXED);
}

/* How many there are more than n: links of files that are gone may be removed meanwhile. */
static int more_than(const struct probe_progress *p, int n)
{
	int now = live(p);

	return now > n ? now - n : 0;
}

void probe_progress_place(struct probe_progress *p, const char *file, int total)
{
	p->file = file;
	p->total = total;
	p->before = live(p);
}

void probe_progress_remove(struct probe_progress *p)
{
	p->removing = true;
	p->total = p->before = live(p);
}

bool probe_progress_idle(void *ctx)
{
	const struct probe_progress *p = ctx;
	struct progress *progress = p->helpers->progress;

	if (p->removing)
		progress_set(progress, "taking out probes: %d of %d; Ctrl-C leaves the rest to the kernel",
			     p->before - live(p), p->total);
	else if (p->file && p->total)
		progress_set(progress, "placing probes: %d of %d in %s", more_than(p, p->before), p->total, p->file);
	else if (p->file)
		progress_set(progress, "placing probes in %s", p->file);
	return helper_pool_poll(p->helpers);
}
