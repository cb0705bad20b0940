/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* shm PART [FILE] - tests a part of common/shm: see shm.h; FILE is a BPF object.  shm bench measures it. */
#include <string.h>
#include <sys/mman.h>
#include "shm.h"

static const struct {
	const char *name;
	void (*test)(void);
} parts[] = {
	{ "view", test_view }, { "types", test_types }, { "threads", test_threads }, { "same", test_same }, { "storm", test_storm },
	{ "killed", test_killed }, { "signals", test_signals }, { "ring", test_ring }, { "writers", test_writers },
	{ "writers-killed", test_writers_killed }, { "bench", bench },
};

void shm_make(struct shm *s, const struct audit_map *maps, unsigned int lanes)
{
	struct audit_head head = { .version = AUDIT_VERSION, .lanes = lanes, .functions_at = sizeof(head) };

	head.names_at = head.functions_at;
	head.threads_at = (sizeof(head) + AUDIT_PAGE) / AUDIT_PAGE * AUDIT_PAGE;
	head.bytes = head.threads_at + AUDIT_THREADS * sizeof(struct audit_thread);
	for (; maps->type; maps++) {
		struct shm_map m = {
			.type = maps->type, .key_size = maps->key_size, .value_size = maps->value_size,
			.max_entries = maps->max_entries,
		};
		struct audit_map *to = &head.map[head.maps++];

		*to = *maps;
		to->at = head.bytes;
		to->bytes = shm_map_layout(&m, lanes);
		CHECK(to->bytes);
		head.bytes += to->bytes;
	}
	s->base = mmap(NULL, head.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(s->base != MAP_FAILED);
	memcpy(s->base, &head, sizeof(head));
	CHECK(shm_view(s, s->base, s->base, head.bytes));
}

void shm_unmake(struct shm *s)
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
