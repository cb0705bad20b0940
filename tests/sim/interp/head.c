/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Heads of functions: .visible .func (.param .b32 r) name(.param .b64 p) …, .entry name(…) .maxntid 256 … */
#include "load.h"
#include <stdlib.h>
#include <string.h>

/* Of an SM. */
enum { SM_REGISTERS = 65536 };

static const struct {
	const char *name;
	enum system_call system;
} systems[] = {
	{ "vprintf", SYSTEM_VPRINTF }, { "malloc", SYSTEM_MALLOC }, { "free", SYSTEM_FREE },
	{ "__assertfail", SYSTEM_ASSERT },
};

static struct interp_kernel *function_new(struct loader *l, struct ptx_str name)
{
	struct interp_module *m = l->m;
	struct interp_kernel *f = calloc(1, sizeof *f);
	struct name *known;

	if (!f || !grow(&m->functions, m->num_functions, &m->max_functions, sizeof *m->functions) ||
	    !(f->name = strndup(name.s, name.n))) {
		free(f);
		fail(l, "no memory", name);
		return NULL;
	}
	f->index = m->num_functions;
	m->functions[m->num_functions++] = f;
	f->module = m;
	f->max_threads = 1024;
	f->max_registers = 255;
	for (unsigned i = 0; i < sizeof systems / sizeof *systems; i++)
		if (!strcmp(f->name, systems[i].name))
			f->system = systems[i].system;
	known = names_add(&l->names, name, NAME_FUNCTION);
	if (!known) {
		fail(l, "no memory", name);
		return NULL;
	}
	known->value = m->num_functions - 1;
	return f;
}

/* Reads up to three numbers: .maxntid 256, 1, 1 */
static bool three(struct lexer *x, unsigned *n)
{
	n[0] = n[1] = n[2] = 1;
	for (int i = 0; i < 3; i++) {
		if (!count_parse(lexer_next(x), &n[i]))
			return false;
		if (!lexer_take(x, ','))
			break;
	}
	return true;
}

static void limit_registers(struct interp_kernel *f, unsigned most)
{
	f->max_registers = most && most < f->max_registers ? most : f->max_registers;
}

static bool directives(struct loader *l, struct lexer *x, struct interp_kernel *f)
{
	struct ptx_str word;
	unsigned n[3];

	while ((word = lexer_next(x)).n) {
		bool most = ptx_str_is(word, ".maxntid"), exact = ptx_str_is(word, ".reqntid");

		if (most || exact) {
			uint64_t threads;

			if (!three(x, n))
				return fail(l, "a number of threads that is none", word);
			threads = (uint64_t)n[0] * n[1] * n[2];
			f->max_threads = threads && threads < f->max_threads ? (unsigned)threads : f->max_threads;
			if (exact)
				memcpy(f->reqntid, n, sizeof n);
			limit_registers(f, SM_REGISTERS / ((f->max_threads + 31) / 32 * 32) / 8 * 8);
		} else if (ptx_str_is(word, ".maxnreg")) {
			if (!count_parse(lexer_next(x), n))
				return fail(l, "a number of registers that is none", word);
			limit_registers(f, n[0]);
		} else if (ptx_str_is(word, ".reqnctapercluster")) {
			if (!three(x, f->cluster))
				return fail(l, "a cluster that is none", word);
		}
	}
	return true;
}

/* Gives each parameter of the list its place; with `names`, names them for the body. */
static bool parameters(struct loader *l, struct ptx_str list, bool returns, bool names)
{
	struct interp_kernel *f = l->f;
	struct lexer x = lexer_of(list);
	struct decl d;

	for (bool more = ptx_trim(list).n; more; more = lexer_take(&x, ',')) {
		struct param **all = returns ? &f->returns : &f->params, *param;
		unsigned *num = returns ? &f->num_returns : &f->num_params;
		struct name *name;

		if (!decl_begin(&x, &d) || !decl_name(&x, &d) || d.size > 1 << 20)
			return fail(l, "a parameter that is not known", list);
		if (!grow(all, *num, returns ? &f->max_returns : &f->max_params, sizeof **all))
			return fail(l, "no memory", list);
		f->param_size = (f->param_size + d.align - 1) & ~(d.align - 1);
		param = &(*all)[(*num)++];
		*param = (struct param){ f->param_size, (unsigned)d.size, -1 };
		if (f->param_size > 1 << 20)
			return fail(l, "too many parameters", list);
		f->param_size += (unsigned)d.size;
		if (f->entry && !returns) {
			f->infos = reallocarray(f->infos, f->max_params, sizeof *f->infos);
			if (!f->infos)
				return fail(l, "no memory", list);
			f->infos[*num - 1] = (struct interp_param){ param->offset, param->size, d.pointer, d.pointer };
		}
		if (!names)
			continue;
		name = names_add(&l->names, d.name, d.space == DECL_REG ? NAME_REG : f->entry ? NAME_ENTRY_PARAM : NAME_PARAM);
		if (!name)
			return fail(l, "no memory", list);
		name->value = d.space == DECL_REG ? l->next_reg++ : param->offset;
		name->size = d.size;
		name->bits = alu_bits(d.type);
		if (d.space == DECL_REG)
			param->slot = register_slot(l, d.name, &(unsigned){ 0 });
	}
	return true;
}

struct head {
	bool entry;
	struct ptx_str name, returns, params, rest;
};

static bool head_split(struct ptx_str text, struct head *h)
{
	struct lexer x = lexer_of(text);
	struct ptx_str word;

	*h = (struct head){ .entry = false };
	while ((word = lexer_next(&x)).n && !ptx_str_is(word, ".func") && !ptx_str_is(word, ".entry"))
		;
	h->entry = ptx_str_is(word, ".entry");
	do {
		while ((word = lexer_peek(&x)).n && ptx_str_is(word, ".attribute")) {
			lexer_next(&x);
			if (!lexer_take(&x, '(') || !lexer_group(&x, ')', &word))
				return false;
		}
	} while (lexer_take(&x, '(') && lexer_group(&x, ')', &h->returns));
	h->name = lexer_next(&x);
	if (lexer_take(&x, '(') && !lexer_group(&x, ')', &h->params))
		return false;
	h->rest = (struct ptx_str){ x.p, (size_t)(x.end - x.p) };
	return h->name.n && *h->name.s != ';' && *h->name.s != '{';
}

bool head_read(struct loader *l, struct ptx_str text, bool defined, struct interp_kernel **function)
{
	struct interp_kernel *f;
	struct name *known;
	struct head h;

	if (!head_split(text, &h))
		return fail(l, "a function that is not known", text);
	known = names_find(&l->names, h.name);
	if (known && known->kind != NAME_FUNCTION)
		return fail(l, "a function with the name of something else", h.name);
	f = known ? l->m->functions[known->value] : function_new(l, h.name);
	if (!f)
		return false;
	*function = f;
	if (defined && f->defined)
		return fail(l, "a function is defined twice", h.name);
	f->entry = h.entry;
	f->defined |= defined;
	f->num_params = f->num_returns = f->param_size = 0;
	l->f = f;
	return parameters(l, h.returns, true, false) && parameters(l, h.params, false, false) && directives(l, &(struct lexer){
			h.rest.s, h.rest.s + h.rest.n }, f);
}

bool head_enter(struct loader *l, struct ptx_str text)
{
	struct interp_kernel *f = l->f;
	struct head h;

	f->num_params = f->num_returns = f->param_size = 0;
	if (!head_split(text, &h) || !parameters(l, h.returns, true, true) || !parameters(l, h.params, false, true))
		return fail(l, "a function that is not known", text);
	f->frame_param = f->entry ? 0 : f->param_size;
	return true;
}
