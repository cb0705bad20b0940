// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/template.h"
#include <stdlib.h>
#include <string.h>
#include "ptx/lex.h"

enum { NUMBER = 1, ARGUMENT = 2 };	/* bytes in a template: the first argument is 2 */
enum { LABELS = 256 };

struct labels {
	struct ptx_str name[LABELS];
	int n;
};

static bool is_one_of(struct ptx_str word, const struct ptx_str *list, int n)
{
	for (int i = 0; i < n; i++)
		if (list[i].n == word.n && !memcmp(list[i].s, word.s, word.n))
			return true;
	return false;
}

/* __cuprobe_NAME_HASH, whether NAME begins so or not */
static void put_variable(struct ptx_out *out, struct ptx_str name, const char *hash)
{
	if (name.n < strlen("__cuprobe_") || memcmp(name.s, "__cuprobe_", strlen("__cuprobe_")))
		put(out, "__cuprobe_");
	put_str(out, name);
	put(out, "_");
	put(out, hash);
}

/* Text word by word: variables renamed, and labels if they are given. */
static void rename_words(struct ptx_out *out, const struct gpu_probe *probe, struct ptx_str text, const char *hash,
			 const struct labels *labels)
{
	const char *p = text.s, *end = text.s + text.n;

	while (p < end) {
		struct ptx_str word = { p, (size_t)(lex_word(p, end) - p) };

		if (!word.n) {
			const char *other = p++;

			while (p < end && !lex_is_word(*p))
				p++;
			put_bytes(out, other, (size_t)(p - other));
			continue;
		}
		p += word.n;
		if (ptx_str_is(word, GPU_CTL) || is_one_of(word, probe->names, probe->num_variables)) {
			put_variable(out, word, hash);
		} else if (labels && is_one_of(word, labels->name, labels->n)) {
			put(out, "$cuprobe_\1_");
			put_str(out, word);
		} else {
			put_str(out, word);
		}
	}
}

void ptx_put_renamed(struct ptx_out *out, const struct gpu_probe *probe, struct ptx_str text, const char *hash)
{
	rename_words(out, probe, text, hash, NULL);
}

static void find_labels(struct labels *labels, struct ptx_str body)
{
	struct ptx_reader reader = { body.s, body.s + body.n, 1 };
	struct ptx_stmt stmt;

	labels->n = 0;
	while (labels->n < LABELS && ptx_next(&reader, &stmt))
		if (stmt.kind == PTX_LABEL)
			labels->name[labels->n++] =
				(struct ptx_str){ stmt.body.s, (size_t)(lex_word(stmt.body.s, stmt.body.s + stmt.body.n) - stmt.body.s) };
}

static const char *move_of(struct ptx_str op)
{
	return ptx_has(op, ".b64") || ptx_has(op, ".u64") || ptx_has(op, ".s64") ? "mov.b64 " : "mov.b32 ";
}

/* ld.param and st.param, whose text would be wrong in a kernel; and ret. */
static bool put_changed(struct ptx_out *out, const struct ptx_insn *insn)
{
	if (ptx_op_is(insn->op, "ld") && ptx_has(insn->op, ".param") && insn->n == 2) {
		char argument[2] = { (char)(ARGUMENT + gpu_param_number(insn->arg[1])), 0 };

		put(out, "\n\t");
		put(out, move_of(insn->op));
		put_str(out, insn->arg[0]);
		put(out, ", ");
		put(out, argument);
		put(out, ";");
	} else if (ptx_op_is(insn->op, "st") && ptx_has(insn->op, ".param") && insn->n == 2) {
		put(out, "\n\tmov.b32 \2, ");
		put_str(out, insn->arg[1]);
		put(out, ";");
	} else if (ptx_op_is(insn->op, "ret")) {
		put(out, "\n\t");
		if (insn->guard.n) {
			put(out, insn->negated ? "@!" : "@");
			put_str(out, insn->guard);
			put(out, " ");
		}
		put(out, "bra $cuprobe_\1_ret;");
	} else {
		return false;
	}
	return true;
}

static bool is_last(const struct ptx_reader *reader)
{
	return lex_blank(reader->p, reader->end) == reader->end;
}

void ptx_template_make(struct ptx_template *tmpl, const struct gpu_probe *probe, enum gpu_point point,
		       const char *hash)
{
	const struct gpu_function *function = &probe->at[point];
	struct ptx_reader reader = { function->body.s, NULL, 1 };
	struct ptx_out *out = &tmpl->text;
	struct labels labels;
	struct ptx_stmt stmt;
	bool jumps = false;

	memset(tmpl, 0, sizeof(*tmpl));
	if (!function->body.s)
		return;
	reader.end = function->body.s + function->body.n;
	find_labels(&labels, function->body);
	put(out, "\n\t{ // ");
	put(out, gpu_point_names[point]);
	while (ptx_next(&reader, &stmt)) {
		struct ptx_insn insn;
		bool read = stmt.kind == PTX_INSN && ptx_insn_parse(stmt.body, &insn);

		if (read && ptx_str_is(insn.op, "ret") && !insn.guard.n && is_last(&reader))
			continue;
		jumps |= read && ptx_str_is(insn.op, "ret");
		if (!read || !put_changed(out, &insn)) {
			put(out, stmt.kind == PTX_LABEL ? "\n" : "\n\t");
			rename_words(out, probe, stmt.body, hash, &labels);
		}
	}
	put(out, jumps ? "\n\t}\n$cuprobe_\1_ret:" : "\n\t}");
	put(&tmpl->function, "\n.func __cuprobe_");
	put(&tmpl->function, gpu_point_names[point]);
	put(&tmpl->function, "(");
	put_str(&tmpl->function, function->params);
	put(&tmpl->function, ")\n{");
	rename_words(&tmpl->function, probe, function->body, hash, NULL);
	put(&tmpl->function, "}\n");
}

void ptx_template_free(struct ptx_template *tmpl)
{
	free(tmpl->text.s);
	free(tmpl->function.s);
}

void ptx_template_paste(struct ptx_out *out, const struct ptx_template *tmpl, unsigned number,
			const char *const args[GPU_PARAMS])
{
	const char *p = tmpl->text.s, *end = p + tmpl->text.n;

	out->failed |= tmpl->text.failed;
	while (p < end) {
		const char *text = p;

		while (p < end && !(*p >= NUMBER && *p < ARGUMENT + GPU_PARAMS))
			p++;
		put_bytes(out, text, (size_t)(p - text));
		if (p == end)
			break;
		if (*p == NUMBER)
			put_number(out, number);
		else
			put(out, args[*p - ARGUMENT]);
		p++;
	}
}

/* A literal is no operand of st.param in every version: it goes through a register. */
void ptx_template_call(struct ptx_out *out, enum gpu_point point, const char *const args[GPU_PARAMS])
{
	const unsigned char *bits = gpu_point_params[point];
	int n;

	put(out, "\n\t{");
	for (n = 0; n < GPU_PARAMS && bits[n]; n++) {
		put_format(out, " .param .b%u cuprobe_%d;", bits[n], n);
		if (lex_is_digit(*args[n]))
			put_format(out, " mov.b32 %%cuprobe_v, %s; st.param.b32 [cuprobe_%d], %%cuprobe_v;", args[n], n);
		else
			put_format(out, " st.param.b%u [cuprobe_%d], %s;", bits[n], n, args[n]);
	}
	put_format(out, "\n\tcall.uni __cuprobe_%s, (", gpu_point_names[point]);
	for (int i = 0; i < n; i++)
		put_format(out, "%scuprobe_%d", i ? ", " : "", i);
	put(out, "); }");
}
