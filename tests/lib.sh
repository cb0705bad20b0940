# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh
# The language of the tests.  Run as: sh lib.sh TEST.t; prints TAP, and on standard error why a test failed.
#   it "a free of memory from before tracing is counted for no process"
#   run cudaleak -c "$bin/mem malloc 23 4096 free 7"
#   status 0
#   lines 1 '16 allocations not freed'
#   silent
# - A title is a sentence.  Counts are prime numbers, so that a correct count is no coincidence.
# - tests/workloads/mem.c makes exactly the calls that its arguments name; its head, and those of the other workloads,
#   list them.  Variants are mem-static, mem-stripped, mem-12 …  tests/workloads/nofp.c, and tests/stacks/compare.py with
#   gdb and perf, are for call stacks.
# - A test that takes seconds belongs in tests/long, or after `long || leave` at the end of a file.
# - A tool without -p and -c also traces other processes of the machine: count your own (tests/own.sh).  A test that
#   fills buffers of the machine, counts all processes, changes a setting or compares times begins with it_alone, with
#   the reason above it.
# - What a title says of columns, keys, units, filters, sorting or sums is looked at with `replayed`: a replay takes 10 ms, a
#   tool that places probes a second.  What it says of probes needs `run`; in a file that is about neither, `light` comes first.
# - Never sleep for a condition that can be polled: until_true.
# - A test that cannot run on a machine calls `skip WHY`; skips are counted.
# scripts/mutate changes lines one at a time and prints the changes that no test notices: docs/mutants.md.
#   O        the build directory
#   LONG     see long
#   RESULTS  a file that gets a line a test: verdict, file, title, reason
#   TIMES    a file that gets a line a test: seconds of CPU so far, those of the system in it, file, title
set -u
test_file=$1
RESULTS=${RESULTS:-/dev/null}
# they are this file's, and not those of the tests that it runs
for of in RESULTS LONG TIMES; do
	eval "value=\${$of:-}; unset $of; $of=\$value"
done
unset AGAIN BESIDE JOBS V
# -c would run as the user who called sudo, who may not read what is built and written here
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND
# this machine, a folder of arch; and $pause
machine=$(uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
# shellcheck disable=SC1090 # it is given to shellcheck itself
. "./arch/$machine/tests/words.sh"
export GLIBC_TUNABLES=glibc.malloc.perturb=165:glibc.malloc.tcache_count=0	# freed memory is overwritten: its use is seen
PATH=$O:$PATH
# f() declares nothing of what f takes, as it did before C23
CC="${CC:-cc} -std=gnu11"
bin=$O/tests/bin
lib=$O/tests/lib
tmp=$(mktemp -d)
name='' why='' ntests=0 failed=0 pids='' read=''
read -r main _ </proc/self/stat
# the kinds to attach by: tests/attach-kinds.t compares all of them.  perf has multi's programs, and the kernel waits for each of
# its probes when it takes them out: only where the kinds' own ways differ
kinds="session${LONG:+ multi}"
# the same for a command that the tool runs
command_kinds="$kinds${LONG:+ inject}"
[ -e "$bin/inject" ] || command_kinds=$kinds

# what --attach inject must do with: an ordinary user who has no capability and can get none.  SETPRIV: where the shell has
# one of its own that knows no users
unprivileged="${SETPRIV:-setpriv} --no-new-privs --inh-caps=-all"
[ "$(id -u)" -ne 0 ] || unprivileged="$unprivileged --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all"

# With ATTACH=KIND every tool attaches by that kind where it runs a command and is told no kind, as an ordinary user
# with inject.
attach_all() {
	chmod 777 "$tmp"
	umask 0
	attach_by "$ATTACH" "$([ "$ATTACH" != inject ] || echo "$unprivileged")"
}
attach_by() {
	mkdir "$tmp/path"
	for t in cudalaunchtop cudaleak cudamallocsnoop cudamemcpysize cudasynclatency cudatrace ncclsnoop nccltop ncclhang; do
		cat >"$tmp/path/$t" <<-END
			#!/bin/sh
			has=
			for w; do
				case \$w in
				-p | --pid* | --attach* | --list | --check | -l | --lib* ${2:+| -u | --user*}) exec "$O/$t" "\$@" ;;
				-c | -[a-zA-Z]*c | --command*) has=yes ;;
				--) has=yes; break ;;
				esac
			done
			[ -n "\$has" ] || exec "$O/$t" "\$@"
			exec ${2:-} "$O/$t" --attach "$1" "\$@"
		END
	done
	chmod 755 "$tmp/path" "$tmp/path"/*
	PATH=$tmp/path:$PATH
}

# Lanes: a test runs beside those of other files.  One that begins with it_alone has the machine to itself: it fills
# buffers of the whole machine, counts what all processes have, or changes a setting.  A lock is held by descriptor 9
# from one title to the next; who waits for it holds the gate, so that it_alone is not put off forever.  Tests that
# a test runs are within its lane.
lane_lock=${LANE_LOCK-$O/tests/lanes}
lane() {
	[ -n "$lane_lock" ] || return 0
	flock -u 9
	{ flock 8; flock "$1" 9; } 8>>"$lane_lock.gate"
}
[ -z "$lane_lock" ] || exec 9>>"$lane_lock"
export LANE_LOCK=

# it TITLE: what follows, up to the next one, is one test.  Not in a subshell, such as that of a pipe: its variables are lost
it() { begin_test -s "$@"; }
it_alone() { begin_test -x "$@"; }
begin_test() {
	in_main || { shift; no "a test in a subshell: $*"; return; }
	verdict
	lane "$1"
	shift
	name=$* why=''
}
in_main() { read -r self _ </proc/self/stat && [ "$self" = "$main" ]; }

# long: is this `make check-all`?  Tests that take seconds come after it
long() { [ -n "${LONG:-}" ]; }

# light: where this file's tools run a command and are told no kind, it is inject in `make check`, which starts in 10 ms, and
# the kernel's probes only with LONG.  For files about what is made of calls, whoever sees them
light() { long || [ -n "${ATTACH:-}" ] || [ ! -e "$bin/inject" ] || { chmod 711 "$tmp"; ATTACH=inject; attach_by inject; }; }

# leave: the rest of the file is not for now
leave() { read=yes; exit; }

# result VERDICT TAP [REASON]: of this test
result() {
	ntests=$((ntests + 1))
	case $name in *\#*) tap=$(printf %s "$name" | sed 's/#/\\#/g') ;; *) tap=$name ;; esac
	printf '%s %d - %s\n' "$2" $ntests "$tap${4:-}"
	printf '%s\t%s\t%s\t%s\n' "$1" "$test_file" "$name" "${3:-}" >>"$RESULTS"
	[ -z "$TIMES" ] || cpu_so_far
	name=''
}

# cpu_so_far: of the shell and of the children that it has waited for.  prove's figures are those of all files at that time
cpu_so_far() {
	times >"$tmp/.times"
	tr 'ms\n' '   ' <"$tmp/.times" | awk -v OFS='\t' -v of="$test_file" -v title="$name" '{
		user = 60 * ($1 + $5) + $2 + $6; system_ = 60 * ($3 + $7) + $4 + $8; print user + system_, system_, of, title }' >>"$TIMES"
}

# skip WHY: the test cannot be done here.  It may be called in a subshell, or with its output elsewhere
skip() {
	name=${name:-$test_file}
	echo "$1" >"$tmp/.skip"
}

# unshares OPTION...: can namespaces be made here with these?  If not, the test is skipped
unshares() {
	unshare "$@" true 2>/dev/null && return
	skip "no namespaces can be made here by unshare $*"
	return 1
}

# no WHY: the test fails, also in a subshell
no() {
	why="$why${why:+; }$1"
	in_main || printf '%s; ' "$1" >>"$tmp/.why"
}

verdict() {
	[ -n "$name" ] || return 0
	[ ! -e "$tmp/.why" ] || { why=$why$(cat "$tmp/.why"); rm "$tmp/.why"; }
	if [ -e "$tmp/.skip" ]; then
		skipped=$(cat "$tmp/.skip")
		rm "$tmp/.skip"
		result skipped ok "$skipped" " # SKIP $skipped"
		return
	elif [ -z "$why" ]; then
		result passed ok
		return
	fi
	{
		echo "  FAIL $test_file: $name: $why"
		for said in out err; do
			[ -s "$tmp/$said" ] && head -n 9 "$tmp/$said" | cut -c1-200 | sed "s/^/       $said| /"
		done
	} >&2
	failed=1
	result failed 'not ok' "$why"
}

finish() {
	[ -n "$read" ] || { name=${name:-$test_file}; rm -f "$tmp/.skip"; no "the file ended here"; }
	verdict
	[ -z "$lane_lock" ] || flock -u 9	# what the file leaves running has the descriptor, too
	# the number of one that has ended may be another test's process by now
	# shellcheck disable=SC2013 # words of one line
	for child in $(cat "/proc/$main/task/$main/children"); do
		for p in $(cat "/proc/$child/task/"*/children 2>/dev/null) "$child"; do
			case " $pids " in *" $p "*) kill -9 "$p" 2>/dev/null ;; esac
		done
	done
	rm -rf "$tmp"
	echo "1..$ntests"
	printf 'ended\t%s\n' "$test_file" >>"$RESULTS"
	exit $failed
}
trap finish EXIT
trap 'exit 1' INT TERM
[ -z "${ATTACH:-}" ] || attach_all

# as_who COMMAND...: $who, words to run it with: a tool with --attach inject has no privileges, whoever runs the tests
as_who() {
	who=
	case " $* " in
	*' setpriv '*) ;;
	*' --attach inject '*) who=$unprivileged ;;
	esac
}

# run COMMAND...: to its end; its output in $tmp/out and $tmp/err, its status in $rc.  SECONDS_: the limit.  The kernel takes
# out the hundreds of probes of --attach perf one by one, on some machines ten a second.
run() {
	as_who "$@"
	# shellcheck disable=SC2086 # words
	timeout "${SECONDS_:-300}" $who "$@" >"$tmp/out" 2>"$tmp/err" 9>&-
	rc=$?
}

# record FILE [VAR=VALUE...] TOOL OPTION... -c COMMAND: the tool runs it with --attach inject, and what it gets to see is
# kept.  replay FILE, with the same words: the tool gets to see that again; options may be others but for what is probed:
# tests/replay/replay.c
record() {
	recording=$1
	shift
	run env "REPLAY_RECORD=$recording" "PATH=$O/tests/replay:$PATH" "$@"
	[ "$rc" -ne 124 ] || no "recording: no end"
	! grep ': recording: ' "$tmp/err" >"$tmp/why" || no "$(cat "$tmp/why")"
}
replay() {
	recording=$1
	shift
	run env "REPLAY=$recording" "PATH=$O/tests/replay:$PATH" "$@"
}

# replayed, with the words of record: what the tool prints of the command, which runs once for all that are about the same.  For
# titles about what is printed, and not about what probes see
replayed() {
	# the files that the command names are part of it
	replayed_=$tmp/replayed-$({
		env | grep '^SIM_'
		tool_='' before=''
		for word; do
			case $word in *=*) ;; *) tool_=${tool_:-$word} ;; esac
			case $before in -[!-]*c | -c | --command) break ;; esac
			[ "$word" != -- ] || { word=$*; break; }
			[ -n "$tool_" ] && [ "$word" != "$tool_" ] || echo "$word"
			before=$word
		done
		echo "$word"
		set -f
		# shellcheck disable=SC2086 # words
		ls -ldi --full-time -- $word
	} 2>/dev/null | cksum | tr ' ' -)
	for recording in "$replayed_"-*; do
		[ -e "$recording" ] || break
		replay "$recording" "$@"
		grep -q ': record it with these options$' "$tmp/err" || return 0
	done
	replayed_=$(mktemp "$replayed_-XXXXXX")
	record "$replayed_" "$@"
	replay "$replayed_" "$@"
}

# program COMMAND...: starts it in the background, up to the word `wait` of mem; $pid
program() {
	rm -f "$tmp/go" "$tmp/ready"
	mkfifo "$tmp/go"
	"$@" <"$tmp/go" >"$tmp/ready" 9>&- & pid=$!
	pids="$pids $pid"
	exec 3>"$tmp/go"
	until_true grep -q ready "$tmp/ready"
}

# go: lets the program go on, and waits for its end
go() {
	echo >&3
	exec 3>&-
	wait "$pid"
}

# tool COMMAND...: starts a tool in the background, up to where it says that it traces; $tracer
tool() {
	: >"$tmp/err"
	exec 4<&0	# a background job's own input is /dev/null
	as_who "$@"
	# shellcheck disable=SC2086 # words
	$who "$@" <&4 >"$tmp/out" 2>"$tmp/err" 9>&- & tracer=$!
	exec 4<&-
	pids="$pids $tracer"
	until_true grep -q ': tracing' "$tmp/err"
}

# stop [SIGNAL]: ends the tool; its status in $rc
stop() {
	sleep .1
	kill -s "${1:-INT}" "$tracer" 2>/dev/null
	wait "$tracer"
	rc=$?
}

# until_true COMMAND...: tries it for up to a minute
until_true() {
	tries=0
	until "$@" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -le 620 ] || { no "never true: $*"; return 1; }
		if [ $tries -le 25 ]; then sleep .02; else sleep .1; fi
	done
}

# succeeds CHECK...: is there nothing to say no to?  For until_true; the test does not fail
succeeds() {
	_why=$why why=''
	"$@"
	set -- "$why"
	why=$_why
	[ -z "$1" ]
}

status() { [ "$rc" -eq "$1" ] || no "status $rc, not $1"; }
equal() { [ "$1" = "$2" ] || no "'$1' is not '$2'"; }

# lines N REGEX: so many lines of output match
lines() {
	got=$(grep -cE -- "$2" "$tmp/out")
	[ "$got" -eq "$1" ] || no "$got lines match /$2/, not $1"
}

# json N FILTER [N FILTER...]: so many objects of the output satisfy jq's filter.  jq takes 20 ms to start
json() {
	json_='' json_n=0
	for word; do
		[ $((json_n % 2)) -eq 0 ] || json_="$json_${json_:+, }(select($word) | $((json_n / 2)))"
		json_n=$((json_n + 1))
	done
	jq -n "reduce (inputs | $json_) as \$i ([range($((json_n / 2))) | 0]; .[\$i] += 1) | .[]" "$tmp/out" >"$tmp/json" 2>"$tmp/jq"
	[ -s "$tmp/jq" ] && no "jq: $(head -c 200 "$tmp/jq")"
	while read -r got; do
		[ "$got" -eq "$1" ] || no "$got objects with $2, not $1"
		shift 2
	done <"$tmp/json"
}

# sum N FILTER [N FILTER...]: jq's FILTER, added up over the objects that have it
sum() {
	sum_='' sum_n=0
	for word; do
		[ $((sum_n % 2)) -eq 0 ] || sum_="$sum_${sum_:+, }(map($word) | add // 0)"
		sum_n=$((sum_n + 1))
	done
	jq -s "$sum_" "$tmp/out" >"$tmp/sum" 2>"$tmp/jq" || no "jq: $(head -c 200 "$tmp/jq")"
	while read -r got; do
		[ "$got" = "$1" ] || no "the sum of $2 is $got, not $1"
		shift 2
	done <"$tmp/sum"
}

# says TEXT: standard error has it; silent: standard error is empty but for 'tracing', and for what
# the kernel does at its leisure, or takes longer than a second
says() { grep -qF -- "$1" "$tmp/err" || no "no '$1' on standard error"; }
says_not() { ! grep -qF -- "$1" "$tmp/err" || no "'$1' on standard error"; }
silent() {
	! grep -vE -e ': tracing|the kernel is still removing|: the CUDA runtime is linked in: ' \
		-e ': (scanning processes: |process [0-9]+: reading |reading |placing probes|taking out probes: )' \
		"$tmp/err" >"$tmp/said" || no "it says: $(head -c 200 "$tmp/said")"
}

# fails STATUS MESSAGE COMMAND...
fails() {
	want=$1 msg=$2
	shift 2
	run "$@"
	status "$want"
	says "$msg"
}

# inside TOOL: does it measure inside kernels?  It has no BPF programs then, and traces no process that runs already
inside() { grep -qs '\.gpuprobe = &' "tools/$1.c"; }

# layer_of FUNCTION: as --layer has it
layer_of() { case $1 in *cuda*) echo runtime ;; *) echo driver ;; esac; }

# in_pause: the tool's command waits for ever in the simulated CUDA
in_pause() {
	# shellcheck disable=SC2013 # words of one line
	for p in $(cat "/proc/$tracer/task/$tracer/children"); do
		grep -q "^$pause " "/proc/$p/syscall" && return
	done
	return 1
}

# shows_in_flight TOOL FUNCTION WORDS: a call of `mem WORDS` that never returns, the second one of the function
shows_in_flight() {
	eval "tool env SIM_LATENCY_US=$2:2=-1 $1 -j -- \"$bin/mem\" $3"
	until_true in_pause
	stop TERM	# the shell has it ignore INT
	json 1 ".running and .func == \"$2\" and .complete and .age_ns > 0"
}

# counts_once TOOL COUNT N FUNCTION INSIDE WORDS: the driver's function inside is no call of its own, and one where
# the runtime is not looked at; COUNT: the key of what an object counts, or 1
counts_once() {
	it "$4 and the driver's $5 in it are one call"
	run "$1" -jc "$bin/mem $6"
	sum "$3" "select(.func == \"$4\") | $2"
	json 0 ".func == \"$5\""
	run "$1" --layer driver -jc "$bin/mem $6"
	sum "$3" "select(.func == \"$5\") | $2"
}

# screen WIDTH HEIGHT COMMAND: on a terminal, and then "ended STATUS".  Each has a socket of its own: a new session on the one
# of a server that is ending would end with it.
screens=0
screen() {
	term kill-server 2>/dev/null
	screens=$((screens + 1))
	LC_ALL=C.UTF-8 term -f /dev/null new-session -d -x "$1" -y "$2" "$3; echo ended \$?; sleep 100"
}
term() { tmux -S "$tmp/tmux.$screens" "$@"; }

# shot: what is on it, into $tmp/out; on_screen REGEX: waits until a line of it matches
shot() { term capture-pane -p >"$tmp/out"; }
shot_matches() { shot; grep -qE -- "$1" "$tmp/out"; }
on_screen() { until_true shot_matches "$1"; }
# row3_shows REGEX: the first row of the table
row3_shows() { term capture-pane -p | sed -n 3p | grep -qE -- "$1"; }

# quit: the tool on the screen ends by its key q, then the screen and what program() began; $tmp/out has what was on it
quit() {
	term send-keys q
	on_screen '^ended 0'
	screen_gone
}
screen_gone() {
	term kill-server
	kill "$pid" 2>/dev/null
	exec 3>&-
}

# cross FOLDER: can this machine build for arm64?  Then FOLDER has the sysroot, else the test is skipped
cross() {
	if [ "$machine" = arm64 ]; then
		skip "this is an arm64 machine"
	elif ! command -v aarch64-linux-gnu-gcc >/dev/null; then
		skip "no cross compiler: run scripts/setup arm64"
	elif ! scripts/sysroot arm64 "$1" >"$tmp/out" 2>&1; then
		skip "$(tail -n 1 "$tmp/out")"
	else
		return 0
	fi
	return 1
}

# taken FILE: does bpftrace, old or new, take the program?
taken() {
	if bpftrace --help 2>&1 | grep -q -e --dry-run; then
		bpftrace --dry-run "$1" >/dev/null 2>&1
	else
		bpftrace -d "$1" >/dev/null 2>&1
	fi
}

. "./$test_file"
read=yes
