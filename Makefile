# make            build every tool in tools/
# make check      set up, build, and run the tests in tests; eight minutes          (as root)
# make check-all  also the long ones in tests/long: kernels, fuzzers, storms, sanitizers; and tests/clients,
#                 for which pip fetches 6 GB, once: not with CLIENTS=no  (as root)
# make examples   build the programs of the manuals' examples, in $(O)/examples
# make demo       set up, build, and watch a leak being found (as root)
# make static     build binaries that run on any x86-64 Linux, in $(O)/static
# make install    PREFIX=/usr/local DESTDIR=
# make check-api  compare the API table with NVIDIA's headers and libraries
# make sanitize   run the tools' tests with ASan and UBSan     (as root)
# make bench      measure what a traced call costs: tests/bench/results.md   (as root)
# make check-kernels  run the tools on Debian's kernels, old and new, under qemu
# make check-clients  trace real programs, such as PyTorch, on the simulated CUDA: 5 GB by pip   (as root)
# make check-roots  demo and tests in new roots of Debian's releases: ROOTS='bookworm trixie sid'   (as root)
# make V=1        show the commands                make O=DIR  build in DIR
# make HARDEN=    build without hardening          make CFLAGS=... LDFLAGS=...  keeps it
O       ?= build
PREFIX  ?= /usr/local
CUDA    ?= /usr/local/cuda
CLANG   ?= clang
BPFTOOL ?= $(or $(shell command -v bpftool 2>/dev/null),/usr/sbin/bpftool)
MULTI   := $(shell $(CC) -dumpmachine 2>/dev/null)
CFLAGS  ?= -g -O2
include scripts/harden.mk
WARN    := -Wall -Wextra -Wshadow -Wformat=2
INC     := -iquote common -iquote tools -iquote $(O)
# ncurses is for the tools with a live screen
# of BCC's archive, which no package has as a library of its own, one object is taken: bcc_perf_map
LIBS    := -lbpf -l:libbcc_bpf.a -ldw -lelf -lz -liberty -Wl,--as-needed -lncursesw -ltinfo
# one tool's own
LIBS_cudaexporter := -lmicrohttpd -lgnutls -lyaml -lseccomp -lcap-ng -lcrypt
Q       := $(if $(V),,@)

TOOLS   := $(basename $(notdir $(wildcard tools/*.c)))
# shared by several tools; one tool's own
COMMON  := $(patsubst %.c,$(O)/%.o,$(wildcard common/*/*.c))
own      = $(patsubst %.c,$(O)/%.o,$(wildcard tools/$(1)/*.c))
# what `make check` runs; `make check-all` adds tests/long
TESTS   := $(wildcard tests/*.t)
DEFS    := $(O)/cuda_api.def $(O)/cuda_protos.def $(O)/cuda_roles.def

all: $(TOOLS:%=$(O)/%)

.SECONDEXPANSION:
$(TOOLS:%=$(O)/%): $(O)/%: $(O)/tools/%.o $$(call own,$$*) $(O)/libcommon.a
	@echo "  LINK  $*"
	$(Q)$(CC) $(CFLAGS) $(HARDEN_PIE) $(HARDEN_LD) $(LDFLAGS) $^ $(LIBS) $(LIBS_$*) -o $@

$(O)/%.o: %.c $(DEFS)
	@echo "  CC    $<"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(HARDEN_CC) $(CFLAGS) $(WARN) $(INC) -MMD -MP -c $< -o $@

# the file named like a BPF object, in tools or in a folder of common, needs its skeleton
$(foreach b,$(patsubst bpf/%.bpf.c,%,$(wildcard bpf/*.bpf.c)),$(eval \
	$(patsubst %.c,$(O)/%.o,$(wildcard tools/$b.c common/*/$b.c)): $(O)/$b.skel.h))

$(O)/libcommon.a: $(COMMON)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/%.skel.h: $(O)/%.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

# the system's headers are searched last: clang's own come first
$(O)/%.bpf.o: bpf/%.bpf.c $(DEFS)
	@echo "  BPF   $<"
	$(Q)$(CLANG) -g -O2 $(WARN) -Wno-unused-parameter -target bpf -D__TARGET_ARCH_x86 \
		-iquote common -iquote bpf -iquote $(O) -idirafter /usr/include/$(MULTI) -MMD -MP -c $< -o $@

$(O)/cuda_%.def: common/api/cuda_%.tbl scripts/place.awk scripts/gen_%.awk | $(O)
	$(Q)LC_ALL=C awk -f scripts/gen_$*.awk -f scripts/place.awk $< > $@

$(O)/cuda_api.def: common/api/cuda_roles.tbl

$(O):
	$(Q)mkdir -p $@

include tests/rules.mk
include examples/rules.mk
include tests/stacks.mk
include tests/clients/rules.mk
include tests/fuzz/rules.mk
include tests/bench/rules.mk

setup-all setup-bench setup-build setup-clients setup-demo setup-fuzz setup-kernels setup-pythons setup-roots setup-test: setup-%:
	@scripts/setup $*

# targets that install packages first build in a second make, which sees the packages
check: setup-test
	@$(MAKE) --no-print-directory all tests-built
	@O=$(abspath $(O)) CUDA=$(CUDA) tests/run $(TESTS)

# the longest last: see UNTIL in tests/run
LAST    := tests/long/fuzz.t tests/long/sanitize.t tests/long/roots.t tests/long/pythons.t
check-all: TESTS += $(filter-out $(LAST),$(wildcard tests/long/*.t)) $(wildcard tests/clients/*.t) $(LAST)
check-all: setup-all
	@[ "$(CLIENTS)" = no ] || timeout 1200 scripts/clients || :
	@$(MAKE) --no-print-directory all tests-built
	@LONG=1 O=$(abspath $(O)) CUDA=$(CUDA) tests/run $(TESTS)

# what cannot be had is skipped, with the reason: all of it is a failure
check-clients:
	@scripts/setup clients || :
	@$(MAKE) --no-print-directory all tests-built
	@LONG=1 O=$(abspath $(O)) CUDA=$(CUDA) tests/run $(wildcard tests/clients/*.t)

tests-built: all $(TEST_FILES) $(EXAMPLES)

demo: setup-demo
	@$(MAKE) --no-print-directory all $(O)/tests/bin/deep
	@O=$(O) scripts/demo

check-kernels: setup-kernels
	@$(MAKE) --no-print-directory all static tests-built
	@O=$(O) scripts/check-kernels $(KERNELS)

check-roots: setup-roots
	@O=$(O) scripts/check-roots $(ROOTS)

bench: setup-bench
	@$(MAKE) --no-print-directory bench-built
	@O=$(abspath $(O)) tests/bench/run

bench-built: all tests-built $(BENCH_FILES)

check-api:
	@CUDA=$(CUDA) scripts/check-api

# the tools only: the programs they trace are not sanitized
SANITIZE := -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
sanitized:
	@$(MAKE) --no-print-directory O=$(O)/sanitize CFLAGS="$(SANITIZE)" all
	$(Q)ln -sfn ../tests $(O)/sanitize/tests

sanitize: setup-test
	@$(MAKE) --no-print-directory tests-built sanitized
	@O=$(abspath $(O)/sanitize) CUDA=$(CUDA) ASAN_OPTIONS=exitcode=99 \
		LSAN_OPTIONS=suppressions=$(CURDIR)/tests/sanitize.supp:print_suppressions=0 \
		LONG=1 tests/run $(wildcard $(foreach t,$(TOOLS),tests/$t.t tests/long/$t.t))

# not cudaexporter: p11-kit, which GnuTLS needs, has no archive
STATIC := $(filter-out cudaexporter,$(TOOLS))
static: $(STATIC:%=$(O)/static/%)

# libelf's archive needs zlib's and, if newer, zstd's; libdw's needs liblzma's and libbz2's where it opens
# files that are compressed; nothing is loaded at run time.  Both need libeu's where it is another one, and
# common/elf/eu_search.c where there is none
archive  = $(if $(wildcard /usr/lib/$(MULTI)/lib$(1).a /usr/lib64/lib$(1).a),-l$(1))
ARCHIVES := -llzma -lbz2 $(call archive,zstd) $(call archive,eu) $(O)/libcommon.a
$(STATIC:%=$(O)/static/%): $(O)/static/%: $(O)/tools/%.o $$(call own,$$*) $(O)/libcommon.a
	@echo "  STATIC $*"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_STATIC) $(HARDEN_LD) -s $(LDFLAGS) $^ $(LIBS) $(ARCHIVES) -o $@

BIN  := $(DESTDIR)$(PREFIX)/bin
MAN  := $(DESTDIR)$(PREFIX)/share/man/man8
MAN7 := $(DESTDIR)$(PREFIX)/share/man/man7
COMP := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSH  := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISH := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
BT   := $(DESTDIR)$(PREFIX)/share/cuda-bpf-tools/bt

# cudamallocsnoop is also cudamalloc-snoop: hyphenate the last word of a name
HYPHEN := sed -E 's/(snoop|size|top|latency)$$/-\1/'

install: all
	install -d $(BIN) $(MAN) $(MAN7) $(COMP) $(ZSH) $(FISH) $(BT)
	install $(TOOLS:%=$(O)/%) $(BIN)
	install -m 644 $(TOOLS:%=man/%.8) $(MAN)
	install -m 644 man/cuda-bpf-tools.7 $(MAN7)
	install -m 644 scripts/bt/*.bt $(BT)
	for t in $(TOOLS); do \
		h=$$(echo $$t | $(HYPHEN)); $(O)/$$t --bash-completion >$(COMP)/$$t && \
		$(O)/$$t --zsh-completion | sed "1s|$$| $$h|" >$(ZSH)/_$$t && \
		$(O)/$$t --fish-completion >$(FISH)/$$t.fish || exit; \
		[ $$h = $$t ] || { ln -sf $$t $(BIN)/$$h; ln -sf $$t.8 $(MAN)/$$h.8; \
			sed "s/$$t\$$/$$h/" $(COMP)/$$t >$(COMP)/$$h; \
			sed "s/$$t/$$h/" $(FISH)/$$t.fish >$(FISH)/$$h.fish; }; done

uninstall:
	rm -rf $(BT)
	rm -f $(MAN7)/cuda-bpf-tools.7
	for t in $(TOOLS); do for n in $$t $$(echo $$t | $(HYPHEN)); do \
		rm -f $(BIN)/$$n $(MAN)/$$n.8 $(COMP)/$$n $(ZSH)/_$$n $(FISH)/$$n.fish; done; done

clean:
	rm -rf $(O)

-include $(wildcard $(O)/*.d $(O)/tools/*.d $(O)/*/*/*.d)
.PHONY: all bench bench-built examples setup-all setup-bench setup-build setup-clients setup-demo setup-fuzz setup-kernels setup-pythons setup-roots setup-test check check-all check-clients check-kernels check-roots tests-built demo check-api sanitized sanitize static install uninstall clean
.DELETE_ON_ERROR:
.SECONDARY:
