/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The places of a USDT probe's arguments as arm64's assembler writes them: x0 w1 5 [sp, 16] [x0, x1, lsl 3]. */
#ifndef MACHINE_USDT_H
#define MACHINE_USDT_H
#include <ctype.h>
#include <string.h>
#include "abi/usdt.h"
#include "elf/usdt_text.h"

/* In struct user_pt_regs: x0 to x30, then sp. */
enum { USDT_X_MAX = 30, USDT_SP = 8 * (USDT_X_MAX + 1) };

/* "x0", "w0", "sp" */
static inline bool take_register(const char **at, unsigned char *place)
{
	size_t len = strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789");
	const char *name = *at;
	char *end;
	long n;

	*at += len;
	*place = USDT_SP;
	if (len == 2 && !memcmp(name, "sp", 2))
		return true;
	if (len < 2 || (*name != 'x' && *name != 'w') || !isdigit(name[1]))
		return false;
	n = strtol(name + 1, &end, 10);
	*place = n <= USDT_X_MAX ? 8 * n : 0;
	return n <= USDT_X_MAX && end == *at;
}

/* "x1" or "x1, lsl 3": one of 32 bits would have to be extended. */
static inline bool take_index(const char **at, struct usdt_arg *arg)
{
	long long shift;

	if (**at != 'x' || !take_register(at, &arg->index))
		return false;
	if (!take(at, ','))
		return true;
	*at += strspn(*at, " ");
	if (strncmp(*at, "lsl ", 4))
		return false;
	*at += 4;
	take(at, '#');
	if (!take_number(at, &shift) || shift < 0 || shift > 4)
		return false;
	arg->scale = 1 << shift;
	return true;
}

/* "[sp]", "[sp, 16]", "[x0, x1, lsl 3]" */
static inline bool take_memory(const char **at, struct usdt_arg *arg)
{
	arg->kind = USDT_MEMORY;
	arg->scale = 1;
	if (!take(at, '[') || (**at != 'x' && **at != 's') || !take_register(at, &arg->reg))
		return false;
	if (take(at, ',')) {
		*at += strspn(*at, " ");
		if (!(**at == 'x' ? take_index(at, arg) : (take(at, '#'), take_number(at, &arg->value))))
			return false;
	}
	return take(at, ']');
}

/* Sets kind, value, reg, index and scale. */
static inline bool take_place(const char **at, struct usdt_arg *arg)
{
	if (**at == '[')
		return take_memory(at, arg);
	if (islower(**at)) {
		arg->kind = USDT_REGISTER;
		return take_register(at, &arg->reg);
	}
	arg->kind = USDT_CONSTANT;
	take(at, '#');
	return take_number(at, &arg->value);
}

#endif
