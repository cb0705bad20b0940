# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What probes inside kernels cost: to rewrite PTX, what the image grows by, to start a program; and on the interpreter of
tests/sim, how long kernels take in its model's time, and how fast it runs them."""
import csv
import glob
import json
import os
import re
import statistics
import subprocess
import time

from lib import O, QUICK, TMP

CUDA = os.environ.get('CUDA', '/usr/local/cuda')
PTXAS = f'{CUDA}/bin/ptxas'
ARCH = 'sm_75'
KERNELS = (1, 4) if QUICK else (1, 16, 256)
SITES = 32				# of a generated kernel
ROUNDS = 3 if QUICK else 15
SCHEMES = ('simple', 'fence', 'paper', 'dep')
PROBES = {'memtime_hist': 'histograms', 'memtime_trace': 'records', 'memtime_stage': 'staged records',
          'kerneltime': 'cudakerneltime', 'cudacoalesce': 'cudacoalesce', 'cudabounds': 'cudabounds'}
TOOLS = (['cudamemtime'], ['cudakerneltime'], ['cudacoalesce'], ['cudabounds'])
PTX, SIZE = 'tests/ptx/timed.ptx', ('2', '40', '128', '5003')
SIM = {**os.environ, 'SIM_KERNELS': '1'}


def generated(kernels):
    """PTX with so many kernels of SITES loads each."""
    text = '.version 6.4\n.target sm_70\n.address_size 64\n'
    loads = ''.join(f'\tld.global.f32 %f1, [%rd2+{4 * i}];\n\tadd.f32 %f2, %f2, %f1;\n' for i in range(SITES))
    for k in range(kernels):
        text += (f'.visible .entry kernel_{k}(.param .u64 p)\n{{\n\t.reg .f32 %f<3>;\n\t.reg .b64 %rd<3>;\n'
                 f'\tld.param.u64 %rd1, [p];\n\tcvta.to.global.u64 %rd2, %rd1;\n\tmov.f32 %f2, 0f00000000;\n{loads}'
                 '\tst.global.f32 [%rd2], %f2;\n\tret;\n}\n')
    path = f'{TMP}/generated-{kernels}.ptx'
    with open(path, 'w', encoding='ascii') as f:
        f.write(text)
    return path


def rewrite(path, probe, scheme='dep'):
    """Sites, bytes before and after, and the least seconds of five; None if it has no sites."""
    out, found = f'{TMP}/out.ptx', []
    for _ in range(1 if QUICK else 5):
        done = subprocess.run([f'{O}/tests/bin/ptxrw', '-v', '--probe', f'{O}/{probe}.ptx', '--scheme', scheme,
                               '--max-sites', '1000000', path, out], capture_output=True, text=True, check=False)
        said = re.search(r'done: (\d+) sites, \d+ kernels, (\d+) -> (\d+) bytes, ([\d.]+) s', done.stderr)
        if not said:
            return None
        found.append([float(word) for word in said.groups()])
    return min(found, key=lambda row: row[3])


def cubin(path):
    """The bytes that ptxas makes of it; None without ptxas, or if it refuses."""
    out = f'{TMP}/out.cubin'
    if not os.path.exists(PTXAS) or subprocess.run([PTXAS, f'-arch={ARCH}', path, '-o', out], stderr=subprocess.DEVNULL,
                                                   check=False).returncode:
        return None
    return os.path.getsize(out)


def rewriting(report):
    report.say(f"""Time of a rewrite is the least of five, on one CPU. `tests/ptx` is what nvcc made of our own kernels. Machine
code is that of ptxas for {ARCH}, with the probe and its rooms.\n""")
    rows = []
    ours = [path for path in glob.glob('tests/ptx/*.ptx') if os.path.basename(path).startswith(('nvcc-', 'timed'))]
    for name, paths in [(f'{n} kernels of {SITES} loads', [generated(n)]) for n in KERNELS] + [('tests/ptx', ours)]:
        for probe, what in PROBES.items():
            total, before, after = [0.0] * 4, 0, 0
            for path in sorted(paths):
                found = rewrite(path, probe)
                if not found:
                    continue
                total = [a + b for a, b in zip(total, found)]
                if name == 'tests/ptx' or found[0] <= 1000:
                    one, two = cubin(path), cubin(f'{TMP}/out.ptx')
                    before, after = before + (one or 0), after + (two or 0)
            sites, size, grown, seconds = total
            if sites:
                rows.append((name, what, f'{sites:,.0f}', f'{seconds * 1e6 / sites:.1f}', f'{size / 1024:,.0f}',
                             f'{grown / 1024:,.0f}', f'{(grown - size) / sites:,.0f}',
                             f'{before / 1024:,.0f} to {after / 1024:,.0f}' if before and after else '-'))
    report.table(['PTX', 'probe', 'sites', 'ms per 1,000', 'KiB', 'rewritten', 'bytes a site', 'machine code, KiB'], rows)


def command(kernel, *size):
    return [f'{O}/tests/bin/timed', PTX, kernel, *(size or SIZE)]


def seconds(argv):
    start = time.monotonic()
    subprocess.run(argv, env=SIM, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def starting(report):
    report.say(f"""A program with one image and one block, from start to exit: medians of {ROUNDS} rounds in turns, quartiles in
brackets. The kernel is next to nothing, so that this is the tool, its library and the rewriting.\n""")
    program = command('scale', '1', '1', '32', '1')
    cases = {'none': program}
    cases.update({' '.join(tool): [f'{O}/{tool[0]}', *tool[1:], '-q', '-o', '/dev/null', '--', *program] for tool in TOOLS})
    taken = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, argv in cases.items():
            taken[name].append(seconds(argv) * 1000)
    rows = []
    for name, values in taken.items():
        low, _, high = statistics.quantiles(values, n=4, method='inclusive')
        rows.append((name, f'{statistics.median(values):.1f} [{low:.1f} {high:.1f}]'))
    report.table(['tool', 'ms'], rows)


def measured(tool, *options, kernel='scale'):
    """The rows that a tool prints of the program."""
    out = f'{TMP}/rows'
    subprocess.run([f'{O}/{tool}', '-jqo', out, *options, '--', *command(kernel)], env=SIM, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out, encoding='utf-8') as f:
        return [json.loads(line) for line in f]


def warps(*options):
    """Cycles from a warp's entry to its exit, on average, with such probes in it."""
    row = next(row for row in measured('cudamemtime', *options) if row['kind'] == 'kernel')
    return row['cycles'] / row['count']


def modelled(report):
    report.say("""Cycles of a warp of `tests/workloads/timed.cu`'s `scale`, a load and a store, from entry to exit in the
interpreter's model: what is executed is real, what an instruction takes is the model's (`docs/inside-kernels.md`). The
first row is the kernel with two clocks of its own, at its entry and exit; in the others each access has a probe.\n""")
    rows, trace = [], f'{TMP}/trace.csv'
    bare = warps('-S', 'wait', '--op', 'wait')
    rows.append(('the kernel alone', f'{bare:.0f}', '1.00'))
    for scheme in SCHEMES:
        for what, options in (('counted', []), ('recorded', ['--csv', trace]), ('staged', ['--csv', trace, '--stage'])):
            value = warps('--scheme', scheme, '--op', 'all', *options)
            rows.append((f'{scheme}, {what}', f'{value:.0f}', f'{value / bare:.2f}'))
    report.table(['probes', 'cycles', 'ratio'], rows)
    with open(trace, encoding='utf-8') as f:
        report.say(f'{sum(1 for _ in csv.reader(f)) - 1} records were written of the last.\n')


def speed(report):
    report.say('Warps that the interpreter runs in a second of one CPU, without a tool and with each.\n')
    size = ('1', '40', '128', '5003') if QUICK else ('400', '40', '128', '5003')	# launches, blocks, threads, numbers
    count = int(size[0]) * int(size[1]) * int(size[2]) // 32
    rows = []
    for name, argv in [('none', [])] + [(tool[0], [f'{O}/{tool[0]}', '-q', '-o', '/dev/null', '--']) for tool in TOOLS]:
        start = seconds(argv + command('scale', '1', '1', '32', '1'))
        taken = max(seconds(argv + command('scale', *size)) - start, 1e-6)
        rows.append((name, f'{count / taken:,.0f}'))
    report.table(['tool', 'warps a second'], rows)


def run(report, goals):
    del goals		# none were set: a GPU will say what matters
    for head, part in (('To rewrite PTX', rewriting), ('To start under a tool', starting),
                       ('Kernels with probes, in the model', modelled), ('The interpreter', speed)):
        report.say(f'## {head}\n')
        part(report)
