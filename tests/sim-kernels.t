# shellcheck shell=sh disable=SC2154,SC2016
# With SIM_KERNELS=1 the simulated CUDA runs kernels: programs compute what they would on a GPU.
kernels='env SIM_KERNELS=1'
nvcc=$CUDA/bin/nvcc
parts='vadd reduce transpose histogram matmul texture divergence calls print managed symbols graphs streams grid_sync
	dynamic_shared'

# all_right PART...: each says that all of its results are right, and it has several
all_right() {
	status 0
	for part in "$@"; do
		grep -qE "^$part: ([1-9][0-9]*) of \1 right$" "$tmp/out" || no "$part: $(grep "^$part:" "$tmp/out")"
	done
}

# has_nvcc PROGRAM: it was built; if not, the test is skipped
has_nvcc() {
	[ -x "$bin/$1" ] && return
	skip "no nvcc"
	return 1
}

for program in gpu gpu-static gpu-12; do
	case $program in
	gpu) how="with CUDA 13's runtime" ;;
	gpu-static) how='with the static runtime' ;;
	gpu-12) how="with CUDA 12's runtime" ;;
	esac
	it "programs built by nvcc, $how, compute right results"
	has_nvcc $program || continue
	run $kernels "$bin/$program"
	# shellcheck disable=SC2086 # words
	all_right $parts
	# printf() of a kernel
	lines 1 '^thread 1 of print:  0\.25 123456789abc b$'
	lines 2 '^thread . of print: '
done

it "a program's output and that of its kernels are in order"
if has_nvcc gpu; then
	run $kernels "$bin/gpu" divergence print calls
	equal "$(cut -d: -f1 "$tmp/out" | tr '\n' ,)" "divergence,calls,thread 1 of print,thread 4 of print,print,"
	run $kernels "$bin/gpu" divergence print
	equal "$(cut -d: -f1 "$tmp/out" | tr '\n' ,)" "divergence,thread 1 of print,thread 4 of print,print,"
fi

it "without SIM_KERNELS kernels do nothing, and images are not looked into"
if has_nvcc gpu; then
	for off in 'env -u SIM_KERNELS' 'env SIM_KERNELS=0' 'env SIM_KERNELS='; do
		run $off "$bin/gpu" vadd
		status 1
		lines 1 '^vadd: 1 of 10007 right$'
	done
	run "$bin/gpu" fault null
	status 0
	lines 9 ': cudaSuccess$'
fi
run "$bin/mem-drv" drvlaunch 7
status 0

it "PTX files and text by the driver API compute right results"
run $kernels "$bin/drvkern" tests/ptx
all_right launch modules images info memory faults graph time concurrent

it "NVRTC's output runs"
nvrtc=$CUDA/lib64/libnvrtc.so.13
if [ -e "$nvrtc" ]; then
	LD_LIBRARY_PATH=$CUDA/lib64 run $kernels "$bin/nvrtc" "$nvrtc"
	all_right nvrtc
else
	skip "no $nvrtc"
fi

# fault KIND ERROR: the launch succeeds, the wait tells, every call after it too, and reset ends it
fault() {
	run $kernels SIM_KERNEL_STEPS=100000 "$bin/gpu" fault "$1"
	status 0
	equal "$(sed 's/.*: //' "$tmp/out" | tr '\n' ' ')" \
		"cudaSuccess $2 $2 $2 $2 $2 cudaSuccess cudaSuccess cudaSuccess "
}

it "a fault is told by the call that waits, stays, and ends with a reset"
if has_nvcc gpu; then
	fault null cudaErrorIllegalAddress
	silent
	fault far cudaErrorIllegalAddress
	fault host cudaErrorIllegalAddress
	fault misaligned cudaErrorMisalignedAddress
	fault trap cudaErrorLaunchFailure
	fault near cudaSuccess
	fault loop cudaErrorLaunchTimeout
	fault assert cudaErrorAssert
	says 'fault.cu:'
	says 'Assertion `n == 1'
fi

it "SIM_KERNEL_DEBUG says what faulted, and why an image does not load"
if has_nvcc gpu; then
	run $kernels SIM_KERNEL_DEBUG=1 "$bin/gpu" fault null
	says 'sim: illegal address 0x0 (write of 4 bytes), kernel _Z5storePim'
fi
run $kernels SIM_KERNEL_DEBUG=1 "$bin/drvkern" tests/ptx images
says 'sim: PTX: .target is above the simulated device'
says 'sim: image: machine code only'

long || leave

it "of several images that fits which is the newest for the device, and none is an error"
if has_nvcc gpu; then
	cat >"$tmp/arch.cu" <<'END'
#include <cstdio>
__global__ void arch(int *p) {
#ifdef __CUDA_ARCH__
	*p = __CUDA_ARCH__;
#endif
}
int main() {
	int *p, n = 0;
	cudaMalloc(&p, 4);
	arch<<<1, 1>>>(p);
	cudaError_t err = cudaGetLastError();
	cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost);
	printf("%d %s\n", n, cudaGetErrorName(err));
}
END
	"$nvcc" -gencode arch=compute_80,code=compute_80 -gencode arch=compute_86,code='[compute_86,sm_86]' \
		-gencode arch=compute_100,code=compute_100 -cudart none -o "$tmp/arch" "$tmp/arch.cu" \
		"$lib/libcudart_static.a" -Xcompiler -pthread -ldl -Xlinker -rpath -Xlinker "$lib" >"$tmp/out" 2>&1 ||
		no "nvcc: $(head -c 300 "$tmp/out")"
	for sm in 90/860 80/800 120/1000; do
		LD_LIBRARY_PATH=$lib run $kernels SIM_SM=${sm%/*} "$tmp/arch"
		equal "$(cat "$tmp/out")" "${sm#*/} cudaSuccess"
	done
	LD_LIBRARY_PATH=$lib run $kernels SIM_SM=75 "$tmp/arch"
	equal "$(cat "$tmp/out")" "0 cudaErrorNoKernelImageForDevice"
fi

leave
