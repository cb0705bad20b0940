/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a kernel asks of the system: vprintf, malloc, free, __assertfail. */
#include "machine.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct text {
	char s[4096];
	size_t n;
};

/* Copies bytes from an address of a lane; false if they are not there. */
static bool fetch(struct warp *w, unsigned lane, uint64_t addr, void *to, unsigned size)
{
	struct access a = { .space = SPACE_GENERIC };
	enum interp_fault_kind kind;
	struct place at;

	for (unsigned i = 0; i < size; i++) {		/* whatever its alignment */
		at = memory_at(w, lane, &a, addr + i, 1, "read", &kind);
		if (!at.p)
			return false;
		((unsigned char *)to)[i] = *at.p;
	}
	return true;
}

static bool fetch_text(struct warp *w, unsigned lane, uint64_t addr, char *to, size_t size)
{
	size_t n = 0;

	for (; n + 1 < size; n++)
		if (!fetch(w, lane, addr + n, &to[n], 1) || !to[n])
			break;
	to[n] = 0;
	return n || fetch(w, lane, addr, &(char){ 0 }, 1);
}

struct arguments {
	uint64_t addr;
	unsigned n;
};

static bool argument(struct warp *w, unsigned lane, struct arguments *args, unsigned size, uint64_t *value)
{
	args->addr = (args->addr + size - 1) & ~(uint64_t)(size - 1);
	*value = 0;
	if (!fetch(w, lane, args->addr, value, size))
		return false;
	args->addr += size;
	args->n++;
	return true;
}

/* The form has one conversion, of the kind of the argument that follows. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* One conversion, from its % on; returns what follows, or NULL after a fault. */
static const char *convert(struct warp *w, unsigned lane, const char *p, struct arguments *args, struct text *out)
{
	char form[64], string[1024];
	unsigned n = 0, longs = 0;
	uint64_t value;
	double d;
	int did;

	for (form[n++] = *p++; *p && strchr("-+ #0123456789.*hlzjt", *p) && n < 32; p++) {
		if (*p == 'l' || *p == 'z' || *p == 'j' || *p == 't') {
			longs++;
		} else if (*p == '*') {
			if (!argument(w, lane, args, 4, &value))
				return NULL;
			n += (unsigned)snprintf(form + n, 12, "%d", (int)value % 10000);
		} else if (*p != 'h') {
			form[n++] = *p;
		}
	}
	if (!*p)
		return p;
	if (strchr("diuxXoc", *p)) {
		bool is_signed = *p == 'd' || *p == 'i';

		if (!argument(w, lane, args, longs ? 8 : 4, &value))
			return NULL;
		if (*p != 'c')
			n += (unsigned)sprintf(form + n, "ll");
		form[n++] = *p;
		form[n] = 0;
		did = *p == 'c' ? snprintf(string, sizeof string, form, (int)value) :
			snprintf(string, sizeof string, form, is_signed && !longs ? (long long)(int32_t)value : (long long)value);
	} else if (strchr("eEfFgGaA", *p)) {
		if (!argument(w, lane, args, 8, &value))
			return NULL;
		memcpy(&d, &value, 8);
		form[n++] = *p;
		form[n] = 0;
		did = snprintf(string, sizeof string, form, d);
	} else if (*p == 's') {
		char text[1024];

		if (!argument(w, lane, args, 8, &value) || !fetch_text(w, lane, value, text, sizeof text))
			return NULL;
		form[n++] = 's';
		form[n] = 0;
		did = snprintf(string, sizeof string, form, text);
	} else if (*p == 'p') {
		if (!argument(w, lane, args, 8, &value))
			return NULL;
		did = snprintf(string, sizeof string, "0x%llx", (unsigned long long)value);
	} else {
		did = snprintf(string, sizeof string, "%c", *p);
	}
	if (did > 0) {
		size_t size = (size_t)did < sizeof string ? (size_t)did : sizeof string - 1;

		size = size < sizeof out->s - out->n ? size : sizeof out->s - out->n;
		memcpy(out->s + out->n, string, size);
		out->n += size;
	}
	return p + 1;
}

static bool print(struct warp *w, unsigned lane, uint64_t format_addr, uint64_t args_addr, uint64_t *result)
{
	struct arguments args = { args_addr, 0 };
	struct text out = { .n = 0 };
	char format[2048];

	if (!fetch_text(w, lane, format_addr, format, sizeof format))
		return false;
	for (const char *p = format; p && *p; ) {
		if (*p == '%' && p[1] != '%') {
			p = convert(w, lane, p, &args, &out);
			if (!p)
				return false;
			continue;
		}
		p += *p == '%';
		if (out.n < sizeof out.s)
			out.s[out.n++] = *p;
		p++;
	}
	w->run->host->print(w->run->host->ctx, out.s, out.n);
	*result = args.n;
	return true;
}

/* As CUDA says it. */
static enum interp_fault_kind asserted(struct warp *w, unsigned lane, const uint64_t *arg)
{
	struct interp_fault *f = w->run->fault;
	char message[256] = "", file[256] = "", function[256] = "", text[400];

	if (!fetch_text(w, lane, arg[0], message, sizeof message) || !fetch_text(w, lane, arg[1], file, sizeof file) ||
	    !fetch_text(w, lane, arg[3], function, sizeof function))
		return f->kind;
	warp_fault(w, 1u << lane, INTERP_ASSERT, 0, "assertion");
	snprintf(text, sizeof text, "%.60s:%u: %.60s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%.60s` failed.", file,
		 (unsigned)arg[2], function, f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2],
		 message);
	memcpy(f->text, text, sizeof f->text);
	f->text[sizeof f->text - 1] = 0;
	return INTERP_ASSERT;
}

static uint64_t read_arg(const struct warp *w, const struct operand *o, unsigned lane)
{
	uint64_t temp[32], value = 0;

	if (o->kind != OPERAND_PARAM)
		return operand_read(w, o, temp)[lane];
	memcpy(&value, w->frame->param + (size_t)lane * w->frame->param_size + o->n, o->size < 8 ? o->size : 8);
	return value;
}

enum interp_fault_kind system_call(struct warp *w, const struct insn *insn, uint32_t on, const struct interp_kernel *f)
{
	static const unsigned char needs[] = { 0, 2, 1, 1, 4 };
	const struct operand *o = insn_operands(w, insn), *source = o + insn->results + 1;
	const struct interp_host *host = w->run->host;
	uint64_t arg[4], result[32] = { 0 };

	if (!f->system)
		return warp_fault(w, on, INTERP_PC, 0, "a call of %.60s, which is not in the module", f->name);
	if (insn->sources - 1 < needs[f->system])
		return warp_fault(w, on, INTERP_PC, 0, "a call of %s with too few arguments", f->name);
	for (uint32_t left = on; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);

		for (unsigned i = 0; i < needs[f->system]; i++)
			arg[i] = read_arg(w, &source[i], l);
		switch (f->system) {
		case SYSTEM_VPRINTF:
			if (!print(w, l, arg[0], arg[1], &result[l]))
				return w->run->fault->kind;
			break;
		case SYSTEM_MALLOC:
			result[l] = host->alloc(host->ctx, arg[0]);
			break;
		case SYSTEM_FREE:
			if (arg[0])
				host->free(host->ctx, arg[0]);
			memset(w->run->ranges, 0, sizeof w->run->ranges);
			break;
		default:
			return asserted(w, l, arg);
		}
		if (insn->results && o->kind == OPERAND_PARAM)
			memcpy(w->frame->param + (size_t)l * w->frame->param_size + o->n, &result[l], o->size < 8 ? o->size : 8);
	}
	if (insn->results)
		operand_write(w, o, result, on, LAT_ALU);
	return INTERP_OK;
}
