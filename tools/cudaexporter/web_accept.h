/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a client takes: the Accept and Accept-Encoding headers of RFC 9110. */
#ifndef WEB_ACCEPT_H
#define WEB_ACCEPT_H
#include <stdbool.h>
#include "cudaexporter/web_request.h"

/* The format that a client wants most; the first in the header of several that it wants as much.  accept: NULL
 * without one.  WEB_TEXT if it takes neither. */
enum web_format web_accept_format(const char *accept);

/* Return true if gzip is no less welcome than the page as it is.  encodings: NULL without the header. */
bool web_accept_gzip(const char *encodings);

#endif
