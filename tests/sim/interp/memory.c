/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "machine.h"
#include <inttypes.h>
#include <string.h>

bool memory_mapped(struct run *run, uint64_t addr, unsigned size)
{
	uint64_t low, high;

	for (unsigned i = 0; i < RANGES; i++)
		if (addr >= run->ranges[i].low && addr < run->ranges[i].high && run->ranges[i].high - addr >= size) {
			if (i) {
				low = run->ranges[i].low;
				high = run->ranges[i].high;
				run->ranges[i] = run->ranges[0];
				run->ranges[0].low = low;
				run->ranges[0].high = high;
			}
			return true;
		}
	if (addr >> 56 || !run->host->mapped(run->host->ctx, addr, &low, &high) || high - addr < size)
		return false;
	run->next_range = run->next_range % (RANGES - 1) + 1;
	run->ranges[run->next_range].low = low;
	run->ranges[run->next_range].high = high;
	return true;
}

unsigned memory_latency(struct warp *w, enum space space, const unsigned char *p, bool strong)
{
	uint64_t line = (uintptr_t)p >> 7, *known;

	switch (space) {
	case SPACE_SHARED:
		return LAT_SHARED;
	case SPACE_CONST:
	case SPACE_ENTRY_PARAM:
	case SPACE_PARAM:
		return LAT_CONST;
	case SPACE_LOCAL:
		return LAT_HIT;
	default:
		break;
	}
	known = &w->run->sms[w->block->sm].lines[line % CACHE_LINES];
	if (*known == line)
		return strong ? LAT_L2 : LAT_HIT;
	*known = line;
	return LAT_MISS;
}

static struct place bad(struct warp *w, unsigned lane, enum interp_fault_kind kind, enum interp_fault_kind *result,
			uint64_t addr, unsigned size, const char *what)
{
	*result = warp_fault(w, 1u << lane, kind, addr, "%s address 0x%" PRIx64 " (%s of %u bytes)",
			     kind == INTERP_MISALIGNED ? "misaligned" : "illegal", addr, what, size);
	return (struct place){ NULL, SPACE_GENERIC };
}

struct place memory_at(struct warp *w, unsigned lane, const struct access *a, uint64_t addr, unsigned size, const char *what,
		       enum interp_fault_kind *kind)
{
	const struct run *run = w->run;
	enum space space = a->space;
	uint64_t at = addr, limit = 0;
	unsigned char *p = NULL;

	if (space == SPACE_GENERIC)
		switch (addr >> 56 << 56) {
		case WINDOW_SHARED: space = SPACE_SHARED; at -= WINDOW_SHARED; break;
		case WINDOW_LOCAL: space = SPACE_LOCAL; at -= WINDOW_LOCAL; break;
		case WINDOW_PARAM: space = SPACE_ENTRY_PARAM; at -= WINDOW_PARAM; break;
		default: space = SPACE_GLOBAL;
		}
	switch (space) {
	case SPACE_SHARED:
		at &= 0xffffff;		/* the window: cvta.to.shared and 32-bit addresses */
		limit = run->shared_size;
		p = w->block->shared;
		break;
	case SPACE_LOCAL:
		limit = w->local_size;
		p = w->local + lane * w->local_size;
		break;
	case SPACE_ENTRY_PARAM:
		limit = run->kernel->param_size;
		p = (unsigned char *)(uintptr_t)run->params;
		break;
	case SPACE_PARAM:
		limit = w->frame->param_size;
		p = w->frame->param + lane * (size_t)w->frame->param_size;
		break;
	default:
		if (addr & (size - 1))
			return bad(w, lane, INTERP_MISALIGNED, kind, addr, size, what);
		if (!memory_mapped(w->run, addr, size))
			return bad(w, lane, INTERP_ADDRESS, kind, addr, size, what);
		return (struct place){ (unsigned char *)(uintptr_t)addr, space };
	}
	if (at & (size - 1) && space != SPACE_PARAM && space != SPACE_ENTRY_PARAM)
		return bad(w, lane, INTERP_MISALIGNED, kind, addr, size, what);
	if (at > limit || limit - at < size)
		return bad(w, lane, INTERP_ADDRESS, kind, addr, size, what);
	return (struct place){ p + at, space };
}

static uint64_t element_load(const unsigned char *p, enum alu_type type)
{
	switch (type) {
	case ALU_S8: return (uint64_t)(int8_t)*p;
	case ALU_S16: return (uint64_t)*(const volatile int16_t *)(const void *)p;
	case ALU_S32: return (uint64_t)*(const volatile int32_t *)(const void *)p;
	case ALU_U8: case ALU_B8: return *(const volatile uint8_t *)p;
	case ALU_U16: case ALU_B16: case ALU_F16: case ALU_BF16: return *(const volatile uint16_t *)(const void *)p;
	case ALU_U64: case ALU_B64: case ALU_F64: return *(const volatile uint64_t *)(const void *)p;
	default: return *(const volatile uint32_t *)(const void *)p;
	}
}

static void element_store(unsigned char *p, unsigned size, uint64_t value)
{
	switch (size) {
	case 1: *(volatile uint8_t *)p = (uint8_t)value; break;
	case 2: *(volatile uint16_t *)(void *)p = (uint16_t)value; break;
	case 4: *(volatile uint32_t *)(void *)p = (uint32_t)value; break;
	default: *(volatile uint64_t *)(void *)p = value;
	}
}

/* The addresses of all lanes: a 32-bit register has the low half. */
static void addresses(const struct warp *w, const struct insn *insn, const struct operand *base, uint64_t *addr)
{
	uint64_t temp[32];
	const uint64_t *from = operand_read(w, base, temp);
	uint64_t offset = (uint64_t)insn->access.offset, keep = base->bits <= 32 ? 0xffffffff : ~0ull;

	for (unsigned l = 0; l < 32; l++)
		addr[l] = (from[l] & keep) + offset;
}

enum interp_fault_kind exec_load(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	const struct access *a = &insn->access;
	unsigned size = a->size, whole = size * a->count, latency = 0;
	enum interp_fault_kind kind = INTERP_OK;
	uint64_t addr[32], value[8][32];
	const unsigned char *line = NULL;

	addresses(w, insn, o + insn->results, addr);
	for (uint32_t left = on; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);
		struct place at = memory_at(w, l, a, addr[l], whole, "read", &kind);

		if (!at.p)
			return kind;
		if ((unsigned char *)((uintptr_t)at.p >> 7) != line || !latency) {
			unsigned takes = memory_latency(w, at.space, at.p, a->strong);

			line = (unsigned char *)((uintptr_t)at.p >> 7);
			latency = takes > latency ? takes : latency;
		}
		for (unsigned k = 0; k < a->count; k++)
			value[k][l] = element_load(at.p + k * size, a->type);
	}
	for (unsigned k = 0; k < a->count; k++)
		operand_write(w, &o[k], value[k], on, latency);
	if (w->outstanding < w->time + latency)
		w->outstanding = w->time + latency;
	return INTERP_OK;
}

enum interp_fault_kind exec_store(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn);
	const struct access *a = &insn->access;
	unsigned size = a->size, whole = size * a->count;
	uint64_t addr[32], temp[8][32], done = w->time + LAT_STORE;
	enum interp_fault_kind kind = INTERP_OK;
	const uint64_t *value[8];

	addresses(w, insn, o, addr);
	for (unsigned k = 0; k < a->count; k++)
		value[k] = operand_read(w, &o[1 + k], temp[k]);
	for (uint32_t left = on, l; left; left &= ~(1u << l)) {
		l = memory_lane(w, left);
		struct place at = memory_at(w, l, a, addr[l], whole, "write", &kind);

		if (!at.p)
			return kind;
		if (at.space == SPACE_CONST || at.space == SPACE_ENTRY_PARAM)
			return warp_fault(w, 1u << l, INTERP_ADDRESS, addr[l], "a write to constant memory");
		if (at.space == SPACE_SHARED)
			done = w->time + LAT_SHARED;
		for (unsigned k = 0; k < a->count; k++)
			element_store(at.p + k * size, size, value[k][l]);
	}
	if (a->space != SPACE_PARAM && w->outstanding < done)
		w->outstanding = done;
	return INTERP_OK;
}
