/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The server's answers to requests. */
#ifndef CUDAEXPORTER_WEB_PAGE_H
#define CUDAEXPORTER_WEB_PAGE_H
#include <microhttpd.h>
#include "cudaexporter/web_rpc.h"

/* libmicrohttpd's MHD_AccessHandlerCallback; s is a struct web_server. */
enum MHD_Result web_page(void *s, struct MHD_Connection *c, const char *url, const char *method, const char *version,
			 const char *upload, size_t *upload_size, void **request);

/* Returns the format that an Accept header (NULL: none) prefers, the first of several with the same weight; WEB_TEXT if
 * it accepts neither. */
enum web_format web_accept_format(const char *accept);

/* Return true if an Accept-Encoding header (NULL: none) does not prefer the page as it is to gzip. */
bool web_accept_gzip(const char *encodings);

#endif
