# shellcheck shell=sh disable=SC2086,SC2154 # words; lib.sh's
run cudaleak --attach "$kind" -jc "$bin/deep 19 64"
status 0
json 1 '.count == 19 and .bytes == 1216 and ([.stack[].sym] | contains(["leak_1", "leak_10", "main"]))'
json 1 true
silent
run cudaleak --attach "$kind" --layer driver -Cjc "$bin/mem malloc 23 4096 free 7"
json 1 '.count == 16 and .bytes == 65536'
silent
if [ "$kind" != inject ]; then
	run cudaleak --attach "$kind" --tensors -jc "$bin/usdt segment 100000 malloc 23 1000 free 7"
	json 1 '.type == "segments" and .segment_bytes == 100000 and .tensor_bytes == 16000'
	silent
fi
for how in '-a -o 1' '-s 3' --folded; do
	loads cudaleak $how
done
