/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The probes in gpu/memtime_*.gpu.c, as PTX. */
#ifndef MEMTIME_PROBES_H
#define MEMTIME_PROBES_H

enum memtime_probe { PROBE_HIST, PROBE_TRACE, PROBE_STAGE };

/* Returns its text. */
const char *memtime_probe(enum memtime_probe probe);

#endif
