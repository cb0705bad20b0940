/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A program for bpftrace, from its text to its end. */
#ifndef BT_SESSION_H
#define BT_SESSION_H
#include "cudabt/bt_files.h"
#include "cudabt/bt_run.h"
#include "cudabt/bt_script.h"
#include "cudabt/bt_source.h"
#include "probe/probe_source.h"
#include "session/target.h"

struct bt_session {		/* all zero at first; stays where it is */
	struct target *target;	/* of bt_session_prepare() */
	struct bt_source source;
	struct bt_script script;
	char *condition, *statements;	/* of the script */
	struct bt_files files;	/* that have functions of the program */
	struct bt_file *named;	/* script.nfiles of them, as the script names them */
	bool mapped;		/* a process of the command has one of them */
	struct bt_run run;
	/* The program's functions, for target_attach_functions(), before which bt_session_prepare() is
	 * to be called. */
	struct probe_source functions;
};

/* Takes the program, and with it source.text.  Exits 2 with what is wrong with it, and where. */
void bt_session_check(struct bt_session *s, struct bt_source source);

/* The files with the program's functions will be noted, not probed; the command is held at its first
 * one until bpftrace has probed it, and what was loaded too late is told. */
void bt_session_prepare(struct bt_session *s, struct target *t);

/* Prints the script for the files that were found, and exits. */
_Noreturn void bt_session_print(struct bt_session *s);

/* Runs bpftrace on it: returns when the probes are in, or when it has ended. */
void bt_session_start(struct bt_session *s);

/* Frees what *s holds, once bpftrace has ended. */
void bt_session_free(struct bt_session *s);

#endif
