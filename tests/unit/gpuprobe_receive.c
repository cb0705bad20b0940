/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A tool that only prints what libcudagpuprobe.so tells it:
 *   gpuprobe-receive [OPTION...] PROBE.ptx TO COMMAND...
 * runs the command with the library, writes a line for each frame and what is in it to the file TO, and exits as the
 * command does.
 *   -K GLOB    kernels; several times       -m N  --max-sites       -p MS  between two readings
 *   -l LIMIT   records of a group           -g N  groups            -f N   sum of enum gpuprobe_flags
 *   -c N       close the connection after N frames (a tool that is killed)
 *   -w MS      wait before each frame is read (a slow one)
 *   -r         a line for each record        -v N  another version   -b N  N bytes more than there are */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi/agent_gpuprobe.h"
#include "abi/gpu_variables.h"
#include "base/die.h"
#include "ptx/instrument.h"

enum { PEERS = 64 };

struct peer {
	int fd;
	int frames;
	uint32_t groups[256];	/* by module */
};

struct receiver {
	struct gpuprobe_config config;
	uint32_t more;
	char globs[1024], *probe;
	struct peer peers[PEERS];
	int num_peers, close_after, wait_ms;
	int listening;
	bool each_record;
	FILE *to;
};

static const char *const status_names[] = { "done", "no-sites", "no-ptx", "newer", "too-many", "old", "linked", "bad", "there" };

static char *text_read(const char *name, uint32_t *size)
{
	FILE *f = fopen(name, "r");
	char *p = NULL;
	size_t room = 0;
	ssize_t n = f ? getdelim(&p, &room, 0, f) : -1;

	if (n < 0)
		die(errno, "%s", name);
	fclose(f);
	*size = (uint32_t)n;
	return p;
}

static bool receive(int fd, void *p, size_t n)
{
	return !n || recv(fd, p, n, MSG_WAITALL) == (ssize_t)n;
}

/* All lines of text, each after a word. */
static void print_lines(FILE *to, const char *word, const char *text, size_t size)
{
	const char *end = text + strnlen(text, size);

	while (text < end) {
		size_t n = strcspn(text, "\n");

		fprintf(to, "%s %.*s\n", word, (int)n, text);
		text += n + 1;
	}
}

static void print_slots(FILE *to, struct peer *peer, const struct gpuprobe_slots *head, const struct gpu_slot *slot, size_t n)
{
	uint32_t groups = peer->groups[head->module % 256];

	for (size_t site = 0; groups && site < n / groups; site++) {
		unsigned long long count = 0, sum = 0;
		unsigned max = 0;

		for (uint32_t g = 0; g < groups; g++, slot++) {
			for (int b = 0; b < GPU_BUCKETS; b++)
				count += slot->hist[b];
			sum += slot->sum;
			max = slot->max > max ? slot->max : max;
		}
		fprintf(to, "slots %u site %zu count %llu sum %llu max %u\n", head->module, site, count, sum, max);
	}
}

static void print_records(const struct receiver *r, const struct gpuprobe_records *head, const struct gpu_record *rec, size_t n)
{
	fprintf(r->to, "records %u n %zu lost %llu\n", head->module, n, (unsigned long long)head->lost);
	for (; r->each_record && n--; rec++)
		fprintf(r->to, "record %u time %llu value %u site %u smid %u warp %u block %u grid %u\n", head->module,
			rec->time, rec->value, rec->site, rec->smid, rec->warp, rec->block, rec->grid);
}

static void print_frame(const struct receiver *r, struct peer *peer, const struct gpuprobe_frame *head, const char *body)
{
	const struct gpuprobe_image *image = (const void *)body;
	const struct gpuprobe_module_frame *module = (const void *)body;
	const struct gpuprobe_hello *hello = (const void *)body;
	const struct gpuprobe_lost *lost = (const void *)body;
	const struct gpuprobe_launch *launch = (const void *)body;
	FILE *to = r->to;

	switch (head->kind) {
	case GPUPROBE_HELLO:
		fprintf(to, "hello %u pid %d comm %s\n", hello->version, hello->pid, hello->comm);
		break;
	case GPUPROBE_IMAGE:
		fprintf(to, "image %s sm_%u kernels %u sites %u fewer %u larger %d\n", status_names[image->status], image->sm,
			image->kernels, image->sites, image->fewer_warps, image->rewritten > image->size);
		print_lines(to, "why", (const char *)(image + 1), image->text_size);
		break;
	case GPUPROBE_MODULE:
		fprintf(to, "module %u hash %08x sites %u groups %u limit %u device %d context %u\n", module->module,
			module->hash, module->sites, module->groups, module->limit, module->device, module->context);
		peer->groups[module->module % 256] = module->groups;
		print_lines(to, "site", (const char *)(module + 1), module->text_size);
		break;
	case GPUPROBE_SLOTS:
		print_slots(to, peer, (const void *)body, (const void *)(body + sizeof(struct gpuprobe_slots)),
			    (head->size - sizeof(struct gpuprobe_slots)) / sizeof(struct gpu_slot));
		break;
	case GPUPROBE_RECORDS:
		print_records(r, (const void *)body, (const void *)(body + sizeof(struct gpuprobe_records)),
			      (head->size - sizeof(struct gpuprobe_records)) / sizeof(struct gpu_record));
		break;
	case GPUPROBE_LOST:
		fprintf(to, "lost %u count %llu %.*s\n", lost->module, (unsigned long long)lost->count, (int)lost->text_size,
			(const char *)(lost + 1));
		break;
	case GPUPROBE_LAUNCHES:
		fprintf(to, "launch context %u frames %d %.*s\n", launch->context, launch->frames > 0, (int)launch->name_size,
			(const char *)(launch + 1) + launch->frames * sizeof(uint64_t));
		break;
	case GPUPROBE_WARNING:
		fprintf(to, "warning %.*s\n", (int)head->size, body);
		break;
	case GPUPROBE_BYE:
		fprintf(to, "bye\n");
		break;
	default:
		fprintf(to, "unknown frame %u\n", head->kind);
	}
	fflush(to);
}

/* Returns false at the end of a connection. */
static bool take_frame(struct receiver *r, struct peer *peer)
{
	struct gpuprobe_frame head;
	char *body;
	bool ok;

	usleep((useconds_t)r->wait_ms * 1000);
	if (!receive(peer->fd, &head, sizeof(head)) || head.size > GPUPROBE_FRAME_MAX)
		return false;
	body = calloc(1, head.size + 256);
	ok = receive(peer->fd, body, head.size);
	if (ok)
		print_frame(r, peer, &head, body);
	else
		fprintf(r->to, "half a frame\n");
	free(body);
	return ok && (!r->close_after || ++peer->frames < r->close_after);
}

static void configure(struct receiver *r, int fd)
{
	struct gpuprobe_frame head = { GPUPROBE_CONFIG, sizeof(r->config) + r->config.kernels_size + r->config.probe_size + r->more };

	if (send(fd, &head, sizeof(head), MSG_NOSIGNAL) < 0 || send(fd, &r->config, sizeof(r->config), MSG_NOSIGNAL) < 0 ||
	    send(fd, r->globs, r->config.kernels_size, MSG_NOSIGNAL) < 0 || send(fd, r->probe, r->config.probe_size, MSG_NOSIGNAL) < 0)
		fprintf(r->to, "not configured\n");
}

static void serve(struct receiver *r, pid_t child, int *status)
{
	struct pollfd fds[PEERS + 1];
	bool running = true;

	while (running || r->num_peers) {
		fds[0] = (struct pollfd){ r->listening, POLLIN, 0 };
		for (int i = 0; i < r->num_peers; i++)
			fds[i + 1] = (struct pollfd){ r->peers[i].fd, POLLIN, 0 };
		poll(fds, (nfds_t)r->num_peers + 1, 20);
		for (int i = r->num_peers; i-- > 0;)
			if (fds[i + 1].revents && !take_frame(r, &r->peers[i])) {
				close(r->peers[i].fd);
				fprintf(r->to, "end\n");
				r->peers[i] = r->peers[--r->num_peers];
			}
		if (fds[0].revents && r->num_peers < PEERS) {
			struct peer *peer = &r->peers[r->num_peers++];

			*peer = (struct peer){ .fd = accept4(r->listening, NULL, NULL, SOCK_CLOEXEC) };
			configure(r, peer->fd);
		}
		if (running && waitpid(child, status, WNOHANG) == child)
			running = false;
	}
}

static void listen_at(struct receiver *r, const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	strcpy(at.sun_path + 1, name);
	r->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(r->listening, (void *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) ||
	    listen(r->listening, 64))
		die(errno, "listen");
}

static pid_t start(char **command, const char *name)
{
	pid_t child = fork();
	char library[4096];

	if (child)
		return child;
	snprintf(library, sizeof(library), "%s/libcudagpuprobe.so", getenv("O"));
	setenv("LD_PRELOAD", library, 1);
	setenv(GPUPROBE_SOCKET, name, 1);
	execvp(command[0], command);
	die(errno, "%s", command[0]);
}

static void options(struct receiver *r, int argc, char **argv)
{
	struct gpuprobe_config *c = &r->config;
	int o;

	while ((o = getopt(argc, argv, "+K:m:p:l:g:f:c:w:rv:b:")) > 0)
		switch (o) {
		case 'K':
			strcpy(r->globs + c->kernels_size, optarg);
			c->kernels_size += (uint32_t)strlen(optarg) + 1;
			break;
		case 'm': c->max_sites = (uint32_t)atoi(optarg); break;
		case 'p': c->period_ms = (uint32_t)atoi(optarg); break;
		case 'l': c->limit = (uint32_t)atoi(optarg); break;
		case 'g': c->groups = (uint32_t)atoi(optarg); break;
		case 'f': c->flags = (uint32_t)atoi(optarg); break;
		case 'c': r->close_after = atoi(optarg); break;
		case 'w': r->wait_ms = atoi(optarg); break;
		case 'r': r->each_record = true; break;
		case 'v': c->version = (uint32_t)atoi(optarg); break;
		case 'b': r->more = (uint32_t)atoi(optarg); break;
		default: die(0, "see tests/unit/gpuprobe_receive.c");
		}
	if (argc - optind < 3)
		die(0, "see tests/unit/gpuprobe_receive.c");
}

int main(int argc, char **argv)
{
	static struct receiver r = {
		.config = { .version = GPUPROBE_VERSION, .scheme = PTX_DEP, .groups = 4, .max_sites = 1000, .period_ms = 100,
			    .spaces = PTX_GLOBAL | PTX_GENERIC | PTX_READONLY | PTX_TEX, .ops = PTX_LOAD | PTX_ATOMIC },
	};
	int status = 0;
	char name[64];

	options(&r, argc, argv);
	r.probe = text_read(argv[optind], &r.config.probe_size);
	r.to = fopen(argv[optind + 1], "we");
	if (!r.to)
		die(errno, "%s", argv[optind + 1]);
	snprintf(name, sizeof(name), "cuda-bpf-tools-test-%d", (int)getpid());
	listen_at(&r, name);
	serve(&r, start(argv + optind + 2, name), &status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
