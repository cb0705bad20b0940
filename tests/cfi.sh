# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # for the tests that include it, and lib.sh's
# Words for tests of unwind information: . tests/cfi.sh

# what the programs run in, and the machine's readelf; the registers that functions preserve, as readelf names them in
# order, and the column of the return address
emulated='' readelf=readelf preserved='rbx rbp r12 r13 r14 r15' column=16

# same NAME STACKS: the frames of this case are those that libgcc finds, in that many stacks
same() {
	lines 1 "^$1: stacks $2 complete $2 frames [1-9][0-9]* .* wrong 0\$"
}

# unwound PROGRAM: by our rules as by libgcc; its output is left
unwound() {
	unwound=${1##*/}
	it "$unwound is unwound as libgcc does it: deep, with alloca and aligned locals, on a thread, below qsort"
	# shellcheck disable=SC2086 # the emulator has options
	run $emulated "$1"
	status 0
	silent
	for case in deep alloca aligned thread; do
		same "$case" 1
	done
	same qsort '1[0-9]'
	lines 1 '^deep: .* most (29|3[0-9]) '

	it "$unwound: through a signal handler, on its own stack too"
	for case in signal altstack; do
		same "$case" 1
		lines 1 "^$case: .* signals 1 "
	done

	it "$unwound: through assembly with CFI, and expressions"
	for case in register stack expression; do
		same "$case" 1
	done
}

# as_readelf PROGRAM FILE [OF]: the rules of FILE at each row that readelf finds in OF are those
as_readelf() {
	program=$1
	shift
	"$readelf" -wF "${2:-$1}" 2>/dev/null | awk -v all="$preserved ra" -v column="$column" '
		/ CIE / { usual[$1] = $NF == "ra=" column }
		/ (CIE|FDE) / { cie = $5; sub(/cie=/, "", cie); fde = / FDE / && usual[cie]; columns = 0; next }
		/ZERO terminator/ { next }
		$1 == "LOC" { columns = NF; for (i = 2; i <= NF; i++) name[i] = $i; next }
		fde && columns && NF > 1 {
			gsub(/ \([a-z0-9]+\)/, "")
			for (i in rule) delete rule[i]
			for (i = 2; i <= columns; i++) rule[name[i]] = $i == "s" ? "u" : $i
			printf "%s %s", $1, rule["CFA"]
			n = split(all, order, " ")
			for (i = 1; i <= n; i++) printf " %s", order[i] in rule ? rule[order[i]] : "u"
			print ""
		}' >"$tmp/rules"
	cut -d' ' -f1 "$tmp/rules" >"$tmp/asked"
	# shellcheck disable=SC2086 # the emulator has options
	run $emulated "$program" rows "$1" <"$tmp/asked"
	status 0
	cmp -s "$tmp/rules" "$tmp/out" || no "$1: $(diff "$tmp/rules" "$tmp/out" | head -n 3 | tr '\n' ';')"
	rows=$(wc -l <"$tmp/rules")
}

# made_up PROGRAM: copies of stacks that are made up are unwound as they are (tests/unit/unwind.c)
made_up() {
	# shellcheck disable=SC2086 # the emulator has options
	run $emulated "$1" "$O/cudaleak.bpf.o"
	status 0
	cat >"$tmp/want" <<-END
		by pointers: 5000 5100 5200 1300 note
		a pointer below the stack: 5000 note
		one that is no multiple of 8: 5000 note
		one at the end: 5000 note
		pointers in a circle: 5000 note
		no file: 5000 note
		a signal: 5000 signal exact 5400 5500 1300 note
		rules: 0 1 1
		a return probe: 5000 5100 5250 1300 note
		from the second on: 5200 1300 note
		from the return address on: 5100 note
		the new one: 5000 5100 5200 1300 note
		the old one: none
		a file behind 127 frames: 5000 note
		a file behind 50: 5000 532c 5330 5334 5338 533c 5340 ... 51, and a note
	END
	cmp -s "$tmp/want" "$tmp/out" || no "$(diff "$tmp/want" "$tmp/out")"
}
