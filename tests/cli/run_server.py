#!/usr/bin/env python3
"""`brume` and a PostgreSQL server that is down, killed or hung, in TAP.

    with-cluster run_server.py DIRECTORY_OF_BRUME

A lock on the table keeps a query in the engine until the test has done what it wants.
"""
import json
import os
import signal
import subprocess
import sys
import time

from processes import Folder, check, run_functions

URL = os.environ["BRUME_TEST_POSTGRESQL"]
POSTMASTER = int(os.environ["BRUME_TEST_POSTMASTER"])
COUNT = "SELECT COUNT(*) FROM visits"
REFUSED = "brume register: the name or the source is registered already\n"


def psql(sql):
    return subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, URL],
                          check=True, capture_output=True, text=True, timeout=60).stdout.strip()


class Lock:
    """An exclusive lock on a table, held by a session of its own."""

    def __init__(self, table):
        self.session = subprocess.Popen(["psql", "-X", "-q", URL], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.session.stdin.write(f"BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE;\n\\echo held\n")
        self.session.stdin.flush()
        check(self.session.stdout.readline() == "held\n", "the table is not locked")

    def release(self):
        self.session.communicate("ROLLBACK;\n", timeout=60)


class Place(Folder):
    """A folder with a ledger in which the table `visits` is registered."""

    def __init__(self, programs):
        super().__init__(programs)
        self.register("visits", "visits")

    def register(self, name, table, *more):
        budget = [] if "--budget" in more else ["--budget", "epsilon=1"]
        done = self.brume("register", name, URL, "--table", table, "--unit", "who", *budget, *more)
        check(done[0] == 0, done)

    def start_and_wait(self, *arguments):
        """A query that is reserved and waits in the engine."""
        process = self.start("query", COUNT, *arguments)
        limit = time.monotonic() + 30
        while self.states()[-1:] != ["reserved"]:
            check(time.monotonic() < limit and process.poll() is None, "it was not reserved")
            time.sleep(0.05)
        while psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'brume' AND "
                   "wait_event_type = 'Lock'") != "1":
            check(time.monotonic() < limit, "it does not wait for the table")
            time.sleep(0.05)
        return process

    def remaining(self):
        return json.loads(self.brume("budget", "visits", "--json")[1])["remaining"]["epsilon"]

    def check_failed(self, process, message, hint):
        out, err = process.communicate(timeout=60)
        check(process.returncode != 0 and out == "", f"{process.returncode} {out!r}")
        check(err.splitlines() == [f"brume query: {message}", f"  hint: {hint}"], err)
        check(self.states() == ["failed"], self.states())
        check(self.remaining() == 0.75, "the price did not stay spent")
        check(self.brume("ledger", "verify")[0] == 0, "the ledger does not hold")


def brume_sessions():
    return psql("SELECT pid FROM pg_stat_activity WHERE application_name = 'brume'").split()


def the_same_table_by_another_way_is_refused(programs):
    """A view, a materialised view, a part, a new name and another URL are the same source."""
    place = Place(programs)
    try:
        psql("CREATE VIEW old_people AS SELECT * FROM visits WHERE age > 60;"
             "CREATE VIEW older AS SELECT who FROM old_people; CREATE TABLE wards(ward text, who int);"
             "CREATE VIEW joined AS SELECT v.who, w.ward FROM staff v JOIN wards w USING (who)")
        for table in ("old_people", "older"):
            code, out, err = place.brume("register", "again", URL, "--table", table, "--unit", "who",
                                         "--budget", "epsilon=1")
            check(code == 3 and out == "" and err.startswith(REFUSED), (code, err))
        code, _, err = place.brume("register", "again", URL + "&application_name=x", "--table",
                                   "public.visits", "--unit", "who", "--budget", "epsilon=1")
        check(code == 3 and err.startswith(REFUSED), (code, err))
        place.register("again", "old_people", "--new-budget")
        # A public table that a view reads is no second budget, if it is known to be public.
        done = place.brume("register", "wards", URL, "--table", "wards", "--public")
        check(done[0] == 0, done)
        place.register("joined", "joined")
        psql("DROP VIEW joined, older, old_people; DROP TABLE wards")
    finally:
        place.close()


def what_is_protected_does_not_become_public_by_a_view(programs):
    """A view, a view of a view, a stored one, a parent and a part of a protected table, and a public
    view that is changed into one."""
    place = Place(programs)
    try:
        psql("CREATE TABLE stays(who int, year int) PARTITION BY LIST (year);"
             "CREATE TABLE stays1 PARTITION OF stays FOR VALUES IN (1);"
             "CREATE TABLE base(who int); CREATE TABLE child() INHERITS (base);"
             "CREATE VIEW seen AS SELECT * FROM visits; CREATE VIEW seen_again AS SELECT who FROM seen;"
             "CREATE MATERIALIZED VIEW stored AS SELECT * FROM visits;"
             "CREATE VIEW of_part AS SELECT who FROM stays1; CREATE TABLE codes(who int, name text);"
             "CREATE VIEW open AS SELECT who, 0 AS age FROM codes")
        place.register("stays", "stays")
        place.register("child", "child")
        # Parts that came later are parts too.
        psql("CREATE TABLE stays2 PARTITION OF stays FOR VALUES IN (2);"
             "CREATE VIEW of_later AS SELECT who FROM stays2")
        for table in ("visits", "seen", "seen_again", "stored", "stays1", "of_part", "base", "stays2",
                      "of_later"):
            for more in ([], ["--new-budget"]):
                code, out, err = place.brume("register", "shown", URL, "--table", table, "--public", *more)
                check((code, out) == ((2, "") if more else (3, "")), (table, code, err))
        events = place.json("history", "visits")["events"]
        check(events == [], events)  # they were asked for under another name
        events = place.json("history")["events"]
        check([(e["dataset"], e["state"], e["sql"]) for e in events] == [("shown", "refused", None)] * 9,
              events)
        # Two parts of a table that is no dataset have nothing in common.
        psql("CREATE TABLE halves(who int, year int) PARTITION BY LIST (year);"
             "CREATE TABLE half1 PARTITION OF halves FOR VALUES IN (1);"
             "CREATE TABLE half2 PARTITION OF halves FOR VALUES IN (2)")
        place.register("half1", "half1")
        place.register("half2", "half2")
        # What is public when it is registered must stay so.
        code, out, err = place.brume("register", "open", URL, "--table", "open", "--public")
        check(code == 0, err)
        joined = "SELECT COUNT(*) FROM visits v JOIN open o ON v.who = o.who"
        code, _, err = place.brume("query", joined, "--epsilon", "0.1")
        check(code == 0, err)
        psql("CREATE OR REPLACE VIEW open AS SELECT who, age FROM visits")
        code, out, err = place.brume("query", joined + " WHERE o.age > 3", "--epsilon", "0.1")
        check(code == 3 and out == "" and "now has data of another dataset" in err, (code, err))
        check(json.loads(place.brume("budget", "visits", "--json")[1])["queries"] == 1, "it was charged")
        check(place.brume("ledger", "verify")[0] == 0, "the ledger does not hold")
        psql("DROP VIEW open, of_part, of_later, seen_again, seen; DROP MATERIALIZED VIEW stored;"
             "DROP TABLE stays, child, base, codes, halves")
    finally:
        place.close()


def queries_of_public_tables_see_nothing_else(programs):
    """A public table beside a protected one on one server: any SELECT of it is answered, and no name in
    it reaches the protected one or the catalogs of the server."""
    place = Place(programs)
    answered = {
        "SELECT k, v FROM codes ORDER BY k": [[1, 7], [2, 8], [3, 9]],
        "WITH c AS (SELECT k FROM codes) SELECT count(*) FROM c": [[3]],
        "WITH visits AS (SELECT k FROM codes WHERE k < 3) SELECT count(*) FROM visits": [[2]],
        "WITH pg_class AS (SELECT 5 AS x) SELECT x FROM pg_class": None,  # names no table
        "WITH pg_class AS (SELECT 5 AS x) SELECT k, x FROM codes, pg_class WHERE k = 1": [[1, 5]],
        "WITH RECURSIVE visits AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM visits WHERE x < 4) "
        "SELECT sum(x) + (SELECT count(*) FROM codes) FROM visits": [[13]],
        "SELECT k FROM (WITH visits AS (SELECT k FROM codes) SELECT k FROM visits ORDER BY k LIMIT 1) AS q":
            [[1]],
        "SELECT visits.k FROM codes AS visits WHERE visits.k = 2": [[2]],
        "SELECT k FROM codes WHERE k <= (SELECT count(*) FROM codes) ORDER BY k DESC OFFSET (SELECT 2)":
            [[1]],
    }
    table = ["visits", "public.visits", "information_schema.tables", "information_schema.z.tables",
             "test.public.visits", "pg_class", "pg_catalog.pg_class", "pg_stats", "brume_with_0",
             "brume_table_0"]
    places = ["SELECT (SELECT count(*) FROM {}) FROM codes",
              "SELECT k FROM codes JOIN codes d ON (SELECT count(*) FROM {}) > 5",
              "SELECT k FROM codes ORDER BY (SELECT count(*) FROM {})",
              "SELECT k FROM codes GROUP BY k, (SELECT count(*) FROM {})",
              "SELECT k FROM codes LIMIT (SELECT count(*) FROM {})",
              "SELECT k FROM codes OFFSET (SELECT count(*) FROM {})",
              "SELECT rank() OVER w FROM codes WINDOW w AS (ORDER BY (SELECT count(*) FROM {}))"]
    withs = ["", "WITH w AS (WITH {} AS (SELECT v FROM codes) SELECT v FROM {}) ",
             "WITH w AS (SELECT 1 FROM codes), o AS (SELECT (WITH {} AS (SELECT 1) SELECT 1 FROM {}) AS x) "]
    try:
        psql("CREATE TABLE codes(k int, v int); INSERT INTO codes VALUES (1, 7), (2, 8), (3, 9);"
             "CREATE TABLE brume_with_0(x int); CREATE TABLE brume_table_0(x int)")
        done = place.brume("register", "codes", URL, "--table", "codes", "--public")
        check(done[0] == 0, done)
        for sql, rows in answered.items():
            code, out, err = place.brume("query", sql, "--json")
            if rows is None:
                check(code != 0 and out == "", (sql, code, out))
            else:
                check(code == 0 and json.loads(out)["rows"] == rows and json.loads(out)["public"],
                      (sql, out, err))
        for name in table:
            own = name.split(".")[-1]
            for text in places:
                for before in withs + ([f"WITH {own} AS (SELECT v FROM codes) "] if own != name else []):
                    code, out, err = place.brume("query", before.replace("{}", own) + text.format(name),
                                                 "--json")
                    check(code in (2, 4) and out == "" and "engine" not in err, (before, text, name, err))
        check(place.states() == [], "a query of public tables was charged")
        psql("DROP TABLE codes, brume_with_0, brume_table_0")
    finally:
        place.close()


def a_view_that_can_fail_is_said_to(programs):
    """Views that compute are warned of, plain ones are not; what is behind a function is unknown."""
    place = Place(programs)
    computes, hides = "computes with its rows", "reads through a function or a foreign table"
    mixes = "depends on the rows of several units"
    views = {
        "SELECT who, age FROM visits": [],
        "SELECT v.who, v.age FROM visits v JOIN staff s ON s.who = v.who WHERE v.age > 3 AND v.age IN "
        "(4, 5, 6) AND v.who IS NOT NULL": [],
        "SELECT who, coalesce(age, 0) AS age FROM visits WHERE age <> 7 ORDER BY age": [],
        "SELECT who, CASE WHEN age > 30 THEN 1 ELSE 2 END AS old FROM visits": [],
        "SELECT who, age FROM visits UNION ALL SELECT who, NULL FROM staff": [],
        "SELECT who, 1 / age AS x FROM visits": [computes],
        "SELECT who, age::text AS x FROM visits": [computes],
        "SELECT who, age::smallint AS x FROM visits": [computes],
        "SELECT who FROM visits WHERE age + 1 > 2": [computes],
        "SELECT who, (SELECT s.who FROM staff s WHERE s.who > v.who) AS x FROM visits v": [computes, mixes],
        "SELECT who, sum(age) AS x FROM visits GROUP BY who": [computes, mixes],
        "SELECT DISTINCT ON (age) who, age FROM visits": [mixes],
        "SELECT DISTINCT who, age FROM visits": [mixes],
        "SELECT who, age FROM visits ORDER BY age LIMIT 3": [computes, mixes],
        "SELECT who, row_number() OVER () AS x FROM visits": [computes, mixes],
        "SELECT who FROM visits UNION SELECT who FROM staff": [mixes],
        "SELECT who FROM visits EXCEPT ALL SELECT who FROM staff": [mixes],
        "SELECT who, made(age) AS x FROM visits": [computes, hides],
        "SELECT who FROM rows_of()": [computes, hides],
        "SELECT who FROM inner_view": [computes],
    }
    try:
        psql("CREATE FUNCTION made(int) RETURNS int LANGUAGE sql AS 'SELECT $1';"
             "CREATE FUNCTION rows_of() RETURNS TABLE(who int) LANGUAGE sql AS 'SELECT who FROM visits';"
             "CREATE VIEW inner_view AS SELECT who, 1 / age AS x FROM visits")
        for i, (select, expected) in enumerate(views.items()):
            psql(f"CREATE VIEW view{i} AS {select}")
            said = place.json("register", f"view{i}", URL, "--table", f"view{i}", "--unit", "who",
                              "--budget", "epsilon=1", "--new-budget")["warnings"]
            check(len(said) == len(expected) and all(e in s for e, s in zip(expected, said)),
                  (select, said))
        code, out, err = place.brume("register", "told", URL, "--table", "view5", "--unit", "who",
                                     "--budget", "epsilon=1", "--new-budget")
        check(code == 0 and "warning: this source computes with its rows" in out, (code, out, err))
        psql("CREATE MATERIALIZED VIEW stored AS SELECT who, 100 / (age + 1) AS x FROM visits")
        said = place.json("register", "stored", URL, "--table", "stored", "--unit", "who", "--budget",
                          "epsilon=1", "--new-budget")["warnings"]
        check(said == [], said)  # it was computed when it was stored
        psql("DROP MATERIALIZED VIEW stored; CREATE MATERIALIZED VIEW stored AS SELECT DISTINCT ON (age) who,"
             " age FROM visits")
        said = place.json("register", "few", URL, "--table", "stored", "--unit", "who", "--budget",
                          "epsilon=1", "--new-budget")["warnings"]
        check(len(said) == 1 and mixes in said[0], said)
        code, _, err = place.brume("register", "typed", URL, "--table", "staff", "--unit", "who", "--budget",
                                   "epsilon=1", "--columns", "who integer")
        check(code == 2 and "does not apply to a PostgreSQL table" in err, (code, err))
    finally:
        psql("DROP MATERIALIZED VIEW IF EXISTS stored;" +
             "".join(f"DROP VIEW IF EXISTS view{i};" for i in range(len(views))) +
             "DROP VIEW IF EXISTS inner_view; DROP FUNCTION made(int), rows_of()")
        place.close()


def a_password_opens_the_table_and_is_shown_nowhere(programs):
    """A role that must give a password: queries have it, and nothing that brume prints or exports."""
    place = Place(programs)
    try:
        hba = psql("SHOW hba_file")
        with open(hba, encoding="utf-8") as file:
            rules = file.read()
        with open(hba, "w", encoding="utf-8") as file:
            file.write("local all keyed scram-sha-256\n" + rules)
        psql("CREATE ROLE keyed LOGIN PASSWORD 'open sesame'; GRANT SELECT ON staff TO keyed")
        psql("SELECT pg_reload_conf()")
        said = []
        for i, url in enumerate((URL.replace("brume@", "keyed:open%20sesame@"),
                                 URL.replace("brume@", "keyed@") + "&password=open%20sesame")):
            name = f"staff{i}"
            limit = time.monotonic() + 30
            while True:  # until the server has read its rules again
                code, out, err = place.brume("register", name, url.replace("sesame", "barley"), "--table",
                                             "staff", "--unit", "who", "--budget", "epsilon=1")
                said.append(out + err)
                if code == 6:
                    break
                check(time.monotonic() < limit, "any password will do")
                place.brume("query", f"SELECT COUNT(*) FROM {name}", "--epsilon", "0.1")
                time.sleep(0.1)
                place.close()
                os.mkdir(place.folder)
            done = place.brume("register", name, url, "--table", "staff", "--unit", "who", "--budget",
                               "epsilon=1", "--new-budget", "--json")
            check(done[0] == 0, done)
            said += done[1:]
            for words in (["query", f"SELECT COUNT(*) FROM {name}", "--epsilon", "0.1", "--json"],
                          ["release", "mean", name, "--column", "who", "--bounds", "0..9", "--epsilon",
                           "0.1"], ["show", name, "--json"], ["show", name], ["datasets", "--json"],
                          ["ledger", "export"], ["explain", f"SELECT COUNT(*) FROM {name}", "--epsilon",
                                                 "0.1"]):
                code, out, err = place.brume(*words)
                check(code == 0, err)
                said += [out, err]
        for text in said:
            check("sesame" not in text and "barley" not in text, text)
        # A table that may not be read is no source, and costs nothing.
        code, _, err = place.brume("register", "closed", url, "--table", "visits", "--unit", "who",
                                   "--budget", "epsilon=1", "--new-budget")
        check(code == 6 and "may not read the table" in err, err)
        psql("REVOKE SELECT ON staff FROM keyed")
        code, out, err = place.brume("query", "SELECT COUNT(*) FROM staff1", "--epsilon", "0.5")
        check(code == 6 and out == "" and "may not read the table" in err, err)
        check(json.loads(place.brume("budget", "staff1", "--json")[1])["queries"] == 2, "it was charged")
        check(place.brume("ledger", "verify")[0] == 0, "the ledger does not hold")
    finally:
        place.close()


def synth_reads_a_table_as_it_reads_a_file(programs):
    """One row a unit, whatever the server sends first; the price is charged, the same question free."""
    place = Place(programs)
    try:
        psql("CREATE TABLE stays(who int, ward text, age int); INSERT INTO stays SELECT i, CASE WHEN i % 3 "
             "= 0 THEN 'surgery' WHEN i % 3 = 1 THEN 'medicine' END, i % 90 FROM generate_series(1, 900) i;"
             "INSERT INTO stays SELECT who, ward, age FROM stays WHERE who <= 300")
        place.register("stays", "stays", "--budget", "epsilon=1300", "--bounds", "age=0..90", "--domain",
                       "ward=surgery,medicine,maternity")
        words = ["--columns", "ward,age", "--bins", "age=9", "--other", "ward", "--workload", "marginals:1",
                 "--method", "histogram", "--epsilon", "600", "--rows", "900", "--json"]
        code, out, err = place.brume("synth", "stays", *words, "--output", "a.csv")
        check(code == 0, err)
        first = json.loads(out)
        check(first["records"] == 900, "not one row a unit")
        check(not first["cached"] and first["remaining"]["epsilon"] == 700, first)
        # The same rows from a file, without a ledger.
        with open(os.path.join(place.folder, "stays.csv"), "w", encoding="utf-8") as file:
            file.write("who,ward,age\n" + psql("SELECT DISTINCT who, ward, age FROM stays").replace("|", ",")
                       + "\n")
        code, out, err = place.brume("synth", "stays.csv", *words, "--output", "b.csv", "--no-ledger",
                                     "--domain", "ward=surgery,medicine,maternity", "--bounds", "age=0..90")
        check(code == 0, err)
        rows = []
        for name in ("a.csv", "b.csv"):
            with open(os.path.join(place.folder, name), encoding="utf-8") as file:
                rows.append([line.split(",")[0] for line in file.read().split()[1:]])
        for ward in ("surgery", "medicine", "maternity", ""):
            counts = [table.count(ward) for table in rows]
            # both draw 900 of a histogram that at this price is the table's: 300, 300, 0, 300
            check(counts[0] == counts[1] == 0 or all(150 < n < 450 for n in counts), (ward, counts))
        code, out, err = place.brume("synth", "stays", *words, "--output", "c.csv")
        check(code == 0 and json.loads(out)["cached"], err)
        psql("DROP TABLE stays")
        code, out, err = place.brume("synth", "stays", *(w if w != "900" else "901" for w in words),
                                     "--output", "c.csv")
        check(code == 6 and out == "", (code, out, err))
        check(json.loads(place.brume("budget", "stays", "--json")[1])["remaining"]["epsilon"] == 700,
              "a table that is gone was charged for")
        check(place.brume("ledger", "verify")[0] == 0, "the ledger does not hold")
    finally:
        place.close()


def an_interrupted_query_stops_at_the_server_too(programs):
    """SIGINT while the server works: said, recorded, and no session is left."""
    place = Place(programs)
    lock = Lock("visits")
    try:
        process = place.start_and_wait("--epsilon", "0.25")
        process.send_signal(signal.SIGINT)
        place.check_failed(process, "interrupted; the price stays spent", "'brume history' shows it")
        limit = time.monotonic() + 30
        while brume_sessions() and time.monotonic() < limit:
            time.sleep(0.05)
        check(brume_sessions() == [], "a session is left")
    finally:
        lock.release()
        place.close()


def a_server_that_hangs_does_not_hold_a_second_interrupt(programs):
    """The server is stopped: it answers neither the query nor its cancellation."""
    place = Place(programs)
    lock = Lock("visits")
    process = place.start_and_wait("--epsilon", "0.25")
    stopped = [POSTMASTER] + [int(pid) for pid in brume_sessions()]
    try:
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        check(process.poll() is None, "the first interrupt did not wait for the server")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
        lock.release()
    try:
        check(process.returncode == 5 and out == "", f"{process.returncode} {out!r}")
        check(err.startswith("brume query: interrupted; the price stays spent\n"), err)
        check(place.states() == ["reserved"], place.states())
        check(place.remaining() == 0.75, "the price did not stay spent")
        check(place.brume("ledger", "verify")[0] == 0, "the ledger does not hold")
    finally:
        place.close()


def a_session_that_is_ended_is_a_clear_error(programs):
    """The administrator ends the query's session."""
    place = Place(programs)
    lock = Lock("visits")
    try:
        process = place.start_and_wait("--epsilon", "0.25")
        psql(f"SELECT pg_terminate_backend({brume_sessions()[0]})")
        place.check_failed(process,
                           "the connection to the PostgreSQL server was lost; the price stays spent",
                           "is the server still running?")
    finally:
        lock.release()
        place.close()


def a_killed_backend_is_a_clear_error(programs):
    """kill -9 of the query's backend; the server restarts all of them, and a later query is answered."""
    place = Place(programs)
    lock = Lock("visits")
    try:
        process = place.start_and_wait("--epsilon", "0.25")
        os.kill(int(brume_sessions()[0]), signal.SIGKILL)
        place.check_failed(process,
                           "the connection to the PostgreSQL server was lost; the price stays spent",
                           "is the server still running?")
        lock.release()
        limit = time.monotonic() + 60
        while True:
            code, _, err = place.brume("query", COUNT, "--epsilon", "0.5")
            if code == 0:
                break
            check(time.monotonic() < limit and "cannot connect" in err, err)
            time.sleep(0.2)
        check(place.states() == ["failed", "committed"], place.states())
    finally:
        place.close()


def a_server_that_dies_or_is_down_is_a_clear_error(programs):
    """An immediate stop in the middle of a query; then there is no server at all."""
    place = Place(programs)
    lock = Lock("visits")
    try:
        process = place.start_and_wait("--epsilon", "0.25")
        os.kill(POSTMASTER, signal.SIGQUIT)  # pg_ctl stop -m immediate
        place.check_failed(process,
                           "the connection to the PostgreSQL server was lost; the price stays spent",
                           "is the server still running?")
        limit = time.monotonic() + 60
        while os.path.exists(f"/proc/{POSTMASTER}") and time.monotonic() < limit:
            time.sleep(0.05)
        for arguments in (["query", COUNT, "--epsilon", "0.5"],
                          ["register", "more", URL, "--table", "staff", "--unit", "who", "--budget",
                           "epsilon=1"]):
            code, out, err = place.brume(*arguments)
            check(code == 6 and out == "" and err.splitlines() == [
                f"brume {arguments[0]}: cannot connect to the PostgreSQL server",
                "  hint: check host, port, user, password and database of the URL"], (code, err))
        check(place.states() == ["failed"], "it was charged although there was no server")
        check(place.brume("ledger", "verify")[0] == 0, "the ledger does not hold")
    finally:
        lock.session.kill()
        lock.session.wait()
        place.close()


def an_audit_reads_no_table_and_leaves_nothing(programs):
    """The server's SQL runs on rows made for it, while the table is locked; nothing is charged."""
    place, tables = Place(programs), "SELECT count(*) FROM pg_class"
    before, lock = psql(tables), Lock("visits")
    try:
        found = place.json("audit", "--query", "SELECT COUNT(*), SUM(CLAMP(age, 0, 90)) FROM visits",
                           "--epsilon", "1", "--samples", "100", "--confidence", "0.999999999")
        check(found["verdict"] == "consistent" and found["epsilon_claimed"] == 1, found)
        check(place.states() == [] and psql(tables) == before, "something was left")
    finally:
        lock.release()
        place.close()


TESTS = [the_same_table_by_another_way_is_refused,
         what_is_protected_does_not_become_public_by_a_view,
         queries_of_public_tables_see_nothing_else,
         a_view_that_can_fail_is_said_to,
         a_password_opens_the_table_and_is_shown_nowhere,
         synth_reads_a_table_as_it_reads_a_file,
         an_audit_reads_no_table_and_leaves_nothing,
         an_interrupted_query_stops_at_the_server_too,
         a_server_that_hangs_does_not_hold_a_second_interrupt,
         a_session_that_is_ended_is_a_clear_error,
         a_killed_backend_is_a_clear_error,
         a_server_that_dies_or_is_down_is_a_clear_error]  # the last one: there is no server after it


def main():
    psql("CREATE TABLE visits(who int, age int); INSERT INTO visits SELECT i, i % 90 FROM "
         "generate_series(1, 2000) i; CREATE TABLE staff(who int); INSERT INTO staff VALUES (1)")
    return run_functions(TESTS, sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
