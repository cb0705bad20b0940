# shellcheck shell=sh

# on ARG...: what is counted of a program on the simulated GPU; $tmp/out has the rows of JSON
on() {
	run env SIM_KERNELS=1 cudabounds -qj "$@"
	status 0
	lines 1 '^ok$'	# the program's results are right
	grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"
}

# copies COUNT: of the kernel copy, that so many warps came by
copies() {
	json 1 ".type == \"site\" and .kernel == \"copy\" and .kind == \"load\" and .accesses == $1 and .requested == 128 * $1"
}

it "each warp is counted once in each launch"
on -- "$bin/lanes" copy 7 13 96 1 leave 3 5 160
copies 273
json 1 '.type == "images" and .status == "measured" and .images == 1'

it "--blocks and --warps choose"
on --blocks 1/8 -- "$bin/lanes" copy 7 13 96 1
copies 42
on --warps 1/2 -- "$bin/lanes" copy 7 13 96 1
copies 182

it "-K chooses kernels"
on -K 'c*y' -- "$bin/lanes" copy 7 13 96 1 spin 3 5 32 9
copies 273
json 0 '.kernel == "spin"'

it "text says what JSON does"
run env SIM_KERNELS=1 cudabounds -q -- "$bin/lanes" copy 7 13 96 1
lines 1 '^\[[0-9:]{8}\]$'
lines 1 '^ +273 .* load .* copy$'

it "a command is required, as there is no --pid"
fails 2 'a command is required' cudabounds
