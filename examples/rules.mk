# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# The programs of the manuals' examples: make examples.  Included by the Makefile, after tests/rules.mk.
# They run on the GPU if there is one and nvcc is installed, else on the simulated CUDA.

X_O := $(O)/examples
X_GPU := $(and $(wildcard /dev/nvidia0),$(T_NVCC))
EXAMPLES := $(X_O)/train $(X_O)/train.py $(X_O)/loader.py $(X_O)/ranks.py

examples: $(EXAMPLES)
	@echo "built $(EXAMPLES)$(if $(X_GPU),, for the simulated CUDA)"

$(X_O):
	$(Q)mkdir -p $@

X_FLAGS := -O1 -g
ifneq ($(X_GPU),)
$(X_O)/train: examples/train.cu | $(X_O)
	$(Q)$(T_NVCC) $(X_FLAGS) -lineinfo -o $@ $<
else
ifneq ($(T_NVCC),)
$(X_O)/train.o: examples/train.cu | $(X_O)
	$(Q)$(T_NVCC) $(X_FLAGS) -lineinfo -DSIMULATED -gencode arch=compute_75,code=[sm_75$(T_COMMA)compute_75] -c $< -o $@
else
$(X_O)/train.o: examples/train.cu examples/no_nvcc.h $(T_DIR)/sim/sim_cuda.h | $(X_O)
	$(Q)$(CXX) -std=c++17 $(X_FLAGS) -Wall -Wextra -DSIMULATED -x c++ -c $< -o $@
endif
$(X_O)/train: $(X_O)/train.o $(T_CUDART) $(T_LIBCUDA)
	$(Q)$(CXX) -o $@ $< $(T_CUDART) -Wl,-rpath,'$$ORIGIN/../tests/lib' -pthread -ldl
endif

$(X_O)/train.py $(X_O)/loader.py $(X_O)/ranks.py: $(X_O)/%: examples/% $(T_CUDART) $(T_LIBCUDA) $(T_NCCL) | $(X_O)
	$(Q)cp $< $@
