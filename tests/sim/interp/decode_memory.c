/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "fast.h"
#include "load.h"
#include "machine.h"
#include "atomic.h"
#include "modifiers.h"
#include <string.h>

static bool space_parse(struct ptx_str word, unsigned char *space)
{
	static const char *const words[] = { "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param",
					     "param::entry", "param::func", NULL };
	static const unsigned char spaces[] = { SPACE_GLOBAL, SPACE_SHARED, SPACE_SHARED, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST,
						SPACE_PARAM, SPACE_ENTRY_PARAM, SPACE_PARAM };
	int i = modifiers_find(word, words);

	if (i < 0 && word.n > 6 && !memcmp(word.s, "const[", 6)) {
		*space = SPACE_CONST;
		return true;
	}
	if (i >= 0)
		*space = spaces[i];
	return i >= 0;
}

/* What says how an access is ordered and cached: `strong` are those that the first cache does not serve. */
static bool order_parse(struct ptx_str word, struct access *a)
{
	static const char *const weak[] = { "weak", "nc", "ca", "wb", "cs", "lu", "unified", "L1::evict_normal",
		"L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::evict_normal",
		"L2::evict_first", "L2::evict_last", "L2::64B", "L2::128B", "L2::256B", "cta", NULL };
	static const char *const strong[] = { "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cg", "cv", "wt",
		"gpu", "sys", "cluster", "sc", NULL };

	a->strong |= modifiers_find(word, strong) >= 0;
	return modifiers_find(word, weak) >= 0 || modifiers_find(word, strong) >= 0;
}

static bool type_parse(struct ptx_str word, struct access *a)
{
	enum alu_type type = alu_type_of(word);
	unsigned bits = alu_bits(type);

	if (!type || bits < 8 || bits > 128)
		return false;
	a->type = (unsigned char)type;
	a->size = (unsigned char)(bits / 8);
	return true;
}

bool decode_memory(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct modifiers m = modifiers_of(t->op);
	struct access *a = &insn->access;
	struct ptx_str word;
	bool store, hint = false;
	int n;

	modifiers_next(&m, &word);
	store = ptx_str_is(word, "st");
	a->count = 1;
	while (modifiers_next(&m, &word)) {
		if (word.n == 2 && *word.s == 'v' && strchr("248", word.s[1]))
			a->count = (unsigned char)(word.s[1] - '0');
		else if (ptx_str_is(word, "L2::cache_hint"))
			hint = true;
		else if (!space_parse(word, &a->space) && !order_parse(word, a) && !type_parse(word, a))
			return false;
	}
	if (!a->type || t->n != 2 + hint || a->size > 8 || a->size * a->count > 32)
		return false;
	insn->exec = store ? exec_store : exec_load;
	if (store) {
		if (!operand_address(l, t->arg[0], &a->space, &a->offset))
			return false;
		n = operands_vector(l, t->arg[1], a->type);
		insn->sources = (unsigned char)(1 + n);
	} else {
		n = operands_vector(l, t->arg[0], a->type);
		if (n < 0 || !operand_address(l, t->arg[1], &a->space, &a->offset))
			return false;
		insn->results = (unsigned char)n;
		insn->sources = 1;
	}
	return n == a->count || (n >= 0 && fail(l, "a vector of another size", t->op));
}

static const char *const atomic_names[] = { "add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas", NULL };

bool decode_atomic(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct modifiers m = modifiers_of(t->op);
	struct access *a = &insn->access;
	bool atom = *t->op.s == 'a', hint = false;
	struct ptx_str word, type = { "", 0 };
	char op[32];
	int which = -1, found, n, from = atom ? 1 : 0;

	modifiers_next(&m, &word);
	a->count = 1;
	a->strong = true;
	while (modifiers_next(&m, &word)) {
		found = modifiers_find(word, atomic_names);
		if (found >= 0)
			which = found;
		else if (word.n == 2 && *word.s == 'v' && strchr("248", word.s[1]))
			a->count = (unsigned char)(word.s[1] - '0');
		else if (ptx_str_is(word, "L2::cache_hint"))
			hint = true;
		else if (type_parse(word, a))
			type = word;
		else if (!ptx_str_is(word, "noftz") && !space_parse(word, &a->space) && !order_parse(word, a))
			return false;
	}
	if (which < 0 || !type.n || a->size > 8 || t->n != from + 2 + (which == ATOMIC_CAS) + hint || a->size * a->count > 16)
		return false;
	a->op = (unsigned char)which;
	if (which < ATOMIC_INC) {
		size_t len = strlen(atomic_names[which]);

		if (len + 1 + type.n >= sizeof op)
			return false;
		memcpy(op, atomic_names[which], len);
		op[len] = '.';
		memcpy(op + len + 1, type.s, type.n);
		if (!alu_decode(&insn->alu, (struct ptx_str){ op, len + 1 + type.n }, 2)) {
			/* and, or, xor of u32, s32 */
			op[len + 1] = 'b';
			if (which < ATOMIC_AND || !alu_decode(&insn->alu, (struct ptx_str){ op, len + 1 + type.n }, 2))
				return false;
		}
	}
	if (atom) {
		n = operands_vector(l, t->arg[0], a->type);
		if (n != a->count)
			return false;
		insn->results = (unsigned char)n;
	}
	if (!operand_address(l, t->arg[from], &a->space, &a->offset))
		return false;
	insn->sources = 1;
	for (int i = 1; i < 2 + (which == ATOMIC_CAS); i++) {
		n = operands_vector(l, t->arg[from + i], a->type);
		if (n != a->count)
			return false;
		insn->sources = (unsigned char)(insn->sources + n);
	}
	insn->exec = exec_atomic;
	return true;
}

bool decode_cvta(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct modifiers m = modifiers_of(t->op);
	struct operand o;
	struct ptx_str word;

	modifiers_next(&m, &word);
	while (modifiers_next(&m, &word)) {
		if (ptx_str_is(word, "to"))
			insn->mode = 1;
		else if (!ptx_str_is(word, "u64") && !space_parse(word, &insn->access.space))
			return false;
	}
	if (t->n != 2 || !operand_parse(l, t->arg[0], ALU_U64, &o) || !operand_add(l, o) ||
	    !operand_parse(l, t->arg[1], ALU_U64, &o) || !operand_add(l, o))
		return false;
	if (insn->access.space == SPACE_PARAM)
		insn->access.space = SPACE_ENTRY_PARAM;
	insn->results = insn->sources = 1;
	insn->exec = exec_cvta;
	return true;
}

bool decode_isspacep(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct modifiers m = modifiers_of(t->op);
	struct operand o;
	struct ptx_str word;

	modifiers_next(&m, &word);
	if (!modifiers_next(&m, &word) || !space_parse(word, &insn->access.space) || t->n != 2 ||
	    !operand_parse(l, t->arg[0], ALU_PRED, &o) || !operand_add(l, o) ||
	    !operand_parse(l, t->arg[1], ALU_U64, &o) || !operand_add(l, o))
		return false;
	insn->results = insn->sources = 1;
	insn->exec = exec_isspacep;
	return true;
}

bool decode_mov(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct modifiers m = modifiers_of(t->op);
	enum alu_type type = ALU_NONE;
	struct ptx_str word;
	int to, from;

	modifiers_next(&m, &word);
	if (modifiers_next(&m, &word))
		type = alu_type_of(word);
	if (!type || modifiers_next(&m, &word) || t->n != 2 || alu_bits(type) > 64)
		return false;
	to = operands_vector(l, t->arg[0], type);
	from = to > 0 ? operands_vector(l, t->arg[1], type) : -1;
	if (from < 0 || (to > 1 && from > 1) || to > 8 || from > 8)
		return false;
	insn->results = (unsigned char)to;
	insn->sources = (unsigned char)from;
	insn->cycles = LAT_ALU;
	insn->mode = (unsigned char)(alu_bits(type) / (unsigned)(to > from ? to : from));	/* bits of an element */
	insn->exec = to > 1 ? exec_unpack : from > 1 ? exec_pack : exec_mov;
	return insn->mode;
}

/* cp.async.ca.shared.global [d], [s], 16 {, size}; commit_group, wait_group: done at once, but waited for */
bool decode_async(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	struct modifiers m = modifiers_of(t->op);
	struct access *a = &insn->access;
	unsigned char space = SPACE_GLOBAL;
	struct ptx_str word;
	struct operand o;
	unsigned size;
	int64_t offset;
	bool hint = false;

	modifiers_next(&m, &word);
	if (!modifiers_next(&m, &word) || !ptx_str_is(word, "async") || !modifiers_next(&m, &word))
		return false;
	if (ptx_str_is(word, "commit_group")) {
		insn->exec = exec_nothing;
		return true;
	}
	if (ptx_str_is(word, "mbarrier"))
		return decode_async_arrive(l, t, insn);
	if (ptx_str_is(word, "wait_group") || ptx_str_is(word, "wait_all")) {
		insn->exec = exec_fence;
		return true;
	}
	if (!ptx_str_is(word, "ca") && !ptx_str_is(word, "cg"))
		return false;
	while (modifiers_next(&m, &word)) {
		hint |= ptx_str_is(word, "L2::cache_hint");
		if (!ptx_str_is(word, "L2::cache_hint") && !space_parse(word, &a->space) && !order_parse(word, a))
			return false;
	}
	if (t->n < 3 || t->n > 4 + hint || !count_parse(t->arg[2], &size) || (size != 4 && size != 8 && size != 16))
		return false;
	a->size = (unsigned char)size;
	a->count = 1;
	/* the offset of the source is an operand of its own */
	if (!operand_address(l, t->arg[0], &(unsigned char){ SPACE_SHARED }, &a->offset) ||
	    !operand_address(l, t->arg[1], &space, &offset) || !operand_constant(l, (uint64_t)offset, &o) || !operand_add(l, o))
		return false;
	if (t->n - hint > 3 ? !operand_parse(l, t->arg[3], ALU_U32, &o) : !operand_constant(l, size, &o))
		return false;
	insn->sources = 4;
	insn->exec = exec_copy_async;
	return operand_add(l, o);
}
