/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* tex.2d.v4.f32.f32 {r, …}, [texture, {x, y}]; sust.b.2d.b32.trap [surface, {x, y}], {v} */
#include "load.h"
#include "machine.h"
#include <string.h>

/* Adds the texture's handle and the elements of the coordinates: sources 0, then 1 to 4 of insn->mode. */
static bool brackets(struct loader *l, struct ptx_str text, struct insn *insn)
{
	struct ptx_str handle;
	struct operand o;
	const char *comma;
	int n = 0;

	text = ptx_trim(text);
	if (text.n < 3 || *text.s != '[' || text.s[text.n - 1] != ']')
		return false;
	text = (struct ptx_str){ text.s + 1, text.n - 2 };
	comma = memchr(text.s, ',', text.n);
	handle = ptx_trim((struct ptx_str){ text.s, comma ? (size_t)(comma - text.s) : text.n });
	if (!operand_parse(l, handle, ALU_U64, &o) || !operand_add(l, o))
		return false;
	if (comma) {
		n = operands_vector(l, (struct ptx_str){ comma + 1, (size_t)(text.s + text.n - comma - 1) },
				    insn->texture.coord_type);
		if (n < insn->texture.coords || n > 4)
			return false;
	}
	insn->mode = (unsigned char)n;
	insn->sources = (unsigned char)(1 + n);
	return n >= insn->texture.coords;
}

bool decode_texture(struct loader *l, const struct ptx_insn *t, struct insn *insn)
{
	int n, at = 0;

	if (!texture_decode(&insn->texture, t->op) || t->n < 2)
		return false;
	if (!insn->texture.store) {
		n = operands_vector(l, t->arg[at++], insn->texture.type);
		if (n != insn->texture.results)
			return false;
		insn->results = (unsigned char)n;
	}
	if (!brackets(l, t->arg[at++], insn))
		return false;
	for (; at < t->n; at++) {
		n = operands_vector(l, t->arg[at], insn->texture.type);
		if (n < 0 || insn->sources + n > 24)
			return false;
		insn->sources = (unsigned char)(insn->sources + n);
	}
	insn->exec = exec_texture;
	return insn->sources - 1 - insn->mode >= insn->texture.values;
}

enum interp_fault_kind exec_texture(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn), *source = o + insn->results;
	uint64_t temp[24][32], result[8][32], one[8] = { 0 }, coord[4] = { 0 }, values[24];
	const struct interp_host *host = w->run->host;
	struct interp_texture texture;
	const uint64_t *value[24];
	uint64_t handle = 0;
	bool known = false;

	for (unsigned i = 0; i < insn->sources; i++)
		value[i] = operand_read(w, &source[i], temp[i]);
	for (uint32_t left = on; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		if (!known || value[0][l] != handle) {
			handle = value[0][l];
			known = host->texture && host->texture(host->ctx, handle, &texture);
			if (!known)
				return warp_fault(w, left, INTERP_ADDRESS, handle, "no such texture or surface");
		}
		for (unsigned i = 0; i < insn->mode; i++)
			coord[i] = value[1 + i][l];
		for (unsigned i = 0; i + 1 + insn->mode < insn->sources; i++)
			values[i] = value[1 + insn->mode + i][l];
		if (!texture_run(&insn->texture, &texture, one, coord, values))
			return warp_fault(w, left, INTERP_ADDRESS, handle, "outside a texture or surface");
		for (unsigned i = 0; i < insn->results; i++)
			result[i][l] = one[i];
	}
	for (unsigned i = 0; i < insn->results; i++)
		operand_write(w, &o[i], result[i], on, LAT_TEXTURE);
	return INTERP_OK;
}
