#!/usr/bin/env python3
"""The fields of every command's --json, against those of the last release, in TAP.

    test_answers.py DIRECTORY_OF_BRUME FOLDER LIST [--write]

Each command is called as its examples are, with --json; FOLDER holds the files that examples name. A field
is "COMMAND PATH TYPE": [] in a path stands for the elements of an array, * for members that are named by
data. LIST has the fields of the release, and --write writes those of now into it. A field that is listed
must be there with its type, since programs read it; one that is not listed must be added to the list.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

# Calls beside the examples, for fields that no example has: of orders nobody knows a limit, then one is not found,
# then it is.
MORE = [
    ("query", "brume query 'SELECT COUNT(*) AS n, AVG(age) AS mean, MEDIAN(age) AS middle FROM visits' --epsilon 0.3"),
    ("register", """awk 'BEGIN { for (i = 0; i < 3000; i++) for (j = 0; j <= i % 20; j++)
                            printf "c%d,%s,%d\\n", i, j % 2 ? "a" : "b", i % 90 }' | sed '1i who,shop,paid' > orders.csv
                    brume register orders orders.csv --unit who --budget epsilon=20 --bounds paid=0..100 --domain shop=a,b"""),
    ("explain", "brume explain 'SELECT shop, SUM(paid) AS s, MEDIAN(paid) AS m FROM orders GROUP BY shop' --epsilon 0.1"),
    ("limits", "brume limits 'SELECT SUM(paid) AS s FROM orders' --epsilon 0.0001"),
    ("limits", "brume limits 'SELECT SUM(paid) AS s FROM orders' --epsilon 0.02"),
    ("explain", "brume explain 'SELECT SUM(paid) AS s FROM orders' --epsilon 10"),
    ("limits", "brume limits 'SELECT SUM(paid) AS s FROM orders' --epsilon 2"),
    ("explain", "brume explain 'SELECT SUM(paid) AS s FROM orders' --epsilon 1"),
    ("query", "brume query 'SELECT SUM(paid) AS s FROM orders' --within 50000"),
    ("query", "brume query 'SELECT COUNT(*) AS n FROM orders' --epsilon 0.01"),
    ("query", "brume query 'SELECT COUNT(*) AS n, AVG(paid) AS mean FROM orders' --epsilon 1"),
    ("history", "brume history --limit 2"),
]
# They answer on a terminal and over the network, and of what somebody else asked over it.
NO_JSON = {"shell", "serve", "review show", "review approve", "review reject"}
# Members with names of data: of libraries, columns, datasets.
NAMED_BY_DATA = {("version", "libraries")}
TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number",
         type(None): "null"}


def fields(command, value, path=""):
    """Every path of the value with its type."""
    if value is None and path.endswith(".*"):
        return  # not installed here
    if path:
        yield f"{command} {path} {TYPES[type(value)]}"
    if isinstance(value, dict):
        for name, member in value.items():
            name = "*" if (command, path) in NAMED_BY_DATA else name
            yield from fields(command, member, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for element in value:
            yield from fields(command, element, path + "[]")


def calls(environment):
    """(command, what a shell runs), in the order in which the examples are meant to be run."""
    listed = json.loads(subprocess.check_output(["brume", "help", "--json"], env=environment))
    for item in listed["commands"]:
        for example in item["examples"]:
            if item["name"] not in NO_JSON and "--man" not in example and "--completion" not in example:
                yield item["name"], example if "--json" in example else example + " --json"
        if item["name"] == "history":
            for command, line in MORE:
                yield command, line + " --json"


def answered(environment, given):
    """The fields of all answers; calls that give none."""
    found, silent = set(), []
    folder = tempfile.mkdtemp(prefix="brume-answers-")
    try:
        shutil.copytree(given, folder, dirs_exist_ok=True)
        for command, line in calls(environment):
            done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, timeout=120,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            answers = done.stdout.splitlines() if done.returncode == 0 else []
            if not answers:
                silent.append(f"{line}: exit {done.returncode}: {done.stderr.strip()}")
            for answer in answers:
                found.update(fields(command, json.loads(answer)))
    finally:
        shutil.rmtree(folder)
    return found, silent


def compare(found, listed):
    """(fields that left, fields that nobody listed)"""
    return sorted(listed - found), sorted(found - listed)


def main():
    programs, given, path = (os.path.abspath(word) for word in sys.argv[1:4])
    environment = dict(os.environ, PATH=programs + ":" + os.environ["PATH"], LC_ALL="C.UTF-8")
    environment.pop("BRUME_LEDGER", None)
    found, silent = answered(environment, given)
    if "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(sorted(found)) + "\n")
        print("\n".join(silent))
        return 1 if silent else 0
    with open(path, encoding="utf-8") as text:
        listed = set(text.read().splitlines())
    gone, new = compare(found, listed)
    planted = sorted(listed)[0]
    tests = [
        ("every call answers in JSON", silent),
        ("no field has left an answer or changed its type", gone),
        (f"new fields are listed in {os.path.basename(path)}", new),
        ("a field that leaves is found", [] if compare(listed - {planted}, listed)[0] == [planted] else [planted]),
    ]
    print(f"1..{len(tests)}")
    for number, (name, wrong) in enumerate(tests, 1):
        print(f"{'not ' if wrong else ''}ok {number} - {name}")
        print("".join(f"# {line}\n" for line in wrong), end="")
    return 1 if any(wrong for _, wrong in tests) else 0


if __name__ == "__main__":
    sys.exit(main())
