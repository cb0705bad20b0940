# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # for the tests that include it, and lib.sh's
# Words for tests of call stacks: . tests/stacks.sh

# compare HOW TRUTH [OPTION...]: the stacks in $tmp/out with the truth: tests/stacks/compare.py
compare() {
	how=$1 truth=$2
	shift 2
	python3 tests/stacks/compare.py "$how" "$truth" "$tmp/out" "$@" >"$tmp/compared" ||
		no "$(tail -n 1 "$tmp/compared"): $(head -n 3 "$tmp/compared" | cut -c1-200 | tr '\n' ';')"
}

# seen_or_lost N: each allocation of the output is there, or counted as lost; enough are there to judge by
seen_or_lost() {
	seen=$(jq -n '[inputs | select(.op == "alloc")] | length' "$tmp/out")
	lost=$(jq -n '[inputs | .lost // 0] | add' "$tmp/out")
	[ $((seen + lost)) -ge "$1" ] || no "$seen calls seen and $lost lost, of $1"
	[ "$seen" -gt $(($1 / 20)) ] || no "only $seen calls of $1 seen"
}

# The interpreters are Debian's, of scripts/pythons; the machine's own is called "host".  Versions that no
# suite of Debian has are used where they are installed, by pyenv for one.

pythons=${PYTHONS_CACHE:-$O/pythons}
export PYTHONDONTWRITEBYTECODE=1	# nothing beside the sources, and no lines of older ones
export PYTHONWARNINGS=ignore	# of fork() with threads (3.12)

# against_old ROOT FILE OBJECT...: links a library with the C library of that root, older than what
# the simulated CUDA was linked with
against_old() {
	of=$1/lib/x86_64-linux-gnu so=$2
	shift 2
	${CC:-cc} -shared -nodefaultlibs -Wl,-soname,"${so##*/}" -Wl,-Bsymbolic -Wl,-z,defs \
		-Wl,-rpath,"\$ORIGIN" -o "$so" "$@" -l:libc_nonshared.a \
		"$of/libc.so.6" "$of/libpthread.so.0" "$of/libdl.so.2" "$of/ld-linux-x86-64.so.2"
}

# installed VERSION: its path here
installed() {
	[ "$1" != host ] || set -- 3
	for found in "/usr/bin/python$1" "/usr/local/bin/python$1" "${PYENV_ROOT:-${HOME:-/root}/.pyenv}/versions/$1".*/bin/python"$1"; do
		[ ! -x "$found" ] || { echo "$found"; return; }
	done
}

# furnish VERSION: the simulated CUDA and the workloads into that interpreter's root, as /cuda and /w;
# $python to start it with, $embed for a program that has it inside or '', $w the workloads' folder as it
# sees it; or false, and $why_not
furnish() {
	case $1 in
	host | 3.8 | 3.10 | 3.12)
		found=$(installed "$1")
		python="env CUDA_LIB=$lib $found" embed='' w=$PWD/tests/workloads/python root=/
		why_not="no Python $1 is installed here"
		[ -n "$found" ]
		return
		;;
	*t)
		python="env CUDA_LIB=$lib $pythons/$1/bin/python$1" embed='' w=$PWD/tests/workloads/python root=/
		[ -d "$pythons/$1" ] || why_not=$(scripts/pythons "$1" 2>/dev/null)
		[ -d "$pythons/$1" ]
		return
		;;
	esac
	python=$pythons/python-$1 embed="chroot $pythons/$1 /cuda/embed libpython$1.so.1.0" w=/w root=$pythons/$1
	if [ ! -d "$root" ]; then
		why_not=$(scripts/pythons "$1" 2>/dev/null)
		[ -d "$root" ] || return 1
	fi
	mkdir -p "$root/cuda" "$root/w"
	cp --remove-destination tests/workloads/python/*.py "$root/w"
	if grep -q GLIBC_2.34 "$root/lib/x86_64-linux-gnu/libc.so.6"; then
		cp --remove-destination "$lib/libcuda.so.1" "$lib/libcudart.so.13" "$lib/libmiddle.so" "$bin/embed" "$root/cuda"
	else
		o=$O/tests/obj/sim
		against_old "$root" "$root/cuda/libcuda.so.1" "$o"/drv_*.o "$o/sim.o" &&
			against_old "$root" "$root/cuda/libcudart.so.13" "$o"/rt_*.o "$o/sim.o" \
				-Wl,--version-script=tests/sim/libcudart13.map &&
			embed='' &&
			against_old "$root" "$root/cuda/libmiddle.so" -O2 -fPIC -fomit-frame-pointer \
				tests/workloads/python/middle.c "$root/cuda/libcudart.so.13"
	fi || { why_not='the libraries cannot be made'; return 1; }
}

# hung N...: starts cases.py for each number, which hangs in that allocation forever; their pids in $hung, with commas,
# $nhung of them; what they told in $tmp/truth
hung() {
	hung='' nhung=0
	for nth; do
		# shellcheck disable=SC2086 # words
		env "SIM_LATENCY_US=cudaMalloc:$nth=-1" $python "$w/cases.py" all >"$tmp/hung.$nth" 2>&1 9>&- &
		pids="$pids $!" hung="$hung${hung:+,}$!" nhung=$((nhung + 1))
	done
	until_true all_hang "$hung"
	cat "$tmp"/hung.* >"$tmp/truth"
	rm "$tmp"/hung.*
}

# all_hang PID,...: a thread of each is in pause(), where the simulated CUDA waits
all_hang() {
	[ -n "$1" ] || return
	for p in $(echo "$1" | tr , ' '); do
		grep -qs "^$pause " "/proc/$p/task/"*/syscall || return
	done
}

# command_hangs: the same of one of a tool's children: others are its helpers
command_hangs() {
	# shellcheck disable=SC2013 # words of one line
	for child in $(cat "/proc/$tracer/task/$tracer/children"); do
		all_hang "$child" && return
	done
	return 1
}

# hung_end: they end
hung_end() {
	for p in $(echo "$hung" | tr , ' '); do
		kill -9 "$p"
		wait "$p"
	done 2>/dev/null
}
