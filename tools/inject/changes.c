/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Objects that come and go. */
#include <stddef.h>
#include <asm/stat.h>
#include <linux/fcntl.h>
#include "inject/inject.h"
#include "inject/syscall.h"

/* Of its time a program waits a quarter when it loads libraries, and half when it calls; and before that is counted, 250 ms and
 * half a second. */
enum { LOADING = 4, CALLING = 2 };
static const __u64 MOST_NS = 1000 * 1000000ull;

static bool may_wait(struct inject_waits *w, __u64 now)
{
	__u64 passed = now - w->at;

	w->owed = w->owed > passed ? w->owed - passed : 0;
	w->at = now;
	return w->owed < MOST_NS;
}

static void tell(struct injected *a, struct inject_waits *w, __u64 parts)
{
	__u64 began = inject_clock_ns();

	if (!may_wait(w, began) || !__atomic_exchange_n(&a->changes, false, __ATOMIC_ACQ_REL))
		return;
	connect_changed(a);
	w->owed += parts * (inject_clock_ns() - began);
}

/* Return true if the file was made, or got its name, while the program ran: such files are often gone soon. */
static bool is_young(const struct injected *a, const char *path)
{
	struct stat st;

	return *path && !sys4(__NR_newfstatat, AT_FDCWD, (long)path, (long)&st, 0) && (__s64)st.st_ctime >= a->started;
}

void changes_note(struct injected *a, const char *path)
{
	a->changes = true;
	if (a->connection == CONNECTED && !(a->marks & INJECT_FILTERED) && environment_filters(a->text) > a->filters)
		a->marks |= INJECT_FILTERED;
	if (a->settled && is_young(a, path))
		a->hurry = true;
}

/* At last all is there that comes with the first CUDA library. */
static void settle(struct injected *a)
{
	a->settled = true;
	a->changes = false;
	connect_bound(a, "", 0);
}

/* A process that was forked has yet to say who it is. */
void changes_tell_loaded(struct injected *a)
{
	if (!a->settled)
		settle(a);
	else if (a->hurry && a->changes && a->page->state == READY)
		tell(a, &a->loading, LOADING);
	a->hurry = false;
}

void changes_tell(struct injected *a)
{
	tell(a, &a->calling, CALLING);
}
