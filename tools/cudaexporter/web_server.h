/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The server process: gives up its privileges, accepts connections when the collector permits, and passes them to
 * libmicrohttpd. */
#ifndef CUDAEXPORTER_WEB_SERVER_H
#define CUDAEXPORTER_WEB_SERVER_H

/* Serves with the descriptors of web_rpc.h, of which nlisten are listening sockets, until the collector ends. */
_Noreturn void web_server_run(int nlisten);

/* As root, switches to a user of the server's own; drops every capability for good, forbids dumps and new privileges,
 * and limits memory and descriptors.  Call before there are threads.  Dies if a capability is left. */
void web_confine_rights(void);

/* Allows all threads of this process only the system calls that serving needs, with the arguments that it needs.  Opening
 * or examining a file fails with EACCES; any other call kills the process.  Call when all files have been opened.  Dies
 * if the kernel has no seccomp. */
void web_confine_calls(void);

#endif
