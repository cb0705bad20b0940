# shellcheck shell=sh
# What PTX instructions compute in the interpreter of tests/sim.

# cases TITLE SECTION: those of a section of the table are right
cases() {
	it "$1"
	run "$bin/alu" tests/unit/alu.tbl "$2"
	status 0
	lines 1 '^[0-9]+ cases, 0 wrong$'
}

cases "integers wrap, saturate, and are divided as on a GPU" integers
cases "carries go from one instruction to the next" carry
cases "products have both halves, all signs, and dot products" products
cases "logic, shifts beyond the width, bytes in any order" bits
cases "fields of bits, beyond the end too" fields
cases "comparisons of integers, of what is unordered, and of pairs" comparisons
cases "f32 and f64: four roundings, NaN, -0, denormals, saturation" floats
cases "minima and maxima of -0 and NaN" minima
cases "f16 and bf16 are rounded once" halves
cases "conversions clamp, round, and refuse a rounding that means nothing" conversions
cases "video instructions: bytes and halves, alone and side by side" video
cases "conversions of two values, and to 8 and 19 bits" packed

it "34,000 cases at random agree with exact fractions"
run tests/unit/alu_exact.py 100
status 0
cp "$tmp/out" "$tmp/exact.tbl"
run "$bin/alu" "$tmp/exact.tbl" exact
status 0
lines 1 '^[0-9]+ cases, 0 wrong$'

it "of 27,000 names of instructions, those are known that ptxas takes"
if [ -x "${CUDA:-/usr/local/cuda}/bin/ptxas" ]; then
	run tests/unit/alu_ptxas.py "$bin/alu" "${CUDA:-/usr/local/cuda}/bin/ptxas"
	status 0
	lines 1 '^[0-9]+ names, [0-9]+ taken, 0 differ$'
else
	skip "no ptxas here"
fi

it "a wrong case is found"
printf 'section one\nadd.u32 1 2 = 4\nadd.u32 1 2 = 3\nadd.u32 1 2 !\n' >"$tmp/wrong.tbl"
run "$bin/alu" "$tmp/wrong.tbl" one
status 1
lines 1 '^3 cases, 2 wrong$'
