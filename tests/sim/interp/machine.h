/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What runs: a grid's blocks, their warps, and the lanes of these.
 *
 * Lanes that have diverged are in splits, which are joined where they are at the same instruction and depth of calls.  The
 * current split's values are the warp's; the others wait in splits[].  Deeper calls go first, then lower addresses. */
#ifndef TESTS_SIM_INTERP_MACHINE_H
#define TESTS_SIM_INTERP_MACHINE_H
#include "module.h"

/* Cycles. */
enum {
	LAT_ALU = 4, LAT_HIT = 32, LAT_L2 = 250, LAT_MISS = 430, LAT_SHARED = 24, LAT_CONST = 8, LAT_ATOM = 300,
	LAT_STORE = 200, LAT_TEXTURE = 460, LAT_BARRIER = 5,
	CACHE_LINES = 1024,		/* of an SM, of 128 bytes */
	MAX_THREADS = 2048, MAX_BLOCKS = 32, MAX_SHARED = 228 << 10, MAX_BLOCK_SHARED = 227 << 10,	/* of an SM, a block */
	MAX_DEPTH = 1000,		/* of calls */
	BARRIERS = 16,
};

static inline uint64_t cycles_ns(uint64_t cycles)	/* 1.5 GHz */
{
	return cycles * 2 / 3;
}

enum split_state { SPLIT_RUNS, SPLIT_WARP, SPLIT_BARRIER };

struct split {
	uint32_t mask;
	uint32_t members;	/* SPLIT_WARP: the lanes that it waits for */
	unsigned pc, depth;
	enum split_state state;
	unsigned barrier;	/* SPLIT_BARRIER */
	const struct insn *insn;	/* barrier.red: who gets the result */
};

struct frame {
	uint64_t (*reg)[32];
	uint64_t *ready;	/* when each register's value is there */
	unsigned char *param;	/* param_size bytes of each lane: what the function is called with and what it calls with */
	unsigned param_size;
	unsigned local;		/* offset of its variables in a lane's local memory */
	unsigned back[32];	/* where lanes return to */
};

struct warp {
	struct run *run;
	struct block *block;
	struct frame *frame;		/* frames[depth] */
	uint64_t time;			/* cycles since the grid began */
	uint64_t outstanding;		/* when all its accesses are done */
	uint32_t mask;			/* the current split's; 0: none can run */
	unsigned pc, depth;
	uint32_t alive;			/* lanes that exist and have not ended */
	unsigned index;			/* in the block */
	unsigned num_splits;		/* others */
	uint64_t next_key;		/* of the first of those that can run */
	int patience;			/* backward branches until another split's turn */
	uint64_t forced;		/* until when its turn lasts */
	struct split splits[32];
	struct frame **frames;
	unsigned num_frames;
	unsigned char *local;		/* local_size bytes of each lane */
	size_t local_size;
	uint32_t met;			/* lanes whose wait for others is over */
	uint32_t carry[32];
};

struct barrier {
	unsigned expected;		/* threads; 0: all */
	bool exact;
	bool any, all;			/* reductions so far */
	unsigned count;
	uint32_t arrived[32];		/* of each warp */
};

struct block {
	struct run *run;
	unsigned id[3];
	unsigned sm, first_warp;	/* warp slots of the SM */
	unsigned num_warps, ended;	/* warps */
	uint64_t start;
	unsigned char *shared;
	struct warp *warps;
	struct barrier barriers[BARRIERS];
	struct block *next;		/* resident on the same SM */
};

struct sm {
	struct block *blocks;
	unsigned num_blocks;
	uint32_t slots[MAX_THREADS / 32 / 32];	/* warp slots in use */
	uint64_t lines[CACHE_LINES];
};

enum { RANGES = 8 };

struct run {
	struct interp_module *module;
	struct interp_kernel *kernel;
	struct interp_grid *grid;
	struct interp_fault *fault;
	const unsigned char *params;
	const struct interp_host *host;
	struct sm *sms;
	unsigned num_sms;
	uint64_t clock;			/* %clock64 when the grid begins */
	uint64_t steps;			/* warps' instructions issued */
	uint64_t end;			/* of the last block, cycles */
	size_t shared_size, dynamic;	/* bytes of a block; where the dynamic part begins */
	uint64_t workspace;		/* of cooperative groups' grid synchronisation */
	unsigned threads, warps;	/* of a block */
	uint64_t memory;		/* bytes that frames take */
	struct {
		uint64_t low, high;
	} ranges[RANGES];		/* mapped; the last found first */
	unsigned next_range;
	struct block *spare;		/* done, for the next one */
	unsigned next_block[3];
	bool more;			/* blocks that have not begun */
};

/* ---- warp.c */
/* Runs a warp until this cycle, or until none of its lanes can go on. */
enum interp_fault_kind warp_run(struct warp *warp, uint64_t until);
/* Takes the current split off: it waits in `state`; another becomes the current one. */
void warp_wait(struct warp *warp, uint32_t lanes, const struct split *split);
/* Chooses the split that runs next, after some became able to. */
void warp_choose(struct warp *warp);
void warp_branch(struct warp *warp, uint32_t taken, unsigned target);
/* Sends lanes of the current split elsewhere, each to its own place. */
void warp_scatter(struct warp *warp, uint32_t lanes, const unsigned *targets, unsigned depth);
/* Takes lanes off the current split, which goes on without them. */
void warp_split(struct warp *warp, uint32_t lanes, unsigned pc);
void warp_exit(struct warp *warp, uint32_t lanes);
struct frame *warp_frame(struct warp *warp, unsigned depth);
bool warp_local(struct warp *warp, size_t size);
/* Fills the fault, of the lowest lane of these; returns its kind. */
enum interp_fault_kind warp_fault(struct warp *warp, uint32_t lanes, enum interp_fault_kind kind, uint64_t addr,
				  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- operands: values.c */
static inline const struct operand *insn_operands(const struct warp *w, const struct insn *insn)
{
	return w->run->module->operands + insn->operands;
}
/* Return an operand's values in all lanes: in the registers, or in temp. */
const uint64_t *operand_read(const struct warp *warp, const struct operand *operand, uint64_t *temp);
/* Writes the lanes of `on`; the value is there after so many cycles. */
void operand_write(struct warp *warp, const struct operand *operand, const uint64_t *value, uint32_t on, unsigned cycles);

/* ---- memory.c */
/* Return the lane that accesses memory next, of those that are left: which one that is is not for programs to know. */
static inline unsigned memory_lane(const struct warp *w, uint32_t left)
{
	return w->run->module->backwards ? 31 - (unsigned)__builtin_clz(left) : (unsigned)__builtin_ctz(left);
}
struct place {
	unsigned char *p;
	enum space space;
};
/* Finds the memory at an address for one lane; p is NULL after a fault. */
struct place memory_at(struct warp *warp, unsigned lane, const struct access *access, uint64_t addr, unsigned size,
		       const char *what, enum interp_fault_kind *kind);
bool memory_mapped(struct run *run, uint64_t addr, unsigned size);
/* Return the cycles that an access of one lane takes. */
unsigned memory_latency(struct warp *warp, enum space space, const unsigned char *p, bool strong);

/* ---- barrier.c */
void barrier_left(struct block *block);		/* lanes have ended: barriers may be complete */

/* ---- instructions */
exec_fn exec_alu, exec_mov, exec_pack, exec_unpack, exec_load, exec_store, exec_atomic, exec_branch, exec_brx, exec_exit,
	exec_return, exec_call, exec_barrier, exec_fence, exec_vote, exec_shuffle, exec_match, exec_reduce, exec_elect,
	exec_activemask, exec_warp_barrier, exec_nothing, exec_trap, exec_sleep, exec_cvta, exec_isspacep, exec_copy_async,
	exec_texture, exec_matrix, exec_mbarrier, exec_bad;
enum interp_fault_kind system_call(struct warp *warp, const struct insn *insn, uint32_t on, const struct interp_kernel *f);

#endif
