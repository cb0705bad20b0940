/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "load.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_MAX = 1 << 20, LOCAL_MAX = 512 << 10 };

bool fail(struct loader *l, const char *what, struct ptx_str at)
{
	size_t n = at.n < 80 ? at.n : 80;

	if (!*l->why)
		snprintf(l->why, l->why_size, "%s%s%s: %.*s", l->f ? l->f->name : "", l->f ? ": " : "", what, (int)n, at.s);
	for (char *p = l->why; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	return false;
}

bool grow(void *array, unsigned n, unsigned *max, size_t size)
{
	void *p, *old;
	unsigned more;

	if (n < *max)
		return true;
	memcpy(&old, array, sizeof old);
	more = *max < 16 ? 16 : *max * 2;
	p = n < 1u << 30 ? reallocarray(old, more, size) : NULL;
	if (!p)
		return false;
	memcpy(array, &p, sizeof p);
	*max = more;
	return true;
}

static bool global_add(struct loader *l, const struct decl *d, struct name *name)
{
	struct interp_module *m = l->m;
	struct variable *v;

	if (!grow(&m->variables, m->num_variables, &m->max_variables, sizeof *m->variables))
		return fail(l, "no memory", d->name);
	v = &m->variables[m->num_variables];
	v->size = d->size;
	v->addr = m->host->variable(m->host->ctx, d->size ? d->size : 1);
	if (!v->addr)
		return fail(l, "no memory for a variable", d->name);
	m->num_variables++;
	v->name = strndup(d->name.s, d->name.n);
	name->value = v->addr;
	return v->name || fail(l, "no memory", d->name);
}

/* Gives a variable its place in `used` bytes of shared or local memory. */
static bool place(struct loader *l, const struct decl *d, unsigned *used, unsigned most, struct name *name)
{
	uint64_t at = ((uint64_t)*used + d->align - 1) & ~((uint64_t)d->align - 1);

	if (at + d->size > most)
		return fail(l, "a variable is too large", d->name);
	name->value = at;
	*used = (unsigned)(at + d->size);
	return true;
}

static bool variable_add(struct loader *l, struct decl *d, bool module)
{
	struct interp_module *m = l->m;
	enum name_kind kind = d->space == DECL_SHARED ? d->external ? NAME_DYNAMIC : NAME_SHARED :
		d->space == DECL_LOCAL ? NAME_LOCAL : d->space == DECL_PARAM ? NAME_PARAM : NAME_VARIABLE;
	struct name *name;
	unsigned used;
	bool ok;

	if (module && d->external && kind == NAME_VARIABLE)
		return true;		/* defined here or nowhere */
	if (d->init.n && d->dims && !d->dim[0]) {
		d->dim[0] = init_count(d);
		d->size = decl_element(d);
		for (unsigned i = 0; i < d->dims; i++)
			if (__builtin_mul_overflow(d->size, d->dim[i], &d->size))
				return fail(l, "a variable is too large", d->name);
	}
	name = names_add(&l->names, d->name, kind);
	if (!name)
		return fail(l, "no memory", d->name);
	name->size = d->size;
	name->module = module;
	switch (kind) {
	case NAME_DYNAMIC:
		if (m->dynamic_align < d->align)
			m->dynamic_align = d->align;
		return true;
	case NAME_SHARED:
		used = m->shared + (module ? 0 : l->f->shared);
		ok = place(l, d, &used, SHARED_MAX, name);
		*(module ? &m->shared : &l->f->shared) = used - (module ? 0 : m->shared);
		return ok;
	case NAME_LOCAL:
		return place(l, d, &l->f->local, LOCAL_MAX, name);
	case NAME_PARAM:
		return place(l, d, &l->f->frame_param, LOCAL_MAX, name);
	default:
		return global_add(l, d, name) && (module || !d->init.n ||
			init_write(l, d, (unsigned char *)(uintptr_t)name->value));
	}
}

bool variables_read(struct loader *l, struct ptx_str text)
{
	struct lexer x = lexer_of(text);
	struct decl d;

	if (!decl_begin(&x, &d) || d.space == DECL_REG || (!l->f && (d.space == DECL_LOCAL || d.space == DECL_PARAM)))
		return fail(l, "a declaration that is not known", text);
	do {
		if (!decl_name(&x, &d))
			return fail(l, "a variable that is not known", text);
		if (!variable_add(l, &d, !l->f))
			return false;
	} while (lexer_take(&x, ','));
	return true;
}

/* .alias name, function; */
static bool alias_read(struct loader *l, struct lexer *x)
{
	struct ptx_str alias = lexer_next(x), target;
	struct name *name;
	uint64_t value;

	if (!lexer_take(x, ','))
		return fail(l, "an alias that is not known", alias);
	target = lexer_next(x);
	name = names_find(&l->names, target);
	if (!name || name->kind != NAME_FUNCTION)
		return fail(l, "an alias of something that is not known", target);
	value = name->value;
	name = names_add(&l->names, alias, NAME_FUNCTION);
	if (!name)
		return fail(l, "no memory", alias);
	name->value = value;
	return true;
}

static bool module_statement(struct loader *l, struct ptx_str text)
{
	struct lexer x = lexer_of(text), y = x;
	struct ptx_str word = lexer_next(&x);
	struct interp_kernel *f;
	struct decl d;
	bool ok;

	if (ptx_str_is(word, ".alias"))
		return alias_read(l, &x);
	if (decl_begin(&y, &d))
		return variables_read(l, text);
	y = lexer_of(text);
	while ((word = lexer_next(&y)).n && *word.s == '.')
		if (ptx_str_is(word, ".func") || ptx_str_is(word, ".entry")) {
			ok = head_read(l, text, false, &f);
			l->f = NULL;
			return ok;
		}
	word = lexer_peek(&(struct lexer){ text.s, text.s + text.n });
	if (!word.n || *word.s != '.')
		return fail(l, "this is no PTX", text);
	if (ptx_str_is(word, ".global") || ptx_str_is(word, ".const") || ptx_str_is(word, ".shared") ||
	    ptx_str_is(word, ".visible") || ptx_str_is(word, ".weak") || ptx_str_is(word, ".extern"))
		return fail(l, "a declaration that is not known", text);
	return true;		/* .version, .file, .section … */
}

/* Names all functions and variables of the module. */
static bool names_read(struct loader *l, struct ptx_str text)
{
	struct ptx_reader reader = { .p = text.s, .end = text.s + text.n };
	struct ptx_stmt stmt;
	struct interp_kernel *f;
	bool ok = true, version = false;

	while (ok && ptx_next(&reader, &stmt)) {
		if (stmt.kind == PTX_FUNC) {
			l->next_reg = 1;
			ok = head_read(l, stmt.body, true, &f);
			l->f = NULL;
		} else if (stmt.kind == PTX_TEXT && !stmt.depth) {
			struct lexer x = lexer_of(stmt.body);

			version |= ptx_str_is(lexer_next(&x), ".version");
			ok = module_statement(l, stmt.body);
		}
	}
	return ok && (version || fail(l, "no .version", (struct ptx_str){ "", 0 }));
}

static bool init_read(struct loader *l, struct ptx_str text)
{
	struct lexer x = lexer_of(text);
	struct name *name;
	struct decl d;

	if (!decl_begin(&x, &d) || !memchr(text.s, '=', text.n))
		return true;
	do {
		if (!decl_name(&x, &d))
			return true;
	} while (!d.init.n && lexer_take(&x, ','));
	name = d.init.n ? names_find(&l->names, d.name) : NULL;
	if (!name || name->kind != NAME_VARIABLE)
		return true;
	d.size = name->size;
	if (d.dims && !d.dim[0])
		d.dim[0] = init_count(&d);
	return init_write(l, &d, (unsigned char *)(uintptr_t)name->value);
}

static bool function_read(struct loader *l, const struct ptx_stmt *stmt, struct ptx_reader *reader)
{
	unsigned mark = l->names.num;
	struct interp_kernel *f;
	struct interp_module *m = l->m;
	bool ok;

	if (!slots_reset(l) || !head_read(l, stmt->body, false, &f) || !head_enter(l, stmt->body) || !body_read(l, reader) || !pointers_find(l) ||
	    !live_compact(l))
		return false;
	if (!f->entry) {
		m->call_slots = f->slots > m->call_slots ? f->slots : m->call_slots;
		m->call_param = f->frame_param > m->call_param ? f->frame_param : m->call_param;
		m->call_local = f->local > m->call_local ? f->local : m->call_local;
	}
	ok = true;
	names_cut(&l->names, mark);
	l->f = NULL;
	return ok;
}

static bool bodies_read(struct loader *l, struct ptx_str text)
{
	struct ptx_reader reader = { .p = text.s, .end = text.s + text.n };
	struct ptx_stmt stmt;
	bool ok = true;

	while (ok && ptx_next(&reader, &stmt)) {
		if (stmt.kind == PTX_FUNC)
			ok = function_read(l, &stmt, &reader);
		else if (stmt.kind == PTX_TEXT && !stmt.depth)
			ok = init_read(l, stmt.body);
	}
	return ok;
}

static void loader_free(struct loader *l)
{
	names_free(&l->names);
	free(l->slot_keys);
	free(l->slot_values);
	free(l->slot_bits);
	free(l->constant_heads);
	free(l->constant_next);
}

struct interp_module *interp_load(const char *ptx, size_t ptx_size, const struct interp_host *host, char *why, size_t size)
{
	struct interp_module *m = calloc(1, sizeof *m);
	struct loader l = { .m = m, .why = why, .why_size = size };
	const char *steps = getenv("SIM_KERNEL_STEPS");
	bool ok = false;

	*why = 0;
	if (m) {
		m->host = host;
		m->max_steps = steps ? strtoull(steps, NULL, 0) : 4000000000ull;
		m->turn = 2000;
		m->warp_turn = 250;
		m->split_turn = 2000;
		m->issue = 1;
		m->dynamic_align = 16;
		m->text = malloc(ptx_size + 1);
	}
	if (m && m->text && names_init(&l.names)) {
		struct ptx_str text = { m->text, ptx_size };

		memcpy(m->text, ptx, ptx_size);
		m->text[ptx_size] = 0;
		text.n = strnlen(m->text, ptx_size);	/* what is after a 0 is padding */
		ok = names_read(&l, text) && bodies_read(&l, text);
	}
	loader_free(&l);
	if (ok)
		return m;
	if (!*why)
		snprintf(why, size, "no memory");
	interp_free(m);
	return NULL;
}
