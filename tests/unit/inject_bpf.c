// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* native: runs the programs of cudamemcpysize that agent/bpf makes, by hand, on the memory that a tool makes of the real
 * BPF object, and prints what fails. */
#define _GNU_SOURCE
#pragma GCC diagnostic ignored "-Wredundant-decls"	/* agent/inject/programs.h is for code without a C library */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "abi/aggregate_group.h"
#include "abi/bytes.h"
#include "abi/device.h"
#include "abi/call_filter.h"
#include "abi/launch.h"
#include "abi/pinned.h"
#include "abi/lost.h"
#include "abi/python_frames.h"
#include "abi/shares.h"
#include "abi/stack_frames.h"
#include "api/cuda_api.h"
#include "machine/call.h"
#include "machine/stub_frame.h"
#include "agent/bpf/helpers.h"
#include "shmmap/create.h"
#include "cudamemcpysize.skel.h"

/* What agent/inject has. */
__thread struct inject_now inject_now;

__u64 inject_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

char *inject_own(__u32 index)
{
	static char *own[INJECT_THREADS];

	if (!own[index])
		own[index] = calloc(1, 1 << 20);
	return own[index] + INJECT_REST;
}

static int failures;

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	printf("not so: %s\n", what);
	failures++;
}

static int (*program(const char *name))(void *)
{
	for (const struct inject_program *p = inject_programs; p->name; p++)
		if (!strcmp(p->name, name))
			return p->run;
	return NULL;
}

static bool is_dead(__u32 tid)
{
	(void)tid;
	return false;
}

/* As the library does when the tool has let it in. */
static void join(struct shmmap_memory *m)
{
	for (const struct inject_section *s = inject_sections; s->map; s++) {
		struct shmmap_map *map = shmmap_find(&m->shm, s->map);

		if (!map || map->bytes < s->size ||
		    mmap(s->at, s->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, m->fd, map->at - m->shm.base) ==
		    MAP_FAILED) {
			printf("%s cannot be mapped\n", s->map);
			exit(1);
		}
	}
	for (const struct inject_variable *v = inject_variables; v->map; v++)
		*(struct shmmap_map **)v->at = shmmap_find(&m->shm, v->map);
}

static const char comm[16] = "unit";

static void thread_begin(struct shmmap_memory *m)
{
	inject_now = (struct inject_now){ .shm = &m->shm };
	inject_now.thread = shmmap_thread_take(&m->shm, getpid(), gettid(), 8, is_dead, NULL);
	inject_now.thread->uid = getuid();
	strcpy(inject_now.thread->comm, comm);
	inject_now.comm = comm;
	inject_now.own = inject_own(inject_now.thread - m->shm.threads);
}

/* A call of cudaMemcpy() as the stub makes it: entry and return.  Returns what the entry did. */
static int copy(int (*session)(void *), unsigned long bytes, int kind, long result)
{
	struct { struct stub_frame stub; char caller[64]; } on_stack = { .stub.return_address = 0x1234 };
	unsigned long entry = (unsigned long)on_stack.caller - CALL_POPS;
	machine_regs *regs = &on_stack.stub.regs;
	int skip;

	PT_REGS_PARM1(regs) = 1;
	PT_REGS_PARM2(regs) = 2;
	PT_REGS_PARM3(regs) = bytes;
	PT_REGS_PARM4(regs) = kind;
	PT_REGS_IP(regs) = 0x5678;
	PT_REGS_SP(regs) = entry;

	inject_now.cookie = CUDA_ID_cudaMemcpy;
	inject_now.func_ip = 0x5678;
	skip = session(regs);
	if (skip)
		return skip;
	*(volatile __u64 *)&on_stack.stub.mark = INJECT_STUB_MAGIC ^ entry;
	stub_returned(&on_stack.stub);
	PT_REGS_RC(regs) = result;
	session(regs);
	return skip;
}

/* The tables of counts: elements of each lane, and what is counted while another thread takes an element. */
struct counts { const struct shmmap_map *slots; struct shmmap_map *rest; };

static void count_in(struct aggregate_values *all, const struct aggregate_values *v)
{
	for (int j = 0; j < HIST_SLOTS; j++)
		all->hist.slots[0] += v->hist.slots[j];
	all->sum += v->sum;
	all->failed += v->failed;
	memcpy(all->comm, v->comm, sizeof(all->comm));
}

/* What is counted of host-to-device copies, all in slot 0. */
static struct aggregate_values counted(const struct counts *counts)
{
	struct aggregate_values all = { .failed = 0 };
	const struct shmmap_map *slots = counts->slots;
	struct aggregate_key key, *before = NULL;

	for (__u32 i = 0; i < slots->max_entries; i++) {
		const struct aggregate_slot *s = (void *)(slots->at + (__u64)i * slots->stride);

		if (s->slot.state == SLOT_TAKEN && s->key.key == 1)
			count_in(&all, &s->values);
	}
	for (; !shmmap_next(counts->rest, before, &key); before = &key)
		if (key.key == 1)
			count_in(&all, shmmap_lookup(counts->rest, &key, 0));
	return all;
}

/* The first ones have lanes of their own, the others share some. */
enum { THREADS = SLOT_OWN_LANES + 7, COPIES = 300007 /* so many that threads run at the same time */ };

struct many { struct shmmap_memory *m; int (*session)(void *); pthread_barrier_t begun; };

static void *copies(void *arg)
{
	struct many *many = arg;

	thread_begin(many->m);
	pthread_barrier_wait(&many->begun);	/* no element is another thread's that has ended */
	for (int i = 0; i < COPIES; i++)
		copy(many->session, 100, 1, 0);
	return NULL;
}

static void check_threads(struct shmmap_memory *m, int (*session)(void *), const struct counts *counts)
{
	struct many many = { .m = m, .session = session };
	struct aggregate_values before = counted(counts), after;
	pthread_t thread[THREADS];

	pthread_barrier_init(&many.begun, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, copies, &many);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	after = counted(counts);
	check(after.hist.slots[0] - before.hist.slots[0] == THREADS * COPIES, "23 threads' copies are counted");
	check(after.sum - before.sum == THREADS * COPIES * 100ull, "and their bytes");
}

/* A page, and behind it none. */
static void check_reads(void)
{
	const int size = getpagesize();
	char *page = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), text[16];
	__u64 word = 1;

	munmap(page + size, size);
	strcpy(page + size - 4, "abc");
	inject_now.pages = 0;
	check(!bpf_probe_read_user(&word, 8, page + size - 8) && word, "the last word of a page is read");
	check(bpf_probe_read_user(&word, 8, page + size - 4) && !word, "a word that ends behind it is not, and is 0");
	check(bpf_probe_read_user(&word, 8, (void *)8) && bpf_probe_read_user(&word, 8, (void *)-8l) &&
	      bpf_probe_read_user(&word, 8, (void *)(1ul << 63)), "nor what no address is");
	check(bpf_probe_read_user_str(text, sizeof(text), page + size - 4) == 4 && !strcmp(text, "abc"), "a string at a page's end");
	page[size - 1] = 'd';
	check(bpf_probe_read_user_str(text, sizeof(text), page + size - 4) < 0 && !text[0], "one that goes on behind it is not read");
	check(bpf_probe_read_user_str(text, 4, page + size - 4) == 4 && !strcmp(text, "abc"), "but as much as fits is");
	mprotect(page, size, PROT_NONE);
	inject_now.pages = 0;
	check(bpf_probe_read_user(&word, 8, page), "a page that may not be read");
	munmap(page, size);
}

static void __attribute__((noinline)) check_stack(void)
{
	__u64 frames[16] = { 0 };
	machine_regs regs = { 0 };
	long n;

	PT_REGS_IP(&regs) = 0x7777;
	PT_REGS_FP(&regs) = (unsigned long)__builtin_frame_address(0);
	PT_REGS_SP(&regs) = (unsigned long)&frames;
	n = bpf_get_stack(&regs, frames, sizeof(frames), BPF_F_USER_STACK);
	check(n >= 16 && frames[0] == 0x7777, "a stack begins with the instruction");
	/* this program is one with the library, whose own addresses are no frames: so main() is not there */
	check(bpf_get_stack(&regs, frames, 8, BPF_F_USER_STACK | 1) != 8 || frames[0] != 0x7777, "which can be left out");
	PT_REGS_FP(&regs) = 8;
	check(!bpf_get_stack(&regs, frames, sizeof(frames), BPF_F_USER_STACK | 1), "a stack that cannot be read has no more");
}

/* On the stack that the thread is on, and elsewhere. */
static void __attribute__((noinline)) check_armed(void)
{
	struct { struct stub_frame stub; char caller[64]; } here = { .stub.mark = 0 }, *there = malloc(sizeof(*there));
	const __u64 entry = (unsigned long)here.caller - CALL_POPS, other = (unsigned long)there->caller - CALL_POPS;
	const __u64 sp = entry - 8;	/* what is deeper than the programs that have run is unchecked */
	volatile __u64 *mark = &here.stub.mark;

	check(!inject_armed(entry, sp), "a stub without a mark has returned");
	*mark = INJECT_STUB_MAGIC ^ entry;
	check(inject_armed(entry, sp), "one with its mark has not");
	check(!inject_armed(entry, inject_self.stack_low - 8), "but from an unchecked part of the stack that is not known");
	check(!inject_armed(entry, entry), "which is no outer one of the same place");
	there->stub.mark = INJECT_STUB_MAGIC ^ other;
	check(!inject_armed(other, other - 4096) && !inject_armed(other, sp), "nor is one elsewhere than on the thread's stack");
	check(!inject_armed(~0ull, sp) && !inject_armed(8, sp), "or nowhere");
	free(there);
}

static double ns_of(int (*session)(void *), int rounds)
{
	clock_t start = clock();

	for (int i = 0; i < rounds; i++)
		copy(session, 4096, 1, 0);
	return (clock() - start) * (1e9 / CLOCKS_PER_SEC) / rounds;
}

int main(int argc, char **argv)
{
	static const struct shmmap_function functions[] = { { "cudaMemcpy", CUDA_ID_cudaMemcpy, 0, INJECT_RETURNS } };
	struct cudamemcpysize_bpf *skel = cudamemcpysize_bpf__open();
	struct aggregate_values v;
	struct shmmap_memory *m;
	struct counts counts;
	int (*session)(void *);

	if (!skel)
		return 1;
	bpf_map__set_max_entries(skel->maps.aggregate_slots, AGGREGATE_SLOTS * (libbpf_num_possible_cpus() + SLOT_OWN_LANES));
	skel->rodata->copy_min = 17;
	m = shmmap_create(skel->obj, functions, 1);
	if (!m) {
		perror("shmmap_create");
		return 1;
	}
	join(m);
	counts = (struct counts){ shmmap_of(m, skel->maps.aggregate_slots), shmmap_of(m, skel->maps.aggregates) };
	session = program("cuda_session");
	check(session && !strcmp(inject_name, "cudamemcpysize"), "the table has the program");
	thread_begin(m);
	inject_now.stack = (unsigned long)argv;
	check(!copy(session, 4096, 1, 0), "a copy's return is wanted");
	check(!copy(session, 1000, 1, 0), "and the next one's");
	check(!copy(session, 1000, 2, 0), "and one in another direction");
	check(!copy(session, 5, 1, 0), "and one that is too small");
	check(!copy(session, 77, 1, 2), "and one that fails");
	v = counted(&counts);
	check(v.hist.slots[0] == 2 && v.sum == 5096 && v.failed == 1, "two copies of 5096 bytes are counted, and a failure");
	check(!strcmp(v.comm, "unit"), "with the thread's comm");
	check(skel->data_lost->lost[LOST_RETURN] == 0, "nothing is lost");
	check_threads(m, session, &counts);
	check_reads();
	check_stack();
	check_armed();
	if (argc > 1 && !strcmp(argv[1], "time"))
		printf("%.1f ns\n", ns_of(session, 5000000));
	shmmap_destroy(m);
	cudamemcpysize_bpf__destroy(skel);
	printf("%d failures\n", failures);
	return failures != 0;
}
