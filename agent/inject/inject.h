/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The library that the dynamic linker loads into traced programs for --attach inject (rtld-audit(7)): it gives the CUDA
 * functions stubs, which run the tool's BPF programs.
 *
 * When a library with such functions is mapped, and before anything is bound to it, its symbol table in memory gets the
 * stubs' addresses.  So each lookup of a function by its name finds the stub: lazy and eager binding, function pointers in
 * data, calls without a PLT, dlsym(), dlvsym(), also in C libraries whose audit interface does not report all these.
 * Bindings to other libraries cost nothing. */
#ifndef AGENT_INJECT_INJECT_H
#define AGENT_INJECT_INJECT_H
#include <link.h>
#include <stdbool.h>
#include <linux/types.h>
#include "abi/agent_inject.h"
#include "agent/inject/instance.h"
#include "agent/inject/programs.h"
#include "agent/inject/stub.h"
#include "base/overflow_uid.h"
#include "shmmap/shmmap.h"

#define EXPORTED __attribute__((visibility("default")))

struct stub_frame;
struct ucred;
struct __kernel_timespec;
typedef int clock_fn(int clock, struct __kernel_timespec *t);
typedef int program_fn(void *ctx);

enum { SOCKET_NAME = 108, ADDRESSES = 4 * STUBS, NO_FUNCTION = 0xffff };

enum connection {
	UNCONNECTED,		/* until a CUDA library is there */
	CONNECTED,
	REFUSED,		/* permanently */
};

/* The stubs depend on the order of the first two: agent/inject/stub.h. */
struct stub {
	__u64 real;		/* the function that it replaces */
	const __u32 *flags;	/* shared: with INJECT_OFF, the function is only called */
	__u64 object;		/* the link_map of its library */
	const struct inject_function *in;
	__u32 id, function;	/* function: its index, or NO_FUNCTION: it is wrapped only for the addresses that it stores */
	__u32 closed;		/* the object is gone */
	__u16 words;		/* of arguments on the stack */
	__u8 gives, unsure;	/* gives: it stores functions' addresses; unsure: words is a guess */
} __attribute__((aligned(STUB_SIZE)));

enum process_state {
	FORKED,		/* 0: the kernel has wiped the page */
	READY,
	CONNECTING,	/* one of its threads does */
	LEFT_OUT,	/* the tool does not trace it */
	WITHDRAWN,	/* it has unmapped the memory, or may not connect to the tool: its calls are lost */
	UNANSWERED,	/* the tool has not answered: calls are lost until it runs again */
};

/* A page that is zero in the child of a fork. */
struct fork_page {
	__u32 state;		/* enum process_state */
	__u32 epoch;		/* of the process: other than its parent's; never 0 once it is READY */
	__u32 by;		/* CONNECTING: the thread, */
	__u64 since;		/* and since when, ns */
	__u64 ticks;		/* UNANSWERED: the tool's clock then */
};

/* A signal handler that ran while its thread waited for the tool may leave by longjmp(). */
static const __u64 ABANDONED_NS = 12 * 1000000000ull;

/* How long a program waits for tools that do nothing, in all, until one answers. */
static const __u64 PATIENCE_NS = 1000 * 1000000ull;

/* How long the program has waited for the tool. */
struct inject_waits {
	__u64 owed, at;		/* ns: the debt at that time, which decreases with time */
};

/* Bytes of static TLS while the program starts: static_tls.c. */
struct static_tls {
	__u64 needs, others;	/* needs: of libraries that require it; others: of the others */
	__u64 room;		/* so many leave dlopen() what it has without an audit library */
	bool looked, used;	/* used: the program itself requires it of libraries */
	bool again;		/* the program was executed again for it */
	bool started;
};

struct injected {
	struct stub stub[STUBS];	/* the first: see agent/inject/stub.h */
	char socket[SOCKET_NAME];	/* abstract name, without the leading 0 */
	enum connection connection;
	struct shmmap shm;		/* a child does not inherit the shared memory, except the next three: read-only mappings */
	const struct inject_head *head;
	const struct inject_function *toggle;
	const struct inject_thread *threads;
	__u64 *lost;		/* counts, by enum lost; NULL: the tool has none */
	program_fn *left;		/* for a thread that has ended, or NULL */
	clock_fn *clock;
	bool counts;		/* the processor's counter is the clock: counter_is_clock() */
	struct fork_page *page;
	bool wiped;		/* by the kernel at a fork */
	bool silent;		/* the tool has not answered the last message */
	bool ancestors;		/* of the tools of its own user only its ancestors are trusted */
	__u64 patience_own, *patience;	/* ns: PATIENCE_NS, less waits for tools that do nothing */
	bool settled;		/* the tool has the objects that were loaded with the first CUDA library */
	bool changes;		/* objects were loaded or unloaded that were not reported to the tool */
	bool hurry;		/* and the files of some may be gone soon */
	__s64 started;		/* when the program did: the time of day, s */
	__s64 ahead;		/* CLOCK_MONOTONIC, of the initial time namespace's, ns */
	struct inject_waits loading, calling;	/* for these messages */
	__u32 epochs;
	__s32 pid;		/* as the tool sees it */
	__s32 own;		/* as the program sees it */
	__u32 uid;
	char comm[16];		/* the process's, from the tool's last answer */
	__u32 marks;		/* enum inject_marks, also of the process that this one is a copy of */
	__u32 filters;		/* seccomp filters that it had at its start */
	struct users users;	/* of its user namespace then */
	struct python_process python;	/* once marks has INJECT_PYTHON */
	__u64 stack;		/* an address near the beginning of the first thread's stack */
	__u32 parent;		/* that it is a copy of, as the tool sees it; 0: none */
	__u64 page_size;		/* the kernel's */
	const void *phdr;	/* the program's own */
	int phdrs;
	struct static_tls tls;
	char *window;			/* as in struct resident; else NULL */
	const __u32 *idle;		/* resident.so: the flags of all stubs while no tool asks; else NULL */
	__u16 (*named)[STUB_NAMES];	/* resident.so: as in struct resident; else NULL */
	__u32 stubs, objects;		/* objects: that have stubs */
	__u16 address[ADDRESSES];	/* stub number + 1, by real address */
	__u32 hash[INJECT_FUNCTIONS];	/* of functions' names */
	char text[INJECT_PATH];	/* while the linker loads something: one thread at a time */
	char status[INJECT_PATH];	/* while the process is CONNECTING */
	char *storages[INJECT_THREADS];	/* by element: see inject_own() */
};

/* The state of the process: the linker and the stubs pass nothing. */
extern struct injected injected;

/* A thread's calibration of the processor's counter, if it is the clock.  ticks are the counter's. */
struct counted {
	__u64 ticks, ns;		/* of the last reading of the kernel's clock */
	__u64 rate;			/* ns in 2^32 ticks; 0: unknown */
	__u64 from_ticks, from_ns;	/* where the rate begins */
	__u64 last;			/* the last time that programs got */
};

/* A thread's state. */
struct inject_here {
	__u64 busy;		/* stack pointer of the call whose program runs; 0: none runs */
	__u64 outermost;	/* that of the last call of an INJECT_OUTERMOST function whose return was awaited; 0: it has returned */
	__u32 epoch;
	bool blocked;		/* all signals are, except during a wait */
	__u64 signals;		/* blocked: those that the program blocks */
	struct counted counted;
};
extern __thread struct inject_here inject_here __attribute__((tls_model("initial-exec")));

/* Blocks all signals of the thread.  Returns those that were blocked before, for signals_restore(). */
static inline __u64 signals_block(void)
{
	__u64 all = ~0ull, before = 0;

	sys4(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&all, (long)&before, sizeof(all));
	return before;
}

static inline void signals_restore(__u64 before)
{
	sys4(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&before, 0, sizeof(before));
}

static inline bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static inline bool begins(const char *s, const char *with)
{
	while (*with)
		if (*s++ != *with++)
			return false;
	return true;
}

static inline unsigned long length(const char *s)
{
	unsigned long n = 0;

	while (s[n])
		n++;
	return n;
}

/* A mapped ELF object: its dynamic symbols. */
struct object {
	__u64 base;		/* added to the addresses in the file */
	const ElfW(Phdr) *phdr;
	int phdrs;		/* 0: not found */
	const ElfW(Sym) *symbols;
	const char *strings;
	const __u32 *gnu, *sysv;	/* hash tables, NULL: it has none */
	const void *versions;	/* that it defines, so many; NULL: none */
	__u32 nversions;
};

/* Return false if it has no symbols.  object_map() is of an object of the dynamic linker, headers: AT_PHDR if it is the
 * program itself, which is not always mapped from its beginning; object_image() of what is mapped as it is in the file. */
bool object_map(struct object *o, const struct link_map *map, const ElfW(Phdr) *headers, int n);
bool object_image(struct object *o, const void *image);

/* Returns the major version of the CUDA runtime that the object is, by the symbol version that it defines (libcudart.so.12); 0 for
 * every other object. */
__u32 object_runtime(const struct object *o);

__u32 object_hash(const char *name);

/* Returns the first definition of a function of that name after that symbol; NULL if there are no more. */
const ElfW(Sym) *object_symbol(const struct object *o, const char *name, __u32 hash, const ElfW(Sym) *after);

/* The same for a variable. */
const ElfW(Sym) *object_data(const struct object *o, const char *name);

/* Returns the segment that has this address; NULL if none is known. */
const ElfW(Phdr) *object_segment(const struct object *o, __u64 at);

/* Finds the tool's socket in the environment.  Returns false if there is none, or the program has more privileges than its
 * caller. */
bool environment(struct injected *a);

/* The rest of it, without a socket; vdso: for clock_find().  Returns false if the program has more privileges than its caller. */
bool environment_process(struct injected *a, const void **vdso);

/* Sets ahead.  Call after a fork, too: a child may be in another time namespace.  Changes nothing without /proc. */
void environment_time(struct injected *a);

/* Returns how many seccomp filters the thread has.  It opens a file: call only where the linker does so, too, or before other
 * system calls.  text: of INJECT_PATH bytes. */
__u32 environment_filters(char *text);

/* Call first when an object is loaded: may execute the program again.  Then when all are that come
 * with the program; map: any. */
void static_tls_note(struct injected *a, const struct link_map *map);
void static_tls_started(struct injected *a, const struct link_map *map);

/* Reads whether users can be told apart in the program's user namespace. */
void environment_users(struct users *u);

/* Sets who is at the other end of a connection.  Returns true if it is a tool of the program's
 * user, or root's; false also if users cannot be told apart. */
bool peer_trusted(int fd, struct ucred *who);

/* Waits for the tool with that pid, 0 if it is in another PID namespace, to answer on a connection.
 * patience: ns, less the time in which it does nothing.  mask: the program's signals, which are
 * free after a few ms; NULL: the thread's.  Returns false if the tool is stopped, does nothing or
 * takes too long. */
bool peer_await(int fd, int tool, __u64 *patience, const __u64 *mask);

/* Waits so long, or until a signal comes.  Returns false if there is no patience left. */
bool peer_pause(int ms, __u64 *patience, const __u64 *mask);

/* vdso: AT_SYSINFO_EHDR. */
void clock_find(struct injected *a, const void *vdso);

/* CLOCK_MONOTONIC of the initial time namespace, ns, by the kernel. */
__u64 clock_kernel_ns(void);

/* Return true if inject_clock_ns() is to extrapolate from the processor's counter, which is the kernel's clock and so the same
 * on all processors. */
bool counter_is_clock(void);

/* Connections to the tool.  Return false if there will be no probes. */
bool connect_hello(struct injected *a);
bool connect_forked(struct injected *a, int parent);
void connect_bound(struct injected *a, const char *path, __u32 functions);
void connect_changed(struct injected *a);
void connect_says(struct injected *a, const char *name, const char *why);

/* NULL: the tool has no program of that name. */
program_fn *program_find(const char *name);

/* memory: the descriptors, by enum inject_shared_memory.  Maps the shared and the fixed memory, and the programs' data over
 * their sections. */
bool memory_map(struct injected *a, const int *memory, __u64 bytes);

/* The same for the child of a process that had done so. */
bool memory_map_forked(struct injected *a, int fd, __u64 bytes);

/* Unmaps the memory; another thread that uses it now reads zeros. */
void memory_leave(struct injected *a);

/* Size of a thread's own memory. */
unsigned long own_bytes(const struct injected *a);

/* Unmaps all that was mapped; in_use: another thread may use it now, and reads zeros. */
void memory_drop(struct injected *a, bool in_use);

/* Why a stub awaits the return: bits of stub_why(). */
enum { FOR_PROGRAM = 1, FOR_ADDRESS = 2 };

/* The stubs call these at a function's entry and return. */
struct entered inject_entered(struct stub_frame *f, const struct stub *s);
void inject_returned(struct stub_frame *f, const struct stub *s);

/* Returns the stub of a function of that object; NULL if there is none for it.  function: an index in the shared table, or
 * NO_FUNCTION. */
const void *stub_make(struct injected *a, __u32 function, __u64 real, __u64 object, bool gives);
const void *stub_of(const struct injected *a, __u64 real);
bool stub_is(__u64 at);
void stubs_close(struct injected *a, __u64 object);

/* Makes the stub of that number one for a function of the shared table that has resident.so's stub `like`. */
void stub_follow(struct injected *a, __u32 number, __u32 function, const struct stub *like);

/* Returns the index of the function of that name in the shared table, or NO_FUNCTION. */
__u32 function_find(const struct injected *a, const char *name);

/* Replaces the address that a function has stored, cuGetProcAddress() or its like, by that of its stub. */
void stub_address_given(const struct injected *a, const struct stub_frame *f);

/* Gives the functions that this object has stubs. */
void bind_object(struct injected *a, const struct link_map *map);

/* Makes the thread's state.  Returns false if it has none and its calls are not seen. */
bool thread_ready(struct injected *a);
static inline bool thread_is_ready(const struct injected *a)
{
	return inject_here.epoch && inject_here.epoch == a->page->epoch && a->wiped;
}

/* Call when an object is loaded. */
void changes_note(struct injected *a, const char *path);

/* Report new objects to the tool, which needs them for call stacks: when the linker has loaded them, if their files may be gone
 * soon, else before the first call.  Not while that takes too much of the program's time. */
void changes_tell_loaded(struct injected *a);
void changes_tell(struct injected *a);

/* Call when the tool has marked the thread's process. */
void marks_take(struct injected *a);

/* Counts a call as lost; why: enum lost. */
void lost_call(struct injected *a, unsigned why);

#endif
