# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Turns cuda_api.tbl, whose head describes its rows, into one line per symbol, with place.awk's
# places and the roles of common/api/cuda_roles.tbl:
# CUDA_API(name, RT, DRV, NCCL or NVRTC, CLASS, .field = value, ...), or for a USDT probe CUDA_API_USDT(provider, probe, CLASS,
# ...), which is CUDA_API(provider_probe, USDT, CLASS, ...) where nobody defines it.
function fail(msg) { printf "%s:%d: %s\n", FILENAME, FNR, msg > "/dev/stderr"; bad = 1 }

# The roles, and those that a result may be stored at.
function read_roles(file,   line, f) {
	while ((getline line < file) > 0) {
		split(line, f, / *[|] */)
		if (line ~ /^(#|[ \t]*$)/ || f[2] ~ /made/) continue
		roles[f[1]]
		if (f[2] ~ /result/) outs[f[1]]
	}
	close(file)
	if (!("ptr" in roles)) { print file ": no roles" > "/dev/stderr"; exit bad = 1 }
}

function list(text, into,   i, n, w) { n = split(text, w); for (i = 1; i <= n; i++) into[w[i]] }

function set(field, value) {
	if ((NR, field) in given) fail("'" field "' given twice")
	given[NR, field]; init = init (init == "" ? "" : ", ") "." field " = " value
}

function argument(text, number,   role, out, size, at, pos, reference) {
	role = text; out = sub(/^\*/, "", role)
	if (match(role, /@[0-9]+$/)) { at = substr(role, RSTART + 1); role = substr(role, 1, RSTART - 1) }
	if (match(role, /:[0-9]+$/)) { size = substr(role, RSTART + 1); role = substr(role, 1, RSTART - 1) }
	size = size ? size : role in bytes ? bytes[role] : 8
	pos = place(size); reference = by_reference(size) ? "CUDA_BY_REFERENCE + " : ""
	if (role ~ /^(grid|block)3$/) { place(8); place(8); sub(/3$/, "", role) }
	if ((out ? number > (role == "pitch" ? 9 : 1) || !(role in outs) : role == "pitch") ||
	    at != "" && role !~ /^(size|params)$/) fail("'" text "' is not allowed here")
	if (role ~ /^(_|dim3)$/) return
	if (!(role in roles)) { fail("unknown argument '" text "'"); return }
	set(role, reference pos)
	if (out && role != "pitch") set("out", pos)
	if (at != "") set("size_at", at)
	if (at != "" && role == "size") set("shape", "CUDA_FIELD")
}

function attribute(text,   key, value) {
	key = text; sub(/=.*/, "", key); value = substr(text, length(key) + 2)
	if ((key, value) in words) set(key, key == "direction" ? words[key, value] : "CUDA_" toupper(value))
	else if (key ~ /^(elem|kind_at|src_at|dst_at|from_at|to_at)$/ && value ~ /^[0-9]+$/ && value + 0 < 256) set(key, value)
	else if (text ~ /^(async|cooperative|counted|loads|waits)$/) set(text, 1)
	else if (text !~ /^(since|until)=[0-9]+(\.[0-9]+)?$/) fail("unknown attribute '" text "'")
}

function emit(name,   at) {
	if (name in line) fail(name " is already on line " line[name])
	line[name] = FNR
	for (at = ++names; at > 1 && sorted[at - 1] > name; at--) sorted[at] = sorted[at - 1]
	sorted[at] = name
	if ($1 == "usdt") {
		split(name, w, ":")
		printf "CUDA_API_USDT(%s, %s, %s, %s)\n", w[1], w[2], toupper($2), (init == "" ? 0 : init)
	} else printf "CUDA_API(%s, %s, %s, %s)\n", name, toupper($1), toupper($2), (init == "" ? 0 : init)
}

function variant(name, suffix,   plain) {
	plain = init
	if (suffix ~ /pt[ds][sz]$/) set("per_thread", 1)
	emit(name "_" suffix); init = plain; delete given[NR, "per_thread"]
}

BEGIN {
	read_roles("common/api/cuda_roles.tbl")
	list("alloc free map unmap reset ctx stream copy set launch sync name wait graph event query operation comm group ask load limit", classes)
	split("begin begin_anew end record await instantiate clone destroy kernel_node any_node child_node copy_node " \
	      "set_node host_node alloc_node free_node other_node enable host_call", w)
	for (i in w) words["op", w[i]]
	split("push pop keep", w); for (i in w) words["stack", w[i]]
	split("device managed host array pool vmm ipc tensor code", w); for (i in w) words["memory", w[i]]
	n = split("pitch:pitch,height pitched:ptr,extent rt_array:desc drv_array:desc drv_array3d:desc " \
		  "rect:width,height extent:extent params:params,size_at params2d:params,size_at sizes:size,count", w)
	for (i = 1; i <= n; i++) { split(w[i], f, ":"); words["shape", f[1]]; needs[f[1]] = f[2] }
	split("h2d HTOD d2h DTOH d2d DTOD h2h HTOH p2p PTOP default DEFAULT", w)
	for (i = 1; i < 12; i += 2) words["direction", w[i]] = "CUDA_" w[i + 1]
	bytes["dim3"] = bytes["grid"] = bytes["block"] = 12; bytes["extent"] = 24
	print "/* Made from cuda_api.tbl by gen_api.awk: edit that. */"
	print "#ifdef CUDA_API\n#ifndef CUDA_API_USDT\n#define CUDA_API_USDT(provider, probe, class, ...) \\"
	print "\tCUDA_API(provider##_##probe, USDT, class, __VA_ARGS__)\n#define CUDA_API_USDT_HERE\n#endif"
}

/^[ \t]*(#|$)/ { next }
length($0) > 4000 { fail("more than 4000 characters"); next }	# mawk has room for 8191
$1 !~ /^(rt|drv|usdt|nccl|nvrtc)$/ { fail("unknown library '" $1 "'"); next }
$2 == "none" { if ($0 !~ /none( +[A-Za-z0-9_*]+)+ *: ./) fail("expected 'NAME... : reason'"); next }
!($2 in classes) { fail("unknown class '" $2 "'"); next }
!match($0, /^[a-z]+[ \t]+[a-z]+[ \t]+[A-Za-z_][A-Za-z0-9_]*(:[a-z_]+)?\([^()]*\)/) { fail("expected NAME(ARGUMENT, ...) after the class"); next }

{
	proto = substr($0, 1, RLENGTH); n = split(substr($0, RLENGTH + 1), rest)
	name = $3; sub(/\(.*/, "", name); gsub(/^[^(]*\(|\)|[ \t]/, "", proto)
	init = ""; used = stack = 0
	args = split(proto, arg, ",")
	for (i = 1; i <= args; i++) if (arg[i] != "..." || i < args) argument(arg[i], i)
	for (i = 1; i <= n; i++) if (rest[i] !~ /^\+/) attribute(rest[i])
	shape = $2 ~ /^(copy|set)$/ ? "size" : ""
	for (i = 1; i <= n; i++) if (sub(/^shape=/, "", rest[i])) shape = needs[rest[i]]
	n_needs = split(shape, w, ",")
	for (i = 1; i <= n_needs; i++) if (!((NR, w[i]) in given)) fail("this shape requires '" w[i] "'")
	if ($2 ~ /^(alloc|free)$/ && !((NR, "memory") in given)) fail("memory= is missing")
	if ($2 ~ /^(graph|event|group)$/ && !((NR, "op") in given)) fail("op= is missing")
	if ($2 == "copy" && init !~ /\.(direction|kind|kind_at|src_at) =/) fail("neither direction= nor kind")
	if ($2 == "copy" && !((NR, "async") in given)) set("waits", 1)
	emit(name)
	for (i = 1; i <= n; i++)
		if (rest[i] ~ /^\+(v[2-4]|pt[ds][sz]|v[2-4]_pt[ds][sz])$/) variant(name, substr(rest[i], 2))
		else if (rest[i] ~ /^\+/) fail("unknown variant '" rest[i] "'")
}

END {
	print "#ifdef CUDA_API_USDT_HERE\n#undef CUDA_API_USDT\n#undef CUDA_API_USDT_HERE\n#endif\n#endif\n#ifdef CUDA_API_BY_NAME"
	for (i = 1; i <= names; i++) {	# by the names that are looked for, with their ":"
		sub(/:/, "_", sorted[i]); print "CUDA_API_BY_NAME(" sorted[i] ")"
	}
	print "#endif"
	exit bad
}
