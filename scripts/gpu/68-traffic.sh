# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Do cudacoalesce's sectors and cudabounds' lanes match deliberate accesses?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=90
believes=tests/sim/interp/memory.c

q 15
has inside 'sectors and bounds' || return
for n in 1:1:4 2:2:8 8:8:32 32:32:32; do
	expected=${n#*:}
	look cudacoalesce -- "$inside" stride 5 "${n%%:*}"
	is "cudacoalesce: every ${n%%:*}. float: accesses, lines and sectors of each" "160, ${expected%:*}, ${expected#*:}" \
		"$(sum "$load" accesses), $(sum "$load" lines), $(sum "$load" sectors)"
done
look cudabounds -- "$inside" outside 7
is 'cudabounds: lanes that read behind an allocation' 7 "$(sum '"type":"site"' outside)"
look cudabounds -- "$inside" stride 5 8
is 'cudabounds: accesses checked, lanes outside' '320, 0' \
	"$(sum '"type":"site"' checked), $(sum '"type":"site"' outside)"
