/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/quota.h"
#include "models.h"
#include "kernels/kernel_name.h"

enum { GREEDY = 65534, VICTIM = 65533, PID = 1009, MANY = 1000003 };

static void print(const char *what, const char *who, size_t n)
{
	printf("{\"what\":\"%s\",\"who\":\"%s\",\"got\":%zu}\n", what, who, n);
}

static size_t take(struct quota *q, unsigned user, size_t most)
{
	size_t n = 0;

	while (n < most && quota_take(q, user, PID, 1))
		n++;
	return n;
}

/* One user alone gets half, the next half of the rest; what is given back is there again. */
static void quota(void)
{
	struct quota q = { .limit = 1 << 20, .what = "things", .loss = "there are no more" };

	print("quota", "greedy", take(&q, GREEDY, MANY));
	print("quota", "next", take(&q, VICTIM, MANY));
	quota_give(&q, GREEDY, 1 << 19);
	quota_give(&q, VICTIM, 1 << 18);
	print("given back", "victim", take(&q, VICTIM, MANY));
	quota_free(&q);
}

static size_t name(struct kernel_names *names, unsigned user, int n)
{
	char text[64];
	size_t got = 0;

	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "kernel_%d_of_%u", i, user);
		got += !!kernel_get(kernel_named(names, user, PID, text));
	}
	return got;
}

static void kernel_names(void)
{
	struct kernel_names *names = kernel_names_new();

	print("names", "greedy", name(names, GREEDY, MANY));
	print("names", "victim", name(names, VICTIM, 1013));
	print("names known", "greedy", name(names, GREEDY, 1013));
	kernel_names_free(names);
}

void models_quota(void)
{
	quota();
	kernel_names();
}
