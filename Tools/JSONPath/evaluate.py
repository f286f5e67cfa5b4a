"""Evaluates filter expressions with jsonpath-rfc9535 and compares the results with those in a file.

Usage: evaluate.py FILE
"""

import json
import sys

import jsonpath_rfc9535


def first_members(pairs):
    """The members of an object; of several with one name the first one, as in the package."""
    members = {}
    for name, value in pairs:
        members.setdefault(name, value)
    return members


def main(path):
    with open(path, encoding="utf-8") as file:
        rounds = json.load(file)
    count = 0
    failures = 0
    for round in rounds["rounds"]:
        items = [json.loads(text, object_pairs_hook=first_members) for text in round["documents"]]
        for case in round["cases"]:
            count += 1
            nodes = jsonpath_rfc9535.find("$[?" + case["filter"] + "]", items)
            found = sorted(node.location[0] for node in nodes)
            if found != case["matches"]:
                failures += 1
                odd = sorted(set(found) ^ set(case["matches"]))
                print(f"{case['filter']}\n  jsonpath-rfc9535: {found}\n  package: {case['matches']}")
                for index in odd[:3]:
                    print(f"  {index}: {round['documents'][index]}")
    print(f"{count} filters with seed {rounds['seed']}: {failures} differ.")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
