/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the reader makes of common/api/cuda_protos.tbl and nccl_protos.tbl:
 *   dump proto NAME [VERSION]   the function's group, versions, result; a line a parameter
 *   dump name TYPE NUMBER       dump value NAME
 *   dump lost                   how many functions cuda_proto_find() does not find */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/cuda_protos.h"

static const char *kinds[] = { "none", "int", "uint", "float", "enum", "handle", "ptr", "str",
			       "fn", "dim3", "struct" };
static const char *groups[] = {
#define X(name) #name,
	CUDA_GROUPS(X)
};

static void print_param(const struct cuda_param *p)
{
	printf("%d %s: %s %s/%d%s", p->place, p->name, p->value.type, kinds[p->value.kind],
	       p->value.size, p->out ? " out" : "");
	if (p->to.kind != CUDA_KIND_NONE)
		printf(" to %s %s/%d", p->to.type, kinds[p->to.kind], p->to.size);
	putchar('\n');
}

static int proto(const char *name, int version)
{
	int id = cuda_proto_find(name);
	const struct cuda_proto *p = id < 0 ? NULL : cuda_proto_in(id, version);

	if (!p)
		return puts("not found"), 1;
	printf("%s %s %s %d-%d %s %s/%d\n", p->lib == CUDA_RT ? "rt" : p->lib == CUDA_DRV ? "drv" : p->lib == CUDA_NCCL ? "nccl" : "nvrtc", groups[p->group], p->name,
	       p->since, p->until, p->result.type, kinds[p->result.kind], p->result.size);
	for (int i = 0; i < p->nparams; i++)
		print_param(&p->params[i]);
	return 0;
}

static int lost(void)
{
	int n = 0;

	for (int i = 0; i < cuda_protos_n; i++)
		n += cuda_proto_find(cuda_protos[i].name) != i;
	printf("%d\n", n);
	return n;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "", *name;
	const struct cuda_enum *e;
	long long value;

	if (argc >= 3 && !strcmp(word, "proto"))
		return proto(argv[2], argc > 3 ? atoi(argv[3]) : 1 << 30);
	if (argc == 4 && !strcmp(word, "name")) {
		e = cuda_enum_find(argv[2]);
		name = e ? cuda_enum_name(e, atoll(argv[3])) : "no such type";
		return puts(name ? name : "no name"), 0;
	}
	if (argc == 3 && !strcmp(word, "value")) {
		if (cuda_enumerator_find(argv[2], &value))
			return printf("%lld\n", value), 0;
		return puts("no value"), 0;
	}
	if (!strcmp(word, "lost"))
		return lost();
	return 2;
}
