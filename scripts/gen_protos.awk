# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Turns cuda_protos.tbl, whose head describes its rows, nccl_protos.tbl and nvrtc_protos.tbl into C, with place.awk's places, in parts
# that a file gets if it defines
#   CUDA_PARAMS(number, PARAM(name, VALUE, place, by_reference, out, VALUE of what it points to), ...)
#   CUDA_PROTO(name, RT, DRV, NCCL or NVRTC, group, since, until, VALUE of the result, parameters, number)
#              the newest of each name, sorted; CUDA_OLDER: the others
#   CUDA_VALUE(name, value)              by their enums
#   CUDA_ENUM(tag, first value, values)
#   CUDA_ENUM_TYPE(name, which enum)     tags and other names, sorted
#   CUDA_ERR(RT, DRV, NCCL or NVRTC, code, name)   of cudaError, cudaError_enum, ncclResult_t and nvrtcResult
# A VALUE is VALUE(type, KIND, bytes).
function fail(msg) { printf "%s:%d: %s\n", FILENAME, FNR, msg > "/dev/stderr"; bad = 1 }

# Sets since and until, as CUDA_VERSION; a major version alone is its last.
function range(text,   w) {
	if (text !~ /^[0-9]+\.[0-9]+-([0-9]+(\.[0-9]+)?)?$/) fail("'" text "' is not SINCE-UNTIL")
	split(text, w, /[.-]/)
	since = w[1] * 1000 + w[2] * 10
	until = w[3] == "" ? 0 : w[4] == "" ? w[3] * 1000 + 999 : w[3] * 1000 + w[4] * 10
}

# Sets, of a type as C writes it: type (without const), kind, bytes; of a pointer to what is
# known: to, what it points to; out, whether that may be stored.
function describe(text,   name) {
	to = ""; out = 0; type = text; gsub(/const /, "", type)
	name = type; gsub(/[ *]+$/, "", name)
	if (!(name in kinds)) { fail("unknown type '" name "'"); return }
	kind = kinds[name]; bytes = sizes[name]
	if (text !~ /\*$/) return
	to = text; sub(/ ?\*$/, "", to)
	kind = to == "const char" ? "STR" : kind == "OPAQUE" && to !~ /\*/ ? "HANDLE" : "PTR"
	out = to !~ (to ~ /\*/ ? "const$" : "^const "); sub(/ ?const$/, "", to); bytes = 8
	if (to !~ /\*/ && (name == "char" || kinds[name] ~ /^(NONE|OPAQUE)$/)) to = ""
}

function value() { return "VALUE(\"" type "\", " kind ", " bytes ")" }

function param(text, next_text,   name, init, is_out) {
	if (!match(text, /[A-Za-z_][A-Za-z0-9_]*$/) || RSTART == 1) {
		fail("'" text "' is not 'TYPE NAME'")
		return
	}
	name = substr(text, RSTART); text = substr(text, 1, RSTART - 1); sub(/ $/, "", text)
	describe(text); is_out = out && to != "" && !(name in read_only)
	if (kind ~ /^(NONE|STRUCT|OPAQUE)$/ && !bytes) fail("unknown size of '" type "'")
	if (text == "char *" && next_text ~ /^(int|size_t) /) { kind = "STR"; is_out = 1 }
	init = "PARAM(\"" name "\", " value() ", " (kind == "FLOAT" ? 0 : place(bytes)) ", " by_reference(bytes) ", " is_out ", "
	if (to == "") return init "VALUE(NULL, NONE, 0))"
	describe(to); return init value() ")"
}

# Values that the newest version does not have come last: their names may have others there.
function end_enum(   i) {
	for (i = 1; i <= gones; i++) value_row[values++] = gone[i]
	gones = 0
}

BEGIN {
	values = enums = errors = 0
	print "/* Made from cuda_protos.tbl by gen_protos.awk: edit that. */"
	error_lib["cudaError"] = "RT"; error_lib["cudaError_enum"] = "DRV"; error_lib["ncclResult_t"] = "NCCL"; error_lib["nvrtcResult"] = "NVRTC"
}
FNR == 1 { last_type = "" }
/^[ \t]*(#|$)/ { next }
length($0) > 4000 { fail("more than 4000 characters"); next }	# mawk has room for 8191

$1 == "in" { for (i = 2; i <= NF; i++) read_only[$i]; next }
$1 == "versions" { for (i = 2; i <= NF; i++) range($i "-"); next }

$1 == "type" {
	if ($0 !~ /^type +(none|int|uint|float|enum|handle|ptr|fn|dim3|struct|opaque) +[0-9]+ [A-Za-z_]/) {
		fail("not 'type KIND BYTES NAME'"); next
	}
	tag = ""; name = $0; sub(/^type +[a-z0-9]+ +[0-9]+ /, "", name)
	if (match(name, / = /)) { tag = substr(name, RSTART + 3); name = substr(name, 1, RSTART - 1) }
	if (name in kinds) fail(name " is already defined")
	if (name <= last_type) fail(name " is not in order")
	last_type = name; kinds[name] = toupper($2); sizes[name] = $3
	if ($2 == "enum") {
		enum_name[++enum_names] = name; line[name] = FNR
		enum_tag[name] = tag == "" ? name : tag
	} else if (tag != "") fail(name " is not an enum")
	next
}

$1 == "value" {
	if (NF != 5 || $3 !~ /^-?[0-9]+$/ || $4 !~ /^[A-Za-z_][A-Za-z0-9_]*$/) {
		fail("not 'value ENUM NUMBER NAME VERSIONS'")
		next
	}
	range($5)
	if (enum_tag[$2] != $2) fail("'" $2 "' is not an enum")
	if (($2, $3, $4) in line) fail($4 " is already on line " line[$2, $3, $4])
	line[$2, $3, $4] = FNR
	if ($2 != last_tag && $2 in first) fail("the values of " $2 " are not contiguous")
	if ($2 != last_tag) { end_enum(); first[$2] = values; which[$2] = enums; enum[enums++] = $2 }
	last_tag = $2; count[$2]++; row = "CUDA_VALUE(" $4 ", " $3 ")"
	if (until) gone[++gones] = row; else value_row[values++] = row
	if ($2 in error_lib && !(($2, $3) in line)) {
		line[$2, $3] = FNR
		error[errors++] = "CUDA_ERR(" error_lib[$2] ", " $3 ", " $4 ")"
	}
	next
}

$1 !~ /^(rt|drv|nccl|nvrtc)$/ { fail("unknown row '" $1 "'"); next }
$0 !~ /^[a-z]+ +[a-z]+ +[-0-9.]+ +[^()]*[ *](_*cu|nccl|nvrtc)[A-Za-z0-9_]*\([^()]*\)$/ {
	fail("not 'rt|drv|nccl|nvrtc GROUP VERSIONS RESULT NAME(TYPE PARAMETER, ...)'")
	next
}

{
	range($3)
	text = $0; sub(/^[a-z]+ +[a-z]+ +[-0-9.]+ +/, "", text); params = text
	sub(/\(.*/, "", text); gsub(/^[^(]*\(|\)$/, "", params)
	name = text; sub(/.*[ *]/, "", name)
	result = substr(text, 1, length(text) - length(name)); sub(/ $/, "", result)
	if (name < last_name) fail(name " is not in order")
	used = stack = n = 0; init = ""; type = "?"; kind = "NONE"; bytes = 0
	if (result != "?") {
		describe(result); n = split(params, param_text, /, /)
	} else if (params != "?") fail("a result is missing")
	if (kind == "STRUCT" && bytes > 16) result_place()
	row = value()
	for (i = 1; i <= n; i++) init = init ",\n\t" param(param_text[i], param_text[i + 1])
	if (n && !(init in list)) { list[init] = ++lists; list_init[lists] = init }
	row = sprintf("#line %d \"%s\"\n%s(%s, %s, CUDA_GROUP_%s, %d, %d, %s, %d, %d)", FNR, FILENAME, \
		      name == last_name ? "CUDA_OLDER" : "CUDA_PROTO", name, toupper($1), $2, \
		      since, until, row, n, list[init])
	if (name == last_name) older[++olders] = row; else proto[++protos] = row
	last_name = name
}

END {
	end_enum()
	for (i = 1; i <= enum_names; i++)
		if (!(enum_tag[enum_name[i]] in which)) {
			FNR = line[enum_name[i]]; fail(enum_name[i] " has no values")
		}
	print "#ifdef CUDA_PARAMS"
	for (i = 1; i <= lists; i++) print "CUDA_PARAMS(" i list_init[i] ")"
	print "#endif\n#ifdef CUDA_PROTO"
	for (i = 1; i <= protos; i++) print proto[i]
	print "#endif\n#ifdef CUDA_OLDER"
	for (i = 1; i <= olders; i++) print older[i]
	print "#endif\n#ifdef CUDA_VALUE"
	for (i = 0; i < values; i++) print value_row[i]
	print "#endif\n#ifdef CUDA_ENUM"
	for (i = 0; i < enums; i++) print "CUDA_ENUM(" enum[i] ", " first[enum[i]] ", " count[enum[i]] ")"
	print "#endif\n#ifdef CUDA_ENUM_TYPE"
	for (i = 1; i <= enum_names; i++)
		print "CUDA_ENUM_TYPE(" enum_name[i] ", " which[enum_tag[enum_name[i]]] ")"
	print "#endif\n#ifdef CUDA_ERR"
	for (i = 0; i < errors; i++) print error[i]
	print "#endif"
	exit bad
}
