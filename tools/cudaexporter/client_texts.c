/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "cudaexporter/client_texts.h"

static struct metric_labels labels_of(const struct client_text *text)
{
	return (struct metric_labels){ 0, (unsigned long long)text->labels };
}

static struct client_text *add_text(struct client *client, enum metric m, char *labels)
{
	struct client_text *text;

	for (unsigned i = 0; i < client->ntexts; i++) {
		text = &client->texts[i];
		if (text->metric == m && !strcmp(text->labels, labels)) {
			free(labels);
			return text;
		}
	}
	client->texts = xrealloc(client->texts, client->ntexts + 1, sizeof(*client->texts));
	text = &client->texts[client->ntexts++];
	*text = (struct client_text){ m, labels };
	return text;
}

void client_show(struct series_table *t, struct client *client, enum metric m, char *labels)
{
	series_max(t, client->owner, m, labels_of(add_text(client, m, labels)), 1);
}

bool client_shown(struct series_table *t, struct client *client, enum metric m)
{
	bool any = false;

	for (unsigned i = 0; i < client->ntexts; i++)
		if (client->texts[i].metric == m) {
			series_max(t, client->owner, m, labels_of(&client->texts[i]), 1);
			any = true;
		}
	return any;
}
