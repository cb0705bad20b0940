// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <string.h>
#include "ptx/lex.h"
#include "ptx/rewrite.h"

enum { CALL_ABOVE = 1000 };

bool rw_leaves(const struct rewrite *rw, const struct ptx_insn *insn)
{
	return ptx_str_is(insn->op, "exit") || (ptx_str_is(insn->op, "ret") && rw->function.head.entry);
}

/* Looks at a function's instructions before any is changed.  The function's own place is its first. */
static bool survey(struct rewrite *rw, struct ptx_reader reader)
{
	struct ptx_function *function = &rw->function;
	unsigned above = rw->options->call_above ? rw->options->call_above : CALL_ABOVE;
	const char *begin = reader.p;
	struct ptx_reader end = reader;
	size_t sites = 0, leaves = 0;
	struct ptx_stmt stmt;

	while (end.depth && ptx_next(&end, &stmt))
		;
	if (!ptx_uses_begin(&rw->uses, (size_t)(end.p - begin)))
		return false;
	while (reader.depth && ptx_next(&reader, &stmt)) {
		struct ptx_access access;
		struct ptx_insn insn;

		if (stmt.kind == PTX_TEXT && !rw->places.current)
			ptx_places_loc(&rw->places, stmt.body);
		if (stmt.kind != PTX_INSN)
			continue;
		ptx_uses_count(&rw->uses, stmt.body);
		if (!ptx_insn_parse(stmt.body, &insn))
			continue;
		sites += rw_is_site(rw, &insn, &access);
		leaves += rw_leaves(rw, &insn);
	}
	function->called = sites + leaves > above;
	function->times_itself = function->head.entry ? rw_has(rw, GPU_ENTRY) || rw_has(rw, GPU_EXIT) :
				 leaves && rw_has(rw, GPU_EXIT);
	return true;
}

/* The head, with .maxnreg as it is to be. */
static void put_head(struct rewrite *rw, const struct ptx_stmt *stmt)
{
	const struct ptx_head *head = &rw->function.head;
	const struct instrument *o = rw->options;
	unsigned registers = head->entry && o->registers ? o->registers(o->ctx, head->name.s, head->name.n) : 0;
	const char *p = head->rest.s, *end = p + head->rest.n;

	if (!registers) {
		put_str(&rw->body, stmt->text);
		return;
	}
	put_bytes(&rw->body, stmt->text.s, (size_t)(p - stmt->text.s));
	while (p < end) {	/* without the .maxnreg that it has */
		const char *next = lex_blank(p, end);
		unsigned old;

		if (lex_starts(next, end, ".maxnreg")) {
			p = next + strlen(".maxnreg");
			lex_number(&p, end, &old);
			continue;
		}
		next += next < end;
		put_bytes(&rw->body, p, (size_t)(next - p));
		p = next;
	}
	put_format(&rw->body, "\n.maxnreg %u\n{", registers);
}

static void put_registers(struct rewrite *rw)
{
	put(&rw->body, "\n\t.reg .pred %cuprobe_q, %cuprobe_on, %cuprobe_g;"
		       "\n\t.reg .b32 %cuprobe_z, %cuprobe_c, %cuprobe_o, %cuprobe_v, %cuprobe_h, %cuprobe_a32;"
		       "\n\t.reg .b64 %cuprobe_t0, %cuprobe_t1, %cuprobe_te, %cuprobe_a64;");
}

bool rw_function_begin(struct rewrite *rw, const struct ptx_stmt *stmt, struct ptx_reader reader)
{
	struct ptx_function *function = &rw->function;
	const struct instrument *o = rw->options;

	memset(function, 0, sizeof(*function));
	ptx_undeclare(&rw->decls, 0);
	ptx_places_begin(&rw->places);
	if (!ptx_head_parse(stmt->body, &function->head)) {
		put_str(&rw->body, stmt->text);
		return true;
	}
	function->measured = function->head.entry ?
		!o->selects || o->selects(o->ctx, function->head.name.s, function->head.name.n) : rw->module.selected;
	if (!function->measured) {
		put_str(&rw->body, stmt->text);
		return true;
	}
	if (!survey(rw, reader))
		return false;
	rw->calls |= function->called;
	if (function->times_itself)
		function->site = rw_new_site(rw, "kernel", "-", function->head.entry ?
			(struct ptx_str){ ".entry", 6 } : (struct ptx_str){ "exit", 4 }, 0);
	ptx_places_begin(&rw->places);
	put_head(rw, stmt);
	put_registers(rw);
	return true;
}

void rw_prologue(struct rewrite *rw)
{
	struct ptx_function *function = &rw->function;
	struct ptx_out *out = &rw->body;
	const char *args[GPU_PARAMS] = { "%cuprobe_c" };
	struct ptx_insn none = { 0 };
	char site[12];

	if (function->begun || !function->measured)
		return;
	function->begun = true;
	if (function->times_itself && rw_has(rw, GPU_EXIT))
		put(out, "\n\tmov.u64 %cuprobe_te, %clock64;");
	/* gpu_ctl.zero */
	put_format(out, "\n\tld.const.u32 %%cuprobe_z, [" GPU_CTL "_%s+28];"
			"\n\tsetp.ne.u32 %%cuprobe_q, %%cuprobe_z, 0;\n\tmov.u32 %%cuprobe_o, 0;", rw->hash);
	if (rw_has(rw, GPU_CHOSEN)) {
		ptx_template_paste(out, &rw->tmpl[GPU_CHOSEN], rw->pastes++, args);
		put(out, "\n\tsetp.ne.u32 %cuprobe_on, %cuprobe_c, 0;");
	}
	if (function->head.entry && rw_has(rw, GPU_ENTRY)) {
		args[0] = site;
		rw_number(site, function->site);
		rw_put_probe(rw, GPU_ENTRY, &none, args);
	}
}

void rw_leave(struct rewrite *rw, const struct ptx_insn *insn)
{
	const char *args[GPU_PARAMS] = { NULL, "%cuprobe_te", "%cuprobe_t1" };
	char site[12];

	if (!rw_has(rw, GPU_EXIT))
		return;
	rw_number(site, rw->function.site);
	args[0] = site;
	rw_put_guard(rw, insn);
	put(&rw->body, "\n\tmov.u64 %cuprobe_t1, %clock64;");
	rw_put_probe(rw, GPU_EXIT, insn, args);
}
