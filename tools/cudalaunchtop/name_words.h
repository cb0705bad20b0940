/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The words that a C++ name consists of: "fill_", "Functor", "<", "512". */
#ifndef NAME_WORDS_H
#define NAME_WORDS_H
#include <stdbool.h>
#include <stddef.h>

/* Return true if a word begins at name[at], or the name ends there. */
bool name_word_at(const char *name, size_t at);

/* Returns where the word after the one at name[at] begins; at the end of the name, its length. */
size_t name_word_next(const char *name, size_t at);

/* Returns the columns of bytes of UTF-8, at one column per character. */
int name_columns(const char *text, size_t len);

/* Returns the name without namespaces, the classes that qualify a name, and a return type void.
 * The caller frees it. */
char *name_stripped(const char *name);

#endif
