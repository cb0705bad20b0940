/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls in flight as series. */
#ifndef CALLS_RUNNING_H
#define CALLS_RUNNING_H
#include "cudaexporter/clients.h"

struct inflight;

/* Call in a round: sets the gauges of every process that lives. */
void calls_inflight_collect(struct inflight *r, struct clients *c, struct series_table *t);

#endif
