/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* --profiles: what is held, launched and waited for, by call stack, as pages for Parca, Pyroscope and go tool pprof. */
#ifndef CUDAEXPORTER_PROFILES_H
#define CUDAEXPORTER_PROFILES_H
#include <stdbool.h>
#include <stdio.h>
#include "cudaexporter/web_rpc.h"
#include "model/memory.h"
#include "pprof/profile.h"

struct launch_row;
struct session;

struct profiles {
	bool wanted;		/* set first; without it, nothing is done */
	struct session *session;
	struct memory memory;	/* by call stack: that of the metrics has none */
	struct profile launches, waits;	/* since tracing began, of processes that live or have ended lately */
	struct profile_window {
		enum web_what what;	/* WEB_METRICS: none */
		struct profile profile;
	} windows[WEB_LATER];	/* of requests with seconds */
};

/* Call when the session's syms exist. */
void profiles_open(struct profiles *p, struct session *session);
void profiles_free(struct profiles *p);

/* Handles the record of a wait; returns false if it is none. */
bool profiles_record(struct profiles *p, const void *record);

/* Handles the record of a call that allocates or frees. */
void profiles_memory(struct profiles *p, const struct memory_event *e);

/* Adds the launches of a row in the last interval. */
void profiles_launched(struct profiles *p, const struct launch_row *row);

/* Call when a process has ended. */
void profiles_forget(struct profiles *p, int pid);

/* Call a few times a minute: drops what processes did that ended five minutes ago. */
void profiles_sweep(struct profiles *p);

/* Writes the requested profile to f.  One with seconds is requested twice: when it begins, then nothing is written, and when
 * it ends.  Returns false if it cannot be written or begun. */
bool profiles_page(struct profiles *p, const struct web_request *r, FILE *f);

#endif
