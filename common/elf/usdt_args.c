/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "elf/usdt_args.h"

enum { NO_REGISTER = 255 };

/* By their places in x86-64's struct pt_regs: each by its names of 8, 4, 2 and 1 bytes. */
static const struct {
	unsigned char place;
	const char *names[4];
} registers[] = {
	{ 0, { "r15", "r15d", "r15w", "r15b" } }, { 8, { "r14", "r14d", "r14w", "r14b" } },
	{ 16, { "r13", "r13d", "r13w", "r13b" } }, { 24, { "r12", "r12d", "r12w", "r12b" } },
	{ 32, { "rbp", "ebp", "bp", "bpl" } }, { 40, { "rbx", "ebx", "bx", "bl" } },
	{ 48, { "r11", "r11d", "r11w", "r11b" } }, { 56, { "r10", "r10d", "r10w", "r10b" } },
	{ 64, { "r9", "r9d", "r9w", "r9b" } }, { 72, { "r8", "r8d", "r8w", "r8b" } },
	{ 80, { "rax", "eax", "ax", "al" } }, { 88, { "rcx", "ecx", "cx", "cl" } },
	{ 96, { "rdx", "edx", "dx", "dl" } }, { 104, { "rsi", "esi", "si", "sil" } },
	{ 112, { "rdi", "edi", "di", "dil" } }, { 128, { "rip" } }, { 152, { "rsp", "esp", "sp", "spl" } },
};

/* Reads "%rax" and moves *at beyond it; false if it is no register. */
static bool take_register(const char **at, unsigned char *place)
{
	size_t len = **at == '%' ? strcspn(*at + 1, " ,)") : 0;

	for (size_t i = 0; len && i < sizeof(registers) / sizeof(*registers); i++)
		for (int n = 0; n < 4 && registers[i].names[n]; n++) {
			const char *name = registers[i].names[n];

			if (strlen(name) != len || memcmp(name, *at + 1, len))
				continue;
			*place = registers[i].place;
			*at += 1 + len;
			return true;
		}
	return false;
}

static bool take_number(const char **at, long long *n)
{
	char *end;

	*n = strtoll(*at, &end, 0);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

static bool take(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

/* "8(%rax,%rbx,4)" */
static bool take_memory(const char **at, struct usdt_arg *arg)
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

static bool take_place(const char **at, struct usdt_arg *arg)
{
	if (**at == '$') {
		++*at;
		arg->kind = USDT_CONSTANT;
		return take_number(at, &arg->value);
	}
	if (**at != '%')
		return take_memory(at, arg);
	arg->kind = USDT_REGISTER;
	return take_register(at, &arg->reg);
}

static bool take_arg(const char **at, struct usdt_arg *arg)
{
	long long size;

	*arg = (struct usdt_arg){ .reg = NO_REGISTER, .index = NO_REGISTER };
	if (!take_number(at, &size) || !take(at, '@'))
		return false;
	if (size < -8 || size > 8)
		return false;
	arg->size = size;
	size = size < 0 ? -size : size;
	return (size == 1 || size == 2 || size == 4 || size == 8) && take_place(at, arg);
}

bool usdt_args_parse(const char *text, struct usdt_args *args)
{
	memset(args, 0, sizeof(*args));
	for (int n = 0; n < USDT_ARGS; n++) {
		text += strspn(text, " ");
		if (!*text)
			break;
		if (!take_arg(&text, &args->args[n]) || (*text && *text != ' '))
			return false;
	}
	return true;
}
