// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#define _GNU_SOURCE
#include <string.h>
#include "ptx/lex.h"
#include "ptx/rewrite.h"

/* The module: reads its version, files, kernels and variables; puts the variables of the probe, and the table of sites. */

/* Reads "[12][3]" at *p, which is set after it; false if a dimension is unknown. */
static bool read_dimensions(const char **p, const char *end, unsigned long long *elements)
{
	unsigned n;

	*elements = 1;
	for (*p = lex_blank(*p, end); *p < end && **p == '['; *p = lex_blank(*p, end)) {
		++*p;
		if (!lex_number(p, end, &n) || (n && *elements > (1ull << 40) / n))
			return false;
		*elements *= n;
		*p = lex_blank(*p, end);
		if (*p == end || *(*p)++ != ']')
			return false;
	}
	return true;
}

/* Reads the modifiers at *p, which is set after them: ".visible .global .align 4 .attribute(.managed) .v2 .f32";
 * returns the bytes of an element; 0: it is not a variable in global memory of a known type. */
static unsigned read_modifiers(const char **p, const char *end)
{
	unsigned bytes = 0, vector = 1, ignored;
	bool global = false;

	for (*p = lex_blank(*p, end); *p < end && **p == '.'; *p = lex_blank(*p, end)) {
		const char *word = ++*p;
		struct ptx_str name = { word, (size_t)((*p = lex_word(word, end)) - word) };

		if (ptx_str_is(name, "extern"))
			return 0;
		if (ptx_str_is(name, "align") && !lex_number(p, end, &ignored))
			return 0;
		if (ptx_str_is(name, "attribute")) {
			*p = memchr(*p, ')', (size_t)(end - *p));
			if (!*p)
				return 0;
			++*p;
		}
		global |= ptx_str_is(name, "global");
		vector = ptx_str_is(name, "v2") ? 2 : ptx_str_is(name, "v4") ? 4 : vector;
		if (!bytes)
			bytes = (unsigned)ptx_type_bits(name) / 8;
	}
	return global ? bytes * vector : 0;
}

static void rewrite_module_read_variable(struct rewrite *rw, const struct ptx_stmt *stmt)
{
	const char *p = stmt->body.s, *end = p + stmt->body.n;
	unsigned bytes = read_modifiers(&p, end);
	unsigned long long elements;

	while (bytes && p < end) {
		struct ptx_str name = { p, (size_t)(lex_word(p, end) - p) };

		p += name.n;
		if (!name.n || !read_dimensions(&p, end, &elements))
			return;
		put(&rw->module.variables, "generic(");
		put_str(&rw->module.variables, name);
		put_format(&rw->module.variables, "), %llu, ", elements * bytes);
		rw->module.num_variables++;
		if (p == end || *p++ != ',')
			return;
		p = lex_blank(p, end);
	}
}

static bool wants_variables(const struct rewrite *rw)
{
	const struct gpu_probe *probe = rw->options->probe;
	bool wants = false;

	for (int i = 0; probe && i < probe->num_variables; i++)
		wants |= ptx_str_is(probe->names[i], GPU_RANGES_NAME);
	return wants;
}

static void put_variables(struct ptx_out *out, const struct rewrite *rw)
{
	if (!wants_variables(rw))
		return;
	put_format(out, "\n.visible .global .align 8 .u64 __cuprobe_variables_%s[%u] = { ", rw->hash,
		   2 * rw->module.num_variables + 2);
	put_bytes(out, rw->module.variables.s, rw->module.variables.n);
	out->failed |= rw->module.variables.failed;
	put(out, "0, 0 };\n");
}

enum { FILES = 65535 };		/* larger numbers of a .file are ignored */

/* Reads "6.2" or "sm_90a" as two numbers. */
static void read_version(struct ptx_str body, unsigned *major, unsigned *minor)
{
	const char *p = body.s, *end = body.s + body.n;

	*major = *minor = 0;
	while (p < end && !lex_is_digit(*p))
		p++;
	if (lex_number(&p, end, major) && p < end && *p == '.') {
		p++;
		lex_number(&p, end, minor);
	}
}

/* .file 1 "path", 123, 456 */
static void rewrite_module_read_file(struct ptx_out *files, struct ptx_str body)
{
	const char *p = body.s + strlen(".file"), *end = body.s + body.n;
	unsigned number;

	if (!lex_number(&p, end, &number) || number > FILES)
		return;
	p = lex_blank(p, end);
	if (p == end || *p != '"')
		return;
	end = lex_string(p, end);
	if (end - p < 2 || end[-1] != '"')
		return;
	put(files, "F\t");
	put_number(files, number);
	put(files, "\t");
	for (; p < end; p++)
		put_bytes(files, (unsigned char)*p < ' ' ? "?" : p, 1);
	put(files, "\n");
}

/* Functions that the driver itself provides. */
static bool is_system_call(struct ptx_str name)
{
	return ptx_str_is(name, "vprintf") || ptx_str_is(name, "malloc") || ptx_str_is(name, "free") ||
	       ptx_str_is(name, "__assertfail");
}

static void read_statement(struct rewrite *rw, const struct ptx_stmt *stmt)
{
	const char *p = stmt->body.s, *end = p + stmt->body.n;
	struct ptx_module *module = &rw->module;
	struct ptx_head head;
	unsigned major, minor;

	if (lex_starts(p, end, ".file")) {
		rewrite_module_read_file(&module->files, stmt->body);
	} else if (lex_starts(p, end, ".version")) {
		read_version(stmt->body, &major, &minor);
		module->old |= major < 6 || (major == 6 && minor < 2);
	} else if (lex_starts(p, end, ".target")) {
		read_version(stmt->body, &major, &minor);
		module->old |= major < 70;
	} else if (stmt->kind == PTX_FUNC) {
		if (!ptx_head_parse(stmt->body, &head) || !head.entry)
			return;
		if (!rw->options->selects || rw->options->selects(rw->options->ctx, head.name.s, head.name.n)) {
			module->selected = true;
			rw->kernels++;
		}
	} else if (stmt->kind == PTX_TEXT && p < end && *p == '.' && wants_variables(rw)) {
		rewrite_module_read_variable(rw, stmt);
	}
	if (stmt->kind != PTX_FUNC && lex_starts(p, end, ".extern") && ptx_head_parse(stmt->body, &head)) {
		module->linked |= !is_system_call(head.name);
	}
}

static bool is_header(const struct ptx_stmt *stmt)
{
	const char *p = stmt->body.s, *end = p + stmt->body.n;

	return lex_starts(p, end, ".version") || lex_starts(p, end, ".target") ||
	       lex_starts(p, end, ".address_size");
}

bool rw_module_read(struct rewrite *rw, const char *text, size_t size)
{
	struct ptx_reader reader = { text, text + size, 0 };
	bool header = true, version = false, target = false;
	struct ptx_stmt stmt;

	while (ptx_next(&reader, &stmt)) {
		if (stmt.depth)
			continue;
		header &= is_header(&stmt);
		if (header) {
			rw->module.head = (size_t)(reader.p - text);
			version |= lex_starts(stmt.body.s, stmt.body.s + stmt.body.n, ".version");
			target |= lex_starts(stmt.body.s, stmt.body.s + stmt.body.n, ".target");
		}
		read_statement(rw, &stmt);
	}
	return version && target && !reader.depth;
}

static void put_array(struct ptx_out *out, const char *name, const char *hash, unsigned long long bytes)
{
	put_format(out, "\n.visible .global .align 128 .b8 __cuprobe_%s_%s[%llu];", name, hash, bytes);
}

/* struct gpu_ctl of abi/gpu_variables.h, as 64-bit words. */
static void put_ctl(struct ptx_out *out, const struct rewrite *rw, bool slots, bool rings)
{
	const struct instrument *o = rw->options;
	const char *h = rw->hash;
	unsigned long long limit = rings ? o->limit : 0;

	put_format(out, "\n.visible .const .align 8 .u64 " GPU_CTL "_%s[7] = { ", h);
	put_format(out, slots ? "generic(__cuprobe_slots_%s), " : "0, ", h);
	put_format(out, rings ? "generic(__cuprobe_rings_%s), generic(__cuprobe_records_%s), " : "0, 0, ", h, h);
	put_format(out, "%llu, %llu, %llu, %llu };\n", (unsigned long long)(o->groups ? o->groups - 1 : 0),
		   limit | (unsigned long long)o->block_mask << 32,
		   o->block_want | (unsigned long long)o->warp_mask << 32, (unsigned long long)o->warp_want);
}

void rw_put_room(struct ptx_out *out, const struct rewrite *rw)
{
	const struct instrument *o = rw->options;
	const struct gpu_probe *probe = o->probe;
	bool slots = probe->slots && o->groups, rings = probe->rings && o->groups && o->limit;

	put(out, "\n");
	if (slots)
		put_array(out, "slots", rw->hash, 256ull * o->groups * rw->sites);
	if (rings) {
		put_array(out, "rings", rw->hash, 128ull * o->groups);
		put_array(out, "records", rw->hash, 32ull * o->groups * o->limit);
	}
	put_ctl(out, rw, slots, rings);
	for (int i = 0; i < probe->num_variables; i++) {
		struct ptx_str text = probe->variables[i];

		/* shared variables cannot be visible */
		if (lex_starts(text.s, text.s + text.n, ".visible")) {
			text.s += strlen(".visible");
			text.n -= strlen(".visible");
			if (!memmem(text.s, text.n, ".shared", 7))
				put(out, ".visible");
		}
		ptx_put_renamed(out, probe, text, rw->hash);
		put(out, "\n");
	}
	for (int point = 0; rw->calls && point < GPU_FUNCTIONS; point++)
		if (point == GPU_EXIT || point == GPU_BEFORE || point == GPU_TIMED) {
			out->failed |= rw->tmpl[point].function.failed;
			put_bytes(out, rw->tmpl[point].function.s, rw->tmpl[point].function.n);
		}
}

void rw_put_table(struct ptx_out *out, const struct rewrite *rw)
{
	const struct ptx_out *part[2] = { &rw->table, &rw->module.files };

	put_format(out, "\n.visible .global .align 1 .b8 __cuprobe_sites_%s[%zu] = {", rw->hash,
		   part[0]->n + part[1]->n + 1);
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < part[i]->n; k++) {
			put_number(out, (unsigned char)part[i]->s[k]);
			put_bytes(out, ",\n", k % 64 == 63 ? 2 : 1);
		}
	put(out, "0};\n");
	put_variables(out, rw);
}
