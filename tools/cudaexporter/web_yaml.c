/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/die.h"
#include "cudaexporter/web_yaml.h"

enum { KEYS_MAX = 256 };

bool web_yaml_error(struct web_yaml *y, int line, const char *fmt, ...)
{
	char *text;
	va_list ap;

	if (y->error)
		return false;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		die(ENOMEM, "a string");
	va_end(ap);
	y->error = xprintf("%s:%d: %s", y->file, line, text);
	free(text);
	return false;
}

static int line_of(const struct web_yaml *y)
{
	return y->event.start_mark.line + 1;
}

static bool no_extras(struct web_yaml *y, const void *anchor, const void *tag)
{
	if (anchor)
		return web_yaml_error(y, line_of(y), "anchors are not supported");
	return !tag || web_yaml_error(y, line_of(y), "tags are not supported");
}

/* Reads the next event, which is then the current one. */
static bool advance(struct web_yaml *y)
{
	yaml_event_delete(&y->event);
	if (!yaml_parser_parse(&y->parser, &y->event))
		return web_yaml_error(y, y->parser.problem_mark.line + 1, "no valid YAML: %s",
				      y->parser.problem ? y->parser.problem : "out of memory");
	switch (y->event.type) {
	case YAML_ALIAS_EVENT:
		return web_yaml_error(y, line_of(y), "aliases are not supported");
	case YAML_SCALAR_EVENT:
		return no_extras(y, y->event.data.scalar.anchor, y->event.data.scalar.tag);
	case YAML_MAPPING_START_EVENT:
		return no_extras(y, y->event.data.mapping_start.anchor, y->event.data.mapping_start.tag);
	default:
		return true;
	}
}

static bool is_null(const struct web_yaml *y)
{
	return y->event.type == YAML_SCALAR_EVENT && !y->event.data.scalar.length &&
	       y->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

/* The current event is a key: returns it, or NULL if it cannot be one. */
static char *key_of(struct web_yaml *y)
{
	const char *s = (const char *)y->event.data.scalar.value;

	if (y->event.type != YAML_SCALAR_EVENT)
		web_yaml_error(y, line_of(y), "a key must be a string");
	else if (!*s || strlen(s) != y->event.data.scalar.length)
		web_yaml_error(y, line_of(y), "a key must not be empty, nor contain a null character");
	else
		return xstrdup(s);
	return NULL;
}

/* The keys of one mapping, to find those that stand twice. */
struct keys {
	char *key[KEYS_MAX];
	int n;
};

static bool note_key(struct web_yaml *y, struct keys *k, char *key, int line)
{
	for (int i = 0; i < k->n; i++)
		if (!strcmp(k->key[i], key))
			return web_yaml_error(y, line, "key '%s' stands twice", key);
	return k->n < KEYS_MAX || web_yaml_error(y, line, "more than %d keys", KEYS_MAX);
}

/* The current event is a key: reads it and its value. */
static bool pair(struct web_yaml *y, struct keys *k, web_yaml_fn *fn, void *ctx)
{
	int line = line_of(y);
	char *key = key_of(y);

	if (!key)
		return false;
	if (!note_key(y, k, key, line)) {
		free(key);
		return false;
	}
	k->key[k->n++] = key;
	return advance(y) && fn(ctx, y, key, line);
}

bool web_yaml_mapping(struct web_yaml *y, const char *what, web_yaml_fn *fn, void *ctx)
{
	struct keys k = { .n = 0 };
	bool ok = true;

	if (y->event.type != YAML_MAPPING_START_EVENT)
		return web_yaml_error(y, line_of(y), "%s must be a mapping, of lines 'key: value'", what);
	while (ok && (ok = advance(y)) && y->event.type != YAML_MAPPING_END_EVENT)
		ok = pair(y, &k, fn, ctx);
	while (k.n)
		free(k.key[--k.n]);
	return ok;
}

char *web_yaml_string(struct web_yaml *y, const char *key)
{
	const char *s = (const char *)y->event.data.scalar.value;

	if (y->event.type != YAML_SCALAR_EVENT)
		web_yaml_error(y, line_of(y), "%s must be a string", key);
	else if (!*s)
		web_yaml_error(y, line_of(y), "%s must not be empty", key);
	else if (strlen(s) != y->event.data.scalar.length)
		web_yaml_error(y, line_of(y), "%s contains a null character", key);
	else
		return xstrdup(s);
	return NULL;
}

static bool document(struct web_yaml *y, web_yaml_fn *fn, void *ctx)
{
	if (!advance(y) || !advance(y))		/* the stream's start, the document's */
		return false;
	if (y->event.type == YAML_STREAM_END_EVENT)
		return true;
	if (!advance(y))
		return false;
	if (!is_null(y) && !web_yaml_mapping(y, "the file", fn, ctx))
		return false;
	if (!advance(y) || !advance(y))		/* the document's end, the stream's */
		return false;
	return y->event.type == YAML_STREAM_END_EVENT ||
	       web_yaml_error(y, line_of(y), "a second document is not supported");
}

char *web_yaml_read(const char *file, const char *text, size_t size, web_yaml_fn *fn, void *ctx)
{
	struct web_yaml y = { .file = file };

	if (!yaml_parser_initialize(&y.parser))
		die(ENOMEM, "a YAML parser");
	yaml_parser_set_input_string(&y.parser, (const unsigned char *)text, size);
	if (!document(&y, fn, ctx))
		web_yaml_error(&y, 1, "cannot be read");
	yaml_event_delete(&y.event);
	yaml_parser_delete(&y.parser);
	return y.error;
}
