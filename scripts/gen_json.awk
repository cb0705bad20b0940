# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Makes the JSON Schema of what tools print with --json from their tables of fields (common/cli/field.h); files of
# common/ come first.  A comment beside each row with a key documents it:
#   [with --OPTION or another condition: ][unit: ]meaning[, since VERSION]
# With a condition the key may be missing.  A row of OUT_PRINT has its JSON type after the condition.  A row without a
# comment has that of the same key in common/.  A table without the key "type" describes an object in other rows; if its
# comment begins with "part", it only documents keys.
function fail(msg) { printf "%s:%d: %s\n", FILENAME, FNR, msg > "/dev/stderr"; bad = 1; exit 1 }

# Strings have ' for ", up to here.
function out(s) { gsub(/'/, "\"", s); print s }

BEGIN {
	first = "0.1.0"	# the version of keys without one
	unit["SIZE"] = "bytes"; unit["US"] = "ns"; unit["TIME"] = "s"
	three = "'items': { 'type': 'integer' }, 'minItems': 3, 'maxItems': 3"
	json["INT"] = "'type': 'integer'"
	json["SIGNED"] = "'type': ['integer', 'null']"
	json["UINT"] = json["SIZE"] = json["US"] = json["DEVICE"] = "'type': ['integer', 'null'], 'minimum': 0"
	json["TIME"] = "'type': 'number'"
	json["REAL"] = "'type': ['number', 'null']"
	json["BOOL"] = "'type': 'boolean'"
	json["STR"] = json["CHARS"] = json["SHORT"] = "'type': ['string', 'null']"
	json["PTR"] = json["STR"] ", 'pattern': '^0x[0-9a-f]+$'"
	json["STREAM"] = json["STR"] ", 'pattern': '^(default|per-thread|0x[0-9a-f]+)$'"
	json["DIM"] = "'type': ['array', 'null'], " three
	json["STACK"] = "'type': ['array', 'null'], 'items': " reference("frame")
	json["HIST"] = json["ROWS"] = json["histogram"] = "'type': 'array', 'items': " reference("bucket")
	json["object"] = "'type': 'object'"
	json["any"] = "'type': ['number', 'string', 'array', 'object', 'null']"
	json["array of string"] = "'type': ['array', 'null'], 'items': { 'type': 'string' }"
	json["DEVICES"] = "'type': 'array', 'items': { 'type': 'integer' }"
	json["array of process"] = "'type': 'array', 'items': " reference("process")
	json["array of node"] = "'type': 'array', 'items': " reference("node")
	json["array of launched"] = "'type': ['array', 'null'], 'items': " reference("launched")
}

function reference(name) { return "{ '$ref': '#/$defs/" name "' }" }

function join(list, gap, s) { return list (list == "" ? "" : gap) s }

# Returns what the regular expression matches in the line, without so many characters at both ends; "" if nothing.
function part_of(regex, left, right) {
	return match($0, regex) ? substr($0, RSTART + left, RLENGTH - left - right) : ""
}

# Removes "HEAD: " from the text, if it is one of these, and returns HEAD.
function head(heads,   h) {
	if (!match(text, "^(" heads "): ")) return ""
	h = substr(text, 1, RLENGTH - 2)
	text = substr(text, RLENGTH + 1)
	return h
}

function property(   key, type, when, of, since, has) {
	key = part_of("\"[^\"]*\"", 1, 1)
	type = part_of("OUT_[A-Z]+|&[a-z_]+", 0, 0)
	sub(/^(OUT_|&)/, "", type)
	text = part_of("/[*] .* [*]/", 3, 3)
	if (text == "" && key != "type") text = meaning[key]
	else if (tool == "" && meaning[key] == "") meaning[key] = text
	if (text == "" && part) return
	if (text == "" || text ~ /["'\\]/) fail("the comment of \"" key "\"")
	since = match(text, /, since [0-9.]+$/) ? substr(text, RSTART + 8) : first
	sub(/, since [0-9.]+$/, "", text)
	when = head("(with|without|if|by) [^:]*")
	if (key == "type") {
		if (!(type in words)) fail("no OUT_WORD(" type ", ...)")
		word = words[type]
		titled = text
		has = "'enum': ['" word "'@]"
	} else {
		if (type == "PRINT") type = head("object|any|histogram|array of [a-z]+")
		if (!(type in json)) fail("the type of \"" key "\"")
		has = json[type]
	}
	of = head("ns|s|bytes|bytes/s|cycles|percent")
	if (of == "") of = unit[type]
	if (of != "") has = has ", 'unit': '" of "'"
	if (when == "") need = join(need, ", ", "'" key "'")
	else text = when ": " text
	has = has ", 'since': '" since "', 'description': '" text "'"
	properties = join(properties, ",\n", "\t\t\t'" key "': { " has " }")
}

function object(   name) {
	name = table
	if (word != "") {
		name = join(tool, ".", word)
		while (name in seen) name = name "-2"
		seen[name]
		rows[tool] = join(rows[tool], ", ", reference(name))
	} else sub(/_fields$/, "", name)
	objects = objects "\t'" name "': {\n\t\t'description': '" titled "',\n\t\t'type': 'object',\n" \
		"\t\t'properties': {\n" properties "\n\t\t},\n\t\t'required': [" need "],\n\t\t'additionalProperties': false\n\t},\n"
}

FNR == 1 {
	split(FILENAME, path, "/")
	tool = path[1] == "tools" ? path[2] : ""
	sub(/\.c$/, "", tool)
	if (tool != "" && !(tool in rows)) { rows[tool] = ""; tools[++ntools] = tool }
	split("", words); table = ""
	gsub(/@/, "", objects)	# where another word of "type" goes, of the same file
}
/^OUT_WORD\(/ { name = part_of("[(][a-z_]+", 1, 0); words[name] = part_of("\"[a-z_]+\"", 1, 1) }
/\.type = &[a-z_]+;/ { sub(/@/, ", '" words[part_of("&[a-z_]+", 1, 0)] "'@", objects) }
/^#define [A-Z_]+_FIELDS[ \t(]/ { inside = $2; sub(/\(.*/, "", inside); macro[inside] = ""; next }
inside != "" { macro[inside] = macro[inside] $0 "\n"; if (!/\\$/) inside = ""; next }
/^static const struct field [a-z_]+\[\] = \{/ {
	table = part_of("[a-z_]+\\[", 0, 1)
	part = /\/\* part /
	properties = need = word = ""
	titled = "in other objects"
	next
}
table == "" { next }
/^\t[A-Z_]+_FIELDS(\([a-z.]*\))?,?$/ {
	gsub(/\(.*|[\t,]/, "")
	if (!($0 in macro)) fail("no " $0 " before it")
	n = split(macro[$0], line, "\n")
	for (i = 1; i <= n; i++) { $0 = line[i]; if (/\{ "/) property() }
	next
}
/^\t(\[[A-Z]+\] = )?\{ "/ { property() }
/^};/ { if (!part) object(); table = "" }

END {
	if (bad) exit 1
	gsub(/@/, "", objects)
	for (i = 1; i <= ntools; i++) {
		any = join(any, ", ", reference(tools[i]))
		own = join(own, ",\n", "\t'" tools[i] "': { 'anyOf': [" join(rows[tools[i]], ", ", rows[""]) "] }")
	}
	out("{\n'$schema': 'https://json-schema.org/draft/2020-12/schema',")
	out("'title': 'A line that a tool of cuda-bpf-tools prints with --json',")
	out("'description': '#/$defs/TOOL describes the lines of one tool.  since: the first version that has a key." \
		"  Times in s are since the epoch.',")
	out("'anyOf': [" any "],\n'$defs': {")
	out("\t'bucket': { 'description': '[lowest, highest, count]', 'type': 'array', " three " },")
	out(objects own "\n}\n}")
}
