/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* nofp [-n N] [-r RATE] [-c malloc|copy|launch|sync] CASE...: calls CUDA in stacks without frame pointers, once a
 * case, or N times, and prints a JSON object a call: what the stack is (nofp.h).  `nofp list` prints the
 * cases, `nofp all` runs those that can go on; wait: prints "ready" and reads a line.  Built with -fomit-frame-pointer in variants: stacks.mk.
 *	{"case":"plain","pid":1,"tid":1,"size":1000003,"levels":[{"sym":"three","start":"0x11d0",
 *	 "ret":"0x1240","file":"/.../nofp"},...],"ends":"main"}
 * levels, the innermost first: ret and file are where that function returns to, as addresses of the
 * file; in another file where others are between it and the next level.  ends: main or thread, where
 * the stack must end, or the name of a library without unwind tables, at which it may.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "nofp.h"
#include "tests/trap.h"

#ifdef NOFP_STATIC
/* Nothing of CUDA is linked: the tools find the function by its name. */
__attribute__((noipa)) int cudaMalloc(void **p, size_t size)
{
	static char memory;

	*p = &memory + size;
	return 0;
}
__attribute__((noipa)) int cudaFree(void *p)
{
	return !p;
}
#define call_cuda(p, size) cudaMalloc(p, size)
#else
#include "cuda_api.h"
#endif

__thread const struct level *innermost;
static const char *case_name, *case_ends = "main";
static char call = 'm';
static int times = 1, rate;
static volatile int sink;

/* ---- the truth */

struct where {
	uintptr_t at, base;
	char file[4096];
};

static int find(struct dl_phdr_info *info, size_t size, void *data)
{
	struct where *w = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && w->at - info->dlpi_addr - p->p_vaddr < p->p_memsz) {
			w->base = info->dlpi_addr;
			snprintf(w->file, sizeof(w->file), "%s", info->dlpi_name);
			return 1;
		}
	}
	return 0;
}

static void locate(struct where *w, const void *at)
{
	char path[4096];
	ssize_t n;

	*w = (struct where){ .at = (uintptr_t)at };
	if (!dl_iterate_phdr(find, w))
		strcpy(w->file, "?");
	if (!*w->file && (n = readlink("/proc/self/exe", w->file, sizeof(w->file) - 1)) > 0)
		w->file[n] = '\0';
	else if (realpath(*w->file ? w->file : program_invocation_name, path))	/* no /proc */
		strcpy(w->file, path);
}

static void print_truth(size_t size)
{
	const char *comma = "";
	static struct where w;

	printf("{\"case\":\"%s\",\"pid\":%d,\"tid\":%d,\"size\":%zu,\"levels\":[", case_name, getpid(),
	       gettid(), size);
	for (const struct level *l = innermost; l; l = l->outer, comma = ",") {
		printf("%s{\"sym\":\"%s\"", comma, l->sym);
		if (l->start) {
			locate(&w, l->start);
			printf(",\"start\":\"0x%lx\"", w.at - w.base);
		}
		if (l->ret) {
			locate(&w, l->ret);
			printf(",\"ret\":\"0x%lx\",\"file\":\"%s\"", w.at - w.base, w.file);
		}
		putchar('}');
	}
	printf("],\"ends\":\"%s\"}\n", case_ends);
	fflush(stdout);
}

#ifndef NOFP_STATIC
/* in the frame of allocate() */
__attribute__((always_inline)) static inline int call_cuda(void **p, size_t size)
{
	static char from[64], to[64];

	switch (call) {
	case 'c':
		return cudaMemcpy(to, from, sizeof(to), cudaMemcpyHostToHost);
	case 'l':
		cudaLaunchKernel((const void *)allocate, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, NULL);
		return 0;
	case 's':
		return cudaDeviceSynchronize();
	}
	return cudaMalloc(p, size);
}
#endif

FRAME int allocate(void)
{
	static size_t size = 1000002;
	void *p;
	int ret;
	ENTER(allocate);

	print_truth(++size);
	ret = call_cuda(&p, size);
	LEAVE;
	return ret;
}

/* ---- what a compiler makes */

FRAME static int three(int a)
{
	int ret;
	ENTER(three);

	ret = allocate() + a - a;
	LEAVE;
	return ret;
}

FRAME static int two(int a)
{
	volatile char room[200];
	int ret;
	ENTER(two);

	room[3] = 1;
	ret = three(a) + room[3] - 1;
	LEAVE;
	return ret;
}

FRAME static int one(int a)
{
	volatile long room[3];
	int ret;
	ENTER(one);

	room[1] = a;
	ret = two(a) + room[1] - a;
	LEAVE;
	return ret;
}

static int plain(void)
{
	return one(7);
}

static int through_one(void)
{
	return one(5);
}

FRAME static int ten(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	int ret;
	ENTER(ten);

	ret = one(a + b + c + d + e + f + g + h + i + j);
	LEAVE;
	return ret;
}

/* arguments on the stack */
static int args(void)
{
	return ten(1, 2, 3, 4, 5, 6, 7, 8, sink, sink + 1) + ten(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
}

FRAME static int uses_alloca(int n)
{
	volatile char *room;
	int ret;
	ENTER(uses_alloca);

	room = alloca(n);
	room[n / 2] = 1;
	ret = one(n) + room[n / 2] - 1;
	LEAVE;
	return ret;
}

static int variable(void)
{
	return uses_alloca(77 + sink) + uses_alloca(3001 + sink);
}

/* a realigned stack of variable size: GCC keeps the argument pointer in a register (DRAP) */
FRAME static int aligned(int n, long a, long b, long c, long d, long e, long f)
{
	volatile long long vector[16] __attribute__((aligned(128)));
	volatile char *room;
	int ret;
	ENTER(aligned);

	vector[3] = a + b + c + d + e + f;
	room = alloca(n);
	room[1] = 1;
	ret = one(n) + room[1] - 1 + (int)(vector[3] - (a + b + c + d + e + f));
	LEAVE;
	return ret;
}

static int drap(void)
{
	return aligned(99 + sink, 1, 2, 3, 4, 5, 6);
}

FRAME static int recurse(int n)
{
	volatile char room[24];
	int ret;
	ENTER(recurse);

	room[5] = n;
	ret = (n ? recurse(n - 1) : allocate()) + room[5] - (char)n;
	LEAVE;
	return ret;
}

static int recursion(void)
{
	return recurse(59);
}

FRAME static int recurse_wide(int n)
{
	volatile char room[1000];
	int ret;
	ENTER(recurse_wide);

	room[500] = n;
	ret = (n ? recurse_wide(n - 1) : allocate()) + room[500] - (char)n;
	LEAVE;
	return ret;
}

/* more than 64 KiB in less than 80 frames */
static int deep(void)
{
	return recurse_wide(66);
}

/* No page that is in this buffer as a whole is in memory, whatever stood there before. */
__attribute__((noinline)) static void untouch(char *buffer, size_t size)
{
	uintptr_t page = getpagesize();
	uintptr_t from = ((uintptr_t)buffer + page - 1) & -page, end = ((uintptr_t)buffer + size) & -page;

	if (end <= from || madvise((void *)from, end - from, MADV_DONTNEED)) {
		fprintf(stderr, "nofp: no page of a buffer can be given back\n");
		exit(1);
	}
}

/* a function whose buffer is not used yet */
#define HOLE(name, bytes, inner) \
	FRAME static int name(void) \
	{ \
		char room[bytes]; \
		int ret; \
		ENTER(name); \
\
		untouch(room, sizeof(room)); \
		ret = inner(); \
		LEAVE; \
		return ret; \
	}

static int past_lie(void)
{
	return asm_lie(through_one);
}

HOLE(hole_8k, 8 << 10, through_one)
HOLE(hole_20k, 20 << 10, hole_8k)
HOLE(hole_64k, 64 << 10, hole_20k)
HOLE(hole_1m, 1 << 20, through_one)
HOLE(hole_lie, 20 << 10, past_lie)

__attribute__((cold)) FRAME static int unlikely(int n)
{
	int ret;
	ENTER(unlikely);

	ret = one(n);
	LEAVE;
	return ret;
}

/* what calls a cold function stands in another section, as cold_part.cold */
FRAME static int cold_part(int n)
{
	int ret = 0;
	ENTER(cold_part);

	if (n == 3)
		ret = unlikely(n);
	sink += n;
	sink *= ret + 1;
	LEAVE;
	return ret;
}

static int cold(void)
{
	return cold_part(3);
}

static int compare(const void *a, const void *b)
{
	static int calls;
	ENTER(compare);

	if (!calls++)
		one(3);
	LEAVE;
	return *(const int *)a - *(const int *)b;
}

/* the C library in between */
static int sorted(void)
{
	int numbers[7] = { 5, 3, 7, 2, 11, 13, 1 };

	qsort(numbers, 7, sizeof(int), compare);
	return 0;
}

static jmp_buf back;

FRAME static void jump(void)
{
	ENTER(jump);
	one(2);
	LEAVE;
	longjmp(back, 1);
}

static int jumped(void)
{
	const struct level *volatile here = innermost;

	if (!setjmp(back))
		jump();
	innermost = here;
	return one(1);
}

/* ---- hand-written */

#define ASM_CASE(name) \
	FRAME static int case_##name(int n) \
	{ \
		volatile char *room; \
		int ret; \
		ENTER(case_##name); \
		ENTER_OTHER(#name, name); \
		\
		room = alloca(n);	/* the outer frame is found by the frame pointer only */ \
		room[1] = 1; \
		ret = name(through_one) + room[1] - 1; \
		LEAVE_OTHER; \
		LEAVE; \
		return ret; \
	} \
	static int run_##name(void) { return case_##name(31 + sink); }
ASM_CASE(asm_cfa)
ASM_CASE(asm_expression)
ASM_CASE(asm_frame)
ASM_CASE(asm_register)
ASM_CASE(asm_moves)
ASM_CASE(asm_silent)

/* ---- signals, other stacks, threads */

static void on_signal(int sig)
{
	ENTER(on_signal);
	(void)sig;
	one(4);
	LEAVE;
}

FRAME static int signalled(int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };
	ENTER(signalled);

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	LEAVE;
	return 0;
}

static int in_signal(void)
{
	return signalled(0);
}

/* the instruction after which the handler runs is a function's first: no call has led here */
int trap_first(void);

static void on_trap(int sig, siginfo_t *info, void *context)
{
	ENTER(on_trap);
	(void)sig, (void)info;
	one(4);
	*trap_pc(context) += TRAP_SIZE;
	LEAVE;
}

FRAME static int trapped(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	ENTER(trapped);
	ENTER_OTHER("trap_first", trap_first);

	sigaction(SIGILL, &action, NULL);
	trap_first();
	LEAVE_OTHER;
	LEAVE;
	return 0;
}

static int first_instruction(void)
{
	return trapped();
}

static int altstack(void)
{
	stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	int ret;

	sigaltstack(&stack, NULL);
	ret = signalled(SA_ONSTACK);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return ret;
}

static ucontext_t here, there;

static void on_context(void)
{
	innermost = NULL;	/* nobody called */
	{
		ENTER(on_context);
		one(6);
		LEAVE;
	}
}

static int context(void)
{
	const struct level *outer = innermost;

	case_ends = "context";
	getcontext(&there);
	there.uc_stack.ss_sp = malloc(1 << 16);
	there.uc_stack.ss_size = 1 << 16;
	there.uc_link = &here;
	makecontext(&there, on_context, 0);
	swapcontext(&here, &there);
	innermost = outer;
	return 0;
}

/* A stack of 32 KiB next to other memory, where asm_lie says that its caller is. */
static void on_small_stack(void)
{
	innermost = NULL;
	past_lie();
}

static int beyond(void)
{
	enum { SIZE = 32 << 10 };
	char *stack = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	case_ends = "context";
	memset(stack, 1, 2 * SIZE);
	mprotect(stack + SIZE, SIZE, PROT_READ);	/* a mapping of its own */
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = SIZE;
	there.uc_link = &here;
	makecontext(&there, on_small_stack, 0);
	return swapcontext(&here, &there);
}

static void *on_thread(void *unused)
{
	ENTER(on_thread);
	one(8);
	LEAVE;
	return unused;
}

static int thread(void)
{
	pthread_t t;

	case_ends = "thread";
	return pthread_create(&t, NULL, on_thread, NULL) || pthread_join(t, NULL);
}

static void *on_holes(void *unused)
{
	ENTER(on_holes);
	hole_64k();
	LEAVE;
	return unused;
}

static int thread_holes(void)
{
	pthread_t t;

	case_ends = "thread";
	return pthread_create(&t, NULL, on_holes, NULL) || pthread_join(t, NULL);
}

static void wait_until(const struct timespec *begin, long long ns)
{
	struct timespec t = { begin->tv_sec, begin->tv_nsec + ns % 1000000000 };

	t.tv_sec += ns / 1000000000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Two threads, that each make all their calls with one stack and one size, whose truth is told once. */
FRAME static int many(size_t size)
{
	struct timespec begin;
	void *p;
	int ret = 0;
	ENTER(many);

	flockfile(stdout);
	print_truth(size);
	funlockfile(stdout);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < times && !ret; i++) {
		ret = cudaMalloc(&p, size);
		cudaFree(p);
		if (rate && i % 64 == 63)
			wait_until(&begin, i * (1000000000LL / rate));
	}
	LEAVE;
	return ret;
}

FRAME static int many_deep(size_t size, int n)
{
	volatile char room[40];
	int ret;
	ENTER(many_deep);

	room[n] = 1;
	ret = (n ? many_deep(size, n - 1) : many(size)) + room[n] - 1;
	LEAVE;
	return ret;
}

static void *on_storm(void *size)
{
	intptr_t ret;
	ENTER(on_storm);

	ret = many_deep((size_t)size, 20);
	LEAVE;
	return (void *)ret;
}

static int storm(void)
{
	pthread_t t[2];
	void *failed = NULL, *ret;

	case_ends = "thread";
	for (size_t i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, on_storm, (void *)(4096 + i)))
			return 1;
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], &ret);
		failed = failed ? failed : ret;
	}
	return !!failed;
}

/* ---- libraries */

#ifndef NOFP_STATIC
/* loads ../lib/NAME of this program's folder, gone: from a copy that is gone then; 2: and unloads it */
FRAME static int in_library(const char *name, int gone)
{
	char path[4200], copy[] = "/tmp/nofp-XXXXXX";
	struct where w;
	int (*lib_call)(call_fn), from, to, ret;
	void *lib;
	ENTER(in_library);

	locate(&w, (const void *)in_library);
	*strrchr(w.file, '/') = '\0';
	snprintf(path, sizeof(path), "%s/../lib/%s", w.file, name);
	if (gone) {
		from = open(path, O_RDONLY);
		to = mkstemp(copy);
		while (sendfile(to, from, NULL, 1 << 20) > 0)
			;
		close(from);
		close(to);
	}
	lib = dlopen(gone ? copy : path, RTLD_NOW);
	if (gone)
		unlink(copy);
	if (!lib) {
		fprintf(stderr, "nofp: %s\n", dlerror());
		exit(1);
	}
	*(void **)&lib_call = dlsym(lib, "lib_call");
	{
		struct level call = { "lib_call", NULL, NULL, innermost };
		struct level inner = { "lib_inner", NULL, NULL, &call };

		innermost = &inner;
		ret = lib_call(through_one);
		innermost = call.outer;
	}
	if (gone > 1)
		dlclose(lib);
	LEAVE;
	return ret;
}

static int library(void)
{
	return in_library("libnofp.so", 0);
}

static int deleted(void)
{
	return in_library("libnofp.so", 1);
}

/* two libraries take turns at one address */
static int reloaded(void)
{
	static int n;

	return in_library(n++ & 1 ? "libnofp-far.so" : "libnofp.so", 2);
}

static int bare(void)
{
	case_ends = "libbare.so";
	return in_library("libbare.so", 0);
}

static void from_ffi(void)
{
	ENTER(from_ffi);
	one(9);
	LEAVE;
}

/* libffi's ABI, so that its headers need not be installed */
static int ffi(void)
{
	void *lib = dlopen("libffi.so.8", RTLD_NOW);
	int (*prep)(void *, int, unsigned, void *, void **);
	void (*call)(void *, void (*)(void), void *, void **);
	char cif[256];
	long ret;

	if (!lib)
		lib = dlopen("libffi.so.7", RTLD_NOW);
	if (!lib) {
		fprintf(stderr, "nofp: %s\n", dlerror());
		return 1;
	}
	*(void **)&prep = dlsym(lib, "ffi_prep_cif");
	*(void **)&call = dlsym(lib, "ffi_call");
	if (prep(cif, 2 /* FFI_UNIX64 */, 0, dlsym(lib, "ffi_type_void"), NULL))
		return 1;
	call(cif, from_ffi, &ret, NULL);
	return 0;
}
#endif

/* ---- the ends of a program */

FRAME __attribute__((noreturn)) static void last_call(void)
{
	ENTER(last_call);
	one(10);
	exit(0);
}

/* its call of last_call is its last instruction: the return address is another function's */
FRAME __attribute__((noreturn)) static void noreturn_(void)
{
	ENTER(noreturn_);
	last_call();
}

static int noreturn(void)
{
	noreturn_();
}

static void on_exit_handler(void)
{
	innermost = NULL;
	{
		ENTER(on_exit_handler);
		one(11);
		LEAVE;
	}
}

static int at_exit(void)
{
	atexit(on_exit_handler);
	exit(0);
}

__attribute__((constructor)) static void constructor(void)
{
	if (!getenv("NOFP_CONSTRUCTOR"))
		return;
	case_name = "constructor";
	ENTER(constructor);
	one(12);
	LEAVE;
}

static const struct a_case {
	const char *name;
	int (*run)(void);
	int apart;	/* ends the program, or is much */
} cases[] = {
	{ "plain", plain, 0 }, { "args", args, 0 }, { "alloca", variable, 0 }, { "drap", drap, 0 },
	{ "recursion", recursion, 0 }, { "deep", deep, 0 }, { "cold", cold, 0 }, { "qsort", sorted, 0 },
	{ "longjmp", jumped, 0 }, { "asm_cfa", run_asm_cfa, 0 }, { "asm_expression", run_asm_expression, 0 },
	{ "asm_frame", run_asm_frame, 0 }, { "asm_register", run_asm_register, 0 },
	{ "asm_moves", run_asm_moves, 0 }, { "asm_silent", run_asm_silent, 0 }, { "signal", in_signal, 0 },
	{ "trap", first_instruction, 0 }, { "altstack", altstack, 0 }, { "context", context, 0 },
	{ "thread", thread, 0 },
#ifndef NOFP_STATIC
	{ "library", library, 0 }, { "deleted", deleted, 0 }, { "bare", bare, 0 }, { "ffi", ffi, 0 },
	{ "reloaded", reloaded, 1 },
#endif
	{ "storm", storm, 1 }, { "holes", hole_64k, 1 }, { "thread_holes", thread_holes, 1 },
	{ "large_hole", hole_1m, 1 }, { "lie_hole", hole_lie, 1 }, { "lie_beyond", beyond, 1 },
	{ "noreturn", noreturn, 1 }, { "exit", at_exit, 1 },
};
enum { NUM_CASES = sizeof(cases) / sizeof(*cases) };

FRAME static int run(const struct a_case *c, int n)
{
	const struct level *outer = innermost;
	int ret = 0;
	ENTER(run);

	while (n-- && !ret) {
		case_name = c->name;
		case_ends = "main";
		if (!strcmp(c->name, "asm_silent"))
			case_ends = "asm_silent";
		ret = c->run();
	}
	innermost = outer;
	return ret;
}

int main(int argc, char **argv)
{
	int ret = 0;
	ENTER(main);

	for (int i = 1; i < argc && !ret; i++) {
		int all = !strcmp(argv[i], "all"), list = !strcmp(argv[i], "list"), known = all || list;

		if (!strcmp(argv[i], "-n") && i + 1 < argc) {
			times = atoi(argv[++i]);
			continue;
		}
		if (!strcmp(argv[i], "-r") && i + 1 < argc) {
			rate = atoi(argv[++i]);
			continue;
		}
		if (!strcmp(argv[i], "-c") && i + 1 < argc) {
			call = *argv[++i];
			continue;
		}
		for (int j = 0; j < NUM_CASES && !ret; j++) {
			int same = !strcmp(argv[i], cases[j].name);

			known |= same;
			if (list)
				puts(cases[j].name);
			else if (same || (all && !cases[j].apart))
				ret = run(&cases[j], cases[j].run == storm ? 1 : times);
		}
		if (!known && !strcmp(argv[i], "wait")) {
			puts("ready");
			fflush(stdout);
			known = getchar();
		}
		if (!known) {
			fprintf(stderr, "nofp: '%s' is no case: nofp list\n", argv[i]);
			return 2;
		}
	}
	return ret;
}
