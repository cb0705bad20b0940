# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# x86-64: included by the Makefile, which calls machines as libbpf does
# how NVIDIA's functions begin, with push (runtime) or cmpl (driver), never with endbr64; a folder of CUDA's targets
SIM_START         := -fcf-protection=none
EMULATOR          := qemu-x86_64-static
CUDA_TARGET       := x86_64-linux
TRIPLET           := x86_64-linux-gnu
BRANCH_PROTECTION := -fcf-protection
LARGEST_PAGE      := 4096
# how tests/unit/cfi_cases.c is compiled, beside the ways of all machines
CFI_WAYS          := realign
T_CFI_realign     := -O2 -fomit-frame-pointer -mstackrealign -mavx2
