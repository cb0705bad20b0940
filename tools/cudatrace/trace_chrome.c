/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "base/hash.h"
#include "proc/proc.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_args.h"
#include "cudatrace/sticky_error.h"
#include "cudatrace/trace_chrome.h"

/* A track, or a process (tid 0), and the name that the file has for it. */
struct named {
	struct { int pid, tid; } key;
	char name[16];
	UT_hash_handle hh;
};

static FILE *file;
static const char *path;
static struct named *names;
static bool begun;

void trace_chrome_open(const char *where)
{
	path = where;
	file = fopen(path, "we");
	if (!file)
		die(errno, "cannot open %s", path);
}

static void begin_event(void)
{
	fputs(begun ? ",\n{" : "[\n{", file);
	begun = true;
}

static void print_name(const struct named *n)
{
	begin_event();
	fprintf(file, "\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":",
		n->key.tid ? "thread_name" : "process_name", n->key.pid,
		n->key.tid ? n->key.tid : n->key.pid);
	escape_json(file, n->name);
	fputs("}}", file);
}

static struct named *named(int pid, int tid)
{
	struct named want, *n;

	memset(&want, 0, sizeof(want));
	want.key.pid = pid;
	want.key.tid = tid;
	HASH_FIND(hh, names, &want.key, sizeof(want.key), n);
	if (n)
		return n;
	n = xcalloc(1, sizeof(*n));
	n->key = want.key;
	HASH_ADD(hh, names, key, sizeof(n->key), n);
	return n;
}

static void set_name(struct named *n, const char *name)
{
	if (!strncmp(n->name, name, sizeof(n->name)))
		return;
	snprintf(n->name, sizeof(n->name), "%s", name);
	print_name(n);
}

/* A process is called what its first thread is. */
static void name_tracks(const struct trace_event *e)
{
	struct named *process = named(e->head.pid, 0);
	char comm[16];

	if (e->head.pid == e->tid)
		set_name(process, e->comm);
	else if (!*process->name)
		set_name(process, proc_comm(e->head.pid, comm) ? comm : e->comm);
	set_name(named(e->head.pid, e->tid), e->comm);
}

/* Microseconds with three digits behind the point. */
static void print_us(const char *key, unsigned long long ns)
{
	fprintf(file, ",\"%s\":%llu.%03llu", key, ns / 1000, ns % 1000);
}

static void print_title(const struct trace_call *call)
{
	const char *kernel = trace_kernel_name(call);
	char *title = kernel ? xprintf("%s(%s)", call->proto->name, kernel) : NULL;

	escape_json(file, title ? title : call->proto->name);
	free(title);
}

void trace_chrome_call(const struct trace_call *call)
{
	const struct trace_event *e = call->event;

	name_tracks(e);
	begin_event();
	fputs("\"name\":", file);
	print_title(call);
	fprintf(file, ",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d",
		cuda_lib_name(call->proto->lib), e->head.pid, e->tid);
	print_us("ts", e->start);
	print_us("dur", trace_duration(call));
	fputs(",\"args\":{", file);
	trace_args(file, true, call);
	if (call->proto->nparams)
		putc(',', file);
	fputs("\"return\":", file);	/* no parameter can have that name */
	if (trace_error(call))
		fprintf(file, "\"%s\"", trace_error(call));
	else
		trace_result(file, true, call);
	if (call->cause) {
		fputs(",\"earlier\":", file);
		sticky_error_json(file, call->cause);
	}
	fputs("}}", file);
}

bool trace_chrome_close(void)
{
	bool failed;

	fputs(begun ? "\n]\n" : "[]\n", file);
	failed = ferror(file);
	if (!fclose(file) && !failed)
		return true;
	warning(errno, "cannot write to %s", path);
	return false;
}
