/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/clock.h"
#include "cudalaunchtop/launch_view.h"
#include "model/launches.h"

void launch_view_start(struct launch_view *v)
{
	v->began = v->counted = clock_ns();
}

void launch_view_measure(struct launch_view *v, bool whole)
{
	unsigned long long then = whole ? v->began : v->counted;

	launches_count(v->launches);
	v->counted = clock_ns();
	v->interval = (v->counted - then) / 1e9;
}
