# shellcheck shell=sh
# --pprof: profiles of call stacks, decoded by tests/pprof.py, and read by Go's pprof.
light

# profile OPTIONS WORDS...: of the tool in OPTIONS with a command of mem, decoded into $tmp/out
profile() {
	options=$1
	shift
	# shellcheck disable=SC2086 # words
	${live:-replayed} $options --unwind fp --pprof "$tmp/p" -c "$bin/mem $*"
	status 0
	silent
	decode "$tmp/p"
}

decode() { python3 tests/pprof.py "$1" >"$tmp/out" 2>"$tmp/err" || no "$1: $(tail -n 1 "$tmp/err")"; }

# value NAME N FOLDED: samples of stacks that match have this, added up
value() { sum "$2" "select(.folded // \"\" | test(\"$3\")) | .values.$1"; }

it "cudaleak --pprof: what is held, in bytes and allocations, by stack, kind of memory and process"
live=run
profile 'cudaleak --attach session -T 1' rename "'a;b'" malloc 23 4096 free 4 host 3 100 managed 5 64
live=
json 1 '.types == ["held/bytes", "allocations/count"] and .default == "held" and .period_type == "held" and .period == 1' \
	1 '.samples == 3 and .time > 1.6e18 and .duration > 0'
value held 77824 'main;run;do_malloc;\\[device]$'
value allocations 19 ';do_malloc;\\[device]$'
value allocations 3 ';do_host;\\[host]$'
value held 320 ';do_managed;\\[managed]$'
json 3 '.labels.comm == "a;b" and .labels.pid > 1 and (.labels.memory | test("^\\[.*]$"))'
lines 4 ''

it "native frames have addresses in the mapping of their file, with its build id"
id=$(readelf -n "$bin/mem" | sed -n 's/.*Build ID: //p')
json 1 '[.stack[]? | select(.name == "do_malloc" and .address and (.mapped | endswith("/mem")) and .build_id == "'"$id"'")] | length == 1' \
	3 '.stack[0]?.mapped == null and (.stack[0]?.name // "" | startswith("["))'

it "the file is its owner's only, and no link of another user is followed"
equal "$(stat -c %a "$tmp/p")" 600
mkdir -m 1777 "$tmp/public"
ln -s "$tmp/victim" "$tmp/public/p"
chown -h 65534 "$tmp/public/p"
fails 1 'symbolic link of user 65534' cudaleak --pprof "$tmp/public/p" -c true

it "a profile that cannot be written is an error"
fails 1 'cannot write to /dev/full' cudaleak --pprof /dev/full -c "$bin/mem malloc 3 4096"

it "a process that has exited and one that runs: both are in the profile, once"
program "$bin/mem" fork '(' malloc 5 100 ')' malloc 7 100 wait malloc 4 100 wait
tool cudaleak -j --unwind fp --pprof "$tmp/p" -p "$pid" 1
echo >&3
until_true grep -q '"count":4' "$tmp/out"
stop
decode "$tmp/p"
value allocations 4 ';do_malloc;'
kill "$pid"
exec 3>&-

it "cudaleak --sample: the period is the factor"
profile 'cudaleak -s 2' malloc 23 4096
json 1 .period==2

it "cudalaunchtop --pprof: launches by stack and kernel; intervals add up"
profile 'cudalaunchtop -b' launch 23 graph 3
json 1 '.types == ["launches/count"]'
value launches 23 ';do_launch;launch;mem_kernel$'
value launches 9 ';do_graph;mem_kernel$'
json 2 '.labels.kernel == "mem_kernel"'
program "$bin/mem" launch 7 wait launch 13
tool cudalaunchtop -b --unwind fp --pprof "$tmp/p" -p "$pid" 1
go
wait "$tracer"
decode "$tmp/p"
value launches 13 ';mem_kernel$'

it "a device is a numeric label"
export SIM_DEVICES=8
profile 'cudalaunchtop -b' setdevice 3 launch 7
unset SIM_DEVICES
json 1 '.labels.device == 3 and .values.launches == 7'

it "cudalaunchtop --gpu-time --pprof: launches, and their time on the GPU, by stack and kernel"
profile 'cudalaunchtop --gpu-time -b' launch 23 launchex 7
json 1 '.labels.kernel == "mem_kernel" and .values.launches == 23 and .values.gpu == 23000 and (.stack | map(.name) | index("do_launch"))' \
	1 '.labels.kernel == "mem_kernel" and .values.launches == 7 and .values.gpu == 7000 and (.stack | map(.name) | index("do_launchex"))'

it "cudasynclatency --pprof: time waited and waits; intervals add up"
export SIM_LATENCY_US=cudaDeviceSynchronize:2=20000
profile cudasynclatency sync 11
unset SIM_LATENCY_US
json 1 '.types == ["wait/nanoseconds", "waits/count"]'
value waits 11 'run;do_sync;cudaDeviceSynchronize$'
json 1 '.values.wait >= 20000000'
program "$bin/mem" sync 7 wait sync 13
tool cudasynclatency --unwind fp --pprof "$tmp/p" -p "$pid" 1
go
wait "$tracer"
decode "$tmp/p"
value waits 13 cudaDeviceSynchronize

it "cudamemcpysize --pprof: bytes and copies by stack and direction"
profile cudamemcpysize copy 11 4096 h2d copy 3 100 d2h copyasync 5 8 h2d
json 1 '.types == ["copied/bytes", "copies/count"]'
value copied 45056 ';do_copy;\\[HtoD]$'
value copies 3 ';do_copy;\\[DtoH]$'
value copied 40 ';do_copyasync;\\[HtoD async]$'

it "cudamallocsnoop --pprof: calls, their time, and the bytes that they allocated"
profile cudamallocsnoop malloc 23 4096 free 7 fail 3
json 1 '.types == ["calls/count", "time/nanoseconds", "allocated/bytes"]'
value calls 23 ';do_malloc;cudaMalloc$'
value allocated 94208 ';do_malloc;cudaMalloc$'
value calls 7 ';do_free;cudaFree$'
value allocated 0 ';do_f[a-z]*;cuda[A-Za-z]*$'
json 3 '.values.time > 0'

it "cudatrace --pprof: time and calls, beside the summary, with entries too"
profile 'cudatrace -S' malloc 13 4096 sync 2
value calls 13 ';do_malloc;cudaMalloc$'
profile 'cudatrace --enter -e cudaMalloc' malloc 13 4096
value calls 13 ';cudaMalloc$'
lines 2 ''

it "ncclsnoop --pprof: calls and their time"
replayed ncclsnoop --pprof "$tmp/p" -c "$bin/nccl 1 init allreduce 3 1 destroy"
decode "$tmp/p"
value calls 3 ';ncclAllReduce$'

it "with --lines, frames have source lines and the functions inlined into them"
${CXX:-c++} -g -O2 -o "$tmp/inlined" tests/workloads/inlined.cpp -L"$lib" -l:libcudart.so.13 -Wl,-rpath,"$lib" 2>"$tmp/err" ||
	no "$(tail -n 1 "$tmp/err")"
replayed cudaleak --lines --pprof "$tmp/p" -c "$tmp/inlined"
decode "$tmp/p"
json 1 '.folded // "" | endswith("step();allocate_all;int many<int>(int);device::allocate(unsigned long);[device]")'
# compilers unroll loops to more stacks or fewer
json 0 '.stack and ([.stack[] | select(.inlined and .line > 0 and (.file | test("inlined[.](h|cpp)$")))] | length) < 2'

it "names of hostile programs are valid UTF-8 without control characters"
cp "$bin/mem" "$tmp/$(printf 'm\033]0;\377\342\200\256')"
run env LD_LIBRARY_PATH="$lib" cudaleak --unwind fp --pprof "$tmp/p" -- "$tmp/$(printf 'm\033]0;\377\342\200\256')" malloc 3 4096
decode "$tmp/p"
value allocations 3 ';do_malloc;'
json 1 '[.stack[]? | select((.mapped // "") | test("\\\\x1b.*\\\\xff"))] | length > 0'

it "without calls the profile is empty, and with --list none is written"
replayed cudaleak --pprof "$tmp/p" -c true
decode "$tmp/p"
json 1 .samples==0
rm "$tmp/p"
run cudaleak --list --pprof "$tmp/p" -c "$bin/mem malloc 3 4096"
[ ! -e "$tmp/p" ] || no "it was written"

it "options that cannot be combined with it"
while IFS='|' read -r words message; do
	# shellcheck disable=SC2086 # words
	fails 2 "$message" $words --pprof "$tmp/p"
done <<END
cudaleak -C|--totals cannot be combined with --folded, --pprof
cudaleak --growth|--growth cannot be combined with --each, --older, --folded or --pprof
cudalaunchtop -P|--per-process and --pprof are mutually exclusive
cudalaunchtop --graphs|--graphs cannot be combined with --per-process, --folded or --pprof
cudamemcpysize --time|--pprof cannot be combined with --time or --bandwidth
cudamemcpysize --gpu-time|--gpu-time cannot be combined with
cudatrace --unchecked|--pprof cannot be combined with --unchecked or --enter-only
cudatrace --enter-only|--pprof cannot be combined with --unchecked or --enter-only
cudatrace -o $tmp/p|the output goes to the same file
END

it "go tool pprof reads a profile of each tool and has the same sums"
if ! env go version >/dev/null 2>&1; then
	skip "no go"
else
	export HOME="$tmp"
	while IFS='|' read -r words sample total; do
		# shellcheck disable=SC2086 # words
		replayed $words
		env go tool pprof -symbolize=none -sample_index="$sample" -top "$tmp/p" >"$tmp/out" 2>"$tmp/err" || no "$words: $(tail -n 1 "$tmp/err")"
		lines 1 "accounting for $total, 100% of $total total\$"
	done <<-END
		cudaleak --pprof $tmp/p -- $bin/mem malloc 23 4096|held|92kB
		cudalaunchtop -b --pprof $tmp/p -- $bin/mem launch 23|launches|23
		cudasynclatency --pprof $tmp/p -- $bin/mem sync 11|waits|11
		cudamemcpysize --pprof $tmp/p -- $bin/mem copy 11 1024 d2h|copied|11kB
		cudamallocsnoop --pprof $tmp/p -- $bin/mem malloc 23 4096|calls|23
		cudatrace --pprof $tmp/p -e cudaMalloc -- $bin/mem malloc 13 4096|calls|13
		ncclsnoop --pprof $tmp/p -- $bin/nccl 1 init allreduce 3 1|calls|4
	END
	it "pprof has the samples of device 0 by their label"
	replayed SIM_DEVICES=2 cudalaunchtop -qb --pprof "$tmp/p" -- "$bin/mem" launch 7 setdevice 1 launch 11
	env go tool pprof -symbolize=none -tagfocus=device=0:0device -top "$tmp/p" >"$tmp/out" 2>"$tmp/err"
	lines 1 'accounting for 7, '
	it "pprof has template arguments, and <module> and <lambda>, as they are"
	replayed cudalaunchtop -qb --pprof "$tmp/p" -- "$bin/launches" called _Z4fillIiEvPT_ 5 called _Z4fillIfEvPT_ 7 called _Z4fillIdEvPT_ 11
	env go tool pprof -symbolize=none -nodefraction=0 -top "$tmp/p" 2>"$tmp/err" | sed 's/  */ /g' >"$tmp/out"
	lines 1 '^ ?5 .* fill<int>$'
	lines 1 '^ ?7 .* fill<float>$'
	lines 1 '^ ?11 .* fill<double>$'
	cat >"$tmp/names.py" <<-END
		import ctypes
		rt = ctypes.CDLL("$lib/libcudart.so.13")
		leak = lambda: rt.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(300))
		for i in range(7): leak()
	END
	replayed cudaleak -q --pprof "$tmp/p" --stack python -- /usr/bin/python3 "$tmp/names.py"
	env go tool pprof -symbolize=none -nodefraction=0 -sample_index=allocations -top "$tmp/p" >"$tmp/out" 2>"$tmp/err"
	lines 1 ' 7 .*<lambda>'
	lines 1 ' 7 .*<module>'
	replayed cudaleak -q --pprof "$tmp/p" -- "$bin/deep" 3 4096
	env go tool pprof -symbolize=none -nodefraction=0 -sample_index=allocations -raw "$tmp/p" >"$tmp/out" 2>"$tmp/err"
	lines 1 'int app::grow<int>\(unsigned long\)'
fi
