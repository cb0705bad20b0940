# shellcheck shell=sh disable=SC2154 # rc: the words'
# Does what `make bench` measures with work?  What it measures is no test.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# table HEADING N: so many rows with a number stand in the tables below the heading
table() {
	got=$(awk -v head="$1" '/^## / { on = $0 == "## " head; rows = 0 }
		on && /^\| -/ { rows = 1; next }
		!/^\|/ { rows = 0 }
		rows && /[0-9]/' "$tmp/out" | wc -l)
	[ "$got" -eq "$2" ] || no "$got rows below '$1', not $2"
}

it "the programs to measure with build without a warning"
run make -s "O=$O" bench-built
status 0
! grep -v '^  [A-Z]* ' "$tmp/out" "$tmp/err" || no "a warning"

it "make bench: what tools cost PyTorch, if it is installed, and a C++ program"
BENCH=quick run tests/bench/run programs
status 0
silent
if grep -q 'PyTorch is not installed' "$tmp/out"; then
	table 'What tools cost real programs' 40
else
	table 'What tools cost real programs' 80
fi

it "make bench: what a call costs, for each tool, place and attach kind that is asked for"
cp "$O/bench.md" "$tmp/results" 2>/dev/null || : >"$tmp/results"
BENCH=quick run tests/bench/run cost
status 0
silent
table 'What a call costs' 10
table 'What was to be reached' 9
! grep -q nan "$tmp/out" || no "something was not measured"

stats=$(cat /proc/sys/kernel/bpf_stats_enabled)
it "make bench: how long the programs run, for each call that has a goal"
BENCH=quick run tests/bench/run probes
status 0
silent
if ls "${CLIENTS_CACHE:-${XDG_CACHE_HOME:-/var/cache}/cuda-bpf-tools/clients}"/pytorch/bin/python "$O/tests/clients/libcudart.so.13" >/dev/null 2>&1; then
	table "The programs' own time" 5
	table 'What was to be reached' 5
else
	table "The programs' own time" 3
	table 'What was to be reached' 3
fi
equal "$(cat /proc/sys/kernel/bpf_stats_enabled)" "$stats"

it "make bench: what a call costs without privileges"
BENCH=quick run tests/bench/run inject
status 0
silent
table 'What a call costs without privileges' 2
table 'What a call costs in a running program with the resident library' 3
table 'Records without privileges' 1
table 'To start without privileges' 2
table 'What was to be reached' 10

it "make bench: what is paid once, and much at a time"
BENCH=quick run tests/bench/run scale
status 0
silent
table 'To attach and to detach' 2
table 'To start and to end' 7
table 'Records' 4
table 'Instructions' 5
lines 1 '^1,024 live allocations of 1,024 \(0 records lost\)'
lines 1 '^100 kernels by name'
table 'Much at a time' 3

it "make bench: what probes inside kernels cost"
BENCH=quick run tests/bench/run inside
status 0
silent
table 'To rewrite PTX' 18
table 'To start under a tool' 5
table 'Kernels with probes, in the model' 13
table 'The interpreter' 5

it "a part alone, or a quick look, leaves the results as they are"
[ ! -e "$O/bench.md" ] || cmp -s "$O/bench.md" "$tmp/results" || no "it is another"
fails 1 'bench: time: expected programs or cost' tests/bench/run time
