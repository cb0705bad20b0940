/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/die.h"
#include "cudaexporter/web_killed.h"

/* If there is no place, as if none that was killed would end, one is forgotten: a zombie for as long as this runs. */
void web_killed_add(struct web_killed *list, struct web_process *p, bool say)
{
	struct web_killed *to = &list[0];

	for (int i = WEB_KILLED - 1; i >= 0; i--)
		if (!list[i].pid)
			to = &list[i];
	*to = (struct web_killed){ .pid = p->pid, .say = say };
	web_process_kill(p);
}

void web_killed_reap(struct web_killed *list)
{
	char how[64];

	for (struct web_killed *k = list; k < list + WEB_KILLED; k++) {
		if (!k->pid || !web_process_reap(k->pid, how, sizeof(how)))
			continue;
		if (k->say)
			warning(0, "the web server ended %s: it is started again", how);
		k->pid = 0;
	}
}
