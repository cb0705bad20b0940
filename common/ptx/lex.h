/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The parts of PTX text below statements: white space, comments, strings, words.  Each function takes a position
 * and the end of the text and returns the position behind what it skips; nothing is read at or past the end. */
#ifndef PTX_LEX_H
#define PTX_LEX_H
#include <stdbool.h>
#include <stddef.h>

static inline bool lex_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool lex_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool lex_is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A name's characters, % of registers included. */
static inline bool lex_is_word(char c)
{
	return lex_is_alpha(c) || lex_is_digit(c) || c == '_' || c == '$' || c == '%';
}

/* A comment, if one begins here; a line comment without its newline. */
const char *lex_comment(const char *p, const char *end);
/* White space and comments. */
const char *lex_blank(const char *p, const char *end);
/* White space and comments of one line. */
const char *lex_blank_line(const char *p, const char *end);
/* A string, at its quote. */
const char *lex_string(const char *p, const char *end);
/* A name; returns p if there is none. */
const char *lex_word(const char *p, const char *end);
/* From { to behind the } that matches it. */
const char *lex_braces(const char *p, const char *end);
/* Returns true if this word, such as ".reg", begins here and ends here. */
bool lex_starts(const char *p, const char *end, const char *word);
/* A decimal number at *p, which is set behind it and the blanks before it; false if there is none or it does not fit. */
bool lex_number(const char **p, const char *end, unsigned *number);

#endif
