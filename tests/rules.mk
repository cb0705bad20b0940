# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# The simulated CUDA, the programs that tests trace, and the tests of the tools' parts.
# Included by the Makefile, which has set O (where to build), CC, CXX, CFLAGS, LIBS, Q, CUDA and
# own. Gives TEST_FILES.
#
# SIM_OWN_HEADERS=1 builds without CUDA's headers even if they are installed.
# TEST_CFLAGS, TEST_LDFLAGS are added to every compilation and link.

CUDA ?= /usr/local/cuda
T_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
T_O := $(O)/tests
T_LIB := $(T_O)/lib
T_BIN := $(T_O)/bin
T_OBJ := $(T_O)/obj
# what only some tools need of common, before what all do
T_PARTS := $(T_O)/libparts.a
T_ARCHIVES := $(T_PARTS) $(O)/libcommon.a
T_LIBS := $(LIBS) $(LIBS_LIVE) $(LIBS_PPROF) $(LIBS_FATBIN)

# The header of CUDA 13 or later, if installed.
T_CUDA_H := $(wildcard $(CUDA)/include/cuda.h)
ifneq ($(T_CUDA_H),)
T_CUDA_OK := $(shell awk '/^\#define CUDA_VERSION/ { if ($$3 >= 13000) print "yes"; exit }' $(T_CUDA_H))
endif
ifneq ($(SIM_OWN_HEADERS)$(if $(T_CUDA_OK),,x),)
T_HEADERS := -DSIM_OWN_HEADERS
else
T_HEADERS := -isystem $(CUDA)/include
endif
# not for another machine: nvcc has only the libraries of this one
T_NVCC := $(if $(CROSS),,$(firstword $(wildcard $(CUDA)/bin/nvcc) $(shell command -v nvcc 2>/dev/null)))
T_REAL := $(firstword $(wildcard $(if $(CROSS),$(abspath $(O))/cudart/libcudart.so.13,\
	$(CUDA)/lib64/libcudart.so.13 $(CUDA)/targets/$(CUDA_TARGET)/lib/libcudart.so.13)))

# Tracers walk frame pointers; an optimized tail call has no frame.
T_COMMON := -iquote arch/$(ARCH) -g -Wall -Wextra -fno-omit-frame-pointer -fno-optimize-sibling-calls -MMD -MP \
	$(T_HEADERS) $(TEST_CFLAGS)
T_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O1 $(T_COMMON)
T_CXXFLAGS := -std=gnu++17 -O1 $(T_COMMON)
T_START := $(SIM_START) $(shell $(CC) -Werror -fno-shrink-wrap -c -xc /dev/null -o /dev/null 2>/dev/null && echo -fno-shrink-wrap)
T_SIM_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -fvisibility=hidden -iquote common $(T_COMMON) $(T_START)
T_RPATH := -Wl,-rpath,'$$ORIGIN/../lib' $(TEST_LDFLAGS)

T_DRV := drv_activity drv_array drv_attribute drv_block drv_code drv_copy drv_ctx drv_entry drv_external drv_fault drv_function \
	drv_graph drv_graph_node drv_grid drv_image drv_kernels drv_launch drv_link drv_mem drv_module drv_pool \
	drv_ranges drv_set drv_stream drv_texture drv_vmm drv_work sim
T_RT := rt_array rt_copy rt_copy2d rt_device rt_driver rt_external rt_function rt_graph rt_launch rt_mem rt_register rt_stream \
	rt_texture sim

T_LIBCUDA := $(T_LIB)/libcuda.so.1
T_CUDART := $(T_LIB)/libcudart.so.13
T_CUDART12 := $(T_LIB)/libcudart.so.12
T_CUDART_A := $(T_LIB)/libcudart_static.a

# program-variant: which objects and libraries it is linked from.
T_PROGRAMS := mem graphs deep deep-c churn longname jump launches args calls storm
T_SIM_BINS := $(T_PROGRAMS) $(T_PROGRAMS:%=%-static) $(T_PROGRAMS:%=%-stripped) \
	$(T_PROGRAMS:%=%-12) mem-dlopen mem-drv drvkern gpuprobed gpuprobed_edges usdt rust lanes timed nccl nccl-args nccl_inside compile cupti
T_REAL_BINS := $(if $(T_REAL),$(T_PROGRAMS:%=%-real))
T_NVCC_BINS := $(if $(T_NVCC),kern kern-static kern-stripped kern-legacy kern-12 kern-ptsz \
	args-nvcc args-nvcc-static args-nvcc-12 args-nvcc-ptsz gpu gpu-static gpu-12 inside reported \
	$(if $(T_REAL),kern-real kern-real-static))

# What is unwound: the same functions, compiled in several ways.
T_CFI_o2 := -O2 -fomit-frame-pointer
T_CFI_o3 := -O3 -fomit-frame-pointer
T_CFI_fp := -O1 -fno-omit-frame-pointer
T_CFI_static := -O2 -fomit-frame-pointer
T_CFI_WAYS := o2 o3 fp $(CFI_WAYS) static
T_CFI_BINS := $(T_CFI_WAYS:%=cfi-%)
T_NVML := $(T_LIB)/libnvidia-ml.so.1
T_NCCL := $(T_LIB)/libnccl.so.2
# not where clients look for NVIDIA's
T_NVRTC := $(T_LIB)/nvrtc/libnvrtc.so.13
T_NCCL_OLD := $(T_LIB)/nccl-old/libnccl.so.2
T_CUPTI := $(foreach v,12 13,$(T_LIB)/libcupti.so.$v)
# libraries that have one version's function for processes alone
T_NVML_ONLY := $(foreach v,1 3,$(T_LIB)/nvml-v$v/libnvidia-ml.so.1)
TEST_FILES := $(T_NVML) $(T_CUPTI) $(T_NCCL) $(T_NVRTC) $(T_NCCL_OLD) $(T_NVML_ONLY) $(T_LIBCUDA) $(T_KERNELS) $(T_CUDART) $(T_CUDART12) $(T_CUDART_A) \
	$(addprefix $(T_BIN)/,$(T_SIM_BINS) $(T_REAL_BINS) $(T_NVCC_BINS) gpurun helper reused models gaps ptxrun python stacks web filtered fatbin gpuprobe-receive \
	alu matrix texture ptxrw nccl-layout nccl-ras nccl-ras-sanitized cgroup-names short-names rust-names kernel-label labels exporter-nvml exporter-devices \
	gpuprobe-send gpuprobe-flood cubin registers inject-bpf inject-clock shmmap unwind unwind-table place python-codes \
	communicators late kills-cudaleak kills-cudalaunchtop kills-cudabt $(T_CFI_BINS)) $(GPU_PTX)

$(T_LIB) $(T_BIN) $(T_OBJ)/cfi $(T_OBJ)/gpu $(T_OBJ)/interp $(T_OBJ)/sim $(T_OBJ)/sim12 $(T_OBJ)/static \
		$(T_OBJ)/workloads:
	$(Q)mkdir -p $@

# ---- simulated libraries

$(T_OBJ)/sim/%.o: $(T_DIR)/sim/%.c | $(T_OBJ)/sim
	$(Q)$(CC) $(T_SIM_CFLAGS) -c $< -o $@

$(T_OBJ)/sim12/%.o: $(T_DIR)/sim/%.c | $(T_OBJ)/sim12
	$(Q)$(CC) $(T_SIM_CFLAGS) -DSIM_CUDART=12 -c $< -o $@

$(T_OBJ)/static/%.o: $(T_DIR)/sim/%.c | $(T_OBJ)/static
	$(Q)$(CC) $(T_SIM_CFLAGS) -DRT_STATIC -c $< -o $@

T_LINK_SO = $(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,-z,defs \
	-Wl,-rpath,'$$ORIGIN' $(TEST_LDFLAGS) -pthread -o $@ $(filter %.o,$^) -ldl

$(T_LIBCUDA): $(T_DRV:%=$(T_OBJ)/sim/%.o) | $(T_LIB)
	$(T_LINK_SO)

$(T_CUDART): $(T_RT:%=$(T_OBJ)/sim/%.o) $(T_DIR)/sim/libcudart13.map | $(T_LIB)
	$(T_LINK_SO) -Wl,--version-script=$(filter %.map,$^)

$(T_CUDART12): $(T_RT:%=$(T_OBJ)/sim12/%.o) $(T_DIR)/sim/libcudart12.map | $(T_LIB)
	$(T_LINK_SO) -Wl,--version-script=$(filter %.map,$^)

$(T_CUDART_A): $(T_RT:%=$(T_OBJ)/static/%.o) | $(T_LIB)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(T_NVML): $(T_OBJ)/sim/nvml.o | $(T_LIB)
	$(T_LINK_SO)

$(T_NCCL): $(T_OBJ)/sim/nccl.o | $(T_LIB)
	$(T_LINK_SO)

$(T_NVRTC): $(T_OBJ)/sim/nvrtc.o
	$(Q)mkdir -p $(@D)
	$(T_LINK_SO)

$(T_CUPTI): $(T_LIB)/libcupti.so.%: $(T_DIR)/sim/cupti.c $(T_DIR)/sim/libcupti%.map | $(T_LIB) $(T_OBJ)/sim
	$(Q)$(CC) $(T_SIM_CFLAGS) -iquote . -DSIM_CUPTI=$* -MF $(T_OBJ)/sim/cupti-$*.d -shared -Wl,-soname,$(@F) \
		-Wl,--version-script=$(T_DIR)/sim/libcupti$*.map \
		-Wl,-rpath,'$$ORIGIN' $(TEST_LDFLAGS) $< -pthread -ldl -o $@

$(T_NCCL_OLD): $(T_DIR)/sim/nccl.c | $(T_OBJ)/sim
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(T_SIM_CFLAGS) -DSIM_NCCL_OLD -MF $(T_OBJ)/sim/nccl-old.d -shared -Wl,-soname,$(@F) $< -pthread -ldl -o $@

$(T_NVML_ONLY): $(T_LIB)/nvml-v%/libnvidia-ml.so.1: $(T_DIR)/sim/nvml.c | $(T_OBJ)/sim
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(T_SIM_CFLAGS) -DSIM_NVML_ONLY=$* -MF $(T_OBJ)/sim/nvml-v$*.d -shared -Wl,-soname,$(@F) $< -o $@

# ---- programs

$(T_OBJ)/workloads/%.o: $(T_DIR)/workloads/%.c | $(T_OBJ)/workloads
	$(Q)$(CC) $(T_CFLAGS) -c $< -o $@

$(T_OBJ)/workloads/%.o: $(T_DIR)/workloads/%.cpp | $(T_OBJ)/workloads
	$(Q)$(CXX) $(T_CXXFLAGS) -c $< -o $@

$(T_OBJ)/workloads/%-dlopen.o: $(T_DIR)/workloads/%.c | $(T_OBJ)/workloads
	$(Q)$(CC) $(T_CFLAGS) -DRUNTIME_DLOPEN -c $< -o $@

$(T_OBJ)/workloads/%-drv.o: $(T_DIR)/workloads/%.c | $(T_OBJ)/workloads
	$(Q)$(CC) $(T_CFLAGS) -DNO_RUNTIME -DDRIVER_LINKED -c $< -o $@

T_MEM := mem mem_rt mem_copy mem_drv
T_MEM_O := $(T_MEM:%=$(T_OBJ)/workloads/%.o)

T_COMMA := ,
# $(1) the variant's suffix, $(2) the runtime it is linked with, $(3) flags. The real one
# must not find the simulated driver: it has none.
define t_variant
$(T_BIN)/mem$(1): $(T_MEM_O)
$(foreach p,$(filter-out mem,$(T_PROGRAMS)),$(T_BIN)/$(p)$(1): $(T_OBJ)/workloads/$(p).o
)
$(T_PROGRAMS:%=$(T_BIN)/%$(1)): $(2) $(T_LIBCUDA) | $(T_BIN)
	$$(Q)$(CXX) -o $$@ $$(filter %.o,$$^) $(2) $(3) -pthread -ldl
endef
$(eval $(call t_variant,,$(T_CUDART),$$(T_RPATH)))
$(eval $(call t_variant,-12,$(T_CUDART12),$$(T_RPATH)))
$(eval $(call t_variant,-static,$(T_CUDART_A),$$(T_RPATH)))
$(eval $(call t_variant,-stripped,$(T_CUDART_A),$$(T_RPATH) -s))
ifneq ($(T_REAL),)
$(eval $(call t_variant,-real,$(T_REAL),-Wl$$(T_COMMA)-rpath$$(T_COMMA)$(dir $(T_REAL)) $$(TEST_LDFLAGS)))
endif

$(T_BIN)/usdt $(T_BIN)/rust: $(T_BIN)/%: $(T_OBJ)/workloads/%.o $(T_CUDART) $(T_LIBCUDA) | $(T_BIN)
	$(Q)$(CC) -o $@ $< $(T_CUDART) $(T_RPATH) -pthread -ldl

$(T_BIN)/mem-dlopen: $(T_MEM:%=$(T_OBJ)/workloads/%-dlopen.o) $(T_CUDART) $(T_LIBCUDA) | $(T_BIN)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(T_RPATH) -pthread -ldl

$(T_BIN)/mem-drv: $(patsubst %,$(T_OBJ)/workloads/%-drv.o,mem mem_drv) $(T_LIBCUDA) | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(T_RPATH) -pthread -ldl

$(T_OBJ)/workloads/cupti.o: T_CFLAGS += -iquote .
$(T_BIN)/cupti: $(T_OBJ)/workloads/cupti.o $(T_LIBCUDA) | $(T_BIN) $(T_CUPTI)
	$(Q)$(CC) -o $@ $^ $(T_RPATH) -pthread -ldl

TEST_FILES += $(T_LIB)/libinjected.so
$(T_LIB)/libinjected.so: $(T_DIR)/workloads/injected.c $(T_LIBCUDA) | $(T_LIB) $(T_OBJ)/workloads
	$(Q)$(CC) $(T_CFLAGS) -fPIC -MF $(T_OBJ)/workloads/injected.d -shared $< $(T_LIBCUDA) -Wl,-rpath,'$$ORIGIN' $(TEST_LDFLAGS) -o $@

$(T_BIN)/nccl: $(T_OBJ)/workloads/nccl.o $(T_NCCL) $(T_CUDART) $(T_LIBCUDA) | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(T_RPATH) -pthread

$(T_BIN)/nccl-args: $(T_OBJ)/workloads/nccl_args.o $(T_NCCL) $(T_CUDART) $(T_LIBCUDA) | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(T_RPATH) -pthread

$(T_BIN)/compile: $(T_OBJ)/workloads/compile.o $(T_NVRTC) $(T_CUDART) $(T_LIBCUDA) | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(T_RPATH) -Wl,-rpath,'$$ORIGIN/../lib/nvrtc'

$(T_BIN)/nccl_inside: $(T_OBJ)/workloads/nccl_inside.o $(T_CUDART) $(T_LIBCUDA) | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(T_RPATH)

$(T_BIN)/lanes $(T_BIN)/timed: $(T_BIN)/%: $(T_OBJ)/workloads/%.o $(T_LIBCUDA) | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(T_RPATH)

T_DRVKERN := $(patsubst $(T_DIR)/workloads/%.c,$(T_OBJ)/workloads/%.o,$(wildcard $(T_DIR)/workloads/drvkern*.c))
$(T_BIN)/nvrtc $(T_BIN)/gpuprobed $(T_BIN)/gpuprobed_edges: $(T_BIN)/%: $(T_OBJ)/workloads/%.o $(T_LIBCUDA) | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(T_RPATH) -pthread -ldl

$(T_BIN)/drvkern: $(T_DRVKERN) $(T_LIBCUDA) | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(T_RPATH) -pthread -ldl

# the demo's, also without nvcc
ifneq ($(T_NVCC),)
$(T_OBJ)/workloads/leaky.o: $(T_DIR)/workloads/leaky.cu | $(T_OBJ)/workloads
	$(Q)$(T_NVCC) $(T_NVCCFLAGS) -MMD -MF $(@:.o=.d) -c $< -o $@
else
$(T_OBJ)/workloads/leaky.o: $(T_DIR)/workloads/leaky.cu examples/no_nvcc.h $(T_DIR)/ptx/nvcc-leaky.ptx | $(T_OBJ)/workloads
	$(Q)$(CXX) $(T_CXXFLAGS) -DLEAKY_PTX='"$(T_DIR)/ptx/nvcc-leaky.ptx"' -x c++ -c $< -o $@
endif
$(T_BIN)/leaky: $(T_OBJ)/workloads/leaky.o $(T_CUDART) | $(T_BIN) $(T_LIBCUDA)
	$(Q)$(CXX) -o $@ $^ $(T_RPATH) -pthread -ldl

# ---- programs built with nvcc

# Intermediate code only: quick to build, and any GPU compiles it.
T_NVCCFLAGS := -O1 -g -std=c++17 -gencode arch=compute_75,code=compute_75 \
	-Xcompiler -fno-omit-frame-pointer,-fno-optimize-sibling-calls

$(T_OBJ)/workloads/kern.o: $(T_DIR)/workloads/kern.cu | $(T_OBJ)/workloads
	$(Q)$(T_NVCC) $(T_NVCCFLAGS) -MMD -MF $(@:.o=.d) -c $< -o $@

$(T_OBJ)/workloads/kern-legacy.o: $(T_DIR)/workloads/kern.cu | $(T_OBJ)/workloads
	$(Q)$(T_NVCC) $(T_NVCCFLAGS) -D__NV_LEGACY_LAUNCH -Xcompiler -D__NV_LEGACY_LAUNCH \
		-MMD -MF $(@:.o=.d) -c $< -o $@

# Per-thread default stream: the _ptsz and _ptds functions.
$(T_OBJ)/workloads/kern-ptsz.o: $(T_DIR)/workloads/kern.cu | $(T_OBJ)/workloads
	$(Q)$(T_NVCC) $(T_NVCCFLAGS) --default-stream per-thread -MMD -MF $(@:.o=.d) -c $< -o $@

T_LINK_KERN = $(Q)$(CXX) -o $@ $^ $(T_RPATH) -pthread -ldl -lrt
$(T_BIN)/kern: $(T_OBJ)/workloads/kern.o $(T_CUDART) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)
$(T_BIN)/kern-ptsz: $(T_OBJ)/workloads/kern-ptsz.o $(T_CUDART) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)
$(T_BIN)/kern-static: $(T_OBJ)/workloads/kern.o $(T_CUDART_A) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)
$(T_BIN)/kern-stripped: $(T_OBJ)/workloads/kern.o $(T_CUDART_A) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN) -s
$(T_BIN)/kern-legacy: $(T_OBJ)/workloads/kern-legacy.o $(T_CUDART) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)
$(T_BIN)/kern-12: $(T_OBJ)/workloads/kern-legacy.o $(T_CUDART12) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)
$(T_BIN)/kern-real: $(T_OBJ)/workloads/kern.o $(T_REAL) | $(T_BIN)
	$(Q)$(CXX) -o $@ $^ -Wl,-rpath,$(dir $(T_REAL)) $(TEST_LDFLAGS) -pthread -ldl
$(T_BIN)/kern-real-static: $(T_OBJ)/workloads/kern.o $(dir $(T_REAL))libcudart_static.a | $(T_BIN)
	$(Q)$(CXX) -o $@ $^ $(TEST_LDFLAGS) -pthread -ldl -lrt

$(T_OBJ)/workloads/reported.o: $(T_DIR)/workloads/reported.cu | $(T_OBJ)/workloads
	$(Q)$(T_NVCC) $(T_NVCCFLAGS) -MMD -MF $(@:.o=.d) -c $< -o $@
$(T_BIN)/reported: $(T_OBJ)/workloads/reported.o $(T_CUDART) $(T_LIBCUDA) | $(T_BIN)
	$(T_LINK_KERN)

# Programs whose results are compared with the CPU's, and with faults.  CUDA 12's runtime has no __cudaLaunchKernel.
T_GPU := $(patsubst $(T_DIR)/gpu/%.cu,%,$(wildcard $(T_DIR)/gpu/*.cu))
$(T_OBJ)/gpu/%.o: $(T_DIR)/gpu/%.cu | $(T_OBJ)/gpu
	$(Q)$(T_NVCC) $(T_NVCCFLAGS) -lineinfo -MMD -MF $(@:.o=.d) -c $< -o $@
$(T_OBJ)/gpu/%-legacy.o: $(T_DIR)/gpu/%.cu | $(T_OBJ)/gpu
	$(Q)$(T_NVCC) $(T_NVCCFLAGS) -lineinfo -D__NV_LEGACY_LAUNCH -Xcompiler -D__NV_LEGACY_LAUNCH \
		-MMD -MF $(@:.o=.d) -c $< -o $@

$(T_BIN)/gpu: $(T_GPU:%=$(T_OBJ)/gpu/%.o) $(T_CUDART) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)
$(T_BIN)/gpu-static: $(T_GPU:%=$(T_OBJ)/gpu/%.o) $(T_CUDART_A) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)
# of which scripts/gpu-check knows what tools should see inside its kernels
$(T_OBJ)/workloads/inside.o: $(T_DIR)/workloads/inside.cu | $(T_OBJ)/workloads
	$(Q)$(T_NVCC) $(T_NVCCFLAGS) -lineinfo -MMD -MF $(@:.o=.d) -c $< -o $@
$(T_BIN)/inside: $(T_OBJ)/workloads/inside.o $(T_CUDART_A) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)
$(T_BIN)/gpu-12: $(T_GPU:%=$(T_OBJ)/gpu/%-legacy.o) $(T_CUDART12) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)

# args.c, which is C, compiled as CUDA C++
T_ARGS_FLAGS := $(T_NVCCFLAGS) -x cu
$(T_OBJ)/workloads/args-nvcc.o: $(T_DIR)/workloads/args.c | $(T_OBJ)/workloads
	$(Q)$(T_NVCC) $(T_ARGS_FLAGS) -MMD -MF $(@:.o=.d) -c $< -o $@
$(T_OBJ)/workloads/args-nvcc-legacy.o: $(T_DIR)/workloads/args.c | $(T_OBJ)/workloads
	$(Q)$(T_NVCC) $(T_ARGS_FLAGS) -D__NV_LEGACY_LAUNCH -Xcompiler -D__NV_LEGACY_LAUNCH \
		-MMD -MF $(@:.o=.d) -c $< -o $@
$(T_OBJ)/workloads/args-nvcc-ptsz.o: $(T_DIR)/workloads/args.c | $(T_OBJ)/workloads
	$(Q)$(T_NVCC) $(T_ARGS_FLAGS) --default-stream per-thread -MMD -MF $(@:.o=.d) -c $< -o $@

$(T_BIN)/args-nvcc: $(T_OBJ)/workloads/args-nvcc.o $(T_CUDART) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)
$(T_BIN)/args-nvcc-static: $(T_OBJ)/workloads/args-nvcc.o $(T_CUDART_A) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)
$(T_BIN)/args-nvcc-12: $(T_OBJ)/workloads/args-nvcc-legacy.o $(T_CUDART12) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)
$(T_BIN)/args-nvcc-ptsz: $(T_OBJ)/workloads/args-nvcc-ptsz.o $(T_CUDART) | $(T_BIN) $(T_LIBCUDA)
	$(T_LINK_KERN)

# ---- parts of the tools

T_MODELS := $(patsubst %.c,$(O)/%.o,$(wildcard $(T_DIR)/unit/models*.c))
$(O)/tests/unit/models_launches.o: $(O)/cudalaunchtop.skel.h
$(T_BIN)/models: $(T_MODELS) $(call own,cudaleak) $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(T_LIBS) -o $@

# without a process whose memory could be read
$(T_BIN)/communicators: $(O)/tests/unit/communicators.o $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(addprefix -Wl$(T_COMMA)--wrap=,helper_mappings vm_read_words) $^ $(T_LIBS) -o $@

$(T_BIN)/gaps: $(O)/tests/unit/gaps.o $(filter %/gaps.o %/host_threads.o,$(call own,cudalaunchtop)) $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(T_LIBS) -o $@

$(T_BIN)/stacks: $(O)/tests/unit/stacks.o $(call own,cudaleak) $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(T_LIBS) -o $@

$(T_BIN)/python-codes: $(O)/tests/unit/python_codes.o $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(T_LIBS)

$(T_BIN)/late $(T_BIN)/unwind $(T_BIN)/place: $(T_BIN)/%: $(O)/tests/unit/%.o $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(T_LIBS)

$(T_BIN)/unwind-table: $(O)/tests/unit/unwind_table.o $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(T_LIBS)

$(T_BIN)/helper $(T_BIN)/each $(T_BIN)/reused: $(T_BIN)/%: $(O)/tests/unit/%.o $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(T_LIBS)

# the interpreter of PTX; its objects can be linked into a shared library
T_INTERP := $(patsubst $(T_DIR)/sim/interp/%.c,$(T_OBJ)/interp/%.o,$(wildcard $(T_DIR)/sim/interp/*.c))
$(T_OBJ)/interp/%.o: $(T_DIR)/sim/interp/%.c | $(T_OBJ)/interp
	$(Q)$(CC) $(T_SIM_CFLAGS) -Wshadow -Wformat=2 $(INC) -c $< -o $@

$(T_OBJ)/interp/ptx_%.o: $(T_DIR)/../common/ptx/%.c | $(T_OBJ)/interp
	$(Q)$(CC) $(T_SIM_CFLAGS) -I$(T_DIR)/../common -c $< -o $@
# with what it needs of common
T_INTERP_ALL := $(T_INTERP) $(patsubst %,$(T_OBJ)/interp/ptx_%.o,ptx lex)

# the library with which the simulated driver runs kernels
T_KERNELS := $(T_LIB)/libsimkernels.so
TEST_FILES += $(T_KERNELS) $(T_BIN)/nvrtc $(T_BIN)/leaky
$(T_OBJ)/interp/kernels.o: $(T_DIR)/sim/kernels.c | $(T_OBJ)/interp
	$(Q)$(CC) $(T_SIM_CFLAGS) -c $< -o $@
$(T_KERNELS): $(T_OBJ)/interp/kernels.o $(T_INTERP_ALL) \
		$(patsubst %,$(T_OBJ)/interp/ptx_%.o,fatbin) | $(T_LIB)
	$(T_LINK_SO) -lzstd -llz4 -lm

$(T_BIN)/alu: $(O)/tests/unit/alu.o $(filter $(T_OBJ)/interp/alu%,$(T_INTERP)) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

T_PTXRUN := $(patsubst %,$(T_OBJ)/interp/%.o,ptxrun ptxrun_file ptxrun_same ptxrun_world)
$(T_PTXRUN) $(T_OBJ)/interp/gpurun.o: $(T_OBJ)/interp/%.o: $(T_DIR)/unit/%.c | $(T_OBJ)/interp
	$(Q)$(CC) $(T_SIM_CFLAGS) -I$(T_DIR)/../common -I$(T_DIR)/sim/interp -c $< -o $@
$(T_BIN)/ptxrun: $(T_PTXRUN) $(T_INTERP_ALL) | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(TEST_LDFLAGS) -lm

# what probes leave in a module
$(T_BIN)/gpurun: $(patsubst %,$(T_OBJ)/interp/%.o,gpurun ptxrun_world) $(T_INTERP_ALL) | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(TEST_LDFLAGS) -lm

$(T_BIN)/texture: $(O)/tests/unit/texture.o $(filter $(T_OBJ)/interp/texture% $(T_OBJ)/interp/alu%,$(T_INTERP)) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

$(T_BIN)/matrix: $(O)/tests/unit/matrix.o $(filter $(T_OBJ)/interp/matrix% $(T_OBJ)/interp/alu%,$(T_INTERP)) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

$(T_BIN)/gpuprobe-receive: $(O)/tests/unit/gpuprobe_receive.o $(T_ARCHIVES) | $(T_BIN) $(GPUPROBE)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(T_LIBS)

$(T_BIN)/fatbin: $(O)/tests/unit/fatbin.o $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(T_LIBS)

$(T_BIN)/registers: $(O)/tests/unit/registers.o $(O)/agent/gpuprobe/registers.o $(O)/agent/gpuprobe/modules.o | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(T_BIN)/cubin: $(O)/tests/unit/cubin.o $(O)/agent/gpuprobe/cubin.o | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(T_BIN)/gpuprobe-send: $(O)/tests/unit/gpuprobe-send.o | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) -o $@

$(T_BIN)/gpuprobe-flood: $(O)/tests/unit/gpuprobe-flood.o | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter %.o,$^) -o $@

$(T_BIN)/ptxrw: $(O)/tests/unit/ptxrw.o $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(filter-out $(T_BIN),$^) -o $@

T_SHM := $(patsubst %,$(O)/tests/unit/%.o,shmmap shmmap_bench shmmap_ring shmmap_storm shmmap_types)
$(T_BIN)/shmmap: $(T_SHM) $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(T_LIBS) -pthread -o $@

$(T_BIN)/nccl-layout: $(O)/tests/unit/nccl_layout.o $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(T_LIBS) -o $@

# as the parts of a tool are, and with sanitizers
T_RAS := $(wildcard tools/ncclhang/ras*.c)
$(T_BIN)/nccl-ras: $(O)/tests/unit/nccl_ras.o $(T_RAS:%.c=$(O)/%.o) $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(T_LIBS) $(LIBS_ncclhang) -o $@

T_RAS_SANITIZED := tests/unit/nccl_ras.c $(T_RAS) $(wildcard common/proc/helper.c common/proc/confine.c)
$(T_BIN)/nccl-ras-sanitized: $(T_RAS_SANITIZED) $(wildcard tools/ncclhang/ras*.h) $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) -std=gnu11 $(WARN) $(SANITIZE) $(INC) $(LDFLAGS) $(filter %.c %.a,$^) $(T_LIBS) $(LIBS_ncclhang) -o $@

$(T_BIN)/cgroup-names: $(O)/tests/unit/cgroup_names.o $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(T_LIBS) -o $@

$(T_BIN)/short-names $(T_BIN)/rust-names: $(T_BIN)/%-names: $(O)/tests/unit/%_names.o $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(T_LIBS) -o $@

# parts of cudaexporter, without the tool
$(addprefix $(T_BIN)/,kernel-label labels exporter-nvml exporter-devices web): \
		$(T_BIN)/%: $$(O)/tests/unit/$$(subst -,_,$$*).o $$(call own,cudaexporter) $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(T_LIBS) $(LIBS_cudaexporter) -o $@

# tools that take the kernel for one whose return probes kill
T_KILLS := kills-cudaleak kills-cudalaunchtop kills-cudabt
$(T_KILLS:%=$(T_BIN)/%): $(T_BIN)/kills-%: $(O)/tools/%.o $$(call own,$$*) $(O)/tests/unit/kills.o \
		$(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(T_LIBS) -o $@

$(T_BIN)/filtered: $(T_OBJ)/workloads/filtered.o | $(T_BIN)
	$(Q)$(CC) -o $@ $^ $(TEST_LDFLAGS)

# not a pattern for any file: the .d files must not be made by it
$(T_CFI_WAYS:%=$(T_OBJ)/cfi/%.o): $(T_OBJ)/cfi/%.o: $(T_DIR)/unit/cfi_cases.c | $(T_OBJ)/cfi
	$(Q)$(CC) -std=gnu11 -g -Wall -Wextra -fPIE -MMD -MP $(T_CFI_$*) -c $< -o $@

# lazily bound: the first call goes through the PLT to the dynamic linker
T_CFI := $(patsubst %,$(O)/tests/unit/%.o,cfi cfi_compare cfi_rows) $(O)/arch/$(ARCH)/tests/cfi_asm.o $(T_ARCHIVES)
$(O)/arch/$(ARCH)/tests/cfi_asm.o: INC += -iquote tests/unit
$(T_BIN)/cfi-%: $(T_OBJ)/cfi/%.o $(T_CFI) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_PIE) -Wl,-z,lazy $(LDFLAGS) -o $@ $^ $(T_LIBS) -pthread

$(T_BIN)/cfi-static: $(T_OBJ)/cfi/static.o $(T_CFI) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(HARDEN_STATIC) $(LDFLAGS) -o $@ $^ $(T_LIBS) $(ARCHIVES) -pthread
$(T_BIN)/python: $(O)/tests/unit/python.o $(T_ARCHIVES) | $(T_BIN)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(T_LIBS)

$(T_PARTS): $(OWN_LIVE) $(OWN_PPROF) $(OWN_FATBIN)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^

-include $(wildcard $(T_OBJ)/*/*.d)

# the tools, given what they saw before: tests/replay/replay.c stands between their parts
T_REPLAY := $(filter-out cudabt cudabounds cudamemtime cudawatch,$(INJECTED))
T_REPLAY_WRAPS := $(patsubst __real_%,-Wl$(T_COMMA)--wrap=%,$(sort $(shell grep -o '__real_[a-z_]*' $(T_DIR)/replay/replay.c)))
TEST_FILES += $(T_REPLAY:%=$(T_O)/replay/%)
$(T_OBJ)/replay/replay.o: $(T_DIR)/replay/replay.c $(DEFS)
	@echo "  CC    $<"
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN_C) $(INC) -MMD -MP -c $< -o $@
$(T_REPLAY:%=$(T_O)/replay/%): $(T_O)/replay/%: $(O)/tools/%.o $$(call own,$$*) $(T_OBJ)/replay/replay.o $(T_ARCHIVES)
	@echo "  LINK  replay/$*"
	$(Q)mkdir -p $(@D) && ln -sfn ../../inject $(@D)/inject && ln -sf ../../libcudagputime.so $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(T_REPLAY_WRAPS) $^ $(call libs,$*) -o $@
