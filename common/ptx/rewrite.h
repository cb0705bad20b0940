/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* instrument()'s state, and its parts.  The registers that it adds to each function:
 *   %cuprobe_z   ctl.zero: 0, which ptxas does not know     %cuprobe_q   false, which ptxas does not know
 *   %cuprobe_on  is this warp measured?                     %cuprobe_g   is this lane, at this site?
 *   %cuprobe_t0, _t1  the clocks    %cuprobe_te  the clock when the kernel began
 *   %cuprobe_c   the low half of a clock     %cuprobe_a32, _a64  an address     %cuprobe_o  0     _v, _h  others */
#ifndef REWRITE_H
#define REWRITE_H
#include "ptx/access.h"
#include "ptx/decl.h"
#include "ptx/head.h"
#include "ptx/instrument.h"
#include "ptx/places.h"
#include "ptx/put.h"
#include "ptx/template.h"
#include "ptx/uses.h"

/* What is known of a module before it is changed. */
struct ptx_module {
	bool old, linked;
	bool selected;		/* it has a kernel that is selected */
	size_t head;		/* bytes up to where declarations begin */
	struct ptx_out files;	/* the F lines of the table */
	struct ptx_out variables;	/* "generic(name), bytes, " of each in global memory */
	unsigned num_variables;
};

/* What is known of a function before it is changed. */
struct ptx_function {
	struct ptx_head head;
	bool measured;
	bool called;		/* probes are called, not pasted */
	bool times_itself;	/* has a site of its own: it enters or leaves a kernel */
	bool begun;		/* the prologue was put */
	bool ended;		/* the last instruction leaves it */
	unsigned site;		/* its own */
};

struct rewrite {
	const struct instrument *options;
	struct ptx_module module;
	struct ptx_function function;
	struct ptx_template tmpl[GPU_FUNCTIONS];
	struct ptx_out body, table;
	struct ptx_decls decls;
	struct ptx_uses uses;
	struct ptx_places places;
	char hash[9];		/* of the original text */
	unsigned sites, kernels;
	unsigned pastes;	/* number the labels */
	bool calls;		/* some function calls probes */
	bool listing;		/* only the table is wanted */
};

static inline bool rw_has(const struct rewrite *rw, enum gpu_point point)
{
	return rw->options->probe && rw->options->probe->at[point].body.s;
}

/* Reads the whole module; false if it does not look like PTX. */
bool rw_module_read(struct rewrite *rw, const char *text, size_t size);
/* Puts the module's variables and the probes that are called. */
void rw_put_room(struct ptx_out *out, const struct rewrite *rw);
/* Puts the table of sites as a variable. */
void rw_put_table(struct ptx_out *out, const struct rewrite *rw);

/* Takes in a statement of the module, if it is a variable in global memory. */
void rw_read_variable(struct rewrite *rw, const struct ptx_stmt *stmt);
/* Returns true if the probe has to know where they are; puts that. */
bool rw_wants_variables(const struct rewrite *rw);
void rw_put_variables(struct ptx_out *out, const struct rewrite *rw);

/* At the head of a function: reads it to its end (reader is a copy); puts the head; false if out of memory. */
bool rw_function_begin(struct rewrite *rw, const struct ptx_stmt *stmt, struct ptx_reader reader);
/* Before the first instruction of a function; does nothing after that. */
void rw_prologue(struct rewrite *rw);
/* Before a ret or exit. */
void rw_leave(struct rewrite *rw, const struct ptx_insn *insn);
/* Returns true if this instruction ends the kernel, and the probe wants to know. */
bool rw_leaves(const struct rewrite *rw, const struct ptx_insn *insn);

/* Returns true if this instruction is a site; *access is what it is. */
bool rw_is_site(const struct rewrite *rw, const struct ptx_insn *insn, struct ptx_access *access);
/* Puts a site's instruction with the probes around it. */
void rw_site(struct rewrite *rw, const struct ptx_stmt *stmt, const struct ptx_insn *insn,
	     const struct ptx_access *access);
/* Adds a row to the table of sites; returns the site's id. */
unsigned rw_new_site(struct rewrite *rw, const char *kind, const char *space, struct ptx_str op, unsigned bytes);

/* Makes %cuprobe_g, before an instruction with a guard changes it. */
void rw_put_guard(struct rewrite *rw, const struct ptx_insn *insn);
/* Puts a probe that runs where rw_put_guard() said. */
void rw_put_probe(struct rewrite *rw, enum gpu_point point, const struct ptx_insn *insn, const char *const args[]);

/* An instruction's address operand: [base + offset], or [handle, {base, …}] of a texture. */
struct rw_address {
	struct ptx_str before, base, after;	/* the operand's text: base is a register or a variable */
	struct ptx_str offset;			/* "-4"; n = 0: none */
	int bits;				/* of the register; 0: none */
};
bool rw_address_read(const struct rewrite *rw, struct ptx_str arg, bool texture, struct rw_address *address);
/* Puts the instruction with its address made to depend on the first clock, if it can be. */
void rw_put_access(struct rewrite *rw, const struct ptx_insn *insn, const struct ptx_access *access, bool tie);
/* Puts what waits for the operands of the access, so that the first clock is not read before. */
void rw_put_ready(struct rewrite *rw, const struct ptx_insn *insn, const struct ptx_access *access);
/* Puts what waits for a result; returns false if there is none to wait for. */
bool rw_put_depend(struct rewrite *rw, struct ptx_str result);
/* Writes a number, ended by 0. */
void rw_number(char text[12], unsigned number);
/* Puts an instruction as it was. */
void rw_put_insn(struct rewrite *rw, const struct ptx_insn *insn);

#endif
