/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes the records of a program that launches, names, copies and replaces kernels at will, with
 * any variables, and any names in its memory.  The probes' maps, and what is otherwise read from
 * files and processes, are replaced here: -Wl,--wrap. */
#define _GNU_SOURCE
#include <sys/uio.h>
#include <unistd.h>
#include "model/launches.h"
#include "fuzz.h"
#include "proc/vm_read.h"
#include "sym/syms.h"

enum { KEYS = 8, NAMES = 4, PROGRAMS = 8, QUICK = 4, WHATS = LAUNCH_WHAT_MAX - LAUNCH_FIRST };

static struct launch_key keys[KEYS];
static struct launch_count counts[KEYS];
static struct launch_slot quicks[QUICK];
static struct shares shares;
static int nkeys;
static unsigned long long launched;
static char names[NAMES][64];
static bool over[PROGRAMS];	/* ended: sends no more records */

unsigned __wrap_bpf_map__max_entries(const void *map);
int __wrap_libbpf_num_possible_cpus(void);
void *__wrap_bpf_mmap_elements(const void *map);
void __wrap_bpf_munmap_elements(const void *map, void *elements);
int __wrap_bmap_next(const void *map, const void *prev, void *next);
int __wrap_bmap_lookup(const void *map, const void *key, void *value);
int __wrap_bmap_delete(const void *map, const void *key);
const char *__wrap_syms_function(struct syms *s, int pid, unsigned long long addr);
void __wrap_syms_variables(struct syms *s, int pid, const char *end, syms_variable_fn *fn, void *ctx);
bool __wrap_vm_read_string(struct helper_pool *l, int pid, unsigned long long at, char *text, size_t size);
int __wrap_vm_read_words(struct helper_pool *l, int pid, const unsigned long long *at, size_t n,
			 unsigned long long *words);

unsigned __wrap_bpf_map__max_entries(const void *map)
{
	return map ? 0 : QUICK;
}

int __wrap_libbpf_num_possible_cpus(void)
{
	return 1;
}

void *__wrap_bpf_mmap_elements(const void *map)
{
	return map ? NULL : quicks;
}

void __wrap_bpf_munmap_elements(const void *map, void *elements)
{
	CHECK(!map && elements == quicks);
}

static int index_of(const struct launch_key *key)
{
	int i = 0;

	while (i < nkeys && memcmp(&keys[i], key, sizeof(*key)))
		i++;
	return i;
}

int __wrap_bmap_next(const void *map, const void *prev, void *next)
{
	int i = prev ? index_of(prev) + 1 : 0;

	(void)map;
	if (i >= nkeys)
		return -1;
	memcpy(next, &keys[i], sizeof(*keys));
	return 0;
}

int __wrap_bmap_lookup(const void *map, const void *key, void *value)
{
	int i = index_of(key);

	(void)map;
	if (i == nkeys)
		return -1;
	memcpy(value, &counts[i], sizeof(*counts));
	return 0;
}

int __wrap_bmap_delete(const void *map, const void *key)
{
	int i = index_of(key);

	(void)map;
	if (i == nkeys)
		return -1;
	keys[i] = keys[--nkeys];
	counts[i] = counts[nkeys];
	return 0;
}

const char *__wrap_syms_function(struct syms *s, int pid, unsigned long long addr)
{
	(void)s, (void)pid;
	addr -= addr >= (unsigned long)names ? (unsigned long)names : 0;
	return addr % 3 ? NULL : names[addr % NAMES];
}

void __wrap_syms_variables(struct syms *s, int pid, const char *end, syms_variable_fn *fn, void *ctx)
{
	(void)s, (void)pid, (void)end;
	for (int i = 0; i < NAMES; i++)
		fn(ctx, names[i], (unsigned long)names[i]);
}

bool __wrap_vm_read_string(struct helper_pool *l, int pid, unsigned long long at, char *text, size_t size)
{
	const struct iovec here = { text, size - 1 }, there = { (void *)(unsigned long)at, size - 1 };
	ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);

	(void)l;
	text[n < 0 ? 0 : n] = 0;
	return *text;
}

int __wrap_vm_read_words(struct helper_pool *l, int pid, const unsigned long long *at, size_t n,
			 unsigned long long *words)
{
	(void)l;
	for (size_t i = 0; i < n; i++) {
		const struct iovec here = { &words[i], 8 }, there = { (void *)(unsigned long)at[i], 8 };

		words[i] = 0;
		process_vm_readv(pid, &here, 1, &there, 1, 0);
	}
	return 0;
}

static unsigned long long place(unsigned long long n)
{
	return n & 1 ? (unsigned long)names[n / 2 % NAMES] + n / 8 : n;
}

static struct launch_key take_key(struct input *in)
{
	struct launch_key key = { .program = take(in, 1) % PROGRAMS, .pid = getpid() };

	key.func = place(take(in, 1));
	key.stack = take(in, 1) & 1;
	key.kind = take(in, 1) % LAUNCH_KIND_MAX;
	key.generation = take(in, 1) % 3;
	return key;
}

/* Returns the key's element of the array, which it gets if that is free and it has no stack. */
static struct launch_count *count_of(int i)
{
	struct launch_slot *at = &quicks[launch_place(&keys[i]) % QUICK];

	if (keys[i].stack)
		return &counts[i];
	if (at->slot.state == SLOT_TAKEN)
		return memcmp(&at->key, &keys[i], sizeof(*keys)) ? &counts[i] : &at->count;
	at->slot.state = SLOT_TAKEN;
	at->key = keys[i];
	return &at->count;
}

static void launch(struct input *in)
{
	struct launch_key key = take_key(in);
	struct launch_count *c;
	int i = index_of(&key), n = 1 + (take(in, 1) & 3);

	if (i == KEYS || over[key.program])
		return;
	if (i == nkeys) {
		keys[nkeys] = key;
		counts[nkeys++] = (struct launch_count){ .unreported = true };
	}
	c = count_of(i);
	c->launches += n;
	c->failed++;
	c->time++;
	launched += n;
}

/* A fork is the first record of a program, which is a copy of another one. */
static void process_event(struct launches *l, const struct launch_event *from)
{
	struct process_event e = {
		.head = from->head, .program = from->key.program, .parent_program = from->object,
	};

	if (e.head.kind == RECORD_FORK &&
	    (executions_find(l->programs, e.program) || e.parent_program == e.program))
		return;
	over[e.program] = e.head.kind != RECORD_FORK;
	if (e.head.kind == RECORD_FORK)
		launches_record(l, &e, sizeof(e));
	else
		launches_ended(l, &e);
}

/* The record says how long the part after its head is. */
static void record(struct launches *l, struct input *in)
{
	struct { struct launch_event e; char tail[LAUNCH_NAME]; } r = { .e.key = take_key(in) };
	size_t tail = take(in, 1);
	int what;

	r.e.subject = place(take(in, 1));
	r.e.object = place(take(in, 1));
	r.e.owner = place(take(in, 1));
	r.e.time = take(in, 1);
	what = take(in, 1) % (WHATS + 4);
	r.e.head.pid = r.e.key.pid;
	r.e.head.kind = what <= WHATS ? LAUNCH_FIRST + what : RECORD_FORK + what - WHATS - 1;
	r.e.head.frames = take(in, 1);
	tail = tail < in->left ? tail : in->left;
	memcpy(r.tail, in->at, tail);
	in->at += tail;
	in->left -= tail;
	if (over[r.e.key.program])
		return;
	if (record_is_process_event(&r.e.head))
		process_event(l, &r.e);
	else
		launches_record(l, &r, sizeof(r.e) + tail);
}

static void check(struct launches *l, enum launches_by by)
{
	unsigned long long sum = 0;
	struct launch_row *rows;
	size_t n;

	launches_count(l);
	rows = launches_rows(l, by, &n);
	for (size_t i = 0; i < n; i++) {
		const struct kernel *k = rows[i].kernel;

		sum += rows[i].total.launches;
		CHECK(rows[i].last.launches <= rows[i].total.launches && rows[i].pid == getpid());
		CHECK(!k || (k->full && k->brief));
		CHECK(strlen(rows[i].comm) < 16);
	}
	CHECK(launches_total(l) == launched);
	CHECK(sum <= launched && (!l->keep || sum == launched));
	free(rows);
}

/* Ends all programs: the probes' maps must be empty then. */
static void end_all(struct launches *l)
{
	for (int i = 0; i < PROGRAMS; i++) {
		struct process_event e = { .head = { getpid(), RECORD_EXIT, 0 }, .program = i };

		launches_ended(l, &e);
	}
	l->keep = false;
	launches_count(l);
	CHECK(!nkeys);
	for (int i = 0; i < QUICK; i++)
		CHECK(quicks[i].slot.state == SLOT_FREE);
	launches_count(l);
	CHECK(!l->programs->all && !l->counters.all && !l->counters.retired);
	memset(over, 0, sizeof(over));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct launches *l = launches_new(NULL, NULL, NULL, &shares, take(&in, 1) & 1);

	launched = 0;
	for (int i = 0; i < NAMES; i++) {
		char *name = take_text(&in);

		snprintf(names[i], sizeof(names[i]), "%s", name);
		free(name);
	}
	while (in.left) {
		int what = take(&in, 1) % 8;

		if (what < 3)
			launch(&in);
		else if (what < 7)
			record(l, &in);
		else if (take(&in, 1) & 1)
			launches_tick(l);
		else
			check(l, take(&in, 1) % (LAUNCHES_BY_PROCESS + 1));
	}
	check(l, LAUNCHES_BY_FULL);
	end_all(l);
	launches_free(l);
	return 0;
}
