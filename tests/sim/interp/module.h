/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A module as interp_load() leaves it: its functions' instructions in one array, an instruction's operands in another. */
#ifndef TESTS_SIM_INTERP_MODULE_H
#define TESTS_SIM_INTERP_MODULE_H
#include "alu.h"
#include "interp.h"
#include "matrix.h"
#include "texture.h"
#include "ptx/ptx.h"

struct warp;
struct insn;

/* Runs an instruction for the lanes of `on`, whose guard is true; not called without any, save for what sets
 * insn->always. */
typedef enum interp_fault_kind exec_fn(struct warp *warp, const struct insn *insn, uint32_t on);

enum operand_kind {
	OPERAND_SINK,		/* _ */
	OPERAND_REG,		/* n: slot in the frame */
	OPERAND_CONST,		/* n: index in the module's constants */
	OPERAND_SPECIAL,	/* n: enum special */
	OPERAND_LOCAL,		/* n: offset in the frame's local memory */
	OPERAND_DYNAMIC,	/* the block's dynamic shared memory */
	OPERAND_PARAM,		/* n: offset in the frame's parameters; of calls */
};

struct operand {
	unsigned char kind;
	unsigned char bits;	/* of the register */
	bool inverted;		/* !%p */
	unsigned n, size;	/* size: of a parameter */
};

enum space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_ENTRY_PARAM, SPACE_PARAM };

/* Where generic addresses of these spaces begin: no process's memory is there. */
#define WINDOW_SHARED 0x0100000000000000ull
#define WINDOW_LOCAL 0x0200000000000000ull
#define WINDOW_PARAM 0x0300000000000000ull
#define WINDOW_CODE 0x0400000000000000ull	/* function pointers: plus 16 * (index + 1) */

/* What memory instructions are about. */
struct access {
	unsigned char space, type, size;	/* size: bytes of an element */
	unsigned char count;			/* elements of the vector */
	unsigned char op;			/* enum atomic_op */
	bool strong;				/* .volatile, .relaxed, .cg …: not from the first cache */
	int64_t offset;
};

struct insn {
	exec_fn *exec;
	int guard;			/* slot, or -1 */
	bool guard_not;
	bool always;			/* exec also where no lane's guard is true */
	unsigned char results, sources;
	unsigned char cycles;
	unsigned char mode;		/* exec's own */
	unsigned operands;		/* index of the first: results, then sources */
	unsigned target;		/* of a branch or call: instruction or function; exec's own */
	struct access access;
	void (*fast)(uint64_t *d, const uint64_t *a, const uint64_t *b, const uint64_t *c);	/* all 32 lanes, or NULL */
	union {
		struct alu_insn alu;
		struct texture_insn texture;
		struct matrix_insn matrix;
	};
	const char *text;		/* for messages */
	unsigned text_size;
};

struct variable {
	char *name;
	uint64_t addr;
	size_t size;
};

struct param {
	unsigned offset, size;
	int slot;			/* a .reg parameter's; -1 */
};

enum system_call { SYSTEM_NONE, SYSTEM_VPRINTF, SYSTEM_MALLOC, SYSTEM_FREE, SYSTEM_ASSERT };

struct interp_kernel {			/* a function, too */
	struct interp_module *module;
	char *name;
	unsigned index;			/* in the module */
	bool entry, defined;
	enum system_call system;
	unsigned first, end;		/* instructions */
	unsigned slots;			/* of registers */
	unsigned registers;		/* 32-bit ones, a guess */
	unsigned param_size;		/* what it is called with; of an entry: the launch's buffer */
	unsigned frame_param;		/* bytes of a frame's parameters, those of its calls included */
	unsigned local, shared;		/* bytes; shared: its own, after the module's */
	bool uses_shared;		/* the module's, or calls who may */
	bool calls;
	struct param *params;
	struct interp_param *infos;	/* the same, of an entry */
	unsigned num_params, max_params, num_returns, max_returns;
	struct param *returns;
	unsigned max_threads, cluster[3], reqntid[3];
	unsigned max_registers;		/* what an assembler would spill from: .maxnreg, or by .maxntid */
};

struct interp_module {
	const struct interp_host *host;
	char *text;			/* a copy: instructions point into it */
	struct interp_kernel **functions;
	unsigned num_functions, max_functions;
	struct insn *insns;
	unsigned num_insns, max_insns;
	struct operand *operands;
	unsigned num_operands, max_operands;
	uint64_t (*constants)[32];	/* each for all lanes */
	unsigned num_constants, max_constants;
	struct variable *variables;
	unsigned num_variables, max_variables;
	unsigned **tables;		/* of brx.idx: count, then instructions */
	unsigned num_tables, max_tables;
	unsigned shared;		/* bytes of the module's own variables */
	unsigned dynamic_align;
	unsigned call_slots, call_param, call_local;	/* the largest of any .func */
	uint64_t max_steps;		/* instructions of a launch */
	uint64_t turn, warp_turn;	/* cycles until another block's, another warp's turn */
	uint64_t split_turn;		/* cycles of a turn of lanes that others, spinning, would keep from running */
	unsigned issue;			/* cycles that an instruction takes to issue */
	unsigned char undefined;	/* each byte of a block's shared memory when it begins */
	bool backwards;			/* a block's last warp goes first, a warp's last lane */
};

/* Makes room for one more element. */
bool grow(void *array, unsigned n, unsigned *max, size_t size);

#endif
