/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "abi/cuda_sticky.h"
#include "agent/gpuprobe/variables.h"

/* Groups number their records apart, so launches come first. */
static int by_launch(const void *a, const void *b)
{
	const struct gpu_last *x = a, *y = b;
	const unsigned int p = x->pair[0].grid, q = y->pair[0].grid;

	return p != q ? (p > q) - (p < q) : (x->number > y->number) - (x->number < y->number);
}

/* Replaces the table by a sorted copy, which does not end with the context. */
static void keep_lasts(struct context *c)
{
	const size_t size = GPU_LASTS * sizeof(*c->lasts);
	struct gpu_last *copy = c->lasts ? malloc(size) : NULL;

	if (copy)
		qsort(memcpy(copy, c->lasts, size), GPU_LASTS, sizeof(*copy), by_launch);
	c->lasts = copy;
}

/* Stops reading a context, and reports why. */
static void give_up(struct reader *reader, CUresult error, unsigned readings)
{
	const struct driver *d = reader->state->driver;
	const char *name = NULL;
	char why[192];

	reader->context->dead = true;
	if (cuda_error_is_sticky(error))
		keep_lasts(reader->context);
	else
		reader->context->lasts = NULL;
	if (error == CUDA_ERROR_DEINITIALIZED)
		return;		/* the process ends */
	if (!d->cuGetErrorName || d->cuGetErrorName(error, &name) || !name)
		name = "an unknown error";
	snprintf(why, sizeof(why), "device %d: %s%s", reader->context->device, name, !cuda_error_is_sticky(error) ? "" :
		 ", a kernel faulted: no counts since the last reading (cudatrace -x names the launches)");
	link_lost(&reader->state->link, 0, readings, why);
}

static struct instance *find_instance(const struct module *m, const struct context *c, uint32_t hash)
{
	struct instance *i = m->instances;

	while (i && (i->context != c || i->hash != hash))
		i = i->next;
	return i;
}

static CUresult read_instances(struct reader *reader, struct module *m, bool last)
{
	CUresult r = CUDA_SUCCESS;

	for (unsigned h = 0; h < m->num_hashes && !r; h++) {
		struct instance *i = find_instance(m, reader->context, m->hashes[h]);

		if (!i) {
			i = instance_new(reader, m, m->hashes[h], &r);
			if (!i)
				break;
			i->next = m->instances;
			m->instances = i;
		}
		r = instance_read(reader, i, last);
	}
	return r;
}

/* Reads a module in a context that is marked busy. */
static void read_in(struct reader *reader, struct module *m, struct context *c, bool last)
{
	const struct driver *d = reader->state->driver;
	CUresult r;
	CUcontext was;

	reader->context = c;
	link_flush(&reader->state->link);	/* the image is reported before the module */
	r = d->cuCtxPushCurrent_v2(c->ctx);
	if (r) {
		give_up(reader, r, 1);
		return;
	}
	if (!c->stream)
		r = d->cuStreamCreate(&c->stream, CU_STREAM_NON_BLOCKING);
	if (!r)
		r = read_instances(reader, m, last);
	if (r)
		give_up(reader, r, 1);
	d->cuCtxPopCurrent_v2(&was);
}

/* The same, of what a faulted context has left. */
static void read_lasts(struct reader *reader, const struct module *m, const struct context *c)
{
	for (struct instance *i = m->instances; i; i = i->next)
		if (i->context == c && i->number && !i->lasts_sent)
			instance_send_lasts(reader, i);
}

/* Called with the lock held; releases it while reading. */
static void read_module(struct reader *reader, struct module *m, bool last)
{
	struct gpuprobe *state = reader->state;
	unsigned long wanted = m->wanted;
	struct context *c;

	m->busy = true;
	last |= !reader->ranges_only && m->served < wanted;
	for (c = state->modules.contexts; c; c = c->next) {
		if (c->closed || (c->dead && !c->lasts) || (m->context && m->context != c))
			continue;
		c->busy = true;
		pthread_mutex_unlock(&state->lock);
		if (!c->dead)
			read_in(reader, m, c, last);
		if (c->dead && c->lasts)
			read_lasts(reader, m, c);
		pthread_mutex_lock(&state->lock);
		c->busy = false;
	}
	m->busy = false;
	if (!reader->ranges_only)
		m->served = wanted;
	pthread_cond_broadcast(&state->done);
}

/* Returns a module that a wrapper waits for, or NULL. */
static struct module *wanted_module(const struct gpuprobe *state)
{
	struct module *m = state->modules.first;

	while (m && (m->closed || m->served >= m->wanted))
		m = m->next;
	return m;
}

static void read_everything(struct reader *reader, bool last)
{
	struct gpuprobe *state = reader->state;
	struct module *m;

	/* an unloaded module stays in the list while it is busy */
	for (struct module *next = state->modules.first; (m = next); next = m->next)
		if (!m->closed)
			read_module(reader, m, last);
	modules_sweep(&state->modules);
}

static struct timespec later(unsigned ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* Sends queued frames; false if the tool is gone. */
static bool flush(struct gpuprobe *state)
{
	bool ok;

	pthread_mutex_unlock(&state->lock);
	ok = link_flush(&state->link);
	pthread_mutex_lock(&state->lock);
	return ok;
}

/* Releases the lock, because gpuprobe_end() waits for it for a limited time only. */
static void send_bye(struct gpuprobe *state)
{
	pthread_mutex_unlock(&state->lock);
	link_flush(&state->link);	/* frames queued since the last flush */
	link_send(&state->link, GPUPROBE_BYE, NULL, 0, NULL, 0);
	if (state->config.flags & GPUPROBE_CALLS)
		link_await(&state->link);
	pthread_mutex_lock(&state->lock);
}

/* Writes the list of ranges.h to all modules. */
static void write_ranges(struct reader *reader)
{
	unsigned long wanted = reader->state->ranges_wanted;

	reader->ranges_only = true;
	read_everything(reader, false);
	reader->ranges_only = false;
	reader->state->ranges_served = wanted;
}

static void serve(struct reader *reader)
{
	struct gpuprobe *state = reader->state;
	unsigned period = state->config.period_ms ? state->config.period_ms : 1000;
	struct timespec next = later(period);

	while (flush(state)) {
		unsigned long wanted = state->wanted;
		struct module *m = wanted_module(state);
		bool ending = state->ending, all = state->served < wanted, due = false;
		bool ranges = state->ranges_served < state->ranges_wanted;

		if (ranges)
			write_ranges(reader);
		else if (!m && !all && pthread_cond_timedwait(&state->wake, &state->lock, &next))
			due = true;
		if (m)
			read_module(reader, m, false);
		else if (all || due)
			read_everything(reader, ending);
		if (due)
			next = later(period);
		if (all && ending && !m)
			send_bye(state);
		if (all && !m)
			state->served = wanted;
		pthread_cond_broadcast(&state->done);
		if (all && ending && !m)
			break;
	}
}

void *gpuprobe_thread(void *ctx)
{
	struct gpuprobe *state = ctx;
	struct reader reader = { .state = state };
	int mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	/* do not disturb captures of streams in other threads */
	if (state->driver->cuThreadExchangeStreamCaptureMode)
		state->driver->cuThreadExchangeStreamCaptureMode(&mode);
	pthread_mutex_lock(&state->lock);
	serve(&reader);
	state->over = true;
	pthread_cond_broadcast(&state->done);
	pthread_mutex_unlock(&state->lock);
	free(reader.buffer);
	link_close(&state->link);
	return NULL;
}
