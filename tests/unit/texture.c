/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The interpreter's textures and surfaces: texture PART runs the checks of a part, prints those that fail, and their
 * number. */
#include "../sim/interp/texture.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct checks {
	unsigned done, wrong;
};

static void check(struct checks *c, bool right, const char *what, int line)
{
	c->done++;
	if (!right) {
		c->wrong++;
		printf("wrong: line %d: %s\n", line, what);
	}
}

#define CHECK(what) check(c, what, #what, __LINE__)

static uint64_t bits(float f)
{
	uint32_t v;

	memcpy(&v, &f, 4);
	return v;
}

static float value(uint64_t v)
{
	uint32_t low = (uint32_t)v;
	float f;

	memcpy(&f, &low, 4);
	return f;
}

static bool decode(struct texture_insn *insn, const char *text)
{
	return texture_decode(insn, (struct ptx_str){ text, strlen(text) });
}

/* Runs an instruction; coordinates are floats, or integers where the instruction has those; a layer is one always. */
static bool run(const struct interp_texture *t, const char *text, uint64_t *result, const double *at, int layer)
{
	struct texture_insn insn;
	uint64_t coord[5] = { 0 };
	unsigned n = 0;

	if (!decode(&insn, text))
		return false;
	if (layer >= 0)
		coord[n++] = (uint64_t)layer;
	for (unsigned i = 0; n < insn.coords; i++)
		coord[n++] = strstr(text, ".s32.trap") || strstr(text + 4, ".f32.s32") || strstr(text + 4, ".u32.s32") ?
			(uint32_t)(int32_t)at[i] : bits((float)at[i]);
	return texture_run(&insn, t, result, coord, NULL);
}

/* The first component, or NaN where there is none. */
static double sample(const struct interp_texture *t, const char *text, double x, double y, double z)
{
	uint64_t r[4];

	return run(t, text, r, (double[]){ x, y, z }, -1) ? (double)value(r[0]) : NAN;
}

static double sample_layer(const struct interp_texture *t, const char *text, int layer, double x, double y, double z)
{
	uint64_t r[4];

	return run(t, text, r, (double[]){ x, y, z }, layer) ? (double)value(r[0]) : NAN;
}

/* Texel (x, y, z) of a float texture is x + 10 y + 100 z. */
static struct interp_texture floats(float *texels, unsigned dims, unsigned w, unsigned h, unsigned d)
{
	for (unsigned i = 0; i < w * h * d; i++)
		texels[i] = (float)(i % w + i / w % h * 10 + i / w / h * 100);
	return (struct interp_texture){
		.addr = (uint64_t)(uintptr_t)texels, .dims = dims, .size = { w, h, d }, .pitch = w * 4,
		.slice = (size_t)w * h * 4, .channels = 1, .bits = 32, .type = 'f', .address = { 1, 1, 1 },
	};
}

static void names(struct checks *c)
{
	struct texture_insn i;

	CHECK(decode(&i, "tex.2d.v4.f32.f32") && i.coords == 2 && i.results == 4 && i.values == 0 && !i.store);
	CHECK(decode(&i, "tex.a2d.v4.u32.s32") && i.coords == 3);
	CHECK(decode(&i, "tex.level.2d.v4.f32.f32") && i.values == 1);
	CHECK(decode(&i, "tex.grad.3d.v4.f32.f32") && i.values == 8);
	CHECK(decode(&i, "tex.base.1d.v4.s32.f32"));
	CHECK(decode(&i, "tld4.b.2d.v4.f32.f32"));
	CHECK(decode(&i, "txq.width.b32") && i.results == 1);
	CHECK(decode(&i, "suq.height.b32"));
	CHECK(decode(&i, "suld.b.2d.v2.b32.trap") && i.results == 2 && !i.store);
	CHECK(decode(&i, "sust.b.2d.cg.v4.b8.zero") && i.values == 4 && i.store);
	CHECK(decode(&i, "sust.p.1d.v4.b32.clamp"));
	CHECK(decode(&i, "sured.b.add.2d.u32.trap") && i.values == 1 && i.store);
	CHECK(!decode(&i, "tex.2d.v4.f32"));
	CHECK(!decode(&i, "tex.2d.f32.f32"));
	CHECK(!decode(&i, "tex.2d.v4.f32.f32."));
	CHECK(!decode(&i, "tex.2d.v4.f32.f32.foo"));
	CHECK(!decode(&i, "tex.4d.v4.f32.f32"));
	CHECK(!decode(&i, "tex.cube.v4.f32.s32"));
	CHECK(!decode(&i, "tex.level.base.2d.v4.f32.f32"));
	CHECK(!decode(&i, "tld4.r.3d.v4.f32.f32"));
	CHECK(!decode(&i, "tld4.2d.v4.f32.f32"));
	CHECK(!decode(&i, "txq.memory_layout.b32"));
	CHECK(!decode(&i, "suq.filter_mode.b32"));
	CHECK(!decode(&i, "suld.b.cube.b32.trap"));
	CHECK(!decode(&i, "suld.b.2d.b32"));
	CHECK(!decode(&i, "suld.p.2d.b32.trap"));
	CHECK(!decode(&i, "suld.b.2d.v4.b64.trap"));
	CHECK(!decode(&i, "sust.p.2d.b8.trap"));
	CHECK(!decode(&i, "sured.b.and.2d.u32.trap"));
	CHECK(!decode(&i, "ld.global.u32"));
	CHECK(!decode(&i, ""));
}

static void points(struct checks *c)
{
	float texels[24];
	struct interp_texture t = floats(texels, 2, 4, 3, 1), cubic = floats(texels, 3, 4, 3, 2);

	t = floats(texels, 2, 4, 3, 1);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 1.99, 2, 0) == 21);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", -5, 99, 0) == 20);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", NAN, 1, 0) == 10);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", INFINITY, 1e30, 0) == 23);
	CHECK(sample(&t, "tex.2d.v4.f32.s32", 3, 1, 0) == 13);
	CHECK(sample(&t, "tex.level.2d.v4.f32.f32", 1, 1, 0) == 11);
	CHECK(isnan(sample(&t, "tex.1d.v4.f32.f32", 1, 1, 0)));
	CHECK(isnan(sample(&t, "tex.3d.v4.f32.f32", 1, 1, 0)));
	t.address[0] = t.address[1] = 0;
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 5, 0, 0) == 3);
	t.address[0] = 3;
	t.border[0] = 7;
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 4, 0, 0) == 7);
	t.normalized_coords = true;
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 0.5, 0.5, 0) == 12);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 0.5, 1.5, 0) == 12);
	t.address[0] = 0;
	CHECK(sample(&t, "tex.2d.v4.f32.f32", -0.25, 0, 0) == 3);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 7.25, 0, 0) == 1);
	t.address[0] = 2;
	CHECK(sample(&t, "tex.2d.v4.f32.f32", -0.125, 0, 0) == 0);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 1.125, 0, 0) == 3);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 1.875, 0, 0) == 0);
	cubic = floats(texels, 3, 4, 3, 2);
	CHECK(sample(&cubic, "tex.3d.v4.f32.f32", 2.5, 1.5, 1.5) == 112);
}

static void linear(struct checks *c)
{
	float texels[24];
	struct interp_texture t = floats(texels, 2, 4, 3, 1);

	t.linear_filter = true;
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 1.5, 1.5, 0) == 11);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 2, 1.5, 0) == 11.5);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 2, 2, 0) == 16.5);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 0.25, 0.5, 0) == 0);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 4, 0.5, 0) == 3);
	/* 0.1 of 256 is 25.6 */
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 1.6, 0.5, 0) == 1 + 26 / 256.0);
	/* less than half of a 256th is nothing, and almost one is one */
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 1.501, 0.5, 0) == 1);
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 2.499, 0.5, 0) == 2);
	CHECK(sample(&t, "tex.2d.v4.f32.s32", 2, 1, 0) == 12);
	t.normalized_coords = true;
	t.address[0] = 0;
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 0, 1 / 6.0f, 0) == 1.5);
	t.address[0] = 2;
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 0, 1 / 6.0f, 0) == 0);
	t.address[0] = 3;
	t.border[0] = 8;
	CHECK(sample(&t, "tex.2d.v4.f32.f32", 0, 1 / 6.0f, 0) == 4);
	t = floats(texels, 3, 4, 3, 2);
	t.linear_filter = true;
	CHECK(sample(&t, "tex.3d.v4.f32.f32", 2, 2, 1) == 66.5);
	t = floats(texels, 1, 4, 1, 1);
	t.linear_filter = true;
	CHECK(sample(&t, "tex.1d.v4.f32.f32", 1.25, 0, 0) == 0.75);
}

static void formats(struct checks *c)
{
	unsigned char bytes[8] = { 0, 51, 255, 128, 129, 127, 1, 2 };
	unsigned short halves[2] = { 0x3c00, 0xc000 };
	struct interp_texture t = {
		.addr = (uint64_t)(uintptr_t)bytes, .dims = 1, .size = { 2, 1, 1 }, .pitch = 8, .channels = 4,
		.bits = 8, .type = 'u', .address = { 1, 1, 1 },
	};
	uint64_t r[4];

	CHECK(run(&t, "tex.1d.v4.u32.f32", r, (double[]){ 0 }, -1));
	CHECK(r[0] == 0 && r[1] == 51 && r[2] == 255 && r[3] == 128);
	t.type = 's';
	CHECK(run(&t, "tex.1d.v4.s32.f32", r, (double[]){ 0 }, -1) && r[2] == UINT64_MAX && r[3] == (uint64_t)-128);
	t.normalized_read = true;
	CHECK(run(&t, "tex.1d.v4.f32.f32", r, (double[]){ 0 }, -1) && value(r[3]) == -1);
	CHECK(run(&t, "tex.1d.v4.f32.f32", r, (double[]){ 1 }, -1) && value(r[0]) == -1 && value(r[1]) == 1);
	t.type = 'u';
	t.channels = 2;
	t.linear_filter = true;
	CHECK(run(&t, "tex.1d.v4.f32.f32", r, (double[]){ 0.5 }, -1) && value(r[1]) == 51 / 255.0f && r[2] == 0);
	CHECK(run(&t, "tex.1d.v4.f32.f32", r, (double[]){ 1 }, -1) && value(r[0]) == 0.5f);
	t = (struct interp_texture){
		.addr = (uint64_t)(uintptr_t)halves, .dims = 1, .size = { 2, 1, 1 }, .channels = 1, .bits = 16,
		.type = 'f', .linear_memory = true, .pitch = 4,
	};
	CHECK(sample(&t, "tex.1d.v4.f32.s32", 1, 0, 0) == -2);
	CHECK(sample(&t, "tex.1d.v4.f32.s32", 2, 0, 0) == 0);
	CHECK(sample(&t, "tex.1d.v4.f32.s32", -1, 0, 0) == 0);
	t.channels = 5;
	CHECK(isnan(sample(&t, "tex.1d.v4.f32.s32", 0, 0, 0)));
}

static void layers(struct checks *c)
{
	float texels[4 * 12 * 12];
	struct interp_texture t = floats(texels, 2, 4, 3, 2);
	uint64_t r[4];

	t.layered = true;
	CHECK(sample_layer(&t, "tex.a2d.v4.f32.f32", 1, 2, 1, 0) == 112);
	CHECK(sample_layer(&t, "tex.a2d.v4.f32.f32", 9, 2, 1, 0) == 112);
	CHECK(isnan(sample(&t, "tex.2d.v4.f32.f32", 2, 1, 0)));
	t = floats(texels, 1, 4, 1, 3);
	t.layered = true;
	CHECK(sample_layer(&t, "tex.a1d.v4.f32.f32", 2, 3, 0, 0) == 203);
	t = floats(texels, 2, 4, 4, 12);
	t.cube = true;
	CHECK(sample(&t, "tex.cube.v4.f32.f32", 1, 0.9, 0.9) == 0);
	CHECK(sample(&t, "tex.cube.v4.f32.f32", 2, -1.8, -1.8) == 33);
	CHECK(sample(&t, "tex.cube.v4.f32.f32", -1, 0.9, 0.9) == 103);
	CHECK(sample(&t, "tex.cube.v4.f32.f32", 0.9, 1, -0.9) == 203);
	CHECK(sample(&t, "tex.cube.v4.f32.f32", 0.9, -1, -0.9) == 333);
	CHECK(sample(&t, "tex.cube.v4.f32.f32", -0.9, 0.9, 1) == 400);
	CHECK(sample(&t, "tex.cube.v4.f32.f32", -0.9, 0.9, -1) == 503);
	CHECK(sample(&t, "tex.cube.v4.f32.f32", 0, 0, 0) == sample(&t, "tex.cube.v4.f32.f32", 0, 0, 0));
	t.layered = true;
	CHECK(sample_layer(&t, "tex.acube.v4.f32.f32", 1, -0.9, 0.9, -1) == 1103);
	t = floats(texels, 2, 4, 3, 1);
	CHECK(run(&t, "tld4.r.2d.v4.f32.f32", r, (double[]){ 2, 1 }, -1));
	CHECK(value(r[0]) == 11 && value(r[1]) == 12 && value(r[2]) == 2 && value(r[3]) == 1);
	CHECK(run(&t, "tld4.g.2d.v4.f32.f32", r, (double[]){ 2, 1 }, -1) && r[0] == 0);
}

static uint64_t ask(const struct interp_texture *t, const char *text)
{
	struct texture_insn insn;
	uint64_t r;

	return decode(&insn, text) && texture_run(&insn, t, &r, NULL, NULL) ? r : UINT64_MAX;
}

static void queries(struct checks *c)
{
	float texels[24];
	struct interp_texture t = floats(texels, 2, 4, 3, 2);

	CHECK(ask(&t, "txq.width.b32") == 4);
	CHECK(ask(&t, "txq.height.b32") == 3);
	CHECK(ask(&t, "txq.depth.b32") == 0);
	CHECK(ask(&t, "txq.level.width.b32") == 4);
	CHECK(ask(&t, "txq.array_size.b32") == 0);
	CHECK(ask(&t, "txq.channel_data_type.b32") == 0x10de);
	CHECK(ask(&t, "txq.channel_order.b32") == 0x10b0);
	CHECK(ask(&t, "txq.normalized_coords.b32") == 0);
	CHECK(ask(&t, "txq.filter_mode.b32") == 0);
	CHECK(ask(&t, "txq.addr_mode_0.b32") == 3);
	t.layered = true;
	t.address[1] = 2;
	CHECK(ask(&t, "txq.array_size.b32") == 2);
	CHECK(ask(&t, "suq.array_size.b32") == 2);
	CHECK(ask(&t, "txq.addr_mode_1.b32") == 1);
	t.bits = 8, t.type = 'u', t.channels = 4;
	CHECK(ask(&t, "suq.channel_data_type.b32") == 0x10da);
	CHECK(ask(&t, "suq.channel_order.b32") == 0x10b5);
	t.normalized_read = true;
	CHECK(ask(&t, "txq.channel_data_type.b32") == 0x10d2);
}

/* One surface instruction; false where it traps. */
static bool surface(const struct interp_texture *t, const char *text, uint64_t *result, const int *at,
		    const uint64_t *values)
{
	uint64_t coord[4] = { 0 };
	struct texture_insn insn;

	if (!decode(&insn, text))
		return false;
	for (unsigned i = 0; i < insn.coords; i++)
		coord[i] = (uint32_t)at[i];
	return texture_run(&insn, t, result, coord, values);
}

static void surfaces(struct checks *c)
{
	float texels[24];
	struct interp_texture t = floats(texels, 2, 4, 3, 2);
	uint64_t r[4] = { 9, 9, 9, 9 }, v[4] = { bits(50), bits(51), bits(52), bits(53) };
	unsigned words[4] = { 5, 6, 7, 0x80000000 };
	unsigned short halves[2] = { 0, 0 };
	struct interp_texture ints = {
		.addr = (uint64_t)(uintptr_t)words, .dims = 1, .size = { 4, 1, 1 }, .pitch = 16, .channels = 1,
		.bits = 32, .type = 'u',
	};

	CHECK(surface(&t, "suld.b.2d.b32.trap", r, (int[]){ 8, 1 }, NULL) && value(r[0]) == 12);
	CHECK(surface(&t, "suld.b.2d.v2.b32.trap", r, (int[]){ 8, 2 }, NULL) && value(r[1]) == 23);
	CHECK(surface(&t, "suld.b.2d.v4.b8.trap", r, (int[]){ 4, 0 }, NULL) && r[2] == 0x80 && r[3] == 0x3f);
	CHECK(!surface(&t, "suld.b.2d.b32.trap", r, (int[]){ 16, 0 }, NULL));
	CHECK(!surface(&t, "suld.b.2d.b32.trap", r, (int[]){ -4, 0 }, NULL));
	CHECK(!surface(&t, "suld.b.2d.b32.trap", r, (int[]){ 0, 3 }, NULL));
	CHECK(!surface(&t, "suld.b.2d.v2.b32.trap", r, (int[]){ 12, 0 }, NULL));
	CHECK(!surface(&t, "suld.b.1d.b32.trap", r, (int[]){ 0, 0 }, NULL));
	CHECK(surface(&t, "suld.b.2d.b32.clamp", r, (int[]){ 99, 99 }, NULL) && value(r[0]) == 23);
	CHECK(surface(&t, "suld.b.2d.b32.clamp", r, (int[]){ -99, -99 }, NULL) && value(r[0]) == 0);
	CHECK(surface(&t, "suld.b.2d.b32.zero", r, (int[]){ 16, 1 }, NULL) && r[0] == 0);
	CHECK(surface(&t, "sust.b.2d.v2.b32.trap", NULL, (int[]){ 0, 1 }, v) && texels[4] == 50 && texels[5] == 51);
	CHECK(!surface(&t, "sust.b.2d.v2.b32.trap", NULL, (int[]){ 12, 1 }, v) && texels[7] == 13);
	CHECK(surface(&t, "sust.b.2d.b32.zero", NULL, (int[]){ 16, 2 }, v) && texels[12] == 100);
	CHECK(surface(&t, "sust.p.2d.b32.clamp", NULL, (int[]){ 9, 0 }, v) && texels[3] == 50);
	t.layered = true;
	CHECK(surface(&t, "sust.b.a2d.b32.trap", NULL, (int[]){ 1, 4, 2 }, v) && texels[21] == 50);
	CHECK(!surface(&t, "sust.b.a2d.b32.trap", NULL, (int[]){ 2, 4, 2 }, v));
	t = (struct interp_texture){
		.addr = (uint64_t)(uintptr_t)halves, .dims = 1, .size = { 2, 1, 1 }, .pitch = 4, .channels = 1,
		.bits = 16, .type = 'f',
	};
	CHECK(surface(&t, "sust.p.1d.b32.trap", NULL, (int[]){ 1 }, (uint64_t[]){ bits(-2) }) && halves[1] == 0xc000);
	CHECK(surface(&ints, "sured.b.add.1d.u32.trap", NULL, (int[]){ 4 }, (uint64_t[]){ 10 }) && words[1] == 16);
	CHECK(surface(&ints, "sured.b.min.1d.s32.trap", NULL, (int[]){ 12 }, (uint64_t[]){ 3 }) &&
	      words[3] == 0x80000000);
	CHECK(surface(&ints, "sured.b.min.1d.u32.trap", NULL, (int[]){ 12 }, (uint64_t[]){ 3 }) && words[3] == 3);
	CHECK(surface(&ints, "sured.p.max.1d.b32.trap", NULL, (int[]){ 2 }, (uint64_t[]){ 70 }) && words[2] == 70);
	CHECK(surface(&ints, "sured.b.or.1d.b32.trap", NULL, (int[]){ 0 }, (uint64_t[]){ 8 }) && words[0] == 13);
	CHECK(surface(&ints, "sured.b.add.1d.u64.trap", NULL, (int[]){ 0 }, (uint64_t[]){ 1ull << 32 }) &&
	      words[0] == 13 && words[1] == 17);
	CHECK(!surface(&ints, "sured.b.add.1d.u32.trap", NULL, (int[]){ 16 }, (uint64_t[]){ 10 }));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(struct checks *c);
	} parts[] = {
		{ "names", names }, { "points", points }, { "linear", linear }, { "formats", formats },
		{ "layers", layers }, { "queries", queries }, { "surfaces", surfaces },
	};
	struct checks c = { 0 };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (argc == 2 && !strcmp(argv[1], parts[i].name))
			parts[i].run(&c);
	printf("%u checks, %u wrong\n", c.done, c.wrong);
	return c.wrong || !c.done;
}
