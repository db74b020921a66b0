#!/usr/bin/env python3
"""Cancelling a query of `brume serve`, by psql and by the command line, while its engine waits for a lock, in TAP.

    with-cluster run_pg_cancel.py DIRECTORY_OF_BRUME
"""
import json
import signal
import subprocess
import sys
import time

from pg_client import PgServer
from processes import run_functions
from server import SOON, check
from run_server import COUNT, URL, Lock, psql

CANCELLED = 5  # exit code


class Place(PgServer):
    """The table `visits` is on a PostgreSQL server; nobody can read it while it is locked."""

    def __init__(self, programs, quantum="0.05"):
        super().__init__(programs, quantum=quantum, register=False)
        self.run("register", "visits", URL, "--table", "visits", "--unit", "who", "--budget", "epsilon=1")
        self.add_users()

    def start_client(self, price):
        """The command line as a client of the server."""
        return subprocess.Popen(
            [self.program, "--server", f"http://127.0.0.1:{self.port}", "query", COUNT, "--epsilon", price, "--json"],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            env=dict(self.environment, BRUME_TOKEN=self.tokens["ann"]))


def wait_for_the_lock(client):
    limit = time.monotonic() + SOON
    while psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'brume' AND "
               "wait_event_type = 'Lock'") != "1":
        check(time.monotonic() < limit and client.poll() is None, "it does not wait for the table")
        time.sleep(0.02)


def interrupting_psql_cancels_and_the_price_stays_spent(programs):
    with Place(programs) as server:
        lock = Lock("visits")
        try:
            client = subprocess.Popen(["psql", "-X", "-A", "-t", "-c", COUNT], text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, env=server.libpq(options="-c brume.epsilon=0.25"))
            wait_for_the_lock(client)
            client.send_signal(signal.SIGINT)  # psql sends a request to cancel
            out, err = client.communicate(timeout=SOON)
            check(out == "" and "spent" in err, (out, err))
        finally:
            lock.release()
        check(server.states() == ["failed"] and server.spent() == 0.25, server.states())
        out, err = server.psql(COUNT, options="-c brume.epsilon=0.125")
        check(out.strip().isdigit(), err)
        check(server.holds(), "the ledger")


def interrupting_the_command_line_ends_the_call_there(programs):
    """The answer leaves at the next quantum all the same: its time says nothing of the table."""
    with Place(programs, "3") as server:
        lock = Lock("visits")
        try:
            start = time.monotonic()
            client = server.start_client("0.25")
            wait_for_the_lock(client)
            client.send_signal(signal.SIGINT)
            out, err = client.communicate(timeout=SOON)
            told = json.loads(err)["error"]
            check(client.returncode == CANCELLED and out == "" and "the price stays spent" in told["message"], (out, err))
            check(time.monotonic() - start >= 3, "before its quantum")
        finally:
            lock.release()
        check(server.states() == ["failed"] and server.spent() == 0.25, server.states())
        check(server.query(epsilon=0.125).code == 200 and server.holds(), "the server goes on")


def a_second_interrupt_does_not_wait(programs):
    with Place(programs, "8") as server:
        lock = Lock("visits")
        try:
            client = server.start_client("0.25")
            wait_for_the_lock(client)
            client.send_signal(signal.SIGINT)
            limit = time.monotonic() + SOON
            while psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'brume' AND "
                       "wait_event_type = 'Lock'") != "0":
                check(time.monotonic() < limit, "the first one did not end it")
                time.sleep(0.02)
            check(client.poll() is None, "the answer left before its quantum")
            client.send_signal(signal.SIGINT)
            out, err = client.communicate(timeout=20)
            check(client.returncode == CANCELLED and "may be spent" in json.loads(err)["error"]["message"], (out, err))
        finally:
            lock.release()
        check(server.spent() == 0.25, server.spent())


if __name__ == "__main__":
    psql("DROP TABLE IF EXISTS visits; CREATE TABLE visits(who text, age int); "
         "INSERT INTO visits SELECT 'p' || i, i % 90 FROM generate_series(1, 100) i")
    sys.exit(run_functions([interrupting_psql_cancels_and_the_price_stays_spent,
                            interrupting_the_command_line_ends_the_call_there, a_second_interrupt_does_not_wait],
                           sys.argv[1]))
