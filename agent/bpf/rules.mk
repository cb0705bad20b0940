# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# $(O)/inject/TOOL.so: a tool's BPF programs ($(call bpf,TOOL)), compiled for the machine they run on (agent/bpf), with what
# calls them (agent/inject) and their maps (common/shmmap).  It is loaded into all kinds of programs, and needs no library.

# no vector register is ever changed; what is not exported cannot be replaced; no function of libgcc is there
INJECT_CC   := -std=gnu11 -O2 -ffreestanding -fPIC -fvisibility=hidden -ftls-model=initial-exec -mgeneral-regs-only \
	-fno-stack-protector -fno-strict-aliasing -fasynchronous-unwind-tables $(BRANCH_PROTECTION) $(NO_LIBGCC) $(WARN) -Wno-unused-parameter -Wno-unknown-pragmas -Wno-redundant-decls
INJECT_INC  := -iquote common -iquote bpf -iquote arch/$(ARCH) -iquote $(O) -iquote .
INJECT_SRC  := $(wildcard agent/bpf/*.c agent/inject/*.c $(addprefix arch/$(ARCH)/inject/*,.c .S)) \
	$(wildcard $(patsubst %,common/shmmap/%.c,hash ring threads view))
INJECT_O    := $(patsubst %,$(O)/inject/%.o,$(INJECT_SRC))
INJECT_BPF  := $(sort $(foreach t,$(INJECTED),$(call bpf,$t)))
INJECT_GEN  := $(foreach s,s tables.c ld,$(INJECT_BPF:%=$(O)/inject/%.$s))

skeletons: $(INJECT_GEN)

$(sort $(INJECT_O) $(patsubst %,$(O)/inject/%.o,$(wildcard agent/resident/*.c))): $(O)/inject/%.o: %
	@echo "  INJECT $<"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(INJECT_CC) $(filter -g% -ffile-prefix-map=%,$(CFLAGS)) $(INJECT_INC) -MMD -MP -c $< -o $@

# the tarball of make dist has these, too
ifneq ($(and $(wildcard skel/$(ARCH)),$(if $(call has,$(CLANG)),,none)),)
$(INJECT_GEN): $(O)/inject/%: skel/$(ARCH)/inject/% $(wildcard bpf/*.bpf.c bpf/*/*.h common/abi/* common/api/*)
	$(Q)mkdir -p $(@D)
	@f=$$(find $^ -newer $<); [ -z "$$f" ] || { echo $$f: newer than $<: install clang >&2; exit 1; }
	$(Q)cp $< $@
else
$(O)/inject/%.s: bpf/%.bpf.c $(DEFS)
	@echo "  INJECT $<"
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) --target=$(TRIPLET) $(INJECT_CC) -fdata-sections -fno-addrsig -fno-verbose-asm $(CLANG_INC) $(INJECT_INC) \
		-ffile-prefix-map="$(CURDIR)"=. -MMD -MP -MF $@.d -MT $@ -S $< -o $@

$(O)/inject/%.tables.c: $(O)/%.bpf.o scripts/gen_inject
	$(Q)mkdir -p $(@D)
	$(Q)scripts/gen_inject tables $< $(LARGEST_PAGE) > $@

$(O)/inject/%.ld: $(O)/%.bpf.o scripts/gen_inject
	$(Q)mkdir -p $(@D)
	$(Q)scripts/gen_inject script $* $< $(LARGEST_PAGE) > $@
endif

$(INJECT_BPF:%=$(O)/inject/%.programs.o): $(O)/inject/%.programs.o: $(O)/inject/%.s
	$(Q)$(CC) -c $< -o $@

# a program may have the libraries of several tools with the same programs: each finds its own tool, and has its own maps
$(INJECTED:%=$(O)/inject/%.tables.o): $(O)/inject/%.tables.o: $(O)/inject/$$(call bpf,$$*).tables.c $(wildcard agent/bpf/*.h agent/inject/*.h)
	$(Q)$(CC) $(INJECT_CC) $(INJECT_INC) -DINJECT_NAME='"$*"' -c $< -o $@

# checked where the BPF object is: its maps are mapped over the library's sections
$(INJECT): $(O)/inject/%.so: $(O)/inject/%.tables.o $(foreach s,programs.o ld,$(O)/inject/$$(call bpf,$$*).$s) $(INJECT_O)
	@echo "  SO    inject/$(@F)"
	$(Q)$(CC) -shared -nostdlib -Wl,-soname,$(@F) -Wl,--build-id -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,text -Wl,-z,relro -Wl,-z,now \
		-Wl,-z,noexecstack $(LDFLAGS) $(filter %.o,$^) -Wl,-T,$(filter %.ld,$^) -o $@
	$(Q)b=$(call bpf,$*); [ ! -e $(O)/$$b.bpf.o ] || scripts/gen_inject check $(O)/$$b.bpf.o $(O)/inject/$$b.programs.o $@ $(LARGEST_PAGE)

# $(O)/inject/resident.so: the stubs alone, for programs that no tool has started (agent/resident)
RESIDENT_O  := $(patsubst %,$(O)/inject/%.o,$(wildcard agent/resident/*.c) \
	$(patsubst %,agent/inject/%.c,bytes environ object peer static_tls stubs) \
	arch/$(ARCH)/inject/stub.S)
$(O)/resident_names.def: $(DEFS) scripts/gen_resident | $(O)
	$(Q)scripts/gen_resident $(O)/cuda_api.def $(O)/cuda_protos.def > $@
$(O)/inject/agent/resident/make.c.o: $(O)/resident_names.def

$(RESIDENT): $(RESIDENT_O)
	@echo "  SO    inject/$(@F)"
	$(Q)$(CC) -shared -nostdlib -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,text -Wl,-z,relro -Wl,-z,now \
		-Wl,-z,noexecstack $(LDFLAGS) $^ -o $@

# tests/unit/inject_bpf.c runs them itself
T_INJECT_BPF := $(filter $(O)/inject/agent/bpf/%,$(INJECT_O)) $(patsubst %,$(O)/inject/cudamemcpysize.%.o,programs tables)
$(O)/tests/unit/inject_bpf.o: INC += -iquote bpf
$(O)/tests/unit/inject_bpf.o: $(O)/cudamemcpysize.skel.h
$(O)/tests/bin/inject-bpf: $(O)/tests/unit/inject_bpf.o $(T_INJECT_BPF) $(O)/libcommon.a $(O)/inject/cudamemcpysize.ld
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_PIE) $(HARDEN_LD) $(LDFLAGS) $(filter %.o %.a,$^) -Wl,-T,$(filter %.ld,$^) $(LIBS) -o $@

$(O)/tests/bin/inject-clock: $(O)/tests/unit/inject_clock.o $(patsubst %,$(O)/inject/%.c.o,agent/inject/clock agent/inject/object arch/$(ARCH)/inject/counter)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_PIE) $(HARDEN_LD) $(LDFLAGS) $^ -o $@

-include $(wildcard $(O)/inject/*.d $(O)/inject/*/*/*.d $(O)/inject/*/*/*/*.d)
