/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A program for bpftrace, from its text to its end. */
#ifndef BT_JOB_H
#define BT_JOB_H
#include "cudabt/bt_source.h"
#include "probe/probe_source.h"
#include "session/target.h"

/* The program, whose text is to stay.  Exits 2 with what is wrong with it, and where. */
void bt_session_check(const struct bt_source *source);

/* Its functions, for target_attach_functions() … */
extern const struct probe_source bt_session_source;

/* … before which this is to be called.  The files with these functions are noted, not probed; the
 * command is held at its first one until bpftrace has probed it, and what was loaded too late is
 * told. */
void bt_session_prepare(struct target *t);

/* Prints the script for the files that were found, and exits. */
_Noreturn void bt_session_print(void);

/* Runs bpftrace on it: returns when the probes are in, or when it has ended. */
void bt_session_start(struct target *t);

#endif
