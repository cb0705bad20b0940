#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""openmetrics.py [--text] [--json] [FILE]: is this page of metrics OpenMetrics 1.0, or with --text format 0.0.4, in each
point that a strict reader may insist on?  If not: the first line that is wrong, and why, with status 1.  With
--json the samples are printed, one object a line: name, labels, value, type and family."""
import json
import re
import sys

OWN = {"counter": {"_total", "_created"}, "gauge": {""}, "histogram": {"_bucket", "_sum", "_count", "_created"}, "info": {"_info"},
       "summary": {"", "_sum", "_count", "_created"}, "unknown": {""}, "untyped": {""}}
TYPES = {False: set(OWN) - {"untyped"}, True: {"counter", "gauge", "histogram", "summary", "untyped"}}
NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]Inf|NaN")
UNESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


class Wrong(Exception):
    pass


def must(truth, why):
    if not truth:
        raise Wrong(why)


def number(text):
    must(NUMBER.fullmatch(text), f"'{text}' is not a number")
    return float(text)


def canonical(text):
    """OpenMetrics has one form for infinity, powers of ten and 0 to 10 in le, that of Go; other numbers have any."""
    x = number(text)
    forms = {float("inf"): "+Inf", **{float(n): f"{n}.0" for n in range(11)}}
    for power in range(-10, 11):
        forms[float(f"1e{power}")] = f"1e{power:+03}" if not -5 < power < 6 else repr(float(f"1e{power}"))
    return forms.get(x, text) == text


def labels(text):
    """Labels from an opening brace on, and what follows the closing one."""
    found, text = {}, text[1:]
    while not text.startswith("}"):
        match = LABEL.match(text)
        must(match, f"no label at '{text[:40]}'")
        must(match[1] not in found, f"label {match[1]} twice")
        must(not match[1].startswith("__"), f"label {match[1]} is reserved")
        found[match[1]] = re.sub(r'\\["\\n]', lambda escape: UNESCAPED[escape[0]], match[2])
        text = text[match.end():]
        must(text[:1] in (",", "}") and text[:2] != ",}", "labels are not separated by commas")
        text = text[1:] if text[0] == "," else text
    return found, text[1:]


class Page:
    def __init__(self, text):
        self.text = text
        self.types, self.told, self.done = {}, set(), set()
        self.family, self.samples, self.groups, self.taken = None, [], {}, {}

    def enter(self, family):
        """The family that a line belongs to begins, or goes on."""
        if family != self.family:
            must(family not in self.done, f"{family} stands in several places")
            self.leave()
            self.family, self.groups = family, {}

    def leave(self):
        if self.family:
            self.done.add(self.family)
            must(self.family in self.types, f"{self.family} has no TYPE")
            for key, group in self.groups.items():
                if self.types[self.family] == "histogram":
                    self.histogram(dict(key), group)

    def histogram(self, key, group):
        buckets = [(sample["labels"]["le"], sample["value"]) for sample in group if sample["name"].endswith("_bucket")]
        rest = {sample["name"][len(self.family):]: sample["value"] for sample in group if not sample["name"].endswith("_bucket")}
        bounds, counts = [number(le) for le, _ in buckets], [count for _, count in buckets]
        must(bounds and bounds[-1] == float("inf"), f"{self.family} {key}: the last bucket is not +Inf")
        must(all(a < b for a, b in zip(bounds, bounds[1:])), f"{self.family} {key}: le does not rise")
        must(all(a <= b for a, b in zip(counts, counts[1:])), f"{self.family} {key}: counts of buckets fall")
        must(rest.get("_count") == counts[-1], f"{self.family} {key}: _count is not that of +Inf")
        must("_sum" in rest, f"{self.family} {key}: no _sum")
        for sample, (lower, upper) in zip(group, zip([float("-inf")] + bounds, bounds)):
            must("exemplar" not in sample or lower < sample["exemplar"] <= upper, "the exemplar is not in its bucket")

    def describe(self, kind, name, text):
        must(NAME.fullmatch(name), f"'{name}' is no name")
        self.enter(name)
        must(not self.groups, f"{kind} of {name} after its samples")
        must((kind, name) not in self.told, f"{kind} of {name} twice")
        self.told.add((kind, name))
        if kind == "TYPE":
            must(text in TYPES[self.text], f"'{text}' is no type")
            must(self.text or text != "counter" or not name.endswith("_total"), f"the family of a counter is called {name}")
            must(not self.text or text != "counter" or name.endswith("_total"), f"counter {name} has no _total")
            self.types[name] = text
            for suffix in OWN[text] if not (self.text and text == "counter") else {""}:
                must(name + suffix not in self.taken, f"{name}{suffix} is a name of {self.taken.get(name + suffix)}, too")
                self.taken[name + suffix] = name
        elif kind == "UNIT":
            must(not self.text, "UNIT is OpenMetrics")
            must(text and name.endswith("_" + text), f"{name} does not end in its unit")
        else:
            must(text, f"{name} has an empty HELP")
            must(not re.search(r"\\(?![\\n" + ("" if self.text else '"') + "])", re.sub(r"\\\\", "", text)), "a wrong escape in HELP")

    def exemplar(self, text):
        must(not self.text, "exemplars are OpenMetrics")
        must(text.startswith("{"), "an exemplar without labels")
        found, rest = labels(text)
        must(sum(len(k) + len(v) for k, v in found.items()) <= 128, "the labels of an exemplar are too long")
        words = rest.split(" ")
        must(len(words) in (2, 3) and words[0] == "", "an exemplar has a value and perhaps a time")
        for word in words[2:]:
            number(word)
        return number(words[1])

    def sample(self, line):
        match = NAME.match(line)
        must(match, "neither a sample nor a descriptor")
        name, rest = match[0], line[match.end():]
        found, rest = labels(rest) if rest.startswith("{") else ({}, rest)
        rest, mark, after = rest.partition(" # ")
        words = rest.split(" ")
        must(words[0] == "" and len(words) in (2, 3), "a sample has a value and perhaps a time")
        for word in words[2:]:
            number(word)
        family = self.taken.get(name)
        must(family, f"{name} belongs to no family with a TYPE")
        self.enter(family)
        kind, value = self.types[family], number(words[1])
        sample = {"name": name, "labels": found, "value": value, "type": kind, "family": family}
        if mark:
            must(name.endswith(("_total", "_bucket")), f"{name} cannot have an exemplar")
            sample["exemplar"] = self.exemplar(after)
        self.check(sample)
        self.samples.append(sample)

    def check(self, sample):
        name, found, kind = sample["name"], sample["labels"], sample["type"]
        bucket = kind == "histogram" and name.endswith("_bucket")
        must(bucket == ("le" in found), f"{name}: le belongs to buckets")
        must(not bucket or self.text or canonical(found["le"]), f"le=\"{found.get('le')}\" is not as OpenMetrics has it")
        must(kind != "info" or sample["value"] == 1, f"{name} is not 1")
        if kind == "counter" or bucket or name.endswith("_count") and kind == "histogram":
            must(0 <= sample["value"] < float("inf"), f"{name} is {sample['value']}")
        must(not bucket or sample["value"] == int(sample["value"]), f"{name} is no whole number")
        key = tuple(sorted((k, v) for k, v in found.items() if not (bucket and k == "le")))
        group = self.groups.setdefault(key, [])
        must(list(self.groups)[-1] == key, f"{name} {dict(key)}: its samples stand in several places")
        must(all((s["name"], s["labels"]) != (name, found) for s in group), f"{name} {found} twice")
        group.append(sample)

    def read(self, data):
        lines = data.decode("utf-8").split("\n")
        must(lines.pop() == "", "the last line does not end")
        must("\r" not in data.decode("utf-8"), "a carriage return")
        if not self.text:
            must(lines and lines.pop() == "# EOF", "no # EOF at the end")
        for self.line, line in enumerate(lines, 1):
            must(line != "# EOF", "# EOF before the end")
            if line.startswith("#"):
                words = line.split(" ", 3)
                must(words[0] == "#" and len(words) == 4 and words[1] in ("TYPE", "HELP", "UNIT"), "neither a sample nor a descriptor")
                self.describe(*words[1:])
            else:
                self.sample(line)
        self.leave()
        return self.samples


def main(options, files):
    with open(files[0], "rb") if files else sys.stdin.buffer as f:
        data = f.read()
    page = Page("--text" in options)
    page.line = 0
    try:
        samples = page.read(data)
    except (Wrong, UnicodeDecodeError) as why:
        sys.exit(f"openmetrics.py: {files[0] if files else 'input'}:{page.line}: {why}")
    for sample in samples if "--json" in options else []:
        print(json.dumps(sample))


if __name__ == "__main__":
    main([a for a in sys.argv[1:] if a.startswith("--")], [a for a in sys.argv[1:] if not a.startswith("--")])
