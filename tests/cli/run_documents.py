#!/usr/bin/env python3
"""Run the commands that a document shows, in TAP.

    run_documents.py DIRECTORY_OF_BRUME DOCUMENT.md...     (a folder: its README.md, docs/*.md
                                                           and docs/lectures/*.md)

In every block of the kind ```console, a line `$ COMMAND` is run, all of a document in one empty
folder, so that later commands see what earlier ones wrote. It must succeed, unless the line before
the block is `<!-- exit N -->`. The lines shown below it must be what it prints, except that numbers
may differ: noise is noise; after `<!-- same numbers -->` they must agree to nine digits. A line `...`
stands for any lines. `<!-- not run -->` before a block
leaves it out. Blocks of the kind ```csv after a line `<!-- file NAME -->` become that file.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?")


def parse(path):
    """Steps: ("file", name, text) and ("run", command, shown lines, exit code, exact)."""
    steps, note, kind, block = [], "", None, []
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if kind is None and line.startswith("```"):
            kind, block = line[3:].strip(), []
        elif kind is not None and line.startswith("```"):
            if kind == "console" and "not run" not in note:
                found = re.search(r"exit (\d+)", note)
                steps += commands(block, int(found.group(1)) if found else 0,
                                  "same numbers" in note)
            named = re.search(r"file (\S+)", note)
            if kind != "console" and named:
                steps.append(("file", named.group(1), "\n".join(block) + "\n"))
            kind, note = None, ""
        elif kind is not None:
            block.append(line)
        elif line.startswith("<!--"):
            note = line
        elif line:
            note = ""
    return steps


def commands(block, code, exact=False):
    steps = []
    for line in block:
        if line.startswith("$ "):
            steps.append(["run", line[2:], [], 0, exact])
        elif steps and steps[-1][1].endswith("\\") and not steps[-1][2]:
            steps[-1][1] += "\n" + line
        elif steps:
            steps[-1][2].append(line)
    if steps:
        steps[-1][3] = code
    return [tuple(step) for step in steps]


def shape(line):
    return re.sub(r"\s+", " ", re.sub(r"[━─-]{3,}", "---", NUMBER.sub("#", line))).strip()


def numbers_agree(shown, printed):
    """Of two lines of one shape: are their numbers the same to nine digits?"""
    pairs = zip(NUMBER.finditer(shown), NUMBER.finditer(printed))
    values = [[float(x.group().replace(",", "").replace("−", "-")) for x in pair] for pair in pairs]
    return all(abs(a - b) <= 1e-9 * max(abs(a), abs(b)) for a, b in values)


def differs(shown, printed, exact=False):
    """None, or the first line that is not as shown."""
    at = 0
    for index, line in enumerate(shown):
        if line.strip() == "...":
            rest = shown[index + 1:]
            return differs(rest, printed[len(printed) - len(rest):], exact) if rest else None
        if at >= len(printed):
            return f"shown, not printed: {line}"
        if shape(line) != shape(printed[at]) or (exact and not numbers_agree(line, printed[at])):
            return f"shown:   {line}\nprinted: {printed[at]}"
        at += 1
    return f"printed, not shown: {printed[at]}" if at < len(printed) and shown else None


def run_step(step, environment, folder):
    """None, or what is wrong."""
    _, command, shown, code, exact = step
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, timeout=300,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != code:
        return f"exit {done.returncode}, expected {code}\n{done.stdout}"
    wrong = differs(shown, done.stdout.splitlines(), exact)
    return wrong and f"{wrong}\nall that was printed:\n{done.stdout}"


def documents(words):
    for word in words:
        if os.path.isdir(word):
            yield os.path.join(word, "README.md")
            yield from sorted(glob.glob(os.path.join(word, "docs", "*.md")))
            yield from sorted(glob.glob(os.path.join(word, "docs", "lectures", "*.md")))
        else:
            yield word


def main():
    programs = os.path.abspath(sys.argv[1])
    environment = dict(os.environ, PATH=programs + ":" + os.environ["PATH"], LC_ALL="C.UTF-8")
    environment.pop("BRUME_LEDGER", None)
    number = failed = 0
    for path in documents(sys.argv[2:]):
        folder = tempfile.mkdtemp(prefix="brume-document-")
        for step in parse(path):
            if step[0] == "file":
                with open(os.path.join(folder, step[1]), "w", encoding="utf-8") as out:
                    out.write(step[2])
                continue
            number += 1
            wrong = run_step(step, environment, folder)
            failed += wrong is not None
            first = step[1].splitlines()[0]
            print(f"{'not ok' if wrong else 'ok'} {number} - {os.path.basename(path)}: {first}")
            if wrong:
                print("\n".join("# " + line for line in wrong.splitlines()))
            sys.stdout.flush()
        shutil.rmtree(folder)
    print(f"1..{number}")
    return 1 if failed or not number else 0


if __name__ == "__main__":
    sys.exit(main())
