# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""schema.py SCHEMA DIR: validates each line of the files TOOL in DIR by the schema of what TOOL prints with --json.
Prints what is wrong, and at the end of each key of the schema "OBJECT KEY", the keys that some line had into
DIR/printed, the others into DIR/not-printed."""
import json
import os
import re
import sys

from jsonschema import Draft202012Validator as Validator
from jsonschema.exceptions import best_match

schema = json.load(open(sys.argv[1]))
Validator.check_schema(schema)
defs = schema["$defs"]
validators = {name: Validator({"$ref": f"#/$defs/{name}", "$defs": defs}) for name in defs}
keys = {(name, key) for name in defs for key in defs[name].get("properties", ())}
printed = set()


def target(of):
    return of["$ref"].rsplit("/", 1)[1]


def note(name, row):
    """Notes the keys of a row and of the objects in it."""
    properties = defs[name]["properties"]
    for key, value in row.items():
        printed.add((name, key))
        items = properties[key].get("items", {})
        if "$ref" in items and "properties" in defs[target(items)]:
            for item in value or ():
                note(target(items), item)


def check(tool, line):
    """Returns what is wrong with it, or None."""
    row = json.loads(line)
    kinds = [target(of) for of in defs[tool]["anyOf"]]
    kinds = [kind for kind in kinds if row.get("type") in defs[kind]["properties"]["type"]["enum"]]
    errors = [best_match(validators[kind].iter_errors(row)) for kind in kinds]
    for kind, error in zip(kinds, errors):
        if not error:
            assert validators[tool].is_valid(row)
            note(kind, row)
            return None
    return f"{errors[0].json_path}: {errors[0].message}" if errors else "no such type"


for name, key in sorted(keys):
    about = defs[name]["properties"][key]
    if not about.get("description") or not about.get("since"):
        print(f"{name} {key}: nothing is said of it")
for tool in sorted(os.listdir(sys.argv[2])):
    alike = {}  # lines that differ in numbers only
    for line in open(os.path.join(sys.argv[2], tool)):
        alike.setdefault(re.sub("[0-9]+", "0", re.sub("0x[0-9a-f]+", "0x0", line)), line)
    for line in alike.values():
        wrong = check(tool, line)
        if wrong:
            print(f"{tool}: {wrong}: {line.strip()[:200]}")
for file, some in ("printed", printed), ("not-printed", keys - printed):
    with open(os.path.join(sys.argv[2], file), "w") as f:
        f.writelines(f"{name} {key}\n" for name, key in sorted(some))
