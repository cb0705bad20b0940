# shellcheck shell=sh
# Arguments, out-parameters and results, against what the program itself says that it passed.
light

# calls FILTER FILE: func, args and ret of its objects, with the keys in order
calls() { jq -cS "select($1) | {func, args, ret}" "$2" | LC_ALL=C sort; }

# all_shown FILTER: each call that the program says it made is one that the tool shows
all_shown() {
	calls "$1" "$tmp/said" >"$tmp/want"
	# nvcc's stubs pass a handle and an array that the program knows nothing of
	case $program in
	*nvcc*) jq -c 'if .func | test("^cudaLaunchKernel") then del(.args.func, .args.args) else . end' \
		"$tmp/shown" >"$tmp/plain" ;;
	*) cp "$tmp/shown" "$tmp/plain" ;;
	esac
	calls true "$tmp/plain" >"$tmp/got"
	[ -s "$tmp/want" ] || no "the program says nothing"
	LC_ALL=C comm -23 "$tmp/want" "$tmp/got" >"$tmp/missing"
	[ ! -s "$tmp/missing" ] || no "$(wc -l <"$tmp/missing") calls are not shown so: $(head -n 1 "$tmp/missing")"
}

# trace OPTION...: of the program; what it says goes to said, what the tool shows to shown
trace() {
	cudatrace -j -o "$tmp/shown" "$@" -c "$bin/$program 1 >$tmp/said" >"$tmp/out" 2>"$tmp/err"
	rc=$?
}

for program in args args-12 args-nvcc args-nvcc-ptsz ${LONG:+args-static args-nvcc-12 args-nvcc-static}; do
	it "$program: every argument, and what was stored, as the program has it"
	[ -e "$bin/$program" ] || { skip "no nvcc here"; continue; }
	trace -e default,error
	status 0
	all_shown true
	equal "$(wc -l <"$tmp/said")" 27
	silent
done

it "args-stripped: the driver's calls, and those inside of the runtime's that have no symbols"
program=args-stripped
trace -e default,error
all_shown '.func | startswith("cuda") | not'
equal "$(wc -l <"$tmp/want")" 10
jq -e 'select(.func == "cuMemcpy2DAsync_v2")' "$tmp/shown" >"$tmp/out"
lines 1 'hStream'
silent

for kind in $command_kinds; do
	it "--attach $kind: arguments on the stack, structs by value, strings, out-parameters"
	program=args
	trace --attach "$kind" -e cudaMemcpy2DAsync,cudaMemset3D,cuLaunchKernel,cuModuleGetFunction,cudaMallocPitch
	status 0
	all_shown '.func | test("^(cudaMemcpy2DAsync|cudaMemset3D|cuModuleGetFunction|cuLaunchKernel|cudaMallocPitch)$")'
	equal "$(wc -l <"$tmp/want")" 5
	silent
done

for program in args-real mem-real kern-real kern-real-static; do
	it "$program: the real runtime, which has no driver: each call fails with its own name for it"
	if [ ! -e "$bin/$program" ]; then
		skip "there is no libcudart of NVIDIA's"
	elif ldconfig -p | grep -q 'libcuda\.so\.1'; then
		skip "there is a driver"
	else
		case $program in
		args*)
			trace -e default,error
			all_shown true
			equal "$(wc -l <"$tmp/said")" 17
			mv "$tmp/shown" "$tmp/out"
			json 25 '.ret == 35 and .error == "cudaErrorInsufficientDriver"'
			;;
		mem*)
			run cudatrace -jc "$bin/$program malloc 23 4096 host 5 64"
			json 28 '.ret == 35 and .error == "cudaErrorInsufficientDriver"'
			;;
		kern*)
			run cudatrace --attach session -jc "$bin/$program 3 2 5 1 7"
			json 22 '.ret == 35 and .error == "cudaErrorInsufficientDriver"' \
				3 '.func == "cudaLaunchKernel" and .kernel == "scale" and .args.gridDim == [8,1,1] and .args.blockDim == [128,1,1]' \
				2 '.func == "cudaLaunchKernel" and .kernel == "fill<int>" and .args.gridDim == [4,1,1]'
			;;
		esac
		json 0 '.args | keys | any(startswith("*devPtr"))'
		silent
	fi
done

it "every function that the real libcudart exports can be probed at once"
real=$(ls /usr/local/cuda/lib64/libcudart.so.13 2>/dev/null)
if [ -n "$real" ] && [ -e "$bin/args-real" ]; then
	run cudatrace -e all --layer runtime --list -j -l "$real"
	n=$(nm -D --defined-only "$real" | grep -c ' T _*cuda')
	[ "$(jq -r 'select(.skipped == null) | .func' "$tmp/out" | sort -u | wc -l)" -ge $((n - 15)) ] ||
		no "$(wc -l <"$tmp/out") probes for $n functions"
	program=args-real
	trace -e all
	all_shown true
	silent
else
	skip "there is no libcudart of NVIDIA's"
fi

for program in kern-static kern-12 kern-ptsz ${LONG:+kern kern-legacy}; do
	it "$program: the names of kernels, the dimensions of launches, once each"
	[ -e "$bin/$program" ] || { skip "no nvcc here"; continue; }
	run cudatrace --attach session -jc "$bin/$program 7 5 23 3 11"
	status 0
	json 7 '.kernel == "scale" and .args.gridDim == [8,1,1] and .args.blockDim == [128,1,1]' \
		5 '.kernel == "fill<int>" and .args.gridDim == [4,1,1] and .args.blockDim == [256,1,1]' \
		12 '.kernel != null' \
		25 '.func == "cudaMalloc" and .args.size == 4096 and (.args["*devPtr"] | test("^0x[1-9a-f][0-9a-f]+$"))' \
		11 '(.func | test("^cudaMemcpy(_ptds)?$")) and .args.kind == "cudaMemcpyHostToDevice" and .args.count == 4096'
	silent
done

it "a copy that was allocated goes to where the allocation's out-parameter says"
replayed cudatrace -jc "$bin/kern-static 0 0 1 0 1"
equal "$(jq -r 'select(.func == "cudaMemcpy") | .args.dst' "$tmp/out")" \
	"$(jq -r 'select(.func == "cudaMalloc") | .args["*devPtr"]' "$tmp/out" | head -n 1)"

it "kern-stripped: the driver's calls, with the names that it was asked for"
if [ -e "$bin/kern-stripped" ]; then
	replayed cudatrace -jc "$bin/kern-stripped 7 5 23 3 11"
	json 7 '.func == "cuLaunchKernel" and .kernel == "scale" and .args.gridDimX == 8 and .args.blockDimX == 128' \
		5 '.func == "cuLaunchKernel" and .kernel == "fill<int>" and .args.gridDimX == 4 and .args.hStream == "0x0"' \
		0 '.layer == "runtime"'
else
	skip "no nvcc here"
fi

it "names of kernels as text stand behind their addresses"
replayed cudatrace -e launch -c "$bin/mem launch 3 launchex 2 coop 1"
lines 3 'cudaLaunchKernel\(func=0x[0-9a-f]+ mem_kernel, gridDim=\{13, 1, 1\}, blockDim=\{128, 1, 1\}, args=0x[0-9a-f]+, sharedMem=0, stream=0x0\) = 0( \[first launch\])?$'
lines 2 'cudaLaunchKernelExC\(\*config=\{gridDim=\{13, 1, 1\}, blockDim=\{128, 1, 1\}, dynamicSmemBytes=0, stream=0x0\}, func=0x[0-9a-f]+ mem_kernel, args=0x[0-9a-f]+\) = 0$'
lines 1 'cudaLaunchCooperativeKernel\(func=0x[0-9a-f]+ mem_kernel, '

it "--kernel-names chooses those of lines and timelines, by default brief; JSON has brief and short ones"
printf '_ZN1a4fillIiEEvPT_\n' >"$tmp/some"
for names in brief=a::fill short=fill full='void a::fill'; do
	replayed cudatrace --kernel-names "${names%%=*}" -e launch -c "$bin/launches names $tmp/some"
	lines 1 "cuLaunchKernel\(f=0x[0-9a-f]+ ${names#*=}<int>(\(int\*\))?, "
done
replayed cudatrace -je launch --kernel-names short -c "$bin/launches names $tmp/some"
json 1 '.kernel == "a::fill<int>" and .short == "fill<int>"'
replayed cudatrace --chrome "$tmp/trace.json" --kernel-names short -c "$bin/launches names $tmp/some"
equal "$(jq '[.. | .name? // empty | select(. == "cuLaunchKernel(fill<int>)")] | length' "$tmp/trace.json")" 2

it "strings of a program are escaped and cut, and longer names of kernels whole"
replayed cudatrace -e cuModuleGetFunction,launch -c "$bin/launches ugly 3 long 1"
lines 1 'name="ugly\\x1b\[31m\\x0a\\"kernel"\) = 0$'
lines 1 'name="a_kernel_whose_name_goes_on_n+"\) = 0$'
lines 3 'cuLaunchKernel\(f=0x[0-9a-f]+ ugly\\x1b\[31m\\x0a"kernel, '
replayed cudatrace -j -e cuModuleGetFunction,launch -c "$bin/launches ugly 3 long 1"
json 1 '.args.name == "ugly\u001b[31m\n\"kernel"' 1 '.kernel != null and (.kernel | length) == 4001'

it "a process's name is escaped"
run cudatrace --attach session -e launch -c "$bin/mem launch 1; $bin/launches rename '%e[2J' failed 1"
lines 1 ' \\x1b\[2J +cudaLaunchKernel'

# A runtime of two versions: in 12 the third parameter is an int, in 13 a struct.
cat >"$tmp/prefetch.c" <<'END'
int cudaMemPrefetchAsync(void *p, unsigned long n, int device, void *stream) { return 0; }
END
echo 'int cudaMemPrefetchAsync(); int main() { return cudaMemPrefetchAsync(8ul, 2039ul, 1, 3ul); }' >"$tmp/main.c"
# like NVIDIA's, it has the version of all that it exports: libcudart.so.12
runtime() {
	echo "$1 { global: cuda*; local: *; };" >"$tmp/map"
	${CC:-cc} -w -shared -fPIC "-Wl,--version-script=$tmp/map,-soname,${2##*/}" -o "$2" "$3"
	${CC:-cc} -w -o "$tmp/main" "$tmp/main.c" "$2" -Wl,-rpath,"$tmp"
}
while read -r version called; do
	it "decodes the parameters that $version had, whose file is $called"
	runtime "$version" "$tmp/$called" "$tmp/prefetch.c"
	replayed cudatrace -jc "$tmp/main"
	case $version in
	*.13) json 1 '.args.location == {type: "cudaMemLocationTypeDevice", id: 0} and .args.flags == 3' ;;
	*) json 1 '.args == {devPtr: "0x8", count: 2039, dstDevice: 1, stream: "0x3"}' ;;
	esac
done <<'END'
libcudart.so.11.0 libcudart-d0da41ae.so.11.0
libcudart.so.12 libcudart.so.12.4.127
libcudart.so.12 libcudart-9335f6a2.so.12
libcudart.so.12 libcudart.so.13.0
libcudart.so.13 libcudart-00000012.so.12
END

it "no function of a runtime has other parameters in a later version with the same first number"
awk '$1 == "rt" && $3 ~ /-[0-9]+\./' common/api/cuda_protos.tbl >"$tmp/out"
lines 0 .

it "--unchecked: the parameters that libcudart.so.12 had"
cat >"$tmp/fails.c" <<'END'
int cudaMemPrefetchAsync(void *p, unsigned long n, int device, void *stream) { return 1; }
END
echo 'int cudaMemPrefetchAsync(); int main() { cudaMemPrefetchAsync(8ul, 2039ul, 1, 3ul);
	return !cudaMemPrefetchAsync(8ul, 2039ul, 1, 3ul); }' >"$tmp/main.c"
runtime libcudart.so.12 "$tmp/libcudart.so.12" "$tmp/fails.c"
replayed cudatrace --unchecked -jc "$tmp/main"
json 1 '.args == {devPtr: "0x8", count: 2039, dstDevice: 1, stream: "0x3"}'

it "the fields of structs are where NVIDIA's headers have them"
cuda=${CUDA:-/usr/local/cuda}
if [ -e "$cuda/include/cuda.h" ]; then
	cat >"$tmp/fields.cpp" <<-'END'
		#include <cstddef>
		#include <cuda.h>
		#include <cuda_runtime_api.h>
		#include "api/cuda_structs.h"
		#define X(of, field, kind, type, at, size) static_assert(offsetof(of, field) == at && \
			sizeof(of::field) == size, #of "." #field);
		CUDA_STRUCTS(X)
	END
	run c++ -std=c++17 -fsyntax-only -isystem "$cuda/include" -iquote common \
		-iquote "$O" "$tmp/fields.cpp"
	status 0
else
	skip "NVIDIA's headers are not here"
fi
