/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Informations about a process: gauges of 1 whose labels are texts. */
#ifndef CLIENT_TEXTS_H
#define CLIENT_TEXTS_H
#include <stdbool.h>
#include "cudaexporter/clients.h"

/* Sets the gauge of an information about the client.  The labels, as they are printed, are the client's from now on. */
void client_show(struct series_table *t, struct client *client, enum metric m, char *labels);

/* Does it with the labels that it had of the metric before; returns false if there are none. */
bool client_shown(struct series_table *t, struct client *client, enum metric m);

#endif
