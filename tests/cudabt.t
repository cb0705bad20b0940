# shellcheck shell=sh
# bpftrace programs on CUDA's functions.  What bpftrace says on standard error is its own.

# bt ARGUMENT...: the program's output
bt() { run cudabt -q "$@"; }

it "a program that is wrong is refused where it is wrong, with the nearest names"
fails 2 "cudabt: -e:1:6: no CUDA function matches 'cudaMaloc'; did you mean cudaMalloc" \
	cudabt -e 'cuda:cudaMaloc { }'
fails 2 "cudabt: -e:2:11: cudaMalloc has no argument 'sise'; its arguments are devPtr, size" \
	cudabt -e 'cuda:cudaMalloc {
	@ = args.sise }'
says '@ = args.sise }'
fails 2 cudaMemcpyHostToDevice cudabt -e 'cuda:cudaMemcpy /args.kind == cudaMemcpyHostToDevise/ { }'
fails 2 'missing program' cudabt
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
taken "$tmp/out" || no "bpftrace does not take it"

it "nothing to probe is not silence"
fails 3 'no file has the functions' cudabt --emit --layer driver -e 'cuda:cudaMalloc { }'

it "an argument is what was passed, and a call is counted once"
bt -e 'cuda:cudaMalloc { @[args.size] = count(); }' -c "$bin/mem malloc 23 4099 free 7"
lines 1 '^@\[4099\]: 23$'
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

it "each member of a dim3, at entries and at returns"
bt -e 'cuda:cudaLaunchKernel { @[args.gridDim.x, args.gridDim.y, args.gridDim.z] = count(); }
	cudaret:cudaLaunchKernel { @r[args.blockDim.x, args.blockDim.y, args.blockDim.z] = count(); }' \
	-c "$bin/args 2 >$tmp/passed"
lines 1 '^@\[3, 5, 7\]: 2$'
lines 1 '^@r\[11, 2, 1\]: 2$'

it "a pattern is each function that matches, and the text that is not CUDA's stays as it is"
bt -e 'cuda:cudaMallo?, cuda:cudaFre* { @[func] = count(); } END { printf("cuda:%s\n", "args.size"); }' \
	-c "$bin/mem malloc 23 4096 free 7"
lines 1 '^@\[cudaMalloc\]: 23$'
lines 1 '^@\[cudaFree\]: 7$'
lines 1 '^cuda:args.size$'

it "-p sees a running process, and no other"
program "$bin/mem" wait malloc 13 4096
tool cudabt -e 'cuda:cudaMalloc { @ = count(); }' -p "$pid"
"$bin/mem" malloc 7 4096
go
wait "$tracer"
lines 1 '^@: 13$'

it "the functions of NCCL are known with their arguments, enums and errors"
nccl_dir=$(mktemp -d)
export SIM_NCCL_DIR="$nccl_dir"
bt -e 'cudaret:ncclReduceScatter { @[func, errname(retval), enumname(args.op)] = sum(args.recvcount) }' \
	-c "$bin/nccl-args 3 >$nccl_dir/said"
lines 1 '^@\[ncclReduceScatter, ncclSuccess, ncclMin\]: 33$'
bt -e 'cudaret:ncclAllReduce /retval != 0/ { @[errname(retval)] = sum(args.count) }' -c "$bin/nccl-args 5 >$nccl_dir/said"
lines 1 '^@\[ncclInvalidArgument\]: 185$'
rm -r "$nccl_dir"
unset SIM_NCCL_DIR

it "entries and returns can have one block, and predicates can use arguments"
bt -e 'cuda:cudaMalloc, cudaret:cudaFree { @[func] = count(); }
	cudaret:cudaMalloc /args.size == 4099 && retval == cudaSuccess/ { @odd = count(); }' \
	-c "$bin/mem malloc 23 4096 free 7 malloc 5 4099"
lines 1 '^@\[cudaMalloc\]: 28$'
lines 1 '^@\[cudaFree\]: 7$'
lines 1 '^@odd: 5$'

it "each of several blocks for one function sees every call of it"
bt -e 'cuda:cudaMalloc, cuda:cudaFree { @a = count(); } cuda:cudaMalloc { @b = sum(args.size); }
	cudaret:cudaFree, cudaret:cudaMalloc { @c = count(); } cudaret:cudaMalloc { @d[args.size] = count(); }' \
	-c "$bin/mem malloc 23 4096 free 7"
for line in '@a: 30' '@b: 94208' '@c: 30' '@d[4096]: 23'; do
	grep -qxF "$line" "$tmp/out" || no "no '$line'"
done

it "several BEGIN and END are one each, with the tables"
bt -e 'BEGIN { printf("one\n"); } BEGIN { printf("two\n"); } END { printf("end %d\n", @n); clear(@n); return; }
	cuda:cudaMalloc { @n++; @[func] = count(); }' -c "$bin/mem malloc 7 64"
lines 1 '^one$'
lines 1 '^two$'
lines 1 '^end 7$'
lines 1 '^@'

# ---- What takes seconds

it "--emit names the file of -l so that the program can be run in another directory"
run sh -c "cd $lib && cudabt --emit -l ./libcudart.so.13 -e 'cuda:cudaMalloc { @ = count(); }'"
real=$(realpath "$lib")
lines 1 "^//   $real/(./)?libcudart.so.13$"
run sh -c "cd $lib && cudabt --emit -l libcudart.so.13 -e 'cuda:cudaMalloc { @ = count(); }'"
lines 1 "^//   $real/libcudart.so.13$"

long || leave

it "a runtime that is linked in, one of CUDA 12, and one without symbols, which shows at the driver"
bt -e 'cuda:cudaMalloc { @[args.size] = count(); }' -c "$bin/mem-static malloc 13 4099"
lines 1 '^@\[4099\]: 13$'
bt -e 'cuda:cudaMalloc { @[args.size] = count(); }' -c "$bin/mem-12 malloc 11 4099"
lines 1 '^@\[4099\]: 11$'
bt -e 'cudaret:cuMemAlloc { @[args.bytesize, errname(retval)] = count(); }' -c "$bin/mem-stripped malloc 7 4099"
lines 1 '^@\[4099, CUDA_SUCCESS\]: 7$'

it "a command's children are seen, those that it leaves behind too, and nobody else"
bt -e 'cuda:cudaMalloc { @[args.size] = count(); }' -c "$bin/mem malloc 3 4096 \
	fork '(' malloc 5 4097 fork '(' malloc 7 4098 ')' ')' forkexec '(' malloc 11 4099 ')'; ($bin/mem malloc 2 4100 &)
	touch $tmp/first; until [ -e $tmp/second ]; do sleep .05; done; $bin/mem malloc 13 4101" & command=$!
pids="$pids $command"
until_true [ -e "$tmp/first" ]
"$bin/mem" malloc 17 4096
touch "$tmp/second"
wait "$command"
for n in '4096]: 3' '4097]: 5' '4098]: 7' '4099]: 11' '4100]: 2' '4101]: 13'; do
	grep -qxF "@[$n" "$tmp/out" || no "no @[$n"
done

it "the status is the command's"
bt -e 'cuda:cudaMalloc { @ = count(); }' -c "$bin/mem malloc 7 64; exit 5"
status 5
lines 1 '^@: 7$'

it "-p takes several processes"
program "$bin/mem" wait malloc 13 4096
one=$pid
"$bin/mem" sleep 100000 & other=$!
pids="$pids $other"
# shellcheck disable=SC2016 # sh -c is to expand it
until_true grep -q libcudart "/proc/$other/maps"
tool cudabt -e 'cuda:cudaMalloc { @[pid] = count(); }' -p "$one,$other"
go
stop
status 0
lines 1 "^@\[$one\]: 13$"
kill -9 "$other"

it "-l probes a program that does not run yet, which otherwise is missed with a message"
cp "$bin/mem-static" "$tmp/later"
name_of=later$$	# nobody else's
tool cudabt -l "$tmp/later" -e "cuda:cudaMalloc /comm == \"$name_of\"/ { @ = count(); }"
LD_LIBRARY_PATH=$lib "$tmp/later" rename $name_of malloc 13 64
stop
lines 1 '^@: 13$'
says_not "$tmp/later was loaded"
tool cudabt -l "$lib/libcudart.so.13" -e "cuda:cudaMalloc /comm == \"$name_of\"/ { @ = count(); }"
cp "$lib/libcudart.so.13" "$tmp/libcudart.so.13"
mkdir "$tmp/bin"
cp "$bin/mem" "$tmp/bin/later"
ln -s "$lib" "$tmp/none"
LD_LIBRARY_PATH=$tmp:$lib "$tmp/bin/later" rename $name_of malloc 13 64 sleep 100000 & later=$!
pids="$pids $later"
until_true grep -q "$tmp/libcudart.so.13 was loaded after bpftrace started" "$tmp/err"
stop
kill -9 "$later"

it "--list says where the probes would go"
run cudabt -j --list -l "$lib/libcudart.so.13" -e 'cuda:cudaMalloc, cudaret:cudaFree { }'
json 2 '(.func == "cudaMalloc" or .func == "cudaFree") and .file == "'"$lib"'/libcudart.so.13"'

it "what --emit prints does its work with bpftrace alone"
name_of=plain$$
cudabt --emit -l "$lib/libcudart.so.13" >"$tmp/plain.bt" \
	-e "cudaret:cudaMalloc /comm == \"$name_of\"/ { printf(\"%s %d %s\\n\", func, args.size, errname(retval)); }"
bpftrace -q "$tmp/plain.bt" >"$tmp/out" 2>"$tmp/err" & tracer=$!
pids="$pids $tracer"
# it says when it has printed something
until_true sh -c "$bin/mem rename $name_of malloc 1 64; grep -q 64 $tmp/out"
"$bin/mem" rename $name_of malloc 13 4099
until_true grep -q 'cudaMalloc 4099' "$tmp/out"
stop
lines 13 '^cudaMalloc 4099 cudaSuccess$'

it "--layer leaves out the functions of the other library"
for layer in runtime driver all; do
	set --
	[ $layer = runtime ] || set -- -l "$lib/libcuda.so.1"
	bt --layer $layer "$@" -c "$bin/mem malloc 23 64" -e 'cuda:cudaMalloc, cuda:cuMemAlloc { @[func] = count(); }'
	grep '^@' "$tmp/out" | sort | tr '\n' ' ' >"$tmp/$layer"
done
equal "$(cat "$tmp/runtime")" '@[cudaMalloc]: 23 '
equal "$(cat "$tmp/driver")" '@[cuMemAlloc_v2]: 23 '
equal "$(cat "$tmp/all")" '@[cuMemAlloc_v2]: 23 @[cudaMalloc]: 23 '
fails 3 'defines none' cudabt --layer runtime -e 'cuda:cuMemAlloc { }' -l "$lib/libcuda.so.1" --emit

it "what the program passed is what is printed: registers, the stack, structs, strings, enums"
cat >"$tmp/args.bt" <<'END'
cudaret:cudaMallocPitch {
	printf("%s %d %d 0x%lx %d %d\n", func, args.width, args.height, *args.devPtr, *args.pitch, retval);
}
cudaret:cudaMallocManaged { printf("%s %d %d 0x%lx\n", func, args.size, args.flags, *args.devPtr); }
cudaret:cudaMalloc3D {
	printf("%s %d %d %d 0x%lx %d %d %d\n", func, args.extent.width, args.extent.height, args.extent.depth,
		args.pitchedDevPtr->ptr, args.pitchedDevPtr->pitch, args.pitchedDevPtr->xsize,
		args.pitchedDevPtr.ysize);
}
cuda:cudaMemset3D {
	printf("%s 0x%lx %d %d %d %d %d\n", func, args.pitchedDevPtr.ptr, args.pitchedDevPtr.ysize, args.value,
		args.extent.width, args.extent.height, args.extent.depth);
}
cudaret:cudaStreamCreateWithPriority { printf("%s %d %d 0x%lx\n", func, args.flags, args.priority, *args.pStream); }
cuda:cudaMemcpy2DAsync {
	printf("%s 0x%lx %d 0x%lx %d %d %d %s 0x%lx\n", func, args.dst, args.dpitch, args.src, args.spitch,
		args.width, args.height, enumname(args.kind), args.stream);
}
cuda:cudaMemcpy3DAsync {
	printf("%s 0x%lx %d 0x%lx %d %d %s\n", func, args.p->srcPtr.ptr, args.p->srcPtr.xsize, args.p->dstPtr.ptr,
		args.p->dstPos.x, args.p->extent.height, enumname(args.p->kind));
}
cuda:cuMemsetD2D16 { printf("%s %d %d %d %d\n", func, args.dstPitch, args.us, args.Width, args.Height); }
cudaret:cuMemGetAddressRange { printf("%s 0x%lx %d 0x%lx\n", func, *args.pbase, *args.psize, args.dptr); }
cuda:cuMemcpyPeerAsync { printf("%s 0x%lx %d 0x%lx\n", func, args.srcDevice, args.ByteCount, args.hStream); }
cuda:cuModuleGetFunction { printf("%s %s %s\n", func, args.name, str(args.name)); }
cuda:cuLaunchKernel /args.gridDimX == 19/ {
	printf("cuLaunchKernel 0x%lx %d %d %d %d %d %d %d 0x%lx 0x%lx 0x%lx\n", args.f, args.gridDimX,
		args.gridDimY, args.gridDimZ, args.blockDimX, args.blockDimY, args.blockDimZ,
		args.sharedMemBytes, args.hStream, args.kernelParams, args.extra);
}
cudaret:cuLaunchKernel /args.gridDimX == 19/ {
	@[args.blockDimY, args.blockDimZ, args.sharedMemBytes, args.hStream, retval] = count();
}
cudaret:cuDeviceGetName { printf("%s %s %d %d\n", func, str(args.name), args.len, args.dev); }
cudaret:cuGetErrorName { printf("%s %s %s\n", func, enumname(args.error), *args.pStr); }
END
bt "$tmp/args.bt" -l "$lib/libcuda.so.1" -c "$bin/args 2 >$tmp/passed"
lines 1 '^@\[3, 2, 128, 2, 0\]: 2$'
grep '^c' "$tmp/out" | sort >"$tmp/seen"
jq -r '.func as $f | .args as $a | .ret as $ret | {
	cudaMallocPitch: ["width", "height", "*devPtr", "*pitch"],
	cudaMallocManaged: ["size", "flags", "*devPtr"],
	cudaMalloc3D: ["extent", "*pitchedDevPtr"],
	cudaMemset3D: ["pitchedDevPtr.ptr", "pitchedDevPtr.ysize", "value", "extent"],
	cudaStreamCreateWithPriority: ["flags", "priority", "*pStream"],
	cudaMemcpy2DAsync: ["dst", "dpitch", "src", "spitch", "width", "height", "kind", "stream"],
	cudaMemcpy3DAsync: ["*p.srcPtr.ptr", "*p.srcPtr.xsize", "*p.dstPtr.ptr", "*p.dstPos.x",
		"*p.extent.height", "*p.kind"],
	cuMemsetD2D16_v2: ["dstPitch", "us", "Width", "Height"],
	cuMemGetAddressRange_v2: ["*pbase", "*psize", "dptr"],
	cuMemcpyPeerAsync: ["srcDevice", "ByteCount", "hStream"],
	cuModuleGetFunction: ["name", "name"],
	cuLaunchKernel: ["f", "gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ",
		"sharedMemBytes", "hStream", "kernelParams", "extra"],
	cuDeviceGetName: ["*name", "len", "dev"],
	cuGetErrorName: ["error", "*pStr"] }[$f] // empty |
	[$f, (.[] | split(".") as $path | $a | getpath($path) | if type == "object" then .[] else . end),
		(if $f == "cudaMallocPitch" then $ret else empty end)] | join(" ")' "$tmp/passed" |
	sort >"$tmp/wanted"
[ "$(wc -l <"$tmp/wanted")" -eq 28 ] || no "the program said too little"
diff "$tmp/seen" "$tmp/wanted" >"$tmp/diff" || no "$(head -n 6 "$tmp/diff" | tr '\n' ' ')"

it "at the return, arguments are what was passed, errors have the names of their library, and what a call returned is its value"
bt -e 'cudaret:cudaMalloc /retval/ { @[func, args.size, retval, errname(retval)] = count(); }
	cudaret:cuMemAlloc /retval/ { @[func, args.bytesize, retval, errname(retval)] = count(); }' \
	-l "$lib/libcuda.so.1" -c "$bin/mem malloc 3 64 fail 7 drvmalloc 5 1000g"
lines 1 '^@\[cudaMalloc, 1125899906842624, 2, cudaErrorMemoryAllocation\]: 7$'
lines 1 '^@\[cuMemAlloc_v2, 1125899906842624, 2, CUDA_ERROR_OUT_OF_MEMORY\]: 7$'
lines 1 '^@\[cuMemAlloc_v2, 1073741824000, 2, CUDA_ERROR_OUT_OF_MEMORY\]: 5$'
lines 3 '^@'
