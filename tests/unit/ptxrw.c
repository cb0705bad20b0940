/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* ptxrw [option...] IN OUT: what instrument() makes of PTX.  Exits with 3 + enum instrument_result unless it is
 * done, and says it.
 *   --probe FILE.ptx   the probe; not needed with --list
 *   --scheme dep|fence|paper|simple   -S SPACE,...|all   --op OP,...|all
 *   --kernel GLOB   --blocks MASK:WANT   --warps MASK:WANT   --groups N   --limit N
 *   --max-sites N   --call-above N   --registers FILE: lines "KERNEL MAXNREG"
 *   -v: how many, how long
 *   --list IN: the table of sites   --sites IN: the same, as sites_read() has it   --table FILE: of a table itself */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "ptx/instrument.h"
#include "ptx/probe.h"
#include "ptx/sites.h"

static const char *const schemes[] = { "dep", "fence", "paper", "simple", NULL };
static const char *const spaces[] = { "global", "shared", "local", "const", "generic", "readonly", "tex", "wait",
				      NULL };
static const char *const ops[] = { "load", "atomic", "store", "reduce", "wait", NULL };

struct options {
	const char *kernel, *probe;
	char *registers;
	bool list, sites, table, verbose;
};

static char *read_all(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t max = 0;
	ssize_t n = f ? getdelim(&text, &max, EOF, f) : -1;

	if (!f || (n < 0 && ferror(f))) {
		fprintf(stderr, "ptxrw: cannot read %s: %s\n", path, strerror(errno));
		exit(1);
	}
	*size = n < 0 ? 0 : (size_t)n;
	fclose(f);
	return text;
}

static unsigned word(const char *text, const char *const *list)
{
	for (unsigned i = 0; list[i]; i++)
		if (!strcmp(text, list[i]))
			return i;
	fprintf(stderr, "ptxrw: unknown word '%s'\n", text);
	exit(2);
}

static unsigned words(char *text, const char *const *list)
{
	unsigned sum = 0;

	if (!strcmp(text, "all"))
		return ~0u;
	for (char *w = strtok(text, ","); w; w = strtok(NULL, ","))
		sum |= 1u << word(w, list);
	return sum;
}

static bool selects(void *ctx, const char *name, size_t n)
{
	const struct options *o = ctx;
	char *copy = strndup(name, n);
	bool yes = copy && !fnmatch(o->kernel, copy, 0);

	free(copy);
	return yes;
}

static unsigned registers(void *ctx, const char *name, size_t n)
{
	const struct options *o = ctx;

	for (const char *line = o->registers; line && *line; line = strchr(line, '\n'), line += line != NULL)
		if (!strncmp(line, name, n) && line[n] == ' ')
			return (unsigned)atoi(line + n);
	return 0;
}

static void parse(int argc, char **argv, struct options *o, struct instrument *in)
{
	static const struct option longs[] = {
		{ "probe", 1, 0, 'p' }, { "scheme", 1, 0, 's' }, { "op", 1, 0, 'o' }, { "kernel", 1, 0, 'K' },
		{ "blocks", 1, 0, 'b' }, { "warps", 1, 0, 'w' }, { "groups", 1, 0, 'g' }, { "limit", 1, 0, 'l' },
		{ "max-sites", 1, 0, 'm' }, { "call-above", 1, 0, 'c' }, { "registers", 1, 0, 'r' },
		{ "list", 0, 0, 'L' }, { "sites", 0, 0, 'T' }, { "table", 0, 0, 'B' }, { 0 } };
	size_t size;
	int c;

	while ((c = getopt_long(argc, argv, "S:v", longs, NULL)) != -1)
		switch (c) {
		case 'p': o->probe = optarg; break;
		case 's': in->scheme = (enum ptx_scheme)word(optarg, schemes); break;
		case 'S': in->spaces = words(optarg, spaces); break;
		case 'o': in->ops = words(optarg, ops); break;
		case 'K': o->kernel = optarg; in->selects = selects; break;
		case 'b': sscanf(optarg, "%u:%u", &in->block_mask, &in->block_want); break;
		case 'w': sscanf(optarg, "%u:%u", &in->warp_mask, &in->warp_want); break;
		case 'g': in->groups = (unsigned)atoi(optarg); break;
		case 'l': in->limit = (unsigned)atoi(optarg); break;
		case 'm': in->max_sites = (unsigned)atoi(optarg); break;
		case 'c': in->call_above = (unsigned)atoi(optarg); break;
		case 'r': o->registers = read_all(optarg, &size); in->registers = registers; break;
		case 'L': o->list = true; break;
		case 'T': o->list = o->sites = true; break;
		case 'B': o->list = o->table = true; break;
		case 'v': o->verbose = true; break;
		default: exit(2);
		}
	if (argc - optind != (o->list ? 1 : 2) || (!o->probe && !o->list)) {
		fprintf(stderr, "usage: ptxrw --probe FILE.ptx [option...] IN OUT\n       ptxrw --list [option...] IN\n");
		exit(2);
	}
}

/* A line a site; returns the status. */
static int print_sites(const char *text, size_t size)
{
	struct sites sites;
	const char *why = sites_read(&sites, text, size);

	if (why)
		fprintf(stderr, "ptxrw: %s\n", why);
	for (unsigned i = 0; !why && i < sites.num; i++) {
		const struct site *s = &sites.site[i];

		printf("%u %s %s %s %s %u ", i, s->kernel, s->kind, s->space, s->op, s->bytes);
		if (s->file)
			printf("%s:%u", s->file, s->line);
		else
			printf("-");
		for (unsigned k = 0; k < s->num_locs; k++)
			printf("%c%u:%u", k ? ',' : ' ', s->locs[k].file, s->locs[k].line);
		puts(s->num_locs ? "" : " 0:0");
	}
	sites_free(&sites);
	return why != NULL;
}

int main(int argc, char **argv)
{
	static const char *const results[] = { "done", "no sites", "too many sites", "old", "linked", "not PTX" };
	struct options o = { 0 };
	struct instrument in = { .spaces = PTX_GLOBAL | PTX_GENERIC | PTX_READONLY | PTX_TEX,
				 .ops = PTX_LOAD | PTX_ATOMIC, .groups = 16, .limit = 8192, .ctx = &o };
	struct instrumented out;
	struct gpu_probe probe;
	struct timespec t0, t1;
	char *text, *probe_text = NULL;
	const char *why;
	size_t size, probe_size;
	int result;
	FILE *f;

	parse(argc, argv, &o, &in);
	if (o.probe) {
		probe_text = read_all(o.probe, &probe_size);
		why = gpu_probe_read(&probe, probe_text, probe_size);
		if (why) {
			fprintf(stderr, "ptxrw: %s: %s\n", o.probe, why);
			return 1;
		}
		in.probe = &probe;
	}
	text = read_all(argv[optind], &size);
	if (o.table) {
		result = print_sites(text, size);
		free(text);
		return result;
	}
	clock_gettime(CLOCK_MONOTONIC, &t0);
	result = o.list ? instrument_list(&out, text, size, &in) : instrument(&out, text, size, &in);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	if (o.verbose)
		fprintf(stderr, "%s: %u sites, %u kernels, %zu -> %zu bytes, %.6f s\n", results[result], out.sites, out.kernels,
			size, out.size, (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) * 1e-9);
	if (result == INSTRUMENT_DONE && o.sites) {
		print_sites(out.text, out.size);
	} else if (result == INSTRUMENT_DONE) {
		f = o.list ? stdout : fopen(argv[optind + 1], "w");
		if (!f || fwrite(out.text, 1, out.size, f) != out.size || (f != stdout && fclose(f))) {
			fprintf(stderr, "ptxrw: cannot write: %s\n", strerror(errno));
			return 1;
		}
	} else {
		fprintf(stderr, "ptxrw: %s: %s\n", argv[optind], results[result]);
	}
	free(out.text);
	free(text);
	free(probe_text);
	free(o.registers);
	return result == INSTRUMENT_DONE ? 0 : 3 + result;
}
