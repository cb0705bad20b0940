/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/name_items.h"
#include "kernels/short_name.h"

/* A name while words are dropped until it is short. */
struct shortening {
	struct name_items items;
	size_t family_len;
	bool dropped;		/* something that may distinguish it from another: the tail stands for it */
	char tail[16];
};

/* FNV-1a, because base/hash.h's differs between runs. */
static unsigned hash(const char *text, size_t len)
{
	unsigned h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h ^ h << 16;
}

static bool same(const struct name_item *a, const struct name_item *b)
{
	return a->kind == b->kind && a->len == b->len && a->complex == b->complex && a->stars == b->stars &&
	       !memcmp(a->text, b->text, a->len);
}

/* ---- Repetitions */

struct types {
	struct name_item *of[NAME_ITEMS];
	int n;
};

static struct types types_of(struct name_items *items, int owner)
{
	struct types types = { .n = 0 };

	for (int i = 0; i < items->n; i++)
		if (items->all[i].owner == owner && items->all[i].kind == ITEM_TYPE)
			types.of[types.n++] = &items->all[i];
	return types;
}

static bool several(const struct types *types)
{
	for (int i = 1; i < types->n; i++)
		if (!same(types->of[0], types->of[i]))
			return true;
	return false;
}

/* "float, float, float" is "float". */
static void drop_equal(struct types *types)
{
	if (several(types))
		return;
	for (int i = 1; i < types->n; i++)
		types->of[i]->dropped = true;
	types->n = types->n ? 1 : 0;
}

/* Returns where some are in a row among all, or -1. */
static int find_types(const struct types *all, const struct types *some)
{
	for (int from = 0; from + some->n <= all->n; from++) {
		int i = 0;

		while (i < some->n && same(all->of[from + i], some->of[i]))
			i++;
		if (i == some->n)
			return from;
	}
	return -1;
}

static void drop_types(struct types *types)
{
	for (int i = 0; i < types->n; i++)
		types->of[i]->dropped = true;
}

/* Keeps one of each repeated type list; names stay unique as long as that one told them apart before. */
static void drop_repeated_types(struct shortening *s)
{
	struct types all = types_of(&s->items, 0);

	drop_equal(&all);
	for (int owner = s->items.owners - 1; owner > 0; owner--) {
		struct types types = types_of(&s->items, owner);
		int at;

		drop_equal(&types);
		at = find_types(&all, &types);
		if (at >= 0) {
			s->dropped |= at && types.n;
			drop_types(&types);
		} else if (!find_types(&types, &all)) {
			drop_types(&all);
			all = types;
		} else {
			for (int i = 0; i < types.n && all.n < NAME_ITEMS; i++)
				all.of[all.n++] = types.of[i];
		}
	}
}

static void drop_again(struct name_items *items, enum item_kind kind)
{
	for (int i = 0; i < items->n; i++)
		for (int j = 0; j < i && items->all[i].kind == kind; j++)
			items->all[i].dropped |= !items->all[j].dropped && same(&items->all[i], &items->all[j]);
}

/* ---- Text */

struct text {
	char *at, *end;
	size_t len;		/* also of what does not fit */
};

static void put(struct text *t, const char *text, size_t len)
{
	for (size_t i = 0; i < len && t->at < t->end; i++)
		*t->at++ = text[i];
	t->len += len;
}

static int count(const struct name_items *items, enum item_kind kind)
{
	int n = 0;

	for (int i = 0; i < items->n; i++)
		n += items->all[i].kind == kind && !items->all[i].dropped;
	return n;
}

static bool is_bool(const struct name_items *items, int i)
{
	return i >= 0 && i < items->n && items->all[i].kind == ITEM_BOOL && !items->all[i].dropped;
}

/* Bools are T and F if there are several in a row, or after an operation. */
static bool is_letter(const struct name_items *items, int i)
{
	return is_bool(items, i) && (is_bool(items, i - 1) || is_bool(items, i + 1) || count(items, ITEM_OPERATION));
}

static void put_item(struct text *t, const struct name_items *items, int i, bool first)
{
	const struct name_item *item = &items->all[i];
	const bool letter = is_letter(items, i);

	if (first)
		put(t, "<", 1);
	else if (item->joined && i && items->all[i - 1].joined)
		put(t, ".", 1);
	else if (!letter || !is_bool(items, i - 1))
		put(t, ",", 1);
	if (item->complex)
		put(t, "c", 1);
	if (letter)
		put(t, *item->text == 't' ? "T" : "F", 1);
	else
		put(t, item->text, item->len);
	for (int n = 0; n < item->stars; n++)
		put(t, "*", 1);
}

static void put_arguments(struct text *t, const struct name_items *items)
{
	const bool sorted = count(items, ITEM_OPERATION);
	bool first = true;

	for (int rest = 0; rest <= sorted; rest++)
		for (int i = 0; i < items->n; i++) {
			const struct name_item *item = &items->all[i];

			if (item->dropped || item->kind == ITEM_OPERATION || (sorted && rest != (item->kind != ITEM_TYPE)))
				continue;
			put_item(t, items, i, first);
			first = false;
		}
	if (!first)
		put(t, ">", 1);
}

/* Returns the length; the text is truncated if it does not fit. */
static size_t write_name(const struct shortening *s, char *text, size_t size)
{
	struct text t = { .at = text, .end = text + size - 1 };

	for (int i = s->items.n; i-- > 0;) {
		const struct name_item *item = &s->items.all[i];

		if (item->kind != ITEM_OPERATION || item->dropped)
			continue;
		if (t.len)
			put(&t, " ", 1);
		put(&t, item->text, item->len);
	}
	if (t.len && s->family_len)
		put(&t, " ", 1);
	put(&t, s->items.family, s->family_len);
	put_arguments(&t, &s->items);
	if (s->dropped)
		put(&t, s->tail, strlen(s->tail));
	*t.at = 0;
	return t.len;
}

/* ---- Until it is short */

static size_t length(const struct shortening *s)
{
	char text[2];

	return write_name(s, text, sizeof(text));
}

static bool is_long(const struct shortening *s)
{
	return length(s) > SHORT_NAME_WANTED;
}

/* A template, "scale_kernel<float>", is clearly a kernel. */
static void drop_suffix(struct shortening *s)
{
	static const char *const ends[] = { "_kernel", "Kernel" };

	for (int i = 0; i < 2; i++) {
		size_t n = strlen(ends[i]);

		if (s->family_len > n && !memcmp(s->items.family + s->family_len - n, ends[i], n))
			s->family_len -= n;
	}
}

/* Drops the last one of these kinds, but at least "keep" of them stay; returns false if there is none. */
static bool drop_last(struct shortening *s, unsigned kinds, int keep)
{
	int last = -1, n = 0;

	for (int i = 0; i < s->items.n; i++)
		if (!s->items.all[i].dropped && kinds & 1 << s->items.all[i].kind) {
			last = i;
			n++;
		}
	if (n <= keep)
		return false;
	s->items.all[last].dropped = s->dropped = true;
	return true;
}

/* The last operation is the innermost, what the kernel does; those around it are dropped first. */
static bool drop_outer(struct shortening *s)
{
	if (count(&s->items, ITEM_OPERATION) < 2)
		return false;
	for (int i = 0; i < s->items.n; i++)
		if (s->items.all[i].kind == ITEM_OPERATION && !s->items.all[i].dropped) {
			s->items.all[i].dropped = s->dropped = true;
			break;
		}
	return true;
}

/* Types that are there twice. */
static void drop_twice(struct shortening *s)
{
	const int before = count(&s->items, ITEM_TYPE);

	drop_again(&s->items, ITEM_TYPE);
	s->dropped |= count(&s->items, ITEM_TYPE) < before;
}

static void drop_until_short(struct shortening *s)
{
	const unsigned rest = 1 << ITEM_NUMBER | 1 << ITEM_BOOL | 1 << ITEM_WORD;

	if (is_long(s))
		drop_twice(s);
	while (is_long(s) && drop_last(s, rest, 0))
		;
	while (is_long(s) && drop_last(s, 1 << ITEM_TYPE, 1))
		;
	while (is_long(s) && drop_outer(s))
		;
}

/* ---- Long words */

/* Returns true if a word of an identifier ends before text[at]: "fill_", "Functor", "512". */
static bool ends_word(const char *text, size_t at)
{
	const unsigned char a = text[at - 1], b = text[at];

	return (!isalnum(b) && !(b & 0x80)) || (isupper(b) && !isupper(a)) || (!isalnum(a) && !(a & 0x80) && a != '_');
}

/* Shortens an identifier by its last words to at most "most" bytes, which is not 0.  If the first word is longer, it is cut. */
static size_t fit_words(const char *text, size_t len, size_t most)
{
	size_t n = most;

	if (len <= most)
		return len;
	while (n && !ends_word(text, n))
		n--;
	if (n)
		return n;
	while (most > 1 && (text[most] & 0xc0) == 0x80)
		most--;
	return most;
}

static struct name_item *operation_of(struct shortening *s)
{
	for (int i = s->items.n; i-- > 0;)
		if (s->items.all[i].kind == ITEM_OPERATION && !s->items.all[i].dropped)
			return &s->items.all[i];
	return NULL;
}

/* Of the operation and the family, the longer one gets the room that the other one leaves. */
static void drop_words(struct shortening *s)
{
	const size_t room = SHORT_NAME_LONGEST - strlen(s->tail) - 1, half = room / 2;
	struct name_item *operation = operation_of(s);

	if (length(s) <= SHORT_NAME_LONGEST)
		return;
	while (drop_last(s, ~(1u << ITEM_OPERATION), 0))
		;
	s->dropped = true;
	if (operation && s->family_len < half)
		operation->len = fit_words(operation->text, operation->len, room - s->family_len);
	else if (operation)
		operation->len = fit_words(operation->text, operation->len, half);
	s->family_len = fit_words(s->items.family, s->family_len, room - (operation ? operation->len : 0));
}

/* For names that demangle() leaves mangled, "_ZN2at6native13reduce_kernelI...": the last part of its name. */
static bool read_mangled(struct name_items *items, const char *name)
{
	const char *at = name + strcspn(name, "0123456789");

	if (strncmp(name, "_Z", 2))
		return false;
	while (isdigit((unsigned char)*at)) {
		char *text;
		size_t len = strtoul(at, &text, 10);

		if (!len || len > strlen(text))
			break;
		items->family = text;
		items->family_len = len;
		at = text + len;
	}
	return items->family;
}

static void short_name_read_name(struct shortening *s, const char *name)
{
	struct name_items *items = &s->items;

	if (read_mangled(items, name))
		s->dropped = true;
	else if (name_items_read(items, name))
		return;
	else
		*items = (struct name_items){ .family = name, .family_len = strlen(name) };
	items->to = strlen(name);
}

static void shorten(struct shortening *s)
{
	drop_repeated_types(s);
	drop_again(&s->items, ITEM_OPERATION);
	drop_again(&s->items, ITEM_WORD);
	s->family_len = s->items.family_len;
	s->dropped |= s->items.truncated || s->items.skipped;
	if (s->items.n)
		drop_suffix(s);
	drop_until_short(s);
	drop_words(s);
}

static void make(struct shortening *s, char text[SHORT_NAME_SIZE], const char *name, int digits)
{
	short_name_read_name(s, name);
	snprintf(s->tail, sizeof(s->tail), "#%0*x", digits,
		 hash(name + s->items.from, s->items.to - s->items.from) >> (32 - 4 * digits));
	shorten(s);
	write_name(s, text, SHORT_NAME_SIZE);
}

void short_name(char text[SHORT_NAME_SIZE], const char *name)
{
	struct shortening s = { 0 };

	make(&s, text, name, 5);
}

void short_name_apart(char text[SHORT_NAME_SIZE], const char *name)
{
	struct shortening s = { .dropped = true };

	make(&s, text, name, 8);
}
