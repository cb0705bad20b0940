# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Symbols of ELF files, for the comparisons: read without the tools' own code."""
import functools
import struct

ET_EXEC, PT_LOAD, SHT_SYMTAB, SHT_DYNSYM = 2, 1, 2, 11


class File:
    def __init__(self, path):
        self.by_name, self.loads = {}, []
        try:
            with open(path, "rb") as f:
                self.data = f.read()
        except OSError:
            self.data = b""
        self.fixed = False	# loaded where its addresses say
        if self.data[:5] == b"\x7fELF\x02":
            self.fixed = struct.unpack_from("<H", self.data, 16)[0] == ET_EXEC
            self.read()
        del self.data

    def read(self):
        at, = struct.unpack_from("<Q", self.data, 32)
        size, count = struct.unpack_from("<HH", self.data, 54)
        for i in range(count):
            kind, _, offset, address, _, length, _, _ = struct.unpack_from("<IIQQQQQQ", self.data, at + i * size)
            if kind == PT_LOAD:
                self.loads.append((offset, length, address))
        at, = struct.unpack_from("<Q", self.data, 40)
        size, count = struct.unpack_from("<HH", self.data, 58)
        sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * size) for i in range(count)]
        for s in sections:
            if s[1] in (SHT_SYMTAB, SHT_DYNSYM):
                names = sections[s[6]][4]
                for at in range(s[4], s[4] + s[5], 24):
                    name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", self.data, at)
                    if section and name:
                        start = names + name
                        name = self.data[start:self.data.index(b"\0", start)].decode(errors="replace")
                        self.by_name.setdefault(name.split("@")[0], set()).add(value)


    def address(self, offset):
        """Of what stands at that offset of the file."""
        for start, length, address in self.loads:
            if start <= offset < start + length:
                return address + offset - start
        return offset


@functools.lru_cache(None)
def load(path):
    return File(path)


def addresses(frame):
    """What a native frame of the tools' JSON can be, as addresses of its file; None if that cannot be told.
    Another unwinder's has its address."""
    if "addr" in frame:
        return {frame["addr"]}
    off = int(frame["off"], 16)
    if frame["sym"] is None:
        return {load(frame["file"]).address(off)}	# without a symbol it is the file's
    values = load(frame["file"]).by_name.get(frame["sym"])
    return values and {v + off for v in values}
