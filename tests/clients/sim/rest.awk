# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# rest.awk LAYER HAVE cuda_protos.tbl: REST(name) for each of the newest CUDA's functions of that layer that
# is not in HAVE, a list of names: programs look for them when they are loaded, and may do without them.
# Other versions of those in HAVE are left out: cuGetProcAddress gives the newest.
function plain(name) { sub(/_pt[ds][sz]$/, "", name); sub(/_v[0-9]+$/, "", name); return name }
BEGIN {
	layer = ARGV[1]; have = ARGV[2]; ARGV[1] = ARGV[2] = ""
	if (layer == "drv") while ((getline line < have) > 0) there[plain(line)]
	else while ((getline line < have) > 0) there[line]
}
# a row that the newest version has: SINCE-
$1 == layer && $3 ~ /-$/ {
	name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
	if (name in done || (layer == "drv" ? plain(name) : name) in there) next
	done[name]; print "REST(" name ")"
}
