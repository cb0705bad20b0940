/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* shm PART [FILE] - tests a part of common/shmmap: see shm.h; FILE is a BPF object.  shm bench measures it. */
#include <string.h>
#include <sys/mman.h>
#include "shmmap.h"

static const struct {
	const char *name;
	void (*test)(void);
} parts[] = {
	{ "view", test_view }, { "types", test_types }, { "threads", test_threads }, { "same", test_same }, { "storm", test_storm },
	{ "killed", test_killed }, { "signals", test_signals }, { "ring", test_ring }, { "writers", test_writers },
	{ "writers-killed", test_writers_killed }, { "bench", bench },
};

void shmmap_make(struct shmmap *s, const struct inject_map *maps, unsigned int lanes)
{
	struct inject_head head = { .version = INJECT_VERSION, .lanes = lanes, .functions_at = sizeof(head) };

	head.names_at = head.functions_at;
	head.threads_at = (sizeof(head) + INJECT_PAGE) / INJECT_PAGE * INJECT_PAGE;
	head.bytes = head.threads_at + INJECT_THREADS * sizeof(struct inject_thread);
	for (; maps->type; maps++) {
		struct shmmap_map m = {
			.type = maps->type, .key_size = maps->key_size, .value_size = maps->value_size,
			.max_entries = maps->max_entries,
		};
		struct inject_map *to = &head.map[head.maps++];

		*to = *maps;
		to->at = head.bytes;
		to->bytes = shmmap_map_layout(&m, lanes);
		CHECK(to->bytes);
		head.bytes += to->bytes;
	}
	s->base = mmap(NULL, head.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(s->base != MAP_FAILED);
	memcpy(s->base, &head, sizeof(head));
	CHECK(shmmap_view(s, s->base, s->base, head.bytes));
}

void shmmap_unmake(struct shmmap *s)
{
	munmap(s->base, s->bytes);
}

unsigned int draw(unsigned int *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "object")) {
		test_object(argv[2]);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "large")) {
		test_large(argv[2]);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "section")) {
		test_section(argv[2]);
		return 0;
	}
	for (size_t i = 0; argc == 2 && i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(argv[1], parts[i].name)) {
			parts[i].test();
			return 0;
		}
	return 2;
}
