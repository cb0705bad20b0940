/* SPDX-License-Identifier: GPL-2.0 */
/* There is no kernel whose structs are other than declared. */
#ifndef INJECT_BPF_CORE_READ_H
#define INJECT_BPF_CORE_READ_H

#define BPF_CORE_READ(from, field) ((from)->field)
#define bpf_core_enum_value_exists(type, value) 1

#endif
