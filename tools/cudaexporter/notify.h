/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef NOTIFY_H
#define NOTIFY_H

/* Tells the service manager that started us, if one did, of our state: "READY=1", "STOPPING=1" (sd_notify(3)).
 * Never blocks. */
void notify_manager(const char *state);

#endif
