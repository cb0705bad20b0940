# shellcheck shell=sh

kinds='session multi perf inject'

# sees COUNT FUNCTION WORDS: of a program that does what the words of mem say
sees() {
	layer=$(layer_of "$2")
	for kind in $kinds; do
		it "--attach $kind: $1 calls of $2, each once"
		run @NAME@ --attach "$kind" --layer "$layer" -jc "$bin/mem $3"
		status 0
		json 1 ".func == \"$2\" and .calls == $1 and .failed == 0 and .total_ns > .max_ns and
			.max_ns >= .mean_ns and .interval_s > 0 and .calls_per_s > 0"
		silent
	done
	kinds='session multi inject'	# to take perf's probes out takes long: once is enough

	it "$2: text says the same as JSON, and the call that failed"
	run env "SIM_FAIL=$2:2=1" @NAME@ -c "$bin/mem $3"
	lines 1 "^$2 +$1 +[0-9.]+ +1 +[0-9.]+ "
	lines 1 '^FUNCTION +CALLS +CALLS/S +FAILED '

	it "$2: a call that does not return is in flight"
	shows_in_flight @NAME@ "$2" "$3"

	it "$2: a call that takes 20 ms is the longest"
	run env "SIM_LATENCY_US=$2:2=20000" @NAME@ -jc "$bin/mem $3"
	json 1 ".func == \"$2\" and .max_ns >= 20000000 and .max_ns < .total_ns"

	it "$2: -P names the process, -k the callers"
	run @NAME@ -Pc "$bin/mem $3"
	lines 1 "^[0-9]+ +mem +$2 +$1 "
	run @NAME@ -kjc "$bin/mem $3"
	sum "$1" "select(.func == \"$2\" and (.stack | map(.sym) | contains([\"run\", \"main\"]))).calls"
	run @NAME@ --folded -c "$bin/mem $3"
	lines 1 "^mem;.*;main;run;.*;$2 [0-9]+$"
}

@classes|sees @COUNT@ @FUNCTION@ "@WORDS@"
@classes|counts_once @NAME@ .calls @COUNT@ @FUNCTION@ @INSIDE@ "@WORDS@"

it "two intervals are two blocks; -r and -s are taken"
run @NAME@ -r 1 -s calls -p $$ -l "$lib/libcudart.so.13" 1 2
lines 2 '^FUNCTION +CALLS '
lines 3 ''
status 0
fails 2 "'size' is not one of" @NAME@ -s size
