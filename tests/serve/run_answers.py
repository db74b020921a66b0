#!/usr/bin/env python3
"""Recorded answers as tables, at every door, by who must not read more than `history --answer` shows; in TAP.

    run_answers.py DIRECTORY_OF_BRUME

The statements are made by counting through what can be put around the name of an answer. Each is asked without a price,
first with the rows of the table as they were registered and then without its file: what is read by the name of an
answer does not depend on a row, so that everything that comes back must be the same, and no name of a person may be in it.
"""
import itertools
import os
import re
import sys
import threading
import time

from pg_client import PgServer, error_of
from processes import run_tests
from server import check

GROUPS = "SELECT age > 40 AS old, COUNT(*) AS n FROM visits GROUP BY age > 40"
WITH = ["", "WITH @ AS (SELECT person, age AS n FROM visits) ", "WITH t AS (SELECT * FROM @) ",
        "WITH t AS (SELECT person, age AS n FROM visits) "]
OUTPUTS = ["*", "n", "person", "COUNT(*) AS n", "(SELECT MIN(person) FROM visits)", "@.n, (SELECT COUNT(*) FROM visits)",
           "EXISTS (SELECT 1 FROM visits WHERE person = 'p7')"]
FROM = ["@", "t", "visits", "@, visits", "@ JOIN visits ON true", "(SELECT person, age AS n FROM visits) @", "(SELECT * FROM @) @",
        "@ WHERE n IN (SELECT age FROM visits)", "visits WHERE age IN (SELECT n FROM @)",
        "(SELECT person, 1 AS n FROM visits UNION ALL SELECT 'x', n FROM @) u", "@ CROSS JOIN LATERAL (SELECT person FROM visits LIMIT 1) v",
        '"ANSWER_#"', '"Answer_#"', "public.@", "visits.@", "@ GROUP BY n HAVING n > (SELECT MIN(age) FROM visits)"]
FILES = ["@, read_csv('visits.csv')", "@, read_text('/etc/passwd')", '@, "visits.csv"', '@, "/etc/passwd"', "@, glob('*')",
         "@, duckdb_settings()", "@, information_schema.tables", "@, pg_catalog.pg_class", "@, sqlite_scan('brume.db', 'journal')"]
CALLS = ["pg_read_file('/etc/passwd')", "read_text('/etc/passwd')", "getenv('HOME')", "current_setting('threads')",
         "(SELECT content FROM read_text('/etc/passwd'))", "version()", "nextval('x')"]


def statements(number):
    """A fifth of all, with all pairs of parts; a WITH and an alias may take the name."""
    for before, outputs, source in itertools.islice(itertools.product(WITH, OUTPUTS, FROM), 0, None, 5):
        yield f"{before}SELECT {outputs} FROM {source}".replace("@", f"answer_{number}").replace("#", str(number))


def told(got):
    """What came back but for clocks."""
    return got.code, re.sub(rb"\d{4}-\d\d-\d\d[T ][0-9:.]+Z?( UTC, [^.\"]*)?", b"time", got.bytes)


class Answers:
    """A server on which ann has paid for one answer."""

    def __init__(self, programs):
        self.server = PgServer(programs, "--rate", "0").serve()
        got = self.server.query(sql=GROUPS, epsilon=1)
        check(got.code == 200, got)
        self.rows = got.json["rows"]
        self.number = self.newest()

    def newest(self):
        return self.server.ask("GET", "/v1/history?limit=1", "ann").json["events"][-1]["id"]

    def read(self, sql, who="bob", command="query"):
        return self.server.ask("POST", f"/v1/{command}", who, {"sql": sql})

    def whoever_may_read_the_history_reads_it_and_nobody_else(self):
        sql = f"SELECT old, n FROM answer_{self.number} ORDER BY old"
        for who in ("ann", "bob", "owner"):
            got = self.read(sql, who)
            check(got.code == 200 and sorted(got.json["rows"], key=str) == sorted(self.rows, key=str), got)
            check(got.json["cost"]["epsilon"] == 0, got.json["cost"])
        check(self.read(sql, "carl").code == 403 and self.read(sql, "carl", "explain").code == 200, "an auditor")
        check(self.read(sql, "nobody").code == 401, "a stranger")
        check(self.server.spent() == 1, self.server.spent())

    def a_number_has_an_answer_here_where_the_history_has_one(self):
        for number in [*range(self.number + 3), 10 ** 14, 10 ** 17]:
            old = self.server.ask("GET", f"/v1/history?answer={number}", "bob")
            new = self.read(f"SELECT * FROM answer_{number}")
            check((old.code == 200) == (new.code == 200) == (number == self.number), (number, old, new))

    def no_row_is_read_by_the_name_of_an_answer(self):
        asked = list(statements(self.number))
        first = [told(self.read(sql)) for sql in asked]
        os.rename(self.server.path("visits.csv"), self.server.path("gone"))
        second = [told(self.read(sql)) for sql in asked]
        os.rename(self.server.path("gone"), self.server.path("visits.csv"))
        answered = 0
        for sql, got, again in zip(asked, first, second):
            check(got == again, f"{sql}: it depends on rows: {got} {again}")
            check(not re.search(rb'"p\d', got[1]), f"{sql}: a person: {got}")
            check(got[0] in (200, 400, 403, 404, 422), f"{sql}: {got}")
            answered += got[0] == 200
        check(2 < answered < len(asked) / 4, f"{answered} of {len(asked)} were answered")
        check(self.server.spent() == 1, self.server.spent())

    def no_file_and_no_setting_is_read_beside_it(self):
        asked = [f"SELECT * FROM {source}" for source in FILES] + [f"SELECT {call} FROM @" for call in CALLS]
        for sql in asked:
            sql = sql.replace("@", f"answer_{self.number}")
            for command in ("query", "explain", "dummy"):
                got = self.read(sql, command=command)
                check(got.code in (400, 403, 404, 422) and b"root:" not in got.bytes, f"{command} {sql}: {got}")
        check(self.read(f"COPY answer_{self.number} TO 'stolen'").code in (400, 422), "COPY")
        check(not os.path.exists(self.server.path("stolen")), "a file was written")

    def the_postgresql_door_answers_and_refuses_the_same(self):
        out, err = self.server.psql(f"SELECT n FROM answer_{self.number} ORDER BY n", user="bob")
        check(sorted(float(line) for line in out.split()) == sorted(row[1] for row in self.rows), (out, err))
        raw = self.server.raw()
        raw.login("bob", self.server.tokens["bob"])
        for sql in itertools.chain(itertools.islice(statements(self.number), 0, None, 4),
                                   (f"SELECT * FROM {source}".replace("@", f"answer_{self.number}") for source in FILES)):
            got = raw.query(sql)
            here, there = error_of(got) is None, self.read(sql).code == 200
            check(here == there, f"{sql}: {got}")
            check(not any(re.search(rb"\bp\d+\b|root:", m[1]) for m in got if m and m[0] == b"D"), f"{sql}: {got}")
        raw.close()
        check(self.server.spent() == 1, self.server.spent())

    def what_waits_for_its_time_has_no_name_yet(self):
        slow = PgServer(os.path.dirname(self.server.program), "--rate", "0", quantum="3")
        with slow:
            asking = threading.Thread(target=lambda: slow.query(sql=GROUPS, epsilon=1))
            asking.start()
            events, end = [], time.monotonic() + 30
            while not any(event["cost"] for event in events) and time.monotonic() < end:
                events = slow.ask("GET", "/v1/history", "bob").json["events"]
            paid = next(event for event in events if event["cost"])
            check(paid["state"] == "reserved", paid)
            got = slow.ask("POST", "/v1/explain", "bob", {"sql": f"SELECT * FROM answer_{paid['id']}"})
            check(got.code == 404 and b"has no recorded answer" in got.bytes, got)
            asking.join()
            got = slow.ask("POST", "/v1/explain", "bob", {"sql": f"SELECT * FROM answer_{paid['id']}"})
            check(got.code == 200, got)

    def a_dataset_that_is_called_so_is_meant(self):
        with open(self.server.path("other.csv"), "w", encoding="utf-8") as file:
            file.writelines(["person,n\n"] + [f"p{i},{i}\n" for i in range(50)])
        check(self.server.query(sql=GROUPS, epsilon=0.5).code == 200, "another answer")
        number = self.newest()
        self.server.run("register", f"answer_{number}", "other.csv", "--unit", "person", "--budget", "epsilon=1")
        got = self.read(f"SELECT * FROM answer_{number}")
        check(got.code == 422 and b"rows of persons" in got.bytes, got)
        got = self.read(f"SELECT a.n FROM answer_{number} a, answer_{self.number} b")
        check(got.code == 422 and b"rows of persons" in got.bytes, got)

    def a_redacted_answer_is_redacted_at_every_door(self):
        sql = f"SELECT n FROM answer_{self.number}"
        raw = self.server.raw()
        raw.login("bob", self.server.tokens["bob"])
        check(error_of(raw.query(f"PREPARE kept AS {sql}")) is None and error_of(raw.query("EXECUTE kept")) is None, "prepared")
        check(self.read(sql).code == 200, "before")
        self.server.run("ledger", "redact", str(self.number), "--answers", "--reason", "a test")
        for command in ("query", "explain"):
            got = self.read(sql, command=command)
            check(got.code == 404 and b"was redacted" in got.bytes and b"rows" not in got.bytes, got)
        for text in (sql, "EXECUTE kept"):
            got = raw.query(text)
            check("was redacted" in str(error_of(got)) and not any(m[0] == b"D" for m in got if m), got)
        raw.close()
        code, out, err = self.server.brume("query", sql)
        check(code == 2 and out == "" and "was redacted" in err, (code, out, err))
        check(self.server.holds(), "the ledger")


def main():
    answers = Answers(sys.argv[1])
    tests = [(name.replace("_", " "), getattr(answers, name)) for name in vars(Answers)
             if not name.startswith("_") and name not in ("newest", "read")]
    try:
        return run_tests(tests)
    finally:
        answers.server.end()
        answers.server.close()


if __name__ == "__main__":
    sys.exit(main())
