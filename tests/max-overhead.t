# shellcheck shell=sh disable=SC2154,SC2016,SC2034 # the words' variables; awk's
# --max-overhead: a program that does little else than launch, idle ones, and one that becomes idle
# shellcheck source=/dev/null
. tests/own.sh
prom=$tmp/cuda.prom

# value REGEX: the sum of the samples of the last page that match
value() { grep -v '^#' "$prom" 2>/dev/null | grep -E -- "$1" | awk '{ n += $NF } END { printf "%.9f", n }'; }
# beats A B: is value A more than value B?
beats() { awk "BEGIN { exit !($1 > $2) }"; }
is() { equal "$(value "$1")" "$2.000000000"; }

# endless PROGRAM: launches without end, beside what runs here; $loop
endless() {
	"$1" launch 1000000000g >/dev/null 9>&- & loop=$!
	pids="$pids $loop"
}
no_loop() {
	kill "$loop"
	wait "$loop" 2>/dev/null
}

# sampled PID: has the page estimates for it, which are most of its launches?
sampled() { beats "$(value "^cuda_launches_estimated_total.*pid=\"$1\"")" "$(value "^cuda_launches_total.*pid=\"$1\"") * 3 / 4"; }
estimated() { beats "$(value "^cuda_launches_estimated_total.*pid=\"$1\"")" 0; }

# exports OPTION...: a page each second
exports() { tool cudaexporter --textfile "$prom" --interval 1 "$@"; }

it "a program that launches little keeps its probes, and is counted exactly"
program "$bin/mem" wait launch 1009 badlaunch 7 coop 13 wait sleep 10000000
exports -p "$pid"
echo >&3
until_true succeeds is '^cuda_launches_total.*kind="cooperative"' 13	# the last ones
is '^cuda_launches_total.*kind="kernel"' 1009
is '^cuda_errors_total.*function="cudaLaunchKernel"' 7
is '^cuda_launches_estimated_total' 0
is '^cuda_launches_probed_ratio.*probe="entry"' 1
is '^cuda_launches_probed_ratio.*probe="return"' 1
beats "$(value '^cuda_exporter_probe_hit_seconds.*part="trap"')" 0 || no "a trap costs nothing"
stop
kill "$pid"
silent

it "a program that only launches is sampled, and the page has the share that is not known"
endless "$bin/mem"
exports -p "$loop"
until_true sampled "$loop"
beats 0.9 "$(value '^cuda_launches_probed_ratio.*probe="entry"')" || no "the share of the time with probes is not below 1"
beats "$(value '^cuda_launches_probed_ratio.*probe="entry"')" "$(value '^cuda_launches_probed_ratio.*probe="return"')" ||
	no "returns are probed as long as entries"
beats "$(value '^cuda_probe_overhead_seconds_total')" 0 || no "no overhead"
equal "$(value '^cuda_exporter_lost_events_total')" 0.000000000
stop
no_loop
silent

long || leave

it "what is estimated is what was launched, give or take a half, also if the program waits between launches"
run env SIM_SPIN_US=cuLaunchKernel=2 cudaexporter --once -c "$bin/mem launch 1500007 sleep 3000 launch 1000003 sleep 2000"
status 0
cp "$tmp/out" "$prom"
beats "$(value '^cuda_launches_estimated_total')" 1000000 || no "it was not sampled"
all=$(value '^cuda_launches_total')
{ beats "$all" 1250005 && beats 3750015 "$all"; } || no "$all launches, not 2500010"

# a crowd of other tests' processes would take their own links for a minute
it_alone "beside it, other programs of the same libraries are counted exactly, those that begin later too"
own mem busy
program "$own" wait launch 1009 wait launch 997 sync 3 wait sleep 10000000
first=$pid
exports --comm "${own##*/}"
endless "$own"
until_true sampled "$loop"
echo >&3
until_true succeeds is "^cuda_launches_total.*pid=\"$first\"" 1009
second "$own" wait launch 1013 wait sleep 10000000
sleep 1
echo >&5
until_true succeeds is "^cuda_launches_total.*pid=\"$second\"" 1013
echo >&3
until_true succeeds is "^cuda_sync_duration_seconds_count.*pid=\"$first\"" 3
until_true succeeds is "^cuda_launches_total.*pid=\"$first\"" 2006
is "^cuda_launches_estimated_total.*pid=\"($first|$second)\"" 0
is "^cuda_launches_probed_ratio.*pid=\"($first|$second)\",comm=\"[^\"]*\",probe=\"return\"" 2
[ -z "$why" ] || no "$(grep -E '^cuda_(launches_probed|probe_overhead|exporter_probe_hit)' "$prom" | tr '\n' ' ')"
stop
no_loop
kill "$first" "$second"

it "cudatop marks launches that are estimated"
endless "$bin/mem"
tool cudatop -jp "$loop" 1
until_true grep -q '"launches_estimated":[1-9]' "$tmp/out"
stop
tool cudatop -bp "$loop" 1
until_true grep -qE "^$loop .* ~[0-9]" "$tmp/out"
stop
no_loop

it "without a limit nothing is sampled, and no overhead is measured"
for limit in off 0; do
	run cudaexporter --once --max-overhead $limit -c "$bin/mem launch 200003"
	status 0
	cp "$tmp/out" "$prom"
	is '^cuda_launches_total' 200003
	is '^cuda_(launches_estimated|launches_probed|probe_overhead|exporter_probe_hit_seconds)' 0
	lines 0 '^cuda_(launches_estimated|launches_probed|probe_overhead|exporter_probe_hit_seconds)'
done
for wrong in 1 -1% % 1.% 1%% one; do
	fails 2 "--max-overhead $wrong: expected a percentage of a core, as 1%, or off" cudaexporter --once --max-overhead="$wrong"
	fails 2 "--max-overhead $wrong: expected a percentage of a core, as 1%, or off" cudatop --once --max-overhead="$wrong"
done

# returned: has the share of returns risen since the page before?
returned() {
	before=$now
	now=$(value '^cuda_launches_probed_ratio.*probe="return"')
	sleep 1.1
	beats "$now" "$before"
}

for kind in session multi perf; do
	it "once the program launches little, all probes come back ($kind)"
	program "$bin/mem" wait launch 5000011 wait launch 1009 badlaunch 7 wait sleep 10000000
	exports -p "$pid" --attach $kind
	echo >&3
	now=2
	until_true estimated "$pid" && until_true returned
	before=$(value '^cuda_launches_total')
	echo >&3
	until_true succeeds is "^cuda_errors_total" 7
	equal "$(value '^cuda_launches_total')" "$(awk "BEGIN { printf \"%.9f\", $before + 1009 }")"
	stop
	kill "$pid"
done

it "with many processes, which share links, all that are sampled say so"
own mem busy
program "$own" wait launch 3 wait launch 1009 wait sleep 10000000
exports --comm "${own##*/}"
endless "$own"
echo >&3
crowd=
for i in $(seq 39); do
	# the first calls may be made before the new files of the libraries are probed
	"$own" malloc 3 4k sleep 5000 malloc 3 4k sleep 5000 malloc 3 4k sleep 10000000 >/dev/null 9>&- & crowd="$crowd $!"
done
pids="$pids$crowd"
all_are() { [ "$(grep -c '^cuda_launches_probed_ratio.*probe="return"} 0' "$prom")" -eq 41 ]; }
until_true sampled "$loop"
until_true all_are

it "… and programs that end while launches are not probed are counted as lost"
unprobed() {
	"$own" malloc 3 4k launch 7 >/dev/null 9>&-
	beats "$(value '^cuda_exporter_lost_events_total.*reason="program_not_probed"')" 0
}
until_true unprobed

it "… and when most of them have ended, those that are left are counted exactly"
until_true grep -q "^cuda_launches_probed_ratio.*pid=\"$pid\",.*probe=\"return\"} 0" "$prom"
# shellcheck disable=SC2086 # numbers
kill $crowd
is_whole() { [ "$(value "^cuda_launches_probed_ratio.*pid=\"$pid\",.*probe=\"return\"")" = 1.000000000 ]; }
for _ in $(seq 180); do	# it is tried again a minute later
	! is_whole || break
	sleep 1
done
is_whole || no "it is sampled"
before=$(value "^cuda_launches_total.*pid=\"$pid\"")
echo >&3
until_true succeeds is "^cuda_launches_total.*pid=\"$pid\"" $((${before%.*} + 1009))
stop
