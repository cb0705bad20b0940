# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# arm64: included by the Makefile, which calls machines as libbpf does
# how NVIDIA's functions begin, with stp or sub, never with bti; a folder of CUDA's targets
SIM_START         := -mbranch-protection=none
EMULATOR          := qemu-aarch64-static
CUDA_TARGET       := sbsa-linux
TRIPLET           := aarch64-linux-gnu
BRANCH_PROTECTION := -mbranch-protection=standard
LARGEST_PAGE      := 65536
NO_LIBGCC         := -mno-outline-atomics
# how tests/unit/cfi_cases.c is compiled, beside the ways of all machines
CFI_WAYS          := record pac leaf bkey
T_CFI_record      := -O2
T_CFI_pac         := -O2 -mbranch-protection=standard
T_CFI_leaf        := -O2 -fomit-frame-pointer -mbranch-protection=pac-ret+leaf
T_CFI_bkey        := -O2 -mbranch-protection=pac-ret+b-key
