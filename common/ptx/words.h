/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The names in a text, one by one. */
#ifndef WORDS_H
#define WORDS_H
#include "ptx/ptx.h"

/* The next name in *rest, which is set behind it; n = 0 if there is none. */
struct ptx_str lex_next_word(struct ptx_str *rest);

#endif
