# shellcheck shell=sh

# whole: histograms add up to their counts, and percentiles lie in order
whole() {
	jq -e -s 'all(if .count == 0 then true else (.hist | map(.[2]) | add) == .count and
		.min_ns <= .p50_ns and .p50_ns <= .p95_ns and .p95_ns <= .p99_ns and .p99_ns <= .max_ns and
		.total_ns >= .count * .min_ns and .total_ns <= .count * .max_ns end)' "$tmp/out" >/dev/null ||
		no "the numbers of a function do not fit"
}

kinds='session multi perf inject'

# sees COUNT FUNCTION WORDS: of a program that does what the words of mem say
sees() {
	layer=$(layer_of "$2")
	for kind in $kinds; do
		it "--attach $kind: $1 calls of $2, each once"
		run @NAME@ --attach "$kind" --layer "$layer" -jc "$bin/mem $3"
		status 0
		json 1 ".func == \"$2\" and .count == $1 and .failed == 0"
		whole
		silent
	done
	kinds='session multi inject'	# to take perf's probes out takes long: once is enough

	it "$2: the call that failed is counted apart"
	run env "SIM_FAIL=$2:2=1" @NAME@ -c "$bin/mem $3"
	lines 1 "^$2: 1 call failed$"
	lines 1 "^ +$(($1 - 1)) +[0-9.]+ .?s "

	it "$2: a call that does not return is in flight"
	shows_in_flight @NAME@ "$2" "$3"

	it "$2: a call that takes 20 ms is the longest, and text says so"
	run env "SIM_LATENCY_US=$2:2=20000" @NAME@ -c "$bin/mem $3"
	lines 1 "^$2$"
	lines 1 "^ +$1 +[0-9.]+ m?s .* ([0-9.]+ s|[2-9][0-9.]+ ms|1[0-9][0-9.]+ ms)$"

	it "$2: -P names the process, -k the callers"
	run @NAME@ -Pjc "$bin/mem $3"
	json 1 ".func == \"$2\" and .count == $1 and .pid > 1 and .comm == \"mem\""
	run @NAME@ -kjc "$bin/mem $3"
	sum "$1" "select(.func == \"$2\" and (.stack | map(.sym) | contains([\"run\", \"main\"]))).count"
	whole
	run @NAME@ --folded -c "$bin/mem $3"
	lines 1 "^mem;.*;main;run;.*;$2 [0-9]+$"
}

@classes|sees @COUNT@ @FUNCTION@ "@WORDS@"
@classes|counts_once @NAME@ .count @COUNT@ @FUNCTION@ @INSIDE@ "@WORDS@"

it "two intervals are two reports"
run @NAME@ -p $$ -l "$lib/libcudart.so.13" 1 2
lines 2 '^\[[0-9:]{8}\] no calls$'
lines 2 ''
status 0
