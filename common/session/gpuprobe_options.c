/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <string.h>
#include "abi/gpu.h"
#include "base/die.h"
#include "session/gpuprobe_options.h"

/* More SMs would share a line of memory with fewer; and what a module takes of the GPU's memory. */
enum { GROUPS = 16 };

char *gpuprobe_options_command(struct gpuprobe_options *g, char **argv)
{
	char *text = xstrdup(*argv);

	if (g->command)
		usage_error("--command and -- %s are mutually exclusive", *argv);
	for (g->argv = argv; *++argv; ) {
		char *longer = xprintf("%s %s", text, *argv);

		free(text);
		text = longer;
	}
	g->command = text;
	return text;
}

/* "1/N": returns N - 1. */
static uint32_t mask(const char *option, const char *text)
{
	long n;

	if (!text)
		return 0;
	if (strncmp(text, "1/", 2) || !value_number(text + 2, &n) || n < 1 || n > INT_MAX || n & (n - 1))
		usage_error("--%s: '%s' is not 1/N with N a power of two", option, text);
	return n - 1;
}

static uint32_t groups_for(unsigned long sites)
{
	uint32_t groups = GROUPS;
	size_t room = GPUPROBE_FRAME_MAX - sizeof(struct gpuprobe_slots);

	while (groups > 1 && sites > room / sizeof(struct gpu_slot) / groups)
		groups /= 2;
	return groups;
}

void gpuprobe_options_config(const struct gpuprobe_options *g, struct gpuprobe_config *config)
{
	unsigned long most = (GPUPROBE_FRAME_MAX - sizeof(struct gpuprobe_slots)) / sizeof(struct gpu_slot);

	if ((unsigned long)g->max_sites > most)
		usage_error("--max-sites: %ld are more than %lu", g->max_sites, most);
	if (g->period_ns / VALUE_MS > INT_MAX)
		usage_error("--period: at most %d s", INT_MAX / 1000);
	config->version = GPUPROBE_VERSION;
	config->flags |= g->keep_registers ? GPUPROBE_KEEP_REGISTERS : 0;
	config->block_mask = mask("blocks", g->blocks);
	config->warp_mask = mask("warps", g->warps);
	config->groups = groups_for(g->max_sites);
	config->max_sites = g->max_sites;
	config->period_ms = g->period_ns / VALUE_MS;
}

/* Splits at the commas, but for those of template arguments. */
char *gpuprobe_options_kernels(const struct gpuprobe_options *g, uint32_t *size)
{
	char *globs = xstrdup(g->kernels ?: ""), *begin = globs;
	int depth = 0;

	*size = g->kernels ? strlen(globs) + 1 : 0;
	for (char *p = globs; *size; p++) {
		depth += (*p == '<' || *p == '(') - (depth && (*p == '>' || *p == ')'));
		if (*p && (*p != ',' || depth))
			continue;
		if (p == begin)
			usage_error("--kernels: a name must not be empty");
		begin = p + 1;
		if (!*p)
			break;
		*p = '\0';
	}
	return globs;
}
