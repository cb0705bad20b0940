# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2086,SC2154 # the variables are those of parts; numbers, and lists of words
# The language of the parts of scripts/gpu-check.  A part is one file, which sets
#   limit     seconds that it may take, at most 180
#   believes  the file of the simulation that its expected values were taken from
# and then measures.  $tools, $bin and $libcuda are what it measures with, $how is --attach inject where BPF is not
# permitted, $cannot then 1, $own is the suffix of programs whose runtime the tools can see.
question=- believes=-

# q N: what follows answers question N of gpu/questions
q() { question=$1; }

# within SECONDS: sets $seconds to that, or to what is left of the part's time
within() {
	seconds=$((limit - 10 - $(date +%s) + start))
	[ $seconds -le "$1" ] || seconds=$1
	[ $seconds -ge 1 ]
}

# try SECONDS COMMAND...: runs it; its output is in $tmp/out and $tmp/err, its status in $rc
try() {
	: >"$tmp/out"
	echo 'out of time' >"$tmp/err"
	rc=124
	within "$1" || return 0
	shift
	timeout -k 5 "$seconds" "$@" </dev/null >"$tmp/out" 2>"$tmp/err" & job=$!
	wait "$job"
	rc=$?
	job=''
}

# torch_is_here: can PyTorch use a GPU?  Sets $ways: --attach WAY for each way in which its programs are to be traced
torch_is_here() {
	ways='auto inject'
	[ -z "$cannot" ] || ways=inject
	timeout 60 python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null
}

# start NAME COMMAND...: in the background, reading what `tell NAME` writes; its output in
# $tmp/NAME.out and .err, its pid in $pid
start() {
	name=$1
	shift
	within 170 || seconds=1
	rm -f "$tmp/$name".*
	mkfifo "$tmp/$name.in"
	# opened for both, a FIFO waits for nobody
	timeout -k 20 "$seconds" "$@" <>"$tmp/$name.in" >"$tmp/$name.out" 2>"$tmp/$name.err" & pid=$!
	jobs="$jobs $pid"
}
tell() { echo "$2" 1<>"$tmp/$1.in"; }

# until_true COMMAND...: retries it for up to fifteen seconds
until_true() {
	tries=300
	until "$@" 2>/dev/null; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep .05
	done
}

# stop NAME PID: ends a tool that start() started
stop() {
	sleep .2
	kill "$2" 2>/dev/null
	{ wait "$2"; } 2>/dev/null
	rc=$?
	jobs=$(echo "$jobs" | sed "s/ $2\$//")
	[ "$1" != tool ] || { cp "$tmp/tool.out" "$tmp/out"; cp "$tmp/tool.err" "$tmp/err"; }
}

# count WORD...: counts the lines of $tmp/out that have all of them
count() {
	awk 'BEGIN { n = ARGC; for (i = 1; i < n; i++) w[i] = ARGV[i]; ARGC = 1 }
	     { for (i = 1; i < n && index($0, w[i]); i++); c += i == n }
	     END { print c + 0 }' "$@" <"$tmp/out"
}

# bytes WORD...: the sum of "size" in those lines
bytes() {
	awk 'BEGIN { n = ARGC; for (i = 1; i < n; i++) w[i] = ARGV[i]; ARGC = 1 }
	     { for (i = 1; i < n && index($0, w[i]); i++);
	       if (i == n && match($0, /"size":[0-9]+/)) sum += substr($0, RSTART + 7, RLENGTH - 7) }
	     END { printf "%d\n", sum }' "$@" <"$tmp/out"
}

# functions: prints those in $tmp/out and how often they occur
functions() {
	sed -n 's/.*"func":"\([^"]*\)".*/\1/p' "$tmp/out" | sort | uniq -c |
		awk '{ printf "%s%s ×%d", (NR > 1 ? ", " : ""), $2, $1 } END { if (!NR) printf "-" }'
}

# flat TEXT: prints it as one line without tabs
flat() { printf '%s' "$1" | tr '\n\t' '  ' | sed 's/  */ /g; s/ $//'; }

# write CLAIM EXPECTED MEASURED VERDICT: a line of the results
write() {
	claim=$(flat "$1") expected=$(flat "$2") measured=$(flat "$3")
	printf 'row\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$part" "$question" "$claim" "$expected" "$measured" "$4" "$believes" >>"$results"
	printf '%-10s %s: expected %s, measured %s\n' "$4" "$claim" "${expected:-nothing}" "${measured:-nothing}"
}

# is CLAIM EXPECTED MEASURED [YES]: yes if they are equal, or if YES is yes; on the simulation never yes, but simulated
is() {
	yes=${4:-$([ "$2" = "$3" ] && echo yes)}
	if [ "$yes" = yes ]; then
		write "$1" "$2" "$3" ${sim:+simulated}${real:+yes}
		return
	fi
	write "$1" "$2" "$3" no
	{
		printf '\n%s: %s: status %s\n' "$part" "$1" "${rc:-0}"
		head -n 8 "$tmp/err"
		head -n 20 "$tmp/out" | cut -c1-300
	} >>"${results%/*}/log" 2>/dev/null
}

# only CLAIM EXPECTED MEASURED [YES]: the same of what the simulation cannot know
only() {
	if [ -n "$sim" ]; then write "$1" "$2" "$3" open; else is "$@"; fi
}

# figure NAME MEASURED: a figure of which nothing is expected
figure() { write "$1" - "$2" ${sim:+open}${real:+measured}; }

skip() { write "$1" - "$2" skipped; }

yes_if() { if "$@" >/dev/null 2>&1; then echo yes; else echo no; fi; }
or_none() { cat "$1" 2>/dev/null || echo none; }

# sum REGEX KEY: adds up KEY over the lines of $tmp/out that match
sum() {
	grep -E "$1" "$tmp/out" | sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p" | awk '{ n += $1 } END { print n + 0 }'
}

# between LOW VALUE HIGH
between() { awk -v a="$1" -v b="$2" -v c="$3" 'BEGIN { print a + 0 <= b + 0 && b + 0 <= c + 0 ? "yes" : "no" }'; }

# median: of the numbers of the input
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# has PROGRAM CLAIM: whether it is there
has() {
	[ -x "$bin/$1" ] && return
	skip "$2" "no program $1"
	return 1
}

find_library() {	# NAME
	{
		ldconfig -p | sed -n "s/^[[:space:]]*$1 (.*\\(x86-64\\|AArch64\\).*=> //p"
		echo "${LD_LIBRARY_PATH:-}" | tr ':' '\n' | sed "s|\$|/$1|"
		printf "%s/$1\n" /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib64 /usr/lib/wsl/lib \
			/usr/lib/aarch64-linux-gnu/nvidia /usr/lib/aarch64-linux-gnu/tegra
	} 2>/dev/null | while read -r file; do
		[ -f "$file" ] && { readlink -f "$file"; break; }
	done
}

load='"kind":"load"'

# look TOOL WORD...: what the tool makes of `inside WORD...` is in $tmp/out as JSON lines, what that says in $said
look() {
	tool=$1
	shift
	try 60 ${sim:+env SIM_KERNELS=1} "$tools/$tool" -jqo "$tmp/rows" "$@"
	cp "$tmp/out" "$tmp/said"
	said=$(sed 's/^[a-z]*: //' "$tmp/said")
	cat "$tmp/rows" >"$tmp/out" 2>/dev/null
	rm -f "$tmp/rows"
}

# program WORD...: the same without a tool
alone() {
	try 60 ${sim:+env SIM_KERNELS=1} "$inside" "$@"
	said=$(sed 's/^[a-z]*: //' "$tmp/out")
}

# mean REGEX: cycles of an access
mean() { echo "$(sum "$1" cycles) $(sum "$1" count)" | awk '{ printf "%.0f", $2 ? $1 / $2 : 0 }'; }

# child_of PID: the pid of its child, such as that of timeout(1)
child_of() { tr -d ' ' <"/proc/$1/task/$1/children"; }
