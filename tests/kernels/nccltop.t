# shellcheck shell=sh disable=SC2154 # lib.sh's
SIM_NCCL_DIR=$tmp
export SIM_NCCL_DIR
chmod 777 "$tmp"	# the unprivileged user makes files there
run nccltop --attach "$kind" -jc "$bin/nccl 2 init allreduce 23 5 ring 7 1 destroy >/dev/null"
status 0
json 2 '.total == 37 and .nranks == 2 and .behind == 0'
equal "$(jq -s 'map(.came_last) | add' "$tmp/out")" 23
silent
loads nccltop -b
