// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/access.h"
#include "ptx/lex.h"
#include "ptx/scope.h"

/* Not listed, as they access no memory then: ld.param and st.param, and instructions that begin a transfer (cp.async, st.async,
 * red.async, cp.async.bulk, tensors), which its wait ends. */
static const struct row {
	const char *op;
	enum ptx_ops kind;
	enum ptx_wait wait;
	signed char address, value;
	bool texture;
} rows[] = {
	{ "ld",			PTX_LOAD,	PTX_BY_VALUE,	1,	-1,	false },
	{ "ldu",		PTX_LOAD,	PTX_BY_VALUE,	1,	-1,	false },
	{ "ldmatrix",		PTX_LOAD,	PTX_BY_VALUE,	1,	-1,	false },
	{ "wmma.load",		PTX_LOAD,	PTX_BY_VALUE,	1,	-1,	false },
	{ "multimem.ld_reduce",	PTX_LOAD,	PTX_BY_VALUE,	1,	-1,	false },
	{ "tex",		PTX_LOAD,	PTX_BY_VALUE,	1,	-1,	true },
	{ "tld4",		PTX_LOAD,	PTX_BY_VALUE,	1,	-1,	true },
	{ "suld",		PTX_LOAD,	PTX_BY_VALUE,	1,	-1,	true },
	{ "atom",		PTX_ATOMIC,	PTX_BY_VALUE,	1,	2,	false },
	{ "st",			PTX_STORE,	PTX_BY_FENCE,	0,	1,	false },
	{ "stmatrix",		PTX_STORE,	PTX_BY_FENCE,	0,	1,	false },
	{ "wmma.store",		PTX_STORE,	PTX_BY_FENCE,	0,	1,	false },
	{ "multimem.st",	PTX_STORE,	PTX_BY_FENCE,	0,	1,	false },
	{ "sust",		PTX_STORE,	PTX_BY_FENCE,	0,	1,	true },
	{ "red",		PTX_REDUCE,	PTX_BY_FENCE,	0,	1,	false },
	{ "multimem.red",	PTX_REDUCE,	PTX_BY_FENCE,	0,	1,	false },
	{ "sured",		PTX_REDUCE,	PTX_BY_FENCE,	0,	1,	true },
	{ "bar.sync",		PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "bar.red",		PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "bar.cta.sync",	PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "bar.cta.red",	PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "barrier.sync",	PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "barrier.red",	PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "barrier.cta.sync",	PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "barrier.cta.red",	PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "barrier.cluster.wait", PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "cp.async.wait_group", PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "cp.async.wait_all",	PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "cp.async.bulk.wait_group", PTX_WAITS, PTX_BY_ITSELF,	-1,	-1,	false },
	{ "wgmma.wait_group",	PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "tcgen05.wait",	PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "griddepcontrol.wait", PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
	{ "mbarrier.try_wait",	PTX_WAITS,	PTX_BY_ITSELF,	-1,	-1,	false },
};

static const char *kind_name(unsigned op)
{
	switch (op) {
	case PTX_LOAD: return "load";
	case PTX_ATOMIC: return "atomic";
	case PTX_STORE: return "store";
	case PTX_REDUCE: return "reduce";
	default: return "wait";
	}
}

static void set_space(struct ptx_access *access, struct ptx_str op)
{
	static const struct {
		const char *modifier, *name;
		enum ptx_space space;
	} spaces[] = {
		{ ".nc", "readonly", PTX_READONLY },
		{ ".global", "global", PTX_GLOBAL },
		{ ".shared", "shared", PTX_SHARED },
		{ ".local", "local", PTX_LOCAL },
		{ ".const", "const", PTX_CONST },
	};

	access->space = PTX_GENERIC;
	access->space_name = "generic";
	for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
		if (ptx_has(op, spaces[i].modifier)) {
			access->space = spaces[i].space;
			access->space_name = spaces[i].name;
			break;
		}
	if (ptx_op_is(op, "ldu")) {
		access->space = PTX_READONLY;
		access->space_name = "readonly";
	}
	access->read_only = access->space & (PTX_READONLY | PTX_CONST);
}

/* The elements of "{a, b}"; 1 of "a". */
static unsigned elements(struct ptx_str arg)
{
	unsigned n = 1;

	for (size_t i = 0; i < arg.n; i++)
		n += arg.s[i] == ',';
	return n;
}

static unsigned lane_bytes(const struct ptx_insn *insn)
{
	struct ptx_str op = insn->op;
	unsigned vector = 1, type = 0;

	if (ptx_op_is(op, "ldmatrix") || ptx_op_is(op, "stmatrix") || ptx_op_is(op, "wmma"))
		return elements(insn->arg[ptx_op_is(op, "ldmatrix") || ptx_op_is(op, "wmma.load") ? 0 : 1]) *
		       (ptx_has(op, ".f64") ? 8 : 4);
	for (const char *p = op.s, *end = op.s + op.n; p < end; ) {
		struct ptx_str word;

		while (p < end && !lex_is_word(*p))
			p++;
		word.s = p;
		p = lex_word(p, end);
		word.n = (size_t)(p - word.s);
		if (word.n == 2 && *word.s == 'v' && lex_is_digit(word.s[1]))
			vector = (unsigned)(word.s[1] - '0');
		else if (!type && ptx_type_bits(word) > 1)
			type = (unsigned)ptx_type_bits(word) / 8;
	}
	return vector * type;
}

bool ptx_access(struct ptx_access *access, const struct ptx_insn *insn)
{
	const struct row *row = NULL;
	struct ptx_str op = insn->op;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (ptx_op_is(op, rows[i].op)) {
			row = &rows[i];
			break;
		}
	if (!row || row->address >= insn->n || (row->kind != PTX_WAITS && (ptx_has(op, ".param") || ptx_has(op, ".async"))))
		return false;
	*access = (struct ptx_access){
		.kind = kind_name(row->kind), .op = row->kind, .wait = row->wait, .address = row->address,
		.value = row->value < insn->n ? row->value : -1, .texture = row->texture,
	};
	if (row->kind == PTX_WAITS) {
		access->space = PTX_WAIT;
		access->space_name = "barrier";
		return true;
	}
	access->bytes = lane_bytes(insn);
	if (row->texture) {
		access->space = PTX_TEX;
		access->space_name = *op.s == 's' ? "surface" : "texture";
		access->read_only = *op.s == 't';
	} else {
		set_space(access, op);
	}
	return true;
}
