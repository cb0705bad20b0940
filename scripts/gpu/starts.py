# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# starts.py FILE: how the cu* exports of an x86-64 library begin, the most frequent first.
import collections, struct, sys
d = open(sys.argv[1], "rb").read()
def table(offset, size, n): return struct.unpack_from("<Q", d, offset)[0], *struct.unpack_from("<HH", d, size)
phoff, phsize, phnum = table(0x20, 0x36, 0)
shoff, shsize, shnum = table(0x28, 0x3a, 0)
loads = [struct.unpack_from("<IIQQQQ", d, phoff + i * phsize) for i in range(phnum)]
loads = [(p[3], p[2], p[5]) for p in loads if p[0] == 1]
sections = [struct.unpack_from("<IIQQQQIIQQ", d, shoff + i * shsize) for i in range(shnum)]
starts, seen = collections.Counter(), set()
def kind(b):
    if b[:2] in (b"\x81\x3d", b"\x83\x3d"):
        n = 10 if b[0] == 0x81 else 7
        return "cmpl (%d bytes), then %s" % (n, "je" if b[n] == 0x74 or b[n:n+2] == b"\x0f\x84" else b[n:n+2].hex())
    if b[:4] == b"\xf3\x0f\x1e\xfa": return "endbr64"
    if 0x50 <= b[0] <= 0x57 or b[0] == 0x41 and 0x50 <= b[1] <= 0x57: return "push"
    return "bytes " + b[:3].hex()
for s in sections:
    if s[1] != 11: continue
    strings = sections[s[6]][4]
    for at in range(s[4], s[4] + s[5], 24):
        name, info, other, index, value, size = struct.unpack_from("<IBBHQQ", d, at)
        text = d[strings + name:d.index(b"\0", strings + name)]
        if info & 15 != 2 or not index or not text.startswith(b"cu") or text in seen: continue
        seen.add(text)
        for vaddr, offset, length in loads:
            if vaddr <= value < vaddr + length:
                starts[kind(d[value - vaddr + offset:][:16])] += 1
print(len(seen), "functions:", ", ".join("%s ×%d" % k for k in starts.most_common(6)))
