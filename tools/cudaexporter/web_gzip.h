/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef WEB_GZIP_H
#define WEB_GZIP_H
#include <stddef.h>

/* Compresses size bytes at level 1 as gzip does.  Returns them and their number in *compressed; the caller frees
 * them.  NULL if there is no memory. */
void *web_gzip(const void *bytes, size_t size, size_t *compressed);

#endif
