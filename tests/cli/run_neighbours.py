#!/usr/bin/env python3
"""Nothing but noise that was paid for depends on a row, in TAP.

    with-cluster run_neighbours.py DIRECTORY_OF_BRUME WRITE_PARQUET ROUNDS [SEED]

Each round makes two tables that differ in the rows of one unit, the victim: ordinary rows in one, the
nastiest that nasty_rows.py knows in the other. Both are registered with the same policy and asked the
same questions. What can be seen without paying must be the same to the byte: output and exit code of
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
import sys

import nasty_rows
from nasty_rows import NAMES, VICTIM
from processes import Folder, check, run_tests

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


class Side:
    """One of the two tables: a folder, a ledger, and everything that was seen of it for free."""

    def __init__(self, programs):
        self.place = Folder(programs)
        self.seen = []

    def run(self, *arguments, paid=False):
        code, out, err = self.place.brume(*arguments)
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


class Pair:
    def __init__(self, programs, random):
        self.random = random
        self.sides = [Side(programs), Side(programs)]
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
        """The same file on both sides, but for the victim's lines."""
        def usual():
            return ordinary(nasty_rows.ordinary(self.random, VICTIM))
        for side, victim in zip(self.sides, (usual, nasty)):
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
        for side in self.sides:
            csv, path = side.place.path("people.csv"), side.place.path("people.parquet")
            nasty_rows.write_parquet(WRITE_PARQUET, types, csv, path)
            os.remove(csv)
        nasty_rows.patch_parquet(self.random, types, path)
        return ["people.parquet"]

    def postgresql(self):
        url = os.environ["BRUME_TEST_POSTGRESQL"]
        for number, side in enumerate(self.sides):
            usual = number == 0
            def victim(usual=usual):
                return nasty_rows.pg_ordinary(nasty_rows.ordinary(self.random, VICTIM)) if usual \
                    else nasty_rows.pg_nasty(self.random)
            rows = self.lines(nasty_rows.pg_ordinary, victim)
            nasty_rows.psql(url, f"DROP SCHEMA IF EXISTS side{number} CASCADE; CREATE SCHEMA side{number}; "
                                 f"CREATE TABLE side{number}.people (id text, who text, x numeric, t text, d timestamp); "
                                 f"INSERT INTO side{number}.people VALUES " + ",".join(rows))
        return [url, "--table", "sideN.people"]

    # --- what is seen ---

    def register(self, source, more):
        domain = "who=" + ",".join(self.units)
        for number, side in enumerate(self.sides):
            words = [word.replace("sideN", f"side{number}") for word in source]
            code, out, err = side.place.brume("register", "people", *words, "--bounds", f"x={LOW}..{HIGH}", "--domain",
                                              domain, "--budget", "epsilon=1e12", *more)
            side.seen.append((code,) + tuple(without_paths_and_times(text).replace(f"side{number}", "sideN")
                                             for text in (out, err)))
            check(code == 0, f"register: exit {code}: {err}")

    def compare_free(self):
        for side in self.sides:
            side.finish()
        for a, b in zip(*(side.seen for side in self.sides)):
            text = [json.dumps(seen).replace("side0", "sideN").replace("side1", "sideN") for seen in (a, b)]
            check(text[0] == text[1], f"seen for free:\n{text[0][:900]}\n{text[1][:900]}")

    def compare_units(self, sql):
        answers = [side.answer(sql) for side in self.sides]
        check(all(answers), f"not answered: {sql}: {self.sides[0].seen[-1]} {self.sides[1].seen[-1]}")
        others = [[row for row in answer["rows"] if row[0] != VICTIM] for answer in answers]
        same = all(a[0] == b[0] and all(abs(x - y) < TOLERANCE for x, y in zip(a[1:], b[1:])) for a, b in zip(*others))
        check(same and len(others[0]) == len(others[1]) == len(self.units) - 1,
              f"other units changed: {sql}\n{others[0]}\n{others[1]}")

    def compare_all(self, sql, most):
        a, b = (side.answer(sql)["rows"][0][0] for side in self.sides)
        check(abs(a - b) <= most + TOLERANCE, f"{sql}: {a} and {b} differ by more than {most}")


WRITE_PARQUET = None


def by_unit(pair, source):
    pair.register(source, ["--unit", "id", "--max-rows", str(ROWS_MOST)])
    for side in pair.sides:
        for words in FREE:
            side.run(*words)
    asked = pair.random.sample(BY_UNIT, 2)
    for sql in asked:
        for side in pair.sides:
            side.run("explain", sql, "--epsilon", "1", "--json")
        pair.compare_units(sql)
    pair.compare_all(*pair.random.choice(IN_ALL))
    pair.compare_free()


def by_row(pair, source):
    """Under replace the number of rows is public: no line may vanish or appear."""
    pair.register(source, ["--unit", "row", "--adjacency", "replace"])
    rows = len(pair.rows) + pair.count
    for side in pair.sides:
        counted = side.answer("SELECT COUNT(*) AS c FROM people")["rows"][0][0]
        check(counted == rows, f"{rows} rows are counted as {counted}")
    means = []
    for side in pair.sides:
        code, out = side.run("release", "mean", "people", "--column", "x", "--bounds", f"{LOW}..{HIGH}", "--epsilon", "700",
                             "--adjacency", "replace",
                             "--json", paid=True)
        check(code == 0, f"release mean: {side.seen[-1]}")
        answer = json.loads(out)
        means.append(answer.pop("value"))
        side.seen.append(answer)
    check(abs(means[0] - means[1]) <= pair.count * (HIGH - LOW) / rows + 20 / rows, f"means {means} of {rows} rows")
    pair.compare_free()


def rounds(programs, make, look, seed, count):
    for number in range(count):
        pair = Pair(programs, randomness.Random(f"{seed} {make} {look.__name__} {number}"))
        try:
            look(pair, getattr(pair, make)())
        except AssertionError as fault:
            raise AssertionError(f"seed {seed}, round {number}: {fault}") from fault
        finally:
            pair.close()


def multiline(pair):
    """The control: declared so, a quote may swallow the rows of others."""
    name = "people.csv"
    pair.write(name, [",".join(NAMES).encode()], lambda row: nasty_rows.separated_line(row, ",", True),
               lambda: nasty_rows.nasty_separated(pair.random, ","))
    return [name, "--columns", "id text, who text, t text, d timestamp", "--multiline"]


def control(programs):
    for number in range(40):
        pair = Pair(programs, randomness.Random(f"control {number}"))
        try:
            by_unit(pair, multiline(pair))
        except AssertionError:
            return
        finally:
            pair.close()
    raise AssertionError("a quote that swallows other rows is not seen")


def main():
    global WRITE_PARQUET
    programs, WRITE_PARQUET, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = sys.argv[4] if len(sys.argv) > 4 else "1"
    tests = []
    for make, words in (("separated", "lines of CSV and TSV"), ("json_lines", "lines of JSON"),
                        ("parquet", "values in Parquet"), ("postgresql", "values in PostgreSQL")):
        for look, what in ((by_unit, "the rows of other units"), (by_row, "the number of rows")):
            tests.append((f"no {words} change anything but a unit's own share of {what}" if look is by_unit
                          else f"no {words} change {what}",
                          lambda make=make, look=look: rounds(programs, make, look, seed, count)))
    tests.append(("a reader in which a quote swallows the rows of others is caught", lambda: control(programs)))
    return run_tests(tests)


if __name__ == "__main__":
    sys.exit(main())
