#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""pprof.py FILE - decode a profile without a library, check it, and print it as JSON, one object a line:
the head, then each sample with its values by type, its labels, and its frames from the innermost one on."""
import gzip
import json
import sys

# The numbers of https://github.com/google/pprof/blob/main/proto/profile.proto
PROFILE = {1: ("sample_type", "ValueType*"), 2: ("sample", "Sample*"), 3: ("mapping", "Mapping*"),
           4: ("location", "Location*"), 5: ("function", "Function*"), 6: ("string_table", "str*"),
           9: ("time_nanos", "int"), 10: ("duration_nanos", "int"), 11: ("period_type", "ValueType"),
           12: ("period", "int"), 14: ("default_sample_type", "int")}
MESSAGES = {
    "Profile": PROFILE,
    "ValueType": {1: ("type", "int"), 2: ("unit", "int")},
    "Sample": {1: ("location_id", "int*"), 2: ("value", "int*"), 3: ("label", "Label*")},
    "Label": {1: ("key", "int"), 2: ("str", "int"), 3: ("num", "int"), 4: ("num_unit", "int")},
    "Mapping": {1: ("id", "int"), 2: ("memory_start", "int"), 3: ("memory_limit", "int"), 4: ("file_offset", "int"),
                5: ("filename", "int"), 6: ("build_id", "int"), 7: ("has_functions", "int"),
                8: ("has_filenames", "int"), 9: ("has_line_numbers", "int"), 10: ("has_inline_frames", "int")},
    "Location": {1: ("id", "int"), 2: ("mapping_id", "int"), 3: ("address", "int"), 4: ("line", "Line*")},
    "Line": {1: ("function_id", "int"), 2: ("line", "int")},
    "Function": {1: ("id", "int"), 2: ("name", "int"), 3: ("system_name", "int"), 4: ("filename", "int")},
}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def decode(name, data):
    fields = MESSAGES[name]
    out = {key: [] if kind.endswith("*") else 0 for key, kind in fields.values()}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        key, kind = fields[tag >> 3]
        if tag & 7 == 0:
            value, at = varint(data, at)
            values = [value]
        else:
            assert tag & 7 == 2, "wire type of %s" % key
            size, at = varint(data, at)
            part, at = data[at:at + size], at + size
            assert len(part) == size, "%s is cut off" % key
            base = kind.rstrip("*")
            if base == "str":
                values = [part.decode("utf-8")]     # strict
            elif base == "int":
                values, inner = [], 0
                while inner < size:
                    value, inner = varint(part, inner)
                    values.append(value)
            else:
                values = [decode(base, part)]
        if kind.endswith("*"):
            out[key] += values
        else:
            out[key] = values[-1]
    return out


def by_id(profile, what):
    table = {entry["id"]: entry for entry in profile[what]}
    assert len(table) == len(profile[what]) and 0 not in table, "ids of %s" % what
    return table


def check(profile, mappings):
    strings = profile["string_table"]
    assert strings[0] == "" and len(set(strings)) == len(strings), "the string table"
    assert all(c.isprintable() for s in strings for c in s), "a control character"
    for f in profile["function"]:   # else pprof removes what is in <>
        name = strings[f["name"]]
        assert f["system_name"] != f["name"] or not ("::" in name or set(name) & set("<>[]")), name
    ranges = sorted((m["memory_start"], m["memory_limit"]) for m in profile["mapping"])
    assert all(a[1] <= b[0] for a, b in zip(ranges, ranges[1:])), "mappings overlap"
    for location in profile["location"]:
        if location["mapping_id"]:
            m = mappings[location["mapping_id"]]
            assert m["memory_start"] <= location["address"] < m["memory_limit"], "an address outside its mapping"


def frames(profile, location, mappings, functions):
    strings, mapping = profile["string_table"], mappings.get(location["mapping_id"])
    for i, line in enumerate(location["line"] or [None]):
        f = functions[line["function_id"]] if line else {"name": 0, "filename": 0}
        yield {"name": strings[f["name"]], "file": strings[f["filename"]], "line": line["line"] if line else 0,
               "inlined": i + 1 < len(location["line"]), "address": location["address"] and True,
               "mapped": strings[mapping["filename"]] if mapping else None,
               "build_id": strings[mapping["build_id"]] if mapping else None}


def main():
    with gzip.open(sys.argv[1]) as f:
        profile = decode("Profile", f.read())
    strings = profile["string_table"]
    mappings, locations, functions = (by_id(profile, w) for w in ("mapping", "location", "function"))
    check(profile, mappings)
    types = ["%s/%s" % (strings[t["type"]], strings[t["unit"]]) for t in profile["sample_type"]]
    print(json.dumps({
        "types": types, "default": strings[profile["default_sample_type"]], "period": profile["period"],
        "period_type": strings[profile["period_type"]["type"]], "samples": len(profile["sample"]),
        "time": profile["time_nanos"], "duration": profile["duration_nanos"],
    }))
    for sample in profile["sample"]:
        assert len(sample["value"]) == len(types), "values of a sample"
        row = {t.split("/")[0]: v for t, v in zip(types, sample["value"])}
        labels = {strings[x["key"]]: strings[x["str"]] if x["str"] else x["num"] for x in sample["label"]}
        stack = [f for i in sample["location_id"] for f in frames(profile, locations[i], mappings, functions)]
        print(json.dumps({"values": row, "labels": labels, "stack": stack,
                          "folded": ";".join(f["name"] for f in reversed(stack))}))


main()
