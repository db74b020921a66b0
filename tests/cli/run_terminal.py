#!/usr/bin/env python3
"""What a terminal gets: usage run_terminal.py BRUME.

Names and keys of data are anybody's. Every command that prints some is run with standard output or
standard error on a terminal, and no byte may come that a terminal obeys but line ends, tabs and the
colours of brume; on a pipe, CSV and JSON have the bytes as they are. A call that takes long says on
the terminal that it runs, and leaves nothing of that behind."""
import csv
import io
import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

BRUME = os.path.abspath(sys.argv[1])
COLUMN = "town\x1b]0;title\x07\x1b[2J\u202e"
KEYS = ["Aix\x1b[31m", "B\u009b2Jex", "C\u2066u\u2069lly", "D\x7fole\x08\x08", "E\nleft: epsilon 100", "Fé\u200c"]
ERASE, COLOURS = b"\x1b[K", (b"\x1b[0m", b"\x1b[1m", b"\x1b[2m")
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def on_terminal(words, folder, end=1, **environment):
    """What a terminal gets that is the process's standard output (1) or error (2)."""
    mine, its = pty.openpty()
    ends = {1: "stdout", 2: "stderr"}
    other = {name: subprocess.DEVNULL for number, name in ends.items() if number != end}
    process = subprocess.Popen([BRUME, *words], cwd=folder, stdin=subprocess.DEVNULL, **other, **{ends[end]: its},
                               env=dict(os.environ, TERM="xterm", **environment), start_new_session=True,
                               preexec_fn=lambda: own_terminal(its))
    os.close(its)
    got = b""
    while True:
        try:
            piece = os.read(mine, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        got += piece
    os.close(mine)
    return process.wait(), got.replace(b"\r\n", b"\n")


def own_terminal(file):
    import fcntl
    import termios

    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    fcntl.ioctl(file, termios.TIOCSCTTY, 0)
    os.tcsetpgrp(file, os.getpgrp())


def brume(folder, *words):
    process = subprocess.run([BRUME, *words], cwd=folder, capture_output=True)
    check(f"{words} failed", process.returncode == 0, process.stderr)
    return process.stdout.decode()


def check(what, holds, *seen):
    if not holds:
        sys.exit(f"run_terminal: {what} {seen}")


def is_harmless(got):
    for colour in COLOURS:
        got = got.replace(colour, b"")
    return not OBEYED.search(got.decode())  # it is also UTF-8


def names_are_shown_and_not_obeyed(folder):
    quoted = '"' + COLUMN + '"'
    count = f"SELECT {quoted}, COUNT(*) AS {quoted[:-1]}2\" FROM towns GROUP BY {quoted}"
    brume(folder, "query", count, "--epsilon", "5", "--json")
    asked = [["datasets"], ["show", "towns"], ["show", "towns", "--policy"], ["inspect", "towns.csv"], ["history"],
             ["history", "--verbose"], ["history", "--answer", answered(folder)], ["explain", count, "--epsilon", "5"],
             ["query", count, "--epsilon", "5"], ["limits", count, "--epsilon", "5"], ["dummy", count, "--epsilon", "5"],
             ["query", f"SELECT MAX({quoted}) AS {quoted} FROM open"], ["budget"], ["ledger", "export"],
             ["release", "mode", "towns.csv", "--no-ledger", "--column", COLUMN, "--epsilon", "9", "--delta", "1e-3"],
             ["show", "flat"], ["release", "histogram", "flat", "--column", COLUMN, "--epsilon", "5", "--delta", "1e-6"],
             ["statistic", "mode", "towns.csv", "--column", COLUMN]]
    for words in asked:
        for more in ([], ["--json"], ["--format", "csv"], ["--format", "html"], ["--format", "markdown"]):
            code, got = on_terminal([*words, *more], folder)
            if code == 2 and more:
                continue  # it has no such option
            check(f"{words} failed", code == 0 or words[0] in ("limits", "statistic"), more, code)
            check(f"a terminal obeys what {words} prints", is_harmless(got), more, got)
            if more == ["--json"] and code == 0:
                json.loads(got)
        code, got = on_terminal(words, folder, PAGER="cat", NO_COLOR="1")
        check(f"{words} has an escape without colours", b"\x1b" not in got, got)
    code, got = on_terminal(["query", count, "--epsilon", "5", "--json"], folder)
    check("the JSON of a terminal says the same", json.loads(got)["rows"] == answer(folder, count)["rows"])
    code, got = on_terminal(["query", count, "--epsilon", "5"], folder)
    check("keys are shown", rb"Aix\u001b[31m" in got and rb"E\nleft: epsilon 100" in got and rb"B\u009b2Jex" in got, got)
    check("what spelling needs stays", "Fé\u200c".encode() in got, got)


def answer(folder, sql):
    return json.loads(brume(folder, "query", sql, "--epsilon", "5", "--json"))


def answered(folder):
    return str(json.loads(brume(folder, "history", "--json"))["events"][-1]["id"])


def files_get_the_bytes(folder):
    sql = f'SELECT "{COLUMN}", COUNT(*) AS n FROM towns GROUP BY "{COLUMN}"'
    rows = list(csv.reader(io.StringIO(brume(folder, "query", sql, "--epsilon", "5", "--format", "csv"), newline="")))
    check("a file has other names", rows[0][0] == COLUMN, rows[0])
    check("a file has other keys", [row[0] for row in rows[1:]] == KEYS, rows)
    check("JSON has other keys", [row[0] for row in answer(folder, sql)["rows"]] == KEYS)


def errors_are_shown_and_not_obeyed(folder):
    for words in (["query", f'SELECT COUNT("{COLUMN}x") FROM towns', "--epsilon", "1"], ["show", COLUMN],
                  [COLUMN], ["release", "mean", "towns", "--column", COLUMN + "x", "--epsilon", "1"],
                  ["query", f"SELECT COUNT(*) FROM \"{COLUMN}\"", "--epsilon", "1"], ["query", "-f", COLUMN]):
        for more in ([], ["--json"]):
            code, got = on_terminal([*words, *more], folder, end=2)
            check(f"{words} has no error", code != 0)
            check(f"a terminal obeys the error of {words}", is_harmless(got), more, got)
            if more:
                check("no error", json.loads(got)["error"]["message"])


def errors_are_json_whatever_is_typed(folder):
    """Also where a text is cut in the middle of a character, or has never been UTF-8."""
    for length in range(225, 245):
        for odd in ("", "x"):
            for words in (["query", f'SELECT COUNT("{odd}{"é" * length}") FROM towns'], ["show", odd + "é" * length]):
                check_json(folder, [*words, "--json"])
    with open(os.path.join(folder, "latin.sql"), "wb") as out:
        out.write(b"SELECT COUNT(caf\xe9) FROM towns")
    with open(os.path.join(folder, "latin.yaml"), "wb") as out:
        out.write(b"budget: epsilon=1\ncaf\xe9: 1\n")
    with open(os.path.join(folder, "latin.csv"), "wb") as out:
        out.write(b"caf\xe9,b\n1,2\n")
    for words in (["query", b"SELECT COUNT(caf\xe9) FROM towns"], ["show", b"\xe9"], [b"\xe9"], ["query", b"--\xe9"],
                  ["query", "-f", "latin.sql"], ["register", "l", "--policy", "latin.yaml"],
                  ["register", "l", "latin.csv", "--unit", "caf", "--budget", "epsilon=1"],
                  ["inspect", b"caf\xe9.csv"], ["account", b"laplac\xe9(scale=1)"], ["noise", "laplace(scale=1)", b"--count=\xe9"],
                  ["register", "l", b"\xe9.csv", "--unit", "row", "--budget", "epsilon=1"]):
        check_json(folder, [*words, "--json"])


def check_json(folder, words):
    process = subprocess.run([BRUME, *words], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL)
    check(f"{words} has no error", process.returncode != 0)
    check(f"{words} is an internal error", process.returncode != 70)
    try:
        check("no message", json.loads(process.stderr.decode())["error"]["message"])
    except ValueError:
        check(f"the error of {words} is no JSON", False, process.stderr)


def a_warning_may_quote_a_long_text(folder):
    """A value outside a declared domain is quoted, cut to 60 bytes."""
    for odd in ("", "x"):
        sql = f"SELECT COUNT(*) AS n FROM named WHERE name = '{odd}{'é' * 40}'"
        found = subprocess.run([BRUME, "explain", sql, "--epsilon", "1", "--json"], cwd=folder, capture_output=True)
        check("a text that is cut fails", found.returncode == 0, found.stderr)
        check("there is no warning", "declared domain" in found.stdout.decode(), found.stdout)


def a_long_query_says_that_it_runs(folder):
    ledger = sqlite3.connect(os.path.join(folder, "brume.db"), isolation_level=None)
    ledger.execute("BEGIN IMMEDIATE")  # a charge waits for this
    words = ["query", "SELECT COUNT(*) AS n FROM named", "--epsilon", "1"]
    seen = []
    asking = threading.Thread(target=lambda: seen.append(on_terminal(words, folder, end=2)))
    asking.start()
    time.sleep(3.2)
    ledger.execute("COMMIT")
    asking.join()
    code, got = seen[0]
    check("the query failed", code == 0, got)
    check("nothing says that it runs", re.search(rb"[a-z ]+: 1 s.*: 2 s", got, re.S), got)
    check("it is not wiped", got.endswith(b"\r" + ERASE), got)
    check("numbers other than seconds", not re.search(rb"\d+ [^s]", got.replace(ERASE, b"")), got)
    code, got = on_terminal(words, folder, end=2)
    check("a short call shows something", code == 0 and got == b"", got)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, people in (("towns.csv", 600), ("open.csv", 60)):
            with open(os.path.join(folder, name), "w", newline="") as out:
                write = csv.writer(out, lineterminator="\n")
                write.writerow(["person", COLUMN])
                write.writerows([i, KEYS[i % len(KEYS)]] for i in range(people))
        with open(os.path.join(folder, "named.csv"), "w") as out:
            out.write("person,name\n" + "".join(f"{i},{'a' if i % 2 else 'é'}\n" for i in range(100)))
        with open(os.path.join(folder, "towns.yaml"), "w") as out:
            json.dump({"budget": "epsilon=1000,delta=1e-3", "max-groups": 1, "max-rows": 1,
                       "tables": {"towns": {"source": "towns.csv", "unit": "person",
                                            "columns": f'person integer, "{COLUMN}" text',
                                            "multiline": True, "domain": {COLUMN: KEYS}},
                                  "open": {"source": "open.csv", "public": True, "multiline": True,
                                           "columns": f'person integer, "{COLUMN}" text'}}}, out)
        brume(folder, "register", "towns", "--policy", "towns.yaml")
        brume(folder, "register", "flat", "towns.csv", "--unit", "person", "--budget", "epsilon=1000,delta=1e-3",
              "--multiline", "--max-groups", "1", "--max-rows", "1", "--new-budget")
        brume(folder, "register", "named", "named.csv", "--unit", "person", "--budget", "epsilon=100",
              "--domain", "name=a,é", "--new-budget")
        for holds in (names_are_shown_and_not_obeyed, files_get_the_bytes, errors_are_shown_and_not_obeyed,
                      errors_are_json_whatever_is_typed, a_warning_may_quote_a_long_text,
                      a_long_query_says_that_it_runs):
            if len(sys.argv) < 3 or sys.argv[2] in holds.__name__:
                holds(folder)


main()
