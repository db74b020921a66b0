#!/usr/bin/env python3
"""`brume serve --pg` with psql, and with bytes that no client sends, in TAP.

    run_pg.py DIRECTORY_OF_BRUME
"""
import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

from pg_client import PgServer, Raw, error_of, message, startup, text
from processes import run_functions
from server import SOON, check

COUNT = "SELECT COUNT(*) AS n FROM visits"
PRICED = "-c brume.epsilon=0.25"


def psql_lists_and_describes_tables(programs):
    with PgServer(programs) as server:
        out, err = server.psql(r"\dt", r"\d visits", r"\d+ visits", r"\dn", r"\l", r"\du", r"\df")
        check(err == "", err)
        check("public|visits|table|brume" in out, out)
        check("age|bigint|||" in out and "bounds 0..100" in out and "person|text|||" in out, out)
        # the users: psql 15 has columns of their attributes and roles, psql 17 of their attributes
        check("brume|brume|UTF8" in out and re.search(r"^ann\|(\|\{\})?$", out, re.M), out)
        # what completion asks for when the first letters of a table are typed
        out, err = server.psql("SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE "
                               "c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE 'vis%' AND "
                               "pg_catalog.pg_table_is_visible(c.oid) LIMIT 1000")
        check(out.startswith("visits|") and err == "", (out, err))
        check(server.spent() == 0, "the catalog is free")


def statements():
    """What tools ask: pairs of a statement and the number of its rows."""
    rows = None
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pg_tools.sql"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("--"):
                rows = line.rsplit(maxsplit=1)[-1]
            elif line.strip():
                yield line.strip(), int(rows)


def what_tools_ask_of_the_catalog_is_answered(programs):
    with PgServer(programs) as server:
        raw = server.raw()
        raw.login("ann", server.tokens["ann"])
        raw.query("SET client_min_messages = debug1")

        def number(sql):
            return next(m[1] for m in raw.query(sql) if m[0] == b"D")[6:].decode()
        table, schema = number("SELECT 'visits'::regclass::oid"), number("SELECT 'public'::regnamespace::oid")
        seen = 0
        for sql, rows in statements():
            got = raw.query(sql.replace("$TABLE", table).replace("$NAMESPACE", schema))
            said = [m[1] for m in got if m is None or m[0] in b"EN"]
            check(not said, f"{sql}: {said}")
            check(sum(m[0] == b"D" for m in got) == rows, f"{sql}: not {rows} rows: {got}")
            seen += 1
        check(seen > 30 and server.spent() == 0, (seen, server.spent()))
        raw.close()


def prices_are_asked_for_told_and_charged_once(programs):
    with PgServer(programs) as server:
        out, err = server.psql(COUNT)
        check(out == "" and "a price is missing" in err and "HINT:  SET brume.epsilon" in err, (out, err))
        check(server.spent() == 0, "without a price nothing is spent")
        first, told = server.psql(COUNT, options=PRICED)
        check(first.strip().isdigit(), first)
        check("charged epsilon 0.25; left: epsilon 9.75" in told and "n ±" in told, told)
        again, told = server.psql("SET brume.epsilon = 0.25", COUNT)
        check(again == "SET\n" + first and "read again, free of charge; left: epsilon 9.75" in told, (again, told))
        check(server.spent() == 0.25, server.spent())
        check(server.holds(), "the ledger")


def describing_spends_nothing(programs):
    with PgServer(programs) as server:
        done = subprocess.run(["psql", "-X", "-A", "-t"], env=server.libpq(options=PRICED), text=True,
                              input="SELECT age > 40 AS old, COUNT(*) AS n, AVG(age) AS a, 7 AS b FROM visits "
                                    "GROUP BY age > 40 \\gdesc\nSELECT nothing FROM visits \\gdesc\n",
                              capture_output=True, timeout=SOON)
        check(done.stdout == "old|boolean\nn|bigint\na|double precision\nb|double precision\n", done)
        check("no column 'nothing'" in done.stderr, done.stderr)
        check(server.spent() == 0, server.spent())


def refusals_have_a_state_and_spend_nothing(programs):
    states = {
        "SELECT * FROM visits": "0A000", "SELECT nothing FROM visits": "42704", "SELEC": "42601",
        "SELECT COUNT(*) FROM nobody": "42704", "DELETE FROM visits": "0A000", "COPY visits TO STDOUT": "0A000",
        "SELECT COUNT(*) FROM visits, pg_class": "0A000", "SELECT * FROM pg_catalog.nothing": "42P01",
        "SET brume.epsilonn = 1": "42704", "SET brume.epsilon = 'much'": "22023", "FETCH 1 FROM c": "34000",
        "DECLARE c CURSOR FOR " + COUNT: "25P01", "SET client_encoding = 'LATIN1'": "22023",
        "SET brume.session_cap = 0.1; " + COUNT: "BR001", "SET brume.epsilon = 20; " + COUNT: "BR001",
    }
    with PgServer(programs) as server:
        raw = server.raw()
        raw.login("ann", server.tokens["ann"])
        raw.query("SET brume.epsilon = 0.25")
        for sql, state in states.items():
            got = error_of(raw.query(sql))
            check(got is not None and got[0] == state, f"{sql}: {got}")
        raw.close()
        check(server.spent() == 0, server.spent())


def who_is_unknown_learns_nothing(programs):
    with PgServer(programs) as server:
        said = {}
        for user, token in (("ann", "wrong"), ("nobody", "wrong"), ("nobody", server.tokens["ann"])):
            salts = set()
            for _ in range(2):
                raw = server.raw()
                got, parts = raw.login(user, token)
                salts.add((parts["s"], parts["i"]))
                said.setdefault(str([m[1] for m in got if m]), []).append(user)
                raw.close()
            check(len(salts) == 1, f"the salt of {user} changes")
        check(len(said) == 1 and "28P01" in next(iter(said)), said)


def roles_and_removals_hold_in_open_connections(programs):
    with PgServer(programs) as server:
        ann, bob, carl = server.raw(), server.raw(), server.raw()
        for name, raw in (("ann", ann), ("bob", bob), ("carl", carl)):
            got, _ = raw.login(name, server.tokens[name])
            check(got[-1][0] == b"Z", got)
            check(error_of(raw.query("SET brume.epsilon = 0.25")) is None, name)
        check(error_of(carl.query(COUNT))[0] == "BR002", "an auditor asks nothing")
        check(error_of(ann.query(COUNT)) is None, "ann asks")
        server.run("user", "remove", "ann")
        check(error_of(ann.query("SELECT COUNT(*) FROM visits WHERE age > 7"))[0] == "BR002", "ann is removed")
        server.run("user", "token", "bob")
        check(error_of(bob.query("SELECT COUNT(*) FROM visits WHERE age > 8"))[0] == "BR002", "an old token")
        check(server.spent() == 0.25, server.spent())


def garbage_ends_one_connection_only(programs):
    start = startup(user="ann")
    pieces = [
        b"GET / HTTP/1.1\r\n\r\n", b"\0" * 8, b"\xff" * 64, struct.pack("!ii", 7, 3 << 16),
        struct.pack("!ii", 2**31 - 1, 3 << 16), struct.pack("!ii", 8, 2 << 16), startup(), start[:-3],
        start + message(b"Q", text(COUNT)), start + message(b"p", b"SCRAM-SHA-256\0"),
        start + message(b"p", text("SCRAM-SHA-256") + struct.pack("!i", 2**30) + b"n,,n=,r=x"),
        start + message(b"p", text("PLAIN") + struct.pack("!i", 1) + b"x"), start + b"p" + struct.pack("!i", 2**30),
        struct.pack("!ii", 8, 80877103) * 10, struct.pack("!iiii", 16, 80877102, 1, 1), os.urandom(500),
    ]
    after = [
        b"Q" + struct.pack("!i", 2**30), b"Q" + struct.pack("!i", 3), b"Q" + struct.pack("!i", -5), b"\0" * 50,
        message(b"Q", b"no end"), message(b"B"), message(b"P", b"x"), message(b"D", b"S"), message(b"E", b"\0"),
        message(b"B", b"\0\0" + struct.pack("!h", 32767)), message(b"d", b"copy") + message(b"c"), message(b"F", b"x"),
        message(b"P", b"\0" + text("SELECT $1") + struct.pack("!h", -1)), message(b"~"), message(b"p", b"again"),
        message(b"E", b"\0" + struct.pack("!i", -1)), message(b"Q", b"\xff\xfe\0"), os.urandom(300),
        message(b"Q", text("SELECT " + "(" * 5000 + "1" + ")" * 5000)),
        message(b"Q", text("SELECT 1" + "+1" * 30000)),
    ]
    with PgServer(programs) as server:
        for piece in pieces:
            raw = server.raw()
            raw.send(piece)
            raw.socket.shutdown(socket.SHUT_WR)
            raw.rest()
            raw.close()
        for piece in after:
            raw = server.raw()
            raw.login("ann", server.tokens["ann"])
            raw.send(piece + message(b"S"))
            raw.socket.shutdown(socket.SHUT_WR)
            raw.rest()
            raw.close()
        out, err = server.psql("SELECT 1")
        check(out == "1\n" and err == "", (out, err))
        check(server.spent() == 0, server.spent())


def a_client_that_goes_away_finds_its_answer(programs):
    with PgServer(programs, quantum="1") as server:
        raw = server.raw()
        raw.login("ann", server.tokens["ann"])
        raw.query("SET brume.epsilon = 0.25")
        raw.send(message(b"Q", text(COUNT)))
        limit = time.monotonic() + SOON
        while server.spent() == 0:
            check(time.monotonic() < limit, "it is not charged")
            time.sleep(0.05)
        raw.close()
        while server.states() != ["committed"]:
            check(time.monotonic() < limit, server.states())
            time.sleep(0.05)
        _, told = server.psql(COUNT, options=PRICED)
        check("read again, free of charge" in told, told)
        check(server.spent() == 0.25, server.spent())


def a_cancel_with_a_wrong_key_does_nothing(programs):
    with PgServer(programs) as server:
        raw = server.raw()
        got, _ = raw.login("ann", server.tokens["ann"])
        number, key = struct.unpack("!II", next(body for kind, body in got if kind == b"K"))
        raw.query("SET brume.epsilon = 0.25")
        for n, k in ((number, key ^ 1), (number + 1, key), (number, key)):  # the last: nothing runs
            other = server.raw()
            other.send(struct.pack("!iiII", 16, 80877102, n, k))
            check(other.rest() == b"", "a request to cancel is not answered")
            other.close()
        check(error_of(raw.query(COUNT)) is None, "nothing was cancelled")
        raw.close()


def tls_is_spoken_and_required_where_others_connect(programs):
    with PgServer(programs, pg="0.0.0.0:0", tls=True) as server:
        ca = {"PGSSLROOTCERT": server.path("cert.pem")}
        out, err = server.psql("SELECT 1", PGSSLMODE="verify-full", PGHOST="localhost", PGHOSTADDR="127.0.0.1", **ca)
        check(out == "1\n" and err == "", (out, err))
        out, err = server.psql("SELECT 1", PGSSLMODE="disable")
        check(out == "" and "TLS only" in err, (out, err))
        raw = server.raw()  # bytes that came before TLS are not taken for encrypted ones
        raw.send(struct.pack("!ii", 8, 80877103) + startup(user="ann"))
        check(raw.exactly(1) == b"S" and b"SCRAM" not in raw.rest(), "plain text after SSLRequest")
        code, _, err = server.brume("serve", "--pg", "0.0.0.0:0", "--check")
        check(code != 0 and "--tls-cert" in err, (code, err))


def many_ask_at_once_and_the_budget_holds(programs):
    with PgServer(programs, budget="epsilon=1.5") as server:
        results = []

        def ask(number):
            results.append(server.psql(f"SELECT COUNT(*) FROM visits WHERE age > {number}", options=PRICED))
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SOON)
        answered = [out for out, _ in results if out]
        refused = [err for out, err in results if not out]
        check(len(answered) == 6 and len(refused) == 2, results)
        check(all("ERROR" in err and "budget" in err for err in refused), refused)
        check(server.spent() == 1.5 and server.holds(), server.spent())


FREE = [
    "SELECT * FROM visits", "SELECT nothing FROM visits", "EXPLAIN " + COUNT, "EXPLAIN SELECT AVG(age) FROM visits",
    "SELECT c.*, d.description FROM pg_class c LEFT JOIN pg_description d ON d.objoid = c.oid",
    "SELECT * FROM pg_attribute", "SELECT * FROM pg_stats", "SELECT * FROM pg_stat_user_tables", "SHOW ALL",
    "SELECT pg_total_relation_size('visits'), pg_relation_size('visits'::regclass)", "SELECT * FROM pg_settings",
    "SELECT * FROM information_schema.columns", "SET brume.epsilon = 99; " + COUNT, "BEGIN; DECLARE c CURSOR FOR " + COUNT,
    "ROLLBACK", "SET brume.epsilon = 0.25", "SELECT age FROM visits GROUP BY age HAVING 1/0 > 1",
]


def what_is_free_does_not_depend_on_a_person(programs):
    """Two servers whose tables differ in one row say the same, byte by byte, until something is paid for."""
    with PgServer(programs, rows=200) as one, PgServer(programs, rows=201) as other:
        said = []
        for server in (one, other):
            raw = server.raw()
            raw.login("ann", server.tokens["ann"])
            got = [raw.query(sql) for sql in FREE]
            for sql in ("SELECT COUNT(*) AS n, AVG(age) FROM visits WHERE age > $1", "SELECT * FROM visits"):
                raw.send(message(b"P", b"s\0" + text(sql) + struct.pack("!h", 0)) + message(b"D", b"Ss\0")
                         + message(b"C", b"Ss\0") + message(b"S"))
                got.append(raw.until(b"Z"))
            said.append(got)
            check(server.spent() == 0, "it was free")
            raw.query(COUNT)
            check(server.spent() == 0.25, "and this was not")
            raw.close()
        for sql, a, b in zip(FREE + ["described"] * 2, *said):
            check(a == b, f"{sql}: {a} and {b}")
        check(len(said[0]) == len(FREE) + 2, "all were asked")


def a_rate_is_kept_and_the_log_tells_no_question(programs):
    with PgServer(programs, "--rate", "2") as server:
        raw = server.raw()
        raw.login("ann", server.tokens["ann"])
        raw.query("SET brume.epsilon = 0.25")
        states = [error_of(raw.query("SELECT nothing FROM visits"))[0] for _ in range(12)]
        check("53300" in states and "42704" in states, states)
        raw.close()
        server.end()
        log = server.log_text()
        check('"connect"' in log and "429" in log and "ann" in log, log)
        check("nothing" not in log and server.tokens["ann"] not in log, log)


def what_was_charged_and_failed_counts_in_the_cap(programs):
    with PgServer(programs, quantum="1") as server:
        raw = server.raw()
        raw.login("ann", server.tokens["ann"])
        raw.query("SET brume.epsilon = 0.25; SET brume.session_cap = 0.6; SET brume.timeout = 0.8")
        states = [error_of(raw.query(f"{COUNT} WHERE age > {n}"))[0] for n in range(4)]
        check(states == ["57014", "57014", "BR001", "BR001"], states)
        check(server.spent() == 0.5, f"{server.spent()} is spent")
        raw.close()


def a_free_answer_is_given_above_the_cap(programs):
    with PgServer(programs) as server:
        raw = server.raw()
        raw.login("ann", server.tokens["ann"])
        raw.query("SET brume.epsilon = 0.25; SET brume.session_cap = 0.3")
        first = raw.query(COUNT)
        check(error_of(first) is None, first)
        check(error_of(raw.query(COUNT + " WHERE age > 3"))[0] == "BR001", "above the cap")
        again = raw.query(COUNT)
        check(error_of(again) is None and [m for m in again if m[0] == b"D"] == [m for m in first if m[0] == b"D"],
              again)
        check(server.spent() == 0.25, server.spent())
        raw.close()


def prepare_and_execute_are_statements_too(programs):
    with PgServer(programs) as server:
        by_age = "SELECT COUNT(*) AS n FROM public.visits WHERE age > $1 AND person <> $2"
        out, err = server.psql("SET brume.epsilon = 0.25; SET brume.notices = off", f"PREPARE q (integer, text) AS {by_age}",
                               options=PRICED)
        check(out == "SET\nSET\nPREPARE\n" or out == "SET\nPREPARE\n", (out, err))
        check(server.spent() == 0, "to prepare spends nothing")
        raw = server.raw()
        raw.login("ann", server.tokens["ann"])
        raw.query("SET brume.epsilon = 0.25")

        def rows(sql):
            got = raw.query(sql)
            check(error_of(got) is None, f"{sql}: {error_of(got)}")
            return [m[1] for m in got if m[0] == b"D"], [m[1] for m in got if m[0] == b"C"][0]
        check(rows(f"PREPARE q (integer, text) AS {by_age}") == ([], b"PREPARE\0"), "PREPARE")
        answer, tag = rows("EXECUTE q (40, 'p''7')")
        check(len(answer) == 1 and tag == b"SELECT 1\0" and server.spent() == 0.25, (answer, tag))
        again, _ = rows("SELECT COUNT(*) AS n FROM visits WHERE age > 40 AND person <> 'p''7'")
        check(again == answer and server.spent() == 0.25, "it is the same question, and free")
        rows("PREPARE free AS SELECT $1::text || relname FROM pg_class WHERE relname = 'visits'")
        check(rows("EXECUTE free ('a ')")[0][0].endswith(b"a visits"), "of the catalog")
        states = {f"PREPARE q AS {COUNT}": "42P05", "EXECUTE nobody": "26000", "EXECUTE q (40)": "42601",
                  "EXECUTE q ('x', 'y')": "22023", "EXECUTE q (1 + 1, 'y')": "0A000",
                  "PREPARE d AS DELETE FROM visits": "0A000", "PREPARE d (nothing) AS SELECT $1": "42704"}
        for sql, state in states.items():
            got = error_of(raw.query(sql))
            check(got is not None and got[0] == state, f"{sql}: {got}")
        # Describe of an EXECUTE is that of its query, and free
        raw.send(message(b"P", b"\0" + text("EXECUTE q (41, 'z')") + struct.pack("!h", 0)) + message(b"D", b"S\0")
                 + message(b"S"))
        got = raw.until(b"Z")
        check(any(m[0] == b"T" and b"n\0" in m[1] for m in got) and server.spent() == 0.25, got)
        check(rows("DEALLOCATE q")[1] == b"DEALLOCATE\0" and error_of(raw.query("EXECUTE q (1, 'a')"))[0] == "26000",
              "DEALLOCATE")
        check(server.spent() == 0.25, server.spent())
        raw.close()


def channels_are_bound_to_the_certificate(programs):
    with PgServer(programs, tls=True) as server:
        ca = {"PGSSLROOTCERT": server.path("cert.pem"), "PGSSLMODE": "verify-ca", "PGCHANNELBINDING": "require"}
        out, err = server.psql("SELECT 1", **ca)
        check(out == "1\n" and err == "", (out, err))
        out, err = server.psql("SELECT 1", PGSSLMODE="disable", PGCHANNELBINDING="require")
        check(out == "" and err, "there is none without TLS")
        out, err = server.psql("SELECT 1", **{**ca, "PGCHANNELBINDING": "disable"})
        check(out == "1\n" and err == "", (out, err))

        def begin(first):
            raw = server.raw()
            raw.send(struct.pack("!ii", 8, 80877103))
            check(raw.exactly(1) == b"S", "TLS")
            context = ssl.create_default_context(cafile=server.path("cert.pem"))
            raw.socket = context.wrap_socket(raw.socket, server_hostname="localhost")
            raw.send(startup(user="ann"))
            check(b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0" in raw.receive()[1], "both are offered")
            mechanism, data = first
            raw.send(message(b"p", text(mechanism) + struct.pack("!i", len(data)) + data))
            kind, body = raw.receive()
            raw.close()
            return kind == b"R" and body[:4] == struct.pack("!i", 11)
        check(begin(("SCRAM-SHA-256", b"n,,n=,r=abcdefgh")), "a client that cannot bind")
        check(begin(("SCRAM-SHA-256-PLUS", b"p=tls-server-end-point,,n=,r=abcdefgh")), "one that does")
        check(not begin(("SCRAM-SHA-256", b"y,,n=,r=abcdefgh")), "one that was kept from seeing the offer")
        check(not begin(("SCRAM-SHA-256-PLUS", b"n,,n=,r=abcdefgh")), "one that says both")
        check(not begin(("SCRAM-SHA-256-PLUS", b"p=tls-unique,,n=,r=abcdefgh")), "another kind")


def old_versions_and_ciphers_of_tls_are_refused(programs):
    with PgServer(programs, tls=True) as server:
        def spoken(*arguments):
            done = subprocess.run(["openssl", "s_client", "-starttls", "postgres", "-connect",
                                   f"127.0.0.1:{server.pg_port}", *arguments], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=SOON)
            return "Cipher is (NONE)" not in done.stdout and done.returncode == 0
        for good in (["-tls1_3"], ["-tls1_2"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"]):
            check(spoken(*good), good)
        for bad in (["-tls1"], ["-tls1_1"], ["-cipher", "AES128-GCM-SHA256"], ["-cipher", "ECDHE-ECDSA-AES128-SHA256"],
                    ["-cipher", "ECDHE-ECDSA-AES256-SHA"], ["-cipher", "aNULL"], ["-cipher", "DHE-RSA-AES128-GCM-SHA256"]):
            level = [f"{word}:@SECLEVEL=0" if i else word for i, word in enumerate(bad)]
            check(not spoken("-tls1_2", *level) if "-cipher" in bad else not spoken(*bad), bad)


def a_query_of_the_catalog_ends(programs):
    """Long texts make few steps take long, and aggregates keep them: time and memory are bounded too."""
    long = "'aaaaaaaaaaaaaaaa'"
    for _ in range(3):
        long = f"replace({long}, 'a', 'aaaaaaaaaaaaaaaa')"
    with PgServer(programs) as server:
        raw = server.raw()
        raw.login("ann", server.tokens["ann"])
        got = raw.query(f"SELECT array_agg({long}) FROM pg_type a, pg_type b, pg_type c")
        check(all(part[0] != b"D" for part in got), "what is too long is not answered")
        start = time.monotonic()
        got = raw.query("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r")
        check(error_of(got)[0] == "57014" and time.monotonic() < start + SOON, got)
        got = raw.query("SELECT array_agg(relname) FROM pg_class WHERE relname = 'visits'")
        check(any(part[0] == b"D" and b"{visits}" in part[1] for part in got), got)
        with open(f"/proc/{server.process.pid}/status", encoding="utf-8") as file:
            most = [int(line.split()[1]) for line in file if line.startswith("VmHWM")][0]
        check(most < 1 << 20, f"{most} KiB at most")
        raw.close()


HIDDEN = {
    "SELECT * FROM pg_class, read_csv('/etc/passwd')": None, "SELECT relname, read_text('/etc/passwd') FROM pg_class": None,
    "SELECT getenv('HOME')": "42883", "SELECT getvariable('settings')": "42883", "SELECT brume_text(1)": "42883",
    "SELECT * FROM duckdb_settings() AS s": "42883", "SELECT current_setting('home_directory')": None,
    "SELECT * FROM pg_catalog.duckdb_settings": "42P01", "SELECT * FROM pg_catalog.shown_session": "42P01",
    "SELECT * FROM pg_catalog.pg_class, pg_catalog.\"/etc/passwd\"": "42P01",
    "SELECT * FROM (WITH duckdb_settings AS (SELECT 1 AS name) SELECT name FROM duckdb_settings) a, duckdb_settings": "42883",
    "SELECT COLUMNS('rel.*') FROM pg_class": None, "WITH x AS (DELETE FROM pg_class RETURNING *) SELECT * FROM x": None,
    "SELECT relname FROM pg_class WHERE relname = 'visits' AND (SELECT count(*) FROM pg_class) > 1": None,
}


def nothing_but_the_catalog_can_be_named(programs):
    """Functions and relations that DuckDB has besides: no rows, or an error."""
    with PgServer(programs) as server:
        raw = server.raw()
        raw.login("ann", server.tokens["ann"])
        for sql, state in HIDDEN.items():
            got = raw.query(sql)
            check((error_of(got) or [None])[0] == state, f"{sql}: {got}")
            check(all(m[0] != b"D" or m[1] == b"\0\1\xff\xff\xff\xff" for m in got), f"{sql}: {got}")
        raw.query("SET application_name = 'x''); DROP TABLE pg_class; --'")
        got = raw.query("SELECT current_setting('application_name') FROM pg_class")
        check(any(m[0] == b"D" and b"x'); DROP TABLE pg_class; --" in m[1] for m in got), got)
        raw.close()


def what_a_user_is_told_is_not_another_users(programs):
    """Users take turns in the processes that answer, of which there are fewer than questions here."""
    with PgServer(programs) as server:
        raws = {}
        for name in ("ann", "bob"):
            raws[name] = server.raw()
            raws[name].login(name, server.tokens[name])
            raws[name].query(f"SET application_name = 'of {name}'")
        for _ in range(16):
            for name, raw in raws.items():
                got = raw.query("SELECT current_user || ' ' || s.setting || ' ' || a.usename FROM pg_settings s, "
                                "pg_stat_activity a WHERE s.name = 'application_name'")
                said = [m[1][6:] for m in got if m[0] == b"D"]
                check(said == [f"{name} of {name} {name}".encode()], (name, got))
        for raw in raws.values():
            raw.close()


TESTS = [
    psql_lists_and_describes_tables, what_tools_ask_of_the_catalog_is_answered, prices_are_asked_for_told_and_charged_once, describing_spends_nothing,
    refusals_have_a_state_and_spend_nothing, who_is_unknown_learns_nothing,
    roles_and_removals_hold_in_open_connections, garbage_ends_one_connection_only,
    a_client_that_goes_away_finds_its_answer, a_cancel_with_a_wrong_key_does_nothing,
    tls_is_spoken_and_required_where_others_connect, what_is_free_does_not_depend_on_a_person,
    a_rate_is_kept_and_the_log_tells_no_question, many_ask_at_once_and_the_budget_holds,
    what_was_charged_and_failed_counts_in_the_cap, a_free_answer_is_given_above_the_cap,
    prepare_and_execute_are_statements_too, channels_are_bound_to_the_certificate,
    old_versions_and_ciphers_of_tls_are_refused, a_query_of_the_catalog_ends, nothing_but_the_catalog_can_be_named,
    what_a_user_is_told_is_not_another_users,
]

if __name__ == "__main__":
    sys.exit(run_functions(TESTS, sys.argv[1]))
