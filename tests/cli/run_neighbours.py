#!/usr/bin/env python3
"""Nothing but noise that was paid for depends on a row, in TAP.

    with-cluster run_neighbours.py FORK_SERVER WRITE_PARQUET ROUNDS [SEED]      (without SEED also the controls)

Each round makes a table and VARIANTS others that differ from it in the rows of one unit, the victim: ordinary
rows in the first, the nastiest that nasty_rows.py knows in the others. All are registered with the same policy
and asked the same questions, and each of the others is compared with the first. What can be seen without
paying must be the same to the byte: output and exit code of register, show, explain, budget and history,
messages and exit codes of every query, limits, release and stream, and of what is refused, the files left behind.
Answers are bought for so large an epsilon that the noise is below the tolerance but with a probability
below 10^-20 (an answer's noise is Laplace's, of a scale of at most 2*10^-6, and the tolerance is 10^-4; a
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

VARIANTS, FEW = 6, 3  # neighbours of a table: where answers are compared by unit or row, elsewhere
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
          ("SELECT a.c + b.c AS c FROM (SELECT COUNT(*) AS c FROM people) a CROSS JOIN (SELECT COUNT(x) AS c FROM "
           "people) b", 2 * ROWS_MOST),
          ("SELECT COUNT(DISTINCT id) AS c FROM people", 1),
          ("SELECT COUNT(DISTINCT id) FILTER (WHERE x > 50) AS c FROM people", 1),
          ("SELECT COUNT(DISTINCT CASE WHEN t LIKE '%e%' THEN id END) AS c FROM people", 1)]
FREE = [["show", "people"], ["show", "people", "--json"], ["datasets", "--json"], ["show", "people", "--policy"],
        ["budget", "people"], ["budget", "people", "--json"], ["history", "people"], ["ledger", "verify"]]
REFUSED = [["query", "SELECT COUNT(y) FROM people", "--epsilon", "1"],
           ["query", "SELECT COUNT( FROM people", "--epsilon", "1"],
           ["query", "SELECT * FROM people", "--epsilon", "1"],
           ["query", "SELECT SUM(t) FROM people", "--epsilon", "1"],
           ["query", "SELECT COUNT(*) FROM people", "--epsilon", "1e14"],
           ["query", "SELECT COUNT(*) FROM people"],
           ["query", "SELECT x, COUNT(*) FROM people, nobody GROUP BY x", "--epsilon", "1"],
           ["explain", "SELECT AVG(x) FROM people WHERE x / 0 > 1", "--epsilon", "1"],
           ["explain", "SELECT MEDIAN(x) FROM people", "--within", "1"],
           ["query", "SELECT p.x FROM people p JOIN (SELECT t, COUNT(*) AS c FROM people GROUP BY t) g ON g.t = p.t",
            "--epsilon", "1"],
           ["query", "SELECT CAST(t AS integer) + y FROM (SELECT t, COUNT(*) AS c FROM people GROUP BY t) g",
            "--epsilon", "1"],
           ["explain", "SELECT MAX(c) - MIN(c) FROM (SELECT x > 5 AS k, COUNT(*) AS c FROM people GROUP BY 1) g",
            "--epsilon", "1"],
           ["explain", "SELECT who, AVG(x) FROM people GROUP BY who", "--epsilon", "0.5"],
           ["limits", "SELECT COUNT(DISTINCT id) FROM people", "--epsilon", "1"],
           ["limits", "SELECT t, COUNT(*) FROM people GROUP BY t", "--epsilon", "1"],
           ["release", "mean", "people", "--column", "y", "--bounds", "0..1", "--epsilon", "1"],
           ["release", "median", "people", "--column", "x", "--bounds", "1..0", "--epsilon", "1"],
           ["stream", "above-threshold", "--threshold", "1", "--epsilon", "1", "--dataset", "nobody"],
           ["register", "people", "elsewhere.csv", "--unit", "row", "--budget", "epsilon=1"],
           ["audit", "--query", "SELECT COUNT(*) FROM people", "--epsilon", "0"]]
RELEASES = [["count"], ["mean", "--column", "x"], ["sum", "--column", "x"], ["variance", "--column", "x"],
            ["quantile", "--q", "0.9", "--column", "x"], ["median", "--column", "x"],
            ["median", "--column", "x", "--method", "smooth"], ["median", "--column", "x", "--method", "global"],
            ["median", "--column", "x", "--method", "ptr", "--delta", "1e-6", "--beta", "5"],
            ["iqr", "--column", "x", "--method", "stable", "--delta", "1e-6"],
            ["iqr", "--column", "x", "--method", "smooth"], ["mode", "--column", "who", "--method", "noisy-max"],
            ["mode", "--column", "t", "--delta", "1e-6"], ["histogram", "--column", "who", "--method", "laplace"],
            ["histogram", "--column", "t", "--delta", "1e-6"], ["top-k", "--column", "t", "--k", "2", "--delta", "1e-6"],
            ["reciprocal"]]
CONDITIONS = ["x > 50", "x IS NULL", "t LIKE '%e%'", "length(t) > 3", "d > TIMESTAMP '2015-01-01 00:00:00'", "1 = 1",
              "CAST(t AS integer) IS NULL", "upper(t) = 'RED'"]


def without_paths_and_times(text):
    text = re.sub(r"brume-processes-\w+", "FOLDER", text)
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?| UTC)", "TIME", text)


class Server:
    """brume, loaded once: see fork_server.c."""

    def __init__(self, program):
        environment = {k: v for k, v in os.environ.items() if k != "BRUME_LEDGER"}
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.place = Folder(".")

    def brume(self, folder, *words, text=""):
        with open(self.place.path("in"), "w", encoding="utf-8") as file:
            file.write(text)
        files = [self.place.path("out"), self.place.path("err")]
        request = [str(len(words)), folder, self.place.path("in"), *files, *words]
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
        self.history = True
        self.hidden = {"time"}  # of an event of the history

    def brume(self, *arguments, text=""):
        return self.server.brume(self.place.folder, *arguments, text=text)

    def run(self, *arguments, paid=False, text=""):
        code, out, err = self.brume(*arguments, text=text)
        self.seen.append((arguments, code, "" if paid else without_paths_and_times(out),
                          without_paths_and_times(err)))
        return code, out

    def answer(self, sql, *more):
        code, out = self.run("query", sql, "--epsilon", "3e10", "--json", *more, paid=True)
        return json.loads(out) if code == 0 else None

    def finish(self):
        code, out = self.run("history", "people", "--json", paid=True)
        if code == 0 and self.history:
            self.seen.append([{k: v for k, v in event.items() if k not in self.hidden} for event in json.loads(out)["events"]])
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
        if random.random() < 0.3:
            self.places[0] = 0  # the first row of all

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
        quoting, header = quoting or not tabs, self.random.random() < 0.7
        self.write(name, [mark.join(NAMES).encode()] if header else [],
                   lambda row: nasty_rows.separated_line(row, mark, quoting),
                   lambda: nasty_rows.nasty_separated(self.random, mark))
        return ([name, "--columns", "id text, who text, " + ("" if header else "x decimal(9,2), ") + "t text, d timestamp"] +
                ([] if quoting else ["--quote", "none"]) + ([] if header else ["--no-header"]))

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

    def visits(self, source):
        """A table of visits and one of their items, each linked to the one before; the source of each."""
        def rows(victim):
            """Visits of the other units, and where the victim's are, which lines they are."""
            lines = [f"{unit}-{i},{unit},{i + 1}".encode() for unit in self.units[:-1] for i in range(visits[unit])]
            return lines + [victim(i) for i in range(visits[VICTIM])]
        visits = {unit: self.random.randint(0, 3) for unit in self.units}
        for number, side in enumerate(self.sides):
            usual = side is self.sides[0]
            lines = rows(lambda i: f"{VICTIM}-{i},{VICTIM},{i + 1}".encode() if usual
                         else nasty_rows.nasty_visit(self.random, i))
            items = [f"{unit}-{i},{5 * i + 1}".encode() for unit in self.units for i in range(visits[unit])]
            if source[0].startswith("postgresql:"):
                values = [line.split(b",") if usual or b"u" in line else nasty_rows.pg_visit(self.random) for line in lines]
                nasty_rows.psql(source[0], nasty_rows.pg_tables(f"side{number}", values, items))
                continue
            for name, first, body in (("visits", b"visit,person,cost", lines), ("items", b"visit,price", items)):
                with open(side.place.path(name + ".csv"), "wb") as file:
                    file.write(b"\n".join([first] + body) + b"\n")
        if source[0].startswith("postgresql:"):
            return [f"source: {source[0]}, table: sideN.{name}" for name in ("visits", "items")]
        return ["source: visits.csv, columns: 'visit text, person text'", "source: items.csv, columns: visit text"]

    # --- what is seen ---

    def seen_at_first(self, number, side, *words):
        code, out, err = side.brume(*[word.replace("sideN", f"side{number}") for word in words])
        side.seen.append((code,) + tuple(without_paths_and_times(text).replace(f"side{number}", "sideN")
                                         for text in (out, err)))
        check(code == 0, f"{words[0]}: exit {code}: {err}")

    def register(self, source, more):
        domain = "who=" + ",".join(self.units)
        budget = [] if "--budget" in more else ["--budget", "epsilon=1e12"]
        for number, side in enumerate(self.sides):
            self.seen_at_first(number, side, "register", "people", *source, "--bounds", f"x={LOW}..{HIGH}", "--domain",
                               domain, *budget, *more)

    def register_linked(self, source):
        """The people, their visits and the items of these as one dataset."""
        flags = [word for word in source if word in ("--no-header", "--multiline")]
        words = [word for word in source if word not in flags]
        keys = dict(zip([word[2:] for word in words[1::2]], words[2::2]))
        keys.update({flag[2:]: "true" for flag in flags})
        visits, items = self.visits(source)
        people = ", ".join([f"source: {source[0]}"] + [f"{key}: '{value}'" for key, value in keys.items()])
        policy = (f"budget: epsilon=1e12\nlimits: fixed\nmax-rows: 27\nmax-groups: 1\ntables:\n"
                  f"  people: {{{people}, unit: id, bounds: {{x: {LOW}..{HIGH}}}, domain: {{who: [{', '.join(self.units)}]}}}}\n"
                  f"  visits: {{{visits}, link: person = people.id, bounds: {{cost: 0..9}}}}\n"
                  f"  items: {{{items}, link: visit = visits.visit, bounds: {{price: 0..20}}}}\n")
        for number, side in enumerate(self.sides):
            with open(side.place.path("policy.yaml"), "w", encoding="utf-8") as file:
                file.write(policy.replace("sideN", f"side{number}"))
            self.seen_at_first(number, side, "register", "people", "--policy", "policy.yaml")

    def look_free(self, count):
        """Some commands that cost nothing, because they only show something or are refused."""
        for words in self.random.sample(FREE + REFUSED, count):
            for side in self.sides:
                side.run(*words)

    def paid(self, *words, text=""):
        """The same paid command on all sides: what it says on standard error, and its exit code, are free."""
        return [side.run(*words, paid=True, text=text) for side in self.sides]

    def compare_free(self):
        texts = []
        for side in self.sides:
            side.finish()
            texts.append([re.sub(r"\bside\d+\b", "sideN", without_paths_and_times(json.dumps(seen)))
                          for seen in side.seen])
        for other in texts[1:]:
            check(len(other) == len(texts[0]), "one was asked more")
            for a, b in zip(texts[0], other):
                check(a == b, f"seen for free:\n{a[:900]}\n{b[:900]}")

    def compare_units(self, sql, *more):
        answers = [side.answer(sql, *more) for side in self.sides]
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


def by_limits(family, source):
    """Limits that are chosen, bought alone, typed, or fixed by the owner."""
    fixed = family.random.random() < 0.4
    family.register(source, ["--unit", "id", "--budget", "epsilon=1e12,delta=1e-6"] +
                    (["--max-rows", "3", "--max-groups", "1", "--limits", "fixed"] if fixed else []))
    one = family.random.choice(["COUNT(*)", "SUM(x)", "COUNT(x)", "AVG(x)"])
    asked = f"SELECT who, {one} AS a FROM people GROUP BY who"
    family.look_free(2)
    for side in family.sides:  # a paid choice says whether it found a limit; if not, the next query records one more
        side.hidden = {"time", "id"}
    family.paid("limits", asked, "--epsilon", "0.7", "--json")
    for side in family.sides:
        side.run("explain", f"SELECT t, {one} FROM people GROUP BY t", "--epsilon", "1")
    for sql in (asked, f"SELECT {one} FROM people", f"SELECT t, {one}, COUNT(*) FROM people GROUP BY t",
                "SELECT MEDIAN(x), MODE() WITHIN GROUP (ORDER BY t) FROM people", "SELECT COUNT(*), SUM(x) FROM people"):
        family.paid("query", sql, "--epsilon", "0.5", "--json")
    family.compare_units("SELECT who, COUNT(*) AS c FROM people GROUP BY who", *([] if fixed else ["--limit", "3"]))
    family.compare_free()


def by_public_keys(family, source):
    """Keys that are known without a row, from a public table, CASE, IN and years: all groups are answered."""
    linked = ["--table", "sideN.colours"] if source[0].startswith("postgresql:") else ["--columns", "colour text, name text"]
    if linked[0] == "--table":
        nasty_rows.psql(source[0], ";".join(
            f"CREATE TABLE side{i}.colours (colour text, name text); INSERT INTO side{i}.colours VALUES "
            "('red', 'warm'), ('green bee', 'cold'), ('a', 'cold')" for i in range(len(family.sides))))
    family.register(source, ["--unit", "id", "--max-rows", "3", "--max-groups", "3", "--limits", "fixed"])
    for number, side in enumerate(family.sides):
        with open(side.place.path("colours.csv"), "w", encoding="utf-8") as file:
            file.write("colour,name\nred,warm\ngreen bee,cold\na,cold\n")
        family.seen_at_first(number, side, "register", "colours", source[0] if linked[0] == "--table" else "colours.csv",
                             *linked, "--public")
    for sql in ("SELECT name, COUNT(*) AS c FROM people JOIN colours ON t = colour GROUP BY name",
                "SELECT CASE WHEN x > 50 THEN 'high' WHEN x > 20 THEN 'middle' ELSE 'low' END AS k, COUNT(*) AS c "
                "FROM people GROUP BY k",
                "SELECT t, COUNT(*) AS c FROM people WHERE t IN ('red', 'a,b', 'none') GROUP BY t"):
        answers = [side.answer(sql) for side in family.sides]
        check(all(answers), f"not answered: {sql}: {[side.seen[-1] for side in family.sides]}")
        for answer in answers[1:]:
            check([row[:-1] for row in answer["rows"]] == [row[:-1] for row in answers[0]["rows"]], f"{sql}: other keys")
            moved = sum(abs(a[-1] - b[-1]) for a, b in zip(answers[0]["rows"], answer["rows"]))
            check(moved <= 2 * ROWS_MOST + TOLERANCE, f"{sql}: moved by {moved}")
    for side in family.sides:
        side.run("query", "SELECT name, COUNT(*) FROM colours GROUP BY name ORDER BY name", "--json")
    family.look_free(2)
    family.compare_free()


def by_links(family, source):
    """Linked tables: the victim's rows in two of them are nasty."""
    family.register_linked(source)
    for sql in family.random.sample([
            "SELECT who, COUNT(*) AS c, SUM(cost) AS s FROM visits JOIN people ON person = id GROUP BY who",
            "SELECT who, COUNT(*) AS c FROM visits JOIN people ON person = id WHERE cost > 1 OR t = 'red' GROUP BY who",
            "SELECT who, SUM(price) AS s FROM items JOIN visits ON items.visit = visits.visit JOIN people ON person = id "
            "GROUP BY who",
            "SELECT who, COUNT(*) AS c FROM people WHERE id IN (SELECT person FROM visits WHERE cost = 1) GROUP BY who",
            "SELECT who, COUNT(*) AS c FROM people GROUP BY who"], 3):
        family.compare_units(sql)
    for sql in ("SELECT COUNT(*) FROM items", "SELECT SUM(cost), COUNT(*) FROM visits WHERE person IS NOT NULL"):
        family.paid("query", sql, "--epsilon", "1", "--json")
    for side in family.sides:
        side.run("explain", "SELECT SUM(price) FROM items", "--epsilon", "1")
    family.look_free(2)
    family.compare_free()


def by_release(family, source):
    """Every statistic of release, with its options: it may be 'not released', but it never fails by a row."""
    replace = family.random.random() < 0.4
    family.register(source, ["--unit", "row" if replace else "id", "--budget", "epsilon=1e12,delta=0.5"] +
                    (["--adjacency", "replace"] if replace else []))
    more = ["--epsilon", "0.8", "--json"] + (["--adjacency", "replace"] if replace else [])
    for statistic in family.random.sample(RELEASES, 6):
        if "stable" in statistic and not replace:
            continue  # it needs a public number of rows
        bounds = ["--bounds", f"{LOW}..{HIGH}"] if "x" in statistic and family.random.random() < 0.5 else []
        bounds += ["--domain", ",".join(family.units)] if "who" in statistic else []
        done = family.paid("release", statistic[0], "people", *statistic[1:], *bounds, *more)
        check(all(code == 0 for code, _ in done), f"{statistic}: {[side.seen[-1] for side in family.sides]}")
        for side, (_, out) in zip(family.sides, done):
            answer = json.loads(out)
            side.seen.append([answer.get(key) for key in ("statistic", "method", "adjacency", "cost", "threshold",
                                                          "remaining", "cached")])
    family.look_free(2)
    family.compare_free()


def by_stream(family, source):
    """Conditions of the other units have the same answers; wrong lines and the end are the same for all."""
    family.register(source, ["--unit", "id"])
    family.look_free(2)
    others = [f"who = '{unit}' AND ({family.random.choice(CONDITIONS)})" for unit in family.units[:-1]]
    lines = family.random.sample(others + ["y = 1", "x >", "t", "", "1 = 1) OR (1 = 1"], min(len(others), 6) + 3)
    lines += [f"who = '{row[1]}' AND d = TIMESTAMP '{row[4]}'" for row in family.rows if row[4]]  # a missing row is seen
    answers = family.paid("stream", "sparse-vector", "--threshold", "1", "--epsilon", "1e9", "--hits", "60", "--dataset",
                          "people", "--json", text="".join(line + "\n" for line in lines))
    for code, out in answers:
        check(code == 0 and out == answers[0][1], f"a stream of conditions of other units: {lines}\n{answers[0]}\n{out}")
    family.paid("stream", "above-threshold", "--threshold", "3", "--epsilon", "0.5", "--epsilon-answers", "0.5", "--dataset",
                "people", text="".join(line + "\n" for line in CONDITIONS))
    family.paid("stream", "pmw", "--dataset", "people", "--columns", "who", "--epsilon", "1", "--alpha", "0.2", "--records",
                "20", "--json", text=f"who = {family.units[0]}\nnobody = 1\nwho in ({VICTIM}, {family.units[1]})\n")
    for side in family.sides:  # how far a stream came is paid for: it is in the history
        side.history = False
    family.compare_free()


def rounds(server, make, look, seed, count):
    for number in range(count):
        family = Family(server, randomness.Random(f"{seed} {make} {look.__name__} {number}"), variants_of(look))
        try:
            look(family, getattr(family, make)())
        except AssertionError as fault:
            raise AssertionError(f"seed {seed}, round {number}: {fault}") from fault
        finally:
            family.close()


def variants_of(look):
    return VARIANTS if look in (by_unit, by_row) else FEW


def multiline(family):
    """The control: declared so, a quote may swallow the rows of others."""
    name = "people.csv"
    family.write(name, [",".join(NAMES).encode()], lambda row: nasty_rows.separated_line(row, ",", True),
               lambda: nasty_rows.nasty_separated(family.random, ","))
    return [name, "--columns", "id text, who text, t text, d timestamp", "--multiline"]


def control(server, look):
    for number in range(60):
        family = Family(server, randomness.Random(f"control {number}"), 1)
        try:
            look(family, multiline(family))
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
    looks = ((by_unit, "a unit's own share of the rows of other units"), (by_row, "the number of rows"),
             (by_limits, "limits"), (by_public_keys, "public keys"), (by_links, "linked tables"),
             (by_release, "what release says for free"), (by_stream, "a stream's questions of others"))
    for make, words in (("separated", "lines of CSV and TSV"), ("json_lines", "lines of JSON"),
                        ("parquet", "values in Parquet"), ("postgresql", "values in PostgreSQL")):
        for look, what in looks:
            tests.append((f"no {words} change " + ("anything but " if look is by_unit else "") + what,
                          lambda make=make, look=look: rounds(server, make, look, seed, count)))
    pairs = 4 * count * sum(variants_of(look) for look, _ in looks)
    print(f"# {pairs} pairs of {len(tests)} kinds, seed {seed}")
    for look in (by_unit, by_row, by_limits, by_links, by_stream) if len(sys.argv) <= 4 else ():
        tests.append((f"a reader in which a quote swallows the rows of others is caught {look.__name__.replace('_', ' ')}",
                      lambda look=look: control(server, look)))
    try:
        return run_tests(tests)
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
