/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <zlib.h>
#include "cudaexporter/web_gzip.h"

enum { GZIP = 16 /* zlib's: a gzip header */, MEMORY = 8 /* zlib's default */ };

void *web_gzip(const void *bytes, size_t size, size_t *compressed)
{
	z_stream z = { .next_in = (unsigned char *)bytes, .avail_in = size };
	size_t room;
	void *out;

	if (deflateInit2(&z, 1, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	room = deflateBound(&z, size);
	out = malloc(room);
	z.next_out = out;
	z.avail_out = room;
	if (out && deflate(&z, Z_FINISH) != Z_STREAM_END) {
		free(out);
		out = NULL;
	}
	*compressed = z.total_out;
	deflateEnd(&z);
	return out;
}
