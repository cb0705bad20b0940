/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <unistd.h>
#include "base/quota.h"
#include "gputime/gpu_calls.h"
#include "models.h"

enum { THREADS = 20011, SITES = 7, USER = 65534 };

/* Returns for how many the call and its site are found.  Each thread launches once, then ends. */
static unsigned threads(struct gpu_calls *c, const char sites[SITES])
{
	unsigned found = 0;

	for (int i = 1; i <= THREADS; i++) {
		const struct gpu_caller *call;

		gpu_calls_launched(c, &(struct gpu_launch){ .tid = i, .own_tid = i, .time = 10 * i, .site = &sites[i % SITES] });
		gpu_calls_called(c, i, 10 * i + 1, 10 * i + 2, i);
		call = gpu_calls_find(c, i);
		found += call && call->site == &sites[i % SITES] && call->tid == i;
	}
	return found;
}

void models_calls(void)
{
	static const char sites[SITES];
	struct quota quota = { .limit = 1 << 30, .what = "things", .loss = "there are no more" };
	struct gpu_calls *c = gpu_calls_new(getpid(), USER, &quota, true);

	printf("{\"what\":\"threads\",\"who\":\"one by one\",\"got\":%u}\n", threads(c, sites));
	gpu_calls_free(c);
	printf("{\"what\":\"memory\",\"who\":\"left\",\"got\":%zu}\n", quota.used);
	quota_free(&quota);
}
