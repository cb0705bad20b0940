/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Python's strings as UTF-8. */
#ifndef TEXT_H
#define TEXT_H
#include <stdbool.h>
#include <stddef.h>

/* Returns n bytes of characters of 1, 2 or 4 bytes (untrusted) as UTF-8, which the caller frees; with an
 * ellipsis if cut.  A byte of a file name that is no UTF-8, which Python keeps as U+DC80 to U+DCFF,
 * becomes that byte again. */
char *text_utf8(const void *text, size_t n, unsigned kind, bool cut);

#endif
