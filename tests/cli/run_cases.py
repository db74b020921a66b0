#!/usr/bin/env python3
"""Run the cases of a file as real processes and report in TAP.

    run_cases.py DIRECTORY_OF_BRUME FILE.case [--wrapper COMMAND]

A case is a name, a shell command and what must come of it:

    # a name that says what holds
    $ brume mechanisms laplce
    ? 2
    > a line of standard output, exactly
    >~ a regular expression that a whole line of standard output matches
    >= answer["alpha"] <= 3      (a Python expression over standard output read as JSON)
    >* any further lines of standard output
    ! a line of standard error, exactly; also !~ and !*; != for {"error": ...}

`? 0` may be left out. Streams without any line must be empty. A command may go on over several
`$` lines. `$PROGRAM` is brume's path and every case starts in an empty folder of its own file, so
later cases see what earlier ones wrote.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


def parse(path):
    cases, case = [], None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if line.startswith("# "):
            case = {"name": line[2:], "command": [], "exit": 0, ">": [], "!": [], "line": number}
            cases.append(case)
        elif not line or line.startswith("##"):
            continue
        elif case is None:
            sys.exit(f"{path}:{number}: no case begun")
        elif line.startswith("$ "):
            case["command"].append(line[2:])
        elif line.startswith("? "):
            case["exit"] = int(line[2:])
        elif line[0] in ">!":
            kind = line[1] if len(line) > 1 and line[1] in "~*=" else ""
            text = line[1 + len(kind):]
            case[line[0]].append((kind, text[1:] if text.startswith(" ") else text))
        else:
            sys.exit(f"{path}:{number}: not understood: {line}")
    return cases


def check_stream(name, expected, text):
    """None, or what is wrong with a stream."""
    checks = [(kind, want) for kind, want in expected if kind == "="]
    lines = [(kind, want) for kind, want in expected if kind != "="]
    for _, expression in checks:
        try:
            answer = json.loads(text)
        except ValueError as why:
            return f"{name} is not JSON ({why}): {text!r}"
        scope = {"answer": answer, "error": answer.get("error", {}), "re": re, "len": len,
                 "abs": abs, "all": all, "any": any, "set": set, "sum": sum, "sorted": sorted}
        if not eval(expression, scope):  # the expressions are the repository's own
            return f"{name}: does not hold: {expression}\n{text}"
    if checks and not lines:
        return None
    actual = text.splitlines()
    for index, (kind, want) in enumerate(lines):
        if kind == "*":
            return None
        if index >= len(actual):
            return f"{name} ends before: {want}\n{text}"
        if kind == "~" and not re.fullmatch(want, actual[index]):
            return f"{name} line {index + 1} does not match {want!r}: {actual[index]!r}"
        if kind == "" and want != actual[index]:
            return f"{name} line {index + 1}: expected {want!r}\n                 got {actual[index]!r}"
    if len(actual) > len(lines):
        return f"{name} goes on: {actual[len(lines)]!r}"
    return None


def run(case, environment, folder):
    if not case["command"]:
        return "has no command"
    done = subprocess.run(["bash", "-c", "\n".join(case["command"])], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if done.returncode != case["exit"]:
        return f"exit code {done.returncode}, expected {case['exit']}\n{out}{err}"
    return check_stream("standard output", case[">"], out) or \
        check_stream("standard error", case["!"], err)


def main():
    programs, path = os.path.abspath(sys.argv[1]), sys.argv[2]
    environment = dict(os.environ, PATH=programs + ":" + os.environ["PATH"], LC_ALL="C.UTF-8",
                       PROGRAM=os.path.join(programs, "brume"), TERM="xterm",
                       TESTS=os.path.dirname(os.path.abspath(path)))
    for name in ("BRUME_LEDGER", "NO_COLOR"):
        environment.pop(name, None)
    folder = tempfile.mkdtemp(prefix="brume-cli-")
    cases = parse(path)
    print(f"1..{len(cases)}")
    failed = 0
    try:
        for number, case in enumerate(cases, 1):
            wrong = run(case, environment, folder)
            failed += wrong is not None
            print(f"{'not ' if wrong else ''}ok {number} - {case['name']}")
            if wrong:
                print("\n".join("# " + line for line in
                                [f"{path}:{case['line']}"] + wrong.splitlines()))
            sys.stdout.flush()
    finally:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
