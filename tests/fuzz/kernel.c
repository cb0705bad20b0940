/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes kernel names of programs, and how often they launch which: labels of kernels, and whose series
 * cudaexporter counts launches to. */
#include "base/clock.h"
#include "cudaexporter/kernel_counts.h"
#include "fuzz.h"

enum { NAMES = 8, MOST = 3 };

struct state {
	struct kernel_naming naming;
	struct series_table table;
	struct label_set set;
	struct kernel_execution program;
	struct kernel_names *names;
	const struct kernel *kernels[NAMES];
	unsigned long long launched, shown, sums[2 * NAMES];
	const struct series *seen[2 * NAMES];
};

static void label_of(const char *name)
{
	char label[KERNEL_LABEL_SIZE];
	const char *at = name;

	kernel_label(label, &(struct kernel){ .brief = name }, -1);
	CHECK(strlen(label) < KERNEL_LABEL_SIZE);
	if (strlen(label) > KERNEL_LABEL_TEXT)
		CHECK(*strrchr(label, '#') && strlen(strrchr(label, '#')) == KERNEL_LABEL_HASH);
	else	/* it is the name without some of its parts */
		for (const char *l = label; *l; l++, at++)
			CHECK((at = strchr(at, *l)));
}

/* All launches are in a series, and no series has fewer than before. */
static void check_series(struct state *s)
{
	unsigned long long sum = 0;
	const struct series *series;
	int n = 0;

	TAILQ_FOREACH(series, &s->table.of[METRIC_KERNEL_LAUNCHES], in_metric) {
		CHECK(n < 2 * NAMES && (!s->seen[n] || s->seen[n] == series) && series->ended >= s->sums[n]);
		CHECK(!strncmp(series->labels, "pid=\"1\",kernel=\"", 16));
		s->seen[n] = series;
		s->sums[n++] = series->ended;
		sum += series->ended;
	}
	CHECK(sum == s->launched && n <= s->naming.most + 1 && s->program.named <= s->naming.most);
}

static void step(struct state *s, struct input *in)
{
	unsigned what = take(in, 1), n = take(in, 2);

	if (what & 0x80) {
		kernel_execution_show(&s->naming, &s->program, &s->set);
		kernel_naming_reap(&s->naming, &s->table);
		check_series(s);
		return;
	}
	s->naming.until = what & 0x40 ? 0 : clock_ns() + 1000000000;
	kernel_execution_count(&s->naming, &s->program, s->kernels[what % NAMES], n);
	s->launched += n;
}

static void begin(struct state *s, struct input *in)
{
	series_init(&s->table, 100);
	s->set.table = &s->table;
	s->set.labels = "pid=\"1\"";
	s->names = kernel_names_new();
	s->naming.style = -1;
	s->naming.most = take(in, 1) % (MOST + 1);
	/* now and then there is no room */
	s->naming.quota = (struct quota){ .limit = take(in, 1) * 32 + 1024, .what = "names", .loss = "other" };
	kernel_naming_init(&s->naming);
	CHECK(s->naming.other);
	for (int i = 0; i < NAMES - 1; i++) {	/* the last one is unknown */
		char *name = take_text(in);

		label_of(name);
		s->kernels[i] = kernel_get(*name ? kernel_named(s->names, 0, 0, name) : NULL);
		free(name);
	}
}

static void end(struct state *s)
{
	kernel_execution_show(&s->naming, &s->program, &s->set);
	check_series(s);
	kernel_execution_clear(&s->naming, &s->program);
	series_drop_set(&s->set);
	s->naming.other->uses--;
	kernel_naming_reap(&s->naming, &s->table);
	CHECK(!s->naming.texts && !s->naming.quota.used);
	series_free(&s->table);
	quota_free(&s->naming.quota);
	budget_free(&s->naming.time);
	kernel_names_free(s->names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct state s = { 0 };

	capture(true);
	begin(&s, &in);
	while (in.left)
		step(&s, &in);
	end(&s);
	captured();
	return 0;
}
