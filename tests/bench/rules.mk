# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# The programs that `make bench` measures with. Included by the Makefile after
# tests/rules.mk; gives BENCH_FILES.

B_O := $(O)/bench
BENCH_FILES := $(B_O)/probe $(B_O)/program
# tests/inject-steps.t has these, too
TEST_FILES += $(B_O)/caller $(B_O)/steps

$(B_O):
	$(Q)mkdir -p $@

$(B_O)/%.bpf.o: tests/bench/%.bpf.c | $(B_O)
	$(Q)$(CLANG) -g -O2 $(WARN) -Wno-unused-parameter -target bpf -D__TARGET_ARCH_x86 -iquote tests/bench \
		-idirafter /usr/include/$(MULTI) -MMD -MP -c $< -o $@

$(B_O)/%.skel.h: $(B_O)/%.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(B_O)/probe: tests/bench/probe.c $(B_O)/reference.skel.h $(B_O)/common.skel.h $(O)/libcommon.a $(DEFS)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) $(INC) -iquote tests/bench -iquote $(B_O) -MMD -MP $< $(O)/libcommon.a \
		$(LIBS) -o $@

# with frame pointers and no frame optimized away: stacks are as deep as the source says
$(B_O)/caller: tests/bench/caller.c | $(B_O)
	$(Q)$(CC) $(T_CFLAGS) -iquote tests/workloads $< -pthread -ldl -o $@

$(B_O)/steps: tests/bench/steps.c | $(B_O)
	$(Q)$(CC) $(T_CFLAGS) $< -o $@

$(B_O)/program: tests/bench/program.cpp | $(B_O)
	$(Q)$(CXX) -std=c++17 -O2 -Wall -Wextra -MMD -MP $< -ldl -o $@

-include $(wildcard $(B_O)/*.d)
