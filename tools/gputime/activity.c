/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* CUPTI's activity API: it asks for buffers, and gives them back with records of what has run on the GPU. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "gputime/cupti.h"
#include "gputime/gputime.h"

/* Buffers, of bytes each: a buffer with a kernel that still runs is not delivered, so that they are small; names that are told
 * apart, in a table twice as large. */
enum { BUFFERS = 64, BUFFER = 256 << 10, NAMES = 8192 };

struct cupti {
	void *library;		/* NULL: there is none */
	bool looked;		/* for it */
#define POINTER(name, since, params) name##_fn *name;
	CUPTI_FUNCTIONS(POINTER)
#undef POINTER
	void *subscriber;
	struct gputime *to;
	/* of records: CUPTI's threads deliver them */
	pthread_mutex_t lock;
	void *buffers[BUFFERS];	/* that are free */
	unsigned nbuffers, made;
	struct { uint64_t hash; unsigned number; } *names;
	unsigned nnames;
};

/* After which another profiler in the program may have ended. */
static const uint64_t RETRY_NS = 5000000000;

static struct cupti cupti = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- The library: the program's own one if it has one, else what came with its CUDA */

struct search {
	char path[4096];	/* of libcupti, if it is mapped */
	char beside[4096];	/* the folder of the program's libcudart or libcublas */
	char major[3];		/* its number */
};

static int look(struct dl_phdr_info *info, size_t size, void *ctx)
{
	static const char *const libraries[] = { "/libcudart.so.", "/libcublas.so.", "/libnvrtc.so." };
	struct search *s = ctx;
	const char *at;

	(void)size;
	if (!*s->path && strstr(info->dlpi_name, "/libcupti.so"))
		snprintf(s->path, sizeof(s->path), "%s", info->dlpi_name);
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries) && !*s->beside; i++) {
		at = strstr(info->dlpi_name, libraries[i]);
		if (!at)
			continue;
		snprintf(s->beside, sizeof(s->beside), "%.*s", (int)(at - info->dlpi_name), info->dlpi_name);
		snprintf(s->major, sizeof(s->major), "%s", at + strlen(libraries[i]));
	}
	return 0;
}

/* In wheels nvidia/cuda_runtime/lib is beside nvidia/cuda_cupti/lib (CUDA 12), or nvidia/cu13/lib has both; in the toolkit
 * lib64 is beside extras/CUPTI/lib64. */
static void *open_library(void)
{
	static const char *const places[] = { "", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64" };
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so" };
	struct search s = { "", "", "" };
	char path[8192];
	void *library;

	dl_iterate_phdr(look, &s);
	library = *s.path ? dlopen(s.path, RTLD_NOW | RTLD_NOLOAD) : NULL;
	for (size_t i = 0; !library && *s.beside && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s%s/libcupti.so.%s", s.beside, places[i], s.major);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	for (size_t i = 0; !library && i < sizeof(names) / sizeof(*names); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

static bool find_functions(struct cupti *c)
{
	bool all = true;

#define FIND(name, since, params)					\
	*(void **)&c->name = dlsym(c->library, #name);			\
	all &= c->name || since > 1108;
	CUPTI_FUNCTIONS(FIND)
#undef FIND
	return all;
}

/* ---- Records */

static void put(struct cupti *c, const struct gputime_record *r)
{
	struct gputime_control *to = c->to->control;
	uint64_t written = to->written, read = __atomic_load_n(&to->read, __ATOMIC_ACQUIRE);

	if (written - read >= GPUTIME_SLOTS) {
		to->dropped++;
		return;
	}
	c->to->slots[written % GPUTIME_SLOTS] = *r;
	__atomic_store_n(&to->written, written + 1, __ATOMIC_RELEASE);
}

static bool has_room(const struct cupti *c, size_t records)
{
	const struct gputime_control *to = c->to->control;

	return to->written - __atomic_load_n(&to->read, __ATOMIC_ACQUIRE) + records <= GPUTIME_SLOTS;
}

static void tell_name(struct cupti *c, unsigned number, const char *name, size_t size)
{
	struct gputime_record r = { .kind = GPUTIME_TEXT, .name = number, .text.size = size };

	for (size_t at = 0; at < size; at += GPUTIME_PART) {
		r.text.at = at;
		memset(r.text.part, 0, GPUTIME_PART);
		memcpy(r.text.part, name + at, size - at < GPUTIME_PART ? size - at : GPUTIME_PART);
		put(c, &r);
	}
}

/* Returns the number of a name; 0: too many are known, or there is no room to tell it. */
static unsigned number_of(struct cupti *c, const char *name)
{
	size_t size = name ? strnlen(name, GPUTIME_NAME_MAX) : 0;
	uint64_t hash = 0xcbf29ce484222325;
	unsigned i;

	if (!size || !c->names)
		return 0;
	for (size_t k = 0; k < size; k++)
		hash = (hash ^ (unsigned char)name[k]) * 0x100000001b3;
	hash += !hash;
	for (i = hash % (2 * NAMES); c->names[i].hash; i = (i + 1) % (2 * NAMES))
		if (c->names[i].hash == hash)
			return c->names[i].number;
	if (c->nnames == NAMES || !has_room(c, size / GPUTIME_PART + 2))
		return 0;
	c->names[i].hash = hash;
	c->names[i].number = ++c->nnames;
	tell_name(c, c->nnames, name, size);
	return c->nnames;
}

/* A kernel that still runs has no time when CUPTI is switched off. */
static void put_run(struct cupti *c, const struct gputime_record *r)
{
	if (r->start || r->end)
		put(c, r);
	else
		c->to->control->untimed++;
}

static void put_kernel(struct cupti *c, const struct cupti_kernel *k)
{
	put_run(c, &(struct gputime_record){
		.kind = GPUTIME_KERNEL, .name = number_of(c, k->name), .start = k->start, .end = k->end, .device = k->device,
		.context = k->context, .stream = k->stream, .correlation = k->correlation,
	});
}

static void put_graph(struct cupti *c, const struct cupti_graph_trace *g)
{
	put_run(c, &(struct gputime_record){
		.kind = GPUTIME_GRAPH, .start = g->start, .end = g->end, .device = g->device, .context = g->context,
		.stream = g->stream, .correlation = g->correlation, .graph = g->graph,
	});
}

static void put_copy(struct cupti *c, const struct cupti_copy *m)
{
	put_run(c, &(struct gputime_record){
		.kind = GPUTIME_COPY, .start = m->start, .end = m->end, .device = m->device, .context = m->context,
		.stream = m->stream, .correlation = m->correlation, .copy = m->copy_kind, .bytes = m->bytes,
	});
}

static void put_peer_copy(struct cupti *c, const struct cupti_peer_copy *m)
{
	put_run(c, &(struct gputime_record){
		.kind = GPUTIME_COPY, .start = m->start, .end = m->end, .device = m->from_device, .context = m->context,
		.stream = m->stream, .correlation = m->correlation, .copy = CUPTI_COPY_PTOP, .bytes = m->bytes,
	});
}

static void put_set(struct cupti *c, const struct cupti_set *m)
{
	put_run(c, &(struct gputime_record){
		.kind = GPUTIME_SET, .start = m->start, .end = m->end, .device = m->device, .context = m->context,
		.stream = m->stream, .correlation = m->correlation, .bytes = m->bytes,
	});
}

static void take(struct cupti *c, const struct cupti_record *record)
{
	switch (record->kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
		put_kernel(c, (const void *)record);
		break;
	case CUPTI_KIND_GRAPH_TRACE:
		put_graph(c, (const void *)record);
		break;
	case CUPTI_KIND_MEMCPY:
		put_copy(c, (const void *)record);
		break;
	case CUPTI_KIND_MEMCPY2:
		put_peer_copy(c, (const void *)record);
		break;
	case CUPTI_KIND_MEMSET:
		put_set(c, (const void *)record);
		break;
	default:
		c->to->control->unknown++;
	}
}

/* CUPTI aligns records to 8 bytes. */
static void buffer_wanted(uint8_t **buffer, size_t *size, size_t *most)
{
	struct cupti *c = &cupti;

	pthread_mutex_lock(&c->lock);
	if (!c->nbuffers && c->made < BUFFERS) {
		c->buffers[0] = aligned_alloc(8, BUFFER);
		c->nbuffers = c->buffers[0] != NULL;
		c->made += c->nbuffers;
	}
	*buffer = c->nbuffers ? c->buffers[--c->nbuffers] : NULL;
	pthread_mutex_unlock(&c->lock);
	*size = *buffer ? BUFFER : 0;
	*most = 0;
}

static void buffer_filled(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct cupti *c = &cupti;
	struct cupti_record *record = NULL;
	size_t dropped = 0;

	(void)size;
	if (!buffer)
		return;
	pthread_mutex_lock(&c->lock);
	while (valid && !c->cuptiActivityGetNextRecord(buffer, valid, &record))
		take(c, record);
	if (!c->cuptiActivityGetNumDroppedRecords(context, stream, &dropped))
		c->to->control->dropped += dropped;
	if (c->nbuffers < BUFFERS)
		c->buffers[c->nbuffers++] = buffer;
	pthread_mutex_unlock(&c->lock);
}

/* ---- On and off */

static void say(struct gputime *g, enum gputime_state state, int error)
{
	g->control->error = error;
	__atomic_store_n(&g->control->state, state, __ATOMIC_RELEASE);
}

static struct cupti *find(struct gputime *g)
{
	struct cupti *c = &cupti;

	if (c->looked)
		return c;
	c->looked = true;
	g->cupti = c;
	c->to = g;
	c->library = open_library();
	if (c->library && (!find_functions(c) || c->cuptiGetVersion(&g->control->version)))
		c->library = NULL;
	if (g->control->version < CUPTI_OLDEST || g->control->version > CUPTI_NEWEST)
		c->library = NULL;
	return c;
}

/* We subscribe to nothing: who cannot has another one in the program, such as a profiler of PyTorch, whose buffers would be
 * ours from now on. */
static void nothing(void *data, uint32_t domain, uint32_t id, const void *info)
{
	(void)data;
	(void)domain;
	(void)id;
	(void)info;
}

static unsigned list_kinds(unsigned want, enum cupti_kind *kinds)
{
	unsigned n = 0;

	if (want & GPUTIME_KERNELS)
		kinds[n++] = CUPTI_KIND_CONCURRENT_KERNEL;
	if (want & GPUTIME_KERNELS && !(want & GPUTIME_NODES))
		kinds[n++] = CUPTI_KIND_GRAPH_TRACE;
	if (want & GPUTIME_COPIES) {
		kinds[n++] = CUPTI_KIND_MEMCPY;
		kinds[n++] = CUPTI_KIND_MEMCPY2;
		kinds[n++] = CUPTI_KIND_MEMSET;
	}
	return n;
}

static int enable(struct gputime *g, struct cupti *c, unsigned want)
{
	enum cupti_kind kinds[8];
	unsigned n = list_kinds(want, kinds);
	int r = c->cuptiActivityRegisterCallbacks(buffer_wanted, buffer_filled);

	/* It cannot be switched off again: only for a program that is measured from its start.  GPUs before Blackwell refuse. */
	if (!r && g->whole && c->cuptiActivityEnableHWTrace)
		c->cuptiActivityEnableHWTrace(1);
	for (unsigned i = 0; !r && i < n; i++) {
		r = c->cuptiActivityEnable(kinds[i]);
		for (unsigned k = 0; r && k < i; k++)
			c->cuptiActivityDisable(kinds[k]);
	}
	return r;
}

void activity_forget_names(struct gputime *g)
{
	struct cupti *c = g->cupti;

	if (!c || !c->names)
		return;
	pthread_mutex_lock(&c->lock);
	memset(c->names, 0, 2 * NAMES * sizeof(*c->names));
	c->nnames = 0;
	pthread_mutex_unlock(&c->lock);
}

static void note_clock(struct gputime *g, struct cupti *c)
{
	uint64_t before = gputime_now(), by_cupti;

	if (!c->cuptiGetTimestamp(&by_cupti))
		g->control->clock = (before + gputime_now()) / 2 - by_cupti;
}

void activity_start(struct gputime *g, unsigned want)
{
	struct cupti *c;
	int r;

	say(g, GPUTIME_STARTING, 0);
	c = find(g);
	g->want = want;
	g->retry = 0;		/* what fails is not tried again until that is another one … */
	if (!c->library) {
		say(g, GPUTIME_NO_CUPTI, 0);
		return;
	}
	r = c->cuptiSubscribe(&c->subscriber, nothing, NULL);
	if (r) {
		c->subscriber = NULL;
		g->retry = r == CUPTI_OTHER_SUBSCRIBER ? gputime_now() + RETRY_NS : 0;	/* … but the other one may end */
		say(g, r == CUPTI_OTHER_SUBSCRIBER ? GPUTIME_IN_USE : GPUTIME_REFUSED, r);
		return;
	}
	c->names = c->names ? c->names : calloc(2 * NAMES, sizeof(*c->names));
	note_clock(g, c);
	r = enable(g, c, want);
	if (r) {
		c->cuptiUnsubscribe(c->subscriber);
		c->subscriber = NULL;
		say(g, GPUTIME_REFUSED, r);
		return;
	}
	say(g, GPUTIME_IS_ON, 0);
}

void activity_flush(struct gputime *g, bool all)
{
	if (g->cupti->subscriber)
		g->cupti->cuptiActivityFlushAll(all ? CUPTI_FLUSH_FORCED : 0);
}

void activity_stop(struct gputime *g)
{
	enum cupti_kind kinds[8];
	unsigned n = list_kinds(g->want, kinds);
	struct cupti *c = g->cupti;

	g->want = 0;
	g->retry = 0;
	if (c->subscriber) {
		for (unsigned i = 0; i < n; i++)
			c->cuptiActivityDisable(kinds[i]);
		c->cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
		c->cuptiUnsubscribe(c->subscriber);
		c->subscriber = NULL;
	}
	say(g, GPUTIME_OFF, 0);
}
