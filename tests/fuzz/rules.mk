# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# make fuzz: runs each fuzzer for FUZZ_SECONDS, starting from what it found before.  Included by
# the Makefile, which has set O, Q, LIBS.
FUZZ_SECONDS ?= 60
FUZZERS := $(filter-out fuzz,$(basename $(notdir $(wildcard tests/fuzz/*.c))))
FUZZ_FLAGS := -g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all

fuzz: setup-fuzz
	@$(MAKE) --no-print-directory fuzz-built
	@O=$(abspath $(O)) FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run $(FUZZERS) tables

# the same sources, built again for the fuzzers
fuzz-built:
	@$(MAKE) --no-print-directory O=$(O)/fuzz CC=$(CLANG) MULTI=$(MULTI) CFLAGS="$(FUZZ_FLAGS)" \
		WARN="-Wall -Wextra -Wshadow" $(FUZZERS:%=$(O)/fuzz/fuzz-%)

# fuzzers of a tool's own parts, or of some of them
FUZZ_PARTS_cubin := $(O)/agent/gpuprobe/cubin.o
FUZZ_PARTS_ras := $(patsubst %,$(O)/tools/ncclhang/ras_%.o,answer json read text)
FUZZ_OWN_bt := cudabt
FUZZ_OWN_hang := ncclhang
FUZZ_OWN_identity := cudaexporter
FUZZ_OWN_kernel := cudaexporter
FUZZ_OWN_memory := cudaleak
FUZZ_OWN_web_accept := cudaexporter
FUZZ_OWN_web_config := cudaexporter

$(O)/fuzz-cfi: LDFLAGS += -Wl,--wrap=dwarf_cfi_addrframe
$(O)/fuzz-hang: LDFLAGS += $(addprefix -Wl$(T_COMMA)--wrap=,completion_of exit fopen \
	out_file_close_or_remove out_file_stream process_container rank_name_read)
$(O)/fuzz-shm: LDFLAGS += -pthread
$(O)/fuzz-opt: LDFLAGS += -Wl,--wrap=exit
$(O)/fuzz-pprof: LDFLAGS += $(addprefix -Wl$(T_COMMA)--wrap=,frame_build_id process_user stack_each)
$(O)/fuzz-launches: LDFLAGS += $(addprefix -Wl$(T_COMMA)--wrap=,bpf_map__max_entries \
	libbpf_num_possible_cpus bpf_mmap_elements bpf_munmap_elements bmap_next \
	bmap_lookup bmap_delete syms_function syms_variables vm_read_string vm_read_words)

$(FUZZERS:%=$(O)/fuzz-%): $(O)/fuzz-%: $(O)/tests/fuzz/%.o $(O)/tests/fuzz/fuzz.o \
		$$(if $$(FUZZ_OWN_$$*),$$(call own,$$(FUZZ_OWN_$$*))) $$(FUZZ_PARTS_$$*) $(T_ARCHIVES)
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer $(LDFLAGS) $^ $(T_LIBS) $(LIBS_$(FUZZ_OWN_$*)) -ljansson -o $@

.PHONY: fuzz fuzz-built setup-fuzz
