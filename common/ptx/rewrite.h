/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* instrument()'s state, and its parts.  The registers that it adds to each function:
 *   %cuprobe_z   ctl.zero: 0, which ptxas does not know     %cuprobe_q   false, which ptxas does not know
 *   %cuprobe_on  is this warp measured?                     %cuprobe_g   is this lane, at this site?
 *   %cuprobe_t0, _t1  the clocks    %cuprobe_te  the clock when the kernel began
 *   %cuprobe_c   the low half of a clock     %cuprobe_a32, _a64  an address     %cuprobe_o  0     _v, _h  others */
#ifndef PTX_REWRITE_H
#define PTX_REWRITE_H
#include "ptx/access.h"
#include "ptx/instrument.h"
#include "ptx/probe.h"
#include "ptx/ptx.h"
#include "ptx/put.h"
#include "ptx/scope.h"
#include "ptx/template.h"

/* A module, read before it is changed. */
struct ptx_module {
	bool old, linked;
	bool selected;		/* it has a kernel that is selected */
	size_t head;		/* bytes up to where declarations begin */
	struct ptx_out files;	/* the F lines of the table */
	struct ptx_out variables;	/* "generic(name), bytes, " of each in global memory */
	unsigned num_variables;
};

/* A function, read before it is changed. */
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
	struct ptx_locs locs;
	char hash[9];		/* of the original text */
	unsigned sites, kernels;
	unsigned pastes;	/* number the labels */
	bool calls;		/* some function calls probes */
	bool listing;		/* only the table is made */
};

static inline bool rw_has(const struct rewrite *rw, enum gpu_point point)
{
	return rw->options->probe && rw->options->probe->at[point].body.s;
}

/* Reads the whole module; false if it is not PTX. */
bool rw_module_read(struct rewrite *rw, const char *text, size_t size);
/* Puts the module's variables and the probes that are called. */
void rw_put_room(struct ptx_out *out, const struct rewrite *rw);
/* Puts the table of sites as a variable. */
void rw_put_table(struct ptx_out *out, const struct rewrite *rw);

/* Returns true if this instruction is a site, and its *access. */
bool rw_is_site(const struct rewrite *rw, const struct ptx_insn *insn, struct ptx_access *access);
/* Puts a site's instruction with the probes around it. */
void rw_site(struct rewrite *rw, const struct ptx_stmt *stmt, const struct ptx_insn *insn,
	     const struct ptx_access *access);
/* Adds a row to the table of sites; returns the site's id. */
unsigned rw_new_site(struct rewrite *rw, const char *kind, const char *space, struct ptx_str op, unsigned bytes);

/* Makes %cuprobe_g, before an instruction with a guard changes it. */
void rw_put_guard(struct rewrite *rw, const struct ptx_insn *insn);
/* Puts a probe that runs if %cuprobe_g is set. */
void rw_put_probe(struct rewrite *rw, enum gpu_point point, const struct ptx_insn *insn, const char *const args[]);
/* Writes a number, ended by 0. */
void rw_number(char text[12], unsigned number);

#endif
