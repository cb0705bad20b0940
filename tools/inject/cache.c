/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "inject/cache.h"
#include "inject/fnv.h"

enum { TEXT_MAX = 1 << 30, CACHE_VERSION = 1 };

struct header {
	uint64_t version;
	struct cache_key key;
	uint64_t size, check;	/* of the text: its bytes, its hash */
	uint32_t hash, sites, kernels, spare;
};

static bool own_directory(const char *dir)
{
	struct stat st;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return false;
	return !lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022);
}

void cache_open(struct cache *cache, const struct inject_config *config, const char *payload, int driver_version)
{
	const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	struct inject_config same = *config;
	char dir[PATH_MAX - 64];
	int n;

	if (base && *base == '/')
		n = snprintf(dir, sizeof(dir), "%s", base);
	else
		n = snprintf(dir, sizeof(dir), "%s/.cache", home && *home == '/' ? home : "");
	if (n <= 0 || (size_t)n >= sizeof(dir) || *dir != '/')
		return;
	mkdir(dir, 0700);
	snprintf(cache->dir, sizeof(cache->dir), "%s/cuda-bpf-tools", dir);
	if (own_directory(cache->dir)) {
		strcat(cache->dir, "/inject");
		if (!own_directory(cache->dir))
			*cache->dir = 0;
	} else {
		*cache->dir = 0;
	}
	same.period_ms = 0;
	cache->options = fnv64(&same, sizeof(same));
	cache->options = fnv64_more(cache->options, payload, (size_t)config->kernels_size + config->probe_size);
	cache->options = fnv64_more(cache->options, &driver_version, sizeof(driver_version));
}

struct cache_key cache_key(const struct cache *cache, const char *text, size_t size, unsigned sm)
{
	return (struct cache_key){
		.text = { fnv64(text, size), fnv64_more(~FNV64_BEGIN, text, size) },
		.size = size, .options = fnv64_more(cache->options, &sm, sizeof(sm)),
	};
}

static void name_of(const struct cache *cache, const struct cache_key *key, char *name, size_t size)
{
	snprintf(name, size, "%s/%016llx%016llx", cache->dir, (unsigned long long)key->text[0],
		 (unsigned long long)key->options);
}

static bool read_all(int fd, void *p, size_t n)
{
	for (char *at = p; n;) {
		ssize_t got = read(fd, at, n);

		if (got <= 0)
			return false;
		at += got;
		n -= (size_t)got;
	}
	return true;
}

static bool write_all(int fd, const void *p, size_t n)
{
	for (const char *at = p; n;) {
		ssize_t put = write(fd, at, n);

		if (put <= 0)
			return false;
		at += put;
		n -= (size_t)put;
	}
	return true;
}

bool cache_get(const struct cache *cache, const struct cache_key *key, struct instrumented *out)
{
	char name[PATH_MAX + 64];
	struct header head;
	char *text = NULL;
	int fd;

	name_of(cache, key, name, sizeof(name));
	fd = *cache->dir ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	if (fd < 0)
		return false;
	if (read_all(fd, &head, sizeof(head)) && head.version == CACHE_VERSION && !memcmp(&head.key, key, sizeof(*key)) &&
	    head.size <= TEXT_MAX)
		text = malloc(head.size + 1);
	if (text && (!read_all(fd, text, head.size) || fnv64(text, head.size) != head.check)) {
		free(text);
		text = NULL;
	}
	close(fd);
	if (!text)
		return false;
	text[head.size] = 0;
	*out = (struct instrumented){ text, head.size, head.hash, head.sites, head.kernels };
	return true;
}

void cache_put(const struct cache *cache, const struct cache_key *key, const struct instrumented *what)
{
	struct header head = {
		CACHE_VERSION, *key, what->size, fnv64(what->text, what->size), what->hash, what->sites, what->kernels, 0,
	};
	char name[PATH_MAX + 64], temporary[PATH_MAX + 96];
	bool ok;
	int fd;

	name_of(cache, key, name, sizeof(name));
	snprintf(temporary, sizeof(temporary), "%s.%d.XXXXXX", name, (int)getpid());
	fd = *cache->dir ? mkostemp(temporary, O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	ok = write_all(fd, &head, sizeof(head)) && write_all(fd, what->text, what->size);
	if (close(fd) || !ok || rename(temporary, name))
		unlink(temporary);
}
