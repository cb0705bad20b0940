// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The instruction between the clocks: what keeps it there. */
#include <string.h>
#include "ptx/lex.h"
#include "ptx/rewrite.h"
#include "ptx/words.h"

/* Reads "base + offset" from p; base may be a register, a variable or a number. */
static const char *read_base(const struct rewrite *rw, const char *p, const char *end, struct rw_address *address)
{
	p = lex_blank(p, end);
	address->base.s = p;
	p = lex_word(p, end);
	address->base.n = (size_t)(p - address->base.s);
	address->bits = ptx_register_bits(&rw->decls, address->base);
	return p;
}

bool rw_address_read(const struct rewrite *rw, struct ptx_str arg, bool texture, struct rw_address *address)
{
	const char *p = arg.s, *end = arg.s + arg.n, *next;

	memset(address, 0, sizeof(*address));
	if (arg.n < 2 || *p != '[' || end[-1] != ']')
		return false;
	if (texture) {
		p = memchr(p, '{', arg.n);
		if (!p)
			return false;
	}
	p = read_base(rw, p + 1, end, address);
	if (!address->base.n)
		return false;
	address->before = (struct ptx_str){ arg.s, (size_t)(address->base.s - arg.s) };
	address->after = (struct ptx_str){ p, (size_t)(end - p) };
	next = lex_blank(p, end);
	if (!texture && next < end && *next == '+')
		address->offset = ptx_trim((struct ptx_str){ next + 1, (size_t)(end - 1 - (next + 1)) });
	/* a vector register's element, %v.x, or what is not known */
	return next < end && (*next == '+' || *next == ']' || (texture && (*next == ',' || *next == '}')));
}

void rw_put_insn(struct rewrite *rw, const struct ptx_insn *insn)
{
	struct ptx_access none = { .address = -1, .value = -1 };

	rw_put_access(rw, insn, &none, false);
}

/* Makes %cuprobe_a64 or _a32 the base | (clock & 0); returns its name, or NULL if that cannot be done. */
static const char *put_tie(struct rewrite *rw, const struct rw_address *address, const struct ptx_access *access)
{
	bool variable = !address->bits && !access->texture && !lex_is_digit(*address->base.s) &&
			access->space != PTX_GENERIC;
	struct ptx_out *out = &rw->body;

	if (address->bits == 32) {
		put(out, "\n\tcvt.u32.u64 %cuprobe_c, %cuprobe_t0;\n\tlop3.b32 %cuprobe_a32, %cuprobe_c, %cuprobe_z, ");
		put_str(out, address->base);
		put(out, ", 0xEA;");
		return "%cuprobe_a32";
	}
	if (!variable && (address->bits != 64 || access->texture))
		return NULL;
	put(out, "\n\tcvt.u32.u64 %cuprobe_c, %cuprobe_t0;\n\tmov.b64 ");
	if (variable) {
		put(out, "%cuprobe_a64, ");
		put_str(out, address->base);
		put(out, "; mov.b64 {%cuprobe_v, %cuprobe_h}, %cuprobe_a64;");
	} else {
		put(out, "{%cuprobe_v, %cuprobe_h}, ");
		put_str(out, address->base);
		put(out, ";");
	}
	put(out, " lop3.b32 %cuprobe_v, %cuprobe_c, %cuprobe_z, %cuprobe_v, 0xEA;"
		 " mov.b64 %cuprobe_a64, {%cuprobe_v, %cuprobe_h};");
	return "%cuprobe_a64";
}

/* Then the access can neither leave a loop nor be merged with another one. */
void rw_put_access(struct rewrite *rw, const struct ptx_insn *insn, const struct ptx_access *access, bool tie)
{
	struct ptx_out *out = &rw->body;
	struct rw_address address;
	const char *tied = NULL;

	if (tie && access->address >= 0 && rw_address_read(rw, insn->arg[access->address], access->texture, &address))
		tied = put_tie(rw, &address, access);
	put(out, "\n\t");
	if (insn->guard.n) {
		put(out, insn->negated ? "@!" : "@");
		put_str(out, insn->guard);
		put(out, " ");
	}
	put_str(out, insn->op);
	for (int i = 0; i < insn->n; i++) {
		put(out, i ? ", " : " ");
		if (tied && i == access->address) {
			put_str(out, address.before);
			put(out, tied);
			put_str(out, address.after);
		} else {
			put_str(out, insn->arg[i]);
		}
	}
	put(out, ";");
}

/* An instruction that is never executed, and that neither ptxas nor the hardware moves over a clock read: it
 * has to wait for the register. */
static bool put_anchor(struct rewrite *rw, struct ptx_str name)
{
	int bits = ptx_register_bits(&rw->decls, name);
	struct ptx_out *out = &rw->body;

	switch (bits) {
	case 1: put(out, "\n\tselp.b32 %cuprobe_v, 1, 0, "); break;
	case 16: put(out, "\n\tmov.b32 %cuprobe_v, {"); break;
	case 32: put(out, "\n\tmov.b32 %cuprobe_v, "); break;
	case 64: put(out, "\n\tmov.b64 {%cuprobe_v, %cuprobe_h}, "); break;
	case 128: put(out, "\n\t{ .reg .b64 %cuprobe_x; mov.b128 {%cuprobe_a64, %cuprobe_x}, "); break;
	default: return false;
	}
	put_str(out, name);
	if (bits == 16) {
		put(out, ", ");
		put_str(out, name);
		put(out, "}");
	}
	put(out, bits == 128 ? "; cvt.u32.u64 %cuprobe_v, %cuprobe_a64; }" : ";");
	put(out, " @%cuprobe_q st.volatile.shared.b32 [%cuprobe_o], %cuprobe_v;");
	return true;
}

/* The same for each register in an operand. */
static void put_anchors(struct rewrite *rw, struct ptx_str arg)
{
	struct ptx_str name;

	while ((name = lex_next_word(&arg)).n)
		put_anchor(rw, name);
}

bool rw_put_depend(struct rewrite *rw, struct ptx_str result)
{
	return result.n && put_anchor(rw, result);
}

void rw_put_ready(struct rewrite *rw, const struct ptx_insn *insn, const struct ptx_access *access)
{
	struct rw_address address;

	if (access->address >= 0 && rw_address_read(rw, insn->arg[access->address], access->texture, &address)) {
		put_anchor(rw, address.base);
		if (access->texture)	/* the other coordinates */
			put_anchors(rw, address.after);
	}
	if (access->value >= 0)
		put_anchors(rw, insn->arg[access->value]);
}
