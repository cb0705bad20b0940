# shellcheck shell=sh disable=SC1091,SC2034,SC2086,SC2154 # words; the words'
# Problems of public reports, as somebody who has the symptom meets them: what cudatop's hint names shows the line.
# tests/workloads/reported.cu and tests/clients/reported.py have the reports.
. tests/clients.sh
kernels_=5	# seconds that cudatop looks

# begin CASE COMMAND...: in the background; $CASE is its PID
begin() {
	"$@" >"$tmp/$1.ready" 2>&1 9>&- &
}

# problem CASE VARIABLE=VALUE... PROGRAM: starts it; its PID is in $pid_CASE
problem() {
	case_=$1
	shift
	env "$@" >"$tmp/said.$case_" 2>&1 9>&- &
	eval "pid_$case_=$!"
	pids="$pids $!" all="${all:-}${all:+,}$!"
}

# screen_of_all: what cudatop says of all that were started, in $tmp/screen
screen_of_all() { cudatop -qj -p "$all" 1 5 >"$tmp/screen"; all=''; }

# leads CASE HINT EVIDENCE LINE: its first hint in the last second, what it says, and a line that the command it names prints
leads() {
	eval "pid=\$pid_$1"
	jq -c "select(.type == \"process\" and .pid == $pid)" "$tmp/screen" | tail -n 1 >"$tmp/row"
	equal "$(jq -r .hint "$tmp/row")" "$2"
	jq -r .hint_evidence "$tmp/row" | grep -qE -- "$3" || no "evidence: $(jq -r .hint_evidence "$tmp/row")"
	command=$(jq -r .hint_command "$tmp/row")
	case $command in
	cudaleak*) words='1 3' ;;
	*) words='-d 3' ;;
	esac
	run $command $words
	grep -qE -- "$4" "$tmp/out" || no "$command: no line with $4"
	kill "$pid"
}
