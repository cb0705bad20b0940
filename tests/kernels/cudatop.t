# shellcheck shell=sh disable=SC2154 # lib.sh's
run cudatop --attach "$kind" -jc "$bin/mem malloc 23 4096 launch 13 copy 19 1000 d2h sync 5 fail 3"
status 0
json 1 '.launches == 13 and .copies == 19 and .dtoh == 19000 and .errors == 3 and .devices == [0] and .comm == "mem"'
json 1 true
silent
loads cudatop -b
