/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "barrier.h"
#include "load.h"
#include "machine.h"
#include "modifiers.h"
#include "shuffle.h"
#include <string.h>

bool decode_branch(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct name *name = t->n == 1 ? names_find(&l->names, t->arg[0]) : NULL;

	if (!ptx_str_is(t->op, "bra") && !ptx_str_is(t->op, "bra.uni"))
		return false;
	if (!name || name->kind != NAME_LABEL)
		return fail(l, "a label that is not known", t->n ? t->arg[0] : t->op);
	insn->target = (unsigned)name->value;
	insn->exec = exec_branch;
	return true;
}

bool decode_brx(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct name *name = t->n == 2 ? names_find(&l->names, t->arg[1]) : NULL;
	struct operand o;

	if (!ptx_str_is(t->op, "brx.idx") && !ptx_str_is(t->op, "brx.idx.uni"))
		return false;
	if (!name || name->kind != NAME_TABLE)
		return fail(l, "branch targets that are not known", t->n ? t->arg[0] : t->op);
	insn->target = (unsigned)name->value;
	insn->exec = exec_brx;
	insn->sources = 1;
	return operand_parse(l, t->arg[0], ALU_U32, &o) && operand_add(l, o);
}

bool decode_exit(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	insn->target = l->f->index;
	insn->exec = ptx_op_is(t->op, "ret") ? exec_return : exec_exit;
	return !t->n && (ptx_str_is(t->op, "ret") || ptx_str_is(t->op, "ret.uni") || ptx_str_is(t->op, "exit"));
}

bool decode_fence(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	(void)l, (void)t;
	insn->exec = exec_fence;
	return true;
}

bool decode_nothing(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	(void)l, (void)t;
	insn->exec = exec_nothing;
	return true;
}

bool decode_trap(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	(void)l;
	insn->exec = exec_trap;
	return ptx_str_is(t->op, "trap");
}

bool decode_sleep(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct operand o;

	insn->exec = exec_sleep;
	insn->sources = 1;
	return t->n == 1 && operand_parse(l, t->arg[0], ALU_U32, &o) && operand_add(l, o);
}

static bool warp_sync(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct operand o;

	insn->exec = exec_warp_barrier;
	insn->sources = 1;
	return t->n == 1 && operand_parse(l, t->arg[0], ALU_B32, &o) && operand_add(l, o);
}

bool decode_barrier(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	static const char *const words[] = { "sync", "arrive", "red", "popc", "and", "or", "cta", "aligned", "u32", "pred", NULL };
	struct modifiers m = modifiers_of(t->op);
	struct ptx_str word;
	struct operand o;
	int from = 0, counts;

	if (ptx_str_is(t->op, "bar.warp.sync"))
		return warp_sync(l, t, insn);
	if (ptx_op_is(t->op, "barrier.cluster")) {	/* clusters are of one block */
		insn->exec = exec_nothing;
		return !t->n;
	}
	modifiers_next(&m, &word);
	insn->mode = 0xff;
	while (modifiers_next(&m, &word)) {
		int i = modifiers_find(word, words);

		if (i < 0)
			return false;
		if (i <= BARRIER_OR)
			insn->mode = (unsigned char)i;
	}
	if (insn->mode > BARRIER_OR || insn->mode == BARRIER_RED)
		return false;
	if (insn->mode >= BARRIER_POPC) {
		if (t->n < 3 || !operand_parse(l, t->arg[from++], ALU_PRED, &o) || !operand_add(l, o))
			return false;
		insn->results = 1;
	}
	counts = t->n - from - (insn->mode >= BARRIER_POPC);
	if (counts < 1 || counts > 2)
		return false;
	for (int i = 0; i < 3; i++) {	/* which, threads or 0, predicate or 0 */
		bool there = i < counts || (i == 2 && insn->mode >= BARRIER_POPC);

		if (there ? !operand_parse(l, t->arg[from++], ALU_U32, &o) : !operand_constant(l, 0, &o))
			return false;
		if (!operand_add(l, o))
			return false;
		insn->sources++;
	}
	insn->exec = exec_barrier;
	return true;
}

/* vote, shfl, match, redux, elect, activemask: results, then sources, the mask of members last */
bool decode_warp(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	static const struct {
		const char *op;
		exec_fn *exec;
		int sources;
	} ops[] = {
		{ "vote", exec_vote, 2 }, { "shfl", exec_shuffle, 4 }, { "match", exec_match, 2 }, { "redux", exec_reduce, 2 },
		{ "elect", exec_elect, 1 }, { "activemask", exec_activemask, 0 },
	};
	static const char *const modes[] = { "all", "any", "uni", "ballot", "up", "down", "bfly", "idx", NULL };
	struct modifiers m = modifiers_of(t->op);
	struct ptx_str word, type = { "", 0 }, op = { "", 0 };
	const char *bar;
	struct operand o;
	bool sync = false;
	int sources = -1;

	modifiers_next(&m, &word);
	for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++)
		if (ptx_str_is(word, ops[i].op)) {
			insn->exec = ops[i].exec;
			sources = ops[i].sources;
		}
	while (modifiers_next(&m, &word)) {
		int mode = modifiers_find(word, modes);

		if (mode >= 0)
			insn->mode = (unsigned char)(WARP_ALL + mode);
		else if (ptx_str_is(word, "sync"))
			sync = true;
		else if (alu_type_of(word))
			type = word;
		else if (insn->exec == exec_reduce && !op.n)
			op = word;
		else
			return false;
	}
	insn->access.type = (unsigned char)alu_type_of(type);
	if (insn->exec == exec_reduce) {
		char text[16];

		if (op.n + 1 + type.n >= sizeof text)
			return false;
		memcpy(text, op.s, op.n);
		text[op.n] = '.';
		memcpy(text + op.n + 1, type.s, type.n);
		if (!alu_decode(&insn->alu, (struct ptx_str){ text, op.n + 1 + type.n }, 2))
			return false;
	}
	if (t->n != 1 + sources - (!sync && sources > 1))
		return false;
	bar = memchr(t->arg[0].s, '|', t->arg[0].n);
	for (int i = 0; i < t->n; i++) {
		struct ptx_str arg = t->arg[i];

		if (!i && bar)
			arg.n = (size_t)(bar - arg.s);
		if (!operand_parse(l, arg, ALU_B32, &o) || !operand_add(l, o))
			return false;
		if (!i && bar && (!operand_parse(l, (struct ptx_str){ bar + 1, (size_t)(t->arg[0].s + t->arg[0].n - bar - 1) },
						 ALU_PRED, &o) || !operand_add(l, o)))
			return false;
	}
	insn->results = bar ? 2 : 1;
	insn->sources = (unsigned char)(t->n - 1);
	insn->target = sync;
	return true;
}

static bool call_args(struct loader *l, struct ptx_str list, unsigned char *num)
{
	struct operand o;

	list = ptx_trim(list);
	while (list.n) {
		const char *comma = memchr(list.s, ',', list.n);
		struct ptx_str arg = { list.s, comma ? (size_t)(comma - list.s) : list.n };

		if (*num == 250 || !operand_parse(l, arg, ALU_B64, &o) || !operand_add(l, o))
			return fail(l, "an argument that is not known", arg);
		++*num;
		list = comma ? (struct ptx_str){ comma + 1, (size_t)(list.s + list.n - comma - 1) } : (struct ptx_str){ "", 0 };
	}
	return true;
}

/* call{.uni} (r), f, (a, b), prototype; the function is the first source */
bool call_decode(struct loader *l, struct ptx_str body, struct insn *insn)
{
	struct ptx_str list = { "", 0 }, function;
	struct lexer x = lexer_of(body);
	struct operand o;

	while ((function = lexer_next(&x)).n && !ptx_op_is(function, "call"))
		;
	if (!ptx_str_is(function, "call") && !ptx_str_is(function, "call.uni"))
		return false;
	if (lexer_take(&x, '(')) {
		if (!lexer_group(&x, ')', &list) || !call_args(l, list, &insn->results) || !lexer_take(&x, ','))
			return fail(l, "a call that is not known", body);
	}
	function = lexer_next(&x);
	if (!operand_parse(l, function, ALU_U64, &o) || !operand_add(l, o))
		return false;
	insn->sources = 1;
	if (lexer_take(&x, ',') && lexer_take(&x, '(') &&
	    (!lexer_group(&x, ')', &list) || !call_args(l, list, &insn->sources)))
		return fail(l, "a call that is not known", body);
	insn->exec = exec_call;
	l->f->calls = l->f->uses_shared = true;
	return true;
}
