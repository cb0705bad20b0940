// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <stdio.h>
#include "ptx/lex.h"
#include "ptx/rewrite.h"
#include "ptx/sites.h"
#include "ptx/words.h"

void rw_number(char text[12], unsigned number)
{
	snprintf(text, 12, "%u", number);
}

unsigned rw_new_site(struct rewrite *rw, const char *kind, const char *space, struct ptx_str op, unsigned bytes)
{
	struct ptx_place place[SITE_PLACES];
	unsigned n = ptx_places_chain(&rw->places, place, SITE_PLACES);
	struct ptx_out *table = &rw->table;

	put_format(table, "S\t%u\t", rw->sites);
	for (unsigned i = 0; i < n; i++)
		put_format(table, "%s%u:%u", i ? "," : "", place[i].file, place[i].line);
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
static void put_generic_address(struct rewrite *rw, const struct rw_address *address, unsigned space)
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
	struct rw_address address;
	char bytes[12];

	if (!rw_has(rw, GPU_BEFORE) || access->address < 0 || access->texture ||
	    !rw_address_read(rw, insn->arg[access->address], false, &address))
		return;
	rw_number(bytes, access->bytes);
	args[2] = bytes;
	put_generic_address(rw, &address, access->space);
	rw_put_probe(rw, GPU_BEFORE, insn, args);
}

/* A result that the program uses: waiting for another would keep dead code alive, or make ptxas load more. */
static struct ptx_str used_result(const struct rewrite *rw, struct ptx_str arg)
{
	struct ptx_str rest = arg, name, found = { arg.s, 0 };

	while ((name = lex_next_word(&rest)).n) {
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
		rw_put_ready(rw, insn, access);
	put(out, "\n\tmov.u64 %cuprobe_t0, %clock64;");
	rw_put_access(rw, insn, access, !simple);
	if (simple) {
		;
	} else if (wait == PTX_BY_ITSELF) {
		/* some say in a result whether they have waited */
		if (insn->n && (ptx_op_is(insn->op, "mbarrier.try_wait") || ptx_has(insn->op, ".red")))
			rw_put_depend(rw, used_result(rw, insn->arg[0]));
	} else if (wait == PTX_BY_FENCE || !rw_put_depend(rw, used_result(rw, insn->arg[0]))) {
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
		rw_put_insn(rw, insn);
}
