/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "cudaexporter/kernel_texts.h"
#include "cudaexporter/labels.h"

static char *labels_of(const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(errno, "cannot write labels");
	fputs("kernel=\"", f);
	label_value(f, name);
	fputc('"', f);
	if (fclose(f))
		die(ENOMEM, "cannot write labels");
	return text;
}

static struct kernel_text *add(struct kernel_texts *t, const char *labels, unsigned user, int pid)
{
	size_t size = strlen(labels) + 1, cost = sizeof(struct kernel_text) + size + 64;
	struct kernel_text *text;

	if (!quota_take(t->quota, user, pid, cost))
		return NULL;
	text = xcalloc(1, sizeof(*text) + size);
	text->user = user;
	text->cost = cost;
	memcpy(text->labels, labels, size);
	HASH_ADD_KEYPTR(hh, t->all, text->labels, size - 1, text);
	return text;
}

struct kernel_text *kernel_text_get(struct kernel_texts *t, const char *name, unsigned user, int pid)
{
	char *labels = labels_of(name);		/* two names may be written alike */
	struct kernel_text *text;

	HASH_FIND_STR(t->all, labels, text);
	if (!text)
		text = add(t, labels, user, pid);
	if (text)
		text->uses++;
	free(labels);
	return text;
}

struct metric_labels kernel_text_labels(const struct kernel_text *text)
{
	return (struct metric_labels){ 0, (unsigned long)text->labels };
}

static void drop(struct kernel_texts *t, struct kernel_text *text)
{
	HASH_DEL(t->all, text);
	quota_give(t->quota, text->user, text->cost);
	free(text);
}

void kernel_texts_drop(struct kernel_texts *t, const struct series_table *table)
{
	struct kernel_text *text, *next;
	const struct series *s;

	for (text = t->all; text; text = text->hh.next)
		text->shown = false;
	TAILQ_FOREACH(s, &table->of[METRIC_KERNEL_LAUNCHES], in_metric) {
		text = (void *)(s->key.b - offsetof(struct kernel_text, labels));
		text->shown = true;
	}
	HASH_ITER(hh, t->all, text, next)
		if (!text->uses && !text->shown)
			drop(t, text);
}

void kernel_texts_free(struct kernel_texts *t)
{
	struct kernel_text *text, *next;

	HASH_ITER(hh, t->all, text, next)
		drop(t, text);
}
