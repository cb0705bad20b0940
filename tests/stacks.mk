# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Programs whose stacks cannot be walked by frame pointers, and what the Python workloads load.
# Included by the Makefile after tests/rules.mk; adds to TEST_FILES.

# as distributions and nvcc build: no frame pointers, unwind tables
S_CFLAGS := -iquote arch/$(ARCH) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -fomit-frame-pointer -fasynchronous-unwind-tables -MMD -MP \
	$(T_HEADERS) $(TEST_CFLAGS)
S_NOFP := $(T_DIR)/workloads/nofp.c $(T_DIR)/workloads/nofp_asm.S
S_WANTS := $(S_NOFP) $(T_DIR)/workloads/nofp.h $(wildcard arch/$(ARCH)/tests/*) $(T_DIR)/stacks.mk
S_SO = -shared -fPIC -Wl,-soname,$(@F)

TEST_FILES += $(addprefix $(T_LIB)/,libnofp.so libnofp-far.so libbare.so libmiddle.so) \
	$(addprefix $(T_BIN)/,nofp nofp-O3 nofp-stripped nofp-nohdr nofp-clang nofp-static nofp-static-pie embed) \
	$(if $(T_NVCC),$(T_BIN)/leaky-nvcc)

# $(1) the variant's suffix, $(2) compiler and flags
define s_nofp
$(T_BIN)/nofp$(1): $(S_WANTS) $(T_CUDART) $(T_LIBCUDA) | $(T_BIN)
	$$(Q)$(2) $(S_CFLAGS) -MF $(T_OBJ)/workloads/nofp$(1).d $(S_NOFP) $(T_CUDART) $$(T_RPATH) -pthread -ldl -o $$@
endef
$(eval $(call s_nofp,,$(CC) -O2 -Wl$(T_COMMA)-z$(T_COMMA)lazy))
$(eval $(call s_nofp,-O3,$(CC) -O3 -Wl$(T_COMMA)-z$(T_COMMA)now))
$(eval $(call s_nofp,-stripped,$(CC) -O2 -s))
# .eh_frame, and no table to search it by
$(eval $(call s_nofp,-nohdr,$(CC) -O2 -Wl$(T_COMMA)--no-eh-frame-hdr))
$(eval $(call s_nofp,-clang,$(CLANG) $(if $(CROSS),--target=$(TRIPLET) --sysroot=$(SYSROOT)) -O2 -fno-optimize-sibling-calls))

# its own cudaMalloc, and no dynamic linker
$(T_BIN)/nofp-static $(T_BIN)/nofp-static-pie: $(T_BIN)/nofp-%: $(S_WANTS) | $(T_BIN)
	$(Q)$(CC) -O2 $(S_CFLAGS) -DNOFP_STATIC -$* $(if $(filter %-pie,$*),-fPIE) -MF $(T_OBJ)/workloads/$(@F).d \
		$(S_NOFP) $(TEST_LDFLAGS) -pthread -o $@

$(T_LIB)/libnofp.so $(T_LIB)/libnofp-far.so: $(T_DIR)/workloads/nofp_lib.c | $(T_LIB)
	$(Q)$(CC) -O2 $(S_CFLAGS) $(if $(findstring far,$@),-DFAR=1000) $(S_SO) -MF $(T_OBJ)/workloads/$(@F).d $< $(TEST_LDFLAGS) -o $@

# nothing says how to unwind it
$(T_LIB)/libbare.so: $(T_DIR)/workloads/nofp_lib.c | $(T_LIB)
	$(Q)$(CC) -O2 $(S_CFLAGS) $(S_SO) -MF $(T_OBJ)/workloads/libbare.d -fno-asynchronous-unwind-tables \
		-fno-unwind-tables -nostartfiles -Wl,--no-eh-frame-hdr $< $(TEST_LDFLAGS) -o $@

$(T_LIB)/libmiddle.so: $(T_DIR)/workloads/python/middle.c $(T_CUDART) | $(T_LIB)
	$(Q)$(CC) -O2 $(S_CFLAGS) $(S_SO) -MF $(T_OBJ)/workloads/libmiddle.d $^ -Wl,-rpath,'$$ORIGIN' $(TEST_LDFLAGS) \
		-pthread -o $@

# what people build
$(T_BIN)/leaky-nvcc: $(T_DIR)/workloads/leaky.cu $(T_CUDART) | $(T_BIN) $(T_LIBCUDA)
	$(Q)$(T_NVCC) -O2 -std=c++17 -gencode arch=compute_75,code=compute_75 -cudart none \
		-Xcompiler -fomit-frame-pointer $< -Xlinker $(T_CUDART),-rpath,'$$ORIGIN/../lib' -o $@

$(T_BIN)/embed: $(T_DIR)/workloads/python/embed.c | $(T_BIN)
	$(Q)$(CC) -O2 $(S_CFLAGS) -MF $(T_OBJ)/workloads/embed.d $< $(TEST_LDFLAGS) -ldl -o $@
