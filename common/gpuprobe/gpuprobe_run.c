/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "abi/gpu_variables.h"
#include "base/clock.h"
#include "base/die.h"
#include "gpuprobe/gpuprobe_run.h"
#include "gpuprobe/gpuprobe_view.h"
#include "proc/command.h"
#include "proc/installed.h"

/* More SMs would share a cache line with fewer groups; more groups take more of the GPU's memory for each module. */
enum { GROUPS = 16 };

/* Between two checks whether the command has ended, of which there is no notification. */
enum { POLL_MS = 20 };

/* Of the two seconds from a signal to the end: for what processes send when they end. */
enum { SIGNAL_MS = 1300 };

/* For what had been sent when the duration ended; a process may send without end. */
enum { LEFT_MS = 300 };

/* How long to wait for more once the command has ended; then processes that it left behind are cut off. */
enum { AFTER_MS = 100 };

static const unsigned long long NS_PER_MS = 1000000, LAST_NS = 2000000000;

/* Triton's variables for ptxas; the program beside the library that they get; the variable for Triton's own ptxas. */
static const struct {
	const char *triton, *file, *own;
} ptxas[] = {
	{ "TRITON_PTXAS_PATH", "cudagpuprobe-ptxas", GPUPROBE_PTXAS },
	{ "TRITON_PTXAS_BLACKWELL_PATH", "cudagpuprobe-ptxas-blackwell", GPUPROBE_PTXAS_BLACKWELL },
};

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

void gpuprobe_config(const struct gpuprobe *g, struct gpuprobe_config *config)
{
	unsigned long most = (GPUPROBE_FRAME_MAX - sizeof(struct gpuprobe_slots)) / sizeof(struct gpu_slot);

	if ((unsigned long)g->max_sites > most)
		usage_error("--max-sites: %ld are more than %lu", g->max_sites, most);
	if (g->period_ns / VALUE_MS > INT_MAX)
		usage_error("--period: at most %d s", INT_MAX / 1000);
	*config = (struct gpuprobe_config){
		.version = GPUPROBE_VERSION, .flags = g->keep_registers ? GPUPROBE_KEEP_REGISTERS : 0,
		.block_mask = mask("blocks", g->blocks), .warp_mask = mask("warps", g->warps),
		.groups = groups_for(g->max_sites), .max_sites = g->max_sites, .period_ms = g->period_ns / VALUE_MS,
	};
}

/* Splits at the commas, except for those of template arguments. */
char *gpuprobe_kernels(const struct gpuprobe *g, uint32_t *size)
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

const char *gpuprobe_frame(struct gpuprobe *g, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size)
{
	const char *wrong = gpuprobe_modules_frame(&g->modules, peer->id, peer->pid, kind, data, size);
	const struct gpuprobe_records *records = data;
	struct gpuprobe_module *module;

	if (wrong || kind != GPUPROBE_RECORDS || !g->records)
		return wrong;
	module = gpuprobe_modules_find(&g->modules, peer->id, records->module);
	if (!module)
		return NULL;
	g->records(g->ctx, module);
	gpuprobe_modules_forget(&g->modules, module);
	return NULL;
}

static const char *on_frame(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size)
{
	struct gpuprobe *g = ctx;

	return g->frame ? g->frame(g->ctx, peer, kind, data, size) : gpuprobe_frame(g, peer, kind, data, size);
}

char *gpuprobe_open(struct gpuprobe *g, uid_t user)
{
	struct gpuprobe_config config;
	const char *probe;
	char *kernels, *why;

	g->library = beside_find("", "libcudagpuprobe.so", "LD_PRELOAD", " :$", &why);
	if (!g->library)
		return why;
	g->peers.frame = on_frame;
	g->peers.ctx = g;
	g->peers.peers.user = user;
	gpuprobe_peers_open(&g->peers);
	gpuprobe_config(g, &config);
	probe = g->config(g->ctx, &config);
	kernels = gpuprobe_kernels(g, &config.kernels_size);
	gpuprobe_peers_config(&g->peers, &config, kernels, probe);
	free(kernels);
	return NULL;
}

static void set_ptxas(const char *library)
{
	for (size_t i = 0; i < sizeof(ptxas) / sizeof(*ptxas); i++) {
		char *file = xprintf("%.*s%s", (int)(strrchr(library, '/') + 1 - library), library, ptxas[i].file);

		command_setenv(ptxas[i].own, getenv(ptxas[i].triton));
		if (access(file, X_OK))
			warning(errno, "Triton's kernels are not measured: %s", file);
		else
			command_setenv(ptxas[i].triton, file);
		free(file);
	}
}

static void append(const char *name, const char *word)
{
	const char *others = getenv(name);
	char *all = others && *others ? xprintf("%s:%s", others, word) : xstrdup(word);

	command_setenv(name, all);
	free(all);
}

void gpuprobe_begin(const struct gpuprobe *g)
{
	/* libraries that wrap functions of CUDA go on to ours */
	append("LD_PRELOAD", g->library);
	/* else AddressSanitizer ends a program in which any library is before its own */
	append("ASAN_OPTIONS", "verify_asan_link_order=0");
	command_setenv(GPUPROBE_SOCKET, g->peers.peers.name);
	set_ptxas(g->library);
}

void gpuprobe_serve(struct gpuprobe *g)
{
	gpuprobe_peers_poll(&g->peers, POLL_MS);
}

void gpuprobe_signal(const struct gpuprobe *g, int pid, int sig)
{
	gpuprobe_peers_signal(&g->peers, sig, pid, command_signal(sig));
}

void gpuprobe_finish(struct gpuprobe *g, int pid, int sig)
{
	unsigned long long begun = clock_ns(), end = begun + LAST_NS;

	if (sig) {
		gpuprobe_signal(g, pid, sig);
		end = begun + SIGNAL_MS * NS_PER_MS;
	}
	while (clock_ns() < end) {
		bool ended = command_ended();

		if (!ended && !sig && clock_ns() > begun + LEFT_MS * NS_PER_MS)
			break;
		if (!gpuprobe_peers_poll(&g->peers, ended ? AFTER_MS : POLL_MS) && (ended || !sig))
			break;
		if (ended && !g->peers.peers.n)
			break;
	}
}

void gpuprobe_end(struct gpuprobe *g, bool verbose)
{
	gpuprobe_notes(&g->modules, g->peers.peers.n, verbose);
	gpuprobe_modules_free(&g->modules);
}

void gpuprobe_close(struct gpuprobe *g)
{
	gpuprobe_peers_close(&g->peers);
	free(g->library);
}
