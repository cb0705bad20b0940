# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Where are probes placed in NVIDIA's libcuda, and are they cheap there?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=60
believes=tests/sim/drv_entry.c

[ -z "$cannot" ] || { skip 'probe points' 'BPF is not permitted'; return; }
try 60 "$tools/cudamallocsnoop" -j --layer driver --list -l "$libcuda"
# it also lists installed libraries
grep -F "\"$libcuda\"" "$tmp/out" >"$tmp/list"
cp "$tmp/list" "$tmp/out"
cheap=$(($(count '"step":10,') + $(count '"step":4,')))
all=$(count '"func"')
only 'memory functions probed past an instruction that is not emulated' 'most' \
	"$(count '"step":10,') at +10, $(count '"step":4,') at +4, $(count '"step":0,') at +0" \
	"$([ "$all" -gt 0 ] && [ $((2 * cheap)) -gt "$all" ] && echo yes || echo no)"
is 'functions that are skipped' 0 "$(grep -vc '"skipped":null' "$tmp/out")"
command -v python3 >/dev/null || return
try 60 python3 "$here/gpu/starts.py" "$libcuda"
figure "how libcuda's cu* exports begin" "$(cat "$tmp/out" "$tmp/err")"
