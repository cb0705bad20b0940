/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "probe/cpu_samples.h"

bool cpu_samples_can(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, grows, .map_flags = BPF_F_NO_PREALLOC);
	const int map = bpf_map_create(BPF_MAP_TYPE_HASH, NULL, 4, 4, 1, &grows);
	const struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map }, { 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 }, { .code = BPF_JMP | BPF_EXIT },
	};
	int prog = -1;

	if (map >= 0)
		prog = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "GPL", insns, sizeof(insns) / sizeof(*insns), NULL);
	if (map >= 0)
		close(map);
	if (prog >= 0)
		close(prog);
	return prog >= 0;
}

static int open_event(int cpu, unsigned long long ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = ns, .exclude_idle = 1,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int cpu_samples_begin(struct cpu_samples *s, const struct bpf_program *program, unsigned long long ns)
{
	const int cpus = libbpf_num_possible_cpus();
	int err = 0;

	s->links = xcalloc(cpus > 0 ? cpus : 1, sizeof(*s->links));
	for (int cpu = 0; cpu < cpus; cpu++) {
		const int fd = open_event(cpu, ns);
		struct bpf_link *link = fd >= 0 ? bpf_program__attach_perf_event(program, fd) : NULL;

		err = link || errno == ENODEV /* offline */ ? err : errno;
		if (link)
			s->links[s->n++] = link;
		else if (fd >= 0)
			close(fd);
	}
	return err;
}

void cpu_samples_end(struct cpu_samples *s)
{
	for (int i = 0; i < s->n; i++)
		bpf_link__destroy(s->links[i]);
	free(s->links);
	*s = (struct cpu_samples){ 0 };
}
