# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034 # for the scripts that include it
# x86-64: what scripts need to know of it, and the virtual machine of scripts/check-kernels
# Debian's name of it, and its dynamic linker
architecture=amd64
loader=/lib64/ld-linux-x86-64.so.2
# the machine as Linux calls it, and in an ELF header: the low byte
machine=x86_64 elf_machine=3e
# what runs its programs on another machine, and the word of scripts/setup for it and for qemu
emulator=qemu-x86_64-static setup=kernels
console=ttyS0
limit=900
qemu='qemu-system-x86_64 -machine q35 -cpu max -m 768'

# kernel, Debian's flavour, and the suites that have it: the newest of that series, or of all series if it is a word;
# boot parameters follow a comma in the name
kernels='
5.10	cloud-amd64 bullseye-security
6.1	cloud-amd64 bookworm-security
6.12	cloud-amd64 bookworm-security
6.12,lockdown=confidentiality	cloud-amd64 bookworm-security
6.16	cloud-amd64 trixie-backports
6.19	cloud-amd64 trixie-backports
backports	cloud-amd64 trixie-backports
newest	cloud-amd64 sid experimental
'
