/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* From a texture instruction's text to what it does. */
#include "texture_ops.h"
#include "alu.h"
#include <string.h>

struct word {
	const char *text;
	unsigned char value;
};

static const struct word geometries[] = {
	{ "1d", GEOM_1D }, { "2d", GEOM_2D }, { "3d", GEOM_3D }, { "a1d", GEOM_A1D }, { "a2d", GEOM_A2D },
	{ "cube", GEOM_CUBE }, { "acube", GEOM_ACUBE }, { NULL, 0 },
};
/* Elements of the coordinates in each. */
static const unsigned char coords[] = { 0, 1, 2, 3, 2, 3, 3, 4 };

static const struct word vectors[] = { { "v2", 2 }, { "v4", 4 }, { NULL, 0 } };
static const struct word bounds[] = {
	{ "trap", BOUND_TRAP }, { "clamp", BOUND_CLAMP }, { "zero", BOUND_ZERO }, { NULL, 0 },
};
static const struct word caches[] = {
	{ "ca", 1 }, { "cg", 1 }, { "cs", 1 }, { "cv", 1 }, { "wb", 1 }, { "wt", 1 }, { NULL, 0 },
};
static const struct word components[] = { { "r", 0 }, { "g", 1 }, { "b", 2 }, { "a", 3 }, { NULL, 0 } };
static const struct word atomics[] = {
	{ "add", SURED_ADD }, { "min", SURED_MIN }, { "max", SURED_MAX }, { "and", SURED_AND }, { "or", SURED_OR },
	{ NULL, 0 },
};
static const struct word queries[] = {
	{ "width", QUERY_WIDTH }, { "height", QUERY_HEIGHT }, { "depth", QUERY_DEPTH },
	{ "channel_data_type", QUERY_TYPE }, { "channel_order", QUERY_ORDER },
	{ "normalized_coords", QUERY_NORMALIZED }, { "array_size", QUERY_LAYERS },
	{ "num_mipmap_levels", QUERY_LEVELS }, { "num_samples", QUERY_SAMPLES },
	{ "force_unnormalized_coords", QUERY_UNNORMALIZED }, { "filter_mode", QUERY_FILTER },
	{ "addr_mode_0", QUERY_ADDRESS0 }, { "addr_mode_1", QUERY_ADDRESS1 }, { "addr_mode_2", QUERY_ADDRESS2 },
	{ "memory_layout", QUERY_LAYOUT }, { NULL, 0 },
};

/* The words of an instruction, from left to right. */
struct words {
	struct ptx_str rest;
};

static bool same(struct ptx_str str, const char *text)
{
	return strlen(text) == str.n && memcmp(text, str.s, str.n) == 0;
}

static struct ptx_str first(const struct words *w)
{
	const char *dot = w->rest.n ? memchr(w->rest.s, '.', w->rest.n) : NULL;

	return (struct ptx_str){ w->rest.s, dot ? (size_t)(dot - w->rest.s) : w->rest.n };
}

static void skip(struct words *w)
{
	size_t n = first(w).n + 1;

	w->rest.s += n < w->rest.n ? n : w->rest.n;
	w->rest.n -= n < w->rest.n ? n : w->rest.n;
}

/* Takes the next word if it is this. */
static bool take(struct words *w, const char *text)
{
	if (!same(first(w), text))
		return false;
	skip(w);
	return true;
}

/* Takes the next word if it is one of a list; its value in *value. */
static bool one_of(struct words *w, const struct word *list, unsigned char *value)
{
	for (; list->text; list++)
		if (take(w, list->text)) {
			*value = list->value;
			return true;
		}
	return false;
}

static bool type(struct words *w, unsigned char *value, uint32_t allowed)
{
	*value = alu_type_of(first(w));
	skip(w);
	return allowed >> *value & 1;
}

#define T(name) (1u << ALU_##name)

/* tex{.base|.level|.grad}.geometry.v4.dtype.ctype; tld4.component.geometry.v4.dtype.f32 */
static bool decode_tex(struct texture_insn *insn, struct words *w)
{
	static const unsigned char gradients[] = { 0, 2, 4, 8, 2, 4, 8, 8 };
	bool level = insn->op == TEX && take(w, "level");
	bool grad = insn->op == TEX && !level && take(w, "grad");

	if (insn->op == TEX && !level && !grad)
		take(w, "base");
	if (insn->op == TLD4 && !one_of(w, components, &insn->mode))
		return false;
	if (!one_of(w, geometries, &insn->geometry) || !take(w, "v4"))
		return false;
	if (insn->op == TLD4 && insn->geometry != GEOM_2D && insn->geometry != GEOM_A2D &&
	    insn->geometry < GEOM_CUBE)
		return false;
	insn->coords = coords[insn->geometry];
	insn->values = level ? 1 : grad ? gradients[insn->geometry] : 0;
	insn->results = 4;
	return type(w, &insn->type, T(F32) | T(S32) | T(U32)) &&
		type(w, &insn->coord_type, insn->op == TEX && insn->geometry < GEOM_CUBE ? T(F32) | T(S32) : T(F32)) &&
		!(insn->coord_type == ALU_S32 && grad);
}

/* txq{.level}.query.b32, suq.query.b32 */
static bool decode_query(struct texture_insn *insn, struct words *w, bool surface)
{
	bool level = !surface && take(w, "level");
	unsigned q;

	if (!one_of(w, queries, &insn->mode))
		return false;
	q = insn->mode;
	if (surface ? q == QUERY_NORMALIZED || (q >= QUERY_LEVELS && q != QUERY_LAYOUT) : q == QUERY_LAYOUT)
		return false;
	if (level && q > QUERY_DEPTH)
		return false;
	insn->results = 1;
	insn->values = level;
	return type(w, &insn->type, T(B32));
}

static bool decode_surface(struct texture_insn *insn, struct words *w)
{
	unsigned char cache, n = 1;

	if (!one_of(w, geometries, &insn->geometry) || insn->geometry > GEOM_A2D)
		return false;
	insn->coords = coords[insn->geometry];
	insn->coord_type = ALU_S32;
	if (insn->op != SURED) {
		one_of(w, caches, &cache);
		one_of(w, vectors, &n);
	}
	insn->store = insn->op != SULD;
	insn->results = insn->op == SULD ? n : 0;
	insn->values = insn->op == SULD ? 0 : n;
	if (insn->op == SURED) {
		if (!type(w, &insn->type, insn->mode & SURED_FORMATTED ? T(B32) :
			  insn->mode >= SURED_AND ? T(B32) : T(U32) | T(U64) | T(S32) | T(S64)))
			return false;
	} else if (!type(w, &insn->type, insn->mode ? T(B32) : T(B8) | T(B16) | T(B32) | T(B64)) ||
		   (insn->type == ALU_B64 && n == 4)) {
		return false;
	}
	return one_of(w, bounds, &insn->boundary);
}

static bool decode_sured(struct texture_insn *insn, struct words *w)
{
	bool bytes = take(w, "b");

	if ((!bytes && !take(w, "p")) || !one_of(w, atomics, &insn->mode))
		return false;
	/* formatted, numbers are of the surface's type */
	if (!bytes)
		insn->mode |= SURED_FORMATTED;
	return decode_surface(insn, w);
}

bool texture_decode(struct texture_insn *insn, struct ptx_str op)
{
	struct words w = { op };
	bool known = false;

	*insn = (struct texture_insn){ 0 };
	if (op.n == 0 || op.s[op.n - 1] == '.')
		return false;
	if (take(&w, "tex")) {
		insn->op = TEX;
		known = decode_tex(insn, &w);
	} else if (take(&w, "tld4")) {
		insn->op = TLD4;
		known = decode_tex(insn, &w);
	} else if (take(&w, "txq")) {
		insn->op = TXQ;
		known = decode_query(insn, &w, false);
	} else if (take(&w, "suq")) {
		insn->op = TXQ;
		known = decode_query(insn, &w, true);
	} else if (take(&w, "suld")) {
		insn->op = SULD;
		known = take(&w, "b") && decode_surface(insn, &w);
	} else if (take(&w, "sust")) {
		insn->op = SUST;
		insn->mode = take(&w, "p");
		known = (insn->mode || take(&w, "b")) && decode_surface(insn, &w);
	} else if (take(&w, "sured")) {
		insn->op = SURED;
		known = decode_sured(insn, &w);
	}
	return known && w.rest.n == 0;
}

bool texture_run(const struct texture_insn *insn, const struct interp_texture *t, uint64_t *result,
		 const uint64_t *coord, const uint64_t *value)
{
	if (t->channels == 0 || t->channels > 4 || (t->bits != 8 && t->bits != 16 && t->bits != 32))
		return false;
	if (t->dims == 0 || t->dims > 3)
		return false;
	for (unsigned i = 0; i < t->dims; i++)
		if (t->size[i] == 0)
			return false;
	if (insn->op == TXQ)
		return texture_query(insn, t, result);
	if (insn->op <= TLD4)
		return texture_sample(insn, t, result, coord);
	return surface_access(insn, t, result, coord, value);
}
