# shellcheck shell=sh disable=SC2034,SC2086,SC2154 # rc: the words'; $there, $all are lists of words
# new-tool, and the tools that it writes, in a copy of the tree: its build has what is built already,
# so that only the new tools are left to make.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
src=$tmp/src
mkdir -p "$src/build"
chmod 755 "$tmp"	# an ordinary user runs tools from there, by --attach inject
tar -cf - --exclude=./.git --exclude='./build*' . | tar -xf - -C "$src"
find "$O" -maxdepth 1 -type f -exec cp -p {} "$src/build" \;
cp -Rp "$O/inject" "$src/build"
ln -s "$O/tests" "$src/build/tests"
ln -s "$O/examples" "$src/build/examples"
all=$(sed -nE 's/^(rt|drv) +([a-z]+) .*/\2/p' common/api/cuda_api.tbl | grep -vx none | awk '!seen[$0]++')

there="env -u O -C $src"
new_tool() { run $there scripts/new-tool "$@"; }
# the walk's test runs with sudo from the user's shell; here is root
walk() {
	awk '/^## /{ on = $0 == "## In ten minutes" } /^```/ { block = !block; next } on && block' \
		scripts/templates/README.md | sed 's/^sudo //'
}

it "what is not a class, a kind or a name is refused, and nothing is written"
$there find . -type f | sort >"$tmp/before"
fails 2 "'sett' is not a class of common/api/cuda_api.tbl" $there scripts/new-tool cudax set sett
says 'common/api/cuda_api.tbl: alloc '
fails 2 "'none' is not a class" $there scripts/new-tool cudax none
fails 2 "--as: 'graph' is not one of snoop, hist and top" $there scripts/new-tool cudax set --as graph
fails 2 '--as requires an argument' $there scripts/new-tool cudax set --as
fails 2 "unknown option '--force'" $there scripts/new-tool --force cudax set
fails 2 'missing classes for cudax to trace' $there scripts/new-tool cudax
fails 2 'missing tool name' $there scripts/new-tool
for bad in setsnoop cuda cuda-set cudaSet cuda_set 'cuda set' cuda/../x "cuda$(printf '\n')x;" \
	cudaxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; do
	fails 2 "$bad': " $there scripts/new-tool "$bad" set
done
$there find . -type f | sort >"$tmp/after"
equal "$(diff "$tmp/before" "$tmp/after")" ''

it "the walk of scripts/templates/README.md: the commands give a tool that answers the question, and a test that passes"
walk >"$tmp/walk"
[ "$(wc -l <"$tmp/walk")" -gt 30 ] || no "there are few commands"
SECONDS_=900 run $there sh -e "$tmp/walk"
status 0
lines 5 '^wrote [a-z]+/cudamemsetsnoop'
lines 1 '^9 passed, 0 failed, 0 skipped$'
lines 1 '^10 passed, 0 failed, 0 skipped$'
lines 5 '^[0-9]+ +mem +cudaMemset +0x[0-9a-f]+ +65536 - +[0-9.]+ ok$'
lines 2 '^PID +COMM +FUNCTION +DST +BYTES +STREAM +LAT\(us\) RESULT$'
! grep -qi 'warning' "$tmp/out" "$tmp/err" || no "a warning"

it "a tool that prints a line per call is at most 150 lines with its BPF program"
n=$(cat "$src/tools/cudamemsetsnoop.c" "$src/bpf/cudamemsetsnoop.bpf.c" | wc -l)
[ "$n" -le 150 ] || no "$n"

it "a second time nothing is written over what is there, links either"
(cd "$src" && cksum ./*/cudamemsetsnoop*) >"$tmp/before"
new_tool cudamemsetsnoop set
status 1
for f in tools/cudamemsetsnoop.c bpf/cudamemsetsnoop.bpf.c man/cudamemsetsnoop.8 \
	tests/cudamemsetsnoop.t docs/cudamemsetsnoop.md; do
	says "$f"
done
(cd "$src" && cksum ./*/cudamemsetsnoop*) >"$tmp/after"
equal "$(diff "$tmp/before" "$tmp/after")" ''
ln -s /nowhere "$src/man/cudalinksnoop.8"
new_tool cudalinksnoop set
status 1
says 'would overwrite man/cudalinksnoop.8'
[ ! -e "$src/tools/cudalinksnoop.c" ] || no "it wrote something"
rm "$src/man/cudalinksnoop.8"

# makes KIND NAME CLASS...: a tool that builds without a word and passes its test
makes() {
	kind=$1
	shift
	it "--as $kind: $* builds without a warning, and passes its test in every way to attach"
	new_tool "$@" --as "$kind"
	status 0
	run $there make -s build/libcommon.a build/json-schema.json "build/$1" "build/inject/$1.so"
	status 0
	grep -v '^  [A-Z]* ' "$tmp/out" "$tmp/err" >"$tmp/said" && no "$(head -n 3 "$tmp/said")"
	run $there V=1 "O=$src/build" "PATH=$src/build:$PATH" tests/run "tests/$1.t"
	status 0
	lines 1 '^[1-9][0-9]* passed, 0 failed, 0 skipped$'
	lines 1 '^ok [0-9]+ - --attach perf: [0-9]+ calls of [a-zA-Z]+, each once'
	lines $(($# - 1)) '^ok [0-9]+ - --attach inject: [0-9]+ calls of [a-zA-Z]+, each once'
}

makes hist cudasetlatency set sync
makes top cudawaittop sync wait

it "-B: bytes of those functions that have some"
run "$src/build/cudasetlatency" -Bjc "$bin/mem memset 7 3000 memset 5 17 sync 3"
json 1 '.func == "cudaMemset" and .bytes == 21085 and .min_bytes == 17 and .max_bytes == 3000 and
	.hist_bytes == [[16,31,5],[2048,4095,7]]'
json 1 '.func == "cudaDeviceSynchronize" and .bytes == null and .hist_bytes == []'
run "$src/build/cudasetlatency" -Bc "$bin/mem memset 7 3000 memset 5 17 sync 3"
lines 1 '^        12    20\.6 KiB    17 bytes '
lines 1 '^ +16 -> 32 +: 5 +\|\*{28} {12}\|$'

# every KIND FILTER: the filter is how many calls an object is
every() {
	it "--as $1 takes all classes together: 7 calls of each"
	new_tool "cudaall$1" $all --as "$1"
	status 0
	run $there make -s "build/cudaall$1"
	status 0
	grep -v '^  [A-Z]* ' "$tmp/out" "$tmp/err" >"$tmp/said" && no "$(head -n 3 "$tmp/said")"
	run "$src/build/cudaall$1" -jc "$bin/mem vmm 7 vmmfree 7 loop 7 '(' drvlaunch 1 ')' malloc 7 5000 \
		free 7 copy 7 3000 h2d memset 7 100 drvmanaged 1 64k drvprefetch 7 0 launch 7 sync 7 loop 7 '(' graph 1 setdevice 0 malloc 1 64 reset ')'"
	status 0
	silent
	for call in cuMemCreate cuMemMap cuMemUnmap cuMemRelease cuModuleGetFunction cudaFree cudaMemcpy \
		cudaMemset cuMemPrefetchAsync_v2 cudaDeviceSynchronize cudaStreamDestroy cudaSetDevice cudaDeviceReset; do
		sum 7 "select(.func == \"$call\") | $2"
	done
}
every snoop 1
json 7 '.func == "cudaMemcpy" and .size == 3000 and .direction == "HtoD" and .dst != .src'
json 7 '.func == "cuModuleGetFunction" and .name == "drv_kernel" and .kernel != null and .module != null'
json 7 '.func == "cuMemPrefetchAsync_v2" and .size == 4096 and (.ptr | startswith("0x"))'
json 7 '.func == "cuMemMap" and .size == 2097152 and .handle != null'
json 7 '.func == "cudaFree" and .size == null and (.ptr | startswith("0x"))'
json 28 '.func == "cudaLaunchKernel" and .grid == [13,1,1] and .block == [128,1,1] and .kernel != null'
json 7 '.func == "cudaGraphLaunch" and .grid == null and .kernel == null and .handle != null'

it "--usdt: an allocator's probes beside the calls, with call stacks"
run "$src/build/cudaallsnoop" --usdt -kjc "$bin/usdt segment 4096 malloc 7 1013 free 5"
status 0
json 7 '.func == "pytorch:malloc" and .layer == "usdt" and .size == 1013 and .latency_ns == null and .ret == 0'
json 5 '.func == "pytorch:free" and (.stack | map(.sym) | contains(["release", "main"]))'
json 1 '.func == "cudaMalloc"'
silent

it "a device's number is one, whatever the rest of its register holds"
cat >"$tmp/device.c" <<'END'
int cudaSetDevice(unsigned long device);
int main(void) { return cudaSetDevice(0xdeadbeef00000000); }
END
${CC:-cc} -w "$tmp/device.c" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/device"
run "$src/build/cudaallsnoop" -jc "$tmp/device"
json 1 '.func == "cudaSetDevice" and .dev == 0'

it "call stacks have the names of the program that made the call, before an exec and after it"
cat >"$tmp/exec.c" <<'END'
int cudaMemset(void *p, int value, unsigned long size);
__attribute__((noinline)) int NAME(void)
{
	return cudaMemset(0, 0, 64) + 1;
}
int main(int argc, char **argv)
{
	return NAME() && argc > 1 ? execv(argv[1], argv + 1) : 0;
}
END
for f in first second; do
	${CC:-cc} -w -O1 -fno-omit-frame-pointer -no-pie -DNAME=$f "$tmp/exec.c" "$lib/libcudart.so.13" \
		-Wl,-rpath,"$lib" -o "$tmp/$f"
done
run "$src/build/cudaallsnoop" -kjc "$tmp/first $tmp/second"
for f in first second; do
	json 1 ".func == \"cudaMemset\" and .stack[0].sym == \"$f\""
done

every top .calls
run "$src/build/cudaalltop" -s bytes -r 1 -jc "$bin/mem copy 7 3000 h2d copy 5 17 h2d sync 3"
json 1 '.func == "cudaMemcpy" and .bytes == 21085'
json 1 true

it "--as top on a terminal: drawn in place, sorted, paused, and q ends it"
if command -v tmux >/dev/null; then
	program "$bin/mem" malloc 1 64 wait loop 100000 '(' sync 23 streamsync 7 sleep 20 ')'
	screen 120 20 "$src/build/cudawaittop -p $pid"
	on_screen '^FUNCTION +CALLS +CALLS/S +FAILED +TOTAL\(us\) +MEAN\(us\) +MAX\(us\) *$'
	echo >&3
	on_screen '^cudaDeviceSynchronize +[0-9]+ +[0-9.]+ +0 +[0-9.]+ +[0-9.]+ +[0-9.]+ *$'
	lines 1 ' calls/s, by TOTAL\(us\)  \(h: help\)  pid [0-9]+$'
	term send-keys h
	on_screen '^  s  sort by the next column *$'
	term send-keys x s s s s s
	on_screen ' calls/s, by FUNCTION '
	equal "$(grep -nE '^cudaDevice' "$tmp/out" | cut -d: -f1)" 3
	term send-keys r
	on_screen ' by FUNCTION, reversed '
	equal "$(grep -nE '^cudaDevice' "$tmp/out" | cut -d: -f1)" 4
	term send-keys p
	on_screen '\[paused\]'
	quit
	lines 0 'FUNCTION'
else
	skip "no tmux here"
fi

it "they pass the tests of pages, options, examples and completions, and shellcheck's"
! command -v shellcheck >/dev/null || run $there shellcheck -e SC2154,SC2034,SC1090,SC2015 \
	tests/cudamemsetsnoop.t tests/cudasetlatency.t tests/cudawaittop.t
status 0
for t in cudamemsetsnoop cudasetlatency cudawaittop; do
	$there V=1 "O=$src/build" "DOCS_OF=$t" tests/run tests/docs.t tests/long/examples.t >"$tmp/$t.docs" 2>&1 &
	docs="${docs:-} $!"
done
wait $docs
grep -h "FAIL tests/[^ ]*: cuda" "$tmp"/*.docs >"$tmp/out"
lines 0 "FAIL tests"
for t in cudamemsetsnoop cudasetlatency cudawaittop; do
	[ "$(grep -c "^ok [0-9]* - $t: " "$tmp/$t.docs")" -ge 7 ] || no "few tests of $t"
done

it "they are installed under both names, and uninstalled"
run $there make -s "TOOLS=cudamemsetsnoop cudasetlatency cudawaittop" "DESTDIR=$tmp/dest" PREFIX=/usr install
status 0
for f in bin/cudasetlatency bin/cudaset-latency bin/cudawait-top bin/cudamemset-snoop \
	share/man/man8/cudamemsetsnoop.8 share/man/man8/cudamemset-snoop.8 \
	share/bash-completion/completions/cudaset-latency; do
	[ -s "$tmp/dest/usr/$f" ] || no "no $f"
done
run $there make -s "TOOLS=cudamemsetsnoop cudasetlatency cudawaittop" "DESTDIR=$tmp/dest" PREFIX=/usr uninstall
equal "$(find "$tmp/dest" ! -type d)" ''
