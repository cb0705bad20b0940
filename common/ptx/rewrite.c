// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* instrument(): reads the text statement by statement, and puts it with the probes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/agent_gpuprobe.h"
#include "ptx/lex.h"
#include "ptx/rewrite.h"

enum { CALL_ABOVE = 1000 };

static bool is_exit(const struct rewrite *rw, const struct ptx_insn *insn)
{
	return ptx_str_is(insn->op, "exit") || (ptx_str_is(insn->op, "ret") && rw->function.head.entry);
}

/* Reads a function's instructions before any is changed.  The function's own site has the first location. */
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

		if (stmt.kind == PTX_TEXT && !rw->locs.current)
			ptx_locs_add(&rw->locs, stmt.body);
		if (stmt.kind != PTX_INSN)
			continue;
		ptx_uses_count(&rw->uses, stmt.body);
		if (!ptx_insn_parse(stmt.body, &insn))
			continue;
		sites += rw_is_site(rw, &insn, &access);
		leaves += is_exit(rw, &insn);
	}
	function->called = sites + leaves > above;
	function->times_itself = function->head.entry ? rw_has(rw, GPU_ENTRY) || rw_has(rw, GPU_EXIT) :
				 leaves && rw_has(rw, GPU_EXIT);
	return true;
}

/* Puts the head, with its new .maxnreg. */
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

/* At the head of a function: reads it to its end (reader is a copy); puts the head; false if out of memory. */
static bool begin_function(struct rewrite *rw, const struct ptx_stmt *stmt, struct ptx_reader reader)
{
	struct ptx_function *function = &rw->function;
	const struct instrument *o = rw->options;

	memset(function, 0, sizeof(*function));
	ptx_undeclare(&rw->decls, 0);
	ptx_locs_begin(&rw->locs);
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
	ptx_locs_begin(&rw->locs);
	put_head(rw, stmt);
	put_registers(rw);
	return true;
}

static void put_prologue(struct rewrite *rw)
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

static void put_leave(struct rewrite *rw, const struct ptx_insn *insn)
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

static uint32_t fnv1a(const char *text, size_t size)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

static void instruction(struct rewrite *rw, const struct ptx_stmt *stmt)
{
	struct ptx_access access;
	struct ptx_insn insn;

	put_prologue(rw);
	if (!ptx_insn_parse(stmt->body, &insn)) {
		put_str(&rw->body, stmt->text);
		return;
	}
	rw->function.ended = !insn.guard.n && (ptx_str_is(insn.op, "ret") || ptx_str_is(insn.op, "exit") ||
					       ptx_op_is(insn.op, "bra") || ptx_str_is(insn.op, "trap"));
	if (rw_is_site(rw, &insn, &access)) {
		rw_site(rw, stmt, &insn, &access);
		return;
	}
	if (is_exit(rw, &insn)) {
		put_bytes(&rw->body, stmt->text.s, (size_t)(stmt->body.s - stmt->text.s));
		put_leave(rw, &insn);
		put(&rw->body, "\n\t");
		put_str(&rw->body, stmt->body);
		return;
	}
	put_str(&rw->body, stmt->text);
}

/* A kernel can end without a ret. */
static void close_brace(struct rewrite *rw, const struct ptx_stmt *stmt)
{
	struct ptx_insn none = { 0 };

	ptx_undeclare(&rw->decls, stmt->depth);
	if (!stmt->depth && rw->function.measured && rw->function.head.entry && !rw->function.ended) {
		put_prologue(rw);
		put_leave(rw, &none);
	}
	put_str(&rw->body, stmt->text);
	if (!stmt->depth)
		memset(&rw->function, 0, sizeof(rw->function));
}

static void in_function(struct rewrite *rw, const struct ptx_stmt *stmt)
{
	switch (stmt->kind) {
	case PTX_INSN:
		if (rw->function.measured) {
			instruction(rw, stmt);
			return;
		}
		break;
	case PTX_CLOSE:
		close_brace(rw, stmt);
		return;
	case PTX_LABEL:
		rw->function.ended = false;
		put_prologue(rw);
		break;
	case PTX_OPEN:
		put_prologue(rw);
		break;
	case PTX_REG:
		ptx_declare(&rw->decls, stmt->body, stmt->depth);
		break;
	case PTX_TEXT:
		ptx_locs_add(&rw->locs, stmt->body);
		break;
	default:
		break;
	}
	put_str(&rw->body, stmt->text);
}

/* Returns true if there are more sites than allowed: these are only counted. */
static bool too_many(const struct rewrite *rw)
{
	return rw->options->max_sites && rw->sites > rw->options->max_sites;
}

static enum instrument_result rewrite(struct rewrite *rw, const char *text, size_t size)
{
	struct ptx_reader reader = { text, text + size, 0 };
	struct ptx_stmt stmt;

	if (!rw_module_read(rw, text, size))
		return INSTRUMENT_BAD;
	if (rw->module.old)
		return INSTRUMENT_OLD;
	if (rw->module.linked)
		return INSTRUMENT_LINKED;
	if (!rw->module.selected)
		return INSTRUMENT_NO_SITES;
	reader.p += rw->module.head;
	while (ptx_next(&reader, &stmt)) {
		if (stmt.kind == PTX_FUNC) {
			if (!begin_function(rw, &stmt, reader))
				return INSTRUMENT_BAD;
		} else {
			in_function(rw, &stmt);
		}
		if (rw->listing || too_many(rw))
			rw->body.n = 0;
		if (too_many(rw))
			rw->table.n = 0;
	}
	put_str(&rw->body, stmt.text);
	if (rw->body.failed || rw->table.failed || rw->module.files.failed || rw->decls.failed || rw->locs.failed)
		return INSTRUMENT_BAD;
	return too_many(rw) ? INSTRUMENT_TOO_MANY : rw->sites ? INSTRUMENT_DONE : INSTRUMENT_NO_SITES;
}

static void finish(struct instrumented *out, struct rewrite *rw, const char *text, enum instrument_result *result)
{
	struct ptx_out whole = { 0 };

	if (rw->listing) {
		put_bytes(&whole, rw->table.s, rw->table.n);
		put_bytes(&whole, rw->module.files.s, rw->module.files.n);
	} else {
		put_bytes(&whole, text, rw->module.head);
		rw_put_room(&whole, rw);
		put_bytes(&whole, rw->body.s, rw->body.n);
		rw_put_table(&whole, rw);
	}
	if (whole.failed) {
		free(whole.s);
		*result = INSTRUMENT_BAD;
		return;
	}
	out->text = whole.s;
	out->size = whole.n;
}

static void rewrite_free(struct rewrite *rw)
{
	for (int i = 0; i < GPU_FUNCTIONS; i++)
		ptx_template_free(&rw->tmpl[i]);
	free(rw->body.s);
	free(rw->table.s);
	free(rw->module.files.s);
	free(rw->module.variables.s);
	ptx_decls_free(&rw->decls);
	ptx_uses_free(&rw->uses);
	ptx_locs_free(&rw->locs);
}

static enum instrument_result run(struct instrumented *out, const char *text, size_t size,
				  const struct instrument *options, bool listing)
{
	struct rewrite rw = { .options = options, .listing = listing };
	enum instrument_result result;

	*out = (struct instrumented){ .hash = fnv1a(text, size) };
	snprintf(rw.hash, sizeof(rw.hash), "%08x", out->hash);
	for (int i = 0; i < GPU_FUNCTIONS && options->probe; i++)
		ptx_template_make(&rw.tmpl[i], options->probe, (enum gpu_point)i, rw.hash);
	result = rewrite(&rw, text, size);
	if (result == INSTRUMENT_DONE)
		finish(out, &rw, text, &result);
	out->sites = rw.sites;
	out->kernels = rw.kernels;
	rewrite_free(&rw);
	return result;
}

struct instrument instrument_options(const struct gpuprobe_config *config, const struct gpu_probe *probe)
{
	return (struct instrument){
		.probe = probe, .scheme = config->scheme, .spaces = config->spaces, .ops = config->ops,
		.block_mask = config->block_mask, .block_want = config->block_want,
		.warp_mask = config->warp_mask, .warp_want = config->warp_want,
		.groups = config->groups, .limit = config->limit, .max_sites = config->max_sites,
	};
}

enum instrument_result instrument(struct instrumented *out, const char *text, size_t size,
				  const struct instrument *options)
{
	return run(out, text, size, options, false);
}

enum instrument_result instrument_list(struct instrumented *out, const char *text, size_t size,
				       const struct instrument *options)
{
	return run(out, text, size, options, true);
}
