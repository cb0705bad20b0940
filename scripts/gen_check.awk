# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Compares cuda_api.tbl with one version of CUDA, -v version=13000.  Reads four files:
# cuda_roles.tbl, cuda_protos.tbl with nccl_protos.tbl and nvrtc_protos.tbl, lines of the exported symbols ('rt NAME', 'drv
# NAME', 'nccl NAME', 'nvrtc NAME'), the table.
# Prints errors to standard error, and what only the compiler can check (the offsets of members of
# structs that parameters point to) to standard output, as C++ to compile.
function fail(msg) { printf "%s:%d: %s\n", FILENAME, FNR, msg > "/dev/stderr"; bad = 1 }

BEGIN {
	candidate = "Alloc|Malloc|Free|Memcpy|Memset|Launch|Synchronize|Destroy|Reset|Release|Import|Detach|" \
		"MemMap|MemUnmap|MemCreate|Prefetch|Advise|Discard|HostRegister|HostUnregister|RegisterFunction|Ipc(Open|Close)|Mapped|" \
		"(Array|Array3D|Ctx|Multicast|Stream)Create|PrimaryCtxRetain|SetCurrent|PushCurrent|PopCurrent|InitDevice|SetDevice|GetFunc|GetKernel|" \
		"FuncGetName|KernelGet|LibraryGet.*(Kernel|Function|Module)"
	lib["rt"] = "libcudart"; lib["drv"] = "libcuda"; lib["nccl"] = "libnccl"; lib["nvrtc"] = "libnvrtc"
	print "#include <stddef.h>\n#include <cuda.h>\n#include <cuda_runtime_api.h>"
}

FNR == 1 { file++ }

# The names that NVIDIA gives to parameters of each role; of grid3 and block3, the first of three.
file == 1 && !/^(#|[ \t]*$)/ {
	split($0, f, / *[|] */); n = split(f[7], w)
	for (i = 1; i <= n; i++) { known[f[1], w[i]]; known[f[1] "3", w[i] "X"] }
}
file == 1 { next }

# declared[name] = number of parameters, type[name, i], param[name, i], of the newest form.
file == 2 && $1 == "type" {
	name = $0; gsub(/^type +[a-z0-9]+ +[0-9]+ | = .*/, "", name); bytes[name] = $3
}
file == 2 && $1 ~ /^(rt|drv|nccl|nvrtc)$/ { prototype($0) }
file == 2 { next }

function prototype(s,   name, i, n, p) {
	match(s, /[A-Za-z_0-9]+\(/); name = substr(s, RSTART, RLENGTH - 1)
	if (name in declared || s ~ /\(\?\)/) return
	open[name] = $3 ~ /-$/
	gsub(/^[^(]*\(|\)$/, "", s); n = declared[name] = split(s, p, ", ")
	for (i = 1; i <= n; i++) {
		match(p[i], /[A-Za-z_0-9]+$/)
		type[name, i] = substr(p[i], 1, RSTART - 1); param[name, i] = substr(p[i], RSTART)
		sub(/ $/, "", type[name, i])
	}
}

file == 3 { exported[$1, $2]; libraries[$1]; next }

/^[ \t]*(#|$)/ { next }

# no file of NVIDIA's has them, or not this version's
$1 ~ /^(usdt|lib)$/ || $3 ~ /@[0-9]+\(/ { next }
$2 == "none" {
	for (i = 3; $i != ":"; i++) {
		name = $i; gsub(/\*/, ".*", name); none[$1] = none[$1] "|" name
	}
	next
}

{
	rows++; proto = substr($0, 1, index($0, ")")); n = split(substr($0, length(proto) + 1), rest)
	name = $3; sub(/\(.*/, "", name); gsub(/^[^(]*\(|\)|[ \t]/, "", proto); args = split(proto, arg, ",")
	since = until = elem = 0
	for (i = 1; i <= n; i++) {
		split(rest[i], w, "[=.]")
		if (w[1] == "since") since = w[2] * 1000 + w[3] * 10
		if (w[1] == "until") until = w[2] * 1000 + (w[3] == "" ? 990 : w[3] * 10)
		if (w[1] == "elem") elem = w[2]
		if (w[1] ~ /^(kind|src|dst|from|to)_at$/) byte[w[1]] = w[2]
	}
	symbol(name)
	for (i = 1; i <= n; i++) if (rest[i] ~ /^\+/) symbol(name "_" substr(rest[i], 2))
	split("", byte)
	if ($2 ~ /^(alloc|free)$/) memory(substr($0, index($0, ")") + 1) " ")
	stream_order($1 " " $2 " " substr($0, index($0, ")") + 1) " ")
}

# The kind of memory, which the name says.
function memory(words,   kind) {
	kind = name ~ /^cu(Mem(Create|Release|Retain|ImportFromSh)|Multicast)/ ? "vmm" : name ~ /External/ && name !~ /Array/ || name ~ /Ipc|Import/ ? "ipc" : \
		name ~ /Async|FromPool/ ? "pool" : name ~ /Array/ ? "array" : name ~ /Host/ ? "host" : \
		name ~ /Managed/ ? "managed" : "device"
	if (words !~ " memory=" kind " ") fail(name " has not memory=" kind)
}

# NVIDIA's variants for per-thread streams: _ptsz of what takes a stream, _ptds of what does not.
function stream_order(words) {
	if (words ~ / async / ? words ~ / \+ptds / : words ~ / launch | \+ptsz / && words !~ / (sync|query|graph|event) /)
		fail(name " is " (words ~ / async / ? "" : "not ") "async")
}

# A parameter whose name says its role has one; not handles of IPC, devices of copies, pitches, flags, what contexts are made of.
function has_role(text, t, p,   k, w) {
	if (t ~ /(Dev|dev)ResourceDesc|CUmulticastObjectProp/ || p == "handle" && t ~ /^void/) return 0
	if ($1 == "nccl" && (p ~ /^(config|ctx)$/ || t ~ /^int ?\*$/)) return 0
	if (text ~ /:/ || p ~ /Device$/ && t ~ /^(int|CUdevice|CUcontext)$/ || p == "pitch" && t == "size_t" || p == "value" && t != "size_t" || p ~ /^[Ff]lags$/) return 0
	for (k in known) { split(k, w, SUBSEP); if (w[2] == p) return 1 }
}

function symbol(name,   i, j, n, role, has) {
	symbols++; row[$1, name]; has = ($1, name) in exported
	known_since = $1 == "nccl" ? (since > nccl_version ? 99999 : 0) : since
	if (!has && $1 in libraries && version >= known_since && !(until && version > until)) fail(lib[$1] " has no " name)
	if (has && until && version > until) fail(name " is exported: wrong until=")
	if (!(name in declared)) { missing = missing " " name; absent++; return }
	checks = ""
	for (i = j = 1; i <= args && arg[i] != "..."; i++) {
		role = arg[i]; sub(/^\*/, "", role); sub(/[@:].*/, "", role)
		check(name, role, arg[i], j++)
		in_three = role ~ /^(grid|block)3$/
		if (in_three) { check(name, "_", "_", j++); check(name, "_", "_", j++) }
		in_three = 0
	}
	if (arg[i] == "..." && j <= declared[name]) j = declared[name] + 1
	if (j - 1 != declared[name])
		fail(name " has " declared[name] " parameters in the headers, " j - 1 " here")
	else if (checks != "" && open[name] && version >= known_since) printf "#line %d \"%s\"\n%s\n", FNR, FILENAME, checks
}

function assert(what, n, complaint) {
	checks = checks "static_assert(" what " == " n ", \"" complaint " " n "\"); "
}
function member(t, name, byte) { assert("offsetof(" t ", " name ")", byte, name " is not at byte") }

# Parameter j of a function, to which a row gives that role.
function check(name, role, text, j,   t, what, left, is_dim3, size, at) {
	if (j > declared[name]) return
	t = left = type[name, j]; sub(/(void|char) ?\*/, "", left)
	if (param[name, j] == "fatCubinHandle") left = ""	# a handle, though a pointer to a pointer
	what = "'" text "' is parameter '" t " " param[name, j] "' of " name
	if (role !~ /^(_|dim3)$/ && (!((role, param[name, j]) in known) || role ~ /^(dst|src)$/ && t == "int"))
		fail(what)
	if (role == "_" && !in_three && has_role(text, t, param[name, j])) fail(what)
	if (role ~ /^(ptr|handle|pool|ctx|func|name|module|library|stub)$/ && (left ~ /\*/) != (text ~ /^\*/))
		fail(what ": " (left ~ /\*/ ? "" : "not ") "*")
	is_dim3 = role ~ /^(dim3|grid|block)$/
	if ((t == "dim3") != is_dim3 || role == "extent" && t != "cudaExtent") fail(what)
	at = text; sub(/.*[@:]/, "", at); size = text ~ /:/ ? at : is_dim3 ? 12 : role == "extent" ? 24 : 0
	if (t !~ /\*$/ && (size ? bytes[t] != size : bytes[t] > 8)) fail(what ", of " bytes[t] " bytes")
	gsub(/const | ?\*$/, "", t)
	if (role == "size" && text ~ /@/) member(t, "size", at)
	if (role == "location" && text ~ /@/ && t !~ /MemLocation$|mem[Ll]ocation$/) member(t, "location", at)
	if (role == "params") {
		if (text ~ /@/) member(t, t ~ /CUDA_MEMCPY[23]D(_PEER)?$/ ? "WidthInBytes" : "extent", at)
		if (elem) assert("sizeof(" t ")", elem, "the struct does not have the size")
		if ("from_at" in byte) member(t, t ~ /^cuda/ ? "srcDevice" : "srcContext", byte["from_at"])
		if ("to_at" in byte) member(t, t ~ /^cuda/ ? "dstDevice" : "dstContext", byte["to_at"])
		if ("kind_at" in byte) member(t, "kind", byte["kind_at"])
		if ("src_at" in byte) member(t, "srcMemoryType", byte["src_at"])
		if ("dst_at" in byte) member(t, "dstMemoryType", byte["dst_at"])
	}
}

END {
	for (i in exported) {
		split(i, w, SUBSEP)
		if ((w[2] ~ candidate || w[1] == "nccl") && !(i in row) && w[2] !~ "^(" substr(none[w[1]], 2) ")$") {
			printf "%s: no row for %s, which %s exports\n", FILENAME, w[2], lib[w[1]] > "/dev/stderr"; bad = 1
		}
	}
	printf "%d rows, %d symbols\n%d%s\n", rows, symbols, absent, (absent ? ":" missing : "") > counts
	exit bad
}
