# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # for the tests that include it, and lib.sh's
# Words for tests of tools that trace every process: they count what is their own.  Beside them others run CUDA programs,
# trace every process, and begin and end: another test, or whoever shares the machine.  tests/beside does so: . tests/own.sh

# of PID...: of the output, which is JSON, what is of these processes, and what of theirs was lost
of() {
	these=$(echo "$*" | tr ' ' '|')
	grep -E "\"pid\":($these)[,}]" "$tmp/out" >"$tmp/of"
	mv "$tmp/of" "$tmp/out"
}

# own PROGRAM [NAME]: a copy of one of $bin, whose name no other program has, NAME and a number; $own its path.  It has a copy
# of the libraries, in $tmp/own/lib: to place a probe in a file, the kernel waits for each process that maps it, and crowds of
# them would keep others' tools waiting
own() {
	mkdir -p "$tmp/own/bin" "$tmp/own/lib"
	own=$tmp/own/bin/${2:-$1}$$
	cp "$bin/$1" "$own"
	cp "$lib/libcuda.so.1" "$lib/libcudart.so.13" "$tmp/own/lib"
}

# second COMMAND...: a program as of program(), beside that one; $second.  go_second: as go()
second() {
	rm -f "$tmp/second.go" "$tmp/second.ready"
	mkfifo "$tmp/second.go"
	"$@" <"$tmp/second.go" >"$tmp/second.ready" & second=$!
	pids="$pids $second"
	exec 5>"$tmp/second.go"
	until_true grep -q ready "$tmp/second.ready"
}
go_second() {
	echo >&5
	exec 5>&-
	wait "$second"
}

# below PID NAME: the number of a program of that name that this process has started, or one that it has started has; its
# first one
below() {
	for p in $(pgrep -P "$1"); do
		[ "$(cat "/proc/$p/comm" 2>/dev/null)" != "$2" ] || { echo "$p"; return; }
		! below "$p" "$2" || return 0
	done
	return 1
}

# in_time MS COMMAND...: it takes no longer, at one of three tries, as others may run meanwhile; $took
in_time() {
	most=$1
	shift
	for _ in 1 2 3; do
		began=$(date +%s%N)
		"$@"
		took=$((($(date +%s%N) - began) / 1000000))
		[ $took -ge "$most" ] || return 0
	done
	no "$*: it took $took ms"
}

# words before a program that floods whoever traces every process: it is another user's, whose losses are not root's, where that
# one can run what is in $bin
another='setpriv --reuid 65534 --regid 65534 --clear-groups'
{ [ -z "${ATTACH:-}" ] && $another test -x "$bin/mem" 2>/dev/null; } || another=

# words before a program that is to have the CPU, whatever runs beside it, where that is permitted
ahead='chrt -f 1'
{ [ -z "${ATTACH:-}" ] && $ahead true 2>/dev/null; } || ahead=

# not_of_others PID...: a filter of what a tool says: without what it says of other processes than these, of all together, and
# of what it still read when it was ended
not_of_others() {
	awk -v these=" $* " '{ of = named = 0; line = $0
		while (match(line, /process [0-9]+/)) {
			named = 1
			of += index(these, " " substr(line, RSTART + 8, RLENGTH - 8) " ") > 0
			line = substr(line, RSTART + RLENGTH)
		}
		if (named ? of && !/ could not be read until the end$/ : !/: (lost |left out )?[0-9]+ (mmap events|calls? |call stacks? |launches? |records? )/)
			print }'
}

# silent_of PID...: as silent, but for that
silent_of() {
	not_of_others "$@" <"$tmp/err" >"$tmp/of"
	mv "$tmp/of" "$tmp/err"
	silent
}
