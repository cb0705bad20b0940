// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <stdio.h>
#include <string.h>
#include "ptx/lex.h"
#include "ptx/ptx.h"
#include "ptx/rewrite.h"
#include "ptx/sites.h"

/* A site's instruction with the probes around it.  The instruction must stay between the two clock reads: its address
 * depends on the first, and an instruction before the second depends on its result. */

/* An instruction's address operand: [base + offset], or [handle, {base, …}] of a texture. */
struct address {
	struct ptx_str before, base, after;	/* the operand's text: base is a register or a variable */
	struct ptx_str offset;			/* "-4"; n = 0: none */
	int bits;				/* of the register; 0: none */
};

/* Reads "base + offset" from p; base may be a register, a variable or a number. */
static const char *read_base(const struct rewrite *rw, const char *p, const char *end, struct address *address)
{
	p = lex_blank(p, end);
	address->base.s = p;
	p = lex_word(p, end);
	address->base.n = (size_t)(p - address->base.s);
	address->bits = ptx_register_bits(&rw->decls, address->base);
	return p;
}

static bool read_address(const struct rewrite *rw, struct ptx_str arg, bool texture, struct address *address)
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

/* Makes %cuprobe_a64 or _a32 the base | (clock & 0); returns its name, or NULL if that cannot be done. */
static const char *tie_address(struct rewrite *rw, const struct address *address, const struct ptx_access *access)
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

/* Puts the instruction; tie: with its address dependent on the first clock, if possible, so that ptxas can neither move the
 * access out of a loop nor merge it with another. */
static void put_access(struct rewrite *rw, const struct ptx_insn *insn, const struct ptx_access *access, bool tie)
{
	struct ptx_out *out = &rw->body;
	struct address address;
	const char *tied = NULL;

	if (tie && access->address >= 0 && read_address(rw, insn->arg[access->address], access->texture, &address))
		tied = tie_address(rw, &address, access);
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

/* Puts an instruction unchanged. */
static void put_insn(struct rewrite *rw, const struct ptx_insn *insn)
{
	struct ptx_access none = { .address = -1, .value = -1 };

	put_access(rw, insn, &none, false);
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

/* Puts an anchor for each register in an operand. */
static void put_anchors(struct rewrite *rw, struct ptx_str arg)
{
	struct ptx_str name;

	while ((name = ptx_next_word(&arg)).n)
		put_anchor(rw, name);
}

/* Puts an anchor for a result; false if there is none. */
static bool await_result(struct rewrite *rw, struct ptx_str result)
{
	return result.n && put_anchor(rw, result);
}

/* Puts anchors for the operands, so that the first clock is not read before they are there. */
static void await_operands(struct rewrite *rw, const struct ptx_insn *insn, const struct ptx_access *access)
{
	struct address address;

	if (access->address >= 0 && read_address(rw, insn->arg[access->address], access->texture, &address)) {
		put_anchor(rw, address.base);
		if (access->texture)	/* the other coordinates */
			put_anchors(rw, address.after);
	}
	if (access->value >= 0)
		put_anchors(rw, insn->arg[access->value]);
}

void rw_number(char text[12], unsigned number)
{
	snprintf(text, 12, "%u", number);
}

unsigned rw_new_site(struct rewrite *rw, const char *kind, const char *space, struct ptx_str op, unsigned bytes)
{
	struct ptx_source source[SITE_LOCS];
	unsigned n = ptx_locs_chain(&rw->locs, source, SITE_LOCS);
	struct ptx_out *table = &rw->table;

	put_format(table, "S\t%u\t", rw->sites);
	for (unsigned i = 0; i < n; i++)
		put_format(table, "%s%u:%u", i ? "," : "", source[i].file, source[i].line);
	put(table, n ? "\t" : "0:0\t");
	put_str(table, rw->function.head.name);
	put_format(table, "\t%s\t%s\t", kind, space);
	for (size_t i = 0; i < op.n; i++)
		if (!lex_is_space(op.s[i]))
			put_bytes(table, op.s + i, 1);
	put_format(table, "\t%u\n", bytes);
	return rw->sites++;
}

bool rw_is_site(const struct rewrite *rw, const struct ptx_insn *insn, struct ptx_access *access)
{
	const struct instrument *o = rw->options;

	if (!ptx_access(access, insn) || !(access->op & o->ops) || !(access->space & o->spaces))
		return false;
	return rw->listing || rw_has(rw, GPU_TIMED) ||
	       (rw_has(rw, GPU_BEFORE) && access->address >= 0 && !access->texture);
}

void rw_put_guard(struct rewrite *rw, const struct ptx_insn *insn)
{
	struct ptx_out *out = &rw->body;

	if (!insn->guard.n)
		return;
	put(out, insn->negated ? "\n\tnot.pred %cuprobe_g, " : "\n\tmov.pred %cuprobe_g, ");
	put_str(out, insn->guard);
	put(out, rw_has(rw, GPU_CHOSEN) ? "; and.pred %cuprobe_g, %cuprobe_g, %cuprobe_on;" : ";");
}

void rw_put_probe(struct rewrite *rw, enum gpu_point point, const struct ptx_insn *insn, const char *const args[])
{
	struct ptx_out *out = &rw->body;
	bool guarded = insn->guard.n || rw_has(rw, GPU_CHOSEN);
	unsigned number = rw->pastes++;

	if (guarded)
		put_format(out, "\n\t@!%s bra $cuprobe_%u_skip;", insn->guard.n ? "%cuprobe_g" : "%cuprobe_on", number);
	if (rw->function.called && point != GPU_ENTRY)
		ptx_template_call(out, point, args);
	else
		ptx_template_paste(out, &rw->tmpl[point], number, args);
	if (guarded)
		put_format(out, "\n$cuprobe_%u_skip:", number);
}

/* %cuprobe_a64: the generic address. */
static void put_generic_address(struct rewrite *rw, const struct address *address, unsigned space)
{
	struct ptx_out *out = &rw->body;

	put(out, address->bits == 32 ? "\n\tcvt.u64.u32 %cuprobe_a64, " : "\n\tmov.b64 %cuprobe_a64, ");
	put_str(out, address->base);
	put(out, ";");
	if (address->offset.n) {
		put(out, " add.s64 %cuprobe_a64, %cuprobe_a64, ");
		put_str(out, address->offset);
		put(out, ";");
	}
	switch (space) {
	case PTX_GLOBAL: case PTX_READONLY: put(out, " cvta.global.u64"); break;
	case PTX_SHARED: put(out, " cvta.shared.u64"); break;
	case PTX_LOCAL: put(out, " cvta.local.u64"); break;
	case PTX_CONST: put(out, " cvta.const.u64"); break;
	default: return;
	}
	put(out, " %cuprobe_a64, %cuprobe_a64;");
}

static void put_before(struct rewrite *rw, const struct ptx_insn *insn, const struct ptx_access *access,
		       const char *site)
{
	const char *args[GPU_PARAMS] = { site, "%cuprobe_a64" };
	struct address address;
	char bytes[12];

	if (!rw_has(rw, GPU_BEFORE) || access->address < 0 || access->texture ||
	    !read_address(rw, insn->arg[access->address], false, &address))
		return;
	rw_number(bytes, access->bytes);
	args[2] = bytes;
	put_generic_address(rw, &address, access->space);
	rw_put_probe(rw, GPU_BEFORE, insn, args);
}

/* Returns a result that the program uses: waiting for another would keep dead code alive, or make ptxas load more. */
static struct ptx_str used_result(const struct rewrite *rw, struct ptx_str arg)
{
	struct ptx_str rest = arg, name, found = { arg.s, 0 };

	while ((name = ptx_next_word(&rest)).n) {
		if (!ptx_str_is(name, "_") && ptx_used(&rw->uses, name))
			found = name;
		if (*arg.s != '{')	/* %f1|%p1 */
			break;
	}
	return found;
}

static enum ptx_wait wait_of(const struct rewrite *rw, const struct ptx_access *access)
{
	if (access->wait == PTX_BY_ITSELF || rw->options->scheme == PTX_DEP)
		return access->wait;
	if (rw->options->scheme == PTX_PAPER && access->read_only)
		return access->wait;
	return PTX_BY_FENCE;
}

static void put_timed(struct rewrite *rw, const struct ptx_insn *insn, const struct ptx_access *access,
		      const char *site)
{
	const char *args[GPU_PARAMS] = { site, "%cuprobe_t0", "%cuprobe_t1" };
	bool simple = rw->options->scheme == PTX_SIMPLE;
	struct ptx_out *out = &rw->body;
	enum ptx_wait wait = wait_of(rw, access);

	if (!simple)
		await_operands(rw, insn, access);
	put(out, "\n\tmov.u64 %cuprobe_t0, %clock64;");
	put_access(rw, insn, access, !simple);
	if (simple) {
		;
	} else if (wait == PTX_BY_ITSELF) {
		/* some have a result that depends on the wait */
		if (insn->n && (ptx_op_is(insn->op, "mbarrier.try_wait") || ptx_has(insn->op, ".red")))
			await_result(rw, used_result(rw, insn->arg[0]));
	} else if (wait == PTX_BY_FENCE || !await_result(rw, used_result(rw, insn->arg[0]))) {
		put(out, "\n\tmembar.cta;");
	}
	put(out, "\n\tmov.u64 %cuprobe_t1, %clock64;");
	rw_put_probe(rw, GPU_TIMED, insn, args);
}

void rw_site(struct rewrite *rw, const struct ptx_stmt *stmt, const struct ptx_insn *insn,
	     const struct ptx_access *access)
{
	unsigned id = rw_new_site(rw, access->kind, access->space_name, insn->op, access->bytes);
	char site[12];

	rw_number(site, id);
	put_bytes(&rw->body, stmt->text.s, (size_t)(stmt->body.s - stmt->text.s));
	put_format(&rw->body, "// site %u", id);
	rw_put_guard(rw, insn);
	put_before(rw, insn, access, site);
	if (rw_has(rw, GPU_TIMED))
		put_timed(rw, insn, access, site);
	else
		put_insn(rw, insn);
}
