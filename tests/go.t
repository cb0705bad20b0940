# shellcheck shell=sh disable=SC1091,SC2034,SC2154 # rc, pid, tracer: the words'
# Call stacks of programs of Go: C is called on another stack than the goroutine's.  tests/workloads/go.

. tests/stacks.sh

go=$(command -v go)
if [ -z "$go" ]; then
	it "Go is installed"
	skip "no go here (scripts/setup test)"
	leave
fi

# gocalls FILE [OPTION...]: builds the program
gocalls() {
	of=$1
	shift
	(cd tests/workloads/go && env HOME="$tmp" GOCACHE="$O/tests/go" GOFLAGS= GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=1 \
		CGO_LDFLAGS="-L$lib -l:libcudart.so.13 -Wl,-rpath,$lib" go build -o "$tmp/$of" "$@" .) >"$tmp/built" 2>&1 ||
		no "it cannot be built: $(tail -n 1 "$tmp/built")"
}

chmod 711 "$tmp"	# for --attach inject
calls='def go: [.stack[].sym | sub("\\.abi0$"; "") | select(test("^(main|runtime)\\."))]; .op == "alloc" and'

it "a function of Go that calls C has its callers, in main and in a goroutine"
gocalls gocalls
run cudamallocsnoop -jkc "$tmp/gocalls main 3 goroutine 5"
status 0
json 3 "$calls go == [\"runtime.asmcgocall\",\"runtime.cgocall\",\"main._Cfunc_allocate\",\"main.leak\",\"main.main\",\"runtime.main\",\"runtime.goexit\"]" \
	5 "$calls (go | .[:4] == [\"runtime.asmcgocall\",\"runtime.cgocall\",\"main._Cfunc_allocate\",\"main.leak\"] and
	.[-2:] == [\"main.inGoroutine.func1\",\"runtime.goexit\"])" \
	8 '.op == "alloc" and .stack[0].sym == "allocate"' \
	0 '.stack[]? | select(.kind == "note" or .file == null)'
silent

long || leave

it "the same from the thousandth call on, when BPF programs unwind, and by every kind of probes"
for kind in $command_kinds; do
	run cudaleak --attach "$kind" -jqc "$tmp/gocalls main 1009 goroutine 2003"
	json 1 '.count == 1009 and .stack[-1].sym == "runtime.goexit.abi0" and any(.stack[]; .sym == "main.main")' \
		1 '.count == 2003 and .stack[-1].sym == "runtime.goexit.abi0" and any(.stack[]; .sym == "main.inGoroutine.func1")'
	silent
done

it "a program without symbols, and one at any address, have as many frames"
for options in '-ldflags -s' -buildmode=pie; do
	# shellcheck disable=SC2086 # words
	gocalls other $options
	replayed cudaleak -jqc "$tmp/other main 3 goroutine 5"
	json 1 '.count == 3 and (.stack | length) == 9' 1 '.count == 5 and (.stack | length) == 9' \
		0 '.stack[] | select(.kind == "note" or .file == null)'
	silent
done

it "many functions: the innermost 127 frames, and a note"
replayed cudaleak -jqc "$tmp/gocalls deep 7 deep 211"
json 1 '.count == 1 and ([.stack[] | select(.sym == "main.deeper")] | length) == 8 and .stack[-1].sym == "runtime.goexit.abi0"' \
	1 '.count == 1 and ([.stack[] | select(.sym == "main.deeper")] | length) > 100 and .stack[-1].sym == "truncated: more than 127 frames"'
says '1 call stack is incomplete: 1 truncated'

it "a function of Go that C called ends with a note, and a thread of C lacks nothing"
replayed cudaleak -jqc "$tmp/gocalls back 11 thread 13"
json 1 '.count == 11 and any(.stack[]; .sym | test("goBack$")) and .stack[-2].sym == "runtime.cgocallback.abi0" and
	.stack[-1].sym == "Go frames lost: the callers of C that called Go"'
# a compiler may unroll the loop
sum 13 'select((.stack | length) == 4 and .stack[1].sym == "run" and .stack[3].kind == "native") | .count'
says '11 call stacks are incomplete: 11 without Go frames'

it "a program that is traced later, and calls that hang already, have their callers"
env SIM_LATENCY_US=cudaMalloc=-1 "$tmp/gocalls" goroutine 1 9>&- &
pid=$! pids="$pids $!"
until_true all_hang "$pid"
run cudamallocsnoop -jkp "$pid" -d 1
json 1 '.running and [.stack[].sym][-3:] == ["main.main.func1","main.inGoroutine.func1","runtime.goexit.abi0"]'
silent
read=yes
