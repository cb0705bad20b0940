# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# The simulated CUDA that real programs are given: built with the headers of the runtime that came with them,
# and with every function of the interface, as programs look for more than they use.  Included by the Makefile
# after tests/rules.mk.  Gives CLIENT_FILES: none, if scripts/clients has not been run.

CLIENTS_CACHE ?= $(or $(XDG_CACHE_HOME),/var/cache)/cuda-bpf-tools/clients
C_DIR := tests/clients/sim
# an object has its source's folder: files of the same name in both do not take each other's place
C_SIM := $(T_OBJ)/clients/sim
C_OBJ := $(T_OBJ)/clients/own
C_LIB := $(T_O)/clients
C_HEADERS := $(firstword $(wildcard $(CLIENTS_CACHE)/pytorch/lib/python3*/site-packages/nvidia/cu13/include))
C_CFLAGS = $(filter-out $(T_HEADERS) -isystem $(CUDA)/include,$(T_SIM_CFLAGS)) -isystem $(C_HEADERS)

C_DRV := $(T_DRV:%=$(C_SIM)/%.o) $(patsubst %,$(C_OBJ)/%.o,drv_device drv_capture drv_func)
C_RT := $(T_RT:%=$(C_SIM)/%.o) $(patsubst %,$(C_OBJ)/%.o,rt_entry rt_properties rt_capture)
CLIENT_FILES := $(if $(C_HEADERS),$(addprefix $(C_LIB)/,libcuda.so.1 libcudart.so.13 libnvidia-ml.so.1 libnccl.so.2))

# for programs of CUDA 12, which brought no headers: those of the newest runtime 12
C_HEADERS12 := $(firstword $(wildcard $(CLIENTS_CACHE)/cudart-12.9/lib/python3*/site-packages/nvidia/cuda_runtime/include))
C_CFLAGS12 = $(patsubst $(C_HEADERS),$(C_HEADERS12),$(C_CFLAGS)) -DSIM_CUDART=12 \
	-isystem $(C_HEADERS12:%/cuda_runtime/include=%/cuda_nvcc/include)
C_OBJ12 := $(T_OBJ)/clients/own12
C_LIB12 := $(C_LIB)/cuda12
C_RT12 := $(T_RT:%=$(T_OBJ)/sim12/%.o) $(C_OBJ)/rt_entry.o $(C_OBJ12)/rt_properties.o
CLIENT_FILES += $(if $(C_HEADERS),$(if $(C_HEADERS12),$(addprefix $(C_LIB12)/,libcudart.so.12 libcublas.so.12 libcublasLt.so.12)))

$(C_LIB) $(C_SIM) $(C_OBJ) $(C_LIB12) $(C_OBJ12):
	$(Q)mkdir -p $@

$(C_SIM)/%.o: $(T_DIR)/sim/%.c | $(C_SIM)
	$(Q)$(CC) $(C_CFLAGS) -c $< -o $@

$(C_OBJ)/%.o: $(C_DIR)/%.c | $(C_OBJ)
	$(Q)$(CC) $(C_CFLAGS) -c $< -o $@

# what the objects lack of the interface
define C_REST
	$(Q)nm -g --defined-only -P $(filter %.o,$^) | cut -d' ' -f1 >$@.have
	$(Q)awk -f $(C_DIR)/rest.awk $* $@.have $< >$@
endef
$(C_OBJ)/drv_rest.def: $(C_DRV)
$(C_OBJ)/rt_rest.def: $(C_RT)
$(C_OBJ)/%_rest.def: common/api/cuda_protos.tbl $(C_DIR)/rest.awk
	$(C_REST)

$(C_OBJ)/%_rest.o: $(C_DIR)/%_rest.c $(C_OBJ)/%_rest.def
	$(Q)$(CC) $(C_CFLAGS) -I$(C_OBJ) -c $< -o $@

$(C_LIB)/libcuda.so.1: $(C_DRV) $(C_OBJ)/drv_rest.o | $(C_LIB)
	$(T_LINK_SO)

$(C_LIB)/libcudart.so.13: $(C_RT) $(C_OBJ)/rt_rest.o $(T_DIR)/sim/libcudart13.map | $(C_LIB)
	$(T_LINK_SO) -Wl,--version-script=$(filter %.map,$^)

$(C_LIB)/libnvidia-ml.so.1: $(C_OBJ)/nvml.o | $(C_LIB)
	$(T_LINK_SO)

$(C_LIB)/libnccl.so.2: $(C_SIM)/nccl.o | $(C_LIB)
	$(T_LINK_SO)

$(C_OBJ12)/%.o: $(C_DIR)/%.c | $(C_OBJ12)
	$(Q)$(CC) $(C_CFLAGS12) -c $< -o $@

$(C_OBJ12)/rt_rest.def: $(C_RT12)
$(C_OBJ12)/%_rest.def: common/api/cuda_protos.tbl $(C_DIR)/rest.awk
	$(C_REST)

$(C_OBJ12)/%_rest.o: $(C_DIR)/%_rest.c $(C_OBJ12)/%_rest.def
	$(Q)$(CC) $(C_CFLAGS) -I$(C_OBJ12) -c $< -o $@

$(C_LIB12)/libcudart.so.12: $(C_RT12) $(C_OBJ12)/rt_rest.o $(T_DIR)/sim/libcudart12.map | $(C_LIB12)
	$(T_LINK_SO) -Wl,--version-script=$(filter %.map,$^)

# libcublasLt is only named by those that need libcublas
$(C_LIB12)/libcublas.so.12 $(C_LIB12)/libcublasLt.so.12: $(C_OBJ12)/cublas.o $(C_DIR)/libcublas12.map | $(C_LIB12)
	$(T_LINK_SO) -Wl,--version-script=$(filter %.map,$^)

# what was built by another version of these rules is built again
$(CLIENT_FILES): tests/clients/rules.mk

clients-built: $(CLIENT_FILES)

-include $(wildcard $(addsuffix /*.d,$(C_SIM) $(C_OBJ) $(C_OBJ12)))
.PHONY: clients-built
