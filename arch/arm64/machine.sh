# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034 # for the scripts that include it
# arm64: what scripts need to know of it, and the virtual machine of scripts/check-kernels
# Debian's name of it, and its dynamic linker
architecture=arm64
loader=/lib/ld-linux-aarch64.so.1
# the machine as Linux calls it, and in an ELF header: the low byte
machine=aarch64 elf_machine=b7
# what runs its programs on another machine, and the word of scripts/setup for it and for qemu
emulator=qemu-aarch64-static setup=arm64
console=ttyAMA0
# without hardware of that kind every instruction is emulated
limit=1800
# programs and kernel sign return addresses; QEMU's default algorithm takes three quarters of the time
qemu='qemu-system-aarch64 -machine virt -cpu max,pauth-impdef=on -m 1024'

# for kernels that are built (scripts/kernel-build): the machine as Linux's makefiles call it, the compiler's prefix, the
# image, and options
kernel_arch=arm64 compiler=aarch64-linux-gnu- image=Image
options='ARM64_64K_PAGES ARM64_VA_BITS_48 ARM64_PTR_AUTH ARM64_BTI ARM64_SVE SERIAL_AMBA_PL011 SERIAL_AMBA_PL011_CONSOLE'

# kernel, Debian's flavour, or that it is built from its source, and the suites that have it: the newest of that series, or of
# all series if it is a word.  Pages have 4 KiB, with -16k 16, with -64k 64
kernels='
6.1	cloud-arm64 bookworm-security
6.12	cloud-arm64 bookworm-security
6.12-16k	arm64-16k bookworm-security
6.12-64k	source trixie
backports	cloud-arm64 trixie-backports
'
