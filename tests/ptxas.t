# shellcheck shell=sh disable=SC2016,SC2154 # the command's own variables; rc: the words'
# cudagpuprobe-ptxas, which Triton calls instead of ptxas: with one that is played, and with NVIDIA's.
vadd=$PWD/tests/ptx/nvcc-vadd.ptx
TMPDIR=$tmp/files
mkdir "$TMPDIR"
unset CUDA_HOME
export TMPDIR tmp

# plays BODY: the ptxas that the user has chosen; "$last" is the input, $output what -o names
plays() {
	cat >"$tmp/ptxas" <<-END
		#!/bin/sh
		echo "\$*" >>$tmp/args
		[ "\$1" != --version ] || { echo "release 13.0, V13.0.88"; exit; }
		while [ "\$1" != -o ]; do last=\$1; shift; done
		output=\$2
		$1
	END
	chmod +x "$tmp/ptxas"
	rm -f "$tmp/args" "$tmp/made"
}
TRITON_PTXAS_PATH=$tmp/ptxas
export TRITON_PTXAS_PATH

# as Triton calls it; $1 is the variable
asked='cp '$vadd' $tmp/in.ptx; "$TRITON_PTXAS_PATH" -lineinfo -v --gpu-name=sm_75 $tmp/in.ptx -o $tmp/made'

# assembles [OPTION...]: Triton, under cudamemtime; what ptxas prints is in $tmp/said, its status in $tmp/status
assembles() {
	run cudamemtime "$@" -c "($asked) >$tmp/said 2>&1; echo \$? >$tmp/status"
	says 'the command loaded no CUDA images'	# it only asks
	equal "$(find "$TMPDIR" -type f)" ''
}

it "Triton calls it, and it calls the ptxas that the user has chosen"
plays 'cp $last $output; echo assembled; echo of $output >&2'
assembles
equal "$(cat "$tmp/status")" 0
equal "$(paste -sd' ' "$tmp/said")" "assembled of $tmp/made"
equal "$(sed "s|$TMPDIR/[^ ]*|FILE|" "$tmp/args")" "-lineinfo -v --gpu-name=sm_75 FILE -o $tmp/made"
grep -q '__cuprobe_sites_' "$tmp/made" || no "there is no probe"
cmp -s "$vadd" "$tmp/in.ptx" || no "the program's own file is another"

it "it puts in what the tool has been asked for, and nothing where that is nothing"
plays 'cp $last $output'
assembles -K nothing
cmp -s "$vadd" "$tmp/made" || no "it was changed"
equal "$(cat "$tmp/args")" "-lineinfo -v --gpu-name=sm_75 $tmp/in.ptx -o $tmp/made"
assembles -K vadd
grep -q '__cuprobe_sites_' "$tmp/made" || no "there is no probe"

it "the original is assembled if ptxas refuses the other, which nobody sees"
plays 'if grep -q __cuprobe $last; then echo refused >&2; exit 3; fi; cp $last $output; echo assembled'
assembles
equal "$(cat "$tmp/status")" 0
equal "$(cat "$tmp/said")" assembled
equal "$(wc -l <"$tmp/args")" 2
cmp -s "$vadd" "$tmp/made" || no "it is another"

it "the errors of ptxas are its own"
plays 'echo wrong $last >&2; exit 7'
assembles
equal "$(cat "$tmp/status")" 7
equal "$(cat "$tmp/said")" "wrong $tmp/in.ptx"

it "its version names what is put in, by which Triton's cache tells it apart"
plays :
version='"$TRITON_PTXAS_PATH" --version'
for options in '' '' '-K vadd' '--scheme fence'; do
	# shellcheck disable=SC2086 # words
	run cudamemtime $options -c "$version"
	grep release "$tmp/out" >>"$tmp/versions"
	grep '^With probes of cuda-bpf-tools, [0-9a-f]\{16\}$' "$tmp/out" >>"$tmp/with"
done
equal "$(sort -u "$tmp/versions")" "release 13.0, V13.0.88"
equal "$(wc -l <"$tmp/with") $(sort -u "$tmp/with" | wc -l)" '4 3'

it "every tool has it, and without a tool it is ptxas"
for tool in cudamemtime cudakerneltime cudacoalesce cudabounds; do
	run $tool -c "$version"
	lines 1 '^With probes'
	run $tool -c 'echo $TRITON_PTXAS_BLACKWELL_PATH'
	lines 1 '/cudagpuprobe-ptxas-blackwell$'
done
run env CUDA_BPF_TOOLS_PTXAS="$tmp/ptxas" "$O/cudagpuprobe-ptxas" --version
status 0
equal "$(cat "$tmp/out")" "release 13.0, V13.0.88"

it "without the user's choice it is the one of CUDA_HOME, or in PATH, and none is said"
mkdir "$tmp/bin"
cp "$tmp/ptxas" "$tmp/bin"
for where in CUDA_HOME="$tmp" PATH="$tmp/bin:$PATH"; do
	run env "$where" "$O/cudagpuprobe-ptxas-blackwell" --version
	equal "$(cat "$tmp/out")" "release 13.0, V13.0.88"
done
run env PATH=/nowhere "$O/cudagpuprobe-ptxas" --version
status 255
says 'there is no ptxas'

it "it does not call itself"
run env TRITON_PTXAS_PATH="$O/cudagpuprobe-ptxas" PATH="$tmp:$PATH" cudamemtime -c "$version"
lines 1 '^release'

it "NVIDIA's machine code has the probes, and the library in the program knows them"
if [ ! -x "$CUDA/bin/ptxas" ]; then
	skip "no $CUDA/bin/ptxas"
	leave
fi
TRITON_PTXAS_PATH=$CUDA/bin/ptxas
assembles
equal "$(cat "$tmp/status")" 0
grep -q "Compiling entry function '_Z4vaddPKfS0_Pfi' for 'sm_75'" "$tmp/said" || no "it does not say what it does"
run cudamemtime -vjc "$bin/gpuprobed load $tmp/made >$tmp/said"
json 1 '.type == "images" and .status == "rewritten_before" and .images == 1'
