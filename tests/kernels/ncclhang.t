# shellcheck shell=sh disable=SC2154 # lib.sh's
SIM_NCCL_DIR=$tmp
export SIM_NCCL_DIR
chmod 777 "$tmp"	# the unprivileged user makes files there
# an emulated machine takes tenths of a second for the operations before
run ncclhang -w 2s --attach "$kind" -jc "$bin/nccl 2 init watchdog allreduce 23 5 mark sync late-until 1 $tmp/out allreduce 1 7 mark sync >/dev/null"
status 0
json 1 '.verdict == "behind" and .culprit and .rank == 1 and .number == 23 and .completion == "complete"'
json 1 '.verdict == "behind" and .number == 24 and .completion == "pending" and .wait == "cudaStreamSynchronize"'
json 2 true
silent
loads ncclhang -a
