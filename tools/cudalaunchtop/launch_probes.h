/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* When cudalaunchtop needs its probes of the runtime's launches.  A launch hits one probe there and
 * one in the driver, which alone would do to count it: the runtime's tells which kernel the
 * driver's function is, and sees launches that the runtime refuses.  So it is detached while every
 * function launched is known, and attached again when one is not. */
#ifndef LAUNCH_PROBES_H
#define LAUNCH_PROBES_H
#include <stdbool.h>

struct launches;
struct session;

struct launch_probes {
	struct session *session;
	struct launches *launches;
	const unsigned long long *refused;
	/* state; times in ns of CLOCK_MONOTONIC */
	unsigned long long refused_before, refused_at;
	unsigned long long looked, in_since;
	unsigned long long known;	/* number of counters made before the last check */
	bool wanted;		/* to be attached */
};

/* Call after load, before anything is attached.  From then on the probes that
 * t->probes.detachable_classes names come and go.  refused is the probes' launches_refused.  All three
 * must outlive *p. */
void launch_probes_init(struct launch_probes *p, struct session *t, struct launches *l,
			const unsigned long long *refused);

/* Call every few milliseconds. */
void launch_probes_tick(struct launch_probes *p);

#endif
