/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* gpuprobe-send <SCRIPT: what libcudagpuprobe.so sends to a tool that measures inside kernels (abi/agent_gpuprobe.h), or what it
 * never would.  A line each:
 *   config                      waits for the tool's configuration, and prints it
 *   hello VERSION COMM
 *   image STATUS SM KERNELS SITES FEWER [TEXT]
 *   module N HASH SITES GROUPS LIMIT DEVICE CONTEXT KHZ; the lines up to one with a dot are its table, where a space
 *                               is a tab, and ~ a space
 *   slot SITE GROUP VALUE COUNT     kept for:
 *   slots N SITES GROUPS
 *   record TIME VALUE SITE SMID WARP BLOCK GRID
 *   pair CYCLES NS SMID             kept for:
 *   records N LOST
 *   lost N COUNT [TEXT]
 *   frame KIND SIZE             only its head
 *   bytes COUNT                 zeros
 *   again COUNT                 sends the last frame so many times more
 *   pause MS, bye, exit STATUS
 * Standard output is the command's: what the tool's test compares.  */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "abi/agent_gpuprobe.h"
#include "abi/gpu_variables.h"

struct sender {
	int fd;
	char *frame;		/* the last one, with its head */
	size_t size;
	struct gpu_slot *slots;	/* [site * 16 + group] */
	struct gpu_record *records;
	size_t num_records;
};

enum { SITES = 4096, GROUPS = 16, TEXT = 1 << 20 };

static void fail(const char *what)
{
	perror(what);
	exit(9);
}

/* The tool may close the connection: what it says about that is looked at, and not what this program does. */
static void put(struct sender *s, const void *p, size_t n)
{
	while (n) {
		ssize_t sent = send(s->fd, p, n, MSG_NOSIGNAL);

		if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
			puts("closed");
			exit(0);
		}
		if (sent < 0)
			fail("send");
		p = (const char *)p + sent;
		n -= sent;
	}
}

static void frame(struct sender *s, uint32_t kind, const void *head, size_t head_size, const void *data, size_t size)
{
	const struct gpuprobe_frame f = { kind, head_size + size };

	s->size = sizeof(f) + f.size;
	s->frame = realloc(s->frame, s->size);
	memcpy(s->frame, &f, sizeof(f));
	if (head_size)
		memcpy(s->frame + sizeof(f), head, head_size);
	if (size)
		memcpy(s->frame + sizeof(f) + head_size, data, size);
	put(s, s->frame, s->size);
}

static void get(struct sender *s, void *p, size_t n)
{
	if (recv(s->fd, p, n, MSG_WAITALL) != (ssize_t)n)
		fail("recv");
}

static void config(struct sender *s)
{
	struct gpuprobe_config c;
	struct gpuprobe_frame f;
	char *rest;

	get(s, &f, sizeof(f));
	get(s, &c, sizeof(c));
	rest = calloc(1, f.size - sizeof(c) + 1);
	get(s, rest, f.size - sizeof(c));
	printf("config kind=%u version=%u flags=%u scheme=%u spaces=%u ops=%u blocks=%u,%u warps=%u,%u groups=%u "
	       "limit=%u sites=%u period=%u probe=%s kernels=", f.kind, c.version, c.flags, c.scheme, c.spaces, c.ops,
	       c.block_mask, c.block_want, c.warp_mask, c.warp_want, c.groups, c.limit, c.max_sites, c.period_ms,
	       strstr(rest + c.kernels_size, ".version") ? "PTX" : "none");
	for (size_t i = 0; i < c.kernels_size; i += strlen(rest + i) + 1)
		printf("[%s]", rest + i);
	putchar('\n');
	fflush(stdout);
	free(rest);
}

static char *table(void)
{
	char *text = calloc(1, TEXT), line[4096];
	size_t n = 0;

	while (fgets(line, sizeof(line), stdin) && strcmp(line, ".\n") && n + sizeof(line) < TEXT) {
		for (char *p = line; *p; p++)
			*p = *p == ' ' ? '\t' : *p == '~' ? ' ' : *p;
		n += sprintf(text + n, "%s", line);
	}
	return text;
}

static void slot(struct sender *s, unsigned site, unsigned group, unsigned value, unsigned long long count)
{
	struct gpu_slot *to = &s->slots[site * GROUPS + group];

	to->sum += value * count;
	to->max = value > to->max ? value : to->max;
	to->low = ~value > to->low ? ~value : to->low;
	to->hist[31 - __builtin_clz(value | 1)] += count;
}

static void slots(struct sender *s, unsigned module, unsigned sites, unsigned groups)
{
	const struct gpuprobe_slots head = { module, 0 };
	struct gpu_slot *all = calloc((size_t)sites * groups + 1, sizeof(*all));

	for (unsigned i = 0; i < sites && i < SITES; i++)
		for (unsigned g = 0; g < groups && g < GROUPS; g++)
			all[i * groups + g] = s->slots[i * GROUPS + g];
	frame(s, GPUPROBE_SLOTS, &head, sizeof(head), all, (size_t)sites * groups * sizeof(*all));
	free(all);
}

static void record(struct sender *s, const struct gpu_record *r)
{
	s->records = realloc(s->records, (s->num_records + 1) * sizeof(*r));
	s->records[s->num_records++] = *r;
}

static void line(struct sender *s, const char *l)
{
	unsigned long long n[8] = { 0 };
	char word[64] = "", text[1024] = "";
	struct gpu_record r;

	if (sscanf(l, "%63s", word) != 1 || *word == '#')
		return;
	if (!strcmp(word, "config")) {
		config(s);
	} else if (sscanf(l, "hello %llu %15s", n, text) == 2) {
		struct gpuprobe_hello h = { n[0], getpid(), getppid(), "" };

		memcpy(h.comm, text, sizeof(h.comm));
		frame(s, GPUPROBE_HELLO, &h, sizeof(h), NULL, 0);
	} else if (sscanf(l, "image %llu %llu %llu %llu %llu %1023[^\n]", n, n + 1, n + 2, n + 3, n + 4, text) >= 5) {
		struct gpuprobe_image i = { .status = n[0], .sm = n[1], .kernels = n[2], .sites = n[3],
			.fewer_warps = n[4], .text_size = strlen(text) };

		frame(s, GPUPROBE_IMAGE, &i, sizeof(i), text, strlen(text));
	} else if (sscanf(l, "module %llu %llu %llu %llu %llu %llu %llu %llu", n, n + 1, n + 2, n + 3, n + 4, n + 5,
			  n + 6, n + 7) == 8) {
		char *sites = table();
		struct gpuprobe_module_frame m = { n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], strlen(sites), 0 };

		frame(s, GPUPROBE_MODULE, &m, sizeof(m), sites, strlen(sites));
		free(sites);
	} else if (sscanf(l, "slot %llu %llu %llu %llu", n, n + 1, n + 2, n + 3) == 4) {
		slot(s, n[0] % SITES, n[1] % GROUPS, n[2], n[3]);
	} else if (sscanf(l, "slots %llu %llu %llu", n, n + 1, n + 2) == 3) {
		slots(s, n[0], n[1], n[2]);
	} else if (sscanf(l, "record %llu %llu %llu %llu %llu %llu %llu", n, n + 1, n + 2, n + 3, n + 4, n + 5,
			  n + 6) == 7) {
		r = (struct gpu_record){ n[0], n[1], n[2], n[3], n[4], n[5], n[6] };
		record(s, &r);
	} else if (sscanf(l, "pair %llu %llu %llu", n, n + 1, n + 2) == 3) {
		r = (struct gpu_record){ .time = n[0], .value = GPU_CLOCKS, .site = n[1], .smid = n[2],
					 .warp = n[1] >> 32 };
		record(s, &r);
	} else if (sscanf(l, "records %llu %llu", n, n + 1) == 2) {
		const struct gpuprobe_records head = { n[0], 0, n[1] };

		frame(s, GPUPROBE_RECORDS, &head, sizeof(head), s->records, s->num_records * sizeof(r));
		s->num_records = 0;
	} else if (sscanf(l, "lost %llu %llu %1023[^\n]", n, n + 1, text) >= 2) {
		const struct gpuprobe_lost head = { n[0], strlen(text), n[1] };

		frame(s, GPUPROBE_LOST, &head, sizeof(head), text, strlen(text));
	} else if (sscanf(l, "frame %llu %llu", n, n + 1) == 2) {
		const struct gpuprobe_frame f = { n[0], n[1] };

		put(s, &f, sizeof(f));
	} else if (sscanf(l, "bytes %llu", n) == 1) {
		static const char zeros[65536];

		for (unsigned long long left = n[0], k; left; left -= k)
			put(s, zeros, k = left < sizeof(zeros) ? left : sizeof(zeros));
	} else if (sscanf(l, "again %llu", n) == 1) {
		while (n[0]--)
			put(s, s->frame, s->size);
	} else if (sscanf(l, "pause %llu", n) == 1) {
		usleep(n[0] * 1000);
	} else if (!strcmp(word, "bye")) {
		frame(s, GPUPROBE_BYE, NULL, 0, NULL, 0);
	} else if (sscanf(l, "exit %llu", n) == 1) {
		exit(n[0]);
	} else {
		fprintf(stderr, "gpuprobe-send: %s", l);
		exit(2);
	}
}

int main(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *name = getenv(GPUPROBE_SOCKET);
	struct sender s = { .fd = socket(AF_UNIX, SOCK_STREAM, 0) };
	char text[4096];

	if (!name || strlen(name) >= sizeof(addr.sun_path) - 1)
		return 9;
	s.slots = calloc(SITES * GROUPS, sizeof(*s.slots));
	memcpy(addr.sun_path + 1, name, strlen(name));
	if (connect(s.fd, (void *)&addr, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)))
		fail("connect");
	while (fgets(text, sizeof(text), stdin))
		line(&s, text);
	return 0;
}
