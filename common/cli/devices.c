/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <stdlib.h>
#include "cli/devices.h"
#include "cli/opt.h"

unsigned long long devices_parse(const char *list, int limit)
{
	unsigned long long mask = 0;
	const char *s = list;
	char *end;
	long n;

	do {
		n = isdigit((unsigned char)*s) ? strtol(s, &end, 10) : -1;
		if (n < 0 || n >= limit || (*end && *end != ','))
			usage_error("--device: '%s' is not a list of device numbers from 0 to %d", list,
				    limit - 1);
		mask |= 1ull << n;
		s = end + 1;
	} while (*end);
	return mask;
}
