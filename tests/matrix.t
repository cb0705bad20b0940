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
