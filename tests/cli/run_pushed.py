#!/usr/bin/env python3
"""Queries that a server answers where its rows lie, and the same ones streamed: the same answers, in TAP.

    with-cluster run_pushed.py PROGRAMS

Answers are bought for so large an epsilon that the noise is below the tolerance but with a probability below 10^-20
(it is Laplace's, of a scale of at most 10^-4, and the tolerance is 10^-2).
"""
import json
import os
import subprocess
import sys

from processes import Folder, check, run_tests

URL = os.environ["BRUME_TEST_POSTGRESQL"]
TABLES = """
CREATE TABLE visits AS SELECT CASE WHEN i % 50 = 0 THEN NULL ELSE 'p' || i * i % 700 END AS person,
    'ward ' || i % 4 AS ward, CASE WHEN i % 9 = 0 THEN NULL ELSE i % 120 - 10 END AS age, (i % 77) / 8.0 AS cost,
    CASE WHEN i * i % 700 % 3 = 0 THEN NULL ELSE 'habit ' || i * i % 700 % 3 END AS habit, 'm' || i % 11900 AS many
    FROM generate_series(1, 6000) AS s(i);
CREATE TABLE wards AS SELECT 'ward ' || i AS ward, CASE WHEN i < 2 THEN 'old' ELSE 'new' END AS house,
    (i * 10)::numeric(8, 2) AS beds FROM generate_series(0, 3) AS s(i);
CREATE TABLE kept AS SELECT * FROM visits;
CREATE TABLE means AS SELECT i % 2000 AS person, 50 + i % 13 AS age FROM generate_series(1, 20000) AS s(i);
CREATE TABLE sized AS SELECT * FROM wards;
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE texts AS SELECT (i % 50)::int2 AS u, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'A' END COLLATE blind AS k,
    CASE WHEN i % 4 = 0 THEN 'a' WHEN i % 4 = 1 THEN NULL ELSE 'A' END AS l, (i % 7)::int2 AS n
    FROM generate_series(1, 1000) AS s(i);
CREATE EXTENSION citext;
CREATE TABLE blurred AS SELECT 12345678901234567000 + i::numeric AS free, (12345678901234567000 + i)::numeric(20, 0) AS whole,
    ('p' || i)::citext AS either_case,
    (CASE WHEN i % 2 = 0 THEN 'Bob' ELSE 'bob' END || i / 2) COLLATE blind AS folded FROM generate_series(0, 99) AS s(i);
"""
POLICY = """budget: epsilon=1e12,delta=1e-6
rows-stay: %s
tables:
  visits: {source: "%s", table: %s, unit: person, bounds: {age: 0..100, cost: 0..9}, domain: {ward: ['ward 0', 'ward 1', 'ward 2', 'ward 7'], many: [%s]}}
  wards: {source: "%s", table: wards, public: true}
"""
MANY = ", ".join(f"m{i}" for i in range(12000))  # more values than a list of them would be
# With limits that cut many units, or chosen ones.
ASKED = [
    ("SELECT COUNT(*) AS n, COUNT(age) AS a, SUM(age) AS s FROM visits", "n=7 a=5 s=111"),
    ("SELECT COUNT(DISTINCT person) AS n, AVG(age) AS a, AVG(cost) AS c FROM visits WHERE age > 20", ""),
    ("SELECT ward, COUNT(*) AS n, SUM(cost) AS c FROM visits GROUP BY ward", "n=6 c=10"),
    ("SELECT house, COUNT(*) AS n, SUM(age) AS s FROM visits JOIN wards USING (ward) GROUP BY house", "n=5 s=90"),
    ("SELECT ward, COUNT(DISTINCT person) AS n, VAR_POP(age) AS v FROM visits GROUP BY ROLLUP (ward)", ""),
    ("SELECT ward, COUNT(*) AS n FROM visits WHERE age > (SELECT AVG(age) FROM visits) GROUP BY ward", "n=3"),
    # What each unit keeps is chosen by another hash: so of these every unit has one group, or keeps all of them.
    ("SELECT habit, COUNT(*) AS n, AVG(cost) AS c FROM visits GROUP BY habit", "n=7"),
    ("SELECT habit FROM visits GROUP BY habit", ""),
    ("SELECT COUNT(DISTINCT age) AS n FROM visits", "n=1000"),
    ("SELECT ward, COUNT(*) AS n, COUNT(DISTINCT age) AS a FROM visits GROUP BY ROLLUP (ward)", "n=6 a=1000"),
    ("SELECT habit, COUNT(DISTINCT cost) AS c FROM visits GROUP BY habit", "c=1000"),
    ("SELECT MODE() WITHIN GROUP (ORDER BY habit) AS m FROM visits", ""),
    ("SELECT many, COUNT(*) AS n FROM visits GROUP BY many", "n=20"),
    ("SELECT ward, COUNT(DISTINCT person) AS p, COUNT(DISTINCT person) FILTER (WHERE age > 50) AS o, COUNT(DISTINCT CASE "
     "WHEN cost > 4 THEN person END) AS c FROM visits GROUP BY ward", "p=2"),
    ("SELECT CORR(age, cost) AS r, REGR_SLOPE(age, cost) AS b, COVAR_SAMP(age, cost) AS c FROM visits", "r=7"),
    ("SELECT SUM(beds) AS b FROM visits JOIN wards USING (ward)", "b=60"),
]
REFUSED = [
    ("SELECT MEDIAN(age) AS m FROM visits", "quantiles and modes"),
    ("SELECT MODE() WITHIN GROUP (ORDER BY ward) AS m FROM visits", "modes"),
]


def psql(sql):
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, URL], check=True, capture_output=True)


def near(one, other):
    if len(one) != len(other):
        return False
    pairs = [pair for left, right in zip(one, other) for pair in zip(left, right)]
    return all(a == b or (isinstance(a, (int, float)) and abs(a - b) < 1e-2) for a, b in pairs)


def ask(folder, sql, epsilon, *options):
    code, out, err = folder.brume("query", sql, "--epsilon", epsilon, "--delta", "1e-9", "--json", *options)
    check(code == 0, f"exit {code}: {err}")
    return json.loads(out)


def same(folder, sql, limits):
    typed = [word for limit in limits.split() for word in ("--limit", limit)]
    here = ask(folder, sql, "1e9", "--where", "brume", *typed)
    there = ask(folder, sql, "1.5e9", "--where", "engine", *typed)
    check(not there["cached"] and near(here["rows"], there["rows"]), f"streamed: {here['rows']}\npushed: {there['rows']}")
    again = ask(folder, sql, "1.5e9", "--where", "brume", *typed)
    check(again["cached"] and again["rows"] == there["rows"], "an answer is read again wherever it was made")


def explained(folder, name, sql, expected, reason, *options):
    made = folder.json("explain", sql.replace("visits", name + ".visits", 1), "--epsilon", "1", *options)
    check((made["where"], made["where_reason"]) == (expected, reason), f"{made['where']}: {made['where_reason']}")


def refused(folder, sql, word):
    for options in ([], ["--where", "engine"]):
        code, _, err = folder.brume("query", sql.replace("visits", "kept.visits", 1), "--epsilon", "1", "--delta", "1e-9",
                                    *options)
        check(code != 0 and "'kept' stay on their server" in err and word in err, f"exit {code}: {err}")
    code, _, err = folder.brume("query", sql.replace("visits", "clinic.visits", 1), "--epsilon", "1", "--delta", "1e-9",
                                "--where", "engine")
    check(code != 0 and "cannot answer this query by itself" in err and word in err, f"exit {code}: {err}")
    check(not folder.json("history", "kept")["events"], "nothing was spent")


STREAMED = "streaming takes less processor time, and nobody says that they stay on the server"


def declared_size(folder):
    """By a number that the owner declares, and by none that the table has."""
    count = "SELECT COUNT(*) FROM sized"
    folder.run("register", "sized", URL, "--table", "sized", "--unit", "house", "--budget", "epsilon=9", "--rows-about", "1e13")
    made = folder.json("explain", count, "--epsilon", "1")
    check((made["where"], made["where_reason"]) == ("engine", "so many rows as are declared may not fit into brume's memory"),
          f"{made['where']}: {made['where_reason']}")
    made = folder.json("explain", "SELECT MEDIAN(CLAMP(LENGTH(ward), 0, 9)) FROM sized", "--epsilon", "1")
    check(made["where"] == "brume", made["where_reason"])
    check("rows-about: 1e+13" in folder.run("show", "sized", "--policy").replace("10000000000000", "1e+13"), "written")
    folder.run("amend", "sized", "--rows-about", "1000")
    made = folder.json("explain", count, "--epsilon", "1")
    check((made["where"], made["where_reason"]) == ("brume", STREAMED), f"{made['where']}: {made['where_reason']}")


def collations(folder):
    """Texts are told apart by their bytes, also where their collation would not; small integers are what they are."""
    folder.run("register", "texts", URL, "--table", "texts", "--unit", "u", "--budget", "epsilon=1e12,delta=1e-6",
               "--domain", "k=a,A", "--domain", "n=0,1,2,3")
    for sql in ("SELECT k, COUNT(*) AS n FROM texts GROUP BY k", "SELECT l, COUNT(*) AS n FROM texts GROUP BY l",
                "SELECT n AS m, COUNT(*) AS n FROM texts GROUP BY n", "SELECT COUNT(DISTINCT k) AS n FROM texts",
                "SELECT COUNT(DISTINCT l) AS n FROM texts", "SELECT k, COUNT(*) AS n FROM texts WHERE k > 'A' GROUP BY k"):
        same(folder, sql, "n=9")
    counts = dict(ask(folder, "SELECT k, COUNT(*) AS n FROM texts GROUP BY k", "2e9", "--limit", "n=30", "--where",
                      "engine")["rows"])
    check(round(counts["a"]) == 333 and round(counts["A"]) == 667, f"{counts}")


def blurred_units(folder):
    """A unit that brume would not tell from others as its server does is refused."""
    for column, word in (("free", "read to 15 digits"), ("folded", "brume compares bytes"),
                         ("either_case", "brume compares bytes")):
        code, _, err = folder.brume("register", "blurred", URL, "--table", "blurred", "--unit", column, "--budget", "epsilon=1")
        check(code == 2 and word in err, f"exit {code}: {err}")
    folder.run("register", "blurred", URL, "--table", "blurred", "--unit", "whole", "--budget", "epsilon=1e12,delta=1e-6")
    for place, epsilon in (("brume", "1e5"), ("engine", "2e5")):
        rows = ask(folder, "SELECT COUNT(DISTINCT whole) AS n FROM blurred", epsilon, "--where", place)["rows"]
        check(rows == [[100]], f"{rows}")


def mean_after_streaming(folder):
    """The centre that a streamed mean left in the ledger is none for the server: it sums the values themselves."""
    sql = "SELECT AVG(age) AS a FROM means"
    folder.run("register", "means", URL, "--table", "means", "--unit", "person", "--budget", "epsilon=1e12,delta=1e-6",
               "--bounds", "age=0..100")
    for place in ("brume", "engine", "engine"):
        answer = ask(folder, sql, "20", "--where", place, "--fresh")
        value, bar = answer["rows"][0][0], answer["columns"][0]["error_95"]
        # noise of 30 times its own half-width at 95 % has a probability of e^-90
        check(value is not None and abs(value - 56) <= 30 * bar and bar < 5, f"{place}: {value} +- {bar}")


def stays(folder):
    sql = "SELECT ward, COUNT(*) AS n FROM kept.visits GROUP BY ward"
    code, _, err = folder.brume("query", sql, "--epsilon", "1", "--where", "brume")
    check(code != 0 and "says that its rows stay" in err, f"exit {code}: {err}")
    check(len(ask(folder, sql, "1e9")["rows"]) == 4, "it is answered where the rows lie")
    check("rows-stay: true" in folder.run("show", "kept", "--policy"), "the policy file says so")
    code, _, err = folder.brume("release", "quantile", "kept.visits", "--column", "age", "--epsilon", "1")
    check(code != 0, "a release that needs rows is refused")


def files(folder):
    folder.write_visits(9)
    code, _, err = folder.brume("register", "files", "visits.csv", "--unit", "person", "--budget", "epsilon=1",
                                "--rows-stay", "true")
    check(code == 2 and "for tables of a server" in err, f"exit {code}: {err}")
    folder.run("register", "files", "visits.csv", "--unit", "person", "--budget", "epsilon=1")
    code, _, err = folder.brume("query", "SELECT COUNT(*) FROM files", "--epsilon", "1", "--where", "engine")
    check(code != 0 and "files are read by brume itself" in err, f"exit {code}: {err}")


def main():
    folder = Folder(sys.argv[1])
    try:
        psql(TABLES)
        for name, table, stay in (("clinic", "visits", "false"), ("kept", "kept", "true")):
            with open(folder.path(name + ".yaml"), "w", encoding="utf-8") as file:
                file.write(POLICY % (stay, URL, table, MANY, URL))
            folder.run("register", name, "--policy", name + ".yaml")
        count = "SELECT COUNT(*) FROM visits"
        return run_tests(
            [("the same both ways: " + sql, lambda sql=sql, limits=limits: same(
                folder, sql.replace("visits", "clinic.visits").replace("JOIN wards", "JOIN clinic.wards"), limits))
             for sql, limits in ASKED] +
            [("refused by name: " + word, lambda sql=sql, word=word: refused(folder, sql, word))
             for sql, word in REFUSED] +
            [("a mean after a streamed one", lambda: mean_after_streaming(folder)),
             ("explain says streamed",
              lambda: explained(folder, "clinic", count, "brume", STREAMED)),
             ("explain says what the server cannot do", lambda: explained(
                 folder, "clinic", "SELECT MEDIAN(age) FROM visits", "brume", "the server cannot add them up by itself")),
             ("a declared size decides", lambda: declared_size(folder)),
             ("texts are compared by their bytes", lambda: collations(folder)),
             ("units that would be blurred are refused", lambda: blurred_units(folder)),
             ("explain says as typed", lambda: explained(folder, "clinic", count, "engine", "as typed", "--where", "engine")),
             ("explain says that rows stay", lambda: explained(folder, "kept", count, "engine", "the owner says that they stay")),
             ("rows stay", lambda: stays(folder)), ("files cannot stay", lambda: files(folder))])
    finally:
        folder.close()


if __name__ == "__main__":
    sys.exit(main())
