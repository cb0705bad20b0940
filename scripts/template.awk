# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Fills a template for new-tool.  Reads, in this order, the output of gen_api.awk,
# scripts/templates/classes.tbl, common/api/cuda_roles.tbl, and the template; the caller sets name,
# kind and want (the classes).  In a template
#   @WORD@          stands for its value, see value[] below
#   @word|LINE      is LINE if the tool has word: its kind, a role of its functions' arguments,
#                   bytes, direction or usdt; @!word|LINE if it does not
#   @columns|LINE, @classes|LINE, @functions|LINE, @usdts|LINE   one LINE for each: see each() below
#   @examples|LINE  this and the following such lines, for each call in classes.tbl's examples
#   @from|FILE|A|B  the lines of FILE from line A up to the line before B
function fail(msg) { printf "new-tool: %s\n", msg > "/dev/stderr"; bad = 1; exit 1 }

function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }

# "a, b and c"
function list(items, n,   i, s) {
	for (i = 1; i <= n; i++) s = s (i == 1 ? "" : i == n ? " and " : ", ") items[i]
	return s
}

# The words of s in lines of so many columns, joined by gap.
function wrap(s, columns, gap,   w, n, i, line, all) {
	n = split(s, w, " ")
	for (i = 1; i <= n; i++) {
		if (line != "" && length(line) + 1 + length(w[i]) > columns) { all = all line gap; line = "" }
		line = line (line == "" ? "" : " ") w[i]
	}
	return all line
}

# A row of text as the tool prints it, or its heads: "key value" pairs in cell[].
function row(heads,   i, s, text, width) {
	for (i = 1; i <= ncolumns; i++) {
		width = col[i, "width"]
		text = heads ? col[i, "head"] : col[i, "key"] in cell ? cell[col[i, "key"]] : "-"
		s = s sprintf(width < 0 ? "%-" (-width) "s " : "%" width "s ", text)
	}
	return s
}

function fill(line,   k) {
	for (k in value)
		while (index(line, "@" k "@"))
			line = substr(line, 1, index(line, "@" k "@") - 1) value[k] \
			       substr(line, index(line, "@" k "@") + length(k) + 2)
	return line
}

function out(line) {
	line = fill(line)
	if (match(line, /@[A-Z_]+@/)) fail(FILENAME ":" FNR ": unknown " substr(line, RSTART, RLENGTH))
	print line
}

# One line for each column that shows an argument, class of the tool, or function.
function each(what, line,   i, f) {
	if (what == "columns")
		for (i = 1; i <= ncolumns; i++) {
			for (f in fields) value[toupper(fields[f])] = col[i, fields[f]]
			out(line)
		}
	else if (what == "functions")
		for (i = 1; i <= nfunctions; i++) {
			value["FUNCTION"] = functions[i]; value["COMMA"] = i < nfunctions ? "," : "."
			out(line)
		}
	else if (what == "usdts")
		for (i = 1; i <= nusdts; i++) {
			value["FUNCTION"] = usdts[i]; value["COMMA"] = i < nusdts ? "," : "."
			out(line)
		}
	else
		for (i = 1; i <= nwant; i++) if (line !~ /@INSIDE@/ || inside[wants[i]] != "") {
			value["COUNT"] = count[wants[i]]; value["FUNCTION"] = func_of[wants[i]]
			value["INSIDE"] = inside[wants[i]]; value["WORDS"] = words[wants[i]]
			out(line)
		}
}

# What the tool prints of ./train, a line each for @examples|.
function examples(   i, j, c, n, w, kv) {
	for (i = 1; i <= nwant; i++) {
		c = wants[i]
		if (example[c] == "") continue
		n = split(example[c], w, " ")
		split("", cell)
		for (j = 2; j <= n; j++) { split(w[j], kv, "="); cell[kv[1]] = kv[2] }
		value["FUNCTION"] = w[1]; value["FUNCTION22"] = sprintf("%-22s", w[1])
		value["ROW"] = row(0); value["MORE"] = ""
		value["BYTES14"] = sprintf("%14s", "size" in cell ? cell["size"] : "-")
		if ("failed" in cell) value["MORE"] = ": " cell["failed"] " calls failed"
		for (j = 1; j <= nlines; j++) out(lines[j])
	}
}

function ready(   i, f) {
	done = 1
	nwant = split(want, wants, " ")
	for (i = 1; i <= nwant; i++) {
		if (!(wants[i] in nouns)) fail("scripts/templates/classes.tbl has no row for the class " wants[i])
		noun[i] = nouns[wants[i]]
		mask[i] = "1 << CUDA_" toupper(wants[i])
	}
	has[kind]
	value["NAME"] = name; value["UPPER"] = toupper(name); value["CLASSES"] = want
	value["NOUNS"] = list(noun, nwant)
	value["C_NOUNS"] = wrap(value["NOUNS"], 90, "\\n\"\n\t\t\"")
	for (i = 1; i <= nwant; i++)
		value["MASK"] = value["MASK"] (i == 1 ? "" : (i - 1) % 3 ? " | " : " |\n\t\t\t\t     ") mask[i]
	value["USDTS"] = (index(" " want " ", " alloc ") ? 7 : 0) + (index(" " want " ", " free ") ? 5 : 0)
	value["HEADS"] = row(1)
	value["DATE"] = date; value["NL"] = "\n"
}

BEGIN { split("member key head width type text", fields, " ") }

FNR == 1 { nfile++ }

# the functions of the classes, and the roles of their arguments; only snoop has what has no duration
nfile == 1 && /^CUDA_API/ {
	usdt = sub(/^CUDA_API_USDT/, "CUDA_API")
	gsub(/^CUDA_API\(|\)$/, "")
	n = split($0, a, /, */)
	class = tolower(a[3])
	if (!index(" " want " ", " " class " ") || usdt && kind != "snoop") next
	if (usdt) { has["usdt"]; usdts[++nusdts] = a[1] ":" a[2] }
	else functions[++nfunctions] = a[1]
	for (i = 4; i <= n; i++) if (match(a[i], /^\.[a-z_]+/)) roles[substr(a[i], 2, RLENGTH - 1)]
	if ($0 ~ /\.(size|width|extent|desc|size_at) =/) has["bytes"]
	if (class == "copy") has["direction"]
	if ($0 ~ /\.async =/) has["async"]
	next
}

nfile == 2 && !/^(#|[ \t]*$)/ {
	split($0, a, "|")
	class = trim(a[1]); nouns[class] = trim(a[2]); count[class] = trim(a[3])
	func_of[class] = trim(a[4]); inside[class] = trim(a[5]); words[class] = trim(a[6])
	example[class] = trim(a[7])
}

nfile == 3 && !/^(#|[ \t]*$)/ {
	n = split($0, a, / *[|] */)
	role = a[1]
	if (a[3] == "") next
	if (role in roles) has[role]
	if (!(role in has)) next
	ncolumns++
	col[ncolumns, "member"] = (a[2] ~ /record/ ? "args." : "") role
	for (i = 3; i <= 6; i++) col[ncolumns, fields[i - 1]] = a[i]
	col[ncolumns, "text"] = a[8]
}

nfile < 4 { next }
!done { ready() }

{
	while (match($0, /^@!?[a-z]+\|/)) {
		mark = substr($0, 2, RLENGTH - 2)
		rest = substr($0, RLENGTH + 1)
		if (mark ~ /^(columns|classes|functions|usdts)$/) { each(mark, rest); next }
		if (mark == "examples") { lines[++nlines] = rest; next }
		if (mark == "from") { split(rest, a, "|"); from(a[1], a[2], a[3]); next }
		if (sub(/^!/, "", mark) ? mark in has : !(mark in has)) next
		$0 = rest
	}
	if (nlines) { examples(); nlines = 0 }
	out($0)
}

END { exit bad }
