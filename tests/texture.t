# shellcheck shell=sh
# Textures and surfaces in the interpreter of tests/sim.

# checks TITLE PART: those of a part are right
checks() {
	it "$1"
	run "$bin/texture" "$2"
	status 0
	lines 1 '^[0-9]+ checks, 0 wrong$'
}

checks "texture instructions are known by all of their words" names
checks "a point sample wraps, clamps, mirrors, or is the border" points
checks "a linear filter has weights of 8 bits" linear
checks "texels of 8, 16 and 32 bits, as numbers and as fractions" formats
checks "layers, faces of cubes, and the four texels of tld4" layers
checks "a texture says what it is" queries
checks "surfaces trap, clamp and drop what is outside, and are reduced atomically" surfaces
