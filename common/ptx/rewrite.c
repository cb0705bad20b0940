// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/instrument.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ptx/lex.h"
#include "ptx/rewrite.h"

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

	rw_prologue(rw);
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
	if (rw_leaves(rw, &insn)) {
		put_bytes(&rw->body, stmt->text.s, (size_t)(stmt->body.s - stmt->text.s));
		rw_leave(rw, &insn);
		put(&rw->body, "\n\t");
		put_str(&rw->body, stmt->body);
		return;
	}
	put_str(&rw->body, stmt->text);
}

/* A kernel may end without a ret. */
static void close_brace(struct rewrite *rw, const struct ptx_stmt *stmt)
{
	struct ptx_insn none = { 0 };

	ptx_undeclare(&rw->decls, stmt->depth);
	if (!stmt->depth && rw->function.measured && rw->function.head.entry && !rw->function.ended) {
		rw_prologue(rw);
		rw_leave(rw, &none);
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
		rw_prologue(rw);
		break;
	case PTX_OPEN:
		rw_prologue(rw);
		break;
	case PTX_REG:
		ptx_declare(&rw->decls, stmt->body, stmt->depth);
		break;
	case PTX_TEXT:
		ptx_places_loc(&rw->places, stmt->body);
		break;
	default:
		break;
	}
	put_str(&rw->body, stmt->text);
}

/* More sites than are wanted: they are counted only. */
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
			if (!rw_function_begin(rw, &stmt, reader))
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
	if (rw->body.failed || rw->table.failed || rw->module.files.failed || rw->decls.failed || rw->places.failed)
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
	ptx_places_free(&rw->places);
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
