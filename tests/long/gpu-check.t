# shellcheck shell=sh disable=SC2034,SC2086,SC2154 # rc: the words'; $unprivileged is words
# scripts/gpu-check in a root that has the folder of scripts/gpu-pack, the simulated CUDA and a few commands only: no
# compiler, no libbpf, none of this tree.
pack=$tmp/root/pack

# bare: that root
bare() {
	mkdir -p "$tmp/root/dev" "$tmp/root/proc" "$tmp/root/sys" "$tmp/root/tmp" "$tmp/root/nvidia" "$tmp/root/usr/bin"
	for c in awk basename cat chmod cp cut date dirname env grep gzip head id ls mkdir mkfifo mktemp nproc paste python3 readlink rm \
		sed seq setpriv sh sleep sort tail tar timeout touch tr true uname uniq wc xargs; do
		file=$(command -v "$c")
		case $file in /*) ;; *) file=$(PATH=/usr/bin:/bin command -p which "$c") ;; esac
		cp -L "$file" "$tmp/root/usr/bin/$c"
		echo "$file"
	done >"$tmp/copied"
	# what these need, and the simulated CUDA and the programs for it
	# shellcheck disable=SC2046 # a list of files
	ldd $(cat "$tmp/copied") "$lib"/*.so* "$bin/inside" "$bin/leaky" 2>/dev/null |
		sed -n 's/^	\(.* => \)*\(\/[^ ]*\) (0x.*/\2/p' | grep -v "^$O" | sort -u >"$tmp/needed"
	while read -r file; do
		mkdir -p "$tmp/root${file%/*}"
		cp -L "$file" "$tmp/root$file"
	done <"$tmp/needed"
	ln -s usr/bin "$tmp/root/bin"
	stdlib=$(python3 -c 'import os; print(os.path.dirname(os.__file__))')
	mkdir -p "$tmp/root$stdlib"
	cp -r "$stdlib/encodings" "$stdlib"/*.py "$stdlib/collections" "$stdlib/lib-dynload" "$tmp/root$stdlib"
	cp "$lib"/*.so* "$tmp/root/nvidia"
	scripts/gpu-pack --sim "$pack" >"$tmp/said"
}

# there COMMAND: in it, in a mount namespace of its own; $hidden: a folder of /sys that is empty there
hidden=
cat >"$tmp/enter" <<'END'
mount --bind "$1" "$1" && cd "$1" && mount --rbind /dev dev && mount -t proc proc proc && mount -t sysfs sysfs sys &&
	mount -t bpf bpf sys/fs/bpf && mount -t tracefs tracefs sys/kernel/tracing || exit
[ -z "$3" ] || mount -t tmpfs none "sys/$3" || exit
exec chroot . env -i PATH=/usr/bin LD_LIBRARY_PATH=/nvidia LC_ALL=C.UTF-8 sh -c "cd / && $2"
END
there() {
	unshare -m sh "$tmp/enter" "$tmp/root" "$1" "$hidden" </dev/null >"$tmp/out" 2>"$tmp/err"
	rc=$?
}

# nothing_left: in the root, but the results
nothing_left() {
	equal "$(ls "$tmp/root/tmp")" ''
	equal "$(find "$pack" -newer "$tmp/begin" -type f | sed "s|$pack/||" | sort | paste -sd' ')" 'results/log results/results.tsv'
}

it "gpu-pack makes a folder of 48 MiB at most"
if [ "$(id -u)" -ne 0 ] || [ ! -e "$O/static/inject/resident.so" ] || [ ! -e "$bin/inside" ]; then
	skip "not root, or no make static, or no nvcc"
	verdict
	leave
fi
bare
[ "$(sed -n 's/.*: \([0-9]*\) KiB$/\1/p' "$tmp/said")" -le 49152 ] || no "$(cat "$tmp/said")"

it "gpu-check says that there is no GPU"
if [ -e /dev/nvidia0 ]; then
	skip "there is one"
else
	fails 3 'no GPU found (no /dev/nvidia0' "$pack/gpu-check"
fi

it "each part runs from the folder alone, and none passes for what only a GPU can show"
touch "$tmp/begin"
there '/pack/gpu-check --sim'
status 0
lines 1 '^0 yes, [0-9]+ simulated, 0 measured, 0 no, [0-9]+ skipped, [0-9]+ open$'
lines 0 '^(yes|measured|no) '
lines 1 '^simulated +--attach inject: allocations \+ frees: expected 23 \+ 7, measured 23 \+ 7$'
lines 8 '^open +ns of a call, (runtime|driver), (session|multi|perf|totals): '
equal "$(grep -c '^end' "$pack/results/results.tsv")" "$(find scripts/gpu -name '[0-9]*.sh' | wc -l)"
equal "$(cat "$tmp/err")" ''
nothing_left

it "what has ended is not run again, and a part that is named can be"
there '/pack/gpu-check --sim'
lines 0 '^== '
there '/pack/gpu-check --sim --again copies'
lines 1 '^== '
lines 1 '^== copies: '
equal "$(grep -c '^end	copies	' "$pack/results/results.tsv")" 1

it "where BPF is not permitted, programs are traced with --attach inject"
rm -r "$pack/results"
there 'setpriv --no-new-privs --inh-caps=-all --bounding-set=-all /pack/gpu-check --sim attach graphs gputime copies images processes leaks cost'
status 0
lines 0 '^no '
lines 1 '^skipped +--attach session: .*not permitted'
lines 2 '^simulated +--attach (inject|auto): allocations \+ frees: expected 23 \+ 7, measured 23 \+ 7$'
lines 1 '^simulated +--layer driver: HtoD, .*measured 23 7 11 5$'
lines 1 '^skipped +cost of a probed call: '
nothing_left

it "so where the kernel has no BTF"
rm -r "$pack/results"
hidden=kernel/btf there '/pack/gpu-check --sim attach images'
status 0
lines 0 '^no '
lines 1 '^skipped +--attach session: .*no kernel type information'
lines 2 '^simulated +--attach (inject|auto): allocations \+ frees: expected 23 \+ 7, measured 23 \+ 7$'
lines 4 '^simulated +cuda[a-z]*, inside: images measured; '

it "a part that is stopped leaves no process and no file, and is run again"
rm -r "$pack/results"
TMPDIR=$tmp/root/tmp LD_LIBRARY_PATH=$lib "$pack/gpu-check" --sim attach >"$tmp/out" 2>"$tmp/err" & pid=$!
until_true grep -q 'attach session' "$tmp/out"
kill $pid
wait $pid
until_true eval "! pgrep -f $tmp/root/tmp/ >/dev/null"
equal "$(ls "$tmp/root/tmp")" ''
equal "$(grep -c '^end' "$pack/results/results.tsv")" 0

it "what differs from the simulation is listed with the file that believes otherwise"
printf 'machine\tGPU\tB200\nmachine\tdriver\t600.1\nrow\tclocks\t13\tthe step\tat most 1024\t2048\tno\tgpu/kerneltime.gpu.c\nrow\tattach\t1\truns\t1\t1\tyes\t-\n' >"$tmp/tsv"
run scripts/gpu-report "$tmp/tsv"
status 0
# shellcheck disable=SC2016 # Markdown
lines 1 '^\| B200 \| the step \| at most 1024 \| 2048 \| `gpu/kerneltime.gpu.c` \|$'
lines 1 '^\| What is the step of .* \| the step: 2048 \(\*\*no\*\*\) \|'
lines 13 '^\| .* \| open \| '
lines 1 '^## B200, driver 600.1, '

it "docs/gpu-results.md is what gpu-report writes, and each part names an existing file of the simulation"
sed -n 's/^believes=//p' scripts/gpu/[0-9]*.sh | sort -u >"$tmp/believers"
while read -r file; do
	[ -e "$file" ] || no "there is no $file"
done <"$tmp/believers"
equal "$(cat scripts/gpu/[0-9]*.sh | grep -oE '(^|	)q [0-9]+' | tr -dc '0-9\n' | sort -nu | paste -sd' ')" "$(seq -s ' ' 15)"
if grep -q '^\*\*No results yet' docs/gpu-results.md; then
	scripts/gpu-report | cmp -s - docs/gpu-results.md || no "run scripts/gpu-report >docs/gpu-results.md"
fi
