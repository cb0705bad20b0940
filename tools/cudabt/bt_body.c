/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "cudabt/bt_body.h"

static void write_enum_name(struct bt_tables *t, FILE *out, const struct cuda_enum *e, const char *key)
{
	int i = 0;

	while (i < t->nenums && t->enums[i] != e)
		i++;
	if (i == t->nenums) {
		t->enums = xrealloc(t->enums, i + 1, sizeof(*t->enums));
		t->enums[t->nenums++] = e;
	}
	fprintf(out, "@cudabt_%s[%s]", e->type, key);
}

static void write_function_name(struct bt_tables *t, FILE *out, int id)
{
	if (!t->functions)
		t->functions = xcalloc(cuda_protos_n, sizeof(*t->functions));
	t->functions[id] = true;
	fprintf(out, "@cudabt_func[%d]", id);
}

static void fill_enum(const struct cuda_enum *e, FILE *fill, FILE *clear)
{
	for (int i = 0; i < e->n; i++)
		if (cuda_enum_name(e, e->enumerators[i].value) == e->enumerators[i].name)
			fprintf(fill, "\t@cudabt_%s[%lld] = \"%s\";\n", e->type, e->enumerators[i].value,
				e->enumerators[i].name);
	fprintf(clear, "\tclear(@cudabt_%s);\n", e->type);
}

/* The function with the longest name.  It is in the map even if no file has it: bpftrace makes a map's
 * strings as long as the longest stored one, and warns of comparisons with a longer string. */
static int longest(const bool *wanted)
{
	size_t len = 0;
	int found = -1;

	for (int id = 0; id < cuda_protos_n; id++)
		if (wanted[id] && strlen(cuda_protos[id].name) > len) {
			len = strlen(cuda_protos[id].name);
			found = id;
		}
	return found;
}

void bt_tables_write(const struct bt_tables *t, const bool *wanted, FILE *fill, FILE *clear)
{
	int most;

	for (int i = 0; i < t->nenums; i++)
		fill_enum(t->enums[i], fill, clear);
	if (!t->functions)
		return;
	most = longest(wanted);
	for (int id = 0; id < cuda_protos_n; id++)
		if (t->functions[id] || id == most)
			fprintf(fill, "\t@cudabt_func[%d] = \"%s\";\n", id, cuda_protos[id].name);
	fputs("\tclear(@cudabt_func);\n", clear);
}

void bt_tables_free(struct bt_tables *t)
{
	free(t->enums);
	free(t->functions);
}

enum { MAX_DEPTH = 8 };	/* of errname(errname(... */

struct walk {
	struct bt_body *b;
	const char *p, *end;
	struct bt_token before[2];	/* the two words before p */
	FILE *out;
	struct bt_error *e;
};

static void copy(struct walk *w, const struct bt_token *t)
{
	fwrite(t->s, 1, t->len, w->out);
	w->p = t->s + t->len;
}

static enum bt_outcome outcome(bool done)
{
	return done ? BT_DONE : BT_FAILED;
}

/* The argument of str() is an address, not a string. */
static enum bt_how how(const struct walk *w)
{
	return bt_is(&w->before[0], "(") && bt_is(&w->before[1], "str") ? BT_ADDRESS : BT_VALUE;
}

/* args.NAME or *args.NAME; t is the token args */
static enum bt_outcome argument(struct walk *w, const struct bt_token *t, bool star)
{
	w->p = t->s + t->len;
	w->b->saves |= w->b->frame.ret;
	return bt_argument(w->out, &w->b->frame, w->b->proto, how(w) | (star ? BT_DEREF : 0), &w->p,
			   w->end, &w->b->type, w->e);
}

/* errname(...) and enumname(...) */
static enum bt_outcome name_of(struct walk *w, const struct bt_token *t)
{
	const struct cuda_proto *proto = w->b->proto;
	bool error = bt_is(t, "errname");
	const struct cuda_enum *e = NULL;
	struct bt_error ignored = {};
	enum bt_outcome did;
	struct bt_token open;
	const char *close;
	char *key = NULL;
	size_t size;
	FILE *f;

	if (!bt_lex_nonspace(t->s + t->len, w->end, &open, &ignored) || !bt_is(&open, "("))
		return outcome(bt_fail(w->e, t->s, "expected '(' after this"));
	if (!proto)
		return outcome(bt_fail(w->e, t->s, "only valid in a cuda: or cudaret: probe, which "
				       "determines the library whose names are meant"));
	if (++w->b->depth > MAX_DEPTH)
		return outcome(bt_fail(w->e, t->s, "nested too deeply"));
	close = bt_closing(open.s, w->end, w->e);
	if (!close)
		return BT_FAILED;
	w->b->type = NULL;
	f = open_memstream(&key, &size);
	did = bt_body(w->b, open.s + 1, close, f, w->e);
	fclose(f);
	w->b->depth--;
	if (error)
		e = cuda_enum_find(proto->lib == CUDA_RT ? "cudaError_t" : "CUresult");
	else if (w->b->type)
		e = cuda_enum_find(w->b->type);
	if (did == BT_DONE && e)
		write_enum_name(w->b->tables, w->out, e, key);
	else if (did == BT_DONE)
		did = outcome(bt_fail(w->e, open.s + 1, "not of an enum type"));
	free(key);
	w->p = close + 1;
	return did;
}

/* Return false for the type in struct NAME and for a member x.NAME. */
static bool is_free(const struct walk *w, const struct bt_token *t)
{
	const struct bt_token *before = &w->before[0];

	return t->kind == BT_IDENT && !bt_is(before, ".") && !bt_is(before, "->") &&
	       !bt_is(before, "struct") && !bt_is(before, "union") && !bt_is(before, "enum");
}

static enum bt_outcome word(struct walk *w, const struct bt_token *t)
{
	const struct cuda_proto *proto = w->b->proto;
	bool ret = w->b->frame.ret;

	if (bt_is(t, "errname") || bt_is(t, "enumname"))
		return name_of(w, t);
	if (bt_is_constant(t)) {
		w->p = t->s + t->len;
		return outcome(bt_constant(w->out, t, w->e));
	}
	if (proto && bt_is(t, "args"))
		return argument(w, t, false);
	if (proto && !ret && (bt_is(t, "retval") || bt_is(t, "duration")))
		return outcome(bt_fail(w->e, t->s, "only known at return: use cudaret:%s", proto->name));
	w->p = t->s + t->len;
	if (proto && bt_is(t, "retval"))
		return outcome(bt_result(w->out, &proto->result, how(w), t->s, &w->b->type, w->e));
	if (proto && bt_is(t, "duration")) {
		w->b->saves = true;
		fputs("(nsecs - $cudabt.0)", w->out);
	} else if (proto && bt_is(t, "func")) {
		write_function_name(w->b->tables, w->out, proto - cuda_protos);
	} else {
		copy(w, t);
	}
	return BT_DONE;
}

enum bt_outcome bt_body(struct bt_body *b, const char *p, const char *end, FILE *out,
			struct bt_error *e)
{
	struct walk w = { .b = b, .p = p, .end = end, .out = out, .e = e };
	enum bt_outcome did = BT_DONE;
	struct bt_token t, args;

	while (did == BT_DONE) {
		if (!bt_lex(w.p, end, &t, e))
			return BT_FAILED;
		if (t.kind == BT_END)
			break;
		if (is_free(&w, &t))
			did = word(&w, &t);
		else if (b->proto && bt_is(&t, "*") && bt_is_deref(b->proto, &t, end, &args))
			did = argument(&w, &args, true);
		else if (t.kind == BT_VARIABLE && t.len > 6 && !memcmp(t.s + 1, "cudabt", 6))
			did = outcome(bt_fail(e, t.s, "names that begin with cudabt are reserved"));
		else
			copy(&w, &t);
		if (t.kind == BT_SPACE)
			continue;
		w.before[1] = w.before[0];
		w.before[0] = t;
	}
	return did;
}
