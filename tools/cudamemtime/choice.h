/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What is measured: -S, --op and --scheme. */
#ifndef CHOICE_H
#define CHOICE_H

/* In the order of enum ptx_scheme. */
#define SCHEME_WORDS "dep|fence|paper|simple"

/* Read a list of words; NULL: the default.  Return a sum of enum ptx_space, of enum ptx_ops.  Exit 2 on another
 * word. */
unsigned choice_spaces(const char *list);
unsigned choice_ops(const char *list);

/* For completion: the i-th word, NULL at the end. */
const char *choice_space_word(int i);
const char *choice_op_word(int i);

#endif
