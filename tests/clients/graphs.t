# shellcheck shell=sh disable=SC1091,SC2034,SC2086,SC2154 # rc, pid, tracer: the words'
# CUDA graphs by PyTorch, against its program's own arithmetic: tests/clients/graphs.py
. tests/clients.sh

# did WORD...: what cudalaunchtop has is what the program says, on a line of its own
did() {
	run cudalaunchtop $attach -qjfc "$python tests/clients/graphs.py $*"
	status 0
	silent
	for op in add:CUDAFunctorOnSelf_add mul:MulFunctor; do
		sum "$(jq "select(.replayed and .add).${op%:*}" "$tmp/out")" \
			"select(.type == \"launches\" and (.kernel | test(\"${op#*:}\"))).launches"
	done
	sum "$(jq 'select(.add).replayed' "$tmp/out")" 'select(.type == "launches").replayed'
	json 0 '.kind == "graph"'
}

if ! client pytorch; then
	it "PyTorch's graphs"
	skip "$why_not"
	return
fi
# not with a space, which has it run by nobody, who may not read PyTorch
for attach in '' --attach=inject; do
	it "${attach:-by probes}: graphs by PyTorch, beside eager calls"
	did eager
	it "${attach:-by probes}: 50 graphs of a server, replayed in random order"
	did sizes
	it "${attach:-by probes}: a graph of two streams, graphs of threads, graphs that are captured anew"
	did streams threads twice
	it "${attach:-by probes}: make_graphed_callables()"
	did callable
	it "${attach:-by probes}: cudamemcpysize counts the copies of a graph at each launch"
	run cudamemcpysize $attach -qjc "$python tests/clients/graphs.py copies"
	status 0
	json 1 '.type == "copies" and .direction == "HtoD" and .async and .count >= 12 and .replayed == 11 and .bytes >= 12288'
	json 1 '.type == "copies" and .direction == "DtoD" and .async and .replayed == 11 and .bytes >= 11264'
	it "${attach:-by probes}: --graphs has the line of Python that captured a graph"
	run cudalaunchtop --graphs $attach -qjc "$python tests/clients/graphs.py eager"
	json 1 '.type == "graph" and .known and .launches == 7 and .kernels == 4 and any(.stack[]; .sym == "capture")'
	json 1 '.type == "graph" and .known and .launches == 11 and .kernels == 2 and any(.stack[]; .sym == "do_eager")'
done
