# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What a call stack costs: in the traced thread and in the tool, by frame pointers and by unwind tables,
native and Python."""
import statistics
import time

from cost import Group, added, number, tool
from lib import O, QUICK, Caller, Tracer, lost, spread

DEPTHS = (10, 50, 100)
RATE = 10000
SECONDS = 1 if QUICK else 10
MODES = {
    'none': ['cudaleak', '-C'],
    'fp': ['cudaleak', '--unwind', 'fp', '--stack', 'native'],
    'dwarf': ['cudaleak', '--unwind', 'dwarf', '--stack', 'native'],
    'all': ['cudaleak'],
}


def stacks(taken, mode):
    """ns of a stack: of the two calls, one has one."""
    return [2 * (a - b) for a, b in zip(taken[mode], taken['none'])]


def in_the_tool(argv, word, kind, rate=RATE):
    """Share of a processor of the tool; its ns for a stack, of which there is one at every other call; records
    lost."""
    caller = Caller(kind=kind)
    tracer = Tracer([*argv, '-p', str(caller.pid)])
    caller.ask(f'{word} 1 500 {rate}')
    before = tracer.ran()
    calls = caller.ask(f'{word} 1 {SECONDS * 1000} {rate}')[0]
    time.sleep(.1)
    ran = tracer.ran() - before
    gone = lost(tracer.kill()[1])
    caller.end()
    return ran / SECONDS, ran * 1e9 / (calls / 2), gone


def measure(report, goals, depth, kind):
    group, word = Group(), f'stack{depth}'
    group.add('bare', word, kind=kind)
    for mode, argv in MODES.items():
        group.add(mode, word, tool('session', *argv), kind=kind)
    taken = group.measure()[1]
    rows = []
    for mode, argv in MODES.items():
        if mode == 'none':
            continue
        share, ns, gone = in_the_tool(argv, word, kind)
        pointers = statistics.median(stacks(taken, 'fp'))
        here = spread(stacks(taken, mode))
        rows.append((kind, depth, mode, number(here, 0), f'{here[0] / pointers:.2f}', f'{ns:.0f}',
                     f'{share * 100:.1f} %', gone))
        if depth == 50:
            add_goals(goals, kind, mode, here[0] / pointers, ns / depth)
    return rows


def add_goals(goals, kind, mode, ratio, ns):
    if (kind, mode) == ('native', 'dwarf'):
        goals.add('a stack of 50 frames by unwind tables: times that by frame pointers', 2.5, ratio)
        share, _, gone = in_the_tool(MODES[mode], 'stack50', kind, 2 * RATE)
        goals.add(f'cudaleak, {RATE} stacks of 50 frames a second: of a processor', 1 / 3, share)
        goals.add('... and lost', 0, gone)
    if (kind, mode) in (('native', 'dwarf'), ('python', 'all')):
        goals.add(f'cudaleak, a stack of 50 {kind} frames: a frame', 1000, ns, ' ns')


def run(report, goals):
    report.say('## What a stack costs\n')
    report.say(f"""cudaleak, attached by session links. `in the thread`: nanoseconds of processor time that a call with a
stack takes more than with `-C`, without one: medians of rounds, quartiles in brackets; `to fp`: the ratio of
the medians. `in the tool`: nanoseconds of the tool's processor time for such a call with all that is done
with it, and its share of a processor, at {RATE // 2} of them a second. `fp`: by frame pointers. `dwarf`: by unwind
tables. `all`: and Python frames. The native program has as many frames and keeps frame pointers; the Python
program as many Python frames.\n""")
    rows = []
    for kind in ('native', 'python'):
        for depth in DEPTHS[:1] if QUICK else DEPTHS:
            rows += measure(report, goals, depth, kind)
    report.table(['program', 'frames', 'unwound', 'in the thread', 'to fp', 'in the tool', 'share', 'lost'], rows)
