/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A function's body, in two readings: the first finds labels, which may be used before they come. */
#include "load.h"
#include <stdlib.h>

struct label {
	struct ptx_str text;
	unsigned insn, next;	/* next of its scope, plus 1 */
};

struct labels {
	struct label *all;
	unsigned num, max;
	unsigned *scopes;	/* first label of each, plus 1; in the order of the braces */
	unsigned num_scopes, max_scopes;
	unsigned *open;		/* the scopes around */
	unsigned depth, max_open;
};

static bool scope_open(struct labels *s)
{
	if (!grow(&s->scopes, s->num_scopes, &s->max_scopes, sizeof *s->scopes) ||
	    !grow(&s->open, s->depth, &s->max_open, sizeof *s->open))
		return false;
	s->scopes[s->num_scopes] = 0;
	s->open[s->depth++] = s->num_scopes++;
	return true;
}

static bool labels_find(struct loader *l, struct ptx_reader reader, struct labels *s)
{
	unsigned insn = l->m->num_insns;
	struct ptx_stmt stmt;
	bool ok = scope_open(s);

	while (ok && ptx_next(&reader, &stmt)) {
		struct lexer x = lexer_of(stmt.body);

		if (stmt.kind == PTX_OPEN) {
			ok = scope_open(s);
		} else if (stmt.kind == PTX_CLOSE) {
			if (stmt.depth <= 0)
				break;
			s->depth--;
		} else if (stmt.kind == PTX_LABEL) {
			unsigned *head = &s->scopes[s->open[s->depth - 1]];

			ok = grow(&s->all, s->num, &s->max, sizeof *s->all);
			if (ok) {
				s->all[s->num++] = (struct label){ lexer_next(&x), insn, *head };
				*head = s->num;
			}
		} else if (stmt.kind == PTX_INSN) {
			insn++;
		}
	}
	return ok || fail(l, "no memory", stmt.body);
}

static bool labels_enter(struct loader *l, const struct labels *s, unsigned scope)
{
	for (unsigned i = s->scopes[scope]; i; i = s->all[i - 1].next) {
		struct name *name = names_add(&l->names, s->all[i - 1].text, NAME_LABEL);

		if (!name)
			return false;
		name->value = s->all[i - 1].insn;
	}
	return true;
}

static bool registers_read(struct loader *l, struct ptx_str text)
{
	struct lexer x = lexer_of(text);
	struct decl d;

	if (!decl_begin(&x, &d))
		return fail(l, "registers that are not known", text);
	do {
		struct name *name;

		if (!decl_name(&x, &d))
			return fail(l, "registers that are not known", text);
		name = names_add(&l->names, d.name, NAME_REG);
		if (!name)
			return fail(l, "no memory", text);
		name->bits = alu_bits(d.type);
		name->count = d.count;
		name->value = l->next_reg;
		l->next_reg += d.count ? d.count : 1;
	} while (lexer_take(&x, ','));
	return true;
}

/* .branchtargets A, B; after its label */
static bool table_read(struct loader *l, struct lexer *x, struct ptx_str label)
{
	struct interp_module *m = l->m;
	unsigned *table = NULL, num = 0, max = 0;
	struct ptx_str word;
	struct name *name;

	while ((word = lexer_next(x)).n && *word.s != ';') {
		if (*word.s == ',')
			continue;
		name = names_find(&l->names, word);
		if (!name || name->kind != NAME_LABEL || !grow(&table, num + 1, &max, sizeof *table)) {
			free(table);
			return fail(l, "a branch target that is not known", word);
		}
		table[++num] = (unsigned)name->value;
	}
	name = table && grow(&m->tables, m->num_tables, &m->max_tables, sizeof *m->tables) ?
		names_add(&l->names, label, NAME_TABLE) : NULL;
	if (!name) {
		free(table);
		return fail(l, "no branch targets", label);
	}
	table[0] = num;
	name->value = m->num_tables;
	m->tables[m->num_tables++] = table;
	return true;
}

static bool statement(struct loader *l, struct ptx_str text, struct ptx_str label)
{
	struct lexer x = lexer_of(text);
	struct ptx_str word = lexer_next(&x);

	if (ptx_str_is(word, ".branchtargets"))
		return table_read(l, &x, label);
	if (!word.n || *word.s != '.' || ptx_str_is(word, ".loc") || ptx_str_is(word, ".file") || ptx_str_is(word, ".pragma") ||
	    ptx_str_is(word, ".callprototype") || ptx_str_is(word, ".calltargets"))
		return true;
	return variables_read(l, text);
}

static bool statements(struct loader *l, struct ptx_reader *reader, const struct labels *s)
{
	struct ptx_str label = { "", 0 };
	unsigned scope = 0, depth = 0, max = 0, *marks = NULL;
	struct ptx_stmt stmt;
	bool ok = labels_enter(l, s, scope++), closed = false;

	while (ok && !closed && ptx_next(reader, &stmt)) {
		struct lexer x = lexer_of(stmt.body);

		if (stmt.kind == PTX_OPEN) {
			ok = grow(&marks, depth, &max, sizeof *marks);
			if (ok) {
				marks[depth++] = l->names.num;
				ok = labels_enter(l, s, scope++);
			}
		} else if (stmt.kind == PTX_CLOSE) {
			closed = !depth;
			if (!closed)
				names_cut(&l->names, marks[--depth]);
		} else if (stmt.kind == PTX_LABEL) {
			label = lexer_next(&x);
		} else if (stmt.kind == PTX_REG) {
			ok = registers_read(l, stmt.body);
		} else if (stmt.kind == PTX_INSN) {
			ok = insn_decode(l, stmt.body);
		} else if (stmt.kind == PTX_TEXT) {
			ok = statement(l, stmt.body, label);
		}
	}
	free(marks);
	if (ok && !closed)
		return fail(l, "a function that does not end", (struct ptx_str){ "", 0 });
	return ok || fail(l, "no memory", stmt.body);
}

bool body_read(struct loader *l, struct ptx_reader *reader)
{
	struct labels labels = { .all = NULL };
	bool ok;

	l->f->first = l->m->num_insns;
	ok = labels_find(l, *reader, &labels) && statements(l, reader, &labels);
	l->f->end = l->m->num_insns;
	free(labels.all);
	free(labels.scopes);
	free(labels.open);
	return ok && insn_decode(l, (struct ptx_str){ "exit;", 5 });	/* who runs off the end */
}
