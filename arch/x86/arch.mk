# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# x86-64: included by the Makefile, which calls machines as libbpf does
TRIPLET           := x86_64-linux-gnu
BRANCH_PROTECTION := -fcf-protection
