/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/die.h"
#include "base/plural.h"
#include "model/inflight_state.h"
#include "model/inflight_tell.h"
#include "proc/privileges.h"

static void tell_unknown(struct inflight *r)
{
	if (r->unknown <= r->told || !r->begun)
		return;
	r->told = r->unknown;
	warning(0, "left out %zu call%s in flight whose device is not known", r->told, plural(r->told));
}

/* Such processes are mostly all that there are: one message for the first. */
static void tell_forbidden(struct inflight *r)
{
	char *why = r->forbidden && !r->told_forbidden ? privilege_missing(PRIVILEGE_MEMORY) : NULL;

	if (!why)
		return;
	r->told_forbidden = true;
	warning(0, "cannot read the stacks of process %d, which tell of calls that were entered before tracing began: %s",
		r->forbidden, why);
	free(why);
}

void inflight_tell(struct inflight *r)
{
	tell_unknown(r);
	tell_forbidden(r);
}
