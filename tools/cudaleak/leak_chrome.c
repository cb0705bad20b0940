/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "cli/opt.h"
#include "cli/out.h"
#include "cudaleak/leak_chrome.h"

void leak_chrome_check(const struct leak_chrome *c)
{
	if (c->path && out_is_file(c->path))
		usage_error("--chrome %s: the output goes to the same file", c->path);
}

void leak_chrome_open(struct leak_chrome *c)
{
	if (c->path)
		chrome_open(&c->timeline, c->path);
}

void leak_chrome_held(struct leak_chrome *c, struct mem_process *process, unsigned long long time,
		      long sample)
{
	if (c->path)
		chrome_held(&c->timeline, process, time, sample);
}

void leak_chrome_exit(struct leak_chrome *c, const struct mem_process *process, unsigned long long time)
{
	if (!c->path)
		return;
	chrome_held_end(&c->timeline, process, time);
	chrome_name(&c->timeline, process->pid, 0, process->comm);
}

bool leak_chrome_close(struct leak_chrome *c, const struct memory *memory)
{
	if (!c->timeline.file)
		return true;
	for (const struct mem_process *p = memory->processes; p; p = p->hh.next)
		chrome_name(&c->timeline, p->pid, 0, p->comm);
	return chrome_close(&c->timeline);
}
