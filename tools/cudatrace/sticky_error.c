/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/escape.h"
#include "base/hash.h"
#include "sym/kernels.h"
#include "cudatrace/trace_args.h"
#include "cudatrace/sticky_error.h"

/* A program that launches more kernels between two waits gets their number, not their names. */
enum { MAX_LAUNCHED = 64, NAMED = 8 };

struct launched {
	unsigned long long func, stream;
	const struct kernel *kernel;
	unsigned long long count;
};

struct sticky_error {
	bool again;		/* it was reported before */
	int n;
	struct launched launched[MAX_LAUNCHED];
	unsigned long long others;	/* launches that had no room */
	struct sticky_error *next;
};

struct process {
	int pid;
	struct sticky_error now;	/* since the last wait */
	bool reported;		/* an error, since then */
	struct sticky_error again, *first;	/* what was told of */
	UT_hash_handle hh;
};

static struct process *processes;

bool sticky_error_is(int error)
{
	switch (error) {
	case 214:		/* uncorrectable ECC error */
	case 220:		/* uncorrectable NVLink error */
	case 226:		/* contained */
	case 700:		/* illegal address */
	case 702:		/* launch timeout */
	case 710:		/* assert */
	case 714 ... 719:	/* hardware stack, illegal instruction, misaligned address, invalid
				 * address space, invalid pc, launch failure */
	case 721:		/* tensor memory leak */
	case 911:		/* external device */
		return true;
	}
	return false;
}

static struct process *process_of(int pid)
{
	struct process *p;

	HASH_FIND_INT(processes, &pid, p);
	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->again.again = true;
	HASH_ADD_INT(processes, pid, p);
	return p;
}

void sticky_error_forget(int pid)
{
	struct sticky_error *c;
	struct process *p;

	HASH_FIND_INT(processes, &pid, p);
	if (!p)
		return;
	while ((c = p->first)) {
		p->first = c->next;
		free(c);
	}
	HASH_DEL(processes, p);
	free(p);
}

/* A launch configuration, the runtime's or the driver's, has it at byte 32. */
static unsigned long long stream_of(const struct trace_call *call, const struct cuda_args *row)
{
	unsigned long long stream = trace_word(call, row->stream);

	for (int i = 0; row->params && i < call->function->nreads; i++)
		if (call->function->reads[i].word == row->params - 1 && call->read[i] &&
		    call->event->read[i] >= 40)
			memcpy(&stream, call->read[i] + 32, sizeof(stream));
	return stream;
}

static void note_launch(struct sticky_error *now, const struct trace_call *call,
			const struct cuda_args *row)
{
	struct launched l = { .func = trace_word(call, row->handle ? row->handle : row->func),
			      .stream = stream_of(call, row), .kernel = call->kernel, .count = 1 };
	int i = 0;

	while (i < now->n && (now->launched[i].func != l.func || now->launched[i].stream != l.stream))
		i++;
	if (i == MAX_LAUNCHED)
		now->others++;
	else if (i < now->n)
		now->launched[i].count++;
	else
		now->launched[now->n++] = l;
}

/* A successful wait for a stream, or for everything. */
static void note_wait(struct sticky_error *now, const struct trace_call *call,
		      const struct cuda_args *row)
{
	int kept = 0;

	if (row->event)
		return;
	for (int i = 0; row->stream && i < now->n; i++)
		if (now->launched[i].stream != trace_word(call, row->stream))
			now->launched[kept++] = now->launched[i];
	now->n = kept;
	if (!row->stream)
		now->others = 0;
}

static const struct sticky_error *report(struct process *p)
{
	struct sticky_error *c;

	if (p->reported)
		return &p->again;
	p->reported = true;
	c = xcalloc(1, sizeof(*c));
	*c = p->now;
	c->next = p->first;
	p->first = c;
	return c;
}

const struct sticky_error *sticky_error_note(const struct trace_call *call)
{
	const struct cuda_fn *role = trace_role(call->proto);
	int ret = call->event->ret;
	struct process *p;

	if (call->event->head.kind != TRACE_CALL || call->event->depth)
		return NULL;
	if (trace_error(call))
		return sticky_error_is(ret) ? report(process_of(call->event->head.pid)) : NULL;
	if (!role || ret || (role->class != CUDA_LAUNCH && role->class != CUDA_SYNC))
		return NULL;
	p = process_of(call->event->head.pid);
	p->reported = false;
	if (role->class == CUDA_LAUNCH)
		note_launch(&p->now, call, &role->args);
	else
		note_wait(&p->now, call, &role->args);
	return NULL;
}

static unsigned long long launches(const struct sticky_error *c)
{
	unsigned long long n = c->others;

	for (int i = 0; i < c->n; i++)
		n += c->launched[i].count;
	return n;
}

void sticky_error_text(FILE *f, const struct sticky_error *c)
{
	unsigned long long n = launches(c);

	if (c->again) {
		fputs(" [caused by earlier work: reported before]", f);
		return;
	}
	fputs(" [caused by earlier work", f);
	if (n)
		fprintf(f, ": %llu launch%s since the last wait: ", n, n == 1 ? "" : "es");
	for (int i = 0; i < c->n && i < NAMED; i++) {
		const struct launched *l = &c->launched[i];

		if (i)
			fputs(", ", f);
		if (l->kernel)
			escape_text(f, l->kernel->brief);
		else
			fprintf(f, "0x%llx", l->func);
		if (l->count > 1)
			fprintf(f, " x%llu", l->count);
	}
	fputs(c->n > NAMED || c->others ? ", ...]" : "]", f);
}

void sticky_error_json(FILE *f, const struct sticky_error *c)
{
	if (!c) {
		fputs("null", f);
		return;
	}
	putc('[', f);
	for (int i = 0; i < c->n; i++) {
		const struct launched *l = &c->launched[i];

		if (i)
			putc(',', f);
		if (l->kernel)
			escape_json(f, l->kernel->brief);
		else
			fprintf(f, "\"0x%llx\"", l->func);
	}
	putc(']', f);
}
