# shellcheck shell=sh
# bpftrace programs on CUDA's functions.  What bpftrace says on standard error is its own.

# bt ARGUMENT...: the program's output
bt() { run cudabt -q "$@"; }

it "a program that is wrong is refused where it is wrong, with the nearest names"
fails 2 "cudabt: -e:1:6: no function of CUDA is called 'cudaMaloc'; did you mean cudaMalloc" \
	cudabt -e 'cuda:cudaMaloc { }'
fails 2 "cudabt: -e:2:11: cudaMalloc has no argument 'sise'; its arguments are devPtr, size" \
	cudabt -e 'cuda:cudaMalloc {
	@ = args.sise }'
says '@ = args.sise }'
fails 2 cudaMemcpyHostToDevice cudabt -e 'cuda:cudaMemcpy /args.kind == cudaMemcpyHostToDevise/ { }'
fails 2 'a program is needed' cudabt
fails 2 'this is a float, and bpftrace has no floating point' cudabt -e 'cudaret:cudaEventElapsedTime { @ = *args.ms; }'
fails 2 'passed in a register that probes cannot read' cudabt -e 'cuda:cuTexRefSetMipmapLevelBias { @ = args.bias; }'

it "a program whose text ends too early is refused"
for p in 'cuda:cudaMalloc { @ = "x' 'cuda:cudaMalloc {' 'cuda:cudaMalloc' 'cuda:' '/*' ''; do
	run cudabt -e "$p"
	[ "$rc" -eq 2 ] || no "'$p': status $rc"
	grep -q '^cudabt: ' "$tmp/err" || no "'$p': no message"
done

it "a program that cannot be read is named with the reason"
fails 1 'nowhere.bt' cudabt nowhere.bt

it "--emit prints a program that bpftrace takes, and names the files in it"
run cudabt --emit -l "$lib/libcudart.so.13" -e 'cuda:cudaMalloc { @[args.size] = count(); }'
status 0
lines 1 "^//   $lib/libcudart.so.13"
lines 1 "uprobe:\"?$lib/libcudart.so.13\"?:\"?cudaMalloc"
bpftrace -d "$tmp/out" >/dev/null 2>&1 || no "bpftrace does not take it"

it "nothing to probe is not silence"
fails 3 'no file has the functions' cudabt --emit --layer driver -e 'cuda:cudaMalloc { }'

it "an argument is what was passed, and a call is counted once"
bt -e 'cuda:cudaMalloc { @[args.size] = count(); }' -c "$bin/mem malloc 23 4099 free 7"
lines 1 '^@\[4099\]: 23$'
lines 1 '^@'

it "at the return, arguments are what was passed, and the error has its name"
bt -e 'cudaret:cudaMalloc /retval/ { @[func, args.size, errname(retval)] = count(); }' \
	-c "SIM_MEMORY=65536 $bin/mem malloc 23 4096"
lines 1 '^@\[cudaMalloc, 4096, cudaErrorMemoryAllocation\]: 7$'
lines 1 '^@'

it "a function of the driver, with all of its variants"
bt -e 'cudaret:cuMemAlloc /retval == 0/ { @[func, args.bytesize] = count(); }' \
	-c "$bin/mem-drv drvmalloc 13 512"
lines 1 '^@\[cuMemAlloc_v2, 512\]: 13$'

if [ -x "$bin/kern" ]; then
	it "members of dim3 and the names of enums"
	bt -e 'cuda:cudaLaunchKernel { @[args.gridDim.x, args.blockDim.x] = count(); }
		cuda:cudaMemcpy /args.kind == cudaMemcpyHostToDevice/ { @h2d[enumname(args.kind)] = count(); }' \
		-c "$bin/kern 5 7 1 1 1"
	lines 1 '^@\[8, 128\]: 5$'
	lines 1 '^@\[4, 256\]: 7$'
	lines 1 '^@h2d\[cudaMemcpyHostToDevice\]: '

	it "the _ptsz variant is meant by the function's name"
	bt -e 'cuda:cudaLaunchKernel { @[func] = count(); }' -c "$bin/kern-ptsz 5 7 1 1 1"
	lines 1 '^@\[cudaLaunchKernel_ptsz\]: 12$'

	it "the seventh argument and those behind it come from the stack"
	bt -e 'cuda:cuLaunchKernel { @[args.blockDimX, args.blockDimY, args.blockDimZ, args.sharedMemBytes] = count(); }' \
		-c "$bin/kern 5 7 1 1 1"
	lines 1 '^@\[128, 1, 1, 0\]: 5$'
	lines 1 '^@\[256, 1, 1, 0\]: 7$'

	it "-j gives bpftrace's JSON"
	bt -j -e 'cuda:cudaLaunchKernel { @ = count(); }' -c "$bin/kern 5 7 1 1 1"
	json 1 '.type == "map" and .data["@"] == 12'
fi

it "a pattern is each function that matches, and the text that is not CUDA's stays as it is"
bt -e 'cuda:cudaMallo?, cuda:cudaFre* { @[func] = count(); } END { printf("cuda:%s\n", "args.size"); }' \
	-c "$bin/mem malloc 23 4096 free 7"
lines 1 '^@\[cudaMalloc\]: 23$'
lines 1 '^@\[cudaFree\]: 7$'
lines 1 '^cuda:args.size$'

it "-p sees a running process, and no other"
program "$bin/mem" wait malloc 13 4096
cudabt -e 'cuda:cudaMalloc { @ = count(); }' -p "$pid" >"$tmp/out" 2>"$tmp/err" & tracer=$!
pids="$pids $tracer"
until_true grep -q ': tracing' "$tmp/err"
"$bin/mem" malloc 7 4096
go
wait "$tracer"
lines 1 '^@: 13$'

for f in scripts/bt/*.bt; do
	it "$(basename "$f") is a program that bpftrace takes"
	run cudabt --emit -l "$lib/libcudart.so.13" "$f"
	case $rc in
	3) run cudabt --emit -l "$lib/libcuda.so.1" "$f" ;;
	esac
	status 0
	cp "$tmp/out" "$tmp/script"
	bpftrace -d "$tmp/script" >/dev/null 2>"$tmp/err" || no "bpftrace does not"
done
