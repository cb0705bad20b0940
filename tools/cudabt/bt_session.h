/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One run of a bpftrace program, from its text to its end. */
#ifndef CUDABT_BT_SESSION_H
#define CUDABT_BT_SESSION_H
#include "cudabt/bt_files.h"
#include "cudabt/bt_run.h"
#include "cudabt/bt_translate.h"
#include "probe/probe_source.h"
#include "session/session.h"

struct bt_source {
	const char *name;	/* for messages */
	char *text;		/* the caller frees it */
	size_t len;
};

struct bt_session {		/* all zero at first; must not move */
	struct session *session;	/* set by bt_session_prepare() */
	struct bt_source source;
	struct bt_script script;
	char *condition, *statements;	/* the script's */
	struct bt_files files;	/* that have functions of the program */
	struct bt_file *named;	/* script.nfiles of them, as named in the script */
	bool mapped;		/* a process maps one of them */
	struct bt_run run;
	/* The program's functions; call bt_session_prepare() before session_attach_functions(). */
	struct probe_source functions;
};

/* Reads a file.  A name without a slash is an included program.  Exits 1 if it cannot be read. */
struct bt_source bt_source_file(const char *name);

/* The program on the command line. */
struct bt_source bt_source_text(const char *text);

/* Takes over source.text and analyzes the program.  On an error in it, prints it and exits 2. */
void bt_session_load(struct bt_session *s, struct bt_source source);

/* From now on, files with the program's functions are recorded, not probed.  The command is stopped when
 * it maps the first one, until bpftrace has probed it; files mapped later are reported. */
void bt_session_prepare(struct bt_session *s, struct session *t);

/* Prints the script for the recorded files, and exits. */
_Noreturn void bt_session_emit(struct bt_session *s);

/* Runs bpftrace on the script; returns once its probes are attached or it has ended. */
void bt_session_start(struct bt_session *s);

/* Frees *s's data, once bpftrace has ended. */
void bt_session_free(struct bt_session *s);

#endif
