# shellcheck shell=sh

kinds='session multi perf inject'

# sees COUNT FUNCTION WORDS: of a program that does what the words of mem say
sees() {
	layer=$(layer_of "$2")
	for kind in $kinds; do
		it "--attach $kind: $1 calls of $2, each once"
		run @NAME@ --attach "$kind" --layer "$layer" -jc "$bin/mem $3"
		status 0
		json "$1" ".func == \"$2\" and .layer == \"$layer\" and .comm == \"mem\" and .pid > 1 and
			.ret == 0 and .error == null and .latency_ns > 0"
		silent
	done
	kinds='session multi inject'	# to take perf's probes out takes long: once is enough

	it "$2: a call that does not return is in flight"
	shows_in_flight @NAME@ "$2" "$3"

	it "$2: text says the same as JSON, with -T also when"
	run @NAME@ -T -c "$bin/mem $3"
	lines "$1" "^[0-9:]{8}\.[0-9]{3} +[0-9]+ +mem +$2 .* [0-9]+\.[0-9] ok$"

	it "$2: -x prints the call that failed alone, --slower none that was quick"
	run env "SIM_FAIL=$2:2=1" @NAME@ -xjc "$bin/mem $3"
	json 1 ".func == \"$2\" and .ret == 1 and (.error | test(\"(?i)invalid_?value\"))"
	json 1 true
	run @NAME@ --slower 60000000 -jc "$bin/mem $3"
	json 0 true

	it "$2: -k names the callers"
	run @NAME@ -kjc "$bin/mem $3"
	json "$1" ".func == \"$2\" and (.stack | map(.sym) | contains([\"run\", \"main\"]))"
	run @NAME@ --folded -c "$bin/mem $3"
	lines 1 "^mem;.*;main;run;.*;$2 [0-9]+$"
}

@usdt|it "--usdt: what an allocator above CUDA does, by its probes, with its bytes, once"
@usdt|run @NAME@ --usdt -jc "$bin/usdt segment 4096 malloc 7 1013 free 5"
@usdt|status 0
@usdt|json @USDTS@ '.layer == "usdt" and .latency_ns == null and .ret == 0 and (.func | startswith("pytorch:"))'
@usdt|silent
@usdt|run @NAME@ -jc "$bin/usdt malloc 7 1013 free 5"
@usdt|json 0 '.layer == "usdt"'
@usdt|run @NAME@ --usdt -c "$bin/mem malloc 3 4096"
@usdt|says '@NAME@: no USDT probes pytorch:'

@classes|sees @COUNT@ @FUNCTION@ "@WORDS@"
@classes|counts_once @NAME@ 1 @COUNT@ @FUNCTION@ @INSIDE@ "@WORDS@"
