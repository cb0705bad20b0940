/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A simulated libnvidia-ml.so.1.  SIM_NVML names a file, which each nvmlInit and nvmlDeviceGetCount reads:
 *
 * gpu UUID NAME TOTAL USED BUS MINOR	a GPU, in NVML's order
 * process GPU PID USED			it runs there; USED -1 is not known; may be there twice
 * client GPU PID USED			the same, of the multi-process service
 * mig GPU UUID				a part of it
 * use GPU PERCENT			how long kernels run on it; else not supported
 * init CODE				what nvmlInit returns
 * lost GPU				its handle cannot be had
 * hang					nvmlDeviceGetCount returns when the file says so no more
 * crash				… aborts
 *
 * Without SIM_NVML there is no driver.  Built with SIM_NVML_ONLY=1 or 3 it has that version's function for
 * processes alone; or else _v3's struct is that of driver 535.43. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SIM_NVML_ONLY
#define SIM_NVML_ONLY 0
#endif
#define EXPORTED __attribute__((visibility("default")))
enum { OK, INVALID = 2, NOT_SUPPORTED = 3, TOO_SMALL = 7, NO_DRIVER = 9, LOST = 15, MAX = 8192, GPUS = 80 };

struct gpu { char uuid[80], name[64]; unsigned long long total, used; unsigned bus, minor; int lost, nmigs; char migs[8][80]; unsigned percent; };	/* percent + 1; 0: unknown */
struct running { int gpu, pid, client; unsigned long long used; };

static struct gpu gpus[GPUS];
static struct running running[MAX];
static unsigned ngpus, nrunning;
static int init_result, hangs, crashes;

static void read_gpu_line(const char *line, struct gpu *known)
{
	struct gpu g = { 0 };
	char uuid[80];
	unsigned percent;
	int at;

	if (sscanf(line, "gpu %79s %63s %llu %llu %u %u", g.uuid, g.name, &g.total, &g.used, &g.bus, &g.minor) == 6 && ngpus < GPUS)
		gpus[ngpus++] = g;
	if (sscanf(line, "mig %d %79s", &at, uuid) == 2)
		strcpy(known[at].migs[known[at].nmigs++], uuid);
	if (sscanf(line, "use %d %u", &at, &percent) == 2)
		known[at].percent = percent + 1;
	if (sscanf(line, "lost %d", &at) == 1)
		known[at].lost = 1;
}

static void read_line(const char *line)
{
	struct running r = { 0 };

	read_gpu_line(line, gpus);
	r.client = !strncmp(line, "client", 6);
	if (nrunning < MAX && sscanf(line, "%*s %d %d %lld", &r.gpu, &r.pid, (long long *)&r.used) == 3 &&
	    (r.client || !strncmp(line, "process", 7)))
		running[nrunning++] = r;
	sscanf(line, "init %d", &init_result);
	hangs |= !strncmp(line, "hang", 4);
	crashes |= !strncmp(line, "crash", 5);
}

static void read_file(void)
{
	const char *name = getenv("SIM_NVML");
	FILE *f = name ? fopen(name, "re") : NULL;
	char line[512];

	ngpus = nrunning = hangs = crashes = 0;
	init_result = f ? OK : NO_DRIVER;
	while (f && fgets(line, sizeof(line), f))
		read_line(line);
	if (f)
		fclose(f);
}

EXPORTED int nvmlInit_v2(void)
{
	read_file();
	return init_result;
}

EXPORTED int nvmlShutdown(void)
{
	return OK;
}

EXPORTED const char *nvmlErrorString(int err)
{
	return err == NO_DRIVER ? "Driver Not Loaded" : err == 18 ? "Driver/library version mismatch" : "Unknown Error";
}

EXPORTED int nvmlDeviceGetCount_v2(unsigned *count)
{
	for (read_file(); hangs; read_file())
		usleep(10000);
	if (crashes)
		abort();
	*count = ngpus;
	return init_result;
}

EXPORTED int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **handle)
{
	if (i >= ngpus)
		return INVALID;
	*handle = &gpus[i];
	return gpus[i].lost ? LOST : OK;
}

/* The handle of a part is its UUID's place. */
static int is_gpu(const void *handle)
{
	return ((const char *)handle - (const char *)gpus) % sizeof(*gpus) == 0;
}

EXPORTED int nvmlDeviceGetUUID(void *handle, char *uuid, unsigned size)
{
	const char *text = is_gpu(handle) ? ((struct gpu *)handle)->uuid : handle;

	return (unsigned)snprintf(uuid, size, "%s", text) < size ? OK : TOO_SMALL;
}

EXPORTED int nvmlDeviceGetName(struct gpu *g, char *name, unsigned size)
{
	return (unsigned)snprintf(name, size, "%s", g->name) < size ? OK : TOO_SMALL;
}

EXPORTED int nvmlDeviceGetMemoryInfo(struct gpu *g, unsigned long long memory[3])
{
	if (!g->total)
		return NOT_SUPPORTED;
	memory[0] = g->total;
	memory[1] = g->total - g->used;
	memory[2] = g->used;
	return OK;
}

struct pci { char legacy[16]; unsigned domain, bus, device, id, subsystem; char text[32]; };

EXPORTED int nvmlDeviceGetPciInfo_v3(struct gpu *g, struct pci *pci)
{
	memset(pci, 0, sizeof(*pci));
	pci->bus = g->bus;
	snprintf(pci->text, sizeof(pci->text), "00000000:%02X:00.0", g->bus);
	return OK;
}

EXPORTED int nvmlDeviceGetUtilizationRates(struct gpu *g, unsigned use[2])
{
	if (!g->percent)
		return NOT_SUPPORTED;
	use[0] = g->percent - 1;
	use[1] = 0;
	return OK;
}

EXPORTED int nvmlDeviceGetMinorNumber(struct gpu *g, unsigned *minor)
{
	*minor = g->minor;
	return OK;
}

EXPORTED int nvmlDeviceGetMigMode(struct gpu *g, unsigned *now, unsigned *next)
{
	*now = *next = g->nmigs > 0;
	return OK;
}

EXPORTED int nvmlDeviceGetMigDeviceHandleByIndex(struct gpu *g, unsigned i, void **mig)
{
	if (i >= (unsigned)g->nmigs)
		return INVALID;
	*mig = g->migs[i];
	return OK;
}

/* Writes entries of size bytes, which begin as _v1's do; what follows is 0xff.. for a GPU that is not split. */
static int list(const struct gpu *g, int client, unsigned *count, char *entries, size_t size)
{
	unsigned n = 0;

	for (unsigned i = 0; i < nrunning; i++) {
		const struct running *r = &running[i];

		if (&gpus[r->gpu] != g || r->client != client)
			continue;
		if (n < *count) {
			memset(entries + n * size, 0xff, size);
			memcpy(entries + n * size, &r->pid, sizeof(r->pid));
			memcpy(entries + n * size + 8, &r->used, sizeof(r->used));
		}
		n++;
	}
	size = n <= *count ? OK : TOO_SMALL;
	*count = n;
	return size;
}

#if SIM_NVML_ONLY != 3
EXPORTED int nvmlDeviceGetComputeRunningProcesses(struct gpu *g, unsigned *count, char *entries)
{
	return list(g, 0, count, entries, 16);
}
#endif

#if !SIM_NVML_ONLY
EXPORTED int nvmlDeviceGetComputeRunningProcesses_v2(struct gpu *g, unsigned *count, char *entries)
{
	return list(g, 0, count, entries, 24);
}

EXPORTED int nvmlDeviceGetMPSComputeRunningProcesses_v2(struct gpu *g, unsigned *count, char *entries)
{
	return list(g, 1, count, entries, 24);
}
#endif

#if SIM_NVML_ONLY != 1
EXPORTED int nvmlDeviceGetComputeRunningProcesses_v3(struct gpu *g, unsigned *count, char *entries)
{
	return list(g, 0, count, entries, SIM_NVML_ONLY ? 24 : 32);
}
#endif
