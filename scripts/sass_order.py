# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Reads the order of clocks and memory accesses from machine code (sm_75 and later): between two reads of the
clock, does something wait for what is loaded there?  For scripts/check-ptx.

An instruction has 128 bits.  As ptxas of CUDA 9 to 13 writes them (Jia et al., "Dissecting the NVIDIA Volta GPU
Architecture via Microbenchmarking", section 2.1; the rest by comparing ptxas's input with its output):
  bits 0-11   which instruction, in which form
  bits 12-15  its predicate: 7 is "always"; 8 more: negated
  bits 72-79  of CS2R: the special register; 0x50 is the clock
  bits 105-125  what the scheduler is told: stall cycles (4), yield (1), the scoreboard that is released when the
              result is there (3; 7: none), the one when the operands were read (3), a mask of the scoreboards
              that are waited for before it is issued (6), reuse of operands (4)
A load's result is there when its scoreboard is released, so a clock that is read behind an instruction that waits for
it is read after the load."""
import collections
import struct

CLOCK = 0x50
CS2R = {0x805, 0x8cb}    # the second, of sm_120, into a uniform register
LOADS = {
    0x381: "LDG", 0x981: "LDG", 0x980: "LD", 0x984: "LDS", 0x983: "LDL", 0x83b: "LDSM",
    0x9a8: "ATOMG", 0x3a8: "ATOMG", 0x3a9: "ATOMG.CAS", 0x38a: "ATOM", 0x98a: "ATOM", 0x38b: "ATOM.CAS",
    0x38c: "ATOMS", 0x98c: "ATOMS", 0x38d: "ATOMS.CAS", 0x98d: "ATOMS.CAS",
    0x361: "TEX", 0xf60: "TEX", 0xb60: "TEX", 0xb61: "TEX", 0xb63: "TLD4", 0xf66: "TLD", 0x367: "TLD", 0xb66: "TLD",
    0x998: "SULD", 0x999: "SULD", 0x99a: "SULD", 0xf99: "SULD",
}
STORES = {
    0x386: "STG", 0x986: "STG", 0x385: "ST", 0x985: "ST", 0x388: "STS", 0x988: "STS", 0x387: "STL", 0x987: "STL",
    0x844: "STSM",
    0x98e: "REDG", 0x9a6: "REDG", 0x99b: "SUST", 0x99c: "SUST", 0xf9c: "SUST", 0x394: "SURED", 0xf9d: "SURED",
}
STS = {0x388, 0x988}
MEMBAR = 0x992
BRANCHES = {0x947, 0x94d, 0x949, 0x950, 0x944}    # BRA EXIT BRX RET CALL
ZERO = 0xff    # RZ: LDS of nothing is how ptxas waits

Insn = collections.namedtuple("Insn", "op at name load store sets waits always")


def sections(data):
    """The functions' machine code: (name, bytes)."""
    off, = struct.unpack_from("<Q", data, 0x28)
    size, num, names = struct.unpack_from("<HHH", data, 0x3a)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, off + i * size) for i in range(num)]
    strings = heads[names][4]
    for head in heads:
        start = strings + head[0]
        name = data[start:data.index(b"\0", start)].decode()
        if name.startswith(".text.") and head[1] != 8:
            yield name[len(".text."):], data[head[4]:head[4] + head[5]]


def decode(code):
    for at in range(0, len(code) - 15, 16):
        low, high = struct.unpack_from("<QQ", code, at)
        op = low & 0xfff
        control = high >> 41 & 0x1fffff
        load, store = LOADS.get(op), STORES.get(op)
        if load == "LDS" and low >> 16 & 0xff == ZERO:
            load = None
        clock = op in CS2R and high >> 8 & 0xff == CLOCK
        yield Insn(op, at, "clock" if clock else load or store or hex(op), load, store, control >> 5 & 7,
                   control >> 11 & 63, low >> 12 & 7 == 7)


def waits_for(rest, load):
    """Does one of these instructions wait for what the load sets?"""
    return load.sets != 7 and any(insn.waits >> load.sets & 1 for insn in rest)


def intervals(code, skip=0):
    """What is between two reads of the clock without a branch between them, and the second read.  The first `skip`
    reads are no site's."""
    insns = list(decode(code))
    clocks = [i for i, insn in enumerate(insns) if insn.name == "clock"][skip:]
    for begin, end in zip(clocks, clocks[1:]):
        between = insns[begin + 1:end]
        if not any(insn.op in BRANCHES for insn in between):
            yield between, insns[end]


def judge(between, clock):
    """One interval: "load waited", "load NOT waited", "store fenced", "store not fenced", "nothing"."""
    fences = [i for i, insn in enumerate(between) if insn.op == MEMBAR]
    loads = [i for i, insn in enumerate(between) if insn.load]
    if any(between[i].load != "LDL" for i in loads):    # LDL: perhaps a register that was spilled
        loads = [i for i in loads if between[i].load != "LDL"]
    # the anchor is a store to shared memory that is never executed
    stores = [i for i, insn in enumerate(between) if insn.store and not (insn.op in STS and not insn.always)]
    if loads:
        # ptxas may have put another load here: one of them is the site's, and has to be waited for
        if any(waits_for(between[i + 1:] + [clock], between[i]) for i in loads):
            return "load waited"
        # an atomic operation whose result nobody uses, with a fence
        if fences and all(between[i].load.startswith("ATOM") and fences[-1] > i for i in loads):
            return "store fenced"
        return "load NOT waited"
    if stores:
        return "store fenced" if fences and fences[-1] > stores[0] else "store not fenced"
    return "store fenced" if fences else "nothing"


def count(cubin, entered=()):
    """Of a cubin's bytes: how many intervals are what, and those that are wrong.  entered: functions that read the
    clock when they begin."""
    counts, wrong = collections.Counter(), []
    for name, code in sections(cubin):
        for between, clock in intervals(code, int(name in entered)):
            verdict = judge(between, clock)
            counts[verdict] += 1
            if verdict == "load NOT waited":
                wrong.append("%s+%#x: %s" % (name, clock.at, " ".join(insn.name for insn in between)))
    return counts, wrong
