/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Memory that is held, allocated and freed: from records to series. */
#ifndef HELD_H
#define HELD_H
#include "cudaexporter/clients.h"
#include "model/memory.h"

enum { HELD_AGES = 8 };

struct held {			/* set the first four */
	struct memory memory;	/* MEMORY_INIT */
	struct clients *clients;
	struct series_table *table;
	unsigned ages[HELD_AGES];	/* s, --ages; 0 ends it */
	/* private */
	unsigned long long aged;	/* when the ages were last looked at, ns */
};

/* Reads --ages, "60,600,3600".  Exits 2 on anything else. */
void held_parse_ages(struct held *h, const char *list);

/* Handles the record of a call. */
void held_record(struct held *h, const struct memory_event *e);

/* Call in a round: sets the gauges. */
void held_collect(struct held *h);

/* Returns the bytes of its own that a process holds on a device (as in abi/device.h). */
unsigned long long held_on_device(const struct held *h, int pid, unsigned device);

/* Call when a process has ended. */
void held_forget(struct held *h, int pid);

#endif
