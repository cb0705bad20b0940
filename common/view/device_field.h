/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Devices as tools print them. */
#ifndef DEVICE_FIELD_H
#define DEVICE_FIELD_H
#include <stdbool.h>
#include "cli/field.h"

extern const struct field_type field_device;

/* unsigned int, as in abi/device.h: a number, ? and null if it is not known; DEVICE_NONE prints as - and
 * null. */
#define OUT_DEVICE (&field_device)

/* The devices that a tool's text may have to tell apart; starts zeroed. */
struct devices_seen {
	bool some, several;
	unsigned int first;
};

/* Adds a device; DEVICE_NONE is no other. */
void devices_see(struct devices_seen *seen, unsigned int device);

/* Returns "3", or "?" if it is not known, in text or not. */
const char *device_text(unsigned int device, char text[16]);

#endif
