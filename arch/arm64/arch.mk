# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# arm64: included by the Makefile, which calls machines as libbpf does
TRIPLET           := aarch64-linux-gnu
BRANCH_PROTECTION := -mbranch-protection=standard
