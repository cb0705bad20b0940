/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Surfaces: texels are read and written as bits. */
#include "texture_ops.h"
#include "alu.h"
#include <string.h>

static bool is_geometry(const struct interp_texture *t, unsigned geometry)
{
	switch (geometry) {
	case GEOM_A1D: return t->dims == 1 && t->layered;
	/* a cube's faces are layers */
	case GEOM_A2D: return t->dims == 2 && (t->layered || t->cube);
	default: return t->dims == geometry && !t->layered && !t->cube;
	}
}

/* Returns i within n, and false in *inside where it was not. */
static uint64_t within(int64_t i, int64_t n, bool *inside)
{
	if (i >= 0 && i < n)
		return (uint64_t)i;
	*inside = false;
	return i < 0 || n < 1 ? 0 : (uint64_t)n - 1;
}

/* The address of size bytes at coordinates; x is in bytes, or in texels where those are formatted. */
static uint64_t place(const struct texture_insn *insn, const struct interp_texture *t, const uint64_t *coord,
		      unsigned size, bool formatted, bool *inside)
{
	bool layered = insn->geometry >= GEOM_A1D;
	unsigned dims = insn->geometry == GEOM_A1D ? 1 : insn->geometry == GEOM_A2D ? 2 : insn->geometry;
	const uint64_t *c = coord + layered;
	int64_t width = (int64_t)t->size[0] * texel_size(t), x = (int32_t)c[0];
	uint64_t addr = t->addr;

	*inside = true;
	if (formatted)
		x *= texel_size(t);
	addr += within(x, width - size + 1, inside);
	if (dims >= 2)
		addr += within((int32_t)c[1], t->size[1], inside) * t->pitch;
	if (dims >= 3)
		addr += within((int32_t)c[2], t->size[2], inside) * t->slice;
	if (layered)
		addr += within((int32_t)coord[0], t->size[2] ? t->size[2] : 1, inside) * t->slice;
	return addr;
}

static uint64_t extend(unsigned type, uint64_t v)
{
	unsigned unused = 64 - alu_bits(type);

	if (type == ALU_S32 || type == ALU_S64)
		return (uint64_t)((int64_t)(v << unused) >> unused);
	return v << unused >> unused;
}

static uint64_t combine(const struct texture_insn *insn, unsigned type, uint64_t old, uint64_t v)
{
	bool sign = type == ALU_S32 || type == ALU_S64, less;

	old = extend(type, old);
	v = extend(type, v);
	less = sign ? (int64_t)v < (int64_t)old : v < old;
	switch (insn->mode & ~SURED_FORMATTED) {
	case SURED_ADD: return old + v;
	case SURED_MIN: return less ? v : old;
	case SURED_MAX: return less ? old : v;
	case SURED_AND: return old & v;
	default: return old | v;
	}
}

/* Atomic for all blocks, which threads may run. */
static void reduce(const struct texture_insn *insn, unsigned type, uint64_t addr, uint64_t v)
{
	uint64_t *wide = (uint64_t *)(uintptr_t)addr, old;
	uint32_t *narrow = (uint32_t *)(uintptr_t)addr, low;

	if (alu_bits(type) == 64) {
		old = __atomic_load_n(wide, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(wide, &old, combine(insn, type, old, v), false, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED))
			;
	} else {
		low = __atomic_load_n(narrow, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(narrow, &low, (uint32_t)combine(insn, type, low, v), false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
	}
}

static void read_bits(const struct texture_insn *insn, uint64_t addr, uint64_t *result)
{
	unsigned bytes = alu_bits(insn->type) / 8;

	for (unsigned i = 0; i < insn->results; i++) {
		result[i] = 0;
		memcpy(&result[i], (const void *)(uintptr_t)(addr + i * bytes), bytes);
	}
}

static void write_bits(const struct texture_insn *insn, uint64_t addr, const uint64_t *value)
{
	unsigned bytes = alu_bits(insn->type) / 8;

	for (unsigned i = 0; i < insn->values; i++)
		memcpy((void *)(uintptr_t)(addr + i * bytes), &value[i], bytes);
}

bool surface_access(const struct texture_insn *insn, const struct interp_texture *t, uint64_t *result,
		    const uint64_t *coord, const uint64_t *value)
{
	bool formatted = insn->op == SUST ? insn->mode : insn->op == SURED && (insn->mode & SURED_FORMATTED);
	unsigned size = alu_bits(insn->type) / 8 * (insn->op == SULD ? insn->results : insn->values);
	unsigned type = !formatted ? insn->type : t->type == 's' ? ALU_S32 : ALU_U32;
	bool inside;
	uint64_t addr;

	if (formatted)
		size = texel_size(t);
	if (!is_geometry(t, insn->geometry) || size > (uint64_t)t->size[0] * texel_size(t))
		return false;
	if (formatted && (insn->op == SURED ? size != 4 : insn->values < t->channels))
		return false;
	addr = place(insn, t, coord, size, formatted, &inside);
	if (!inside && insn->boundary == BOUND_TRAP)
		return false;
	if (!inside && insn->boundary == BOUND_ZERO) {
		for (unsigned i = 0; i < insn->results; i++)
			result[i] = 0;
		return true;
	}
	if (insn->op == SULD)
		read_bits(insn, addr, result);
	else if (insn->op == SURED)
		/* what is atomic is aligned */
		reduce(insn, type, addr - addr % size, value[0]);
	else if (formatted)
		texel_write(t, addr, value);
	else
		write_bits(insn, addr, value);
	return true;
}
