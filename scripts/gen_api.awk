# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Turns cuda_api.tbl, whose head describes its rows, into one line per symbol, with place.awk's
# places and the roles of common/api/cuda_roles.tbl:
# CUDA_API(name, RT, DRV, NCCL, NVRTC or LIB, CLASS, .field = value, ...), or for a USDT probe CUDA_API_USDT(provider, probe, CLASS,
# ...), which is CUDA_API(provider_probe, USDT, CLASS, ...) where nobody defines it; for a form that an older major version had
# CUDA_API_OLDER(name, MAJOR, LIBRARY, CLASS, ...), which is CUDA_API(name_MAJOR, LIBRARY, CLASS, ...).
function fail(msg) { printf "%s:%d: %s\n", FILENAME, FNR, msg > "/dev/stderr"; bad = 1 }

# The roles, those that a result may be stored at, and those that parameters have by their types.
function read_roles(file,   line, f, i, n, w) {
	while ((getline line < file) > 0) {
		split(line, f, / *[|] */)
		if (line ~ /^(#|[ \t]*$)/ || f[2] ~ /made/) continue
		roles[f[1]]
		if (f[2] ~ /result/) outs[f[1]]
		n = split(f[9], w, " ")
		for (i = 1; i <= n; i++) { sub(/@.*/, "", w[i]); typed[w[i]] = f[1] }
	}
	close(file)
	if (!("ptr" in roles)) { print file ": no roles" > "/dev/stderr"; exit bad = 1 }
}

# placed[function, n]: the role that parameter n of any of its forms should have, by its type and name in cuda_protos.tbl: where
# the call works.  Peers are not where it works.
function read_places(file,   line, p, n, i, t, role, name, form) {
	while ((getline line < file) > 0) {	# the newest form of each first
		if (line !~ /^(rt|drv) .*\(.*\)$/ || line ~ /\(\?\)$/) continue
		match(line, /[A-Za-z_0-9]+\(/); name = substr(line, RSTART, RLENGTH - 1)
		t = substr(line, RSTART + RLENGTH); sub(/\)$/, "", t); n = split(t, p, ", ")
		form = (name in forms) ? "@12" : ""; forms[name form]
		for (i = 1; i <= n; i++) if ((role = role_of(p[i])) != "") placed[name form, i] = role
	}
	close(file)
	if (!("cuMemCreate" in forms)) { print file ": no functions" > "/dev/stderr"; exit bad = 1 }
}

function role_of(p,   type, name) {
	name = type = p; sub(/.*[ *]/, "", name); sub(/^const /, "", type); sub(/ .*/, "", type)
	if (name ~ /[Pp]eer/) return ""
	if (type in typed) return typed[type]
	return p !~ /\*/ && (type "." name) in typed ? typed[type "." name] : ""
}

# Fails if an argument that says where the call works has no role.
function check_places(name, args,   i, number, text) {
	if (unused) return
	for (i = number = 1; i <= args; i++) {
		text = arg[i]
		do if ((text == "_" || text == "...") && (name, number) in placed)
			fail("'" text "' of " name " is a " placed[name, number] " (unused=WHY if it does not matter)")
		while (text == "..." && number++ < 16)
		number += text ~ /^(grid|block)3$/ ? 3 : 1
	}
}

# Fails if only the newest form of a function has a row, and an older one has such arguments elsewhere.
function check_forms(   key, f, name, known) {
	for (key in placed) {
		split(key, f, SUBSEP); name = f[1]; sub(/@12$/, "", name)
		if (!(name in line) || !((name "@12") in forms) || (name "@12") in line || name in known) continue
		if (placed_as(name, f[2]) == placed_as(name "@12", f[2])) continue
		known[name]; FNR = line[name]; fail("no row for " name "@12, whose arguments for where it works are others")
	}
}

function placed_as(name, n) { return (name, n) in placed ? placed[name, n] : "" }

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
	    at != "" && role !~ /^(size|params|location)$/) fail("'" text "' is not allowed here")
	if (role ~ /^(_|dim3)$/) return
	if (!(role in roles)) { fail("unknown argument '" text "'"); return }
	set(role, reference pos)
	if (out && role != "pitch") set("out", pos)
	if (role == "location") { if (at != "") set("location_at", at + 1); return }
	if (at != "") set("size_at", at)
	if (at != "" && role == "size") set("shape", "CUDA_FIELD")
}

function attribute(text,   key, value) {
	key = text; sub(/=.*/, "", key); value = substr(text, length(key) + 2)
	if (key == "handle" && (key, value) in words) set("memory", "CUDA_" toupper(value) "_HANDLE")
	else if ((key, value) in words) set(key, key == "direction" ? words[key, value] : "CUDA_" toupper(value))
	else if (key ~ /^(elem|kind_at|src_at|dst_at|from_at|to_at)$/ && value ~ /^[0-9]+$/ && value + 0 < 256) set(key, value)
	else if (text ~ /^(anywhere|async|cooperative|counted|loads|nowhere|waits)$/) set(text, 1)
	else if (text ~ /^unused=[a-z-]+$/) unused = 1
	else if (text !~ /^(since|until)=[0-9]+(\.[0-9]+)?$/) fail("unknown attribute '" text "'")
}

function emit(name,   at) {
	if (name in line) fail(name " is already on line " line[name])
	line[name] = FNR
	if (match(name, /@[0-9]+$/)) {
		printf "CUDA_API_OLDER(%s, %s, %s, %s, %s)\n", substr(name, 1, RSTART - 1), substr(name, RSTART + 1), \
			toupper($1), toupper($2), (init == "" ? 0 : init)
		return
	}
	for (at = ++names; at > 1 && sorted[at - 1] > name; at--) sorted[at] = sorted[at - 1]
	sorted[at] = name
	if ($1 == "usdt") {
		split(name, w, ":")
		printf "CUDA_API_USDT(%s, %s, %s, %s)\n", w[1], w[2], toupper($2), (init == "" ? 0 : init)
	} else printf "CUDA_API(%s, %s, %s, %s)\n", name, toupper($1), toupper($2), (init == "" ? 0 : init)
}

function variant(name, suffix,   plain, form) {
	plain = init; form = ""
	if (match(name, /@[0-9]+$/)) { form = substr(name, RSTART); name = substr(name, 1, RSTART - 1) }
	if (suffix ~ /pt[ds][sz]$/) set("per_thread", 1)
	check_places(name "_" suffix form, args)
	emit(name "_" suffix form); init = plain; delete given[NR, "per_thread"]
}

BEGIN {
	read_roles("common/api/cuda_roles.tbl")
	read_places("common/api/cuda_protos.tbl")
	list("alloc free map unmap reset ctx stream pools copy set prefetch launch sync name wait graph event query operation comm group ask load limit handle", classes)
	split("begin begin_anew end record await instantiate clone destroy kernel_node any_node child_node copy_node " \
	      "set_node host_node alloc_node free_node other_node enable host_call", w)
	for (i in w) words["op", w[i]]
	split("push pop keep gone", w); for (i in w) words["stack", w[i]]
	split("device managed host array pool vmm ipc tensor code", w); for (i in w) words["memory", w[i]]
	split("stream event graph exec context texture surface mempool cublas cudnn cusolver cusparse", w); for (i in w) words["handle", w[i]]
	n = split("pitch:pitch,height pitched:ptr,extent rt_array:desc drv_array:desc drv_array3d:desc " \
		  "rect:width,height extent:extent params:params,size_at params2d:params,size_at sizes:size,count", w)
	for (i = 1; i <= n; i++) { split(w[i], f, ":"); words["shape", f[1]]; needs[f[1]] = f[2] }
	split("h2d HTOD d2h DTOH d2d DTOD h2h HTOH p2p PTOP default DEFAULT", w)
	for (i = 1; i < 12; i += 2) words["direction", w[i]] = "CUDA_" w[i + 1]
	bytes["dim3"] = bytes["grid"] = bytes["block"] = 12; bytes["extent"] = 24
	print "/* Made from cuda_api.tbl by gen_api.awk: edit that. */"
	print "#ifdef CUDA_API\n#ifndef CUDA_API_USDT\n#define CUDA_API_USDT(provider, probe, class, ...) \\"
	print "\tCUDA_API(provider##_##probe, USDT, class, __VA_ARGS__)\n#define CUDA_API_USDT_HERE\n#endif"
	print "#ifndef CUDA_API_OLDER\n#define CUDA_API_OLDER(name, major, lib, class, ...) \\"
	print "\tCUDA_API(name##_##major, lib, class, __VA_ARGS__)\n#define CUDA_API_OLDER_HERE\n#endif"
}

/^[ \t]*(#|$)/ { next }
length($0) > 4000 { fail("more than 4000 characters"); next }	# mawk has room for 8191
$1 !~ /^(rt|drv|usdt|nccl|nvrtc|lib)$/ { fail("unknown library '" $1 "'"); next }
$2 == "none" { if ($0 !~ /none( +[A-Za-z0-9_*]+)+ *: ./) fail("expected 'NAME... : reason'"); next }
!($2 in classes) { fail("unknown class '" $2 "'"); next }
!match($0, /^[a-z]+[ \t]+[a-z]+[ \t]+[A-Za-z_][A-Za-z0-9_]*(:[a-z_]+|@[0-9]+)?\([^()]*\)/) { fail("expected NAME(ARGUMENT, ...) after the class"); next }

{
	proto = substr($0, 1, RLENGTH); n = split(substr($0, RLENGTH + 1), rest)
	name = $3; sub(/\(.*/, "", name); gsub(/^[^(]*\(|\)|[ \t]/, "", proto)
	init = ""; used = stack = unused = 0
	args = split(proto, arg, ",")
	for (i = 1; i <= args; i++) if (arg[i] != "..." || i < args) argument(arg[i], i)
	for (i = 1; i <= n; i++) if (rest[i] !~ /^\+/) attribute(rest[i])
	shape = $2 ~ /^(copy|set|prefetch)$/ ? "size" : ""
	for (i = 1; i <= n; i++) if (sub(/^shape=/, "", rest[i])) shape = needs[rest[i]]
	n_needs = split(shape, w, ",")
	for (i = 1; i <= n_needs; i++) if (!((NR, w[i]) in given)) fail("this shape requires '" w[i] "'")
	if ($2 ~ /^(alloc|free)$/ && !((NR, "memory") in given)) fail("memory= is missing")
	if ($2 == "handle" && !((NR, "memory") in given)) fail("handle= is missing")
	if ($2 ~ /^(graph|event|group)$/ && !((NR, "op") in given)) fail("op= is missing")
	if ($2 == "copy" && init !~ /\.(direction|kind|kind_at|src_at) =/) fail("neither direction= nor kind")
	if ($2 == "copy" && !((NR, "async") in given)) set("waits", 1)
	if ((NR, "locations") in given && !((NR, "location_at") in given)) fail("locations without location@N")
	check_places(name, args)
	emit(name)
	for (i = 1; i <= n; i++)
		if (rest[i] ~ /^\+(v[2-4]|pt[ds][sz]|v[2-4]_pt[ds][sz])$/) variant(name, substr(rest[i], 2))
		else if (rest[i] ~ /^\+/) fail("unknown variant '" rest[i] "'")
}

END {
	check_forms()
	print "#ifdef CUDA_API_OLDER_HERE\n#undef CUDA_API_OLDER\n#undef CUDA_API_OLDER_HERE\n#endif"
	print "#ifdef CUDA_API_USDT_HERE\n#undef CUDA_API_USDT\n#undef CUDA_API_USDT_HERE\n#endif\n#endif\n#ifdef CUDA_API_BY_NAME"
	for (i = 1; i <= names; i++) {	# by the names that are looked for, with their ":"
		sub(/:/, "_", sorted[i]); print "CUDA_API_BY_NAME(" sorted[i] ")"
	}
	print "#endif"
	exit bad
}
