# shellcheck shell=sh disable=SC1091,SC2034,SC2086,SC2154 # rc, pid, tracer: the words'
# What the tools say of PyTorch, against what PyTorch says of itself: tests/clients/pytorch.py
. tests/clients.sh

it "PyTorch finds the simulated devices, and does all that the tests have of it"
if ! client pytorch; then
	skip "$why_not"
	return
fi
torch="$python tests/clients/pytorch.py"
all='tensors elementwise foreach reduce copies streams autograd optimizer graphs oom empty leak'
run $torch $all
status 0
[ ! -s "$tmp/err" ] || no "it says: $(head -n 1 "$tmp/err")"

# its c10 takes for granted that the driver's library has them: it aborts in a message without
it "libnvidia-ml.so.1 has every function that PyTorch's c10 looks up in it"
strings -a "$clients"/pytorch/lib/python3*/site-packages/torch/lib/libc10_cuda.so | grep -xE 'nvml[A-Z][A-Za-z0-9_]*' | sort -u >"$tmp/wanted"
nm -D --defined-only "$sim/libnvidia-ml.so.1" | awk '{ print $NF }' | sort | comm -23 "$tmp/wanted" - >"$tmp/diff"
[ ! -s "$tmp/diff" ] || no "it lacks $(tr '\n' ' ' <"$tmp/diff")"
[ "$(wc -l <"$tmp/wanted")" -ge 5 ] || no "it looks up few"

it "cudalaunchtop: each kernel as often as it was launched, by the name that the wheel registered"
run env SIM_TRACE="$tmp/sim" cudalaunchtop -qjc "$torch $all >$tmp/truth"
status 0
silent
# the graph's 2 kernels are captured once and run 5 times
equal "$(jq -s 'map(.replayed) | sort | .[-3:]' "$tmp/out" | tr -d ' \n')" '[0,5,5]'
jq -r 'select(.kind == "kernel") | "\(.launches - .replayed + .replayed / 5) \(.kernel)"' "$tmp/out" | sort >"$tmp/seen"
registered "$tmp/sim" | diff - "$tmp/seen" >"$tmp/diff" || no "$(grep -c '^[<>]' "$tmp/diff") differ: $(head -n 3 "$tmp/diff")"
[ "$(wc -l <"$tmp/seen")" -ge 15 ] || no "$(wc -l <"$tmp/seen") kernels"

it "cudatrace: each launch has the name of its kernel, too"
run env SIM_TRACE="$tmp/trace2" cudatrace -qjc "$torch $all >$tmp/truth"
jq -r 'select(.func == "cudaLaunchKernel") | .kernel' "$tmp/out" | sort | uniq -c | sed 's/^ *//' | sort |
	diff "$tmp/seen" - >"$tmp/diff" || no "$(grep -c '^[<>]' "$tmp/diff") differ: $(head -n 3 "$tmp/diff")"
silent

it "cudatrace -S: the calls that the wheel makes, each counted once"
# what the simulation does not trace are calls that only ask; nvcc's code launches by a function that jumps to
# the public one
run env SIM_TRACE="$tmp/trace3" cudatrace -qjS -e all --layer runtime -c "$torch $all >$tmp/truth"
awk '$1 == "rt" { n[$2]++ } END { for (f in n) print n[f], f }' "$tmp/trace3" | sort >"$tmp/made"
jq -r 'select(.type == "function") | "\(.calls) \(.func)"' "$tmp/out" | sed 's/ __cudaLaunch/ cudaLaunch/' | sort >"$tmp/counted"
comm -23 "$tmp/made" "$tmp/counted" >"$tmp/diff"
[ ! -s "$tmp/diff" ] || no "not so counted: $(tr '\n' ';' <"$tmp/diff")"
[ "$(wc -l <"$tmp/made")" -ge 20 ] || no "$(wc -l <"$tmp/made") functions"

for conf in '' expandable_segments:True; do
	export PYTORCH_CUDA_ALLOC_CONF=$conf
	it "${conf:-cudaMalloc}: cudamallocsnoop has the segments that PyTorch's allocator counts, its retries and its failures"
	run cudamallocsnoop -qjc "$torch $all >$tmp/truth"
	status 0
	silent
	# of VMM those that are memory: not addresses
	made='(.op == "alloc") and .error == null and (.func | test("^cudaMalloc$|^cuMemCreate$"))'
	json "$(says_of .stats.num_device_alloc)" "$made"
	# of expandable segments the allocator knows by itself that there is no room
	[ -n "$conf" ] || json "$(says_of '.stats.num_alloc_retries + .stats.num_ooms')" '.op == "alloc" and .error != null'
	json "$(says_of .stats.num_device_free)" '(.func | test("^cudaFree$|^cuMemRelease$")) and .error == null'

	it "${conf:-cudaMalloc}: cudaleak holds at exit what PyTorch has reserved, no more and no less"
	run cudaleak -qjCc "$torch $all >$tmp/truth"
	status 0
	silent
	sum "$(says_of '.stats["reserved_bytes.all.current"]')" 'select(.memory == "device" or .memory == "vmm").bytes'
done
unset PYTORCH_CUDA_ALLOC_CONF

it "cudamemcpysize: the bytes that the program moved, by direction"
run cudamemcpysize -qjc "$torch copies >$tmp/truth"
status 0
silent
for direction in HtoD DtoH DtoD; do
	equal "$(jq -s "map(select(.direction == \"$direction\").bytes) | add" "$tmp/out")" "$(says_of .moved.$direction)"
done
json 1 '.direction == "HtoD" and .count == 12'

it "cudasynclatency: the waits that the program made: 2 for events, 1 for the device, and those of copies"
run env SIM_TRACE="$tmp/trace4" cudasynclatency -qjc "$torch streams copies >$tmp/truth"
status 0
silent
for func in cudaEventSynchronize cudaDeviceSynchronize cudaStreamSynchronize; do
	json 1 ".func == \"$func\" and .count == $(grep -c "^rt $func " "$tmp/trace4")"
done
json 1 '.func == "cudaEventSynchronize" and .count == 2'
json 1 '.func == "cudaDeviceSynchronize" and .count == 2'

# of the other kinds tests/usdt.t has what differs
for kind in $kinds; do
	it "--attach $kind: cudamallocsnoop --tensors has each tensor that PyTorch's allocator counts, and its bytes"
	run cudamallocsnoop --attach "$kind" --tensors -qjc "$torch $all >$tmp/truth"
	status 0
	json "$(says_of '.stats["allocation.all.allocated"]')" '.func == "pytorch:malloc" and .device == 0'
	json "$(says_of '.stats["allocation.all.freed"]')" '.func == "pytorch:free" and .size != null'
	sum "$(says_of '.stats["requested_bytes.all.allocated"]')" 'select(.func == "pytorch:malloc").size'
	[ "$kind" = perf ] || silent
done

for conf in '' expandable_segments:True; do
	export PYTORCH_CUDA_ALLOC_CONF=$conf
	it "${conf:-cudaMalloc}: cudaleak --tensors shows the blocks of PyTorch's memory snapshot, each with its Python frames"
	run cudaleak --tensors -qajc "$torch snapshot $all >$tmp/truth"
	status 0
	python3 tests/clients/blocks.py "$tmp/truth" "$tmp/out" >"$tmp/compared" || no "$(tr '\n' ';' <"$tmp/compared")"
	json 1 ".type == \"segments\" and .segment_bytes == $(says_of '.stats["reserved_bytes.all.current"]') and
		.tensor_bytes == $(says_of '.stats["requested_bytes.all.current"]')"
done
unset PYTORCH_CUDA_ALLOC_CONF

it "cudaleak --tensors -p: tensors that a running program makes from then on, by the line that makes them"
program $torch tensors wait leak
tool cudaleak --tensors -jp "$pid"
go
wait "$tracer"
json 1 '.memory == "tensor" and .count == 23 and .complete == false and
	([.stack[] | select(.kind == "python" and (.file | endswith("/pytorch.py")))][0].sym == "leak.<locals>.layer")'

it "cudalaunchtop -p: kernels of a program that has launched them before have names that can be read"
program $torch elementwise reduce autograd optimizer foreach wait elementwise reduce autograd optimizer foreach wait
tool cudalaunchtop -jp "$pid"
echo >&3
until_true sh -c "[ \$(grep -c ready '$tmp/ready') = 2 ]"
sleep 1
go
wait "$tracer"
json 0 '.kind == "kernel" and (.kernel | startswith("_Z") or startswith("0x"))'
[ "$(jq -c 'select(.kind == "kernel")' "$tmp/out" | wc -l)" -ge 15 ] || no 'there are few'
# a lambda is a type in the stub's parameters
json 1 '.kernel | . != null and startswith("at::native::reduce_kernel(at::native::ReduceOp<float, at::native::func_wrapper_t<float, __nv_hdl_wrapper_t<")'
