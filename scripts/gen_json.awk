# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Makes the JSON Schema of what tools print with --json from their tables of fields (common/cli/field.h), those of
# common/ first.  Each row with a key has a comment: [with --OPTION or another condition: ][unit: ]meaning[, since
# VERSION].  With a condition the key may be missing.  A row of OUT_PRINT has its JSON type after that.  A row without a
# comment is described as in common/.  A table without a "type" is an object in others; if its comment begins with "part",
# rows that other tables get.
function fail(msg) { printf "%s:%d: %s\n", FILENAME, FNR, msg > "/dev/stderr"; bad = 1; exit 1 }

BEGIN {
	first = "0.1.0"	# since when there is what names no version
	uint = "\"type\": [\"integer\", \"null\"], \"minimum\": 0"
	string = "\"type\": [\"string\", \"null\"]"
	json["UINT"] = json["SIZE"] = json["US"] = json["DEVICE"] = uint
	json["INT"] = "\"type\": \"integer\""
	json["SIGNED"] = "\"type\": [\"integer\", \"null\"]"
	json["TIME"] = json["REAL"] = "\"type\": \"number\""
	json["BOOL"] = "\"type\": \"boolean\""
	json["STR"] = string
	json["PTR"] = string ", \"pattern\": \"^0x[0-9a-f]+$\""
	json["STREAM"] = string ", \"pattern\": \"^(default|per-thread|0x[0-9a-f]+)$\""
	json["DIM"] = "\"type\": [\"array\", \"null\"], \"items\": { \"type\": \"integer\" }, \"minItems\": 3, \"maxItems\": 3"
	json["STACK"] = "\"type\": [\"array\", \"null\"], \"items\": { \"$ref\": \"#/$defs/frame\" }"
	json["HIST"] = json["histogram"] = "\"type\": \"array\", \"items\": { \"$ref\": \"#/$defs/bucket\" }"
	json["object"] = "\"type\": \"object\""
	json["any"] = "\"type\": [\"number\", \"string\", \"array\", \"object\", \"null\"]"
	json["array of string"] = "\"type\": [\"array\", \"null\"], \"items\": { \"type\": \"string\" }"
	json["array of process"] = "\"type\": \"array\", \"items\": { \"$ref\": \"#/$defs/process\" }"
	unit["SIZE"] = "bytes"; unit["US"] = "ns"; unit["TIME"] = "s"
}

FNR == 1 {
	split(FILENAME, path, "/")
	tool = path[1] == "tools" ? path[2] : ""
	sub(/\.c$/, "", tool)
	if (tool != "" && !(tool in rows)) { rows[tool] = ""; tools[++ntools] = tool }
	split("", words); split("", macro); table = ""
	gsub(/@/, "", objects)	# where further words go
}

# Removes "HEAD: " from the text, if it is one of these, and returns HEAD.
function head(heads,   h) {
	if (!match(text, "^(" heads "): ")) return ""
	h = substr(text, 1, RLENGTH - 2)
	text = substr(text, RLENGTH + 1)
	return h
}

function property(   key, type, when, of, since, has) {
	match($0, /"[^"]*"/)
	key = substr($0, RSTART + 1, RLENGTH - 2)
	match($0, /OUT_[A-Z]+|&[a-z_]+/)
	type = substr($0, RSTART, RLENGTH)
	sub(/^(OUT_|&)/, "", type)
	text = match($0, /\/\* .* \*\//) ? substr($0, RSTART + 3, RLENGTH - 6) : ""
	if (text == "" && key != "type") text = meaning[key]
	else if (tool == "" && meaning[key] == "") meaning[key] = text
	if (text == "" && part) return
	if (text == "") fail("nothing says what \"" key "\" is")
	since = first
	if (match(text, /, since [0-9.]+$/)) {
		since = substr(text, RSTART + 8)
		text = substr(text, 1, RSTART - 1)
	}
	when = head("(with|without|if|by) [^:]*")
	if (key == "type") {
		if (!(type in words)) fail("no OUT_WORD(" type ", ...)")
		titled = text; word = words[type]
		has = "\"enum\": [\"" word "\"@]"
	} else {
		if (type == "PRINT") type = head("object|any|histogram|array of [a-z]+")
		if (!(type in json)) fail("the type of \"" key "\" is unknown")
		has = json[type]
	}
	of = head("ns|s|bytes|bytes/s|cycles|percent")
	if (of == "") of = unit[type]
	if (when == "") need = need (need == "" ? "" : ", ") "\"" key "\""
	properties = properties (properties == "" ? "" : ",\n") "\t\t\t\"" key "\": { " has \
		(of == "" ? "" : ", \"unit\": \"" of "\"") ", \"since\": \"" since "\", \"description\": \"" \
		(when == "" ? "" : when ": ") text "\" }"
}

function emit(name) {
	objects = objects ",\n\t\"" name "\": {\n\t\t\"description\": \"" titled "\",\n\t\t\"type\": \"object\",\n" \
		"\t\t\"properties\": {\n" properties "\n\t\t},\n\t\t\"required\": [" need "],\n\t\t\"additionalProperties\": false\n\t}"
}

function end(   name) {
	if (word != "") {
		name = (tool == "" ? "" : tool ".") word
		while (name in seen) name = name "-2"
		seen[name]
		if (tool == "") shared = shared ", { \"$ref\": \"#/$defs/" name "\" }"
		else rows[tool] = rows[tool] ", { \"$ref\": \"#/$defs/" name "\" }"
	} else {
		name = table
		sub(/_fields$/, "", name)
		titled = "in other objects"
	}
	emit(name)
}

/^OUT_WORD\(/ { match($0, /\([a-z_]+/); name = substr($0, RSTART + 1, RLENGTH - 1); match($0, /"[a-z]+"/); words[name] = substr($0, RSTART + 1, RLENGTH - 2) }
/^#define [A-Z]+_FIELDS[ \t]/ { inside = $2; next }
inside != "" { macro[inside] = macro[inside] $0 "\n"; if (!/\\$/) inside = ""; next }
/^static const struct field [a-z_]+\[\] = \{/ {
	table = $5
	sub(/\[.*/, "", table)
	part = /\/\* part /
	properties = need = word = titled = ""
	next
}
match($0, /\.type = &[a-z_]+;/) { sub(/@/, ", \"" words[substr($0, RSTART + 9, RLENGTH - 10)] "\"@", objects) }
table == "" { next }
/^\t[A-Z]+_FIELDS,?$/ {
	gsub(/[\t,]/, "")
	n = split(macro[$0], line, "\n")
	for (i = 1; i <= n; i++) { $0 = line[i]; if (/\{ "/) property() }
	next
}
/^\t(\[[A-Z]+\] = )?\{ "/ { property() }
/^};/ { if (!part) end(); table = "" }

END {
	if (bad) exit 1
	gsub(/@/, "", objects)
	print "{\n\"$schema\": \"https://json-schema.org/draft/2020-12/schema\","
	print "\"title\": \"A line that a tool of cuda-bpf-tools prints with --json\","
	print "\"description\": \"#/$defs/TOOL is for the lines of one tool.  Of each key: unit, since (the first version that" \
		" has it) and what it is; s of times: since the epoch.\","
	printf "\"anyOf\": ["
	for (i = 1; i <= ntools; i++) printf "%s{ \"$ref\": \"#/$defs/%s\" }", i == 1 ? "" : ", ", tools[i]
	print "],\n\"$defs\": {"
	print "\t\"bucket\": { \"description\": \"[lowest, highest, count]\", \"type\": \"array\"," \
		" \"items\": { \"type\": \"integer\" }, \"minItems\": 3, \"maxItems\": 3 }" objects ","
	for (i = 1; i <= ntools; i++)
		printf "\t\"%s\": { \"anyOf\": [%s] }%s\n", tools[i], substr(rows[tools[i]] shared, 3), i == ntools ? "" : ","
	print "}\n}"
}
