# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Which driver functions does each kind of memory reach?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=120
believes=tests/sim/rt_mem.c

q 4
has mem$own 'kinds of memory' || return
while read -r kind words; do
	for layer in runtime driver; do
		try 30 "$tools/cudamallocsnoop" $how -qj --layer $layer -c "$bin/mem$own $words"
		functions >"$tmp/$layer"
		[ $rc -eq 0 ] || echo " (status $rc)" >>"$tmp/$layer"
	done
	figure "3 of $kind, allocated and freed: runtime; driver" "$(cat "$tmp/runtime"); $(cat "$tmp/driver")"
done <<-EOF
	device malloc 3 4096 free 3
	managed managed 3 4096 free 3
	pitch pitch 3 100 10 free 3
	3D malloc3d 3 8 8 8 free 3
	host host 3 4096 hostfree 3
	hostalloc hostalloc 3 4096 hostfree 3
	registered register 3 4096 unregister 3
	array array 3 8 8 arrayfree 3
	3D-array array3d 3 8 8 8 arrayfree 3
	mipmaps mip 3 8 8 8 2 mipfree 3
	async async 3 4096 asyncfree 3
	pool pool 3 4096 poolfree 3 pooldestroy
	vmm vmm 3 vmmfree 3
	reset malloc 3 4096 reset
EOF
