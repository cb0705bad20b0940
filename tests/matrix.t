# shellcheck shell=sh
# Products of matrices in the interpreter of tests/sim.

# checks TITLE PART: those of a part are right
checks() {
	it "$1"
	run "$bin/matrix" "$2"
	status 0
	lines 1 '^[0-9]+ checks, 0 wrong$'
}

checks "wmma loads, multiplies and stores matrices in both layouts, of all types" wmma
checks "fragments of mma.sync are where PTX ISA has them" fragments
checks "mma.sync multiplies in each shape" mma
checks "ldmatrix, stmatrix and movmatrix agree with mma.sync" rows
checks "what is no instruction is not known" unknown

it "kernels of nvcc leave the same in memory with these instructions as with loops"
run "$bin/ptxrun" --same tests/ptx/matrix-wmma.ptx tests/ptx/matrix-loops.ptx
status 0
lines 1 '^same product_u8: 3 same, 2 idle$'
lines 1 '^same product_f16: 3 same, 2 idle$'

it "they do not if bytes have signs, or a factor is transposed"
sed 's/s32\.u8\.u8/s32.s8.s8/; s/m8n8\.x2/m8n8.x2.trans/' tests/ptx/matrix-wmma.ptx >"$tmp/other.ptx"
run "$bin/ptxrun" --same "$tmp/other.ptx" tests/ptx/matrix-loops.ptx
status 1
lines 2 '^differs product_(u8|f16)'
