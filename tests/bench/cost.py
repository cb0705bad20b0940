# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What a traced call costs.

A configuration is a calling program and what traces it.  All configurations of a group run at the
same time and call in turn, for some milliseconds, in an order that changes: what disturbs the
machine disturbs all of them.  What a call takes is the processor's time of its thread, without that
of other processes; what it costs is what it takes beyond the same call in the same round in a
program that is not traced."""
import random
import statistics
import time

from lib import KINDS, QUICK, Caller, Tracer, spread

ROUNDS = 2 if QUICK else 30
SLICE_MS = 5 if QUICK else 20
SETTLE_S = .2 if QUICK else 4		# after the first calls: cudalaunchtop's probes of the runtime go
DISTURBED = 3		# times the usual cost of a call that is not traced


class Group:
    """Configurations by name: the word of caller.c, and what is to be compared with what."""

    def __init__(self):
        self.callers, self.words, self.tracers = {}, {}, []

    def add(self, name, word, tracer=None, like=None, kind='native'):
        """tracer: a function from the caller to an argument list."""
        caller = self.callers[name] = Caller(self.callers.get(like), kind)
        self.words[name] = word
        if tracer:
            self.tracers.append(Tracer(tracer(caller)))

    def measure(self):
        """ns[threads][name]: what a call took, a list over the rounds."""
        for name, caller in self.callers.items():
            caller.ask(f'{self.words[name]} 2 {SLICE_MS}')
        time.sleep(SETTLE_S)
        ns = {threads: {name: [] for name in self.callers} for threads in (1, 2)}
        for _ in range(ROUNDS):
            for threads, taken in ns.items():
                names = list(self.callers)
                random.shuffle(names)
                for name in names:
                    calls, cpu, _ = self.callers[name].ask(f'{self.words[name]} {threads} {SLICE_MS}')
                    taken[name].append(cpu / calls)
        self.lost = [tracer.kill()[1] for tracer in self.tracers]
        for caller in self.callers.values():
            caller.end()
        for taken in ns.values():
            drop_disturbed(taken)
        return ns


def drop_disturbed(taken):
    """Somebody else's probes, in every process, make also those calls dear that are not traced."""
    bare = [name for name in taken if name.startswith('bare')]
    usual = {name: statistics.median(taken[name]) for name in bare}
    keep = [all(taken[name][i] < DISTURBED * usual[name] for name in bare)
            for i in range(len(taken[bare[0]]))]
    for name in taken:
        taken[name] = [ns for ns, good in zip(taken[name], keep) if good]


def added(taken, name, bare):
    return [a - b for a, b in zip(taken[name], taken[bare])]


def ratio(taken, name, bare, other, other_bare):
    """Of what is added, in each round."""
    return spread([a / b for a, b in zip(added(taken, name, bare), added(taken, other, other_bare))])


def probe(programs, kind, *functions):
    return lambda caller: ['probe', programs, kind, str(caller.pid), caller.files, *functions]


def tool(kind, *argv):
    return lambda caller: [*argv, '--attach', kind, '-p', str(caller.pid)]


class Subject:
    """A tool, and the calls that it is tried with: the runtime's functions and the driver's."""

    def __init__(self, name, argv, word, runtime, driver, least, goal_empty, goal_common):
        self.name, self.argv, self.word = name, argv, word
        self.runtime, self.driver = runtime, driver
        self.least = least		# of reference.bpf.c, or None: an entry only
        self.goal_empty, self.goal_common = goal_empty, goal_common


MALLOC = (['cudaMalloc', 'cudaFree'], ['cuMemAlloc_v2', 'cuMemFree_v2'])
REPLAY = (['cudaGraphLaunch'], ['cuGraphLaunch'])
SUBJECTS = [
    Subject('cudalaunchtop', ['cudalaunchtop', '-b'], 'launch', ['cudaLaunchKernel'],
            ['cuLaunchKernel'], None, 1.10, 0.35),
    Subject('cudamemcpysize', ['cudamemcpysize'], 'copy', ['cudaMemcpy'], ['cuMemcpyHtoD_v2'],
            'time', 1.15, 0.50),
    Subject('cudasynclatency', ['cudasynclatency'], 'wait', ['cudaStreamSynchronize'],
            ['cuStreamSynchronize'], 'time', 1.15, 0.50),
    Subject('cudamallocsnoop', ['cudamallocsnoop'], 'alloc', *MALLOC, 'record', 1.20, None),
    Subject('cudaleak -C', ['cudaleak', '-C'], 'alloc', *MALLOC, 'record', 1.20, None),
    Subject('cudatrace', ['cudatrace', '-o', '/dev/null', '-e', ','.join(MALLOC[0] + MALLOC[1])],
            'alloc', *MALLOC, 'record', None, None),
    Subject('cudalaunchtop, a graph of 1 kernel', ['cudalaunchtop', '-b'], 'replay1', *REPLAY, None, None, None),
    Subject('cudalaunchtop, of 1,000', ['cudalaunchtop', '-b'], 'replay1000', *REPLAY, None, None, None),
    Subject('cudamemcpysize, a graph of 1,000', ['cudamemcpysize'], 'replay1000', *REPLAY, 'time', None, None),
    Subject('cudaleak -C, a graph of 1,000', ['cudaleak', '-C'], 'replay1000', *REPLAY, 'record', None, None),
    Subject('cudamallocsnoop -k', ['cudamallocsnoop', '-k'], 'deep', *MALLOC, 'record', None, 1.0),
    Subject('cudaleak', ['cudaleak'], 'deep', *MALLOC, 'record', None, 1.0),
]


def add_all(group, s, kind):
    """The references and the tool at the runtime's functions, at the driver's, and at both."""
    pair = lambda names: names if s.least else [name + ':entry' for name in names]
    # inside the runtime's call a session does not wait for the return
    inside = [name + ':entry' for name in s.driver] if kind == 'session' else s.driver
    points = {
        'runtime': (s.word, pair(s.runtime), ['--layer', 'runtime']),
        'driver': ('drv' + s.word, pair(s.driver), []),
        'both': (s.word, pair(s.driver) if not s.least else s.runtime + inside, []),
    }
    group.add('bare', s.word)
    group.add('bare drv', 'drv' + s.word)
    group.add('common', s.word, probe('common', 'perf', *s.runtime))
    for where, (word, functions, options) in points.items():
        if s.least or where != 'both':
            group.add(f'empty {where}', word, probe('empty', kind, *functions))
        if s.least:
            group.add(f'least {where}', word, probe(s.least, kind, *functions))
        group.add(f'tool {where}', word, tool(kind, *s.argv, *options))
    group.add('untraced', s.word, like='tool both')


LABELS = {'both': 'runtime, all probed', 'runtime': 'runtime, --layer runtime', 'driver': 'driver'}


def bare_of(where):
    return 'bare drv' if where == 'driver' else 'bare'


def number(values, digits):
    return '{0:.{3}f} ({1:.{3}f}-{2:.{3}f})'.format(*values, digits)


def rows_of(s, kind, ns):
    """Lines of the table, and ratios[where] = (to empty programs, to the common way)."""
    lines, ratios = [], {}
    one, two = ns[1], ns[2]
    for where in ('both', 'runtime', 'driver'):
        bare, name = bare_of(where), f'tool {where}'
        # a launch passes one probe in the end, wherever it was made: the driver's
        empty = f'empty {where}' if f'empty {where}' in one else 'empty runtime'
        least = f'least {where}' if s.least else empty
        to_empty = ratio(one, name, bare, empty, bare)
        common = statistics.median(added(one, 'common', 'bare'))
        to_common = statistics.median(added(one, name, bare)) / common
        ratios[where] = to_empty[0], to_common
        lines.append((s.name, kind, LABELS[where],
                      number(spread(added(one, name, bare)), 0),
                      number(spread(added(two, name, bare)), 0),
                      f'{statistics.median(added(one, empty, bare)):.0f}',
                      number(to_empty, 2),
                      number(ratio(one, name, bare, least, bare), 2) if s.least else '-',
                      f'{to_common:.2f}'))
    return lines, ratios


HEAD = ['tool', 'attached by', 'the call', 'ns added', '2 threads', 'empty', 'to empty', 'to least',
        'to common']


def measure(report, goals, subjects, kinds):
    report.say('## What a call costs\n')
    report.say(f"""Nanoseconds of the calling thread's processor time that a call takes more than one that is not
traced: medians of {ROUNDS} rounds of {SLICE_MS} ms, quartiles in brackets. `empty`: programs that do nothing at
the same places, attached in the same way, and `to empty` the ratio to that, in each round. `least`:
programs that only keep the time of the entry and add up the time of the calls, or send a record of 64
bytes at the return: two times, pointer, size, result, process, thread and its name. `common`: the
common way, see below; the ratio is of the medians. One thread, but for `2 threads`. `all probed`: the
runtime's function and the driver's inside it.\n""")
    lines, commons, untraced, kept = [], [], [], []
    for s in subjects:
        for kind in kinds:
            group = Group()
            add_all(group, s, kind)
            ns = group.measure()
            more, ratios = rows_of(s, kind, ns)
            lines += more
            commons.append((s.name, s.word, number(spread(added(ns[1], 'common', 'bare')), 0),
                            number(spread(added(ns[2], 'common', 'bare')), 0),
                            group.lost[0].split(', ')[-1].strip()))
            untraced.append((s.name, kind, number(spread(ns[1]['bare']), 1),
                             number(spread(ns[1]['untraced']), 1)))
            kept.append(len(ns[1]['bare']))
            add_goals(goals, s, kind, ratios)
    report.table(HEAD, lines)
    report.say("""The common way: a perf-event uprobe and uretprobe at the runtime's function, a record of 176 bytes at
each, default wakeups, 256 KiB. Its cost depends on whether the reader is asleep, and on how many
records are lost: calls whose records are lost cost less.\n""")
    report.table(['beside', 'the call', 'ns added', '2 threads', 'in all'], commons)
    report.say('Another process that has the same files mapped, while this one is traced with -p:\n')
    report.table(['tool', 'attached by', 'ns of a call without a tool', 'untraced'], untraced)
    report.say(f'Rounds used of {ROUNDS} (not those in which others probed every process): '
               f'{min(kept)} to {max(kept)}.\n')


def add_goals(goals, s, kind, ratios):
    for where, (to_empty, to_common) in ratios.items():
        what = f'{s.name}, {kind}, {LABELS[where]}'
        if s.goal_empty:
            goals.add(f'{what}: to empty programs', s.goal_empty, to_empty)
        if s.goal_common:
            goals.add(f'{what}: to the common way', s.goal_common, to_common)


NCCL = ['ncclAllReduce']
NCCL_TOOLS = [['cudasynclatency'], ['ncclsnoop'], ['nccltop', '-b'], ['ncclhang', '-w', '600'], ['cudatrace', '-o', '/dev/null', '-e', 'nccl']]


def measure_nccl(report, kinds):
    report.say('## What a call of NCCL costs\n')
    report.say("""As above, of ncclAllReduce; `record`: programs that send a record of 64 bytes at the return.\n""")
    lines = []
    for kind in kinds:
        group = Group()
        group.add('bare', 'nccl')
        group.add('empty', 'nccl', probe('empty', kind, *NCCL))
        group.add('record', 'nccl', probe('record', kind, *NCCL))
        for argv in NCCL_TOOLS:
            group.add(argv[0], 'nccl', tool(kind, *argv))
        one = group.measure()[1]
        for argv in NCCL_TOOLS:
            name = argv[0]
            lines.append((' '.join(argv), kind, number(spread(added(one, name, 'bare')), 0),
                          f'{statistics.median(added(one, "empty", "bare")):.0f}',
                          number(ratio(one, name, 'bare', 'empty', 'bare'), 2),
                          number(ratio(one, name, 'bare', 'record', 'bare'), 2)))
    report.table(['tool', 'attached by', 'ns added', 'empty', 'to empty', 'to record'], lines)


def run(report, goals):
    measure_nccl(report, ['session'] if QUICK else KINDS)
    if QUICK:
        measure(report, goals, [SUBJECTS[0], SUBJECTS[-1]], ['session'])
    else:
        measure(report, goals, SUBJECTS, KINDS)
