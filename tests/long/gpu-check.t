# shellcheck shell=sh disable=SC2034,SC2086,SC2154 # rc: the words'; $unprivileged is words
mkdir "$tmp/t"

it "gpu-check says that there is no GPU"
if [ -e /dev/nvidia0 ]; then
	skip "there is one"
else
	fails 3 'no GPU found (no /dev/nvidia0' scripts/gpu-check
fi

it "its claims hold on the simulated CUDA"
TMPDIR=$tmp/t timeout 300 scripts/gpu-check --sim >"$tmp/out" 2>"$tmp/err"
rc=$?
status 0
lines 1 '^[0-9]+ passed, 0 failed, [0-9]+ skipped$'
lines 0 '\*\*no\*\*'
lines 1 '^\| --attach inject \| 23 \+ 7 \| 23 \+ 7 \| yes \|$'
lines 8 '^\| (runtime|driver) \| (session|multi|perf|totals) \| [0-9]+ '
equal "$(cat "$tmp/err")" ''

it "they hold where BPF is not permitted, by --attach inject, but for those of processes that run already"
if [ "$(id -u)" -eq 0 ] && $unprivileged test -r "$lib/libcudart.so.13"; then
	mkdir -m 777 "$tmp/u"
	chmod 755 "$tmp"
	run $unprivileged env TMPDIR="$tmp/u" scripts/gpu-check --sim
	status 0
	lines 1 '^[0-9]+ passed, 0 failed, [0-9]+ skipped$'
	lines 1 '^BPF is not permitted here: '
	lines 1 '^\| --attach session \| - \| .*not permitted to trace: .* \| skipped \|$'
	lines 2 '^\| --attach (inject|auto) \| 23 \+ 7 \| 23 \+ 7 \| yes \|$'
	lines 1 '^\| shared runtime, --layer runtime \| 30 \| 30 \| yes \|$'
	lines 1 '^\| static runtime, --layer runtime \| 0 \| 0 \| yes \|$'
	lines 1 '^- h2d: cuMemcpyHtoD_v2 ×3 $'
	equal "$(ls "$tmp/u")" ''
else
	skip "not root, or $lib cannot be read by others"
fi

it "it leaves no process and no file, though it is stopped midway"
TMPDIR=$tmp/t scripts/gpu-check --sim >"$tmp/out" 2>"$tmp/err" & pid=$!
until_true grep -q 'attach multi' "$tmp/out"
kill $pid
wait $pid
until_true eval "! pgrep -f $tmp/t/ >/dev/null"
equal "$(ls "$tmp/t")" ''
