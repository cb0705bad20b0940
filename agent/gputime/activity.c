/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* CUPTI's activity API: it asks for buffers, and gives them back with records of what has run on the GPU. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "agent/gputime/cupti.h"
#include "agent/gputime/gputime.h"
#include "base/clock.h"

/* Buffers, of bytes each: a buffer with a kernel that still runs is not delivered, so that they are small.  The table of names
 * is twice as large as their number.  Calls of which the last correlations are remembered. */
enum { BUFFERS = 64, BUFFER = 256 << 10, TABLE = 2 * GPUTIME_NAMES, LAST_CALLS = 4096, CLOCK_TRIES = 5 };

enum { CALLS_LAUNCHES = GPUTIME_LAUNCHES, CALLS_COPIES = GPUTIME_COPY_CALLS, CALLS = CALLS_LAUNCHES | CALLS_COPIES };

/* told: a bit for each tool that knows it. */
struct name {
	uint64_t hash;
	uint32_t number, told;
};

/* A directory as it was when this library was loaded. */
struct noted {
	struct place is;
	bool there;
};

enum { PLACES = 3, PATH = 4096 };

struct cupti {
	struct noted root, current, places[PLACES];
	char beside[PATH];	/* the places are beside this folder; empty: unknown then */
	void *library;		/* NULL: there is none */
	bool looked;		/* for it */
#define POINTER(name, since, params) name##_fn *name;
	CUPTI_FUNCTIONS(POINTER)
#undef POINTER
	void *subscriber;
	struct gputime *to;
	uint64_t kinds;		/* that are enabled: a bit for each enum cupti_kind */
	unsigned calls;		/* those of CUPTI_CALLS that are enabled, without their kinds: bits of enum gputime_want */
	/* of records: CUPTI's threads deliver them */
	pthread_mutex_t lock;
	void *buffers[BUFFERS];	/* that are free */
	unsigned nbuffers, made;
	struct name *names;	/* TABLE, or NULL */
	unsigned nnames;
	uint32_t last_calls[LAST_CALLS];	/* a function of the driver inside one of the runtime has its correlation */
};

/* After which another profiler in the program may have ended. */
static const uint64_t RETRY_NS = 5000000000;

static struct cupti cupti = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- The library: the program's own one if it has one, else what came with its CUDA */

struct search {
	char path[PATH];	/* of libcupti, if it is mapped */
	char beside[PATH];	/* the folder of the program's libcudart or libcublas */
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
static const char *const places[PLACES] = { "", "/../../cuda_cupti/lib", "/../extras/CUPTI/lib64" };

static void folder_set(char *folder, size_t size, const char *beside, size_t place)
{
	snprintf(folder, size, "%.*s%s", PATH - 1, beside, places[place]);
}

static bool place_look(const char *path, struct place *is)
{
	struct statx s = { 0 };

	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, PLACE_MASK, &s))
		return false;
	*is = place_of(&s);
	return true;
}

static void note(struct noted *n, const char *path)
{
	n->there = place_look(path, &n->is);
}

static bool is_as_noted(const struct noted *n, const char *path)
{
	struct place now;

	return n->there && place_look(path, &now) && place_is(&now, &n->is);
}

void activity_note(void)
{
	struct cupti *c = &cupti;
	struct search s = { "", "", "" };
	char path[2 * PATH];

	note(&c->root, "/");
	note(&c->current, ".");
	dl_iterate_phdr(look, &s);
	snprintf(c->beside, sizeof(c->beside), "%s", s.beside);
	for (size_t i = 0; *c->beside && i < PLACES; i++) {
		folder_set(path, sizeof(path), c->beside, i);
		note(&c->places[i], path);
	}
}

/* Return true if it is a file that only root and the owner of its folder can have put there. */
static bool is_safe(const char *folder, const char *file)
{
	struct place in, is;

	return place_look(folder, &in) && place_look(file, &is) && place_is_of(&in, &is, true);
}

/* The program has the root directory that was noted: what it has loaded since is from there. */
static void *open_beside(const struct cupti *c, const struct search *s)
{
	const bool known = !strcmp(s->beside, c->beside);
	char folder[2 * PATH], file[2 * PATH + 32];
	void *library = NULL;

	for (size_t i = 0; !library && *s->beside && i < PLACES; i++) {
		folder_set(folder, sizeof(folder), s->beside, i);
		snprintf(file, sizeof(file), "%s/libcupti.so.%s", folder, s->major);
		if ((!known || is_as_noted(&c->places[i], folder)) && is_safe(folder, file))
			library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	}
	return library;
}

/* Return true if the current directory is searched, too: an empty part is that. */
static bool is_relative(const char *list)
{
	while (list) {
		if (*list != '/')
			return true;
		list = strchr(list, ':');
		list += list != NULL;
	}
	return false;
}

static void *open_library(const struct cupti *c)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so" };
	const bool here = is_as_noted(&c->current, ".");
	struct search s = { "", "", "" };
	void *library;

	dl_iterate_phdr(look, &s);
	library = *s.path ? dlopen(s.path, RTLD_NOW | RTLD_NOLOAD) : NULL;
	if (library || !is_as_noted(&c->root, "/"))
		return library;
	if (*s.beside == '/' || here)
		library = open_beside(c, &s);
	if (!here && is_relative(getenv("LD_LIBRARY_PATH")))
		return library;
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

static bool has_room(const struct gputime_tool *t, size_t records)
{
	return t->written - __atomic_load_n(&t->read, __ATOMIC_ACQUIRE) + records <= GPUTIME_SLOTS;
}

static void put(struct cupti *c, int tool, const struct gputime_record *r)
{
	struct gputime_tool *t = &c->to->control->tools[tool];

	if (!has_room(t, 1)) {
		t->dropped++;
		return;
	}
	c->to->slots[(size_t)tool * GPUTIME_SLOTS + t->written % GPUTIME_SLOTS] = *r;
	__atomic_store_n(&t->written, t->written + 1, __ATOMIC_RELEASE);
}

static void tell_name(struct cupti *c, int tool, unsigned number, const char *name, size_t size)
{
	struct gputime_record r = { .kind = GPUTIME_TEXT, .name = number, .text.size = size };

	for (size_t at = 0; at < size; at += GPUTIME_PART) {
		r.text.at = at;
		memset(r.text.part, 0, GPUTIME_PART);
		memcpy(r.text.part, name + at, size - at < GPUTIME_PART ? size - at : GPUTIME_PART);
		put(c, tool, &r);
	}
}

/* Returns NULL if it has none, or too many are known. */
static struct name *find_name(struct cupti *c, const char *name, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325;
	unsigned i;

	if (!size || !c->names)
		return NULL;
	for (size_t k = 0; k < size; k++)
		hash = (hash ^ (unsigned char)name[k]) * 0x100000001b3;
	hash += !hash;
	for (i = hash % TABLE; c->names[i].hash; i = (i + 1) % TABLE)
		if (c->names[i].hash == hash)
			return &c->names[i];
	if (c->nnames == GPUTIME_NAMES)
		return NULL;
	c->names[i] = (struct name){ .hash = hash, .number = ++c->nnames };
	return &c->names[i];
}

/* Returns the number that a tool knows it by; 0: there is no room to tell it. */
static unsigned number_for(struct cupti *c, int tool, struct name *n, const char *name, size_t size)
{
	const unsigned bit = 1u << tool;

	if (n->told & bit)
		return n->number;
	if (!has_room(&c->to->control->tools[tool], size / GPUTIME_PART + 2))
		return 0;
	n->told |= bit;
	tell_name(c, tool, n->number, name, size);
	return n->number;
}

/* Return true if a tool measures at this time. */
static bool is_wanted_at(const struct gputime_ring *ring, uint64_t start)
{
	return start >= ring->since && (!ring->of_ns || start % ring->of_ns < ring->run_ns);
}

/* Puts it for each tool that wants such.  A kernel that still runs has no time when CUPTI is switched off. */
static void put_each(struct cupti *c, unsigned want, struct gputime_record *r, const char *name)
{
	const size_t size = name ? strnlen(name, GPUTIME_NAME_MAX) : 0;
	struct name *n = find_name(c, name, size);

	for (int i = 0; i < GPUTIME_TOOLS; i++) {
		const struct gputime_ring *ring = &c->to->rings[i];

		if (!(ring->want & want) || !is_wanted_at(ring, r->start + c->to->control->clock))
			continue;
		r->name = n ? number_for(c, i, n, name, size) : 0;
		put(c, i, r);
	}
}

static void put_run(struct cupti *c, unsigned want, struct gputime_record *r, const char *name)
{
	if (r->start || r->end)
		put_each(c, want, r, name);
	else
		c->to->control->untimed++;
}

static void put_kernel(struct cupti *c, const struct cupti_kernel *k)
{
	put_run(c, GPUTIME_KERNELS, &(struct gputime_record){
		.kind = GPUTIME_KERNEL, .start = k->start, .end = k->end, .device = k->device,
		.context = k->context, .stream = k->stream, .correlation = k->correlation,
	}, k->name);
}

static void put_graph(struct cupti *c, const struct cupti_graph_trace *g)
{
	put_run(c, GPUTIME_KERNELS, &(struct gputime_record){
		.kind = GPUTIME_GRAPH, .start = g->start, .end = g->end, .device = g->device, .context = g->context,
		.stream = g->stream, .correlation = g->correlation, .graph = g->graph,
	}, NULL);
}

static void put_copy(struct cupti *c, const struct cupti_copy *m)
{
	put_run(c, GPUTIME_COPIES, &(struct gputime_record){
		.kind = GPUTIME_COPY, .start = m->start, .end = m->end, .device = m->device, .context = m->context,
		.stream = m->stream, .correlation = m->correlation, .copy = m->copy_kind, .bytes = m->bytes,
	}, NULL);
}

static void put_peer_copy(struct cupti *c, const struct cupti_peer_copy *m)
{
	put_run(c, GPUTIME_COPIES, &(struct gputime_record){
		.kind = GPUTIME_COPY, .start = m->start, .end = m->end, .device = m->from_device, .context = m->context,
		.stream = m->stream, .correlation = m->correlation, .copy = CUPTI_COPY_PTOP, .bytes = m->bytes,
	}, NULL);
}

static void put_set(struct cupti *c, const struct cupti_set *m)
{
	put_run(c, GPUTIME_COPIES, &(struct gputime_record){
		.kind = GPUTIME_SET, .start = m->start, .end = m->end, .device = m->device, .context = m->context,
		.stream = m->stream, .correlation = m->correlation, .bytes = m->bytes,
	}, NULL);
}

static const struct { uint32_t kind, want, first, last; } calls[] = {
#define RANGE(kind, which, first, last) { CUPTI_KIND_##kind, CALLS_##which, first, last },
	CUPTI_CALLS(RANGE)
#undef RANGE
};

/* Returns what wants it: a bit of enum gputime_want; 0: nothing. */
static unsigned call_want(const struct cupti_call *call)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (call->kind == calls[i].kind && call->function >= calls[i].first && call->function <= calls[i].last)
			return calls[i].want;
	return 0;
}

static void put_call(struct cupti *c, const struct cupti_call *call)
{
	uint32_t *last = &c->last_calls[call->correlation % LAST_CALLS];
	const unsigned want = call_want(call);

	if (!want || *last == call->correlation || !call->start)
		return;
	*last = call->correlation;
	put_each(c, want, &(struct gputime_record){
		.kind = GPUTIME_CALL, .call = { call->start, call->end, call->thread, call->correlation },
	}, NULL);
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
	case CUPTI_KIND_RUNTIME:
	case CUPTI_KIND_DRIVER:
		put_call(c, (const void *)record);
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
	if (!buffer || c->to->pid != getpid())	/* a child has not inherited the memory */
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
	c->library = open_library(c);
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

static const uint64_t CALL_KINDS = 1ull << CUPTI_KIND_RUNTIME | 1ull << CUPTI_KIND_DRIVER;

/* A bit for each enum cupti_kind. */
static uint64_t kinds_of(const struct gputime *g, unsigned want)
{
	const bool whole = !(want & GPUTIME_NODES) || g->control->whole_graphs;
	uint64_t kinds = 0;

	if (want & GPUTIME_KERNELS)
		kinds |= 1ull << CUPTI_KIND_CONCURRENT_KERNEL | (whole ? 1ull << CUPTI_KIND_GRAPH_TRACE : 0);
	if (want & GPUTIME_COPIES)
		kinds |= 1ull << CUPTI_KIND_MEMCPY | 1ull << CUPTI_KIND_MEMCPY2 | 1ull << CUPTI_KIND_MEMSET;
	if (want & CALLS)
		kinds |= CALL_KINDS;
	return kinds;
}

/* The listed functions alone, if CUPTI can: a program makes many other calls.  An older one does not know them all. */
static bool enable_calls(struct cupti *c, unsigned want, bool enable)
{
	bool any = false;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		for (uint32_t id = calls[i].first; calls[i].want & want && id <= calls[i].last; id++)
			any |= !(calls[i].kind == CUPTI_KIND_RUNTIME ? c->cuptiActivityEnableRuntimeApi(id, enable) :
								       c->cuptiActivityEnableDriverApi(id, enable));
	return any;
}

/* Return true if CUPTI needs no kinds for them. */
static bool set_calls(struct cupti *c, unsigned want)
{
	if (!c->cuptiActivityEnableRuntimeApi || !c->cuptiActivityEnableDriverApi)
		return !want;
	if (c->calls & ~want)
		enable_calls(c, c->calls & ~want, false);
	if (want & ~c->calls && !enable_calls(c, want & ~c->calls, true))
		return false;
	c->calls = want;
	return true;
}

/* Enables what is wanted, and disables the rest.  Returns a CUptiResult. */
static int set_kinds(struct cupti *c, unsigned want)
{
	uint64_t kinds = kinds_of(c->to, want);
	int r = 0;

	if (set_calls(c, want & CALLS))
		kinds &= ~CALL_KINDS;
	for (int kind = 0; kind < 64; kind++) {
		const uint64_t bit = 1ull << kind;

		if (kinds & bit && !(c->kinds & bit) && !r) {
			r = c->cuptiActivityEnable(kind);
			c->kinds |= r ? 0 : bit;
		} else if (!(kinds & bit) && c->kinds & bit) {
			c->cuptiActivityDisable(kind);
			c->kinds &= ~bit;
		}
	}
	c->to->control->whole_graphs |= c->kinds >> CUPTI_KIND_GRAPH_TRACE & 1;
	return r;
}

static int enable(struct gputime *g, struct cupti *c, unsigned want)
{
	int r = c->cuptiActivityRegisterCallbacks(buffer_wanted, buffer_filled);

	/* of calls: as gettid(2) has it */
	if (c->cuptiSetThreadIdType)
		c->cuptiSetThreadIdType(CUPTI_THREAD_SYSTEM);
	/* It cannot be switched off again: only for a program that is measured from its start.  GPUs before Blackwell refuse. */
	if (!r && g->whole && c->cuptiActivityEnableHWTrace)
		c->cuptiActivityEnableHWTrace(1);
	r = r ? r : set_kinds(c, want);
	if (r)
		set_kinds(c, 0);
	return r;
}

/* CUPTI's may be the time of day, which is corrected.  The thread may lose the CPU between two of ours: the quickest try counts. */
static void note_clock(struct gputime *g, struct cupti *c)
{
	uint64_t least = UINT64_MAX, before, by_cupti, took;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		before = clock_ns();
		if (c->cuptiGetTimestamp(&by_cupti))
			return;
		took = clock_ns() - before;
		if (took >= least)
			continue;
		least = took;
		g->control->clock = before + took / 2 - by_cupti;
	}
}

static void start(struct gputime *g, unsigned want)
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
		g->retry = r == CUPTI_OTHER_SUBSCRIBER ? clock_ns() + RETRY_NS : 0;	/* … but the other one may end */
		say(g, r == CUPTI_OTHER_SUBSCRIBER ? GPUTIME_IN_USE : GPUTIME_REFUSED, r);
		return;
	}
	c->names = c->names ? c->names : calloc(TABLE, sizeof(*c->names));
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

/* CUPTI may have some of the buffers yet. */
static void free_buffers(struct cupti *c)
{
	pthread_mutex_lock(&c->lock);
	c->made -= c->nbuffers;
	while (c->nbuffers)
		free(c->buffers[--c->nbuffers]);
	pthread_mutex_unlock(&c->lock);
}

static void stop(struct gputime *g)
{
	struct cupti *c = g->cupti;

	g->want = 0;
	g->retry = 0;
	if (c->subscriber) {
		set_kinds(c, 0);
		c->cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
		c->cuptiUnsubscribe(c->subscriber);
		c->subscriber = NULL;
		free_buffers(c);
	}
	say(g, GPUTIME_OFF, 0);
}

void activity_want(struct gputime *g, unsigned want)
{
	int r = 0;

	if (g->want && !want)
		stop(g);
	else if (want && !(g->want && g->cupti->subscriber))
		start(g, want);
	else if (want != g->want)
		r = set_kinds(g->cupti, want);
	g->want = want;
	if (r)
		say(g, GPUTIME_IS_ON, r);	/* the others stay */
}

void activity_flush(struct gputime *g, bool all)
{
	struct cupti *c = g->cupti;

	if (!c || !c->subscriber)
		return;
	note_clock(g, c);
	c->cuptiActivityFlushAll(all ? CUPTI_FLUSH_FORCED : 0);
}

void activity_serve(struct gputime *g, int tool, const struct gputime_ring *ring, bool another)
{
	struct gputime_tool *t = &g->control->tools[tool];
	struct cupti *c = g->cupti;

	if (c)
		pthread_mutex_lock(&c->lock);
	g->rings[tool] = *ring;
	if (another)
		t->first = t->written;
	for (unsigned i = 0; another && c && c->names && i < TABLE; i++)
		c->names[i].told &= ~(1u << tool);
	if (c)
		pthread_mutex_unlock(&c->lock);
}
