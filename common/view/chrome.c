/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/escape.h"
#include "cli/out_file.h"
#include "model/memory.h"
#include "view/chrome.h"

void chrome_open(struct chrome *c, const char *path)
{
	c->path = path;
	c->file = out_file_stream(path);
}

void chrome_event(struct chrome *c)
{
	fputs(c->begun ? ",\n{" : "[\n{", c->file);
	c->begun = true;
}

/* With three decimals. */
void chrome_us(struct chrome *c, const char *key, unsigned long long ns)
{
	fprintf(c->file, ",\"%s\":%llu.%03llu", key, ns / 1000, ns % 1000);
}

void chrome_name(struct chrome *c, int pid, int tid, const char *name)
{
	chrome_event(c);
	fprintf(c->file, "\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":",
		tid ? "thread_name" : "process_name", pid, tid ? tid : pid);
	escape_json(c->file, name);
	fputs("}}", c->file);
}

static void arrow_end(struct chrome *c, const char *how, int pid, int tid, unsigned long long time)
{
	chrome_event(c);
	fprintf(c->file, "\"name\":\"work\",\"cat\":\"arrow\",%s,\"id\":%llu,\"pid\":%d,\"tid\":%d", how,
		c->arrows, pid, tid);
	chrome_us(c, "ts", time);
	putc('}', c->file);
}

void chrome_arrow(struct chrome *c, int pid, int from, unsigned long long from_time, int to,
		  unsigned long long to_time)
{
	c->arrows++;
	arrow_end(c, "\"ph\":\"s\"", pid, from, from_time);
	arrow_end(c, "\"ph\":\"f\",\"bp\":\"e\"", pid, to, to_time);
}

static void begin_counter(struct chrome *c, const char *name, int pid, unsigned long long time)
{
	chrome_event(c);
	fprintf(c->file, "\"name\":\"%s\",\"cat\":\"memory\",\"ph\":\"C\",\"pid\":%d,\"tid\":%d", name, pid,
		pid);
	chrome_us(c, "ts", time);
	fputs(",\"args\":{", c->file);
}

/* A track for each argument. */
static void counters(struct chrome *c, const struct mem_process *process, unsigned long long time,
		     unsigned long scale)
{
	const char *comma = "";

	begin_counter(c, "CUDA memory", process->pid, time);
	fprintf(c->file, "\"held\":%llu}}", process->groups.held.bytes * scale);
	begin_counter(c, "CUDA memory by kind", process->pid, time);
	for (int i = 0; i < CUDA_MEMORY_MAX; i++) {
		if (!process->groups.kinds[i].peak || i >= CUDA_CODE)
			continue;
		fprintf(c->file, "%s\"%s\":%llu", comma, memory_name(i), process->groups.kinds[i].bytes * scale);
		comma = ",";
	}
	fputs("}}", c->file);
}

void chrome_held(struct chrome *c, struct mem_process *process, unsigned long long time,
		 unsigned long scale)
{
	if (!process || !process->groups.changed)
		return;
	process->groups.changed = false;
	counters(c, process, time, scale);
}

void chrome_held_end(struct chrome *c, const struct mem_process *process, unsigned long long time)
{
	if (process && process->groups.held.peak)
		counters(c, process, time, 0);
}

bool chrome_close(struct chrome *c)
{
	fputs(c->begun ? "\n]\n" : "[]\n", c->file);
	return out_file_close(c->file, c->path);
}
