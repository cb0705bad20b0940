/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Answers: a status with a line of text, or a page of the collector's. */
#ifndef WEB_RESPONSE_H
#define WEB_RESPONSE_H
#include <microhttpd.h>
#include <stdbool.h>

#define WEB_PLAIN "text/plain; charset=utf-8"

/* Answers with a text of this type, which is copied.  header: one more, with its value; NULL: none. */
enum MHD_Result web_respond(struct MHD_Connection *c, unsigned status, const char *type, const char *text,
			    const char *header, const char *value);

/* Answers with the bytes of a sealed memory file, which it closes; compressed if gzip and there are more than
 * 16 KiB. */
enum MHD_Result web_respond_page(struct MHD_Connection *c, const char *type, int fd, bool gzip);

#endif
