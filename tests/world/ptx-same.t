# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2154 # rc: the words'
# Do kernels leave the same in memory with each probe as without?  scripts/check-same on our own kernels.

# same FILES...: a probe and scheme at a time, as each takes up to half a minute
same() {
	for with in memtime_hist:dep:all memtime_hist:fence:all memtime_hist:paper:all memtime_hist:simple:all \
		memtime_hist:called memtime_trace memtime_stage memtime_stage:all kerneltime cudacoalesce cudabounds; do
		run scripts/check-same --probes $with "$@"
		status 0
		lines 1 "^$with: [0-9]+ modules, [0-9]+ kernels: [0-9]+ same"
	done
}

it "kernels of tests/ptx leave the same memory with each probe and scheme"
same tests/ptx

it "so do those that nvcc makes of our own programs"
if [ -x "${CUDA:-/usr/local/cuda}/bin/nvcc" ]; then
	mkdir "$tmp/nvcc"
	for f in tests/gpu/*.cu tests/workloads/*.cu examples/*.cu; do
		to=${f%.cu}
		run "${CUDA:-/usr/local/cuda}/bin/nvcc" -ptx -lineinfo -std=c++17 -arch=compute_75 "$f" \
			-o "$tmp/nvcc/${to##*/}.ptx"
		status 0
	done
	same "$tmp/nvcc"
else
	skip "there is no nvcc"
fi

it "a probe that changes a kernel's memory is found"
sed 's/add.f32/sub.f32/' tests/ptx/nvcc-vadd.ptx >"$tmp/other.ptx"
run "$bin/ptxrun" --same tests/ptx/nvcc-vadd.ptx "$tmp/other.ptx"
status 1
lines 1 '^differs '

it "a kernel that stores clocks, addresses or what its warps race for is named, and is no difference"
cat >"$tmp/kinds.ptx" <<'END'
.version 6.3
.target sm_70
.address_size 64
.global .align 8 .b8 there[8];
.visible .entry clocks(.param .u64 p)
{
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	mov.u64 %rd2, %clock64;
	st.global.u64 [%rd1], %rd2;
	ret;
}
.visible .entry addresses(.param .u64 p)
{
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	mov.u64 %rd2, there;
	st.global.u64 [%rd1], %rd2;
	ret;
}
.visible .entry races(.param .u64 p)
{
	.reg .b64 %rd<4>;
	.reg .b32 %r<4>;
	.reg .pred %p;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %ntid.x;
	setp.eq.u32 %p, %r1, 32;
	mov.u32 %r3, %tid.y;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r2, %r1, %r3, %r2;
	add.u64 %rd2, %rd1, 4;
	shr.u32 %r3, %r2, 5;
	@!%p st.global.u32 [%rd2], %r3;
	ret;
}
END
sed -e 's/^.global/.global .align 8 .b8 more[4096];\n&/' -e 's/mov.u64 %rd2, %clock64;/add.u64 %rd3, %rd1, 0;\n&/' \
	-e 's/shr.u32 %r3, %r2, 5;/&\nxor.b32 %r3, %r3, 1;/' "$tmp/kinds.ptx" >"$tmp/changed.ptx"
run "$bin/ptxrun" --same "$tmp/kinds.ptx" "$tmp/changed.ptx"
lines 1 '^clocks clocks$'
lines 1 '^addresses addresses$'
status 0
lines 1 '^races races: 4 races, 1 idle$'
