/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One run of a bpftrace program, from its text to its end. */
#ifndef BT_SESSION_H
#define BT_SESSION_H
#include "cudabt/bt_files.h"
#include "cudabt/bt_parse.h"
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
	struct bt_files files;	/* those with functions of the program */
	struct bt_file *named;	/* script.nfiles of them, by the names in the script */
	bool mapped;		/* a process of the command maps one of them */
	struct bt_run run;
	/* The program's functions; call bt_session_prepare() before session_attach_functions(). */
	struct probe_source functions;
};

/* Takes over the program and source.text.  On an error in it, exits 2 and says what and where. */
void bt_session_check(struct bt_session *s, struct bt_source source);

/* From now on, files with the program's functions are recorded, not probed.  The command is stopped
 * at its first one until bpftrace has probed it; files loaded too late are reported. */
void bt_session_prepare(struct bt_session *s, struct session *t);

/* Prints the script for the files found, and exits. */
_Noreturn void bt_session_print(struct bt_session *s);

/* Runs bpftrace on the script; returns once its probes are attached or it has ended. */
void bt_session_start(struct bt_session *s);

/* Frees what *s holds, once bpftrace has ended. */
void bt_session_free(struct bt_session *s);

/* Reads a file.  A name without a slash is one of the programs that come with this one.  Exits 1 with the reason if it cannot be read. */
struct bt_source bt_source_file(const char *name);

/* The program on the command line. */
struct bt_source bt_source_text(const char *text);

#endif
