/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "cli/out.h"
#include "cudamemtime/choice.h"
#include "cudamemtime/csv.h"
#include "cudamemtime/gantt.h"
#include "cudamemtime/measure.h"
#include "cudamemtime/probes.h"
#include "cudamemtime/site_report.h"
#include "cudamemtime/accesses.h"
#include "view/gpuprobe_notes.h"

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
	const char *probe = memtime_probe(wants_records(m) ? m->stage ? PROBE_STAGE : PROBE_TRACE : PROBE_HIST);

	config->scheme = m->scheme;
	config->spaces = choice_spaces(m->spaces);
	config->ops = choice_ops(m->ops);
	config->limit = wants_records(m) ? m->records : 0;
	config->probe_size = strlen(probe);
	return probe;
}

/* The files are opened before the command runs: it may take hours. */
void measure_start(void *ctx)
{
	struct measure *m = ctx;

	if (m->csv)
		m->csv_file = csv_open(m->csv);
	if (m->chrome)
		chrome_open(&m->timeline, m->chrome);
}

const char *measure_frame(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size)
{
	struct measure *m = ctx;

	return gpuprobe_modules_frame(&m->modules, peer->id, peer->pid, kind, data, size);
}

void measure_report(void *ctx)
{
	struct measure *m = ctx;

	site_report(&m->modules, &m->kernels);
}

static void write_records(struct measure *m)
{
	size_t n;
	struct gpu_access *accesses = gpu_accesses(&m->modules, &n);

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
		gpu_accesses_count(&m->modules);
	}
	site_report(&m->modules, &m->kernels);
	if (m->session.json)
		gpuprobe_notes_json(&m->modules.images);
	gpuprobe_notes(&m->modules, m->gpuprobe.peers.peers.n, m->session.verbose);
	return sig;
}

void measure_free(struct measure *m)
{
	gpuprobe_modules_free(&m->modules);
	kernels_free(&m->kernels);
}
