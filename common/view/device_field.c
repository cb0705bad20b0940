/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "abi/device.h"
#include "view/device_field.h"

void devices_see(struct devices_seen *seen, unsigned int device)
{
	if (device == DEVICE_NONE)
		return;
	seen->several |= seen->some && device != seen->first;
	if (!seen->some)
		seen->first = device;
	seen->some = true;
}

const char *device_text(unsigned int device, char text[16])
{
	if (device == DEVICE_NONE)
		return "-";
	if (!device)
		return "?";
	snprintf(text, 16, "%u", device - 1);
	return text;
}

static int text_of(FILE *file, const struct field *f, const void *at)
{
	char text[16];

	return fprintf(file, "%*s", f->width, device_text(*(const unsigned int *)at, text));
}

static void json(const void *at)
{
	unsigned int device = *(const unsigned int *)at;
	char text[16];

	fputs(device && device != DEVICE_NONE ? device_text(device, text) : "null", stdout);
}

const struct field_type field_device = { text_of, NULL, json };
