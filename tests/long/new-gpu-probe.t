# shellcheck shell=sh disable=SC2034,SC2086,SC2154 # $there is a list of words
# new-gpu-probe, and the tools that it writes, in a copy of the tree: its build has what is built already, so that only
# the new tools are left to make.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
src=$tmp/src
mkdir -p "$src/build"
tar -cf - --exclude=./.git --exclude='./build*' . | tar -xf - -C "$src"
find "$O" -maxdepth 1 -type f -exec cp -p {} "$src/build" \;
ln -s "$O/tests" "$src/build/tests"

there="env -u O -C $src"
new_probe() { run $there scripts/new-gpu-probe "$@"; }

it "what is not a point, a kind or a name is refused, and nothing is written"
$there find . -type f | sort >"$tmp/before"
fails 2 "--at: 'launch' is not one of entry, exit, access and timed" $there scripts/new-gpu-probe cudax --at launch
fails 2 "--as: 'top' is not one of hist, counters and records" $there scripts/new-gpu-probe cudax --as top
fails 2 '--at requires an argument' $there scripts/new-gpu-probe cudax --at
fails 2 "unknown option '--force'" $there scripts/new-gpu-probe --force cudax
fails 2 "unexpected argument 'cuday'" $there scripts/new-gpu-probe cudax cuday
fails 2 'missing tool name' $there scripts/new-gpu-probe
for bad in bounds cuda cuda-set cudaSet cuda_set 'cuda set' cuda/../x cudaxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; do
	fails 2 "$bad': " $there scripts/new-gpu-probe "$bad"
done
$there find . -type f | sort >"$tmp/after"
equal "$(diff "$tmp/before" "$tmp/after")" ''

it "nothing is written over what is there, links either"
ln -s /nowhere "$src/man/cudalinks.8"
fails 1 'would overwrite man/cudalinks.8' $there scripts/new-gpu-probe cudalinks
rm "$src/man/cudalinks.8"
[ ! -e "$src/gpu/cudalinks.gpu.c" ] || no "gpu/cudalinks.gpu.c is written"

names=
for at in entry exit access timed; do
	for as in hist counters records; do
		made=cudax$at$as names="$names $made"
		new_probe $made --at $at --as $as
		[ "$(grep -c '^wrote ' "$tmp/out")" = 5 ] || no "$made: not five files"
	done
done

it "the tools build without a warning"
# shellcheck disable=SC2046 # a list of words
run $there make -j2 $(printf ' build/%s' $names)
status 0
! grep -qi warning "$tmp/out" "$tmp/err" || no "a warning"

it "a tool is at most 150 lines with its probe"
for made in $names; do
	n=$(cat "$src/tools/$made.c" "$src/gpu/$made.gpu.c" | wc -l)
	[ "$n" -le 150 ] || no "$made: $n"
done

for made in $names; do
	it "$made passes its test"
	run $there O="$src/build" tests/run "tests/$made.t"
	status 0
	lines 1 '^5 passed, 0 failed, 0 skipped$'
done

it "their pages say what they do, and mandoc has no warning"
for made in $names; do
	mandoc -T lint -W warning "$src/man/$made.8" >"$tmp/lint" || no "$made: $(head -n 1 "$tmp/lint")"
	! grep -q '@' "$src/gpu/$made.gpu.c" "$src/tools/$made.c" "$src/man/$made.8" "$src/docs/$made.md" || no "$made: a mark"
done
