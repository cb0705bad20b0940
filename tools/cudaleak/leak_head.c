/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/escape.h"
#include "base/plural.h"
#include "cli/out.h"
#include "cudaleak/leak_head.h"

void leak_head(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	const char *container = containers_of(view->containers, process->pid);

	printf("[%s] pid %d (", out_clock(), process->pid);
	escape_text(stdout, process->comm);
	printf(container ? ") in container %s" : ")", container);
	printf("%s: ", *at == 'e' && at[1] == 'x' ? " at exit" : "");
}

static void doubt(const struct mem_process *process, const char *at, const char *key,
		  unsigned long long n, const char *what, const char *how, const char *when)
{
	if (!n)
		return;
	if (out_is_json()) {
		printf("{\"type\":\"uncertain\",\"pid\":%d,\"comm\":", process->pid);
		escape_json(stdout, process->comm);
		printf(",\"at\":\"%s\",\"complete\":%s,\"%s\":%llu}\n", at,
		       process->early ? "false" : "true", key, n);
	} else {
		printf("    %llu %s%s %s%s\n", n, what, plural(n), how, when);
	}
}

void leak_doubts(const struct leak_view *view, const struct mem_process *process,
		      const char *at)
{
	if (!view->filtered)
		doubt(process, at, "unknown_frees", process->unknown, "free",
		      process->early ? "of memory allocated before " :
				       "of memory whose allocation was not seen",
		      process->early ? view->early->since : "");
	doubt(process, at, "unseen_frees", process->replaced, "allocation",
	      "whose address was allocated again without a free: counted as freed", "");
	doubt(process, at, "ignored", process->ignored, "allocation", "not counted: too many are live",
	      "");
	doubt(process, at, "unsure", process->unsure, "allocation",
	      "of these may have been freed with a context or by a device reset", "");
}
