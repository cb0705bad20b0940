/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include "base/clock.h"
#include "base/die.h"
#include "proc/looks.h"
#include "proc/user.h"

enum { LIMIT_MS = 1000, NS_PER_MS = 1000000 };

/* Forgets the helpers that have ended after all. */
static void reap(struct looks *l)
{
	for (int i = 0; i < LOOKS_MAX_STUCK; i++)
		if (l->left[i].pid && waitpid(l->left[i].pid, NULL, WNOHANG)) {
			quota_give(&l->stuck, l->left[i].user, 1);
			l->left[i].pid = 0;
		}
}

static void leave(struct looks *l, unsigned user)
{
	int i = 0;

	while (l->left[i].pid)	/* there is room: see quota_take() */
		i++;
	l->left[i] = (struct stuck_helper){ helper_leave(&l->helper), user };
}

/* Returns how long a look may take, in ms; 0 if there is no time. */
static long time_for(struct looks *l, unsigned user, unsigned long long now)
{
	long left = LIMIT_MS;

	if (!l->asked_for && !budget_left(&l->budget, user, now))
		return 0;
	if (l->end)
		left = now < l->end ? (l->end - now) / NS_PER_MS : 0;
	return left < LIMIT_MS ? left : LIMIT_MS;
}

static int call(struct looks *l, unsigned user, long ms, helper_fn *fn, const void *in, size_t size,
		int fd, struct helper_answer *a)
{
	int err;

	if (!helper_send(&l->helper, fn, in, size, fd))
		err = l->helper.pid ? -EPIPE : -errno;
	else
		err = helper_receive(&l->helper, ms, a);
	if (err && l->helper.pid)	/* it may not be at fault, and then ends at once */
		leave(l, user);
	else
		quota_give(&l->stuck, user, 1);
	return err;
}

static void say(const struct looks *l, int pid, const char *what, int err)
{
	if (err == -ETIME && !l->end)
		warning(0, "process %d: %s could not be read within %d s", pid, what, LIMIT_MS / 1000);
	else if (err == -EPIPE)
		warning(0, "process %d: %s could not be read: it takes too much memory, or changes meanwhile",
			pid, what);
}

/* Warns less and less often. */
static int refuse(struct looks *l, unsigned user, int pid, const char *what)
{
	l->refused++;
	if (!l->end && !(l->refused & (l->refused - 1)))
		warning(0, "process %d: %s not read for now: processes of user %u take too much time "
			"(%lu times so far)", pid, what, user, l->refused);
	return -EBUSY;
}

int look(struct looks *l, int pid, const char *what, helper_fn *fn, const void *in, size_t size,
	 int fd, struct helper_answer *a)
{
	unsigned user = pid ? proc_user(pid) : 0;
	unsigned long long began = clock_ns();
	long ms = time_for(l, user, began);
	int err;

	*a = (struct helper_answer){ .fd = -1 };
	reap(l);
	if (!ms || !quota_take(&l->stuck, user, pid, 1))
		return refuse(l, user, pid, what);
	err = call(l, user, ms, fn, in, size, fd, a);
	budget_charge(&l->budget, user, clock_ns() - began);
	say(l, pid, what, err);
	return err;
}

bool look_again(int err)
{
	return err == -ETIME || err == -EBUSY || err == -EWOULDBLOCK || err == -EMFILE || err == -ENFILE;
}

const char *look_reason(int err)
{
	switch (err) {
	case -ETIME: return "its owner's file system does not answer in time";
	case -EBUSY: return "its owner's processes take too much time";
	case -EWOULDBLOCK: return "a process holds a lease on it";
	case -EPIPE: return "it takes too much memory, or changes meanwhile";
	default: return strerror(-err);
	}
}

bool looks_idle(const struct looks *l)
{
	return !l || !l->helper.idle || l->helper.idle(l->helper.ctx);
}

bool looks_spend(struct looks *l, int pid, unsigned long long *since)
{
	unsigned long long now = clock_ns();
	unsigned user = proc_user(pid);

	budget_charge(&l->budget, user, now - *since);
	*since = now;
	return looks_idle(l) && time_for(l, user, now);
}

void looks_free(struct looks *l)
{
	helper_leave(&l->helper);
	budget_free(&l->budget);
	quota_free(&l->stuck);
}
