# shellcheck shell=sh disable=SC2154 # bin, tmp: the words'
# What is known of Python's versions: tests/unit/python.c.  python-lines.tbl has, for each version, a line table
# and the lines that the interpreter itself has for each code unit.

it "the line of each instruction is Python's own, from 3.8 to 3.15"
while read -r version first table lines; do
	# beyond the last range there is no line
	"$bin/python" "$version" "$first" "$table" >"$tmp/got"
	echo "$lines" | tr , '\n' >"$tmp/want"
	awk 'NR == FNR { got[NR] = $1; last = $1; n = NR; next }
		(FNR <= n ? got[FNR] : last) != $1 { print FNR ": " (FNR <= n ? got[FNR] : last) ", not " $1; exit 1 }' \
		"$tmp/got" "$tmp/want" >"$tmp/wrong" || no "$version: $(cat "$tmp/wrong")"
done <tests/unit/python-lines.tbl
equal "$(cut -d' ' -f1 tests/unit/python-lines.tbl | sort -u | wc -l)" 8

it "versions before 3.13 have a layout, others none without the process's own word"
for version in 0308 0309 030a 030b 030c; do
	"$bin/python" layout $version >"$tmp/out" || no "no $version"
done
for version in 0207 0307 030d 030e 0310; do
	! "$bin/python" layout $version >"$tmp/out" || no "$version: $(cat "$tmp/out")"
done

it "a build without a GIL has a layout of its own; a version that there is not has none"
for version in 030d:2 030e:8 030f:8; do
	"$bin/python" layout "${version%:*}" 0 >"$tmp/out"
	lines 1 ' version 92 kind 2$'
	"$bin/python" layout "${version%:*}" 1 >"$tmp/out"
	lines 1 " version 108 kind ${version#*:}\$"
done
for gil in 0 1; do
	! "$bin/python" layout 0310 $gil >"$tmp/out" || no "3.16: $(cat "$tmp/out")"
done
