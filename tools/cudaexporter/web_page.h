/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the server answers to each path. */
#ifndef WEB_PAGE_H
#define WEB_PAGE_H
#include <microhttpd.h>

/* libmicrohttpd's MHD_AccessHandlerCallback; s is a struct web_server. */
enum MHD_Result web_page(void *s, struct MHD_Connection *c, const char *url, const char *method, const char *version,
			 const char *upload, size_t *upload_size, void **request);

#endif
