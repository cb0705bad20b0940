/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "cli/opt.h"
#include "cli/out.h"
#include "cli/out_file.h"
#include "cudamemtime/accesses.h"
#include "cudamemtime/measure.h"
#include "memtime_hist.ptx.h"
#include "memtime_stage.ptx.h"
#include "memtime_trace.ptx.h"
#include "ptx/instrument.h"

struct word {
	const char *word;
	unsigned bit;
};

static const struct word spaces[] = {
	{ "global", PTX_GLOBAL }, { "shared", PTX_SHARED }, { "local", PTX_LOCAL }, { "const", PTX_CONST },
	{ "generic", PTX_GENERIC }, { "readonly", PTX_READONLY }, { "tex", PTX_TEX }, { "wait", PTX_WAIT },
	{ "all", ~0u }, { NULL, 0 },
};

static const struct word ops[] = {
	{ "load", PTX_LOAD }, { "atomic", PTX_ATOMIC }, { "store", PTX_STORE }, { "reduce", PTX_REDUCE },
	{ "wait", PTX_WAITS }, { "all", ~0u }, { NULL, 0 },
};

enum { SPACES_DEFAULT = PTX_GLOBAL | PTX_GENERIC | PTX_READONLY | PTX_TEX };

/* A dependence always orders these. */
enum { OPS_DEFAULT = PTX_LOAD | PTX_ATOMIC };

static unsigned read_words(const char *option, const char *list, const struct word *words)
{
	char *text = xstrdup(list), *rest = text;
	unsigned bits = 0;

	for (char *s; (s = value_word(&rest)); ) {
		const struct word *w = words;

		while (w->word && strcmp(w->word, s))
			w++;
		if (!w->word)
			usage_error("--%s: unknown word '%s'", option, s);
		bits |= w->bit;
	}
	if (!bits)
		usage_error("--%s: a word is required", option);
	free(text);
	return bits;
}

/* Read a list of words, NULL: the default, as a sum of enum ptx_space or enum ptx_ops.  Exit 2 on an unknown word. */
static unsigned choice_spaces(const char *list)
{
	return list ? read_words("spaces", list, spaces) : SPACES_DEFAULT;
}

static unsigned choice_ops(const char *list)
{
	return list ? read_words("op", list, ops) : OPS_DEFAULT;
}

const char *choice_space_word(int i)
{
	return spaces[i].word;
}

const char *choice_op_word(int i)
{
	return ops[i].word;
}

/* Half a gigabyte of the GPU's memory. */
enum { RECORDS_MAX = 1 << 20 };

static bool wants_records(const struct measure *m)
{
	return m->csv || m->chrome;
}

void measure_check(struct measure *m)
{
	if (!wants_records(m) && (m->records || m->stage))
		usage_error("--%s requires --csv or --chrome", m->records ? "records" : "stage");
	if (wants_records(m) && m->events.interval_ns)
		usage_error("--csv and --chrome write at the end: they cannot be combined with an interval");
	if (!m->records)
		m->records = RECORDS_DEFAULT;
	if (m->records & (m->records - 1) || m->records > RECORDS_MAX)
		usage_error("--records: %ld is not a power of two up to %d", m->records, RECORDS_MAX);
	choice_spaces(m->spaces);
	choice_ops(m->ops);
}

const char *measure_config(void *ctx, struct gpuprobe_config *config)
{
	const struct measure *m = ctx;
	const char *probe = !wants_records(m) ? memtime_hist_ptx : m->stage ? memtime_stage_ptx : memtime_trace_ptx;

	config->scheme = m->scheme;
	config->spaces = choice_spaces(m->spaces);
	config->ops = choice_ops(m->ops);
	config->limit = wants_records(m) ? m->records : 0;
	config->probe_size = strlen(probe);
	return probe;
}

/* Opens the files before the command runs, which may take hours. */
void measure_start(void *ctx)
{
	struct measure *m = ctx;

	if (m->csv)
		m->csv_file = out_file_stream(m->csv);
	if (m->chrome)
		chrome_open(&m->timeline, m->chrome);
}

void measure_report(void *ctx)
{
	struct measure *m = ctx;

	site_report(&m->gpuprobe.modules, &m->kernels);
}

static void write_records(struct measure *m)
{
	size_t n;
	struct gpu_access *accesses = gpu_accesses(&m->gpuprobe.modules, &n);

	if (m->csv)
		m->failed |= !csv_write(m->csv_file, m->csv, accesses, n, &m->kernels);
	if (m->chrome) {
		gantt_draw(&m->timeline, accesses, n, &m->kernels);
		m->failed |= !chrome_close(&m->timeline);
	}
	free(accesses);
}

int measure_stop(void *ctx, int sig)
{
	struct measure *m = ctx;

	if (wants_records(m)) {
		write_records(m);
		gpu_accesses_count(&m->gpuprobe.modules);
	}
	site_report(&m->gpuprobe.modules, &m->kernels);
	return sig;
}

void measure_free(struct measure *m)
{
	kernels_free(&m->kernels);
}
