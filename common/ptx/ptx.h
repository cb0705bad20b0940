/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Splits PTX text into statements, and an instruction into operands, without a grammar of the instructions: unknown
 * statements pass unchanged, so that new versions of PTX need changes here only if new instructions are to be
 * instrumented.  PTX ISA 9.0, chapters 4 and 5.  The text is untrusted: nothing is read past its end. */
#ifndef PTX_PTX_H
#define PTX_PTX_H
#include <stdbool.h>
#include <stddef.h>

/* A part of the text, which must outlive it. */
struct ptx_str {
	const char *s;
	size_t n;
};

enum ptx_kind {
	PTX_TEXT,	/* a statement of the module, a comment, .loc, .pragma, a variable of a function … */
	PTX_FUNC,	/* the head of an .entry or .func with a body, including its { */
	PTX_OPEN,	/* { in a body */
	PTX_CLOSE,	/* } in a body; at depth 0 the end of the function (depth as of its {) */
	PTX_LABEL,	/* L: */
	PTX_REG,	/* .reg … ; */
	PTX_INSN,
	PTX_END,
};

struct ptx_stmt {
	enum ptx_kind kind;
	struct ptx_str text;	/* with the white space and comments before it: all texts together are the input */
	struct ptx_str body;	/* without */
	int depth;		/* braces around it, 1 or more in a function */
};

struct ptx_reader {
	const char *p, *end;
	int depth;
};

enum { PTX_OPERANDS = 16 };

struct ptx_insn {
	struct ptx_str guard;	/* "%p1" of @%p1 and @!%p1; n = 0: none */
	bool negated;
	struct ptx_str op;	/* "ld.global.nc.v4.f32" */
	int n;			/* operands */
	struct ptx_str arg[PTX_OPERANDS];	/* trimmed; brackets and braces are kept together */
};

/* The head of a function: .visible .entry name(params) .maxntid 256, 1, 1 { */
struct ptx_head {
	bool entry;		/* a kernel */
	struct ptx_str name;
	struct ptx_str result, params;	/* between ( ); n = 0: none */
	struct ptx_str rest;	/* after the parameters: .maxntid …, without the { */
};

/* Reads the next statement; returns false at the end, with the rest of the text (white space) in *stmt. */
bool ptx_next(struct ptx_reader *reader, struct ptx_stmt *stmt);

/* Parses the body of a PTX_INSN; false if it is malformed or has too many operands. */
bool ptx_insn_parse(struct ptx_str body, struct ptx_insn *insn);

bool ptx_str_is(struct ptx_str str, const char *text);
/* Returns true if the instruction has this modifier as a whole: ".nc"; ".shared" also matches .shared::cta. */
bool ptx_has(struct ptx_str op, const char *modifier);
/* Returns true if the instruction is this, perhaps with modifiers: "ld" of ld.global.u32, "cp.async". */
bool ptx_op_is(struct ptx_str op, const char *name);
struct ptx_str ptx_trim(struct ptx_str str);

/* Returns the next name in *rest, which is set after it; n = 0: none. */
struct ptx_str ptx_next_word(struct ptx_str *rest);

/* Parses the body of a PTX_FUNC, or of a declaration; false if it has no name. */
bool ptx_head_parse(struct ptx_str body, struct ptx_head *head);

#endif
