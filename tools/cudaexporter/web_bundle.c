/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/die.h"
#include "cudaexporter/web_bundle.h"

/* The struct without its pointers, then its strings in the order of strings():
 * each one's size, 0 for NULL, and its bytes with a '\0'. */

bool web_seal(int fd)
{
	return !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}

FILE *web_file_of(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy >= 0 ? fdopen(copy, "w") : NULL;
}

static void put(FILE *f, const char *s)
{
	size_t size = s ? strlen(s) + 1 : 0;

	fwrite(&size, sizeof(size), 1, f);
	fwrite(s ? s : "", size, 1, f);
}

int web_bundle_write(const struct web_bundle *b)
{
	int fd = memfd_create("cudaexporter-config", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	FILE *f = web_file_of(fd);
	struct web_bundle without = *b;

	if (!f)
		return -1;
	without.path = without.priority = without.cert = without.key = without.ca = NULL;
	without.users = NULL;
	fwrite(&without, sizeof(without), 1, f);
	put(f, b->path);
	put(f, b->priority);
	put(f, b->cert);
	put(f, b->key);
	put(f, b->ca);
	for (int i = 0; i < b->nusers; i++) {
		put(f, b->users[i].name);
		put(f, b->users[i].hash);
	}
	if (!fclose(f) && web_seal(fd))
		return fd;
	close(fd);
	return -1;
}

/* What is left to read. */
struct rest { char *at; size_t size; };

static bool take(struct rest *r, void *into, size_t size)
{
	if (size > r->size)
		return false;
	memcpy(into, r->at, size);
	r->at += size;
	r->size -= size;
	return true;
}

static bool get(struct rest *r, const char **s)
{
	size_t size;

	if (!take(r, &size, sizeof(size)) || size > r->size || (size && r->at[size - 1]))
		return false;
	*s = size ? r->at : NULL;
	r->at += size;
	r->size -= size;
	return true;
}

static bool strings(struct rest *r, struct web_bundle *b)
{
	if (!get(r, &b->path) || !get(r, &b->priority) || !get(r, &b->cert) || !get(r, &b->key) || !get(r, &b->ca))
		return false;
	b->users = xcalloc(b->nusers + 1, sizeof(*b->users));
	for (int i = 0; i < b->nusers; i++)
		if (!get(r, (const char **)&b->users[i].name) || !get(r, (const char **)&b->users[i].hash))
			return false;
	return true;
}

bool web_bundle_read(int fd, struct web_bundle *b)
{
	struct rest r;
	struct stat st;

	if (fstat(fd, &st))
		return false;
	r.size = st.st_size;
	r.at = mmap(NULL, r.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (r.at == MAP_FAILED)
		return false;
	if (take(&r, b, sizeof(*b)) && strings(&r, b))
		return true;
	errno = EINVAL;
	return false;
}
