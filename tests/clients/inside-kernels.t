# shellcheck shell=sh disable=SC1091,SC2086,SC2154 # python, sim, rc: the words'
# Real programs under the tools that measure inside kernels.  The simulated driver runs no machine code, so
# Triton's kernels are seen to be assembled with probes, and loaded so, but not measured.
. tests/clients.sh
export TRITON_CACHE_DIR="$tmp/triton"
unset SIM_KERNELS

# cubins: those in Triton's cache, those that have probes
cubins() {
	all=$(find "$TRITON_CACHE_DIR" -name '*.cubin' | wc -l)
	with=$(find "$TRITON_CACHE_DIR" -name '*.cubin' -exec grep -lF __cuprobe_sites_ {} + | wc -l)
	echo "$all $with"
}

# triton TOOL...: its program; the library stays loaded beside the simulated runtime
triton() {
	run "$@" -jc "env LD_PRELOAD=$sim/libcudart.so.13:$O/libcudagpuprobe.so LD_LIBRARY_PATH=$sim \
		$clients/pytorch/bin/python -W ignore tests/clients/triton_kernel.py >$tmp/said"
	status 0
}

it "Triton: its own ptxas assembles a kernel with the probe, and the library knows it"
if client pytorch; then
	export TRITON_LIBCUDA_PATH="$sim"
	triton cudamemtime
	json 1 '.type == "images" and .status == "rewritten_before" and .kernels == 1'
	equal "$(cubins)" '1 1'

	it "Triton: its cache has a kernel for each probe, and one without"
	triton cudamemtime
	equal "$(cubins)" '1 1'
	triton cudakerneltime
	equal "$(cubins)" '2 2'
	run $python -W ignore tests/clients/triton_kernel.py
	status 0
	equal "$(cubins)" '3 2'
else
	skip "$why_not"
fi
