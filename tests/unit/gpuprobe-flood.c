/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* gpuprobe-flood WHAT COUNT: sends a tool that measures inside kernels (abi/agent_gpuprobe.h) what takes the most memory there, and
 * waits until the tool has read it.  WHAT:
 *   files      modules whose tables name file 65535
 *   sites      modules with 1009 sites of kernels with names of their own, which demangle to 4 KiB
 *   modules    modules with one table, of which each process has 65536, and a record in each
 *   clocks     pairs of clocks of 65536 SMs, 32768 each time
 *   records    records, 32768 each time, in a module of their own
 *   launches   calls that launch kernels with names of 4096 bytes */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "abi/agent_gpuprobe.h"
#include "abi/gpu_variables.h"

enum { MANY = 32768, SITES = 1009, MODULES = 65536 };

struct flood {
	int fd;
	unsigned modules;	/* of this connection */
};

static void send_all(const struct flood *f, const void *p, size_t n)
{
	for (ssize_t sent; n; p = (const char *)p + sent, n -= sent) {
		sent = send(f->fd, p, n, MSG_NOSIGNAL);
		if (sent < 0) {
			puts("closed");
			exit(0);
		}
	}
}

static void frame(const struct flood *f, uint32_t kind, const void *head, size_t head_size, const void *data, size_t size)
{
	const struct gpuprobe_frame first = { kind, head_size + size };

	send_all(f, &first, sizeof(first));
	send_all(f, head, head_size);
	send_all(f, data, size);
}

static void begin(struct flood *f)
{
	const struct gpuprobe_hello hello = { GPUPROBE_VERSION, getpid(), getppid(), "flood" };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *name = getenv(GPUPROBE_SOCKET);
	size_t n = name ? strlen(name) : sizeof(addr.sun_path);

	f->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	f->modules = 0;
	if (n >= sizeof(addr.sun_path) - 1)
		exit(9);
	memcpy(addr.sun_path + 1, name, n);
	if (connect(f->fd, (void *)&addr, offsetof(struct sockaddr_un, sun_path) + 1 + n))
		exit(9);
	frame(f, GPUPROBE_HELLO, &hello, sizeof(hello), NULL, 0);
}

/* The tool shuts its side down once all was read. */
static void end(const struct flood *f)
{
	char rest[4096];

	frame(f, GPUPROBE_BYE, NULL, 0, NULL, 0);
	while (recv(f->fd, rest, sizeof(rest), 0) > 0)
		;
	close(f->fd);
}

static void module(struct flood *f, const char *table, unsigned sites, unsigned hash)
{
	const struct gpuprobe_module_frame m = { .module = ++f->modules, .hash = hash, .sites = sites, .groups = 1, .limit = 1,
					 .context = 1, .text_size = strlen(table) };

	frame(f, GPUPROBE_MODULE, &m, sizeof(m), table, strlen(table));
	if (f->modules == MODULES) {
		end(f);
		begin(f);
	}
}

static void records(const struct flood *f, unsigned number, unsigned n, unsigned value, unsigned sm)
{
	const struct gpuprobe_records head = { number, 0, 0 };
	static struct gpu_record r[MANY];

	for (unsigned i = 0; i < n; i++) {
		unsigned long long at = 1000000ull * (i + sm * 13);

		r[i] = (struct gpu_record){ .time = at, .value = value, .smid = (sm + i) % 65536 };
		if (value == GPU_CLOCKS) {
			r[i].site = at;
			r[i].warp = at >> 32;
		}
	}
	frame(f, GPUPROBE_RECORDS, &head, sizeof(head), r, n * sizeof(*r));
}

static void sites(struct flood *f, unsigned hash)
{
	char *table = malloc(SITES * 200), *p = table;
	struct gpuprobe_slots head = { 0 };
	static struct gpu_slot slot[SITES];

	for (unsigned i = 0; i < SITES; i++) {
		p += sprintf(p, "S\t%u\t0:0\t_Z9k%04x%04xI1aIS0_S0_ES1_IS1_S1_ES2_IS2_S2_ES3_IS3_S3_EEvv\tload\tglobal\tld\t4\n",
			     i, hash % 65536, i);
		slot[i].sum = slot[i].hist[0] = 1;
	}
	module(f, table, SITES, hash);
	head.module = f->modules;
	if (head.module)
		frame(f, GPUPROBE_SLOTS, &head, sizeof(head), slot, sizeof(slot));
	free(table);
}

static void launches(const struct flood *f, unsigned number)
{
	const struct gpuprobe_launch call = { .context = number, .name_size = 4096 };
	char name[4096];

	memset(name, 'k', sizeof(name));
	frame(f, GPUPROBE_LAUNCHES, &call, sizeof(call), name, sizeof(name));
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	unsigned n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	char table[64] = "S\t0\t0:0\tk\tload\tglobal\tld\t4\n";
	struct flood f;

	begin(&f);
	if (strcmp(what, "files") && strcmp(what, "sites"))
		module(&f, table, 1, 1);
	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(what, "files")) {
			snprintf(table, sizeof(table), "F\t65535\t\"%u\"\n", i);
			module(&f, table, 0, 1);
		} else if (!strcmp(what, "sites")) {
			sites(&f, i);
		} else if (!strcmp(what, "modules")) {
			module(&f, table, 1, 1);
			if (f.modules)
				records(&f, f.modules, 1, 1, 0);
		} else if (!strcmp(what, "clocks")) {
			records(&f, 1, MANY, GPU_CLOCKS, i * MANY);
		} else if (!strcmp(what, "records")) {
			module(&f, table, 1, 1);
			records(&f, f.modules, MANY, 1, 0);
		} else if (!strcmp(what, "launches")) {
			launches(&f, i);
		} else {
			return 2;
		}
	}
	end(&f);
	return 0;
}
