# make            build the tools in tools/, in build: TOOLS='cudaleak cudatop' these, EXPORTER=no all but cudaexporter
# make check      set up, build, and run the tests in tests: five minutes; TESTS='tests/cudaleak.t' these   (as root)
# make check-all  also what is slow in those files, tests/long and, with real programs, tests/clients (not with CLIENTS=no)
# make check-X    what make check-all has not: all of it with X = world, or a part: api arm64 clients kernels libs ptx roots
# make sanitize, bench   the tools' tests with ASan and UBSan; what a traced call costs: $(O)/bench.md   (as root)
# make demo, examples    watch a leak being found (as root); the programs of the manuals' examples, in $(O)/examples
# make install    of TOOLS: PREFIX=/usr/local DESTDIR= SYSCONFDIR=/etc UNITDIR=$(PREFIX)/lib/systemd/system
# make static     binaries that run on any Linux of the machine, in $(O)/static
# make dist       a tarball of the last commit that builds without clang: $(O)/cuda-bpf-tools-VERSION.tar.xz
# make deb        Debian packages of the last commit, in $(O)/deb   (as root if something is missing)
# ARCH=arm64      for another machine, in build-arm64, with Debian's cross compiler and libraries (scripts/setup arm64)
# V=1 shows the commands; O=DIR builds in DIR; HARDEN= builds without hardening; CFLAGS=... LDFLAGS=... keep it

# the machine that the tools are for, a folder of arch/; for another one than this (make ARCH=arm64), Debian's cross
# compiler and libraries (scripts/sysroot) are used, and O is build-ARCH
HERE    := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(shell uname -m)))
ARCH    ?= $(HERE)
CROSS   := $(filter-out $(HERE),$(ARCH))
include arch/$(ARCH)/arch.mk
O       ?= build$(CROSS:%=-%)
# files of dependencies have names as they are here: one name for a folder, however it is given
override O := $(patsubst $(CURDIR)/%,%,$(O))
# tests have commands in which files are named
ifneq ($(and $(filter-out 1,$(words $(CURDIR))),$(filter check check-% sanitize fuzz bench,$(MAKECMDGOALS))),)
$(error the tests cannot run in '$(CURDIR)', which has a space: move it elsewhere)
endif
PREFIX  ?= /usr/local
SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
CUDA    ?= /usr/local/cuda
CLANG   ?= clang
PROTOC_C ?= protoc-c
BPFTOOL ?= $(or $(shell command -v bpftool 2>/dev/null),/usr/sbin/bpftool)
# empty, or the folder with the other machine's headers and libraries
SYSROOT := $(CROSS:%=$(abspath $(O))/.sysroot)
ifneq ($(CROSS),)
CC      := $(TRIPLET)-gcc --sysroot=$(SYSROOT)
CXX     := $(TRIPLET)-g++ --sysroot=$(SYSROOT)
AR      := $(TRIPLET)-ar
endif
# what runs a program that was built
RUN     := $(if $(CROSS),$(EMULATOR) -L $(SYSROOT))
MULTI   := $(shell $(CC) -dumpmachine 2>/dev/null)
CLANG_INC := -idirafter $(SYSROOT)/usr/include/$(MULTI) $(if $(CROSS),-idirafter $(SYSROOT)/usr/include -ffile-prefix-map=$(SYSROOT)=)
CFLAGS  ?= -g -O2
include scripts/harden.mk
WARN    := -Wall -Wextra -Wshadow -Wformat=2 -Wvla -Wundef -Wredundant-decls -Wstrict-prototypes -Wold-style-definition
# not for BPF: its programs have no prototypes; the last three are gcc's only
WARN_C  := $(WARN) -Wmissing-prototypes $(if $(findstring clang,$(shell $(CC) --version)),,-Wduplicated-cond -Wduplicated-branches -Wlogical-op)
INC     := -iquote common -iquote tools -iquote arch/$(ARCH) -iquote $(O) -iquote .
Q       := $(if $(V),,@)

ALL_TOOLS := $(basename $(notdir $(wildcard tools/*.c)))
TOOLS   := $(filter-out $(if $(filter no,$(EXPORTER)),cudaexporter),$(ALL_TOOLS))
$(foreach t,$(filter-out $(ALL_TOOLS),$(TOOLS)),$(error TOOLS: '$t': no such tool))
# the tools with a source that includes one of these headers
users    = $(filter $(TOOLS),$(sort $(foreach f,$(shell grep -lE '^.include "($(1))"' $(wildcard tools/*.c tools/*/*.[ch])),\
	$(basename $(word 2,$(subst /, ,$f))))))
# with a live screen; with --pprof; that read fat binaries; that put probes into kernels; that take GPU time from CUPTI
LIVE    := $(call users,session/live\.h)
PPROF   := $(call users,pprof/profile\.h|session/(groups|call_lines)\.h)
FATBIN  := $(call users,ptx/fatbin\.h)
PROBERS := $(call users,gpuprobe/.*)
TIMERS  := $(call users,gputime/.*)
# packages of their own, with PROBERS
NCCL    := $(filter nccl%,$(TOOLS))
EXPORTERS := $(filter cudaexporter,$(TOOLS))

# what all tools are linked with; of BCC's archive, which no package has as a library of its own, one object is taken:
# bcc_perf_map.  Where there is no pkg-config, or not of the library, -l is enough
PKG_CONFIG := $(if $(CROSS),PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(MULTI)/pkgconfig )pkg-config
pc       = $(or $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null),$(2))
LIBS    := $(call pc,libbpf,-lbpf) -l:libbcc_bpf.a $(call pc,libdw libelf zlib,-ldw -lelf -lz) -liberty -Wl,--as-needed -ldl
# what some are: headers and libraries are needed for these alone
LIBS_LIVE   := $(call pc,ncursesw,-lncursesw -ltinfo)
LIBS_PPROF  := $(call pc,libprotobuf-c,-lprotobuf-c)
LIBS_FATBIN := $(call pc,libzstd liblz4,-lzstd -llz4)
LIBS_ncclhang := $(call pc,jansson,-ljansson)
LIBS_cudaexporter := $(call pc,libmicrohttpd gnutls yaml-0.1 libseccomp libcrypt,-lmicrohttpd -lgnutls -lyaml -lseccomp -lcrypt)
libs     = $(LIBS) $(foreach w,LIVE PPROF FATBIN,$(if $(filter $(1),$($w)),$(LIBS_$w))) $(LIBS_$(1))

# one tool's own, with what is in common for those that have such a library; what is shared by all
OWN_LIVE   := $(O)/common/cli/top_screen.o
OWN_PPROF  := $(O)/common/pprof/pprof.o $(O)/profile.pb-c.o
OWN_FATBIN := $(O)/common/ptx/fatbin.o
own      = $(patsubst %.c,$(O)/%.o,$(wildcard tools/$(1)/*.c)) $(foreach w,LIVE PPROF FATBIN,$(if $(filter $(1),$($w)),$(OWN_$w)))
COMMON  := $(filter-out $(OWN_LIVE) $(OWN_PPROF) $(OWN_FATBIN),$(patsubst %.c,$(O)/%.o,$(wildcard common/*/*.c arch/$(ARCH)/*.c)))
# a tool's BPF programs are bpf/TOOL.bpf.c, but these tools share them
BPF_ncclhang     := nccl
BPF_ncclsnoop    := nccl
BPF_nccltop      := nccl
BPF_cudatop      := export
BPF_cudaexporter := export
bpf      = $(or $(BPF_$(1)),$(1))
# what `make check` runs; `make check-all` adds tests/long and tests/clients
# longest test file first, to balance the jobs
TESTS   := $(shell wc -l tests/*.t | sort -rn | sed -n 's/.* tests/tests/p')
DEFS    := $(O)/cuda_api.def $(O)/cuda_protos.def $(O)/cuda_roles.def

# the library inside traced programs; it is loaded into all kinds: it needs the C library alone, whose symbols are
# all that others see of it
GPUPROBE   := $(O)/libcudagpuprobe.so
PTXAS    := $(O)/cudagpuprobe-ptxas
PTXAS_O  := $(patsubst %.c,$(O)/%.o,$(wildcard agent/gpuprobe/ptxas*.c))
GPUPROBE_O := $(filter-out $(PTXAS_O),$(patsubst %.c,$(O)/%.o,$(wildcard agent/gpuprobe/*.c)))
GPUTIME    := $(O)/libcudagputime.so
GPUTIME_O  := $(patsubst %.c,$(O)/%.o,$(wildcard agent/gputime/*.c))
CLOCK_PIC_O := $(O)/pic/common/base/clock.o
PIC_O    := $(patsubst %.c,$(O)/pic/%.o,$(wildcard common/ptx/*.c)) $(CLOCK_PIC_O)

# the same tools' probes where BPF is not permitted: libraries that the dynamic linker loads into traced programs
INJECTED  := $(foreach t,$(TOOLS),$(if $(wildcard bpf/$(call bpf,$t).bpf.c),$t))
INJECT    := $(if $(wildcard agent/inject/*.c),$(INJECTED:%=$(O)/inject/%.so))
# for programs that no tool has started: it maps the library of a tool that asks
RESIDENT  := $(if $(INJECT),$(O)/inject/resident.so)

# what the tools print with --json, from the tables of fields of them all
SCHEMA := $(O)/json-schema.json

# what these tools load into programs
LOADED := $(if $(PROBERS),$(GPUPROBE) $(PTXAS)) $(if $(TIMERS),$(GPUTIME)) $(INJECT) $(RESIDENT)

all: $(TOOLS:%=$(O)/%) $(LOADED) $(SCHEMA)

.SECONDEXPANSION:
$(TOOLS:%=$(O)/%): $(O)/%: $(O)/tools/%.o $$(call own,$$*) $(O)/libcommon.a
	@echo "  LINK  $*"
	$(Q)$(CC) $(CFLAGS) $(HARDEN_PIE) $(HARDEN_LD) $(LDFLAGS) $^ $(call libs,$*) -o $@

$(O)/%.o: %.c $(DEFS)
	@echo "  CC    $<"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(HARDEN_CC) $(CFLAGS) $(PIC) $(WARN_C) $(INC) -MMD -MP -c $< -o $@

# elfutils declares them
$(O)/common/elf/eu_search.o: WARN_C += -Wno-missing-prototypes

# a sanitizer would have to be in the program first
$(GPUPROBE_O) $(GPUTIME_O) $(PIC_O): PIC := -fPIC -fvisibility=hidden -fno-sanitize=all
$(O)/pic/%.o: %.c
	@echo "  PIC   $<"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(HARDEN_CC) $(CFLAGS) $(PIC) $(WARN_C) $(INC) -MMD -MP -c $< -o $@

# the archives are not position-independent, but nothing in them can be bound elsewhere
$(GPUPROBE): $(GPUPROBE_O) $(PIC_O) agent/gpuprobe/gpuprobe.map
	@echo "  SO    $(@F)"
	$(Q)$(CC) $(filter-out -fsanitize%,$(CFLAGS)) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,text $(HARDEN_LD) \
		-Wl,--version-script=$(filter %.map,$^) $(LDFLAGS) $(filter %.o,$^) -l:libzstd.a -l:liblz4.a -l:libiberty.a \
		-Wl,--as-needed -pthread -ldl -o $@

# its thread runs until the program ends
$(GPUTIME): $(GPUTIME_O) $(CLOCK_PIC_O) agent/gputime/gputime.map
	@echo "  SO    $(@F)"
	$(Q)$(CC) $(filter-out -fsanitize%,$(CFLAGS)) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,text -Wl,-z,nodelete $(HARDEN_LD) \
		-Wl,--version-script=$(filter %.map,$^) $(LDFLAGS) $(filter %.o,$^) -pthread -ldl -o $@

# Triton's programs call it instead of ptxas; it asks the tool and selects kernels as the library does
$(PTXAS): $(PTXAS_O) $(O)/agent/gpuprobe/link.o $(O)/agent/gpuprobe/select.o $(O)/libcommon.a
	@echo "  LINK  $(@F)"
	$(Q)$(CC) $(CFLAGS) $(HARDEN_PIE) $(HARDEN_LD) $(LDFLAGS) $^ -liberty -o $@
	$(Q)ln -sf $(@F) $@-blackwell

# a tool needs its skeleton; what is no tool's, the file of that name in common
$(foreach t,$(INJECTED),$(eval $(O)/tools/$t.o: $(O)/$(call bpf,$t).skel.h))
$(foreach b,inode watch,$(eval $(patsubst %.c,$(O)/%.o,$(wildcard common/*/$b.c)): $(O)/$b.skel.h))

$(SCHEMA): scripts/gen_json.awk $(wildcard $(addprefix common/,gpuprobe/*.[ch] inflight/*.c session/*.c view/*.[ch]) $(foreach t,$(filter-out cudaexporter,$(ALL_TOOLS)),tools/$t.c tools/$t/*.c)) | $(O)
	$(Q)LC_ALL=C awk -f $< $(filter %.c %.h,$^) > $@

# one small object knows the revision, and is compiled again when that is another one
REVISION := $(shell scripts/revision)
$(O)/common/base/version.o: $(O)/revision.h
$(O)/revision.h: $(if $(findstring "$(REVISION)",$(shell cat $(O)/revision.h 2>/dev/null)),,FORCE) | $(O)
	$(Q)echo '#define REVISION "$(REVISION)"' > $@

# the messages of profiles, in C
$(O)/%.pb-c.h: common/pprof/%.proto | $(O)
	$(Q)$(PROTOC_C) -I $(<D) --c_out=$(O) $<

$(O)/%.pb-c.c: $(O)/%.pb-c.h ;

$(O)/%.pb-c.o: $(O)/%.pb-c.c
	@echo "  CC    $(<F)"
	$(Q)$(CC) -std=gnu11 $(HARDEN_CC) $(CFLAGS) $(INC) -MMD -MP -c $< -o $@

$(O)/common/pprof/pprof.o: $(O)/profile.pb-c.h

$(O)/libcommon.a: $(COMMON)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# the tarball of make dist has skeletons for each machine, for those who have no clang or no bpftool
has = $(shell command -v $(firstword $(1)) 2>/dev/null)
ifneq ($(and $(wildcard skel/$(ARCH)),$(if $(and $(call has,$(CLANG)),$(call has,$(BPFTOOL))),,none)),)
$(O)/%.skel.h: skel/$(ARCH)/%.skel.h $(wildcard bpf/*.bpf.c bpf/*/*.h common/abi/* common/api/*) | $(O)
	@f=$$(find $^ -newer $<); [ -z "$$f" ] || { echo $$f: newer than $<: install clang and bpftool >&2; exit 1; }
	$(Q)cp $< $@
else
$(O)/%.skel.h: $(O)/%.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@
endif

# probes that run on GPUs, as PTX for sm_70 and later; NAME.ptx.h has the text as NAME_ptx[].  The tarball of
# make dist has these too
GPU_PTX := $(patsubst gpu/%.gpu.c,$(O)/%.ptx,$(wildcard gpu/*.gpu.c))

skeletons: $(patsubst bpf/%.bpf.c,$(O)/%.skel.h,$(wildcard bpf/*.bpf.c)) $(GPU_PTX)

ifneq ($(and $(wildcard skel),$(if $(call has,$(CLANG)),,none)),)
$(GPU_PTX): $(O)/%.ptx: skel/%.ptx $(wildcard gpu/*.gpu.c gpu/gpulib/* common/abi/gpu_variables.h) | $(O)
	@f=$$(find $^ -newer $<); [ -z "$$f" ] || { echo $$f: newer than $<: install clang >&2; exit 1; }
	$(Q)cp $< $@
else
$(GPU_PTX): $(O)/%.ptx: gpu/%.gpu.c | $(O)
	@echo "  GPU   $<"
	$(Q)$(CLANG) --target=nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx63 -nocudalib -nostdinc \
		-std=gnu11 -O2 $(WARN) -iquote common -iquote gpu -MMD -MP -MF $@.d -MT $@ -S $< -o $@
endif

$(O)/%.ptx.h: $(O)/%.ptx
	$(Q)(echo 'static const char $*_ptx[] ='; sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $<; echo ';') > $@

# who includes one: known after the first time
$(patsubst %.c,$(O)/%.o,$(wildcard $(foreach t,$(PROBERS),tools/$t.c tools/$t/*.c) tests/fuzz/*.c)): | $(GPU_PTX:%=%.h)

# the system's headers are searched last: clang's own come first
$(O)/%.bpf.o: bpf/%.bpf.c $(DEFS)
	@echo "  BPF   $<"
	$(Q)$(CLANG) -g -O2 $(WARN) -Wno-unused-parameter -target bpf -D__TARGET_ARCH_$(ARCH) \
		-ffile-prefix-map="$(CURDIR)"=. -iquote common -iquote bpf -iquote arch/$(ARCH) -iquote $(O) -iquote . $(CLANG_INC) -MMD -MP -c $< -o $@

$(O)/cuda_%.def: common/api/cuda_%.tbl arch/$(ARCH)/place.awk scripts/gen_%.awk | $(O)
	$(Q)LC_ALL=C awk -f scripts/gen_$*.awk -f arch/$(ARCH)/place.awk $< $(MORE) > $@

$(O)/cuda_api.def: common/api/cuda_roles.tbl
$(O)/cuda_protos.def: MORE = common/api/nccl_protos.tbl common/api/nvrtc_protos.tbl
$(O)/cuda_protos.def: common/api/nccl_protos.tbl common/api/nvrtc_protos.tbl

$(O): | $(SYSROOT)
	$(Q)mkdir -p $@

ifneq ($(CROSS),)
$(SYSROOT):
	@scripts/sysroot $(ARCH) $@
endif

include agent/bpf/rules.mk
include tests/rules.mk
include examples/rules.mk
include tests/stacks.mk
include tests/inject.mk
include tests/clients/rules.mk
include tests/fuzz/rules.mk
include tests/bench/rules.mk

setup-all setup-arm64 setup-bench setup-build setup-clients setup-deb setup-demo setup-fuzz setup-kernels setup-libs setup-pythons setup-roots setup-test: setup-%:
	@scripts/setup $*

# targets that install packages first build in a second make, which sees the packages: on all processors, unless told
# how many
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
check: setup-test
	@$(MAKE) --no-print-directory $(PARALLEL) all tests-built
	@O=$(abspath $(O)) CUDA=$(CUDA) tests/run $(TESTS)

# Three tiers: check; check-all, which adds what is slow in those files, tests/long and real programs; check-world, all
# else: scripts/parts.  What is slow works more than it waits: one file more than there are processors.
LONG_TESTS := $(wildcard tests/long/*.t)
CLIENT_TESTS := $(wildcard tests/clients/*.t)

check-all: setup-all
	@[ "$(CLIENTS)" = no ] || timeout 1200 scripts/clients || :
	@$(MAKE) --no-print-directory $(PARALLEL) all static tests-built clients-built
	@LONG=1 JOBS=$${JOBS:-$$(($$(nproc) + 1))} O=$(abspath $(O)) CUDA=$(CUDA) tests/run $(CLIENT_TESTS) $(LONG_TESTS) $(TESTS)

# real programs, such as PyTorch, on the simulated CUDA: pip fetches 6 GB, once.  What cannot be had is skipped, with the reason:
# all of it is a failure
check-clients:
	@scripts/setup clients || :
	@$(MAKE) --no-print-directory $(PARALLEL) all tests-built clients-built
	@LONG=1 O=$(abspath $(O)) CUDA=$(CUDA) tests/run $(CLIENT_TESTS)

# what make check-all has not: tests/world, roots, kernels, sanitizers, hours of fuzzing and of mutants (scripts/parts).  The one
# with the oldest pass first; records each in docs/tested.md, as scripts/tested does with one part
check-world: setup-all
	@scripts/tested run $$(scripts/tested list | cut -f1)

tests-built: all $(TEST_FILES) $(EXAMPLES)

demo: setup-demo
	@$(MAKE) --no-print-directory $(PARALLEL) all $(O)/tests/bin/leaky $(O)/tests/lib/libsimkernels.so
	@O=$(O) scripts/demo

# the tools on Debian's kernels, old and new, under qemu: KERNELS='6.1 6.12'
check-kernels: setup-kernels
	@$(MAKE) --no-print-directory $(PARALLEL) all static tests-built
	@O=$(O) ARCH=$(ARCH) scripts/check-kernels $(KERNELS)

# builds for arm64; what needs no BPF under qemu-user, the tools on Debian's arm64 kernels under qemu
check-arm64: setup-arm64
	@$(MAKE) --no-print-directory ARCH=arm64 check-cross

# for the machine ARCH, by emulators: what needs no BPF, then on Debian's kernels
check-cross: $(SYSROOT)
	@scripts/cudart $(ARCH) $(O)/cudart || :
	@$(MAKE) --no-print-directory $(PARALLEL) all static tests-built
	@O=$(O) ARCH=$(ARCH) scripts/check-emulated
	@O=$(O) ARCH=$(ARCH) scripts/check-kernels $(KERNELS)

# demo and tests in new roots of Debian's releases: ROOTS='bookworm trixie:nvcc sid:tmp'
check-roots: setup-roots
	@O=$(O) scripts/check-roots $(ROOTS)

# the oldest pass first
bench: setup-bench
	@$(MAKE) --no-print-directory bench-built
	@O=$(abspath $(O)) tests/bench/run

bench-built: all tests-built $(BENCH_FILES)

# the API table against NVIDIA's headers and libraries
check-api:
	@CUDA=$(CUDA) scripts/check-api

# puts probes into PTX, assembles it, reads the order from the machine code: PTX='DIR FILE', default ours
check-ptx: $(O)/tests/bin/ptxrw $(GPU_PTX)
	@O=$(O) CUDA=$(CUDA) scripts/check-ptx $(PTX)

# the tools only: the programs they trace are not sanitized
SANITIZE := -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
sanitized:
	@$(MAKE) --no-print-directory O=$(O)/sanitize CFLAGS="$(SANITIZE)" all
	$(Q)ln -sfn ../tests $(O)/sanitize/tests

sanitize: setup-test
	@$(MAKE) --no-print-directory $(PARALLEL) tests-built sanitized
	@O=$(abspath $(O)/sanitize) CUDA=$(CUDA) SANITIZE="$(filter -fsanitize=%,$(SANITIZE))" ASAN_OPTIONS=exitcode=99 \
		LSAN_OPTIONS=suppressions=$(CURDIR)/tests/sanitize.supp:print_suppressions=0 \
		LONG=1 tests/run $(wildcard $(foreach t,$(TOOLS),tests/$t.t tests/long/$t.t))

# the same with the archives that scripts/check-libs has built
sanitized-libs:
	@$(MAKE) --no-print-directory O=$(O)/sanitize-libs CFLAGS="$(SANITIZE)" LDFLAGS=-L$(abspath $(O))/libs/lib \
		LIBS="$(LIBS) -llzma -lbz2 -leu" all
	$(Q)ln -sfn ../tests $(O)/sanitize-libs/tests

# the tests with ASan and UBSan in the tools, libbpf, libelf and libdw: TESTS=...
check-libs: setup-libs
	@$(MAKE) --no-print-directory tests-built
	@O=$(O) CUDA=$(CUDA) MAKE="$(MAKE)" scripts/check-libs $(TESTS)

# not cudaexporter: p11-kit, which GnuTLS needs, has no archive
STATIC := $(filter-out cudaexporter,$(TOOLS))
static: $(STATIC:%=$(O)/static/%) $(LOADED:$(O)/%=$(O)/static/%)

# beside them, as they look for them there
$(O)/static/%.so: $(O)/%.so
	$(Q)mkdir -p $(@D) && cp $< $@
$(O)/static/$(notdir $(PTXAS)): $(PTXAS)
	$(Q)mkdir -p $(@D) && cp -P $< $<-blackwell $(@D)

# libelf's archive needs zlib's and, if newer, zstd's; libdw's needs liblzma's and libbz2's where it opens
# files that are compressed; nothing is loaded at run time.  Both need libeu's where it is another one, and
# common/elf/eu_search.c where there is none.  What dlopen() is warned of does not matter: it opens inject/TOOL.so only,
# which needs no library
archive  = $(if $(wildcard $(SYSROOT)/usr/lib/$(MULTI)/lib$(1).a $(SYSROOT)/usr/lib64/lib$(1).a),-l$(1))
ARCHIVES = -llzma -lbz2 $(call archive,zstd) $(call archive,eu) $(O)/libcommon.a
$(STATIC:%=$(O)/static/%): $(O)/static/%: $(O)/tools/%.o $$(call own,$$*) $(O)/libcommon.a
	@echo "  STATIC $*"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_STATIC) $(HARDEN_LD) -s $(LDFLAGS) $^ $(call libs,$*) $(ARCHIVES) -o $@ 2>$@.said || \
		{ cat $@.said >&2; rm $@.said; exit 1; }
	$(Q)sed "/: in function /{ N; /Using 'dlopen'/d; }" $@.said >&2; rm $@.said

dist:
	@O=$(O) MAKE="$(MAKE)" scripts/dist

deb: setup-deb $(if $(CROSS),setup-$(ARCH) $(SYSROOT))
	@O=$(O) ARCH=$(ARCH) MAKE="$(MAKE)" scripts/deb

# where it goes: Debian has its completions for zsh elsewhere
ZSHDIR     ?= $(PREFIX)/share/zsh/site-functions
BIN   := $(DESTDIR)$(PREFIX)/bin
MAN   := $(DESTDIR)$(PREFIX)/share/man/man8
MAN7  := $(DESTDIR)$(PREFIX)/share/man/man7
COMP  := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSH   := $(DESTDIR)$(ZSHDIR)
FISH  := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
SHARE := $(DESTDIR)$(PREFIX)/share/cuda-bpf-tools
LIBDIR := $(DESTDIR)$(PREFIX)/lib/cuda-bpf-tools
UNIT  := $(DESTDIR)$(UNITDIR)
DEFLT := $(DESTDIR)$(SYSCONFDIR)/default

# cudamallocsnoop is also cudamalloc-snoop: hyphenate the last word of a name
HYPHEN := sed -E 's/(snoop|size|top|latency)$$/-\1/'

# programs, pages, completions, and libraries of --attach inject of these tools
programs = install -d $(BIN) $(MAN) $(COMP) $(ZSH) $(FISH) $(LIBDIR)/inject && \
	install $(1:%=$(O)/%) $(BIN) && \
	install -m 644 $(1:%=man/%.8) $(MAN) && \
	for t in $(filter $(INJECTED),$(1)); do install -m 644 $(O)/inject/$$t.so $(LIBDIR)/inject || exit; done && \
	for t in $(1); do \
		h=$$(echo $$t | $(HYPHEN)); $(RUN) $(O)/$$t --bash-completion >$(COMP)/$$t && \
		$(RUN) $(O)/$$t --zsh-completion | sed "1s|$$| $$h|" >$(ZSH)/_$$t && \
		$(RUN) $(O)/$$t --fish-completion >$(FISH)/$$t.fish || exit; \
		[ $$h = $$t ] || { ln -sf $$t $(BIN)/$$h; ln -sf $$t.8 $(MAN)/$$h.8; \
			sed "s/$$t\$$/$$h/" $(COMP)/$$t >$(COMP)/$$h; \
			sed "s/$$t/$$h/" $(FISH)/$$t.fish >$(FISH)/$$h.fish; }; done

# what is installed together, and is a package of its own; common is for all
CUDA_TOOLS := $(filter-out $(NCCL) $(PROBERS) $(EXPORTERS),$(TOOLS))
PARTS := common $(if $(CUDA_TOOLS),tools) $(if $(NCCL),nccl) $(if $(PROBERS),gpuprobe) $(if $(EXPORTERS),exporter)
install: $(PARTS:%=install-%)

install-common: all
	install -d $(MAN7) $(SHARE) $(LIBDIR)
	install -m 644 man/cuda-bpf-tools.7 $(MAN7)
	install -m 644 $(SCHEMA) $(SHARE)
ifneq ($(RESIDENT),)
	install -d $(LIBDIR)/inject
	install -m 644 $(RESIDENT) $(LIBDIR)/inject
endif
ifneq ($(TIMERS),)
	install -d $(SHARE)/gputime
	install -m 644 $(GPUTIME) $(LIBDIR)
	install -m 644 etc/systemd/gputime.conf etc/kubernetes/gputime.yaml $(SHARE)/gputime
	sed -i 's|/usr/lib/|$(PREFIX)/lib/|' $(SHARE)/gputime/*
endif

install-tools: all
	$(call programs,$(CUDA_TOOLS))
ifneq ($(filter cudabt,$(TOOLS)),)
	install -d $(SHARE)/bt
	install -m 644 scripts/bt/*.bt $(SHARE)/bt
endif

install-nccl: all
	$(call programs,$(NCCL))

install-gpuprobe: all
	$(call programs,$(PROBERS))
	install -m 644 $(GPUPROBE) $(LIBDIR)
	install $(PTXAS) $(LIBDIR)
	ln -sf $(notdir $(PTXAS)) $(LIBDIR)/$(notdir $(PTXAS))-blackwell

# the unit names the program where it is; what the administrator has changed stays
install-exporter: all
	$(call programs,$(EXPORTERS))
	install -d $(UNIT) $(DEFLT) $(SHARE)/prometheus $(SHARE)/grafana $(SHARE)/kubernetes
	sed 's|^ExecStart=[^ ]*/|ExecStart=$(PREFIX)/bin/|' etc/systemd/cudaexporter.service >$(UNIT)/cudaexporter.service
	[ -e $(DEFLT)/cudaexporter ] || install -m 644 etc/default/cudaexporter $(DEFLT)
	install -m 644 etc/prometheus/*.yml $(SHARE)/prometheus
	sed -i 's|/usr/local/share|$(PREFIX)/share|' $(SHARE)/prometheus/alerts.yml
	install -m 644 etc/grafana/*.json $(SHARE)/grafana
	install -m 644 $(filter-out %/gputime.yaml,$(wildcard etc/kubernetes/*)) $(SHARE)/kubernetes

# all tools, whatever TOOLS is, but not what the administrator may have changed
uninstall:
	rm -rf $(SHARE) $(LIBDIR)
	rm -f $(MAN7)/cuda-bpf-tools.7 $(UNIT)/cudaexporter.service
	! cmp -s etc/default/cudaexporter $(DEFLT)/cudaexporter || rm -f $(DEFLT)/cudaexporter
	for t in $(ALL_TOOLS); do for n in $$t $$(echo $$t | $(HYPHEN)); do \
		rm -f $(BIN)/$$n $(MAN)/$$n.8 $(COMP)/$$n $(ZSH)/_$$n $(FISH)/$$n.fish; done; done

# for a test that links a tool itself: make libs TOOLS=cudaleak
libs:
	@echo $(call libs,$(firstword $(TOOLS)))

clean:
	rm -rf $(O)

-include $(wildcard $(O)/pic/common/*/*.d $(O)/*.d $(O)/tools/*.d $(O)/*/*/*.d)
.PHONY: all bench bench-built examples setup-all setup-arm64 setup-bench setup-build setup-clients setup-deb setup-demo setup-fuzz setup-kernels setup-libs setup-pythons setup-roots setup-test check check-all check-arm64 check-clients check-cross check-kernels check-libs check-ptx check-roots check-world tests-built demo check-api sanitized sanitized-libs sanitize static skeletons dist deb libs install install-common install-tools install-nccl install-gpuprobe install-exporter uninstall clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:
