#!/usr/bin/env python3
"""Tables of a server are read on several connections, and the answers are those of one, in TAP.

    with-cluster run_parts.py PROGRAMS

Answers are bought for so large an epsilon that the noise is below the tolerance but with a probability below 10^-20
(it is Laplace's, of a scale of at most 10^-6, and the tolerance is 10^-4). How many connections there were is
what the server says of its sessions.
"""
import json
import os
import signal
import subprocess
import sys
import time

from processes import Folder, check, run_tests

URL = os.environ["BRUME_TEST_POSTGRESQL"]
TABLES = """
CREATE TABLE people AS SELECT i::int8 AS id, 'town ' || i % 5 AS town, i % 10 AS x, repeat('-', 20) AS pad
    FROM generate_series(1, 120000) AS s(i);
CREATE TABLE visits AS SELECT (1 + i * 7 % 90000)::int8 AS person, i % 4 AS cost, repeat('-', 20) AS pad
    FROM generate_series(1, 130000) AS s(i);
CREATE TABLE towns AS SELECT 'town ' || i AS town, chr(97 + i) AS name FROM generate_series(0, 4) AS s(i);
CREATE INDEX ON people (id); CREATE INDEX ON visits (person); ANALYZE;
"""
POLICY = """budget: epsilon=1e12
limits: fixed
max-rows: 9
max-groups: 1
tables:
  people: {source: "%s", table: people, unit: id, bounds: {x: 0..9}, domain: {town: ['town 0', 'town 1', 'town 2', 'town 3', 'town 4']}}
  visits: {source: "%s", table: visits, link: person = people.id, bounds: {cost: 0..3}}
  towns: {source: "%s", table: towns, public: true}
"""
# What is asked, and whether a table of it may be read in parts (src/query/collect/collect.c).
ASKED = [
    ("SELECT town, COUNT(*) AS n, SUM(x) AS s FROM people GROUP BY town", True),
    ("SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits", False),
    ("SELECT COUNT(*) AS n FROM people WHERE x > 3 AND town LIKE '%2'", True),
    ("SELECT name, COUNT(*) AS n FROM people JOIN towns ON towns.town = people.town GROUP BY name", True),
    ("SELECT COUNT(*) AS n, COUNT(name) AS s FROM people LEFT JOIN towns ON towns.town = people.town AND name <> 'c'",
     True),
    ("SELECT COUNT(*) AS n, COUNT(name) AS s FROM towns RIGHT JOIN people ON towns.town = people.town AND name <> 'c'",
     True),
    ("SELECT SUM(x) AS s FROM people WHERE town IN (SELECT town FROM towns WHERE name < 'c')", True),
    ("SELECT SUM(x) AS s FROM people WHERE NOT EXISTS (SELECT 1 FROM towns WHERE towns.town = people.town AND name < 'c')",
     True),
    ("SELECT COUNT(*) AS n, SUM(cost) AS s FROM people JOIN visits ON id = person", False),
    ("SELECT COUNT(*) AS n, SUM(x) AS s FROM people FULL JOIN visits ON id = person", False),
    ("SELECT SUM(CLAMP(c, 0, 9)) AS s FROM (SELECT id, COUNT(*) AS c FROM people GROUP BY id) AS v", False),
    ("SELECT COUNT(*) AS n FROM people AS a JOIN people AS b ON a.id = b.id", False),
    ("SELECT SUM(v) AS s FROM (SELECT id, x AS v FROM people UNION ALL SELECT id, x FROM people) AS u", False),
]


def psql(sql):
    done = subprocess.run(["psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-c", sql, URL], check=True,
                          capture_output=True, text=True)
    return done.stdout.strip()


def sessions():
    """So many were opened so far. A session is counted soon after it has ended."""
    return int(psql("SELECT pg_stat_force_next_flush(); SELECT sessions FROM pg_stat_database WHERE datname = "
                    "'postgres'").split()[-1])


def ask(folder, sql, connections):
    folder.environment["BRUME_CONNECTIONS"] = str(connections)
    before = sessions()
    code, out, err = folder.brume("query", sql, "--epsilon", str(1e9 + connections), "--json")
    check(code == 0, f"exit {code}: {err}")
    return json.loads(out)["rows"], sessions() - before


def near(one, other):
    if len(one) != len(other):
        return False
    pairs = [pair for left, right in zip(one, other) for pair in zip(left, right)]
    return all(a == b or (isinstance(a, (int, float)) and abs(a - b) < 1e-4) for a, b in pairs)


def same(folder, sql, divides):
    one, single = ask(folder, sql, 1)
    many, several = ask(folder, sql, 3)
    check(near(one, many), f"one connection:\n{one}\nthree:\n{many}")
    check((several >= single + 2) == divides, f"sessions: {single} with one connection, {several} with three")


BRUME = "application_name = 'brume'"


def wait_for(what, count):
    """Until so many sessions of brume are in this state."""
    for _ in range(400):
        if int(psql(f"SELECT count(*) FROM pg_stat_activity WHERE {BRUME} AND {what}")) == count:
            return True
        time.sleep(0.02)
    return False


def ends_all(folder, number, act, word):
    """A query on three connections waits for a table that is locked; what ends one of them ends all, while it waits."""
    folder.environment["BRUME_CONNECTIONS"] = "3"
    lock = subprocess.Popen(["psql", "-X", "-q", URL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    lock.stdin.write("BEGIN; LOCK TABLE towns IN ACCESS EXCLUSIVE MODE; SELECT 'locked';\n")
    lock.stdin.flush()
    while "locked" not in lock.stdout.readline():
        pass
    query = folder.start("query", "SELECT SUM(x) AS s FROM people JOIN towns ON towns.town = people.town", "--epsilon",
                         str(number), "--json")
    try:
        check(wait_for("wait_event_type = 'Lock'", 3), "three connections wait")
        act(query)
        out, err = query.communicate(timeout=30)
        check(query.returncode != 0 and not out and word in err, f"exit {query.returncode}: {out} {err}")
        check(wait_for("true", 0), "no session of brume is left")
    finally:
        query.kill()
        lock.communicate("ROLLBACK;\n")
    states = [event["state"] for event in folder.json("history", "clinic")["events"]]
    check(states.count("failed") == number, f"the charge stays: {states}")


def end_one(_):
    psql(f"SELECT pg_terminate_backend(max(pid)) FROM pg_stat_activity WHERE {BRUME}")


def main():
    folder = Folder(sys.argv[1])
    try:
        psql(TABLES)
        with open(folder.path("policy.yaml"), "w", encoding="utf-8") as file:
            file.write(POLICY % (URL, URL, URL))
        folder.run("register", "clinic", "--policy", "policy.yaml")
        return run_tests([((("read in parts: " if divides else "read as a whole: ") + sql),
                           lambda sql=sql, divides=divides: same(folder, sql, divides)) for sql, divides in ASKED] +
                         [("a connection that is lost ends all", lambda: ends_all(folder, 1, end_one, "the price stays spent")),
                          ("an interrupt ends all", lambda: ends_all(
                              folder, 2, lambda query: query.send_signal(signal.SIGINT), "interrupted"))])
    finally:
        folder.close()


if __name__ == "__main__":
    sys.exit(main())
