# shellcheck shell=sh disable=SC1091,SC2034,SC2086,SC2154 # rc: the words'
# cudalaunchtop --gpu-time of PyTorch, on the simulated CUPTI: NVIDIA's needs a GPU.
. tests/clients.sh

it "PyTorch: each kernel runs on the GPU as often as it was launched, also in a graph"
if ! client pytorch; then
	skip "$why_not"
	return
fi
torch="env LD_PRELOAD=$sim/libcudart.so.13:$lib/libcupti.so.13 LD_LIBRARY_PATH=$sim $clients/pytorch/bin/python tests/clients/pytorch.py"
export SIM_KERNEL_NS=1000
run cudalaunchtop --gpu-time --graph-nodes -qjc "$torch elementwise foreach reduce autograd optimizer graphs end >$tmp/truth"
status 0
silent
json 0 '.kind == "kernel" and (.gpu_runs != .launches or .gpu_ns != 1000 * .launches)'
n=$(jq -s 'map(select(.kind == "kernel")) | length' "$tmp/out")
[ "$n" -ge 10 ] || no "$n kernels"
json 2 '.replayed > 0'

it "PyTorch: a graph as a whole"
run cudalaunchtop --gpu-time -qjc "$torch elementwise graphs end >$tmp/truth"
status 0
silent
json 1 '.kind == "graph" and .gpu_runs == 5'
json 0 '.kind == "kernel" and .replayed == 0 and .gpu_runs != .launches'

it "PyTorch: each run on the GPU has the Python line that launched it"
run cudalaunchtop --gpu-time --graph-nodes -kqjc "$torch elementwise foreach reduce autograd optimizer graphs end >$tmp/truth"
status 0
json 0 '.gpu_runs != .launches and .gpu_runs != null'
# the backward pass is launched by a thread of PyTorch's own
json 0 '.gpu_runs > 0 and (.stack == null or (.stack | any(.kind == "python" or (.sym // "" | test("autograd::Engine"))) | not))'
# without native frames, what that thread launches has no stack, and is not lost
cp "$tmp/err" "$tmp/first"
run cudalaunchtop --gpu-time -qk --stack python -jc "$torch autograd end >$tmp/truth"
json 0 '.gpu_runs != .launches'
cat "$tmp/first" >>"$tmp/err"
[ ! -s "$tmp/err" ] || grep -v 'call stacks are incomplete' "$tmp/err" >"$tmp/said"
[ ! -s "$tmp/said" ] || no "it says: $(cat "$tmp/said")"
