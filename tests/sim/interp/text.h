/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Words and numbers of PTX. */
#ifndef TESTS_SIM_INTERP_TEXT_H
#define TESTS_SIM_INTERP_TEXT_H
#include "alu.h"

struct lexer {
	const char *p, *end;
};

struct lexer lexer_of(struct ptx_str text);
/* Takes the next word (of letters, digits, _ $ % .) or else one character; n is 0 at the end. */
struct ptx_str lexer_next(struct lexer *lexer);
struct ptx_str lexer_peek(const struct lexer *lexer);
/* Takes this character, if it is next. */
bool lexer_take(struct lexer *lexer, char c);
/* Takes everything up to the character that closes the bracket just taken, and that; false if there is none. */
bool lexer_group(struct lexer *lexer, char close, struct ptx_str *inside);

/* Reads a number, with a sign: decimal, 0x, 0b, octal, 0f, 0d, 1.5; as `type` has it. */
bool number_parse(struct ptx_str text, enum alu_type type, uint64_t *value);
/* A number without a sign that fits 32 bits. */
bool count_parse(struct ptx_str text, unsigned *value);

#endif
