# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Fills a template of new-gpu-probe, which says what stands in one; the caller sets name, at, as and date.
function fail(msg) { printf "new-gpu-probe: %s\n", msg > "/dev/stderr"; bad = 1; exit 1 }

# What the probe takes down, its unit, and what a line of the tool is about.
function say(v, unit, what, noun) { value["VALUE"] = v; value["UNIT"] = unit; value["WHAT"] = what; value["NOUN"] = noun }

BEGIN {
	has[at]; has[as]
	if (at == "access" || at == "timed") has["place"]
	value["NAME"] = name; value["UPPER"] = toupper(name); value["DATE"] = date
	if (at == "entry") say("lanes", "OUT_UNIT_NONE", "show how many threads of warps enter CUDA kernels", "warp")
	if (at == "exit") say("gpu_cycles(t0, t1)", "OUT_UNIT_CYCLES", "show how long warps run in CUDA kernels", "warp")
	if (at == "access") say("lanes * bytes", "OUT_UNIT_BYTES", "show how much memory CUDA kernels access at once", "access")
	if (at == "timed") say("gpu_cycles(t0, t1)", "OUT_UNIT_CYCLES", "show how long CUDA kernels wait for memory", "access")
	value["COUNTER0"] = at ~ /^e/ ? "warps" : "accesses"
	value["COUNTER1"] = at == "entry" ? "threads" : at == "access" ? "requested" : "cycles"
	value["HEAD0"] = toupper(value["COUNTER0"]); value["HEAD1"] = toupper(value["COUNTER1"])
	value["KIND"] = at == "access" || at == "timed" ? "load" : "kernel"
	# lanes and bytes are exact; cycles are not
	if (at == "entry" || at == "access") {
		total = at == "entry" ? 32 : 128
		if (as == "hist") value["TOTAL"] = " and .total == " total " * $1"
		if (as == "counters") value["TOTAL"] = " and ." value["COUNTER1"] " == " total " * $1"
	} else {
		value["TOTAL"] = as == "hist" ? " and .total > $1" : " and .cycles > $1"
	}
	help = toupper(substr(value["WHAT"], 1, 1)) substr(value["WHAT"], 2)
	so_far = "what was counted so far, every interval and at the end.  Needs no root."
	if (as == "hist") help = help ", as histograms:\\n\"\n\t\t\"" so_far
	if (as == "counters") help = help ":\\n\"\n\t\t\"" so_far
	if (as == "records") help = help ":\\n\"\n\t\t\"a line for each " value["NOUN"] ".  Needs no root."
	value["HELP"] = help
}

{
	while (match($0, /^@!?[a-z]+\|/)) {
		mark = substr($0, 2, RLENGTH - 2)
		rest = substr($0, RLENGTH + 1)
		if (mark == "from") { split(rest, a, "|"); from(a[1], a[2], a[3]); next }
		if (sub(/^!/, "", mark) ? mark in has : !(mark in has)) next
		$0 = rest
	}
	for (k in value)
		while (index($0, "@" k "@"))
			$0 = substr($0, 1, index($0, "@" k "@") - 1) value[k] substr($0, index($0, "@" k "@") + length(k) + 2)
	if (match($0, /@[A-Z_0-9]+@/)) fail(FILENAME ":" FNR ": unknown " substr($0, RSTART, RLENGTH))
	print
}

END { exit bad }
