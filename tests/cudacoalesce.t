# shellcheck shell=sh

# on ARG...: what is counted of a program on the simulated GPU; $tmp/out has the rows of JSON
on() {
	run env SIM_KERNELS=1 cudacoalesce -qj "$@"
	status 0
	lines 1 '^ok$'	# the program's results are right
	grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"
}

# touches STRIDE LINES SECTORS: what 39 warps of each of 7 launches do that read every STRIDE-th word
touches() {
	on -- "$bin/lanes" copy 7 13 96 "$1"
	json 1 ".kernel == \"copy\" and .short == \"copy\" and .kind == \"load\" and .accesses == 273 and .lines == $2 and .sectors == $3 and
		.requested == 273 * 128 and .moved == 273 * 32 * $3 and .line == 11"
	json 1 '.kernel == "copy" and .kind == "store" and .accesses == 273 and .lines == 1 and .sectors == 4 and
		.efficiency == 100 and .hist == [[1,1,273]] and .file == "/src/lanes.cu" and .line == 13'
}

it "words beside each other are one line and four sectors"
touches 1 1 4
json 1 '.kind == "load" and .efficiency == 100 and .hist == [[1,1,273]]'

it "a stride touches as many lines and sectors as it must"
touches 2 2 8
json 1 '.kind == "load" and .efficiency == 50 and .hist == [[2,2,273]]'
touches 5 5 20
touches 7 7 28
touches 17 17 32
json 1 '.kind == "load" and .efficiency == 12.5 and .hist == [[17,18,273]]'
touches 32 32 32
json 1 '.kind == "load" and .hist == [[31,32,273]]'

it "lanes that share a word touch one sector"
on -- "$bin/lanes" spin 3 5 96 9
json 1 '.kernel == "spin" and .kind == "reduce" and .accesses == 45 and .lines == 1 and .sectors == 1 and .efficiency == 100'

it "lanes that have diverged are apart, and a device function has its own sites"
on -- "$bin/lanes" leave 3 5 160
json 1 '.kernel == "leave" and .line == 47 and .accesses == 75 and .requested == 75 * 16 * 4' \
	1 '.kernel == "leave" and .line == 59 and .accesses == 60' \
	1 '.kernel == "gone" and .line == 37 and .accesses == 15'

it "what wastes most stands first, --below leaves out the others, -H draws"
run env SIM_KERNELS=1 cudacoalesce -qH --below 60 -- "$bin/lanes" copy 7 13 96 2 spin 3 5 96 9
lines 1 '^ +273 +2\.0 +8\.0 +50% +34\.1 KiB  copy: ld\.global\.u32, lanes\.cu:11$'
lines 1 '^ +2 -> 2 +: 273 +\|\*{40}\|$'
lines 0 'spin|st\.global'
on -- "$bin/lanes" copy 7 13 96 3
equal "$(jq -r .kind "$tmp/out" | head -n 1)" load
run env SIM_KERNELS=1 cudacoalesce -q --below 10 -- "$bin/lanes" copy 7 13 96 3
lines 1 '^\[[0-9:]{8}\] no such accesses$'

it "--blocks, --warps and -K choose"
on --blocks 1/8 -- "$bin/lanes" copy 7 13 96 2
json 1 '.kind == "load" and .accesses == 42'
on --warps 1/2 -K 'c*y' -- "$bin/lanes" copy 7 13 96 2 spin 3 5 96 9
json 1 '.kind == "load" and .accesses == 182' 0 '.kernel == "spin"'

it "a command is required, as there is no --pid"
fails 2 'a command is required' cudacoalesce
