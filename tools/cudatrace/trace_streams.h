/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The streams of a timeline: each is a track, with a number as threads have, but none of theirs. */
#ifndef TRACE_STREAMS_H
#define TRACE_STREAMS_H
#include "base/quota.h"

struct chrome;
struct trace_call;
struct users;

struct trace_streams {
	struct stream_track *tracks;
	int made;
	struct users *users;	/* of the processes; owned by the caller */
	struct quota quota;	/* bytes of tracks; as trace_streams_quota() at first */
};

struct quota trace_streams_quota(void);

/* Returns the track of the stream that the call puts work into, a kernel or an asynchronous copy; 0
 * if it puts none, or if there are too many streams.  A new track is named in the file. */
int trace_streams_track(struct trace_streams *s, struct chrome *out, const struct trace_call *call);

/* Call when the process ends or exec replaces its program; -1: all. */
void trace_streams_forget(struct trace_streams *s, int pid);

#endif
