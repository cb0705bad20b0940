/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Takes all rights from the server: what reads from strangers can do nothing but read and write what it has. */
#ifndef WEB_CONFINE_H
#define WEB_CONFINE_H

/* Becomes a user of its own if this is root, drops every capability for good, forbids dumps and new privileges, and
 * bounds memory and descriptors.  Call before there are threads.  Dies if a capability is left. */
void web_confine_rights(void);

/* Allows this process, all its threads, only the system calls that serving needs, with the arguments that it needs:
 * any other kills it, but that no file can be opened or looked at is an error (EACCES).  Call when whatever needs
 * files has been called.  Dies if the kernel has no seccomp. */
void web_confine_calls(void);

#endif
