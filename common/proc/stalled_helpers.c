/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include "base/clock.h"
#include "base/die.h"
#include "proc/stalled_helpers.h"

static const unsigned long long LONG_NS = 1000000000ull, TOO_LONG_NS = 30 * 1000000000ull;

static bool is_free(const struct stalled_helper *one)
{
	return !one->helper.pid && !one->left;
}

static bool is_same(const struct request *a, const struct request *b)
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

int stalled_take(struct stalled_helpers *p, const struct request *r, struct helper *h, struct helper_answer *a)
{
	for (struct stalled_helper *one = p->all; one < p->all + STALLED_MAX; one++)
		if (one->helper.pid && is_same(&one->request, r))
			return take(p, one, h, a);
	return -ENOENT;
}

void stalled_add(struct stalled_helpers *p, const struct request *r, struct helper *h,
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

void stalled_say(const struct request *r, const char *how)
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

void stalled_tick(struct stalled_helpers *p)
{
	unsigned long long now = clock_ns();

	for (int i = 0; i < STALLED_MAX; i++)
		if (!is_free(&p->all[i]))
			look_after(p, &p->all[i], now);
}

void stalled_free(struct stalled_helpers *p)
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
