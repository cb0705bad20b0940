/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "names.h"
#include <stdlib.h>
#include <string.h>

static unsigned bucket_of(const struct names *names, struct ptx_str text)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < text.n; i++)
		h = (h ^ (unsigned char)text.s[i]) * 16777619u;
	return (h ^ h >> 15) & (names->num_buckets - 1);
}

bool names_init(struct names *names)
{
	memset(names, 0, sizeof *names);
	names->num_buckets = 1024;
	names->buckets = calloc(names->num_buckets, sizeof *names->buckets);
	return names->buckets;
}

void names_free(struct names *names)
{
	free(names->all);
	free(names->buckets);
}

static void enter(struct names *names, unsigned i)
{
	unsigned *head = &names->buckets[bucket_of(names, names->all[i].text)];

	names->all[i].next = *head;
	*head = i + 1;
}

/* In the order in which they came, so that the newest stay first. */
static bool rehash(struct names *names)
{
	unsigned *buckets = calloc((size_t)names->num_buckets * 2, sizeof *buckets);

	if (!buckets)
		return false;
	free(names->buckets);
	names->buckets = buckets;
	names->num_buckets *= 2;
	for (unsigned i = 0; i < names->num; i++)
		enter(names, i);
	return true;
}

struct name *names_add(struct names *names, struct ptx_str text, enum name_kind kind)
{
	struct name *name;

	if (names->num == names->max) {
		unsigned max = names->max ? names->max * 2 : 256;
		struct name *all = reallocarray(names->all, max, sizeof *all);

		if (!all)
			return NULL;
		names->all = all;
		names->max = max;
	}
	if (names->num >= names->num_buckets && !rehash(names))
		return NULL;
	name = &names->all[names->num];
	*name = (struct name){ .text = text, .kind = kind };
	enter(names, names->num++);
	return name;
}

struct name *names_find(const struct names *names, struct ptx_str text)
{
	for (unsigned i = names->buckets[bucket_of(names, text)]; i; i = names->all[i - 1].next) {
		struct name *name = &names->all[i - 1];

		if (name->text.n == text.n && !memcmp(name->text.s, text.s, text.n))
			return name;
	}
	return NULL;
}

void names_cut(struct names *names, unsigned num)
{
	while (names->num > num) {
		struct name *name = &names->all[--names->num];

		names->buckets[bucket_of(names, name->text)] = name->next;
	}
}
