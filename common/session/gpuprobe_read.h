/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads what one peer sends, and takes it apart into frames. */
#ifndef GPUPROBE_READ_H
#define GPUPROBE_READ_H
#include "session/gpuprobe_peer.h"

enum gpuprobe_read {
	GPU_READ_MORE,		/* nothing more for now */
	GPU_READ_END,		/* it has closed the connection, or died */
	GPU_READ_WRONG,		/* *wrong says what: the rest cannot be understood */
};

/* Reads what has come, but not without end, and calls p->frame for each whole frame. */
enum gpuprobe_read gpuprobe_read(struct gpuprobe_peers *p, struct gpuprobe_peer *peer, const char **wrong);

#endif
