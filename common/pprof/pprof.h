/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A profile as pprof, Parca and Pyroscope read it: profile.proto, compressed by gzip. */
#ifndef PPROF_PPROF_H
#define PPROF_PPROF_H
#include <stdbool.h>
#include <stdio.h>

struct profile;

/* Writes the profile, which ends now; what f has buffered must have been flushed.  Reads symbols.  Warns of what a profile
 * has no room for.  Returns false with errno set on a write error. */
bool pprof_write(const struct profile *p, FILE *f);

#endif
