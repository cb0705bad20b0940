/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the probes of bpf/lib/device.bpf.h are told, and what they found. */
#ifndef SESSION_DEVICE_H
#define SESSION_DEVICE_H

struct bpf_object;
struct session;

/* Call between open and load: sets which devices are wanted.  classes: what the tool traces.  Returns the
 * classes to probe. */
unsigned session_device_prepare(struct session *t, struct bpf_object *obj, unsigned classes);

/* Call when everything is probed: threads that begin from now on are seen from their first call on, as are
 * all of a command. */
void session_device_begin(const struct session *t, const struct bpf_object *obj);

/* Warns of calls that were left out as their device is not known. */
void session_device_losses(const struct bpf_object *obj);

#endif
