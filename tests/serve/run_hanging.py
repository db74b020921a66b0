#!/usr/bin/env python3
"""`brume serve` and a PostgreSQL server that hangs: the deadline holds, the server goes on, in TAP.

    with-cluster run_hanging.py DIRECTORY_OF_BRUME
"""
import sys
import time

from server import SOON, Server, check
from processes import run_functions
from run_server import COUNT, URL, Lock, psql
from run_deadlines import Stopped

DEADLINE = 4


class Place(Server):
    """The table `visits` is on a server of its own; `people` is a file."""

    def __init__(self, programs, *options):
        super().__init__(programs, "--deadline", str(DEADLINE), "--quantum", "0.25", *options, register=False)
        self.write_visits(100)
        self.run("register", "people", "visits.csv", "--unit", "person", "--budget", "epsilon=1")
        self.run("register", "visits", URL, "--table", "visits", "--unit", "who", "--budget", "epsilon=1")
        self.add_users()


def check_goes_on(server):
    got = server.query("bob", "SELECT COUNT(*) FROM people", 0.1)
    check(got.code == 200, got)
    check(server.ask("POST", "/v1/explain", "ann", {"sql": COUNT, "epsilon": 0.1}).code == 200, "explain")


def a_locked_table_ends_at_the_deadline(programs):
    with Place(programs) as server:
        lock = Lock("visits")
        try:
            got = server.query("ann", COUNT, 0.25)
            check(got.code == 503 and "stays spent" in got.json["error"]["message"], got)
            check(DEADLINE <= got.seconds < SOON, got)
            check_goes_on(server)
        finally:
            lock.release()
        check(server.states() == ["failed"] and server.spent() == 0.25, server.states())
        check(server.query("ann", COUNT, 0.125).code == 200, "the table is free again")
        check(server.holds(), "the ledger")


def a_stopped_server_is_given_up(programs):
    with Place(programs) as server:
        lock = Lock("visits")
        try:
            import threading
            result = []
            one = threading.Thread(target=lambda: result.append(server.query("ann", COUNT, 0.25)))
            one.start()
            limit = time.monotonic() + SOON
            while psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'brume' AND "
                       "wait_event_type = 'Lock'") != "1":
                check(time.monotonic() < limit, "it does not wait for the table")
                time.sleep(0.02)
            with Stopped():
                one.join(SOON)
                check(result and result[0].code == 503, result)
                check("spent" in result[0].json["error"]["message"], result)
                check_goes_on(server)
        finally:
            lock.release()
        check(server.spent() == 0.25, server.spent())
        check(server.holds(), "the ledger")


if __name__ == "__main__":
    psql("DROP TABLE IF EXISTS visits; CREATE TABLE visits(who text, age int); "
         "INSERT INTO visits SELECT 'p' || i, i % 90 FROM generate_series(1, 100) i")
    sys.exit(run_functions([a_locked_table_ends_at_the_deadline, a_stopped_server_is_given_up], sys.argv[1]))
