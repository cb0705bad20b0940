/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The places of a USDT probe's arguments as x86-64's assembler writes them: %rax $1 8(%rax,%rbx,4). */
#ifndef MACHINE_USDT_H
#define MACHINE_USDT_H
#include <string.h>
#include "abi/usdt.h"
#include "elf/usdt_text.h"

/* By their places in struct pt_regs: each by its names of 8, 4, 2 and 1 bytes. */
static const struct usdt_register {
	unsigned char place;
	const char *names[4];
} usdt_registers[] = {
	{ 0, { "r15", "r15d", "r15w", "r15b" } }, { 8, { "r14", "r14d", "r14w", "r14b" } },
	{ 16, { "r13", "r13d", "r13w", "r13b" } }, { 24, { "r12", "r12d", "r12w", "r12b" } },
	{ 32, { "rbp", "ebp", "bp", "bpl" } }, { 40, { "rbx", "ebx", "bx", "bl" } },
	{ 48, { "r11", "r11d", "r11w", "r11b" } }, { 56, { "r10", "r10d", "r10w", "r10b" } },
	{ 64, { "r9", "r9d", "r9w", "r9b" } }, { 72, { "r8", "r8d", "r8w", "r8b" } },
	{ 80, { "rax", "eax", "ax", "al" } }, { 88, { "rcx", "ecx", "cx", "cl" } },
	{ 96, { "rdx", "edx", "dx", "dl" } }, { 104, { "rsi", "esi", "si", "sil" } },
	{ 112, { "rdi", "edi", "di", "dil" } }, { 128, { "rip" } }, { 152, { "rsp", "esp", "sp", "spl" } },
};

/* "%rax" */
static inline bool take_register(const char **at, unsigned char *place)
{
	size_t len = **at == '%' ? strcspn(*at + 1, " ,)") : 0;

	for (size_t i = 0; len && i < sizeof(usdt_registers) / sizeof(*usdt_registers); i++)
		for (int n = 0; n < 4 && usdt_registers[i].names[n]; n++) {
			const char *name = usdt_registers[i].names[n];

			if (strlen(name) != len || memcmp(name, *at + 1, len))
				continue;
			*place = usdt_registers[i].place;
			*at += 1 + len;
			return true;
		}
	return false;
}

/* "8(%rax,%rbx,4)" */
static inline bool take_memory(const char **at, struct usdt_arg *arg)
{
	long long scale = 1;

	arg->kind = USDT_MEMORY;
	if (**at != '(' && !take_number(at, &arg->value))
		return false;
	if (!take(at, '('))
		return false;
	if (**at != ',' && !take_register(at, &arg->reg))
		return false;
	if (**at == ',' && (!take(at, ',') || !take_register(at, &arg->index)))
		return false;
	if (**at == ',' && (!take(at, ',') || !take_number(at, &scale)))
		return false;
	if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return false;
	arg->scale = scale;
	return take(at, ')');
}

/* Sets kind, value, reg, index and scale. */
static inline bool take_place(const char **at, struct usdt_arg *arg)
{
	if (take(at, '$')) {
		arg->kind = USDT_CONSTANT;
		return take_number(at, &arg->value);
	}
	if (**at != '%')
		return take_memory(at, arg);
	arg->kind = USDT_REGISTER;
	return take_register(at, &arg->reg);
}

#endif
