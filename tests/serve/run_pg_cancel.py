#!/usr/bin/env python3
"""Cancelling a query through `brume serve --pg`, while its engine waits for a lock, in TAP.

    with-cluster run_pg_cancel.py DIRECTORY_OF_BRUME
"""
import signal
import subprocess
import sys
import time

from pg_client import PgServer
from processes import run_functions
from server import SOON, check
from run_server import COUNT, URL, Lock, psql


def interrupting_psql_cancels_and_the_price_stays_spent(programs):
    server = PgServer(programs, register=False)
    server.run("register", "visits", URL, "--table", "visits", "--unit", "who", "--budget", "epsilon=1")
    server.add_users()
    with server:
        lock = Lock("visits")
        try:
            client = subprocess.Popen(["psql", "-X", "-A", "-t", "-c", COUNT], text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, env=server.libpq(options="-c brume.epsilon=0.25"))
            limit = time.monotonic() + SOON
            while psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'brume' AND "
                       "wait_event_type = 'Lock'") != "1":
                check(time.monotonic() < limit and client.poll() is None, "it does not wait for the table")
                time.sleep(0.02)
            client.send_signal(signal.SIGINT)  # psql sends a request to cancel
            out, err = client.communicate(timeout=SOON)
            check(out == "" and "spent" in err, (out, err))
        finally:
            lock.release()
        check(server.states() == ["failed"] and server.spent() == 0.25, server.states())
        out, err = server.psql(COUNT, options="-c brume.epsilon=0.125")
        check(out.strip().isdigit(), err)
        check(server.holds(), "the ledger")


if __name__ == "__main__":
    psql("DROP TABLE IF EXISTS visits; CREATE TABLE visits(who text, age int); "
         "INSERT INTO visits SELECT 'p' || i, i % 90 FROM generate_series(1, 100) i")
    sys.exit(run_functions([interrupting_psql_cancels_and_the_price_stays_spent], sys.argv[1]))
