/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>
#include "cudaexporter/web_connections.h"
#include "cudaexporter/web_gzip.h"
#include "cudaexporter/web_response.h"

enum { SMALL = 16 << 10, LARGE = 256 << 20 };

/* Queues r, if there is one, and lets go of it. */
static enum MHD_Result send_it(struct MHD_Connection *c, unsigned status, struct MHD_Response *r, const char *type)
{
	const struct web_connection *at = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	/* who has no password would hold a place that others want */
	if (status == MHD_HTTP_UNAUTHORIZED || web_connection_ends(at))
		MHD_add_response_header(r, "Connection", "close");
	MHD_add_response_header(r, "Content-Type", type);
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

enum MHD_Result web_respond(struct MHD_Connection *c, unsigned status, const char *type, const char *text,
			    const char *header, const char *value)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);

	if (r && header)
		MHD_add_response_header(r, header, value);
	return send_it(c, status, r, type);
}

static struct MHD_Response *compressed(int fd, size_t size)
{
	struct MHD_Response *r = NULL;
	size_t less = 0;
	void *page = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0), *bytes = NULL;

	if (page != MAP_FAILED) {
		bytes = web_gzip(page, size, &less);
		munmap(page, size);
	}
	if (bytes)
		r = MHD_create_response_from_buffer(less, bytes, MHD_RESPMEM_MUST_FREE);
	if (r)
		MHD_add_response_header(r, "Content-Encoding", "gzip");
	return r;
}

enum MHD_Result web_respond_page(struct MHD_Connection *c, const char *type, int fd, bool gzip)
{
	off_t size = lseek(fd, 0, SEEK_END);
	struct MHD_Response *r = NULL;

	if (size < 0 || size > LARGE) {
		close(fd);
		return web_respond(c, MHD_HTTP_INTERNAL_SERVER_ERROR, WEB_PLAIN, "the page is too large\n", NULL, NULL);
	}
	if (gzip && size > SMALL)
		r = compressed(fd, size);
	if (r)
		close(fd);
	else
		r = MHD_create_response_from_fd_at_offset64(size, fd, 0);
	if (r)
		MHD_add_response_header(r, "Vary", "Accept, Accept-Encoding");
	else
		close(fd);
	return send_it(c, MHD_HTTP_OK, r, type);
}
