#!/usr/bin/env python3
"""Nothing but noise that was paid for depends on a row, in TAP.

    with-cluster run_neighbours.py FORK_SERVER WRITE_PARQUET ROUNDS [SEED]

Each round makes a table and VARIANTS others that differ from it in the rows of one unit, the victim: ordinary
rows in the first, the nastiest that nasty_rows.py knows in the others. All are registered with the same policy
and asked the same questions, and each of the others is compared with the first. What can be seen without paying must be the same to the byte: output and exit code of
register, show, explain and history, messages and exit codes of every query, the files left behind.
Answers are bought for so large an epsilon that the noise is below the tolerance but with a probability
below 10^-20 (an answer's noise is Laplace's, of a scale of at most 10^-6, and the tolerance is 10^-4; a
mean's has a scale of at most 0.3/n, and the tolerance is 20/n): what they say of the other units must be
the same too, and what they say of everybody may differ by what one unit may contribute.
"""
import json
import os
import random as randomness
import re
import subprocess
import sys

import nasty_rows
from nasty_rows import NAMES, VICTIM
from processes import Folder, check, run_tests

VARIANTS = 6
ROWS_MOST, LOW, HIGH = 3, 0, 100
TOLERANCE = 1e-4
BY_UNIT = [
    "SELECT who, COUNT(*) AS c, COUNT(x) AS cx, SUM(x) AS sx FROM people GROUP BY who",
    "SELECT who, COUNT(t) AS c FROM people WHERE t LIKE '%e%' OR t IS NULL OR length(t) > 4 GROUP BY who",
    "SELECT who, COUNT(*) AS c FROM people WHERE d > TIMESTAMP '2015-01-01 00:00:00' GROUP BY who",
    "SELECT who, COUNT(*) AS c FROM people WHERE EXTRACT(year FROM d) = 2020 OR upper(t) = 'RED' GROUP BY who",
    "SELECT who, SUM(CASE WHEN x > 50 THEN 1 ELSE 0 END) AS c FROM people GROUP BY who",
]
IN_ALL = [("SELECT COUNT(*) AS c FROM people", ROWS_MOST), ("SELECT COUNT(x) AS c FROM people", ROWS_MOST),
          ("SELECT SUM(x) AS s FROM people", ROWS_MOST * (HIGH - LOW)),
          ("SELECT COUNT(DISTINCT id) AS c FROM people", 1)]
FREE = [["show", "people"], ["show", "people", "--json"], ["datasets", "--json"]]


def without_paths_and_times(text):
    text = re.sub(r"brume-processes-\w+", "FOLDER", text)
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?", "TIME", text)


class Server:
    """brume, loaded once: see fork_server.c."""

    def __init__(self, program):
        environment = {k: v for k, v in os.environ.items() if k != "BRUME_LEDGER"}
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.place = Folder(".")

    def brume(self, folder, *words):
        files = [self.place.path("out"), self.place.path("err")]
        request = [str(len(words)), folder, *files, *words]
        self.process.stdin.write(b"".join(os.fsencode(word) + b"\0" for word in request))
        self.process.stdin.flush()
        code = int(self.process.stdout.readline())
        texts = []
        for name in files:
            with open(name, encoding="utf-8") as file:
                texts.append(file.read())
        return code, *texts

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.place.close()


class Side:
    """One of the tables: a folder, a ledger, and everything that was seen of it for free."""

    def __init__(self, server):
        self.server = server
        self.place = Folder(".")
        self.seen = []

    def brume(self, *arguments):
        return self.server.brume(self.place.folder, *arguments)

    def run(self, *arguments, paid=False):
        code, out, err = self.brume(*arguments)
        self.seen.append((arguments, code, "" if paid else without_paths_and_times(out),
                          without_paths_and_times(err)))
        return code, out

    def answer(self, sql):
        code, out = self.run("query", sql, "--epsilon", "1e9", "--json", paid=True)
        return json.loads(out) if code == 0 else None

    def finish(self):
        code, out = self.run("history", "people", "--json", paid=True)
        if code == 0:
            self.seen.append([{k: v for k, v in event.items() if k != "time"} for event in json.loads(out)["events"]])
        self.seen.append(sorted(os.listdir(self.place.folder)))


class Family:
    """A table, the first of the sides, and its neighbours."""

    def __init__(self, server, random, variants=VARIANTS):
        self.random = random
        self.sides = [Side(server) for _ in range(variants + 1)]
        self.rows = nasty_rows.ordinary_table(random)
        self.units = sorted({row[0] for row in self.rows}) + [VICTIM]
        self.count = random.randint(1, ROWS_MOST)
        self.places = sorted(random.randint(0, len(self.rows)) for _ in range(self.count))

    def lines(self, ordinary, victim):
        """The lines of a file: `ordinary` of the others' rows, `victim()` where the victim's are."""
        lines, places = [], list(self.places)
        for index, row in enumerate(self.rows + [None]):
            while places and places[0] == index:
                lines.append(victim())
                places.pop(0)
            if row:
                lines.append(ordinary(row))
        return lines

    def write(self, name, first, ordinary, nasty):
        """The same file on all sides, but for the victim's lines."""
        def usual():
            return ordinary(nasty_rows.ordinary(self.random, VICTIM))
        for side in self.sides:
            victim = usual if side is self.sides[0] else nasty
            text = b"\n".join(first + self.lines(ordinary, victim))
            with open(side.place.path(name), "wb") as file:
                file.write(text + self.random.choice([b"\n", b"\n", b""]) if victim is usual else text + b"\n")

    def close(self):
        for side in self.sides:
            side.place.close()

    # --- formats ---

    def separated(self):
        tabs, quoting = self.random.random() < 0.3, self.random.random() < 0.6
        mark, name = ("\t", "people.tsv") if tabs else (",", "people.csv")
        quoting = quoting or not tabs
        self.write(name, [mark.join(NAMES).encode()],
                   lambda row: nasty_rows.separated_line(row, mark, quoting),
                   lambda: nasty_rows.nasty_separated(self.random, mark))
        return [name, "--columns", "id text, who text, t text, d timestamp"] + ([] if quoting else ["--quote", "none"])

    def json_lines(self):
        self.write("people.json", [], nasty_rows.json_line, lambda: nasty_rows.nasty_json(self.random))
        return ["people.json", "--columns", "id text, who text, x decimal(9,2), t text, d timestamp"]

    def parquet(self):
        types = nasty_rows.parquet_types(self.random)
        self.write("people.csv", [",".join(NAMES).encode()],
                   lambda row: nasty_rows.separated_line(row, ",", True),
                   lambda: nasty_rows.separated_line(nasty_rows.SENTINELS, ",", True))
        ordinary, nasty = (side.place for side in self.sides[:2])
        for place in (ordinary, nasty):
            nasty_rows.write_parquet(WRITE_PARQUET, types, place.path("people.csv"), place.path("people.parquet"))
        for side in self.sides:
            os.remove(side.place.path("people.csv"))
        for side in self.sides[:0:-1]:  # the second one is patched last
            nasty_rows.patch_parquet(self.random, types, nasty.path("people.parquet"), side.place.path("people.parquet"))
        return ["people.parquet"]

    def postgresql(self):
        url, statements = os.environ["BRUME_TEST_POSTGRESQL"], []
        for number, side in enumerate(self.sides):
            def victim(usual=side is self.sides[0]):
                return nasty_rows.pg_ordinary(nasty_rows.ordinary(self.random, VICTIM)) if usual \
                    else nasty_rows.pg_nasty(self.random)
            rows = self.lines(nasty_rows.pg_ordinary, victim)
            statements.append(f"DROP SCHEMA IF EXISTS side{number} CASCADE; CREATE SCHEMA side{number}; "
                              f"CREATE TABLE side{number}.people (id text, who text, x numeric, t text, d timestamp); "
                              f"INSERT INTO side{number}.people VALUES " + ",".join(rows))
        nasty_rows.psql(url, ";\n".join(statements))
        return [url, "--table", "sideN.people"]

    # --- what is seen ---

    def register(self, source, more):
        domain = "who=" + ",".join(self.units)
        for number, side in enumerate(self.sides):
            words = [word.replace("sideN", f"side{number}") for word in source]
            code, out, err = side.brume("register", "people", *words, "--bounds", f"x={LOW}..{HIGH}", "--domain",
                                              domain, "--budget", "epsilon=1e12", *more)
            side.seen.append((code,) + tuple(without_paths_and_times(text).replace(f"side{number}", "sideN")
                                             for text in (out, err)))
            check(code == 0, f"register: exit {code}: {err}")

    def compare_free(self):
        texts = []
        for side in self.sides:
            side.finish()
            texts.append([re.sub(r"\bside\d+\b", "sideN", json.dumps(seen)) for seen in side.seen])
        for other in texts[1:]:
            check(len(other) == len(texts[0]), "one was asked more")
            for a, b in zip(texts[0], other):
                check(a == b, f"seen for free:\n{a[:900]}\n{b[:900]}")

    def compare_units(self, sql):
        answers = [side.answer(sql) for side in self.sides]
        check(all(answers), f"not answered: {sql}: {[side.seen[-1] for side in self.sides]}")
        others = [[row for row in answer["rows"] if row[0] != VICTIM] for answer in answers]
        for other in others:
            check(len(other) == len(self.units) - 1 and
                  all(a[0] == b[0] and all(abs(x - y) < TOLERANCE for x, y in zip(a[1:], b[1:]))
                      for a, b in zip(others[0], other)), f"other units changed: {sql}\n{others[0]}\n{other}")

    def compare_all(self, sql, most):
        first, *others = (side.answer(sql)["rows"][0][0] for side in self.sides)
        for other in others:
            check(abs(first - other) <= most + TOLERANCE, f"{sql}: {first} and {other} differ by more than {most}")


WRITE_PARQUET = None


def by_unit(family, source):
    family.register(source, ["--unit", "id", "--max-rows", str(ROWS_MOST)])
    free = family.random.choice(FREE)
    asked = family.random.sample(BY_UNIT, 2)
    for side in family.sides:
        side.run(*free)
        side.run("explain", asked[0], "--epsilon", "1", "--json")
    for sql in asked:
        family.compare_units(sql)
    family.compare_all(*family.random.choice(IN_ALL))
    family.compare_free()


def by_row(family, source):
    """Under replace the number of rows is public: no line may vanish or appear."""
    family.register(source, ["--unit", "row", "--adjacency", "replace"])
    rows = len(family.rows) + family.count
    for side in family.sides:
        counted = side.answer("SELECT COUNT(*) AS c FROM people")["rows"][0][0]
        check(counted == rows, f"{rows} rows are counted as {counted}")
    means = []
    for side in family.sides:
        code, out = side.run("release", "mean", "people", "--column", "x", "--bounds", f"{LOW}..{HIGH}", "--epsilon", "700",
                             "--adjacency", "replace",
                             "--json", paid=True)
        check(code == 0, f"release mean: {side.seen[-1]}")
        answer = json.loads(out)
        means.append(answer.pop("value"))
        side.seen.append(answer)
    for other in means[1:]:
        check(abs(means[0] - other) <= family.count * (HIGH - LOW) / rows + 20 / rows, f"means {means} of {rows} rows")
    family.compare_free()


def rounds(server, make, look, seed, count):
    for number in range(count):
        family = Family(server, randomness.Random(f"{seed} {make} {look.__name__} {number}"))
        try:
            look(family, getattr(family, make)())
        except AssertionError as fault:
            raise AssertionError(f"seed {seed}, round {number}: {fault}") from fault
        finally:
            family.close()


def multiline(family):
    """The control: declared so, a quote may swallow the rows of others."""
    name = "people.csv"
    family.write(name, [",".join(NAMES).encode()], lambda row: nasty_rows.separated_line(row, ",", True),
               lambda: nasty_rows.nasty_separated(family.random, ","))
    return [name, "--columns", "id text, who text, t text, d timestamp", "--multiline"]


def control(server):
    for number in range(40):
        family = Family(server, randomness.Random(f"control {number}"), 1)
        try:
            by_unit(family, multiline(family))
        except AssertionError:
            return
        finally:
            family.close()
    raise AssertionError("a quote that swallows other rows is not seen")


def main():
    global WRITE_PARQUET
    server, WRITE_PARQUET, count = Server(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    seed = sys.argv[4] if len(sys.argv) > 4 else "1"
    tests = []
    for make, words in (("separated", "lines of CSV and TSV"), ("json_lines", "lines of JSON"),
                        ("parquet", "values in Parquet"), ("postgresql", "values in PostgreSQL")):
        for look, what in ((by_unit, "the rows of other units"), (by_row, "the number of rows")):
            tests.append((f"no {words} change anything but a unit's own share of {what}" if look is by_unit
                          else f"no {words} change {what}",
                          lambda make=make, look=look: rounds(server, make, look, seed, count)))
    print(f"# {count * VARIANTS} pairs of each of {len(tests)} kinds, {count * VARIANTS * len(tests)} in all, seed {seed}")
    tests.append(("a reader in which a quote swallows the rows of others is caught", lambda: control(server)))
    try:
        return run_tests(tests)
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
