# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# $(O)/audit/TOOL.so: a tool's BPF programs, compiled for the machine they run on (bpf/native), with what calls them
# (tools/audit) and their maps (common/shm).  It is loaded into all kinds of programs, and needs no library at all.

# no vector register is ever changed; what is not exported cannot be replaced
AUDIT_CC   := -std=gnu11 -O2 -ffreestanding -fPIC -fvisibility=hidden -ftls-model=initial-exec -mgeneral-regs-only \
	-fno-stack-protector -fno-strict-aliasing -fasynchronous-unwind-tables -fcf-protection $(WARN) -Wno-unused-parameter -Wno-unknown-pragmas
AUDIT_INC  := -iquote common -iquote tools -iquote $(O) -I bpf/native -I bpf
AUDIT_SRC  := $(wildcard bpf/native/*.c tools/audit/*.c tools/audit/*.S) \
	$(wildcard $(patsubst %,common/shm/%.c,hash ring threads view))
AUDIT_O    := $(patsubst %,$(O)/audit/%.o,$(AUDIT_SRC))
AUDIT_GEN  := $(foreach s,s tables.c ld,$(AUDITED:%=$(O)/audit/%.$s))

skeletons: $(AUDIT_GEN)

$(AUDIT_O): $(O)/audit/%.o: %
	@echo "  AUDIT $<"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(AUDIT_CC) $(filter -g% -ffile-prefix-map=%,$(CFLAGS)) $(AUDIT_INC) -MMD -MP -c $< -o $@

# the tarball of make dist has these, too
ifneq ($(and $(wildcard skel),$(if $(call has,$(CLANG)),,none)),)
$(AUDIT_GEN): $(O)/audit/%: skel/audit/% $(wildcard bpf/*.bpf.c bpf/lib/* bpf/native/* bpf/native/*/* common/abi/* common/api/*)
	$(Q)mkdir -p $(@D)
	@f=$$(find $^ -newer $<); [ -z "$$f" ] || { echo $$f: newer than $<: install clang >&2; exit 1; }
	$(Q)cp $< $@
else
$(O)/audit/%.s: bpf/%.bpf.c $(DEFS)
	@echo "  AUDIT $<"
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) --target=x86_64-linux-gnu $(AUDIT_CC) -fdata-sections -fno-addrsig -fno-verbose-asm -idirafter /usr/include/$(MULTI) $(AUDIT_INC) \
		-ffile-prefix-map="$(CURDIR)"=. -MMD -MP -MF $@.d -MT $@ -S $< -o $@

$(O)/audit/%.tables.c: $(O)/%.bpf.o scripts/gen_audit
	$(Q)mkdir -p $(@D)
	$(Q)scripts/gen_audit tables $* $< > $@

$(O)/audit/%.ld: $(O)/%.bpf.o scripts/gen_audit
	$(Q)mkdir -p $(@D)
	$(Q)scripts/gen_audit script $* $< > $@
endif

$(AUDITED:%=$(O)/audit/%.native.o): $(O)/audit/%.native.o: $(O)/audit/%.s
	$(Q)$(CC) -c $< -o $@

$(AUDITED:%=$(O)/audit/%.tables.o): $(O)/audit/%.tables.o: $(O)/audit/%.tables.c $(wildcard bpf/native/*.h tools/audit/*.h)
	$(Q)$(CC) $(AUDIT_CC) $(AUDIT_INC) -c $< -o $@

# checked where the BPF object is: its maps are mapped over the library's sections
$(AUDIT): $(O)/audit/%.so: $(O)/audit/%.native.o $(O)/audit/%.tables.o $(O)/audit/%.ld $(AUDIT_O)
	@echo "  SO    audit/$(@F)"
	$(Q)$(CC) -shared -nostdlib -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,text -Wl,-z,relro -Wl,-z,now \
		-Wl,-z,noexecstack $(LDFLAGS) $(filter %.o,$^) -Wl,-T,$(filter %.ld,$^) -o $@
	$(Q)[ ! -e $(O)/$*.bpf.o ] || scripts/gen_audit check $(O)/$*.bpf.o $(O)/audit/$*.native.o $@

# tests/unit/native.c runs them itself
T_NATIVE := $(filter $(O)/audit/bpf/%,$(AUDIT_O)) $(patsubst %,$(O)/audit/cudamemcpysize.%.o,native tables)
$(O)/tests/unit/native.o: INC += -I bpf/native -I bpf
$(O)/tests/unit/native.o: $(O)/cudamemcpysize.skel.h
$(O)/tests/bin/native: $(O)/tests/unit/native.o $(T_NATIVE) $(O)/libcommon.a $(O)/audit/cudamemcpysize.ld
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_PIE) $(HARDEN_LD) $(LDFLAGS) $(filter %.o %.a,$^) -Wl,-T,$(filter %.ld,$^) $(LIBS) -o $@

$(O)/tests/bin/audit-clock: $(O)/tests/unit/audit_clock.o $(patsubst %,$(O)/audit/tools/audit/%.c.o,clock object)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_PIE) $(HARDEN_LD) $(LDFLAGS) $^ -o $@

-include $(wildcard $(O)/audit/*.d $(O)/audit/*/*/*.d)
