/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "gpuprobe/readout.h"

bool reader_room(struct reader *reader, size_t size)
{
	char *more;

	if (size <= reader->room)
		return true;
	more = realloc(reader->buffer, size);
	if (more) {
		reader->buffer = more;
		reader->room = size;
	}
	return more != NULL;
}

/* r is what the driver said of a copy that has begun. */
static CUresult await_copy(struct reader *reader, CUresult r)
{
	const struct driver *d = reader->inject->driver;
	CUstream stream = reader->context->stream;
	struct timespec nap = { 0, 20000 };

	/* waiting in the driver may take a processor */
	while (!r && (r = d->cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY) {
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < 1000000)
			nap.tv_nsec *= 2;
		r = CUDA_SUCCESS;
	}
	return r;
}

CUresult reader_copy(struct reader *reader, void *to, CUdeviceptr from, size_t size)
{
	const struct driver *d = reader->inject->driver;

	return await_copy(reader, d->cuMemcpyDtoHAsync_v2(to, from, size, reader->context->stream));
}

CUresult reader_write(struct reader *reader, CUdeviceptr to, const void *from, size_t size)
{
	const struct driver *d = reader->inject->driver;

	if (!d->cuMemcpyHtoDAsync_v2)
		return CUDA_ERROR_NOT_FOUND;
	return await_copy(reader, d->cuMemcpyHtoDAsync_v2(to, from, size, reader->context->stream));
}

/* The context is of no use any more. */
static void give_up(struct reader *reader, CUresult error, unsigned readings)
{
	const struct driver *d = reader->inject->driver;
	const char *name = NULL;
	char why[128];

	reader->context->dead = true;
	if (error == CUDA_ERROR_DEINITIALIZED)
		return;		/* the process ends */
	if (!d->cuGetErrorName || d->cuGetErrorName(error, &name) || !name)
		name = "an unknown error";
	snprintf(why, sizeof(why), "device %d: %s", reader->context->device, name);
	link_lost(&reader->inject->link, 0, readings, why);
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
		if (i->number && i->ranges)
			r = ranges_write(reader, i);
		if (r || reader->telling)
			continue;
		if (i->number && i->slots)
			r = slots_read(reader, i);
		if (!r && i->number && i->rings)
			r = records_read(reader, i, last);
	}
	return r;
}

/* Reads a module in a context that is marked busy. */
static void read_in(struct reader *reader, struct module *m, struct context *c, bool last)
{
	const struct driver *d = reader->inject->driver;
	CUresult r = d->cuCtxPushCurrent_v2(c->ctx);
	CUcontext was;

	reader->context = c;
	link_flush(&reader->inject->link);	/* the image was told before the module */
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

/* With the lock held, but for the time that it takes. */
static void read_module(struct reader *reader, struct module *m, bool last)
{
	struct inject *inject = reader->inject;
	unsigned long wanted = m->wanted;
	struct context *c;

	m->busy = true;
	last |= !reader->telling && m->served < wanted;
	for (c = inject->modules.contexts; c; c = c->next) {
		if (c->closed || c->dead || (m->context && m->context != c))
			continue;
		c->busy = true;
		pthread_mutex_unlock(&inject->lock);
		read_in(reader, m, c, last);
		pthread_mutex_lock(&inject->lock);
		c->busy = false;
	}
	m->busy = false;
	if (!reader->telling)
		m->served = wanted;
	pthread_cond_broadcast(&inject->done);
}

/* A module that somebody waits for; NULL: none. */
static struct module *wanted_module(const struct inject *inject)
{
	struct module *m = inject->modules.first;

	while (m && (m->closed || m->served >= m->wanted))
		m = m->next;
	return m;
}

static void read_everything(struct reader *reader, bool last)
{
	struct inject *inject = reader->inject;
	struct module *m;

	/* what is unloaded meanwhile stays in the list as long as it is busy */
	for (struct module *next = inject->modules.first; (m = next); next = m->next)
		if (!m->closed)
			read_module(reader, m, last);
	modules_sweep(&inject->modules);
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

/* Sends what wrappers have queued; false if the tool is gone. */
static bool flush(struct inject *inject)
{
	bool ok;

	pthread_mutex_unlock(&inject->lock);
	ok = link_flush(&inject->link);
	pthread_mutex_lock(&inject->lock);
	return ok;
}

/* Without the lock: who waits for it at the end of the process does so for a limited time. */
static void say_bye(struct inject *inject)
{
	pthread_mutex_unlock(&inject->lock);
	link_flush(&inject->link);	/* what was queued since the last time */
	link_send(&inject->link, GPUPROBE_BYE, NULL, 0, NULL, 0);
	if (inject->config.flags & GPUPROBE_CALLS)
		link_await(&inject->link);
	pthread_mutex_lock(&inject->lock);
}

/* Tells all modules what memory there is. */
static void tell_ranges(struct reader *reader)
{
	unsigned long wanted = reader->inject->ranges_wanted;

	reader->telling = true;
	read_everything(reader, false);
	reader->telling = false;
	reader->inject->ranges_served = wanted;
}

static void serve(struct reader *reader)
{
	struct inject *inject = reader->inject;
	unsigned period = inject->config.period_ms ? inject->config.period_ms : 1000;
	struct timespec next = later(period);

	while (flush(inject)) {
		unsigned long wanted = inject->wanted;
		struct module *m = wanted_module(inject);
		bool ending = inject->ending, all = inject->served < wanted, due = false;
		bool ranges = inject->ranges_served < inject->ranges_wanted;

		if (ranges)
			tell_ranges(reader);
		else if (!m && !all && pthread_cond_timedwait(&inject->wake, &inject->lock, &next))
			due = true;
		if (m)
			read_module(reader, m, false);
		else if (all || due)
			read_everything(reader, ending);
		if (due)
			next = later(period);
		if (all && ending && !m)
			say_bye(inject);
		if (all && !m)
			inject->served = wanted;
		pthread_cond_broadcast(&inject->done);
		if (all && ending && !m)
			break;
	}
}

void *gpuprobe_thread(void *ctx)
{
	struct inject *inject = ctx;
	struct reader reader = { .inject = inject };
	int mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	/* streams that are being captured in other threads are none of ours */
	if (inject->driver->cuThreadExchangeStreamCaptureMode)
		inject->driver->cuThreadExchangeStreamCaptureMode(&mode);
	pthread_mutex_lock(&inject->lock);
	serve(&reader);
	inject->over = true;
	pthread_cond_broadcast(&inject->done);
	pthread_mutex_unlock(&inject->lock);
	free(reader.buffer);
	link_close(&inject->link);
	return NULL;
}
