// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/probe.h"
#include <string.h>
#include "ptx/lex.h"
#include "ptx/scope.h"

const char *const gpu_point_names[GPU_FUNCTIONS] = {
	[GPU_CHOSEN] = "gpu_chosen", [GPU_ENTRY] = "gpu_entry", [GPU_EXIT] = "gpu_exit",
	[GPU_BEFORE] = "gpu_before", [GPU_TIMED] = "gpu_timed",
};

const unsigned char gpu_point_params[GPU_FUNCTIONS][GPU_PARAMS] = {
	[GPU_ENTRY] = { 32 }, [GPU_EXIT] = { 32, 64, 64 }, [GPU_BEFORE] = { 32, 64, 32 }, [GPU_TIMED] = { 32, 64, 64 },
};

/* Returns true if the parameters are as many, and of these sizes. */
static bool params_are(struct ptx_str params, const unsigned char *bits)
{
	const char *p = params.s, *end = params.s + params.n;
	struct ptx_str rest = params, word;
	int n = 0;

	for (; p < end && n < GPU_PARAMS; n++) {
		rest = (struct ptx_str){ p, (size_t)(end - p) };
		word = ptx_next_word(&rest);
		if (!word.n)
			break;
		if (!ptx_str_is(word, "param") || ptx_type_bits(ptx_next_word(&rest)) != bits[n])
			return false;
		p = memchr(rest.s, ',', rest.n);
		p = p ? p + 1 : end;
	}
	return n == GPU_PARAMS || !bits[n] ? lex_blank(p, end) == end : false;
}

static const char *read_function(struct gpu_probe *probe, struct ptx_str body, enum gpu_point *point)
{
	static const unsigned char result[GPU_PARAMS] = { 32 }, none[GPU_PARAMS];
	struct ptx_head head;
	int i;

	if (!ptx_head_parse(body, &head))
		return "a function without a name";
	for (i = 0; i < GPU_FUNCTIONS && !ptx_str_is(head.name, gpu_point_names[i]); i++)
		;
	if (i == GPU_FUNCTIONS || head.entry)
		return "a function that is not gpu_chosen, gpu_entry, gpu_exit, gpu_before or gpu_timed";
	if (probe->at[i].body.s)
		return "a function twice";
	if (!params_are(head.params, gpu_point_params[i]) || !params_are(head.result, i == GPU_CHOSEN ? result : none))
		return "a function with other parameters than ptx/instrument.h says";
	*point = (enum gpu_point)i;
	probe->at[i].params = head.params;
	probe->at[i].body.s = body.s + body.n;
	return NULL;
}

/* The text after name in a statement such as .visible .global .align 8 .b8 name[64] = … */
static struct ptx_str variable_name(struct ptx_str body)
{
	struct ptx_str rest = body, word, name = { NULL, 0 };

	while ((word = ptx_next_word(&rest)).n) {
		const char *next = lex_blank(rest.s, rest.s + rest.n);
		bool last = next < rest.s + rest.n && (*next == '[' || *next == '=' || *next == ';');

		if (word.s > body.s && word.s[-1] != '.' && !lex_is_digit(*word.s))
			name = word;
		if (last && name.n)
			break;
	}
	return name;
}

static const char *probe_read_variable(struct gpu_probe *probe, struct ptx_str body)
{
	struct ptx_str name = variable_name(body);
	const char *end = body.s + body.n;
	struct ptx_head head;

	if (lex_starts(body.s, end, ".version") || lex_starts(body.s, end, ".target") ||
	    lex_starts(body.s, end, ".address_size") || lex_starts(body.s, end, ".file") ||
	    lex_starts(body.s, end, ".section") || *body.s == ';')
		return NULL;
	if (ptx_head_parse(body, &head))
		return "a declaration of a function";
	if (!name.n)
		return "a statement that is no variable";
	if (lex_starts(body.s, end, ".extern"))
		return ptx_str_is(name, GPU_CTL) ? NULL : "an external variable that is not " GPU_CTL;
	if (ptx_str_is(name, "gpu_uses_slots") || ptx_str_is(name, "gpu_uses_rings")) {
		*(ptx_str_is(name, "gpu_uses_slots") ? &probe->slots : &probe->rings) = true;
		return NULL;
	}
	if (probe->num_variables == GPU_VARIABLES)
		return "too many variables";
	probe->variables[probe->num_variables] = body;
	probe->names[probe->num_variables++] = name;
	return NULL;
}

int gpu_param_number(struct ptx_str arg)
{
	size_t i = arg.n;

	while (i && !lex_is_digit(arg.s[i - 1]))
		i--;
	return i ? arg.s[i - 1] - '0' : -1;
}

/* ld.param of a parameter that there is, st.param of gpu_chosen's result. */
static bool is_right_param(const struct ptx_insn *insn, enum gpu_point point)
{
	int n;

	if (insn->n != 2)
		return false;
	if (ptx_op_is(insn->op, "st"))
		return point == GPU_CHOSEN;
	n = gpu_param_number(insn->arg[1]);
	return ptx_op_is(insn->op, "ld") && n >= 0 && n < GPU_PARAMS && gpu_point_params[point][n];
}

/* Statements that cannot be pasted into a function. */
static const char *check_statement(const struct ptx_stmt *stmt, enum gpu_point point)
{
	struct ptx_insn insn;

	if (stmt->kind == PTX_TEXT && lex_starts(stmt->body.s, stmt->body.s + stmt->body.n, ".local"))
		return "a function that needs a stack";
	if (stmt->kind != PTX_INSN)
		return NULL;
	if (!ptx_insn_parse(stmt->body, &insn))
		return "an instruction that cannot be read";
	if (ptx_has(insn.op, ".param") && !is_right_param(&insn, point))
		return "an access to a parameter that there is not";
	return ptx_op_is(insn.op, "call") ? "a function that calls another one" : NULL;
}

const char *gpu_probe_read(struct gpu_probe *probe, const char *text, size_t size)
{
	struct ptx_reader reader = { text, text + size, 0 };
	enum gpu_point point = GPU_CHOSEN;
	const char *why = NULL;
	struct ptx_stmt stmt;
	bool any = false;

	memset(probe, 0, sizeof(*probe));
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < ' ' && !lex_is_space(text[i]))
			return "control characters";
	while (!why && ptx_next(&reader, &stmt)) {
		if (stmt.kind == PTX_FUNC) {
			why = read_function(probe, stmt.body, &point);
			any = true;
		} else if (stmt.kind == PTX_CLOSE && !stmt.depth) {
			probe->at[point].body.n = (size_t)(stmt.body.s - probe->at[point].body.s);
		} else if (stmt.depth) {
			why = check_statement(&stmt, point);
		} else {
			why = probe_read_variable(probe, stmt.body);
		}
	}
	if (!why && reader.depth)
		why = "a function without an end";
	return why ? why : any ? NULL : "no function";
}
