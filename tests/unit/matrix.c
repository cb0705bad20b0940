/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The interpreter's matrices: matrix PART runs the checks of a part, prints those that fail, and their number. */
#include "../sim/interp/alu_format.h"
#include "../sim/interp/matrix_ops.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct checks {
	unsigned done, wrong;
};

static void check(struct checks *c, bool right, const char *what)
{
	c->done++;
	if (!right) {
		c->wrong++;
		printf("wrong: %s\n", what);
	}
}

static bool decode(struct matrix_insn *insn, const char *text)
{
	return matrix_decode(insn, (struct ptx_str){ text, strlen(text) });
}

/* Small numbers, which every format has. */
static int small(unsigned type, unsigned i)
{
	int v = (int)(i * 7919 % 13);

	if (type == M_B1)
		return v & 1;
	return type == M_U8 || type == M_U4 ? v : v % 7 - 3;
}

static uint64_t encode(unsigned type, int v)
{
	switch (type) {
	case M_F16: return alu_round_to(&alu_half, v, ALU_RN);
	case M_BF16: return alu_round_to(&alu_bfloat, v, ALU_RN);
	case M_E4M3: return alu_round_to(&alu_e4m3, v, ALU_RN);
	case M_E5M2: return alu_round_to(&alu_e5m2, v, ALU_RN);
	case M_TF32: case M_F32: return alu_round_to(&alu_single, v, ALU_RN);
	case M_F64: return alu_round_to(&alu_double, v, ALU_RN);
	default: return (uint64_t)v & (~0ull >> (64 - matrix_bits(type)));
	}
}

/* The sum for a row and a column, as integers. */
static int expected(const struct matrix_insn *insn, const int *a, const int *b, const int *c, unsigned i, unsigned j)
{
	int sum = c[i * insn->n + j];

	for (unsigned k = 0; k < insn->k; k++) {
		int x = a[i * insn->k + k], y = b[k * insn->n + j];

		sum += insn->type[MATRIX_A] != M_B1 ? x * y : insn->exclusive_or ? x ^ y : x & y;
	}
	return sum;
}

struct memory {
	unsigned char bytes[64 * 1024];
};

static void put(struct memory *mem, unsigned type, size_t i, uint64_t v)
{
	unsigned bits = matrix_bits(type);
	size_t at = i * bits;

	for (unsigned b = 0; b < bits; b++) {
		mem->bytes[(at + b) / 8] &= (unsigned char)~(1 << (at + b) % 8);
		mem->bytes[(at + b) / 8] |= (unsigned char)((v >> b & 1) << (at + b) % 8);
	}
}

static uint64_t get(const struct memory *mem, unsigned type, size_t i)
{
	unsigned bits = matrix_bits(type);
	uint64_t v = 0;

	for (unsigned b = 0; b < bits; b++)
		v |= (uint64_t)(mem->bytes[(i * bits + b) / 8] >> (i * bits + b) % 8 & 1) << b;
	return v;
}

/* As the interpreter does: pieces of memory to and from registers. */
static void transfer(const struct matrix_insn *insn, struct memory *mem, int64_t stride, uint64_t (*reg)[32])
{
	struct matrix_piece piece[MATRIX_PIECES];

	for (unsigned lane = 0; lane < 32; lane++) {
		unsigned n = matrix_pieces(insn, lane, stride, piece);

		for (unsigned r = 0; insn->op == MATRIX_LOAD && r < insn->regs[0]; r++)
			reg[r][lane] = 0;
		for (unsigned i = 0; i < n; i++) {
			uint64_t v = reg[piece[i].reg][lane] >> piece[i].shift;

			if (insn->op == MATRIX_STORE) {
				memcpy(mem->bytes + piece[i].offset, &v, piece[i].size);
			} else {
				v = 0;
				memcpy(&v, mem->bytes + piece[i].offset, piece[i].size);
				reg[piece[i].reg][lane] |= v << piece[i].shift;
			}
		}
	}
}

struct shape {
	const char *mma, *shape, *types[3];	/* of a, b, c and d */
};

/* Fills memory with an operand, loads it, and tells its elements. */
static bool load(const char *which, bool col, const struct shape *s, unsigned i, int *elements, uint64_t (*reg)[32])
{
	struct memory *mem = calloc(1, sizeof(*mem));
	struct matrix_insn insn;
	unsigned rows, cols, type, stride;
	char text[120];

	snprintf(text, sizeof(text), "wmma.load.%s.sync.aligned.%s.%s.global.%s", which, col ? "col" : "row", s->shape,
		 s->types[i]);
	if (!mem || !decode(&insn, text)) {
		free(mem);
		return false;
	}
	rows = matrix_rows(&insn, insn.which);
	cols = matrix_cols(&insn, insn.which);
	type = insn.type[insn.which];
	/* with room between rows, if elements are no less than a byte */
	stride = (col ? rows : cols) + (matrix_bits(type) < 8 ? 0 : 5);
	for (unsigned r = 0; r < rows; r++)
		for (unsigned c = 0; c < cols; c++) {
			elements[r * cols + c] = small(type, r * cols + c + i * 3);
			put(mem, type, col ? c * stride + r : r * stride + c, encode(type, elements[r * cols + c]));
		}
	transfer(&insn, mem, matrix_bits(type) < 8 ? 0 : stride, reg);
	free(mem);
	return true;
}

static bool stored(const struct shape *s, bool col, const struct matrix_insn *mma, uint64_t (*d)[32], const int *a,
		   const int *b, const int *c)
{
	struct memory *mem = calloc(1, sizeof(*mem));
	struct matrix_insn insn;
	char text[120];
	bool right;

	snprintf(text, sizeof(text), "wmma.store.d.sync.aligned.%s.%s.shared.%s", col ? "col" : "row", s->shape,
		 s->types[2]);
	right = mem && decode(&insn, text) && insn.space == MATRIX_SHARED && insn.regs[0] == mma->regs[MATRIX_D];
	if (right)
		transfer(&insn, mem, 0, d);
	for (unsigned i = 0; right && i < mma->m; i++)
		for (unsigned j = 0; j < mma->n; j++)
			right = right && get(mem, mma->type[MATRIX_D], col ? j * mma->m + i : i * mma->n + j) ==
				encode(mma->type[MATRIX_D], expected(mma, a, b, c, i, j));
	free(mem);
	return right;
}

static bool multiplies(const struct shape *s, bool a_col, bool b_col)
{
	uint64_t a[8][32], b[8][32], c[8][32], d[8][32];
	int x[4096], y[4096], z[1024];
	struct matrix_insn mma;

	return decode(&mma, s->mma) && load("a", a_col, s, 0, x, a) && load("b", b_col, s, 1, y, b) &&
		load("c", a_col, s, 2, z, c) &&
		(matrix_mma(&mma, d, (const uint64_t (*)[32])a, (const uint64_t (*)[32])b, (const uint64_t (*)[32])c),
		 stored(s, b_col, &mma, d, x, y, z));
}

static void wmma(struct checks *c)
{
	static const struct shape shapes[] = {
		{ "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "m16n16k16", { "f16", "f16", "f32" } },
		{ "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", "m16n16k16", { "f16", "f16", "f16" } },
		{ "wmma.mma.sync.aligned.row.col.m32n8k16.f32.f32", "m32n8k16", { "f16", "f16", "f32" } },
		{ "wmma.mma.sync.aligned.row.col.m8n32k16.f16.f16", "m8n32k16", { "f16", "f16", "f16" } },
		{ "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", "m16n16k16", { "bf16", "bf16", "f32" } },
		{ "wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32", "m8n32k16", { "bf16", "bf16", "f32" } },
		{ "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", "m16n16k8", { "tf32", "tf32", "f32" } },
		{ "wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64", "m8n8k4", { "f64", "f64", "f64" } },
		{ "wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32", "m16n16k16", { "u8", "u8", "s32" } },
		{ "wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32.satfinite", "m32n8k16", { "s8", "s8", "s32" } },
	};
	static const struct shape packed[] = {
		{ "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", "m8n8k32", { "s4", "s4", "s32" } },
		{ "wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32", "m8n8k32", { "u4", "u4", "s32" } },
		{ "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", "m8n8k128", { "b1", "b1", "s32" } },
		{ "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", "m8n8k128", { "b1", "b1", "s32" } },
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (unsigned way = 0; way < 4; way++)
			check(c, multiplies(&shapes[i], way & 1, way & 2), shapes[i].mma);
	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
		check(c, multiplies(&packed[i], false, true), packed[i].mma);
}

/* Where PTX ISA has element i of a fragment, counted through its registers. */
struct documented {
	const char *mma;
	unsigned which, lane, i, row, col;
};

static void fragments(struct checks *c)
{
	static const char f16[] = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
	static const char k8[] = "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32";
	static const char tf32[] = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
	static const char s8[] = "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32";
	static const char s8small[] = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32";
	static const char f64[] = "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64";
	static const char b1[] = "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc";
	static const char s4[] = "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32";
	static const struct documented places[] = {
		{ f16, MATRIX_A, 6, 0, 1, 4 }, { f16, MATRIX_A, 6, 3, 9, 5 }, { f16, MATRIX_A, 6, 4, 1, 12 },
		{ f16, MATRIX_A, 31, 7, 15, 15 }, { f16, MATRIX_B, 6, 1, 5, 1 }, { f16, MATRIX_B, 6, 2, 12, 1 },
		{ f16, MATRIX_C, 6, 1, 1, 5 }, { f16, MATRIX_D, 6, 2, 9, 4 }, { k8, MATRIX_A, 9, 2, 10, 2 },
		{ k8, MATRIX_B, 9, 1, 3, 2 }, { tf32, MATRIX_A, 7, 1, 9, 3 }, { tf32, MATRIX_A, 7, 2, 1, 7 },
		{ tf32, MATRIX_B, 7, 1, 7, 1 }, { s8, MATRIX_A, 5, 3, 1, 7 }, { s8, MATRIX_A, 5, 4, 9, 4 },
		{ s8, MATRIX_A, 5, 8, 1, 20 }, { s8, MATRIX_A, 5, 13, 9, 21 }, { s8, MATRIX_B, 5, 2, 6, 1 },
		{ s8, MATRIX_B, 5, 5, 21, 1 }, { s8small, MATRIX_A, 30, 3, 7, 11 }, { s8small, MATRIX_B, 30, 0, 8, 7 },
		{ s8small, MATRIX_C, 30, 1, 7, 5 }, { f64, MATRIX_A, 13, 1, 11, 1 }, { f64, MATRIX_A, 13, 2, 3, 5 },
		{ f64, MATRIX_B, 13, 1, 5, 3 }, { b1, MATRIX_A, 2, 33, 8, 65 }, { b1, MATRIX_A, 2, 64, 0, 192 },
		{ b1, MATRIX_B, 2, 32, 192, 0 }, { s4, MATRIX_A, 5, 8, 9, 8 }, { s4, MATRIX_A, 5, 16, 1, 40 },
		{ s4, MATRIX_B, 5, 8, 40, 1 },
	};

	for (size_t n = 0; n < sizeof(places) / sizeof(places[0]); n++) {
		const struct documented *p = &places[n];
		struct matrix_insn insn;
		struct matrix_place at = { 0, 0 };
		bool known = decode(&insn, p->mma);
		unsigned per;
		char text[200];

		if (known) {
			per = matrix_register_bits(insn.type[p->which]) / matrix_bits(insn.type[p->which]);
			at = matrix_place(&insn, p->which, p->lane, p->i / per, p->i % per);
		}
		snprintf(text, sizeof(text), "%s: operand %u, lane %u, element %u", p->mma, p->which, p->lane, p->i);
		check(c, known && at.row == p->row && at.col == p->col, text);
	}
}

/* Every element is in one place, and the product is right. */
static bool product(const char *text)
{
	static const unsigned order[] = { MATRIX_A, MATRIX_B, MATRIX_C };
	uint64_t reg[4][8][32] = { 0 };
	int element[4][4096];
	struct matrix_insn insn;

	if (!decode(&insn, text))
		return false;
	for (unsigned o = 0; o < 3; o++) {
		unsigned which = order[o], type = insn.type[which], cols = matrix_cols(&insn, which), seen = 0;
		unsigned per = matrix_register_bits(type) / matrix_bits(type);
		bool there[4096] = { false };

		for (unsigned i = 0; i < matrix_rows(&insn, which) * cols; i++)
			element[which][i] = small(type, i + which);
		for (unsigned i = 0; i < insn.regs[which] * 32 * per; i++) {
			unsigned r = i / 32 / per, lane = i / per % 32, e = i % per;
			struct matrix_place p = matrix_place(&insn, which, lane, r, e);

			if (p.row >= matrix_rows(&insn, which) || p.col >= cols)
				return false;
			seen += !there[p.row * cols + p.col];
			there[p.row * cols + p.col] = true;
			reg[which][r][lane] |= encode(type, element[which][p.row * cols + p.col])
				<< e * matrix_bits(type);
		}
		if (seen != matrix_rows(&insn, which) * cols)
			return false;
	}
	matrix_mma(&insn, reg[MATRIX_D], (const uint64_t (*)[32])reg[MATRIX_A], (const uint64_t (*)[32])reg[MATRIX_B],
		   (const uint64_t (*)[32])reg[MATRIX_C]);
	for (unsigned i = 0; i < insn.m * insn.n; i++) {
		unsigned type = insn.type[MATRIX_D], per = matrix_register_bits(type) / matrix_bits(type);
		unsigned r = i / 32 / per, lane = i / per % 32, e = i % per;
		struct matrix_place p = matrix_place(&insn, MATRIX_D, lane, r, e);
		uint64_t got = reg[MATRIX_D][r][lane] >> e * matrix_bits(type) & (~0ull >> (64 - matrix_bits(type)));

		int want = expected(&insn, element[MATRIX_A], element[MATRIX_B], element[MATRIX_C], p.row, p.col);

		if (got != encode(type, want))
			return false;
	}
	return true;
}

static void mma(struct checks *c)
{
	static const char *const insns[] = {
		"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
		"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
		"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
		"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
		"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
		"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
		"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
		"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64",
		"mma.sync.aligned.m16n8k16.row.col.rn.f64.f64.f64.f64",
		"mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32",
		"mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32",
		"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32",
		"mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32",
		"mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32",
		"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
		"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
		"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
		"mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16",
	};

	for (size_t i = 0; i < sizeof(insns) / sizeof(insns[0]); i++)
		check(c, product(insns[i]), insns[i]);
}

static void unknown(struct checks *c)
{
	static const char *const insns[] = {
		"mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
		"mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
		"mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
		"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
		"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32",
		"mma.sync.aligned.m16n8k16.row.col.rn.f32.f16.f16.f32",
		"mma.aligned.m16n8k16.row.col.f32.f16.f16.f32",
		"wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32",
		"wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32",
		"wmma.load.a.sync.aligned.row.m16n16k16.local.f16",
		"wmma.load.a.sync.aligned.col.m8n8k32.s4",
		"wmma.load.d.sync.aligned.row.m16n16k16.f32",
		"wmma.store.a.sync.aligned.row.m16n16k16.f32",
		"wmma.load.a.sync.aligned.row.m16n16k16.f16.",
		"wmma.load.c.sync.aligned.row.m16n16k16.u8",
		"ldmatrix.sync.aligned.m8n8.x3.shared.b16",
		"ldmatrix.sync.aligned.m8n8.x1.global.b16",
		"movmatrix.sync.aligned.m8n8.b16",
		"wmma",
		"",
	};
	struct matrix_insn insn;

	for (size_t i = 0; i < sizeof(insns) / sizeof(insns[0]); i++)
		check(c, !decode(&insn, insns[i]), insns[i]);
}

/* Rows in shared memory, by ldmatrix, are what mma.sync takes. */
static void rows(struct checks *c)
{
	uint64_t a[4][32], moved[32], back[4][32];
	uint16_t row[32][8], again[32][8];
	struct matrix_insn ld, st, trans, move, mma_insn;
	bool right = true;

	check(c, decode(&ld, "ldmatrix.sync.aligned.m8n8.x4.shared.b16") && ld.regs[0] == 4, "ldmatrix");
	check(c, decode(&trans, "ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16") && trans.transpose,
	      "ldmatrix.trans");
	check(c, decode(&st, "stmatrix.sync.aligned.m8n8.x4.shared.b16"), "stmatrix");
	check(c, decode(&move, "movmatrix.sync.aligned.m8n8.trans.b16"), "movmatrix");
	check(c, decode(&mma_insn, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), "mma");
	/* quarters of a 16 by 16 matrix: left above, left below, right above, right below */
	for (unsigned i = 0; i < 32; i++)
		for (unsigned j = 0; j < 8; j++)
			row[i][j] = (uint16_t)((i % 16) * 16 + i / 16 * 8 + j);
	matrix_from_rows(&ld, a, (const uint16_t (*)[8])row);
	for (unsigned i = 0; i < 4 * 32 * 2; i++) {
		struct matrix_place p = matrix_place(&mma_insn, MATRIX_A, i / 2 % 32, i / 64, i % 2);

		right = right && (a[i / 64][i / 2 % 32] >> i % 2 * 16 & 0xffff) == p.row * 16 + p.col;
	}
	check(c, right, "ldmatrix gives a fragment of a");
	matrix_to_rows(&st, again, (const uint64_t (*)[32])a);
	check(c, !memcmp(row, again, sizeof(row)), "stmatrix stores it again");
	matrix_from_rows(&trans, back, (const uint16_t (*)[8])row);
	matrix_move(moved, a[0]);
	check(c, !memcmp(moved, back[0], sizeof(moved)), "movmatrix and .trans are the same");
	check(c, (back[0][6] & 0xffff) == row[4][1] && back[0][6] >> 16 == row[5][1], "a column is in a quad");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(struct checks *c);
	} parts[] = {
		{ "wmma", wmma }, { "fragments", fragments }, { "mma", mma }, { "rows", rows }, { "unknown", unknown },
	};
	struct checks c = { 0 };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (argc == 2 && !strcmp(argv[1], parts[i].name))
			parts[i].run(&c);
	printf("%u checks, %u wrong\n", c.done, c.wrong);
	return c.wrong || !c.done;
}
