/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* An instruction's text into what runs.  A decoder returns false for what is not known: that instruction then is a fault
 * where it is run.  What is wrong, as a name that is not declared, it says by fail(), and the module is refused. */
#include "fast.h"
#include "load.h"
#include "machine.h"
#include "modifiers.h"
#include <string.h>

static const struct {
	const char *op;
	decode_fn *decode;
} decoders[] = {
	{ "ld", decode_memory }, { "ldu", decode_memory }, { "st", decode_memory }, { "mov", decode_mov },
	{ "bra", decode_branch }, { "brx", decode_brx }, { "cvta", decode_cvta }, { "ret", decode_exit }, { "exit", decode_exit },
	{ "bar", decode_barrier }, { "barrier", decode_barrier }, { "atom", decode_atomic }, { "red", decode_atomic },
	{ "membar", decode_fence }, { "fence", decode_fence }, { "vote", decode_warp }, { "shfl", decode_warp },
	{ "match", decode_warp }, { "redux", decode_warp }, { "elect", decode_warp }, { "activemask", decode_warp },
	{ "isspacep", decode_isspacep }, { "trap", decode_trap }, { "nanosleep", decode_sleep },
	{ "cp", decode_async }, { "tex", decode_texture }, { "tld4", decode_texture }, { "txq", decode_texture },
	{ "suld", decode_texture }, { "sust", decode_texture }, { "sured", decode_texture }, { "suq", decode_texture },
	{ "wmma", decode_matrix }, { "mma", decode_matrix }, { "ldmatrix", decode_matrix }, { "stmatrix", decode_matrix },
	{ "movmatrix", decode_matrix },
	{ "mbarrier", decode_mbarrier }, { "brkpt", decode_nothing }, { "pmevent", decode_nothing }, { "prefetch", decode_nothing },
	{ "prefetchu", decode_nothing }, { "discard", decode_nothing }, { "applypriority", decode_nothing },
	{ "griddepcontrol", decode_nothing }, { "setmaxnreg", decode_nothing },
};

static decode_fn *decoder_of(struct ptx_str op)
{
	const char *dot = memchr(op.s, '.', op.n);
	struct ptx_str word = { op.s, dot ? (size_t)(dot - op.s) : op.n };

	for (unsigned i = 0; i < sizeof decoders / sizeof *decoders; i++)
		if (ptx_str_is(word, decoders[i].op))
			return decoders[i].decode;
	return decode_alu;
}

/* d|p: adds both. */
static bool results_add(struct loader *l, struct ptx_str text, enum alu_type type, unsigned most, struct insn *insn)
{
	const char *bar = memchr(text.s, '|', text.n);
	struct ptx_str first = { text.s, bar ? (size_t)(bar - text.s) : text.n };
	struct operand o;

	if (bar && most < 2)
		return false;
	if (!operand_parse(l, first, type, &o) || !operand_add(l, o))
		return false;
	insn->results = 1;
	if (!bar)
		return true;
	insn->results = 2;
	return operand_parse(l, (struct ptx_str){ bar + 1, (size_t)(text.s + text.n - bar - 1) }, ALU_PRED, &o) &&
		operand_add(l, o);
}

/* %r1.h0 of video instructions */
static bool part_take(struct alu_insn *alu, int i, struct ptx_str *text)
{
	const char *dot = text->n && *text->s == '%' ? memrchr(text->s, '.', text->n) : NULL;
	struct ptx_str part;

	if (!dot || (dot[1] != 'b' && dot[1] != 'h'))
		return true;
	part = (struct ptx_str){ dot + 1, (size_t)(text->s + text->n - dot - 1) };
	text->n = (size_t)(dot - text->s);
	return alu_select(alu, i, part);
}

bool decode_alu(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct operand o;
	struct ptx_str arg;

	if (t->n < 1 || !alu_decode(&insn->alu, t->op, t->n - 1))
		return false;
	arg = t->arg[0];
	if (!part_take(&insn->alu, -1, &arg) || !results_add(l, arg, insn->alu.out[0], insn->alu.results, insn))
		return false;
	for (int i = 1; i < t->n; i++) {
		arg = t->arg[i];
		if (!part_take(&insn->alu, i - 1, &arg) || !operand_parse(l, arg, insn->alu.in[i - 1], &o) || !operand_add(l, o))
			return false;
		insn->sources++;
	}
	insn->exec = exec_alu;
	insn->cycles = insn->alu.cycles ? insn->alu.cycles : LAT_ALU;
	insn->fast = insn->results == 1 ? fast_find(t->op, t->n - 1) : NULL;
	return true;
}

static bool guard_parse(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	unsigned bits;

	insn->guard = -1;
	if (!t->guard.n)
		return true;
	insn->guard = register_slot(l, t->guard, &bits);
	insn->guard_not = t->negated;
	return insn->guard >= 0 || fail(l, "a guard that is not known", t->guard);
}

bool insn_decode(struct loader *l, struct ptx_str body)
{
	struct interp_module *m = l->m;
	struct ptx_insn t;
	struct insn insn = { .operands = m->num_operands, .text = body.s, .text_size = (unsigned)body.n };
	bool call, ok;

	call = ptx_insn_parse(body, &t) && ptx_op_is(t.op, "call");
	if (!t.op.n || !guard_parse(l, &t, &insn))
		return fail(l, "an instruction that is not known", body);
	ok = call ? call_decode(l, body, &insn) : decoder_of(t.op)(l, &t, &insn);
	if (!ok) {
		if (*l->why)
			return fail(l, "", body);
		m->num_operands = insn.operands;
		insn.results = insn.sources = 0;
		insn.exec = exec_bad;
	}
	if (!grow(&m->insns, m->num_insns, &m->max_insns, sizeof *m->insns))
		return fail(l, "no memory", body);
	m->insns[m->num_insns++] = insn;
	return true;
}
