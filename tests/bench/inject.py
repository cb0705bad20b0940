# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What a call costs with --attach inject, beside session links, in time and in instructions; records, and how long programs take
to start."""
import glob
import os
import random
import shutil
import statistics
import subprocess
import sys
import time

from lib import O, QUICK, TMP, Caller, Tracer, lost, spread

ROUNDS = 2 if QUICK else 30
SLICE_MS = 5 if QUICK else 20
SECONDS = 1 if QUICK else 10
TIMES = 2 if QUICK else 15
STEPS = 11
SETTLED = 0 if QUICK else 2     # seconds until cudalaunchtop has all names of kernels, and probes launches by the driver only
SYMBOLS = 1000 if QUICK else 100000
USER = ['setpriv', '--no-new-privs', '--inh-caps=-all', '--reuid', '65534', '--regid', '65534', '--clear-groups',
        '--bounding-set=-all']

# what it measures, the tool, the word of caller.c, at most so many ns for a call in both layers
SUBJECTS = [
    ('count', ['cudalaunchtop', '-b'], 'launch', 30),
    ('histogram', ['cudamemcpysize'], 'copy', 90),
    ('histogram', ['cudasynclatency'], 'wait', 90),
    ('record', ['cudamallocsnoop'], 'alloc', 200),
    ('record', ['cudaleak', '-C'], 'alloc', 200),
    ('record', ['cudatrace', '-o', '/dev/null'], 'alloc', 200),
    ('ten frames', ['cudaleak'], 'deep', 1000),
    ('ten frames', ['cudamallocsnoop', '-k'], 'deep', 1000),
]


def pipe():
    """Its two ends, of which a shell of that user can write to the second by its path: dash has no names for descriptors above 9."""
    read, write = os.pipe()
    os.fchown(write, 65534, 65534)
    return read, write


class Injected(Caller):
    """A program of caller.c that a tool has started, as an ordinary user; what it answers does not go through the tool."""

    def __init__(self, argv, under=''):
        os.chmod(TMP, 0o755)
        Caller.number += 1
        self.dir = f'{TMP}/{Caller.number}'
        os.mkdir(self.dir)
        for name in ('libcuda.so.1', 'libcudart.so.13'):
            shutil.copy(f'{O}/tests/lib/{name}', self.dir)
        answers, answer = pipe()
        command = f'exec {under}{O}/bench/caller {self.dir} >/proc/self/fd/{answer}'
        self.tool = subprocess.Popen([*USER, f'{O}/{argv[0]}', *argv[1:], '--attach', 'inject', '-c', command], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                     pass_fds=[answer])
        os.close(answer)
        self.process = self
        self.stdin, self.stdout = self.tool.stdin, os.fdopen(answers)
        self.said = ''
        if not self.stdout.readline():
            sys.exit(f'bench: {" ".join(argv)}: {self.tool.stderr.read()}')

    def steps(self, word):
        """The instructions in the stub for a word of calls, of a program under steps.c: the fewest, as some calls do rare work."""
        self.stdin.write(f'step {word} {STEPS}\n')
        self.stdin.flush()
        return min(int(self.stdout.readline().split()[0]) for _ in range(STEPS))

    def end(self):
        """The program and its tool; what the tool said."""
        self.stdin.close()
        self.said = self.tool.stderr.read()
        self.tool.wait()
        self.stdout.close()
        return self.said


def measure(argv, word):
    """ns[threads][way]: what a call takes, a list over the rounds; and how many records were lost."""
    ways = {'bare': Caller(), 'session': Caller(), 'inject': Injected(argv)}
    tracer = Tracer([*argv, '--attach', 'session', '-p', str(ways['session'].pid)])
    ns = {threads: {way: [] for way in ways} for threads in (1, 2)}
    for caller in ways.values():
        caller.ask(f'{word} 2 {SLICE_MS}')
    time.sleep(SETTLED)
    for _ in range(ROUNDS):
        for threads, taken in ns.items():
            for way in random.sample(list(ways), len(ways)):
                calls, cpu, _ = ways[way].ask(f'{word} {threads} {SLICE_MS}')
                taken[way].append(cpu / calls)
    tracer.kill()
    for caller in ways.values():
        caller.end()
    return ns, lost(ways['inject'].said)


def instructions(argv, word):
    """How many a call takes in the stub."""
    caller = Injected(argv, f'{O}/bench/steps ')
    caller.ask(f'{word} 1 {SLICE_MS}')
    time.sleep(SETTLED)
    least = caller.steps(word)
    caller.end()
    return round(least / (2 if word in ('alloc', 'deep') else 1))


def added(taken, way):
    return spread([a - b for a, b in zip(taken[way], taken['bare'])])


def number(values):
    return '{:.0f} ({:.0f}-{:.0f})'.format(*values)


def cost(report, goals):
    rows = []
    for what, argv, word, most in SUBJECTS[:1] + SUBJECTS[-1:] if QUICK else SUBJECTS:
        ns, missing = measure(argv, word)
        inject, session = added(ns[1], 'inject'), added(ns[1], 'session')
        rows.append((' '.join(argv), what, number(inject), number(added(ns[2], 'inject')), number(session),
                     f'{inject[0] / session[0]:.3f}', instructions(argv, word), missing))
        lossy = f' ({missing} records lost)' if missing else ''
        goals.add(f'{" ".join(argv)}, inject: {what}, both layers{lossy}', most, inject[0], ' ns')
    report.say('## What a call costs without privileges\n')
    report.say(f'''`--attach inject`: nanoseconds of the calling thread's processor time that a call of the runtime, with the
driver's inside, takes more than in a program that is not traced; medians of {ROUNDS} rounds of {SLICE_MS} ms, quartiles in
brackets. `session`: the same tool with session links, in the same rounds.  Calls whose records are lost cost less than others.
`instructions`: of a call in the stubs, without the functions that it calls; they are counted one by one, and do not depend on
the load.\n''')
    report.table(['tool', 'each call is', 'inject', '2 threads', 'session', 'to session', 'instructions', 'lost'], rows)


def resident(report, goals):
    """Running programs, one with the resident library that no tool asks, one that a tool traces by it."""
    env = {'LD_AUDIT': f'{os.path.abspath(O)}/inject/resident.so'}
    rows = []
    for argv, word in [(['cudalaunchtop', '-b'], 'launch'), (['cudatrace', '-S'], 'launch'), (['cudaleak', '-C'], 'alloc')]:
        # first the one of a shell, which takes low descriptors only
        ways = {'inject': Injected(argv), 'bare': Caller(), 'idle': Caller(env=env), 'resident': Caller(env=env), 'session': Caller()}
        tracers = [Tracer([*argv, '--attach', kind, '-p', str(ways[way].pid)])
                   for way, kind in (('resident', 'inject'), ('session', 'session'))]
        ns = {way: [] for way in ways}
        for caller in ways.values():
            caller.ask(f'{word} 1 {SLICE_MS}')
        for _ in range(ROUNDS):
            for way in random.sample(list(ways), len(ways)):
                calls, cpu, _ = ways[way].ask(f'{word} 1 {SLICE_MS}')
                ns[way].append(cpu / calls)
        for end in [*(t.kill for t in tracers), *(c.end for c in ways.values())]:
            end()
        idle, asked, inject, session = (added(ns, way) for way in ('idle', 'resident', 'inject', 'session'))
        rows.append((' '.join(argv), number(idle), number(asked), number(inject), number(session), f'{asked[0] / session[0]:.3f}'))
        if word == 'launch':
            goals.add(f'{" ".join(argv)} -p, resident library: both layers', 200, asked[0], ' ns')
        goals.add(f'resident library without a tool: both layers of {word}', 20, idle[0], ' ns')
    report.say('## What a call costs in a running program with the resident library\n')
    report.say('As above: without a tool, with a tool and `-p`, with its command, and with session links and `-p`.\n')
    report.table(['tool', 'no tool', 'resident', 'inject', 'session', 'to session'], rows)


def records(report, goals):
    """As fast as two threads can."""
    caller = Injected(['cudaleak', '-C'])
    calls, _, wall = caller.ask(f'alloc 2 {SECONDS * 1000}')
    missing = lost(caller.end())
    rate = calls / (wall / 2 / 1e9)
    report.say('## Records without privileges\n')
    report.table(['records', 'a second', 'lost'], [(f'{calls:.0f}', f'{rate:.0f}', missing)])
    goals.add('ns for each record of two threads, inject (5 M a second: 200)', 200, 1e9 / rate)
    goals.add('records lost, inject', 0, missing)


def symbols():
    """A program whose library binds many symbols of another one at once, and that makes one call."""
    where = f'{TMP}/symbols'
    os.mkdir(where)
    with open(f'{where}/defines.s', 'w', encoding='ascii') as f:
        for i in range(SYMBOLS):
            f.write(f'.globl f{i}\n.type f{i},@function\nf{i}: ret\n')
        f.write('.section .note.GNU-stack,"",@progbits\n')
    with open(f'{where}/uses.s', 'w', encoding='ascii') as f:
        f.write('.globl uses\n.type uses,@function\nuses:\n')
        for i in range(SYMBOLS):
            f.write(f'call f{i}@PLT\n')
        f.write('ret\n.section .note.GNU-stack,"",@progbits\n')
    with open(f'{where}/main.c', 'w', encoding='ascii') as f:
        f.write('int uses(void), cudaFree(void *);\nint main(int c, char **v) { (void)v; return c > 9 ? uses() : cudaFree(0); }\n')
    cuda = f'{O}/tests/lib'
    for command in (['-shared', '-nostdlib', '-o', f'{where}/libdefines.so', f'{where}/defines.s'],
                    ['-shared', '-nostdlib', '-Wl,-z,now', '-o', f'{where}/libuses.so', f'{where}/uses.s', f'-L{where}',
                     '-ldefines', f'-Wl,-rpath,{where}'],
                    ['-o', f'{where}/main', f'{where}/main.c', f'-L{where}', '-luses', '-ldefines',
                     f'{cuda}/libcudart.so.13', f'-Wl,-z,now,-rpath,{where}:{cuda}']):
        subprocess.run(['cc', *command], check=True)
    os.chmod(TMP, 0o755)
    return f'{where}/main'


def start_of(program, argv, user):
    """ms from the start of a program to its end, as a shell sees it that the tool has started, or nobody.  A program that
    fails has not been measured."""
    read, write = pipe()
    shell = f'a=$(date +%s%N); {program} >/dev/null || exit; b=$(date +%s%N); echo $((b - a)) >/proc/self/fd/{write}'
    run = [f'{O}/{argv[0]}', *argv[1:], '-q', '--attach', 'inject', '-c', shell] if argv else ['sh', '-c', shell]
    done = subprocess.run([*user, *run], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=[write], text=True,
                          check=False)
    os.close(write)
    with os.fdopen(read) as f:
        line = f.readline()
    if not line:
        sys.exit(f'bench: {program}: {done.stderr}')
    return int(line) / 1e6


def may_run(program):
    """An ordinary user may not reach what is installed in root's own folders."""
    return not subprocess.run([*USER, 'sh', '-c', f'{program} >/dev/null 2>&1'], check=False).returncode


def pythons():
    """Programs that start: what, and the command."""
    cuda = f'{O}/tests/lib/libcudart.so.13'
    script = f'import ctypes; ctypes.CDLL(\\"{cuda}\\").cudaFree(None)'
    yield 'python3, ctypes', f'/usr/bin/python3 -c "{script}"'
    cache = os.environ.get('XDG_CACHE_HOME', '/var/cache')
    for python in glob.glob(f'{cache}/cuda-bpf-tools/clients/pytorch/bin/python3')[:0 if QUICK else 1]:
        yield 'python3, PyTorch', f'{python} -c "import torch"'


def starts(report, goals):
    rows = []
    for what, program in [*pythons(), (f'{SYMBOLS} symbols bound', symbols())]:
        bare, inject = [], []
        user = USER if may_run(program) else []
        for _ in range(TIMES):
            bare.append(start_of(program, None, user))
            inject.append(start_of(program, ['cudatrace', '-S'], user))
        more = statistics.median(a - b for a, b in zip(inject, bare))
        rows.append((what, f'{statistics.median(bare):.1f}', f'{statistics.median(inject):.1f}', f'{more:.1f}'))
        if 'symbols' in what:
            goals.add(f'{what}, inject: more', 20, more, ' ms')
        elif 'PyTorch' in what:
            goals.add(f'start of {what}, inject: to without', 1.1, 1 + more / statistics.median(bare))
    report.say('## To start without privileges\n')
    report.say(f'Milliseconds from the start of a program to its end; medians of {TIMES}.\n')
    report.table(['program', 'untraced', 'inject', 'more'], rows)


def run(report, goals):
    cost(report, goals)
    resident(report, goals)
    records(report, goals)
    starts(report, goals)
