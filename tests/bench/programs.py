# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What tools cost real programs: the CPU time of an operation of PyTorch, and of a C++ program whose code and data do not stay in
caches.  All tools take turns, in an order that changes, on the same process; those that run a command with --attach inject have a
process each.  What is compared is within a round.  With the resident library a tool adds less than a process differs from one
second to the next: there two processes take turns in short slices, one of them under the tool, then the other one."""
import functools
import glob
import os
import random
import shutil
import statistics
import subprocess
import time

from clients import PYTHON, SIM
from lib import O, QUICK, TMP, Tracer, spread

ROUNDS, SLICE_MS = (2, 100) if QUICK else (5, 2000)
PAIRS, PAIR_MS = (2, 20) if QUICK else (150, 40)
SETTLE_S = .2 if QUICK else 3		# while it works: cudalaunchtop's probes of the runtime go, budgets are spent
WORDS = {'launch': 'a launch', 'item': 'item()', 'alloc': 'an allocation and a free'}
EMPTY = {'launch': ['cudaLaunchKernel:entry'], 'item': ['cudaMemcpyAsync:entry', 'cudaMemcpy:entry'],
         'alloc': ['cudaMalloc:entry', 'cudaFree:entry']}
EXPORTER = ['cudaexporter', '--web.listen-address', '127.0.0.1:0']
TOOLS = {
    'launch': [['cudalaunchtop', '-b'], ['cudalaunchtop', '-b', '-x'], ['cudalaunchtop', '-b', '-k'], ['cudatrace', '-S'],
               [*EXPORTER, '--max-overhead', 'off'], EXPORTER, ['cudatop', '-b', '--max-overhead', 'off'], ['cudatop', '-b'],
               ['cudaleak'], ['cudamemcpysize'], ['cudasynclatency']],
    'item': [['cudasynclatency'], ['cudamemcpysize'], ['cudatrace', '-S'], [*EXPORTER, '--max-overhead', 'off'], EXPORTER],
    'alloc': [['cudaleak', '-C'], ['cudaleak'], ['cudamallocsnoop'], [*EXPORTER, '--max-overhead', 'off'], EXPORTER],
}
RESIDENT = {'launch': [['cudalaunchtop', '-b'], ['cudatrace', '-S'], EXPORTER], 'item': [EXPORTER], 'alloc': [['cudaleak', '-C'], EXPORTER]}
LIBRARY = {'LD_AUDIT': f'{os.path.abspath(O)}/inject/resident.so'}
INJECTED = {'launch': [['cudalaunchtop', '-b'], ['cudatrace', '-S']], 'item': [['cudasynclatency']], 'alloc': [['cudaleak', '-C']]}


class Program:
    """One that works when it is asked; prefix: the words of a tool that runs it."""

    def __init__(self, argv, environ, prefix=()):
        fifo = f'{TMP}/fifo'
        os.mkfifo(fifo)
        self.process = subprocess.Popen([*prefix, *argv, fifo], env=environ, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.answers = open(fifo, encoding='ascii')
        os.unlink(fifo)
        self.answers.readline()
        self.pid = self.process.pid

    def work(self, word, ms):
        """CPU time of an operation, ns."""
        self.process.stdin.write(f'{word} {ms}\n')
        self.process.stdin.flush()
        n, cpu = self.answers.readline().split()
        return int(cpu) / int(n)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


@functools.cache
def pytorch():
    """The program's words, its environment, the files that it maps."""
    if not os.path.exists(PYTHON) or not glob.glob(f'{SIM}/libcudart.so.13'):
        return None
    where = f'{TMP}/torch'
    shutil.copytree(SIM, where, ignore=lambda d, names: [n for n in names if '.so' not in n])
    environ = dict(os.environ, LD_PRELOAD=f'{where}/libcudart.so.13', LD_LIBRARY_PATH=where, PYTORCH_NO_CUDA_MEMORY_CACHING='1')
    return [PYTHON, 'tests/bench/program_torch.py', where], environ, f'{where}/libcudart.so.13,{where}/libcuda.so.1'


def native():
    where = f'{TMP}/native'
    os.mkdir(where)
    for name in ('libcuda.so.1', 'libcudart.so.13'):
        shutil.copy(f'{O}/tests/lib/{name}', where)
    return [f'{O}/bench/program', where], dict(os.environ), f'{where}/libcudart.so.13,{where}/libcuda.so.1'


def traced(program, tracer_argv, word):
    """What an operation takes under it, once that has settled."""
    tracer = Tracer(tracer_argv)
    program.work(word, int(SETTLE_S * 1000))
    ns = program.work(word, SLICE_MS)
    tracer.kill()
    return ns


def configurations(program, resident, files, word):
    """Programs and argument lists by name; None: nothing."""
    all_of = {'alone': (program, None), 'the resident library': (resident, None),
              'an empty uprobe': (program, ['probe', 'empty', 'session', str(program.pid), files, *EMPTY[word]])}
    for argv in TOOLS[word]:
        all_of[name_of(argv)] = (program, [*argv, '-p', str(program.pid)])
    return all_of


def name_of(argv):
    return ' '.join(word for word in argv if word not in ('-b', *EXPORTER[1:]))


def measure(made, word):
    """ns of an operation by name, a list over the rounds."""
    argv, environ, files = made
    program, resident = Program(argv, environ), Program(argv, environ | LIBRARY)
    injected = {f'{name_of(tool)}, inject': Program(argv, environ, [f'{O}/{tool[0]}', *tool[1:], '--attach', 'inject', '--'])
                for tool in INJECTED[word]}
    ns = {}
    for _ in range(ROUNDS):
        names = [*configurations(program, resident, files, word).items(), *injected.items()]
        random.shuffle(names)
        for name, what in names:
            if isinstance(what, Program):
                what.work(word, SLICE_MS // 3)
                value = what.work(word, SLICE_MS)
            else:
                value = traced(*what, word) if what[1] else what[0].work(word, SLICE_MS)
            ns.setdefault(name, []).append(value)
    for each in (program, resident, *injected.values()):
        each.end()
    return ns


def adds(made, argv, word):
    """What a tool with the resident library adds to an operation, ns: of either process."""
    program, environ, _ = made
    pair = [Program(program, environ | LIBRARY) for _ in range(2)]
    for under, alone in (pair, pair[::-1]):
        tracer = Tracer([*argv, '--attach', 'inject', '-p', str(under.pid)])
        under.work(word, int(SETTLE_S * 1000))
        yield statistics.median([under.work(word, PAIR_MS) - alone.work(word, PAIR_MS) for _ in range(PAIRS)])
        tracer.kill()
    for each in pair:
        each.end()


def rows(ns):
    alone, empty = ns['alone'], ns['an empty uprobe']
    for name, values in ns.items():
        more = [a - b for a, b in zip(values, alone)]
        to_empty = [m / max(e - a, 1) for m, e, a in zip(more, empty, alone)]
        yield (name, f'{statistics.median(values) / 1e3:.2f}', f'{spread(more)[0] / 1e3:+.2f}',
               f'{statistics.median([a / b for a, b in zip(values, alone)]):.2f}',
               '' if name == 'alone' else f'{statistics.median(to_empty):.1f}')


def run(report, goals):
    report.say('## What tools cost real programs\n')
    report.say(f"""Microseconds of CPU time of an operation, medians of {ROUNDS} rounds of {SLICE_MS} ms, each after {SETTLE_S} s under the
tool; what is added, the ratio to the same program alone in the same round, and what is added in relation to that of an empty
uprobe at the entry of the runtime's function.\n""")
    for title, make in (('PyTorch', pytorch), ('C++', native)):
        made = make()
        for word, what in WORDS.items():
            report.say(f'### {title}, {what}\n')
            if not made:
                report.say('Not measured: PyTorch is not installed. `make check-clients` does that.\n')
                continue
            ns = measure(made, word)
            report.table(['under', 'us', 'added', '/ alone', '/ empty'], sorted(rows(ns), key=lambda r: float(r[1])))
            added = {name_of(argv): list(adds(made, argv, word)) for argv in RESIDENT[word]}
            report.say('With the resident library, nanoseconds:\n')
            report.table(['under', 'added', 'to one process', 'to the other'],
                         [(name, f'{statistics.mean(two):.0f}', *(f'{ns:.0f}' for ns in two)) for name, two in added.items()])
            add_goals(goals, title, word, ns, added)


def add_goals(goals, title, word, ns, added):
    """The exporter's budget is 1 % of a core; the rest is what its traps leave behind in caches."""
    name = name_of(EXPORTER)
    if word == 'launch':
        goals.add(f'{title}, {WORDS[word]}: under {name} with its budget, to alone', 1.02,
                  statistics.median([a / b for a, b in zip(ns[name], ns['alone'])]))
        goals.add(f'{title}, {WORDS[word]}: {name} with the resident library adds', 100, statistics.mean(added[name]), ' ns')
