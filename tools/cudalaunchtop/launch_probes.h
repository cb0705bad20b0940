/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Attaches and detaches cudalaunchtop's probes of the runtime's launches.  A launch hits one probe
 * there and one in the driver, which suffices to count it: the runtime's identifies the kernel of
 * the driver's function, and sees launches that the runtime refuses.  So it is detached while every
 * launched function is known, and attached again when one is not. */
#ifndef CUDALAUNCHTOP_LAUNCH_PROBES_H
#define CUDALAUNCHTOP_LAUNCH_PROBES_H
#include <stdbool.h>

struct launches;
struct session;

struct launch_probes {
	struct session *session;
	struct launches *launches;
	const unsigned long long *refused;
	/* state; times in ns of CLOCK_MONOTONIC */
	unsigned long long refused_before, refused_at;
	unsigned long long checked, attached_since;
	unsigned long long made;	/* number of counters made before the last check */
	bool wanted;		/* to be attached */
};

/* Call after load, before anything is attached.  From then on the probes in
 * t->probes.detachable_classes are attached and detached.  refused is the probes' launches_refused.
 * All three must outlive *p. */
void launch_probes_init(struct launch_probes *p, struct session *t, struct launches *l,
			const unsigned long long *refused);

/* Call every few milliseconds. */
void launch_probes_tick(struct launch_probes *p);

#endif
