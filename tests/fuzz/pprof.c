/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes the writer of profiles: samples of any names, numbers and stacks become one member of
 * gzip, a valid message of https://github.com/google/pprof/blob/main/proto/profile.proto that has
 * all that it refers to.  Frames of stacks, users of processes and build ids are replaced:
 * -Wl,--wrap. */
#include <unistd.h>
#include <zlib.h>
#include "abi/device.h"
#include "abi/stack_frames.h"
#include "fuzz.h"
#include "pprof/profile.h"
#include "proc/process_table.h"
#include "sym/stack.h"

enum { TEXTS = 8, MODULES = 5, VIEWS = 300, STACKS = 4, SAMPLES = 40 };
enum { NAME_MOST = 20000 };	/* more bytes than the writer keeps of a name */
enum { LOCATIONS = STACK_FRAMES + STACK_NATIVE + 1 };	/* of a sample at most */

/* ---- What is profiled */

/* The frames of a stack: what a struct stack is here. */
struct frames { unsigned first, n; };

static char *texts[TEXTS];
static char modules[MODULES];	/* addresses only */
static struct frame_view views[VIEWS];
static struct frames stacks[STACKS];
static unsigned nviews;

typedef void frame_fn(void *ctx, const struct frame_view *v);
void __wrap_stack_each(const struct stack *s, frame_fn *fn, void *ctx);
const char *__wrap_frame_build_id(const struct frame_view *v);
unsigned __wrap_process_user(struct process_table *t, int pid);

void __wrap_stack_each(const struct stack *s, frame_fn *fn, void *ctx)
{
	const struct frames *f = (const void *)s;

	if (!f) {	/* the reason is in its place */
		fn(ctx, &(struct frame_view){ .kind = FRAME_KIND_NOTE, .name = "no stack" });
		return;
	}
	for (unsigned i = 0; i < f->n; i++)
		fn(ctx, &views[f->first + i]);
}

const char *__wrap_frame_build_id(const struct frame_view *v)
{
	return (const char *)v->module == modules ? "" : "0123456789abcdef";
}

unsigned __wrap_process_user(struct process_table *t, int pid)
{
	(void)t;
	return pid % 3;
}

/* Returns the input's next text, many times where it is to be long. */
static char *take_name(struct input *in)
{
	unsigned times = take(in, 1);
	char *once = take_text(in), *name;
	size_t len = strlen(once);

	times = times < 128 || !len ? 1 : 1 + (NAME_MOST / len) * (times - 128) / 128;
	name = xcalloc(times, len + 1);
	for (unsigned i = 0; i < times; i++)
		memcpy(name + i * len, once, len);
	free(once);
	return name;
}

static const char *text_or_null(struct input *in)
{
	unsigned i = take(in, 1) % (TEXTS + 1);

	return i < TEXTS ? texts[i] : NULL;
}

/* An inlined function has a file and a name, which may be "?". */
static void take_native(struct input *in, struct frame_view *v)
{
	unsigned module = take(in, 1) % (MODULES + !v->inlined);

	v->at = take(in, take(in, 1) & 8);	/* a byte count of 0 or 8 */
	v->at += take(in, 1);
	if (module == MODULES)
		return;
	v->module = (struct module *)&modules[module];
	v->file = texts[module];
	v->symbol = text_or_null(in);
	v->name = v->symbol ? text_or_null(in) ?: v->symbol : v->inlined ? "?" : NULL;
	v->source = text_or_null(in);
	v->line = v->source ? (int)take(in, 4) : 0;
}

/* A frame as stack_each() has it: which names there are depends on the kind. */
static struct frame_view take_view(struct input *in)
{
	unsigned kind = take(in, 1);
	struct frame_view v = { .kind = kind % 4 };

	v.inlined = v.kind == FRAME_KIND_NATIVE && kind & 4;
	if (v.kind == FRAME_KIND_NATIVE) {
		take_native(in, &v);
		return v;
	}
	v.name = v.kind == FRAME_KIND_PYTHON ? text_or_null(in) : texts[take(in, 1) % TEXTS];
	if (v.kind != FRAME_KIND_JIT)
		v.file = text_or_null(in);
	if (v.kind == FRAME_KIND_PYTHON)
		v.line = (int)take(in, 4);
	return v;
}

static void take_stack(struct input *in, struct frames *f)
{
	unsigned n = take(in, 2) % VIEWS;
	bool same = take(in, 1) & 1;	/* recursion, which makes deep stacks of little input */

	f->first = nviews;
	for (f->n = 0; f->n < n && nviews < VIEWS && in->left; f->n++, nviews++)
		views[nviews] = same && f->n ? views[nviews - 1] : take_view(in);
	while (same && f->n < n && nviews < VIEWS && f->n++)
		nviews++, views[nviews - 1] = views[nviews - 2];
}

static __uint128_t total(const struct profile *p)
{
	__uint128_t sum = 0;

	for (const struct profile_sample *s = p->samples; s; s = s->hh.next)
		for (int i = 0; i < PROFILE_VALUES; i++)
			sum += s->values[i];
	return sum;
}

static void take_sample(struct input *in, struct profile *p)
{
	__uint128_t before = total(p);
	struct profile_event e = { 0 };
	unsigned stack = take(in, 1) % (STACKS + 1), leaf = take(in, 1), comm = take(in, 1);
	int pid = take(in, take(in, 1) & 4);
	unsigned device = take(in, 1);

	for (int i = 0; i < PROFILE_VALUES; i++)
		e.values[i] = take(in, leaf & 8 ? 8 : 1);
	device = device == 255 ? DEVICE_NONE : device == 254 ? take(in, 4) : device;
	e.pid = pid;
	e.comm = texts[comm % TEXTS];
	e.leaf = texts[leaf % TEXTS];
	e.stack = stack < STACKS ? (struct stack *)&stacks[stack] : NULL;
	e.device = device;
	profile_add(p, &e);
	CHECK(total(p) >= before);	/* no sum wraps around */
}

/* ---- What is written */

enum kind {
	NOTHING, NUMBER, NUMBERS /* packed */, TEXT, ID,
	PROFILE, VALUE_TYPE, SAMPLE, LABEL, MAPPING, LOCATION, LINE, FUNCTION, KINDS
};

enum { FIELDS = 16, IDS = 2048 /* more than VIEWS and SAMPLES make */ };

/* The messages.  to: a number refers to one of these by its id, or to TEXT by its index. */
static const struct rule { enum kind is; bool many; enum kind to; } rules[KINDS][FIELDS] = {
	[PROFILE] = {
		[1] = { .is = VALUE_TYPE, .many = true },
		[2] = { .is = SAMPLE, .many = true },
		[3] = { .is = MAPPING, .many = true },
		[4] = { .is = LOCATION, .many = true },
		[5] = { .is = FUNCTION, .many = true },
		[6] = { .is = TEXT, .many = true },
		[9 ... 10] = { .is = NUMBER },
		[11] = { .is = VALUE_TYPE },
		[12] = { .is = NUMBER },
		[13] = { .is = NUMBERS, .to = TEXT },
		[14] = { .is = NUMBER, .to = TEXT },
	},
	[VALUE_TYPE] = { [1 ... 2] = { .is = NUMBER, .to = TEXT } },
	[SAMPLE] = {
		[1] = { .is = NUMBERS, .to = LOCATION },
		[2] = { .is = NUMBERS },
		[3] = { .is = LABEL, .many = true },
	},
	[LABEL] = {
		[1 ... 2] = { .is = NUMBER, .to = TEXT },
		[3] = { .is = NUMBER },
		[4] = { .is = NUMBER, .to = TEXT },
	},
	[MAPPING] = {
		[1] = { .is = ID },
		[2 ... 4] = { .is = NUMBER },
		[5 ... 6] = { .is = NUMBER, .to = TEXT },
		[7 ... 10] = { .is = NUMBER },
	},
	[LOCATION] = {
		[1] = { .is = ID },
		[2] = { .is = NUMBER, .to = MAPPING },
		[3] = { .is = NUMBER },
		[4] = { .is = LINE, .many = true },
	},
	[LINE] = { [1] = { .is = NUMBER, .to = FUNCTION }, [2] = { .is = NUMBER } },
	[FUNCTION] = { [1] = { .is = ID }, [2 ... 4] = { .is = NUMBER, .to = TEXT } },
};

struct bytes { const uint8_t *at, *end; };

/* A message's fields: how often each is there, and its last number. */
struct message { uint64_t n[FIELDS], value[FIELDS]; };

struct range { uint64_t start, end; };	/* of a mapping: the end is not part of it */
struct address { uint64_t mapping, at; };

struct decoded {
	uint64_t last[KINDS];		/* the greatest index or id that is referred to */
	uint64_t n[KINDS];
	bool is[KINDS][IDS];		/* there is one with this id */
	struct range ranges[IDS];	/* of mappings, by id */
	struct address addresses[IDS];	/* of locations, in sequence */
	FILE *text;			/* the string table, a line each */
	const struct profile_sample *sample;	/* the next one */
	unsigned nvalues;
};

static uint64_t varint(struct bytes *b)
{
	uint64_t value = 0;

	for (int shift = 0; ; shift += 7) {
		CHECK(b->at < b->end && shift < 64);
		value |= (uint64_t)(*b->at & 127) << shift;
		if (!(*b->at++ & 128))
			return value;
	}
}

static struct bytes part(struct bytes *b)
{
	uint64_t size = varint(b);
	struct bytes part = { b->at, b->at + size };

	CHECK(size <= (size_t)(b->end - b->at));
	b->at += size;
	return part;
}

static void refer(struct decoded *d, enum kind to, uint64_t id)
{
	CHECK(id < IDS);
	d->last[to] = id > d->last[to] ? id : d->last[to];
}

static void string(struct decoded *d, struct bytes b)
{
	size_t size = b.end - b.at;

	CHECK(d->n[TEXT]++ || !size);
	CHECK(!memchr(b.at, '\n', size) && !memchr(b.at, '\t', size) && !memchr(b.at, 0, size));
	fwrite(b.at, 1, size, d->text);
	putc('\n', d->text);
}

static unsigned locations_of(const struct profile_sample *s)
{
	const struct frames *f = (const void *)s->key.stack;
	unsigned n = 1 + !f;

	for (unsigned i = 0; f && i < f->n; i++)
		n += !views[f->first + i].inlined;
	return n < LOCATIONS ? n : LOCATIONS;
}

/* Counts the numbers of a field: the values of a sample, or references. */
static void numbers(struct decoded *d, const struct rule *rule, struct bytes b, uint64_t *n)
{
	for (*n = 0; b.at < b.end; ++*n) {
		uint64_t value = varint(&b);

		if (rule->to) {
			CHECK(value);	/* neither a location nor a comment is number 0 */
			refer(d, rule->to, value);
		} else {
			CHECK(d->sample && *n < d->nvalues && value <= INT64_MAX);
			CHECK(value == INT64_MAX || value == d->sample->values[*n]);
		}
	}
}

static void check_sample(struct decoded *d, const struct message *m)
{
	CHECK(d->sample && m->n[1] == locations_of(d->sample) && m->n[2] == d->nvalues);
	d->sample = d->sample->hh.next;
}

/* Checks a whole message, and registers its id. */
static void declare(struct decoded *d, enum kind kind, const struct message *m)
{
	uint64_t id = m->value[1];

	if (rules[kind][1].is == ID) {	/* distinct, and 1 to n: check_references() */
		CHECK(id && id < IDS && !d->is[kind][id]);
		d->is[kind][id] = true;
		d->n[kind]++;
	}
	if (kind == MAPPING)
		d->ranges[id] = (struct range){ m->value[2], m->value[3] };
	else if (kind == LOCATION)
		d->addresses[d->n[LOCATION]] = (struct address){ m->value[2], m->value[3] };
	else if (kind == LINE)
		CHECK(m->value[1]);
	else if (kind == LABEL)
		CHECK(m->value[1] && !(m->n[2] && m->n[4]) && (m->n[4] || !m->n[3]));
	else if (kind == SAMPLE)
		check_sample(d, m);
	else if (kind == PROFILE)
		CHECK(m->n[1] == d->nvalues && m->n[11] == 1 && m->value[14]);
}

static void decode(struct decoded *d, enum kind kind, struct bytes b)
{
	struct message m = { 0 };

	while (b.at < b.end) {
		uint64_t tag = varint(&b), at = tag >> 3;
		const struct rule *rule = &rules[kind][at < FIELDS ? at : 0];
		bool number = rule->is == NUMBER || rule->is == ID;

		CHECK(rule->is && (tag & 7) == (number ? 0 : 2) && (!m.n[at]++ || rule->many));
		if (number)
			m.value[at] = varint(&b);
		if (number && rule->to)
			refer(d, rule->to, m.value[at]);
		else if (rule->is == NUMBERS)
			numbers(d, rule, part(&b), &m.n[at]);
		else if (rule->is == TEXT)
			string(d, part(&b));
		else if (!number)
			decode(d, rule->is, part(&b));
	}
	declare(d, kind, &m);
}

static void check_references(const struct decoded *d)
{
	CHECK(d->n[TEXT] && d->last[TEXT] < d->n[TEXT]);
	for (enum kind k = PROFILE; k < KINDS; k++)
		for (uint64_t id = 1; id <= d->n[k] || id <= d->last[k]; id++)
			CHECK(d->is[k][id]);
	for (uint64_t i = 1; i <= d->n[LOCATION]; i++) {
		const struct address *a = &d->addresses[i];
		const struct range *r = &d->ranges[a->mapping];

		CHECK(!a->mapping || (a->at >= r->start && a->at < r->end));
	}
	for (uint64_t id = 2; id <= d->n[MAPPING]; id++)
		CHECK(d->ranges[id].start >= d->ranges[id - 1].end);
}

static struct decoded *decoded_new(const struct profile *p, char **text, size_t *size)
{
	struct decoded *d = xcalloc(1, sizeof(*d));

	d->text = open_memstream(text, size);
	CHECK(d->text);
	d->sample = p->samples;
	while (d->nvalues < PROFILE_VALUES && p->kind->values[d->nvalues].type)
		d->nvalues++;
	return d;
}

static void check_message(const struct profile *p, const uint8_t *bytes, size_t n)
{
	char *text = NULL;
	size_t size;
	struct decoded *d = decoded_new(p, &text, &size);

	decode(d, PROFILE, (struct bytes){ bytes, bytes + n });
	CHECK(!d->sample);
	check_references(d);
	CHECK(!fclose(d->text) && printable(text, true) >= 0);
	free(text);
	free(d);
}

/* Returns the message in the file, which is one member of gzip.  The caller frees it. */
static uint8_t *inflate_file(FILE *f, size_t *n)
{
	long size = lseek(fileno(f), 0, SEEK_END);
	uint8_t *packed = xcalloc(1, size), *to = NULL;
	size_t room = 0;
	z_stream z = { .next_in = packed, .avail_in = size };
	int err = Z_OK;

	CHECK(pread(fileno(f), packed, size, 0) == size);
	CHECK(inflateInit2(&z, 16 + MAX_WBITS) == Z_OK);
	while (err == Z_OK) {
		room = room ? 2 * room : 16384;
		to = xrealloc(to, room, 1);
		z.next_out = to + z.total_out;
		z.avail_out = room - z.total_out;
		err = inflate(&z, Z_NO_FLUSH);
	}
	CHECK(err == Z_STREAM_END && !z.avail_in);
	*n = z.total_out;
	inflateEnd(&z);
	free(packed);
	return to;
}

static void check(const struct profile *p)
{
	FILE *f = tmpfile();
	uint8_t *message;
	size_t n;

	CHECK(f && pprof_write(p, f));
	message = inflate_file(f, &n);
	fclose(f);
	check_message(p, message, n);
	free(message);
}

static const struct profile_kind kinds[] = {
	{ { { "launches", "count" } }, "kernel" },
	{ { { "held", "bytes" }, { "allocations", "count" } }, NULL },
	{ { { "calls", "count" }, { "time", "nanoseconds" }, { "bytes", "bytes" } }, NULL },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct process_table processes = { 0 };
	const struct profile_kind *kind = &kinds[take(&in, 1) % (sizeof(kinds) / sizeof(*kinds))];
	struct profile p = PROFILE_INIT(kind, &processes);

	if (take(&in, 1) & 1)
		p.quota.limit = take(&in, 2);
	p.period = 1 + take(&in, 1);
	p.path = "profile";
	nviews = 0;
	for (int i = 0; i < TEXTS; i++)
		texts[i] = take_name(&in);
	for (int i = 0; i < STACKS; i++)
		take_stack(&in, &stacks[i]);
	capture(true);		/* the warnings */
	profile_begin(&p);
	for (int i = 0; i < SAMPLES && in.left; i++)
		take_sample(&in, &p);
	check(&p);
	CHECK(printable(captured(), true) >= 0);
	profile_free(&p);
	for (int i = 0; i < TEXTS; i++)
		free(texts[i]);
	return 0;
}
