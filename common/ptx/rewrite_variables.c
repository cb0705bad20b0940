// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Where the module's own variables are, for a probe that has to know: abi/gpu.h, struct gpu_ranges. */
#include <string.h>
#include "ptx/lex.h"
#include "ptx/rewrite.h"

/* Reads "[12][3]" at *p, which is set behind it; false if a dimension is not known. */
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

/* Reads the modifiers at *p, which is set behind them: ".visible .global .align 4 .attribute(.managed) .v2 .f32";
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

void rw_read_variable(struct rewrite *rw, const struct ptx_stmt *stmt)
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

bool rw_wants_variables(const struct rewrite *rw)
{
	const struct gpu_probe *probe = rw->options->probe;
	bool wants = false;

	for (int i = 0; probe && i < probe->num_variables; i++)
		wants |= ptx_str_is(probe->names[i], GPU_RANGES_NAME);
	return wants;
}

void rw_put_variables(struct ptx_out *out, const struct rewrite *rw)
{
	if (!rw_wants_variables(rw))
		return;
	put_format(out, "\n.visible .global .align 8 .u64 __cuprobe_variables_%s[%u] = { ", rw->hash,
		   2 * rw->module.num_variables + 2);
	put_bytes(out, rw->module.variables.s, rw->module.variables.n);
	out->failed |= rw->module.variables.failed;
	put(out, "0, 0 };\n");
}
