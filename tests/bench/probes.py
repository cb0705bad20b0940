# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""How long the BPF programs run, as the kernel counts it (kernel.bpf_stats_enabled), beyond an empty program at the same function
in the same round: without the trap, but with what it leaves behind in caches."""
import os
import random
import re
import statistics
import time

import programs
from lib import QUICK, Caller, Tracer, spread

STATS = '/proc/sys/kernel/bpf_stats_enabled'
ROUNDS, SLICE_MS = (2, 20) if QUICK else (30, 30)
SETTLE_S = .5 if QUICK else 5		# cudalaunchtop's probes of the runtime go
TOP = ['cudalaunchtop', '-b']
ENTRY, STACK = 150, 2000		# ns, at most
# of caller.c: the word, the function that is reached in the end, the tool, what to say, the goal
CALLS = [('launch', 'cuLaunchKernel', TOP, 'a launch', ENTRY),
         ('drvlaunchex', 'cuLaunchKernelEx', TOP, 'a launch by cuLaunchKernelEx', ENTRY),
         ('launch20', 'cuLaunchKernel', [*TOP, '-k'], 'a launch with a stack of 20 native frames', STACK)]
# of program_torch.py
TORCH = [('launch', TOP, 'PyTorch, a launch', ENTRY),
         ('module', [*TOP, '-k'], 'PyTorch, a launch with a stack of 20 frames, 9 of them Python', STACK)]


def counted(pid):
    """Nanoseconds and runs of each program that a process has a descriptor of, by id."""
    found = {}
    for fd in os.listdir(f'/proc/{pid}/fdinfo'):
        try:
            with open(f'/proc/{pid}/fdinfo/{fd}', encoding='ascii') as f:
                text = f.read()
        except OSError:
            continue
        fields = [re.search(rf'^{name}:\s*(\d+)', text, re.M) for name in ('prog_id', 'run_time_ns', 'run_cnt')]
        if all(fields):
            at, ns, runs = (int(field.group(1)) for field in fields)
            found[at] = ns, runs
    return found


def run_ns(pid, work):
    """Of the program that runs most often meanwhile: ns of a run."""
    before = counted(pid)
    work()
    after = counted(pid)
    runs, ns = max((after[at][1] - before[at][1], after[at][0] - before[at][0]) for at in after if at in before)
    return ns / runs


def native(word, function, argv):
    """Lists over the rounds: of the empty program, of the tool's."""
    made = []
    for tracer in (lambda c: ['probe', 'empty', 'session', str(c.pid), c.files, f'{function}:entry'],
                   lambda c: [*argv, '-p', str(c.pid)]):
        caller = Caller()
        made.append((caller, Tracer(tracer(caller)), []))
    for _ in range(2):
        for caller, _, _ in made:
            caller.ask(f'{word} 1 50')
        time.sleep(SETTLE_S)
    for _ in range(ROUNDS):
        for caller, tracer, ns in random.sample(made, len(made)):
            ns.append(run_ns(tracer.pid, lambda c=caller: c.ask(f'{word} 1 {SLICE_MS}')))
    for caller, tracer, _ in made:
        tracer.kill()
        caller.end()
    return [ns for *_, ns in made]


def torch(program, files, word, argv):
    empty = Tracer(['probe', 'empty', 'session', str(program.pid), files, 'cudaLaunchKernel:entry'])
    taken = [[run_ns(empty.pid, lambda: program.work(word, 5 * SLICE_MS)) for _ in range(ROUNDS)]]
    empty.kill()
    tool = Tracer([*argv, '-p', str(program.pid)])
    program.work(word, int(SETTLE_S * 1000))
    taken.append([run_ns(tool.pid, lambda: program.work(word, 5 * SLICE_MS)) for _ in range(ROUNDS)])
    tool.kill()
    return taken


def row(goals, argv, what, most, taken):
    empty, ns = taken
    more = statistics.median(ns) - statistics.median(empty)
    goals.add(f'{" ".join(argv)}, {what}: the program, beyond an empty one', most, more, ' ns')
    return what, ' '.join(argv), *('{0:.0f} ({1:.0f}-{2:.0f})'.format(*spread(each)) for each in (ns, empty)), f'{more:.0f}'


def measure(goals):
    rows = [row(goals, argv, what, most, native(word, function, argv)) for word, function, argv, what, most in CALLS]
    made = programs.pytorch()
    if not made:
        return rows
    argv, environ, files = made
    program = programs.Program(argv, environ)
    rows += [row(goals, tool, what, most, torch(program, files, word, tool)) for word, tool, what, most in TORCH]
    program.end()
    return rows


def run(report, goals):
    report.say("## The programs' own time\n")
    report.say(f"""Nanoseconds of a run of the BPF program at the function that is probed in the end, by the kernel's statistics, medians of
{ROUNDS} rounds of {SLICE_MS} ms ({5 * SLICE_MS} in PyTorch), quartiles in brackets; `empty`: a program that does nothing, whose
figure is what the statistics cost.\n""")
    with open(STATS, encoding='ascii') as f:
        before = f.read()
    try:
        with open(STATS, 'w', encoding='ascii') as f:
            f.write('1')
        rows = measure(goals)
    finally:
        with open(STATS, 'w', encoding='ascii') as f:
            f.write(before)
    report.table(['the call', 'tool', 'ns', 'empty', 'more'], rows)
