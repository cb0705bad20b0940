# shellcheck shell=sh disable=SC2154,SC2016,SC2086,SC2046,SC2059 # rc: the words'; PTX has $; several words; a format with \t
# instrument() of common/ptx: what it makes of the PTX in tests/ptx, and what it refuses.  The first line of each file
# has its options; tests/ptx/NAME.out is what comes out, folded.
rw=$bin/ptxrw

# options FILE: those in its first line
options() { sed -n '1{s/\r$//; s|^// ptxrw: ||; s|--probe \([a-z-]*\)|--probe tests/ptx/\1.txt|; p;}' "$1"; }

# folded FILE: a function of a probe whose copy differs from an earlier one in its operands and labels only is a line with them
folded() {
	awk '
		/^\t\{ \/\/ / { name = $3; copy = shape = different = "" }
		!name { print; next }
		{
			copy = copy $0 "\n"
			line = $0
			if (match(line, /\$cuprobe_[0-9]+/)) {
				if (!index(different, substr(line, RSTART, RLENGTH)))
					different = different " " substr(line, RSTART, RLENGTH)
				gsub(/\$cuprobe_[0-9]+/, "$", line)
			}
			if (match(line, /^\tmov\.b(32|64) %rd?[0-9]+, /)) {
				different = different " " substr(line, RLENGTH + 1)
				line = substr(line, 1, RLENGTH)
			}
			shape = shape line "\n"
		}
		/^\t}$/ {
			printf "%s", shape in seen ? "\t{ // " name ":" different " }\n" : copy
			seen[shape]
			name = ""
		}' "$1"
}

# same TITLE NAME: tests/ptx/NAME.ptx becomes NAME.out
same() {
	it "$1"
	run "$rw" $(options "tests/ptx/$2.ptx") "tests/ptx/$2.ptx" "$tmp/$2.made"
	status 0
	silent
	folded "$tmp/$2.made" | diff "tests/ptx/$2.out" - >"$tmp/out" 2>&1 || no "tests/ptx/$2.out differs"
	made="${made-}$2
"
}

same "a predicate and its negation are those of the probe too" guards
same "each function of a probe has its place; a kernel without a ret at its end is left there" guards-all
same "vectors, offsets, variables, narrow and wide registers, results that nobody uses" operands
same "registers are those of their scope; a function's accesses are sites, and its exit ends the kernel" scopes
same "a place is followed through what it is inlined at" places
same "textures and surfaces wait for their coordinates" textures
same "waits are measured, and what only begins or arrives is not" waits
same "comments, line ends, blanks and missing newlines pass as they are" odd
same "a kernel with many sites calls the probe" called
same "--scheme fence" fence
same "--scheme paper: a fence for what can be written, a dependence for what is read-only" paper
same "--scheme simple" simple

it "each file of tests/ptx that has a line of options was tried"
grep -l '^// ptxrw:' tests/ptx/*.ptx | sed 's|.*/||; s|\.ptx$||' | sort >"$tmp/there"
printf '%s' "$made" | sort | diff - "$tmp/there" >"$tmp/out" || no "$(tr '\n' ' ' <"$tmp/out")"

if [ -x "${CUDA:-/usr/local/cuda}/bin/ptxas" ]; then
	it "ptxas takes each of them, before and after"
	for f in "$tmp"/*.made; do
		for g in "tests/ptx/$(basename "$f" .made).ptx" "$f"; do
			run "${CUDA:-/usr/local/cuda}/bin/ptxas" -arch=sm_90 "$g" -o /dev/null
			[ $rc = 0 ] || no "$g: $(head -n 1 "$tmp/err")"
		done
	done
else
	it "ptxas takes each of them, before and after"
	skip "no ptxas here"
fi

timed="--probe tests/ptx/probe-timed.txt"

# module LINE...: a module with these lines behind its header
module() { printf '%s\n' ".version ${version:-7.0}" ".target ${target:-sm_80}" '.address_size 64' "$@" >"$tmp/in.ptx"; }

# kernel NAME LINE...: a module with a kernel that loads, after these lines
kernel() {
	name_=$1
	shift
	module "$@" ".visible .entry $name_(.param .u64 p)" '{' '.reg .b32 %r<3>; .reg .b64 %rd<2>;' 'ld.param.u64 %rd1, [p];' \
		'ld.global.u32 %r1, [%rd1];' 'st.global.u32 [%rd1+4], %r1;' 'ret;' '}'
}

# refused STATUS WHY: ptxrw says this of the module, and writes nothing
refused() {
	rm -f "$tmp/new"
	run "$rw" $timed ${3-} "$tmp/in.ptx" "$tmp/new"
	status "$1"
	says "$2"
	[ ! -e "$tmp/new" ] || no "it wrote something"
}

it "PTX before 6.2 or for GPUs before sm_70 is refused"
version=6.1 target=sm_60 kernel k
refused 6 old
version=6.2 target=sm_61 kernel k
refused 6 old
version=5.9 target=sm_70 kernel k
refused 6 old
version=6.2 target=sm_70 kernel k
run "$rw" $timed "$tmp/in.ptx" "$tmp/new"
status 0
version=10.0 target=sm_100a kernel k
run "$rw" $timed "$tmp/in.ptx" "$tmp/new"
status 0

it "a module that needs another one's functions is refused, but not for those of the driver"
kernel k '.extern .func (.param .b32 r) other(.param .b32 a);'
refused 7 linked
kernel k '.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);' '.extern .func free(.param .b64 a);' \
	'.extern .func (.param .b64 r) malloc(.param .b64 a);' '.extern .func __assertfail(.param .b64 a);' \
	'.extern .shared .align 16 .b8 dynamic[];'
run "$rw" $timed "$tmp/in.ptx" "$tmp/new"
status 0

it "what is no PTX, or is cut off, is refused"
echo 'int main(void) { return 0; }' >"$tmp/in.ptx"
refused 8 'not PTX'
: >"$tmp/in.ptx"
refused 8 'not PTX'
kernel k
sed -i '$d' "$tmp/in.ptx"
refused 8 'not PTX'

it "a module without sites is left alone"
kernel k
refused 4 'no sites' '-S shared'
refused 4 'no sites' '--op reduce'
refused 4 'no sites' '--kernel other'
module '.global .u32 x;'
refused 4 'no sites'

it "only the kernels that are selected have sites; functions have if any is"
{
	kernel one '.func helper(.param .b64 a) { .reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [a]; ld.u32 %r1, [%rd1]; st.u32 [%rd1], %r1; ret; }'
	cat "$tmp/in.ptx"
	kernel two
	sed 1,3d "$tmp/in.ptx"
} >"$tmp/both"
mv "$tmp/both" "$tmp/in.ptx"
run "$rw" --list "$tmp/in.ptx"
equal "$(cut -f4 "$tmp/out" | xargs)" 'helper one two'
run "$rw" --list --kernel 't*' "$tmp/in.ptx"
equal "$(cut -f4 "$tmp/out" | xargs)" 'helper two'
run "$rw" $timed --kernel 't*' -v "$tmp/in.ptx" "$tmp/new"
says 'done: 2 sites, 1 kernels'
equal "$(sed -n '/entry one/,/^}/p' "$tmp/new")" "$(sed -n '/entry one/,/^}/p' "$tmp/in.ptx")"

it "more sites than --max-sites are refused, and counted"
kernel k
run "$rw" --list --op load,store --max-sites 2 "$tmp/in.ptx"
status 0
lines 2 '^S'
refused 5 'too many sites: 3 sites' '-v --probe tests/ptx/probe-all.txt --op load,store --max-sites 2'
refused 5 'too many sites: 2 sites' '-v --op load,store --max-sites 1'

it "a table is read as it was written"
run "$rw" --sites $(options tests/ptx/places.ptx) tests/ptx/places.ptx
status 0
cat >"$tmp/expected" <<-'END'
	0 places load global ld.global.u32 4 - 0:0
	1 places load global ld.global.u32 4 /home/user/kernels.cu:17 1:17
	2 places load global ld.global.u32 4 /home/user/kernels.cu:19 2:101,1:19
	3 places load global ld.global.u32 4 name with?tab.cuh:211 3:211,2:101,1:19
	4 places load global ld.global.u32 4 /home/user/kernels.cu:23 1:23
END
diff "$tmp/expected" "$tmp/out" >"$tmp/diff" || no "$(cat "$tmp/diff")"

it "sizes are those of a lane"
run "$rw" --sites -S all --op all tests/ptx/operands.ptx
equal "$(cut -d' ' -f6 "$tmp/out" | xargs)" '16 8 2 1 8 8 4 4 4 4 4 4 4 8 2 8 8 4 4'

it "a loop of places that are inlined at each other ends"
kernel k
sed -i 's/^ld.global/.loc 1 7 1\n.loc 2 11 1, function_name $L, inlined_at 1 7 1\n.loc 1 7 1, function_name $L, inlined_at 2 11 1\n&/' "$tmp/in.ptx"
run "$rw" --list "$tmp/in.ptx"
status 0
lines 1 '	1:7,2:11,1:7,2:11,1:7,2:11,1:7,2:11	'

it ".maxnreg is what the caller says, instead of what the kernel has"
kernel k
sed -i 's/^.visible .entry k.*/&\n.maxntid 64\n.maxnreg 200/' "$tmp/in.ptx"
echo 'other 64
k 40' >"$tmp/registers"
run "$rw" $timed --registers "$tmp/registers" "$tmp/in.ptx" "$tmp/new"
status 0
equal "$(sed -n '/^.visible .entry/,/^{/p' "$tmp/new" | xargs)" '.visible .entry k(.param .u64 p) .maxntid 64 .maxnreg 40 {'

it "--blocks, --warps, --groups and --limit are in the module"
kernel k
run "$rw" --probe tests/ptx/probe-all.txt --blocks 31:17 --warps 7:5 --groups 4 --limit 128 "$tmp/in.ptx" "$tmp/new"
status 0
# limit 128, block_mask 31; block_want 17, warp_mask 7; warp_want 5
grep -q ', 3, 133143986304, 30064771089, 5 };$' "$tmp/new" || no "$(grep __cuprobe_ctl "$tmp/new" | head -n 1)"
grep -q '__cuprobe_rings_[0-9a-f]*\[512\];' "$tmp/new" || no "rings: $(grep rings "$tmp/new" | head -n 1)"
grep -q '__cuprobe_records_[0-9a-f]*\[16384\];' "$tmp/new" || no "records: $(grep records "$tmp/new" | head -n 1)"
! grep -q __cuprobe_slots "$tmp/new" || no "slots that the probe does not use"

it "a module with 20,011 kernels is instrumented"
{
	module
	cat "$tmp/in.ptx"
	awk 'BEGIN { for (i = 1; i <= 20011; i++) print ".visible .entry k" i "(.param .u64 p) { .reg .b32 %r<3>; .reg .b64 %rd<2>;\n" \
		".loc 1 " i " 3\nld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+4], %r1;\nret; }" }'
} >"$tmp/many.ptx"
run "$rw" --probe "$O/memtime_hist.ptx" -v "$tmp/many.ptx" "$tmp/new"
status 0
says 'done: 40022 sites, 20011 kernels'

# probe SED: tests/ptx/probe-all.txt changed so is refused for that
probe() {
	sed "$2" tests/ptx/probe-all.txt >"$tmp/probe"
	! cmp -s tests/ptx/probe-all.txt "$tmp/probe" || no "nothing is changed by $2"
	run "$rw" --probe "$tmp/probe" "$tmp/in.ptx" "$tmp/new"
	{ [ "$rc" -eq 1 ] && grep -qF -- "$1" "$tmp/err"; } || no "not '$1' by $2: $(cat "$tmp/err")"
}

it "a probe that cannot be put into kernels is refused, with the reason"
kernel k
probe 'a function that is not' 's/gpu_before/gpu_after/'
probe 'a function that is not' 's/.func gpu_exit/.entry gpu_exit/'
probe 'a function twice' 's/gpu_exit/gpu_entry/; s/gpu_exit_param_[12],*//'
probe 'other parameters' 's/.param .b64 gpu_timed_param_2/.param .b32 gpu_timed_param_2/'
probe 'other parameters' 's/.param .b64 gpu_timed_param_2/.param .b64 gpu_timed_param_2, .param .b32 more/'
probe 'other parameters' 's/(.param .b32 func_retval0)//'
probe 'an external variable' 's/^.shared/.extern .shared/'
probe 'a declaration of a function' 's/^.shared.*/.func other(.param .b32 a);/'
probe 'calls another' 's/@%p1 ret;/call.uni other, (%r1);/'
probe 'a parameter that there is not' 's/gpu_timed_param_1\]/gpu_timed_param_3]/'
probe 'needs a stack' 's/@%p1 ret;/.local .align 8 .b8 depot[16];/'
probe 'without an end' '$d'
probe 'control characters' 's/a comment/\x01/'
probe 'no function' '/^.visible .func/,$d'

it "the probes of gpu/ can be read"
for p in "$O"/*.ptx; do
	run "$rw" --probe "$p" --limit 64 "$tmp/in.ptx" "$tmp/new"
	status 0
done
[ -e "$O/memtime_trace.ptx" ] || no "there are none"

it "a table that is none is refused"
sites() { printf "$1" >"$tmp/table"; run "$rw" --table "$tmp/table"; status "$2"; }
good='S\t0\t1:2\tk\tload\tglobal\tld\t4\n'
sites "$good" 0
sites "$good$good" 1
sites 'S\t1\t1:2\tk\tload\tglobal\tld\t4\n' 1
sites 'S\t0\t1:2\tk\tload\tglobal\tld\n' 1
sites 'S\t0\t1:2\tk\tload\tglobal\tld\t4\t5\n' 1
sites 'S\t0\t1\tk\tload\tglobal\tld\t4\n' 1
sites 'S\t0\t1:\tk\tload\tglobal\tld\t4\n' 1
sites 'S\t0\t1:2\tk\tload\tglobal\tld\t\n' 1
sites 'S\t0\t1:2,\tk\tload\tglobal\tld\t4\n' 1
sites 'S\t0\t1:99999999999\tk\tload\tglobal\tld\t4\n' 1
sites 'S\t0\t1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1\tk\tload\tglobal\tld\t4\n' 1
sites 'F\t4000000000\t"a"\n' 1
sites 'F\t1\ta\n' 1
sites 'F\t1\t"\n' 1
sites 'X\n' 1
sites "$good\\0X\\n" 0

# unchanged FILE PROBE OPTION...: its kernels leave the same memory with that probe
unchanged() {
	f=$1 probe=$2
	shift 2
	run "$rw" --probe "$O/$probe.ptx" -S all --op all "$@" "$f" "$tmp/new.ptx"
	[ $rc = 0 ] || no "$f: $probe $*: ptxrw: $rc"
	run timeout 60 "$bin/ptxrun" --same "$f" "$tmp/new.ptx"
	[ $rc = 0 ] || no "$f: $probe $*: $(head -n 1 "$tmp/out")"
	n=$((n + $(grep -c '^same ' "$tmp/out")))
}

it "kernels compute the same with probes"
n=0
for f in tests/ptx/nvcc-*.ptx tests/ptx/guards.ptx tests/ptx/operands.ptx tests/ptx/places.ptx; do
	unchanged "$f" memtime_hist
done
[ $n -ge 10 ] || no "only $n kernels ran"

it "text for which there is no memory is not put, nor what comes after it, and that is known"
run "$bin/fatbin" put
equal "$(cat "$tmp/out")" '3 pieces, 1009 14 done failed'

long || leave

# all kernels of tests/ptx with each of them: tests/world/ptx-same.t
it "… with each probe, pasted and called, in each scheme"
for f in tests/ptx/guards.ptx tests/ptx/operands.ptx; do
	n=0
	for how in memtime_trace memtime_stage 'memtime_hist --scheme fence' 'memtime_hist --scheme simple' \
		'memtime_trace --call-above 1'; do
		# shellcheck disable=SC2086 # words
		unchanged "$f" $how
	done
	[ $n -ge 5 ] || no "$f: only $n kernels ran"
done

# quadratic algorithms would take hours, as they would for the kernels above
it "a module with 66,509 sites, as many as there are in one of NVIDIA's, is instrumented"
{
	module '.visible .entry huge(.param .u64 p)' '{' '.reg .b32 %r<66601>; .reg .b64 %rd<2>;' 'ld.param.u64 %rd1, [p];'
	cat "$tmp/in.ptx"
	awk 'BEGIN { for (i = 1; i <= 66509; i++) print ".reg .b32 %a" i ";\n.loc 1 " i " 3\n.loc 2 " i " 5, function_name $L, inlined_at 1 " i " 3\n" \
		"ld.global.u32 %a" i ", [%rd1+" i * 4 "];\nst.global.u32 [%rd1], %a" i ";" }'
	echo 'ret; }'
} >"$tmp/huge.ptx"
run "$rw" $timed -v "$tmp/huge.ptx" "$tmp/new"
status 0
says 'done: 66509 sites, 1 kernels'
equal "$(grep -c 'call.uni __cuprobe_gpu_timed' "$tmp/new")" 66509
equal "$(grep -c 'lop3' "$tmp/new")" 66509
run "$rw" --sites "$tmp/huge.ptx"
equal "$(tail -n 1 "$tmp/out")" '66508 huge load global ld.global.u32 4 - 2:66509,1:66509'
