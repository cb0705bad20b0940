/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include "base/die.h"
#include "proc/helper_pool.h"
#include "proc/living.h"
#include "proc/vm_read.h"

/* BATCH: at most IOV_MAX */
enum { BATCH = 512, PAGE = 4096, WORD = 8 };

struct string_request {
	int pid;
	unsigned long long at;
	size_t size;
};

/* Reads by pages: the next one may be missing. */
static void read_string(struct helper_job *job)
{
	const struct string_request *r = job->in;
	unsigned long long at = r->at, end = r->at + r->size;
	const int tid = proc_living(r->pid);
	char page[PAGE];
	ssize_t n;

	while (at < end) {
		size_t want = PAGE - at % PAGE < end - at ? PAGE - at % PAGE : end - at;
		const struct iovec here = { page, want }, there = { (void *)(unsigned long)at, want };

		n = process_vm_readv(tid, &here, 1, &there, 1, 0);
		if (n <= 0)
			return;
		helper_put(job, page, strnlen(page, n));
		if (memchr(page, 0, n))
			break;
		at += n;
	}
	helper_put(job, "", 1);
}

bool vm_read_string(struct helper_pool *l, int pid, unsigned long long at, char *text, size_t size)
{
	const struct string_request r = { pid, at, size - 1 };
	struct helper_answer a;

	if (!l || helper_call(l, &(struct helper_request){
			pid, "memory", read_string, &r, sizeof(r), .fd = -1 }, &a))
		return false;
	/* without a terminator it could not be read to its end */
	*text = 0;
	if (a.size && !a.bytes[a.size - 1])
		memcpy(text, a.bytes, a.size);
	helper_drop(&a);
	return *text;
}

struct words_request {
	int pid;
	size_t n;
	unsigned long long at[];
};

static void read_words(struct helper_job *job)
{
	const struct words_request *r = job->in;
	const int tid = proc_living(r->pid);
	unsigned long long words[BATCH];
	struct iovec there[BATCH];

	for (size_t from = 0, n; from < r->n; from += n) {
		const struct iovec here = { words, sizeof(words) };
		ssize_t got;

		for (n = 0; n < BATCH && from + n < r->n; n++)
			there[n] = (struct iovec){ (void *)(unsigned long)r->at[from + n], WORD };
		memset(words, 0, sizeof(words));
		/* stops at the first one that cannot be read */
		got = process_vm_readv(tid, &here, 1, there, n, 0);
		got = got < 0 ? 0 : got / WORD;
		if ((size_t)got < n) {
			words[got] = 0;
			n = got + 1;
		}
		helper_put(job, words, n * WORD);
	}
}

int vm_read_words(struct helper_pool *l, int pid, const unsigned long long *at, size_t n,
		  unsigned long long *words)
{
	size_t size = sizeof(struct words_request) + n * sizeof(*at);
	struct words_request *r = xcalloc(1, size);
	struct helper_answer a;
	int err;

	r->pid = pid;
	r->n = n;
	memcpy(r->at, at, n * sizeof(*at));
	err = helper_call(l, &(struct helper_request){
			pid, "memory", read_words, r, size, .fd = -1 }, &a);
	free(r);
	if (err)
		return err;
	memcpy(words, a.bytes, n * WORD);
	helper_drop(&a);
	return 0;
}

bool vm_get(int pid, unsigned long long at, void *bytes, size_t size)
{
	const struct iovec here = { bytes, size }, there = { (void *)(unsigned long)at, size };

	return process_vm_readv(proc_living(pid), &here, 1, &there, 1, 0) == (ssize_t)size;
}

static void read_bytes(struct helper_job *job)
{
	const struct string_request *r = job->in;
	char *bytes = xcalloc(r->size, 1);

	if (vm_get(r->pid, r->at, bytes, r->size))
		helper_put(job, bytes, r->size);
	free(bytes);
}

/* By pages, as the kernel reads a part whole or not at all. */
static void read_some(struct helper_job *job)
{
	const struct string_request *r = job->in;
	unsigned long long at = r->at, end = r->at + r->size;
	char page[PAGE];

	while (at < end) {
		size_t want = PAGE - at % PAGE < end - at ? PAGE - at % PAGE : end - at;

		if (!vm_get(r->pid, at, page, want))
			return;
		helper_put(job, page, want);
		at += want;
	}
}

size_t vm_read_some(struct helper_pool *l, int pid, unsigned long long at, void *bytes, size_t size)
{
	const struct string_request r = { pid, at, size };
	struct helper_answer a;
	size_t n = 0;

	if (!l || at + size < at || helper_call(l, &(struct helper_request){
			pid, "memory", read_some, &r, sizeof(r), .fd = -1 }, &a))
		return 0;
	if (a.size <= size)
		n = a.size;
	memcpy(bytes, a.bytes, n);
	helper_drop(&a);
	return n;
}

void *vm_read_bytes(struct helper_pool *l, int pid, unsigned long long at, size_t size)
{
	const struct string_request r = { pid, at, size };
	struct helper_answer a;

	if (!l || !size || helper_call(l, &(struct helper_request){
			pid, "memory", read_bytes, &r, sizeof(r), .fd = -1 }, &a))
		return NULL;
	if (a.size == size)
		return a.bytes;
	helper_drop(&a);
	return NULL;
}

/* At address 0, where nothing is: EFAULT if reading is permitted. */
static void try_reading(struct helper_job *job)
{
	const int *pid = job->in, tid = proc_living(*pid);
	char byte;
	const struct iovec here = { &byte, 1 }, there = { NULL, 1 };

	if (process_vm_readv(tid, &here, 1, &there, 1, 0) < 0 &&
	    (errno == EPERM || errno == ENOSYS))
		helper_put(job, "", 1);
}

bool vm_read_forbidden(struct helper_pool *l, int pid)
{
	struct helper_answer a;
	bool forbidden;

	if (!l || helper_call(l, &(struct helper_request){
			pid, "memory", try_reading, &pid, sizeof(pid), .fd = -1 }, &a))
		return false;
	forbidden = a.size;
	helper_drop(&a);
	return forbidden;
}
