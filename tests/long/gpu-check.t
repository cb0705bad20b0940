# shellcheck shell=sh disable=SC2034,SC2154 # rc: the words'
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
lines 8 '^\| (runtime|driver) \| (session|multi|perf|totals) \| [0-9]+ '
equal "$(cat "$tmp/err")" ''

it "it leaves no process and no file, though it is stopped midway"
TMPDIR=$tmp/t scripts/gpu-check --sim >"$tmp/out" 2>"$tmp/err" & pid=$!
until_true grep -q 'attach multi' "$tmp/out"
kill $pid
wait $pid
until_true eval "! pgrep -f $tmp/t/ >/dev/null"
equal "$(ls "$tmp/t")" ''
