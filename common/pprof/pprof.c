/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "abi/device.h"
#include "abi/stack_frames.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/escape.h"
#include "pprof/profile.h"
#include "profile.pb-c.h"
#include "sym/stack.h"

/* Limits on what hostile programs can make a profile: bytes of its tables and of a name, inlined functions of a frame. */
enum { TABLES = 128 << 20, NAME = 8192, INLINED = 64, HASH_COST = 64 };

/* The address ranges of files: in a real process they begin at a page.  A program can map a file at
 * any offset: from OFFSETS on no file has code.  The ranges of all mappings that TABLES has room for
 * fit into 64 bits. */
static const unsigned long long PAGE = 4096, OFFSETS = 1ull << 44;

struct text {
	unsigned id;		/* its place in the string table */
	UT_hash_handle hh;
	char raw[];		/* as the program has it; escaped when it is written */
};

struct function {
	struct { unsigned name, file; } key;
	unsigned id, system_name;
	UT_hash_handle hh;
};

/* A file.  Processes have it at different addresses, and their stacks are joined: it gets a range of its own. */
struct mapping {
	const struct module *module;
	unsigned id, file, build_id;
	unsigned long long start, end;	/* end: the largest offset in it */
	bool unnamed, sources, lines, inlined;	/* of its locations: one has no function; one has … */
	UT_hash_handle hh;
};

struct line { unsigned function; int number; };

/* A native instruction, by the offset in its file or by its address; any other frame by its line. */
struct location {
	struct location_key { const struct mapping *mapping; unsigned long long at; struct line line; } key;
	unsigned id, nlines;
	UT_hash_handle hh;
	struct line lines[];
};

struct pprof {
	gzFile out;
	ProtobufCBuffer buffer;	/* appends to out */
	bool failed;
	struct text *texts;
	struct function *functions;
	struct mapping *mappings;
	struct location *locations;
	size_t used;		/* bytes of these */
	unsigned long long left_out;	/* frames */
	/* the frames of a sample */
	uint64_t ids[STACK_FRAMES + STACK_NATIVE + 1];
	size_t nids;
	struct line inlined[INLINED];
	unsigned ninlined;
};

/* ---- Output: a profile in parts, as parts of a message in sequence are the message */

static struct pprof *pprof_of(ProtobufCBuffer *b)
{
	return (struct pprof *)((char *)b - offsetof(struct pprof, buffer));
}

static void append(ProtobufCBuffer *b, size_t size, const uint8_t *bytes)
{
	struct pprof *p = pprof_of(b);

	p->failed |= size && gzwrite(p->out, bytes, size) != (int)size;
}

static void write_part(struct pprof *p, const Pprof__Profile *part)
{
	pprof__profile__pack_to_buffer(part, &p->buffer);
}

/* ---- The tables */

static unsigned text(struct pprof *p, const char *s)
{
	size_t size = strnlen(s, NAME);
	struct text *t;

	HASH_FIND(hh, p->texts, s, size, t);
	if (t)
		return t->id;
	t = xcalloc(1, sizeof(*t) + size + 1);
	t->id = HASH_COUNT(p->texts);
	memcpy(t->raw, s, size);
	HASH_ADD(hh, p->texts, raw, size, t);
	p->used += sizeof(*t) + size + HASH_COST;
	return t->id;
}

/* Returns the name in the object file.  If it is the name itself, pprof removes "<int>" from what looks like C++ to it, even if all
 * that is there is "<module>" (Demangle() in internal/symbolizer): then it is empty. */
static unsigned system_name(struct pprof *p, const char *name, const char *symbol)
{
	if (symbol && strcmp(symbol, name))
		return text(p, symbol);
	return text(p, strpbrk(name, "<>[]()") || strstr(name, "::") ? "" : name);
}

/* symbol: what name was demangled from, or NULL. */
static unsigned function(struct pprof *p, const char *name, const char *symbol, const char *file)
{
	struct function want = { .key = { text(p, name), text(p, file ? file : "") } }, *f;

	HASH_FIND(hh, p->functions, &want.key, sizeof(want.key), f);
	if (f)
		return f->id;
	f = xcalloc(1, sizeof(*f));
	f->key = want.key;
	f->id = 1 + HASH_COUNT(p->functions);
	f->system_name = system_name(p, name, symbol);
	HASH_ADD(hh, p->functions, key, sizeof(f->key), f);
	p->used += sizeof(*f) + HASH_COST;
	return f->id;
}

static struct mapping *mapping(struct pprof *p, const struct frame_view *v)
{
	const struct module *module = v->module;
	struct mapping *m;

	HASH_FIND_PTR(p->mappings, &module, m);
	if (m)
		return m;
	m = xcalloc(1, sizeof(*m));
	m->module = module;
	m->id = 1 + HASH_COUNT(p->mappings);
	m->file = text(p, v->file);
	m->build_id = text(p, frame_build_id(v));
	HASH_ADD_PTR(p->mappings, module, m);
	p->used += sizeof(*m) + HASH_COST;
	return m;
}

static struct location *find_location(const struct pprof *p, const struct location_key *key)
{
	struct location *l;

	HASH_FIND(hh, p->locations, key, sizeof(*key), l);
	return l;
}

/* Adds one whose lines are those of inlined functions, and then own, unless that has no function. */
static struct location *add_location(struct pprof *p, const struct location_key *key, struct line own)
{
	unsigned n = p->ninlined + !!own.function;
	struct location *l = xcalloc(1, sizeof(*l) + n * sizeof(*l->lines));

	l->key = *key;
	l->id = 1 + HASH_COUNT(p->locations);
	l->nlines = n;
	memcpy(l->lines, p->inlined, p->ninlined * sizeof(*l->lines));
	if (own.function)
		l->lines[p->ninlined] = own;
	HASH_ADD(hh, p->locations, key, sizeof(l->key), l);
	p->used += sizeof(*l) + n * sizeof(*l->lines) + HASH_COST;
	return l;
}

/* ---- The frames of a stack */

static void put(struct pprof *p, const struct location *l)
{
	if (p->nids < sizeof(p->ids) / sizeof(*p->ids))
		p->ids[p->nids++] = l->id;
}

/* A frame that is only a name, with its line. */
static void put_name(struct pprof *p, const char *name, const char *file, int number)
{
	struct location_key key;

	memset(&key, 0, sizeof(key));
	key.line = (struct line){ function(p, name, NULL, file), number };
	p->ninlined = 0;
	put(p, find_location(p, &key) ?: add_location(p, &key, key.line));
}

static void put_note(struct pprof *p, const struct frame_view *v)
{
	char *name = v->file ? xprintf("[%s: %s]", v->name, v->file) : xprintf("[%s]", v->name);

	put_name(p, name, NULL, 0);
	free(name);
}

static struct line line_of(struct pprof *p, const struct frame_view *v)
{
	return (struct line){ v->name ? function(p, v->name, v->symbol, v->source) : 0, v->name ? v->line : 0 };
}

/* Common part of a file's locations. */
static void describe(struct mapping *m, const struct frame_view *v, const struct location *l)
{
	m->end = v->at > m->end ? v->at : m->end;
	m->unnamed |= !l->nlines;
	m->sources |= !!v->source;
	m->lines |= v->source && v->line;
	m->inlined |= l->nlines > 1;
}

static void put_native(struct pprof *p, const struct frame_view *v)
{
	struct mapping *m = v->module && v->at < OFFSETS ? mapping(p, v) : NULL;
	struct location_key key;
	struct location *l;

	memset(&key, 0, sizeof(key));
	key.mapping = m;
	key.at = v->at;
	l = find_location(p, &key);
	if (!l) {
		l = add_location(p, &key, line_of(p, v));
		if (m)
			describe(m, v, l);
	}
	put(p, l);
}

static void put_frame(void *ctx, const struct frame_view *v)
{
	struct pprof *p = ctx;

	if (p->used > TABLES) {
		p->left_out++;
		return;
	}
	if (v->inlined) {	/* into the frame that follows */
		if (p->ninlined < INLINED)
			p->inlined[p->ninlined++] = line_of(p, v);
		return;
	}
	if (v->kind == FRAME_KIND_NATIVE)
		put_native(p, v);
	else if (v->kind == FRAME_KIND_NOTE)
		put_note(p, v);
	else
		put_name(p, v->name ? v->name : "[unknown]", v->file, v->line);
	p->ninlined = 0;
}

/* ---- The samples */

static void sample_values(const struct profile *profile, const struct profile_sample *s, Pprof__Sample *to, int64_t *values)
{
	to->value = values;
	for (int i = 0; i < PROFILE_VALUES && profile->kind->values[i].type; i++)
		values[to->n_value++] = s->values[i] < INT64_MAX ? s->values[i] : INT64_MAX;
}

static Pprof__Label *add_label(Pprof__Sample *s, Pprof__Label *label, unsigned key)
{
	*label = (Pprof__Label)PPROF__LABEL__INIT;
	label->key = key;
	s->label[s->n_label++] = label;
	return label;
}

static void add_text(Pprof__Sample *s, Pprof__Label *label, unsigned key, unsigned str)
{
	add_label(s, label, key)->str = str;
}

/* pprof takes the key as the unit of a number without one, but drops a 0 without one (postDecode() in
 * profile/encode.go). */
static void add_number(Pprof__Sample *s, Pprof__Label *label, unsigned key, long long num)
{
	add_label(s, label, key)->num = num;
	label->num_unit = key;
}

static void write_sample(struct pprof *p, const struct profile *profile, const struct profile_sample *s)
{
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Label labels[4], *list[4];
	int64_t values[PROFILE_VALUES];

	sample.label = list;
	sample.location_id = p->ids;
	p->nids = 0;
	put_name(p, s->key.leaf, NULL, 0);
	stack_each(s->key.stack, put_frame, p);
	sample.n_location_id = p->nids;
	sample_values(profile, s, &sample, values);
	add_number(&sample, &labels[0], text(p, "pid"), s->key.pid);
	add_text(&sample, &labels[1], text(p, "comm"), text(p, s->key.comm));
	if (profile->kind->leaf)
		add_text(&sample, &labels[2], text(p, profile->kind->leaf), text(p, s->key.leaf));
	if (s->key.device && s->key.device != DEVICE_NONE)
		add_number(&sample, &labels[3], text(p, "device"), s->key.device - 1);
	part.sample = &samples;
	part.n_sample = 1;
	write_part(p, &part);
}

/* ---- What the samples refer to */

static void write_mappings(struct pprof *p)
{
	unsigned long long next = PAGE;

	for (struct mapping *m = p->mappings; m; m = m->hh.next) {
		Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings = &mapping;
		Pprof__Profile part = PPROF__PROFILE__INIT;

		m->start = next;
		next = (m->start + m->end) / PAGE * PAGE + PAGE;
		mapping.id = m->id;
		mapping.memory_start = m->start;
		mapping.memory_limit = next;
		mapping.filename = m->file;
		mapping.build_id = m->build_id;
		mapping.has_functions = !m->unnamed;
		mapping.has_filenames = m->sources;
		mapping.has_line_numbers = m->lines;
		mapping.has_inline_frames = m->inlined;
		part.mapping = &mappings;
		part.n_mapping = 1;
		write_part(p, &part);
	}
}

static void write_location(struct pprof *p, const struct location *l)
{
	Pprof__Location location = PPROF__LOCATION__INIT, *locations = &location;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Line lines[INLINED + 1], *list[INLINED + 1];

	location.id = l->id;
	location.mapping_id = l->key.mapping ? l->key.mapping->id : 0;
	location.address = l->key.at + (l->key.mapping ? l->key.mapping->start : 0);
	location.line = list;
	location.n_line = l->nlines;
	for (unsigned i = 0; i < l->nlines; i++) {
		list[i] = &lines[i];
		lines[i] = (Pprof__Line)PPROF__LINE__INIT;
		lines[i].function_id = l->lines[i].function;
		lines[i].line = l->lines[i].number;
	}
	part.location = &locations;
	part.n_location = 1;
	write_part(p, &part);
}

static void write_function(struct pprof *p, const struct function *f)
{
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions = &function;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	function.id = f->id;
	function.name = f->key.name;
	function.system_name = f->system_name;
	function.filename = f->key.file;
	part.function = &functions;
	part.n_function = 1;
	write_part(p, &part);
}

/* Strings must be UTF-8, and are printed on terminals. */
static void write_text(struct pprof *p, const struct text *t)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	char *escaped = NULL;
	size_t size;
	FILE *f = open_memstream(&escaped, &size);

	if (!f)
		die(ENOMEM, "the profile");
	escape_text(f, t->raw);
	if (fclose(f))
		die(ENOMEM, "the profile");
	part.string_table = &escaped;
	part.n_string_table = 1;
	write_part(p, &part);
	free(escaped);
}

static void write_tables(struct pprof *p)
{
	write_mappings(p);
	for (const struct location *l = p->locations; l; l = l->hh.next)
		write_location(p, l);
	for (const struct function *f = p->functions; f; f = f->hh.next)
		write_function(p, f);
	for (const struct text *t = p->texts; t; t = t->hh.next)
		write_text(p, t);
}

static void write_head(struct pprof *p, const struct profile *profile)
{
	const struct profile_value *values = profile->kind->values;
	Pprof__ValueType types[PROFILE_VALUES], *list[PROFILE_VALUES];
	Pprof__Profile part = PPROF__PROFILE__INIT;

	part.sample_type = list;
	for (int i = 0; i < PROFILE_VALUES && values[i].type; i++) {
		types[i] = (Pprof__ValueType)PPROF__VALUE_TYPE__INIT;
		types[i].type = text(p, values[i].type);
		types[i].unit = text(p, values[i].unit);
		list[part.n_sample_type++] = &types[i];
	}
	part.period_type = &types[0];
	part.period = profile->period;
	part.default_sample_type = types[0].type;
	part.duration_nanos = clock_ns() - profile->began;
	part.time_nanos = clock_wall_ns() - part.duration_nanos;
	write_part(p, &part);
}

static void pprof_free(struct pprof *p)
{
	HASH_FREE(p->texts);
	HASH_FREE(p->functions);
	HASH_FREE(p->mappings);
	HASH_FREE(p->locations);
	free(p);
}

/* Losses, for the profile's reader. */
static void write_losses(struct pprof *p, const struct profile *profile)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	char comment[128];
	int64_t at;

	if (!profile->lost && !p->left_out)
		return;
	snprintf(comment, sizeof(comment), "lost: %llu events of further stacks, %llu frames", profile->lost, p->left_out);
	at = text(p, comment);
	part.comment = &at;
	part.n_comment = 1;
	write_part(p, &part);
}

static void write_all(struct pprof *p, const struct profile *profile)
{
	text(p, "");		/* the first one must be empty */
	write_head(p, profile);
	for (const struct profile_sample *s = profile->samples; s; s = s->hh.next)
		write_sample(p, profile, s);
	write_losses(p, profile);
	write_tables(p);
	if (p->left_out)
		warning(0, "profile: %llu frames left out: more than %d MiB of names and places", p->left_out, TABLES >> 20);
}

bool pprof_write(const struct profile *profile, FILE *f)
{
	struct pprof *p = xcalloc(1, sizeof(*p));
	int fd = fcntl(fileno(f), F_DUPFD_CLOEXEC, 3);
	bool ok;

	p->buffer.append = append;
	p->out = fd < 0 ? NULL : gzdopen(fd, "w");
	if (p->out)
		write_all(p, profile);
	else if (fd >= 0)
		close(fd);
	errno = 0;
	ok = p->out && gzclose(p->out) == Z_OK && !p->failed;
	pprof_free(p);
	return ok;
}
