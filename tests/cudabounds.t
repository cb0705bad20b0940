# shellcheck shell=sh

# on ARG...: what is found of a program on the simulated GPU; $tmp/out has the rows of JSON
on() {
	run env SIM_KERNELS=1 cudabounds -qj "$@"
	status 0
	lines 1 '^ok$'	# the program's results are right
	grep '^{' "$tmp/out" >"$tmp/rows"; mv "$tmp/rows" "$tmp/out"
}
lanes=$bin/lanes

it "accesses to allocations are inside, also to those made after the module was loaded"
on -- "$lanes" copy 7 13 96 3 copy 5 3 32 1 spin 2 3 64 7 leave 1 2 96
json 1 '.kernel == "copy" and .kind == "load" and .checked == 288 and .outside == 0 and .line == 11' \
	1 '.kernel == "copy" and .kind == "store" and .checked == 288 and .outside == 0' \
	0 '.outside > 0' \
	0 '.type == "access"'

it "each lane that is behind the end of an allocation is counted, and the allocation named"
on -- "$lanes" over 7 13 96 37
json 1 '.kernel == "copy" and .kind == "load" and .checked == 273 and .outside == 7 * 37 and .line == 11' \
	1 '.kernel == "copy" and .kind == "store" and .checked == 273 and .outside == 0'
json 3 '.type == "access" and .kind == "load" and .bytes == 4 and .below_size == (13 * 96 - 37) * 4 and .block == 12 and
	((.warp == 1 and .lanes == 5) or (.warp == 2 and .lanes == 32)) and .file == "/src/lanes.cu"'
on -r 100 -- "$lanes" over 7 13 96 37
json 7 '.type == "access" and .warp == 1 and .lanes == 5' \
	7 '.type == "access" and .warp == 2 and .lanes == 32'

it "text says how far behind which end"
run env SIM_KERNELS=1 cudabounds -q -r 1 -- "$lanes" over 1 1 32 3
lines 1 '^\[[0-9:]{8}\] 2 accesses of warps checked, 3 of lanes outside of all allocations$'
lines 1 '^ +3  copy: ld\.global\.u32, lanes\.cu:11$'
lines 1 '^ +4 bytes at 0x[0-9a-f]+: 0 bytes behind the end of 116 bytes at 0x[0-9a-f]+; block 0, warp 0, 3 lanes$'

it "the access that faults is named, before near misses of its place, although the context took the counts"
run env SIM_KERNELS=1 cudabounds -q -r 2 -- "$lanes" over 7 1 32 3 far 24
status 0
lines 1 '^\[[0-9:]{8}\] 8 accesses of warps checked, 44 of lanes outside of all allocations, and others that could not be read$'
lines 1 '^ +44  copy: ld\.global\.u32, lanes\.cu:11$'
lines 1 '^ +4 bytes at 0x[0-9a-f]+: 512\.0 MiB behind the end of 4 bytes at 0x[0-9a-f]+; block 0, warp 0, 23 lanes, before the fault$'
lines 1 'behind the end of 116 bytes at 0x[0-9a-f]+; block 0, warp 0, 3 lanes, before the fault$'
says '1 reading failed: device 0: CUDA_ERROR_ILLEGAL_ADDRESS, a kernel faulted: no counts since the last reading (cudatrace -x names the launches)'
on -r 11 -- "$lanes" over 7 1 32 3 far 24
json 1 '.type == "access" and .faulted and .lanes == 23 and .below_size == 4 and .grid == 8 and .kind == "load" and .line == 11' \
	7 '.type == "access" and .faulted and .lanes == 3 and .below_size == 116' \
	0 '.type == "site" and .kind == "store"'

it "a context that cannot be read from the first on has no access to name"
run env SIM_KERNELS=1 SIM_FAIL=cuMemcpyDtoHAsync_v2:1=700 cudabounds -q -- "$lanes" over 1 1 32 3
lines 1 '^\[[0-9:]{8}\] 0 accesses of warps checked, 0 of lanes outside of all allocations, and others that could not be read$'

it "memory that was freed is known no longer, that of its next owner is"
on -- "$lanes" over 3 5 64 11 copy 3 5 64 1 over 3 5 64 13
json 1 '.kernel == "copy" and .kind == "load" and .checked == 90 and .outside == 3 * 11 + 3 * 13'

it "variables of the module are inside, shared memory by generic addresses is no matter"
on -- "$lanes" own 7 3 160
json 4 '.kernel == "own" and .checked == 105 and .outside == 0' \
	1 '.kernel == "own" and .kind == "load" and .space == "global" and .line == 67' \
	2 '.kernel == "own" and .space == "generic"'

it "--blocks and -K choose"
on --blocks 1/4 -- "$lanes" over 7 13 96 37
json 1 '.kernel == "copy" and .kind == "load" and .checked == 84 and .outside == 7 * 37'
on --blocks 1/8 -K 'c*' -- "$lanes" over 7 13 96 37 spin 3 5 32 7
json 1 '.kind == "load" and .checked == 42 and .outside == 0' 0 '.kernel == "spin"'

it "the table of variables has those in global memory, with their bytes"
cat >"$tmp/variables.ptx" <<'END'
.version 6.3
.target sm_70
.address_size 64
.global .align 4 .u32 one;
.visible .global .align 16 .v4 .f32 vectors[7];
.extern .global .align 4 .b8 elsewhere[];
.const .align 4 .u32 constant;
.global .attribute(.managed) .align 8 .b64 managed[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
.visible .entry set(.param .u64 p)
{
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	st.global.u32 [%rd1], 1;
	ret;
}
END
run "$bin/ptxrw" --probe "$O/cudabounds.ptx" -S global --op store --groups 1 --limit 64 "$tmp/variables.ptx" "$tmp/new.ptx"
mv "$tmp/new.ptx" "$tmp/out"
lines 1 '__cuprobe_variables_[0-9a-f]{8}\[8\] = \{ generic\(one\), 4, generic\(vectors\), 112, generic\(managed\), 48, 0, 0 \};$'
run "$bin/ptxrw" --probe "$O/cudacoalesce.ptx" -S global --op store --groups 1 --limit 64 "$tmp/variables.ptx" "$tmp/new.ptx"
mv "$tmp/new.ptx" "$tmp/out"
lines 0 '__cuprobe_variables_'

it "a command is required, as there is no --pid"
fails 2 'a command is required' cudabounds
