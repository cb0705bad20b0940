# shellcheck shell=sh disable=SC1091,SC2034,SC2086,SC2154 # rc, pid, tracer: the words'
# Kernels that are made while programs run, and are launched by the driver: their names, and how often.
. tests/clients.sh
export TRITON_CACHE_DIR="$tmp/triton"
here=tests/clients

# launches LAUNCHES KERNEL: one row of that kernel
launches() { json 1 ".kernel == \"$2\" and .launches == $1"; }

it "Triton: its kernel by the name that it has in Python"
if client pytorch; then
	export TRITON_LIBCUDA_PATH="$sim"
	run cudalaunchtop -qjc "$python -W ignore $here/triton_kernel.py >$tmp/said"
	status 0
	launches 7 twice_in_triton
	silent
else
	skip "$why_not"
fi

it "cuda-python: a kernel that NVRTC has compiled"
if client pytorch; then
	run cudalaunchtop -qjc "$python $here/cuda_python.py"
	status 0
	launches 11 from_nvrtc
	silent
	run cudamallocsnoop -qjc "$python $here/cuda_python.py"
	json 1 '.func == "cuMemAlloc_v2" and .size == 4096 and .layer == "driver"'
else
	skip "$why_not"
fi

it "Numba: its kernel without the tags that Numba adds"
if client numba; then
	run cudalaunchtop -qjc "$python -W ignore $here/numba_kernel.py"
	status 0
	launches 13 __main__::add_in_numba
	silent
	run cudamemcpysize -qjc "$python -W ignore $here/numba_kernel.py"
	json 1 '.direction == "HtoD" and .bytes == 8000 and .count == 1'
	json 1 true
else
	skip "$why_not"
fi

it "tinygrad: its kernels by the names that it gives them"
if client tinygrad; then
	# CUDA is a device to it, and a folder to the tests
	run env -u CUDA SIM_TRACE="$tmp/sim" cudalaunchtop -qjc "$python $here/tinygrad_sum.py"
	status 0
	kernels '.kind == "kernel"' >"$tmp/seen"
	registered "$tmp/sim" | diff - "$tmp/seen" >"$tmp/diff" || no "$(tr '\n' ';' <"$tmp/diff")"
	lines 2 '"kernel":"[Er]_[0-9_]*"'
	silent
else
	skip "$why_not"
fi

it "a tool says that tensors are not seen where an allocator has no probes: Numba's"
if client numba; then
	run cudaleak --tensors -qc "$python -W ignore $here/numba_kernel.py"
	says 'cudaleak: no USDT probes pytorch:malloc and pytorch:free found: tensors are not shown'
else
	skip "$why_not"
fi

it "llama.cpp: its kernel, with the way there through Python, its memory and its copies"
if client llama; then
	# without a graph each launch is one
	llama="env GGML_CUDA_DISABLE_GRAPHS=1 LD_LIBRARY_PATH=$sim:$sim/cuda12 $clients/llama/bin/python $here/llama_add.py 2>$tmp/said"
	run cudalaunchtop -qkjc "$llama"
	status 0
	# by the device's name or, if the program ends before that is paged in and read, the host's: "&(op_add(float, float))"
	json 1 '.launches == 7 and (.kernel | test("^k_bin_bcast<&.*op_add.*, float, float, float>$")) and
		(.stack | map(.sym) | contains(["ggml_backend_cuda_graph_compute(ggml_backend*, ggml_cgraph*)", "<module>"]))'
	json 1 true
	silent
	# it captures and updates a graph for each, as for each token
	run cudalaunchtop -qjc "env LD_LIBRARY_PATH=$sim:$sim/cuda12 $clients/llama/bin/python $here/llama_add.py 2>$tmp/said"
	status 0
	json 1 '.launches == 7 and .replayed == 7 and (.kernel | test("op_add"))'
	json 1 true
	silent
	run cudamemcpysize -qjc "$llama"
	json 1 '.direction == "HtoD" and .count == 2 and .bytes == 8000'
	run cudaleak -qjc "$llama"
	json 1 '.bytes == 12288 and .count == 1 and (.stack | map(.sym) | contains(["ggml_backend_alloc_ctx_tensors_from_buft"]))'
	json 1 true
else
	skip "$why_not"
fi

it "CuPy: the runtime that is linked into it asks the driver for tables that no manual has"
if client cupy; then
	run cudatrace -qx --layer driver -e all -c "$python -c 'import cupy; cupy.zeros(3)'"
	grep -q ' cuGetExportTable.* = CUDA_ERROR_NOT_SUPPORTED' "$tmp/out" || no "it asks for none"
else
	skip "$why_not"
fi
