/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/progress.h"
#include "base/util.h"
#include "proc/helper_pool.h"
#include "proc/user.h"

/* Helpers that have not answered in time and go on by themselves.  An identical later request gets
 * their answer. */

static const unsigned long long LONG_NS = 1000000000ull, TOO_LONG_NS = 30 * 1000000000ull;

static bool is_free(const struct stalled_helper *one)
{
	return !one->helper.pid && !one->left;
}

static bool is_same(const struct helper_request *a, const struct helper_request *b)
{
	return a->pid == b->pid && a->fn == b->fn && a->size == b->size && !strcmp(a->what, b->what) &&
	       (!a->size || !memcmp(a->in, b->in, a->size));
}

static void forget(struct stalled_helpers *p, struct stalled_helper *one)
{
	quota_give(&p->quota, one->request.user, 1);
	free((char *)one->request.what);
	free((void *)one->request.in);
	*one = (struct stalled_helper){ 0 };
}

static void leave(struct stalled_helper *one)
{
	one->left = helper_leave(&one->helper);
}

static int take(struct stalled_helpers *p, struct stalled_helper *one, struct helper *h, struct helper_answer *a)
{
	int err = helper_receive(&one->helper, 0, a);

	if (err == -ETIME)
		return err;
	if (err || h->pid) {
		leave(one);
		return err;
	}
	h->pid = one->helper.pid;
	h->socket = one->helper.socket;
	h->waiting = false;
	forget(p, one);
	return 0;
}

/* Takes the answer to an equal request.  Returns 0; -ENOENT if there is none; -ETIME if it has not come
 * yet; -EPIPE if the helper died.  With an answer, gives the helper to *h if that is not running. */
static int stalled_take(struct stalled_helpers *p, const struct helper_request *r, struct helper *h, struct helper_answer *a)
{
	for (struct stalled_helper *one = p->all; one < p->all + STALLED_MAX; one++)
		if (one->helper.pid && is_same(&one->request, r))
			return take(p, one, h, a);
	return -ENOENT;
}

/* Parks a helper that is at work for this request since then (ns), or (kill) one that is not to go on.
 * The caller has taken 1 from the quota.  h is not running afterwards. */
static void stalled_add(struct stalled_helpers *p, const struct helper_request *r, struct helper *h,
		unsigned long long since, bool kill)
{
	struct stalled_helper *one = p->all;
	char *in = xcalloc(1, r->size + 1);

	while (!is_free(one))	/* there is one: see the quota */
		one++;
	one->helper = *h;
	one->helper.idle = NULL;
	one->request = *r;
	one->request.what = xstrdup(r->what);
	one->request.in = in;
	if (r->size)
		memcpy(in, r->in, r->size);
	one->since = since;
	h->pid = 0;
	h->waiting = false;
	if (kill)
		leave(one);
}

static bool has_answered(const struct stalled_helper *one)
{
	struct pollfd fd = { .fd = one->helper.socket, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

/* Says that what was asked for could not be read, and how that is: " within 1 s". */
static void stalled_say(const struct helper_request *r, const char *how)
{
	if (r->pid)
		warning(0, "process %d: %s could not be read%s", r->pid, r->what, how);
	else
		warning(0, "%s could not be read%s", r->what, how);
}

static void say(struct stalled_helper *one, const char *how)
{
	if (!one->said && !has_answered(one))
		stalled_say(&one->request, how);
	one->said = true;
}

static void look_after(struct stalled_helpers *p, struct stalled_helper *one, unsigned long long now)
{
	if (one->left && waitpid(one->left, NULL, WNOHANG))
		forget(p, one);
	if (!one->helper.pid)
		return;
	if (now - one->since > LONG_NS)
		say(one, " within 1 s");
	if (now - one->since > TOO_LONG_NS)
		leave(one);
}

/* Call regularly: says what takes longer than a second, ends what takes longer than half a minute. */
static void stalled_tick(struct stalled_helpers *p)
{
	unsigned long long now = clock_ns();

	for (int i = 0; i < STALLED_MAX; i++)
		if (!is_free(&p->all[i]))
			look_after(p, &p->all[i], now);
}

/* Ends all, and waits for none. */
static void stalled_free(struct stalled_helpers *p)
{
	for (int i = 0; i < STALLED_MAX; i++) {
		if (p->all[i].helper.pid)
			say(&p->all[i], " until the end");
		helper_leave(&p->all[i].helper);
		if (!is_free(&p->all[i]) || p->all[i].request.what)
			forget(p, &p->all[i]);
	}
	quota_free(&p->quota);
}

enum { NS_PER_MS = 1000000 };

/* Of the last time, for a user whose processes took much before. */
enum { LAST_SHARE = 4 };

/* Returns how long a look may take, in ms; 0 if there is no time. */
static long time_for(struct helper_pool *l, unsigned user, unsigned long long now)
{
	long left = l->limit;

	if (!l->asked_for && !budget_left(&l->budget, user, now))
		return 0;
	if (l->end)
		left = now < l->end ? (l->end - now) / NS_PER_MS : 0;
	return left < l->limit ? left : l->limit;
}

/* The caller has taken 1 from the quota. */
static int call(struct helper_pool *l, const struct helper_request *r, long ms, struct helper_answer *a)
{
	unsigned long long began = clock_ns();
	int err;

	if (!helper_send(&l->helper, r->fn, r->in, r->size, r->fd))
		err = l->helper.pid ? -EPIPE : -errno;
	else
		err = helper_receive(&l->helper, ms, a);
	if (err && l->helper.pid)
		stalled_add(&l->stalled, r, &l->helper, began, err != -ETIME);
	else
		quota_give(&l->stalled.quota, r->user, 1);
	return err;
}

/* Warns less and less often. */
static int refuse(struct helper_pool *l, const struct helper_request *r)
{
	l->refused++;
	if (!l->end && !(l->refused & (l->refused - 1)))
		warning(0, "process %d: %s not read for now: the time of user %u is used up "
			"(%lu time%s so far)", r->pid, r->what, r->user, l->refused, plural(l->refused));
	return -EBUSY;
}

static void show(const struct helper_pool *l, const struct helper_request *r)
{
	if (r->pid)
		progress_set(l->progress, "process %d: reading %s", r->pid, r->what);
	else
		progress_set(l->progress, "reading %s", r->what);
}

static int take_or_call(struct helper_pool *l, const struct helper_request *r, struct helper_answer *a)
{
	unsigned long long began = clock_ns();
	int err = stalled_take(&l->stalled, r, &l->helper, a);
	long ms;

	if (err != -ENOENT)
		return err;
	ms = time_for(l, r->user, began);
	if (l->no_fork && !l->helper.pid)
		return -EBUSY;
	if (!ms || !quota_take(&l->stalled.quota, r->user, r->pid, 1))
		return refuse(l, r);
	show(l, r);
	err = call(l, r, ms, a);
	budget_charge(&l->budget, r->user, clock_ns() - began);
	return err;
}

int helper_call(struct helper_pool *l, const struct helper_request *asked, struct helper_answer *a)
{
	struct helper_request r = *asked;
	int err;

	r.user = r.pid ? proc_user(r.pid) : 0;
	*a = (struct helper_answer){ .fd = -1 };
	if (r.fd < 0 && r.pid && kill(r.pid, 0) && errno == ESRCH)
		return -ESRCH;
	stalled_tick(&l->stalled);
	err = take_or_call(l, &r, a);
	if (err == -EPIPE)
		stalled_say(&r, ": it takes too much memory or time, or changes meanwhile");
	return err;
}

bool err_is_transient(int err)
{
	return err == -ETIME || err == -EBUSY || err == -EWOULDBLOCK || err == -EMFILE || err == -ENFILE;
}

const char *helper_error(int err)
{
	switch (err) {
	case -ETIME: return "the file system of its owner timed out";
	case -EBUSY: return "the time of its owner's processes is used up";
	case -EWOULDBLOCK: return "a process holds a lease on it";
	case -EPIPE: return "it takes too much memory or time, or changes meanwhile";
	default: return strerror(-err);
	}
}

bool helper_pool_poll(const struct helper_pool *l)
{
	return !l || !l->helper.idle || l->helper.idle(l->helper.ctx);
}

bool helper_pool_charge(struct helper_pool *l, int pid, unsigned long long *since)
{
	unsigned long long now = clock_ns();
	unsigned user;

	if (!l)
		return true;
	user = proc_user(pid);
	budget_charge(&l->budget, user, now - *since);
	*since = now;
	return helper_pool_poll(l) && time_for(l, user, now);
}

void helper_pool_prepare(struct helper_pool *l)
{
	helper_start(&l->helper);
}

void helper_pool_tick(struct helper_pool *l)
{
	stalled_tick(&l->stalled);
}

void helper_pool_end(struct helper_pool *l, unsigned long long ns)
{
	l->end = clock_ns() + ns;
	budget_end(&l->budget, ns / LAST_SHARE);
}

void helper_pool_free(struct helper_pool *l)
{
	helper_leave(&l->helper);
	budget_free(&l->budget);
	stalled_free(&l->stalled);
}
