# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""To start on a real program: PyTorch, whose libraries have half a gigabyte of code and 800,000 symbols, with 60 threads."""
import glob
import os
import statistics
import subprocess
import time

from lib import O, QUICK, Tracer

TOOLS = ['cudamallocsnoop', 'cudaleak', 'cudamemcpysize', 'cudasynclatency', 'cudalaunchtop', 'cudatrace', 'cudaexporter']
TIMES = 2 if QUICK else 9
CACHE = os.environ.get('CLIENTS_CACHE') or os.path.join(os.environ.get('XDG_CACHE_HOME') or '/var/cache',
                                                        'cuda-bpf-tools/clients')
SIM = f'{O}/tests/clients'
PYTHON = f'{CACHE}/pytorch/bin/python'
PROGRAM = [PYTHON, 'tests/clients/pytorch.py']
OPTIONS = {'cudaexporter': ['--web.listen-address', '127.0.0.1:0']}
ENVIRON = dict(os.environ, LD_PRELOAD=f'{SIM}/libcudart.so.13', LD_LIBRARY_PATH=SIM)


def median_ms(times):
    return statistics.median(times) * 1e3


def cpu_of(pid):
    """Seconds, of all its threads."""
    return time.clock_gettime(~pid << 3 | 2)	# as clock_getcpuclockid(3)


def attach(report, goals):
    with subprocess.Popen([*PROGRAM, 'tensors', 'threads', 'wait'], env=ENVIRON, text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        rows = []
        for tool in TOOLS:
            started, ran, delayed = [], [], []
            for _ in range(TIMES):
                before = cpu_of(program.pid)
                tracer = Tracer([tool, *OPTIONS.get(tool, []), '-p', str(program.pid)])
                delayed.append(cpu_of(program.pid) - before)
                started.append(tracer.started)
                ran.append(tracer.ran())
                tracer.kill()
            rows.append((tool, f'{median_ms(started):.0f}', f'{min(started) * 1e3:.0f}', f'{median_ms(ran):.0f}',
                         f'{median_ms(delayed):.1f}'))
            goals.add(f'{tool} -p of PyTorch: start to tracing', 500, median_ms(started), ' ms')
            goals.add("... CPU time of the program's threads", 100, max(delayed) * 1e3, ' ms')
        program.stdin.close()
        program.stdout.read()
    report.say(f'''Milliseconds from the start of a tool with -p to its line that says that it traces, of {TIMES}; the CPU time that
the tool, and the threads of the program, which wait, have used until then: medians.\n''')
    report.table(['tool', 'median', 'least', 'CPU', 'of the program'], rows)


def seconds(argv):
    began = time.monotonic()
    subprocess.run(argv, env=ENVIRON, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def command(report):
    """In turns: the same program alone, and as the command of a tool."""
    program = [*PROGRAM, 'tensors']
    alone, traced = [], []
    for _ in range(TIMES):
        alone.append(seconds(program))
        traced.append(seconds([f'{O}/cudaleak', '-q', '--', *program]))
    report.say(f'To import PyTorch and make 16 tensors takes {median_ms(alone):.0f} ms; as the command of cudaleak '
               f'{median_ms(traced):.0f}: medians of {TIMES}, in turns.\n')


def run(report, goals):
    report.say('## To start on PyTorch\n')
    if not os.path.exists(PYTHON) or not glob.glob(f'{SIM}/libcudart.so.13'):
        report.say('Not measured: PyTorch is not installed. `make check-clients` does that.\n')
        return
    attach(report, goals)
    command(report)
