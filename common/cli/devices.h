/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Numbers of devices, as users write them. */
#ifndef CLI_DEVICES_H
#define CLI_DEVICES_H

/* Reads "0,3,7", the argument of --device.  Returns a mask with bit n for device n; exits 2 on anything else,
 * also on numbers from limit (at most 64) on. */
unsigned long long devices_parse(const char *list, int limit);

#endif
