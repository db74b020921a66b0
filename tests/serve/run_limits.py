#!/usr/bin/env python3
"""What any token could do to keep a server from the others, in TAP.

    run_limits.py DIRECTORY_OF_BRUME

A user asks for work that never ends, or for more than there is room for; another user is answered
all the same, and so is everybody when the first one has ended.
"""
import json
import socket
import subprocess
import sys
import threading
import time

from pg_client import PgServer
from processes import run_functions
from server import COUNT, SOON, Server, check

DEADLINE = 2
ENDLESS = ("WITH RECURSIVE r(n) AS (SELECT pop FROM pub UNION ALL SELECT n FROM r) SELECT COUNT(*) FROM r")
WITHIN = f"SELECT COUNT(*) AS n FROM visits WHERE age > ({ENDLESS})"


class Limited(Server):
    """A table of people, a public one, two workers of each kind, a short deadline."""

    def __init__(self, programs, *options, **how):
        super().__init__(programs, "--deadline", str(DEADLINE), "--quantum", "0.25", "--workers", "2", "--rate", "0",
                         *options, **how)
        self.write("pub.csv", "pop\n1\n2\n")
        self.run("register", "pub", "pub.csv", "--public", "--columns", "pop integer")

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def metric(self, name):
        text = self.ask("GET", "/metrics", "bob").bytes.decode()
        return int(next(line.split()[1] for line in text.splitlines() if line.startswith(name + " ")))


def most_memory(server, sql):
    """The largest size in memory, in bytes, of a query at the shell."""
    code = ("import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode)")
    done = subprocess.run([sys.executable, "-c", code, server.program, "query", sql, "--epsilon", "1e-9", "--json"],
                          cwd=server.folder, env=server.environment, capture_output=True, text=True, check=True)
    return 1024 * int(done.stdout)


class Crowd:
    """Requests of ann at the same time, while others ask."""

    def __init__(self, server, count, path, body):
        self.server, self.got = server, []
        self.threads = [threading.Thread(target=self.ask, args=(path, body)) for _ in range(count)]
        for one in self.threads:
            one.start()

    def ask(self, path, body):
        self.got.append(self.server.ask("POST", path, "ann", body))

    def end(self):
        for one in self.threads:
            one.join(SOON)
        check(len(self.got) == len(self.threads), f"{len(self.got)} of {len(self.threads)} answers")
        return self.got


def check_others_are_answered(server, number):
    got = server.ask("POST", "/v1/explain", "bob", {"sql": COUNT, "epsilon": 0.1})
    check(got.code == 200 and got.seconds < DEADLINE, got)
    got = server.query("bob", COUNT, 0.01 + number / 1000)
    check(got.code == 200 and got.seconds < DEADLINE, got)


def endless_free_work_is_ended_and_keeps_nobody_out(programs):
    with Limited(programs) as server:
        cases = [("/v1/query", {"sql": ENDLESS}), ("/v1/query", {"sql": WITHIN, "epsilon": 0.1}),
                 ("/v1/explain", {"sql": WITHIN, "epsilon": 0.1}),
                 ("/v1/query", {"sql": f"SELECT COUNT(*) FROM visits; {ENDLESS}", "epsilon": 0.1}),
                 ("/v1/dummy", {"sql": WITHIN, "epsilon": 0.1}),
                 ("/v1/limits", {"sql": WITHIN, "epsilon": 0.1})]
        for number, (path, body) in enumerate(cases):
            crowd = Crowd(server, 12, path, body)
            time.sleep(0.3)
            check_others_are_answered(server, number)
            for got in crowd.end():
                check(got.code in (400, 422, 503), f"{path} {body}: {got}")
                check(got.seconds < DEADLINE + 6, f"{path} {body}: {got}")
        check(server.metric("brume_jobs_given_up_total") == 0, "a worker was given up")
        check_others_are_answered(server, 50)
        got = server.ask("POST", "/v1/query", "ann", {"sql": "SELECT SUM(pop) FROM pub"})
        check(got.code == 200 and got.json["rows"] == [[3]] and got.json["public"], got)
        check(server.holds(), "the ledger")


def long_paid_queries_keep_their_dataset_alone_from_others(programs):
    """They run one after the other, and nothing of the time that one waits for another's is its own."""
    with Limited(programs) as server:
        server.write("wards.csv", "person,age\np1,1\np2,3\n")
        server.run("register", "wards", "wards.csv", "--unit", "person", "--budget", "epsilon=10",
                   "--bounds", "age=0..100")
        server.write("much.csv", "pop\n" + "".join(f"{i}\n" for i in range(1000)))
        server.run("register", "much", "much.csv", "--public", "--columns", "pop integer")
        long = ("SELECT COUNT(*) AS wards FROM visits v, much a, much b, much c WHERE v.age + a.pop + b.pop < c.pop"
                " /* wards */")
        crowd = Crowd(server, 8, "/v1/query", {"sql": long, "epsilon": 1e-9})
        time.sleep(1)
        got = server.query("bob", "SELECT COUNT(*) AS n FROM wards", 0.01)
        check(got.code == 200 and got.seconds < DEADLINE, got)
        for i in range(3):
            got = server.query("bob", COUNT, 0.01 + i / 1000)
            check(got.code == 200 and got.seconds < 3 * DEADLINE, got)
        crowd.end()
        check(server.holds(), "the ledger")


def long_accounts_end_in_time_and_keep_nobody_out(programs):
    terms = " + ".join(f"poisson(rate=.{i + 101}, gaussian(sigma={i + 1}.5))" for i in range(600))
    with Limited(programs) as server:
        for command, body in (("account", {"expr": terms, "delta": 1e-6, "all": True}),
                              ("calibrate", {"expr": terms + " + laplace(scale=?)", "epsilon": 50000, "delta": 1e-6}),
                              ("loss", {"expr": terms})):
            crowd = Crowd(server, 12, "/v1/call/" + command, body)
            time.sleep(0.3)
            check_others_are_answered(server, 20 + len(command))
            for got in crowd.end():
                check(got.seconds < DEADLINE + 6, f"{command}: {got}")
        long = " + ".join(f"laplace(scale={i + 1})" for i in range(1001))
        got = server.ask("POST", "/v1/call/account", "ann", {"expr": long, "delta": 1e-6})
        check(got.code == 400 and "1001 terms" in got.json["error"]["message"], got)
        got = server.ask("POST", "/v1/call/account", "ann", {"expr": "laplace(scale=1)" + " " * 70000, "delta": 1e-6})
        check(got.code == 400 and "64 KiB" in got.json["error"]["message"], got)
        check(server.run("account", long, "--delta", "1e-6").startswith("epsilon <="), "the owner's shell")
        check(server.metric("brume_jobs_given_up_total") == 0, "a worker was given up")


def free_work_has_little_memory(programs):
    with Limited(programs, "--memory", "128") as server:
        got = server.ask("POST", "/v1/query", "ann", {"sql": "SELECT length(repeat('x', 1000000000)) FROM pub"})
        check(got.code in (422, 500, 502, 503), got)
        got = server.ask("POST", "/v1/query", "ann", {"sql": "SELECT pop FROM pub"})
        check(got.code == 200, got)


def one_user_has_a_share_of_the_workers_and_of_the_line(programs):
    with Limited(programs, "--queue", "4") as server:
        crowd = Crowd(server, 12, "/v1/query", {"sql": ENDLESS})
        time.sleep(0.5)
        start = time.monotonic()
        seen = [server.query("bob", COUNT, 0.01 + i / 1000) for i in range(3)]
        check([one.code for one in seen] == [200] * 3, seen)
        check(time.monotonic() - start < 2 * DEADLINE, "bob waits for ann")  # it would be three deadlines and more
        codes = [one.code for one in crowd.end()]
        check(set(codes) == {503}, codes)


GROUPS = "SELECT CLAMP(age, 0, {0}) AS a, CLAMP(b, 0, {0}) AS b, COUNT(*) AS n FROM pairs GROUP BY 1, 2"


def an_answer_has_a_size_that_the_owner_sets(programs):
    with Limited(programs) as server:
        server.write("pairs.csv", "person,age,b\np1,1,2\np2,3,4\n")
        server.run("register", "pairs", "pairs.csv", "--unit", "person", "--budget", "epsilon=10",
                   "--columns", "person text, age integer, b integer")
        large, small = GROUPS.format(300), GROUPS.format(30)  # 302^2 groups, NULL is one; 32^2
        asks = [("/v1/dummy", "ann"), ("/v1/explain", "carl"), ("/v1/query", "ann")]
        for path, who in asks:
            got = server.ask("POST", path, who, {"sql": large, "epsilon": 1e-9})
            said = got.json["error"]["message"]
            check(got.code == 403 and "273612 cells, at most 131072" in said and "nothing was spent" in said, got)
            check(server.ask("POST", path, who, {"sql": small, "epsilon": 1e-9}).code == 200, path)
        server.run("amend", "pairs", "--limits-per-user", "memory=1MiB,cells=2000000,ledger-bytes=1GiB")
        check("per user    memory=1048576,cells=2000000,ledger-bytes=1073741824" in server.run("show", "pairs"), "show")
        for path, who in asks:
            got = server.ask("POST", path, who, {"sql": large, "epsilon": 1e-9})
            check(got.code == 403 and "MiB of memory, at most 1 are" in got.json["error"]["message"], got)
        server.run("amend", "pairs", "--limits-per-user", "cells=2000000")
        got = server.ask("POST", "/v1/explain", "ann", {"sql": large, "epsilon": 1e-9})
        check(got.code == 200, got)
        # the owner at the shell has no limits; and a number takes less than the 1 KiB that is counted for it
        used = most_memory(server, large) - most_memory(server, small)
        check(0 < used < (302 ** 2 - 32 ** 2) * 4 * 1024, f"{used} bytes")
        for wrong in ("cells=0", "cells=1GiB", "memory=1TiB", "cells=1,cells=2", "nothing=1", "memory=", ""):
            code, _, err = server.brume("amend", "pairs", f"--limits-per-user={wrong}")
            check(code == 2 and "limit" in err, f"{wrong}: {code} {err}")
        check(server.holds(), "the ledger")


def a_user_has_so_many_bytes_of_the_ledger(programs):
    with Limited(programs) as server:
        server.run("amend", "visits", "--limits-per-user", "ledger-bytes=20KiB")
        paid = 0
        for i in range(100):
            got = server.query("ann", COUNT + f" WHERE age > {i}", 0.001, format="json")
            if got.code != 200:
                break
            paid += 1
        check(got.code == 403 and "bytes of the ledger, at most 20480" in got.json["error"]["message"], got)
        check(5 < paid < 40, f"{paid} answers")
        check(abs(server.spent() - 0.001 * paid) < 1e-9, "the refusal is free")
        again = server.query("ann", COUNT + " WHERE age > 0", 0.001)
        check(again.code == 200 and again.json["cached"], "what was paid for is read again")
        got = server.ask("POST", "/v1/release", "ann", {"statistic": "count", "source": "visits", "epsilon": 0.001})
        check(got.code == 403 and "bytes of the ledger" in got.json["error"]["message"], got)
        got = server.ask("POST", "/v1/streams", "ann", {"command": "stream above-threshold", "dataset": "visits",
                                                        "threshold": 100, "epsilon": 0.001})
        check(got.code == 403 and "bytes of the ledger" in got.json["error"]["message"], got)
        check(server.query("bob", COUNT, 0.001).code == 200, "bob has his own")
        server.run("amend", "visits", "--limits-per-user", "ledger-bytes=1MiB")
        check(server.query("ann", COUNT + " WHERE age > 90", 0.001).code == 200, "the owner allows more")


def a_stream_has_a_universe_that_fits_its_user(programs):
    with Limited(programs) as server:
        body = {"command": "stream pmw", "dataset": "visits", "columns": "age", "epsilon": 1e-6, "alpha": 0.1,
                "records": 100}
        server.run("amend", "visits", "--limits-per-user", "memory=64")
        got = server.ask("POST", "/v1/streams", "ann", body)
        check(got.code == 403 and "of memory, at most" in got.json["error"]["message"], got)
        check(server.spent() == 0, "it was charged")
        server.run("amend", "visits", "--limits-per-user", "memory=1MiB")
        check(server.ask("POST", "/v1/streams", "ann", body).code == 200, "it fits")


def silent_connections_close_no_door(programs):
    with PgServer(programs) as server:
        silent = []
        for _ in range(300):
            silent.append(socket.create_connection(("127.0.0.1", server.pg_port), timeout=SOON))
        start = time.monotonic()
        out, err = server.psql(COUNT, options="-c brume.epsilon=0.25")
        check(out.strip().lstrip("-").isdigit(), (out, err))
        check(time.monotonic() - start < 8, "it waits for the others")
        limit = time.monotonic() + SOON
        for one in silent:  # nobody is kept for longer than an ordinary start takes
            one.settimeout(max(0.1, limit - time.monotonic()))
            check(one.recv(1000) is not None, "it is open still")
            one.close()
        check(time.monotonic() - start < 25, "they are kept for long")


MANY = "SELECT a.typname FROM pg_catalog.pg_type a, pg_catalog.pg_type b, pg_catalog.pg_type c LIMIT 99000"


def resident(server):
    """MiB of memory that the server's own process has."""
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) // 1024


def cursors_keep_no_more_than_a_user_may_have(programs):
    with PgServer(programs, "--memory", "64", "--rate", "0") as server:
        def declare(first, count):
            return ["BEGIN", *(word for i in range(first, first + count)
                               for word in (f"DECLARE c{i} CURSOR FOR {MANY}", f"FETCH 1 FROM c{i}"))]
        before = resident(server)
        out, err = server.psql(*declare(0, 40), "ROLLBACK", *declare(0, 5))
        kept = out.split("ROLLBACK")[0].count("DECLARE CURSOR")
        check(err.count("takes all the memory") == 1 and 5 < kept < 30, f"{kept} cursors, {err[:300]}")
        check(out.count("bool") == kept + 5, out[-300:])  # after ROLLBACK there is room again
        check(resident(server) - before < 64 + 60, f"{resident(server)} MiB, {before} before")
        silent = []
        for _ in range(3):  # the limit is for all connections of a user together
            one = subprocess.Popen(["psql", "-X", "-A", "-t"], env=server.libpq(), stdin=subprocess.PIPE, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            one.stdin.write(";\n".join(declare(0, 8)) + ";\n\\echo done\n")
            one.stdin.flush()
            while one.stdout.readline() not in ("done\n", ""):
                pass
            silent.append(one)
        out, err = server.psql(COUNT, user="bob", options="-c brume.epsilon=0.25")
        check(out.strip().lstrip("-").isdigit(), (out, err))
        errors = "".join(one.communicate()[1] for one in silent)
        check("takes all the memory" in errors, errors)
        out, err = server.psql(*declare(0, 5))
        check(out.count("bool") == 5, "what connections kept is given back with them")
        long = ", 1" * 9000
        done = subprocess.run(["psql", "-X", "-A", "-t"], env=server.libpq(), text=True, capture_output=True,
                              input="".join(f"PREPARE s{i} AS SELECT 1{long};\n" for i in range(100)), check=False)
        kept = done.stdout.count("PREPARE")
        check("takes all the memory" in done.stderr and 10 < kept < 60, f"{kept} statements, {done.stderr[:300]}")
        check(resident(server) - before < 64 + 60, f"{resident(server)} MiB, {before} before")


def queries_of_the_catalog_take_turns(programs):
    """They are free calls: endless ones of one user are killed, and do not keep others waiting."""
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT count(*) FROM r"
    with PgServer(programs, "--rate", "0") as server:
        told = []
        threads = [threading.Thread(target=lambda: told.append(server.psql(endless)[1])) for _ in range(6)]
        for one in threads:
            one.start()
        time.sleep(1)
        start = time.monotonic()
        out, err = server.psql("SELECT typname FROM pg_catalog.pg_type WHERE typname = 'bool'", user="bob")
        check(out == "bool\n" and time.monotonic() < start + SOON / 4, (out, err))
        for one in threads:
            one.join(2 * SOON)
        check(len(told) == 6 and all("cancelled" in err for err in told), told)


def answers_that_nobody_reads_are_limited(programs):
    with Server(programs, "--memory", "64", "--quantum", "0.25", "--rate", "0") as server:
        with open(server.path("texts.csv"), "w", encoding="ascii") as file:
            file.write("t\n" + 4000 * (2000 * "x" + "\n"))
        server.run("register", "texts", "texts.csv", "--public", "--columns", "t text")
        body = json.dumps({"sql": "SELECT t FROM texts"})
        whole = server.ask("POST", "/v1/query", "ann", body.encode())
        check(whole.code == 200 and len(whole.bytes) > 6 << 20, whole)  # more than the kernel's buffers take
        sockets = []
        for _ in range((64 << 20) // len(whole.bytes)):
            one = server.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.sendall((f"POST /v1/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.tokens['ann']}\r\n"
                         f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
            check(one.recv(13) == b"HTTP/1.1 200 ", "an answer")
            sockets.append(one)
        got = server.ask("POST", "/v1/query", "ann", body.encode())
        check(got.code == 503 and "take all the memory" in got.json["error"]["message"], got)
        check(server.query("bob", COUNT, 0.01).code == 200, "bob has his own")
        for one in sockets:
            one.close()
        limit = time.monotonic() + SOON
        while server.ask("POST", "/v1/query", "ann", body.encode()).code != 200:
            check(time.monotonic() < limit, "what nobody reads any more is still counted")


def the_history_comes_in_pages(programs):
    with Limited(programs) as server:
        for i in range(7):
            check(server.query("ann", COUNT, 0.001 * (i + 1)).code == 200, i)
        whole = server.ask("GET", "/v1/history", "ann").json
        ids = [event["id"] for event in whole["events"]]
        check(len(ids) == 7 and ids == sorted(ids) and whole["before"] is None, whole)
        seen, before = [], None
        while True:
            path = "/v1/history/visits?limit=3" + (f"&before={before}" if before else "")
            page = server.ask("GET", path, "ann").json
            check(1 <= len(page["events"]) <= 3, page)
            seen = [event["id"] for event in page["events"]] + seen
            before = page["before"]
            if before is None:
                break
        check(seen == ids, (seen, ids))
        text = server.run("history", "visits", "--limit", "2")
        check(text.rstrip().splitlines()[-1] == f"older ones: brume history visits --before {ids[5]}", text)
        for i in range(100):
            server.run("query", COUNT, "--epsilon", f"{0.01 + 0.0001 * (i + 1):.4f}")
        page = server.ask("GET", "/v1/history", "ann").json
        check(len(page["events"]) == 100 and page["before"] == page["events"][0]["id"], page["before"])


if __name__ == "__main__":
    sys.exit(run_functions([
        endless_free_work_is_ended_and_keeps_nobody_out,
        long_paid_queries_keep_their_dataset_alone_from_others,
        long_accounts_end_in_time_and_keep_nobody_out,
        free_work_has_little_memory,
        one_user_has_a_share_of_the_workers_and_of_the_line,
        an_answer_has_a_size_that_the_owner_sets,
        a_user_has_so_many_bytes_of_the_ledger,
        a_stream_has_a_universe_that_fits_its_user,
        silent_connections_close_no_door,
        cursors_keep_no_more_than_a_user_may_have,
        queries_of_the_catalog_take_turns,
        answers_that_nobody_reads_are_limited,
        the_history_comes_in_pages,
    ], sys.argv[1]))
