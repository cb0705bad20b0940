# shellcheck shell=sh disable=SC2086,SC2154 # words; lib.sh's
SIM_NCCL_DIR=$tmp
export SIM_NCCL_DIR
chmod 777 "$tmp"	# the unprivileged user makes files there
run ncclsnoop --attach "$kind" -jkc "$bin/nccl 2 init allreduce 23 5 ring 7 1 bcast 3 1 destroy >/dev/null"
status 0
json 46 '.func == "ncclAllReduce" and .size == 20 and .nranks == 2 and (.stack | map(.sym) | contains(["call"]))'
json 14 '.func == "ncclSend" and .grouped and .peer == 1 - .rank'
json 6 '.func == "ncclBcast"'
json 2 '.number == 40'
json 98 true
silent
run ncclsnoop --attach "$kind" -jc "$bin/nccl 1 init capture 5 1 allreduce 3 1 destroy >/dev/null"
json 5 .captured
for how in -x '-m 64k'; do
	loads ncclsnoop $how
done
