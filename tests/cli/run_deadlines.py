#!/usr/bin/env python3
"""Deadlines and signals end `brume` in time, whatever the engine does, in TAP.

    with-cluster run_deadlines.py DIRECTORY_OF_BRUME

A lock on the table keeps a query in the engine; a stopped server answers nothing at all, neither a
query nor its cancellation nor a new connection.
"""
import os
import signal
import sys
import time

from processes import Folder, check, run_functions
from run_server import COUNT, POSTMASTER, URL, Lock, brume_sessions, psql

# Two seconds after the wish to stop a process is ended; the rest is for a machine that is busy.
SOON = 30
# A deadline that a query reaches in the engine: it must have come so far in this time.
DEADLINE = "6"
LATE = [f"brume query: the deadline of {DEADLINE} s has passed; the price stays spent",
        "  hint: 'brume history' shows it"]


class Place(Folder):
    """A folder with a ledger in which the table `visits` is registered."""

    def __init__(self, programs, *more):
        super().__init__(programs)
        self.run("register", "visits", URL, "--table", "visits", "--unit", "who", "--budget", "epsilon=1",
                 *more)

    def start_query(self, *more):
        """A query that is reserved and waits for a locked table."""
        process = self.start("query", COUNT, "--epsilon", "0.25", *more)
        limit = time.monotonic() + 30
        while psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'brume' AND "
                   "wait_event_type = 'Lock'") != "1":
            check(time.monotonic() < limit and process.poll() is None, "it does not wait for the table")
            time.sleep(0.02)
        return process

    def check_ended(self, process, lines, states):
        began = time.monotonic()
        out, err = process.communicate(timeout=SOON)
        check(process.returncode == 5 and out == "" and err.splitlines() == lines,
              f"{process.returncode} {out!r} {err!r} after {time.monotonic() - began} s")
        check(self.states() == states, self.states())
        left = self.json("budget", "visits")["remaining"]["epsilon"]
        check(left == (0.75 if states else 1), f"{left} is left")
        check(self.holds(), "the ledger does not hold")


class Stopped:
    """The server and the sessions of `brume` stand still."""

    def __enter__(self):
        self.processes = [POSTMASTER] + [int(pid) for pid in brume_sessions()]
        for pid in self.processes:
            os.kill(pid, signal.SIGSTOP)

    def __exit__(self, *fault):
        for pid in self.processes:
            os.kill(pid, signal.SIGCONT)


def wait_until_gone(what):
    limit = time.monotonic() + SOON
    while brume_sessions():
        check(time.monotonic() < limit, what)
        time.sleep(0.05)


def a_deadline_cancels_the_query(programs):
    """At the server too; the price stays spent, and the history says failed."""
    place, lock = Place(programs), Lock("visits")
    try:
        process = place.start("query", COUNT, "--epsilon", "0.25", "--timeout", DEADLINE)
        place.check_ended(process, LATE, ["failed"])
        wait_until_gone("the server still works for it")
    finally:
        lock.release()
        place.close()


def a_deadline_ends_a_query_whose_server_hangs(programs):
    """With the same words and the same exit code; that it failed could not be recorded any more."""
    place, lock = Place(programs), Lock("visits")
    try:
        process = place.start_query("--timeout", DEADLINE)
        with Stopped():
            place.check_ended(process, LATE, ["reserved"])
    finally:
        lock.release()
        place.close()


def a_deadline_ends_waiting_for_a_connection(programs):
    place = Place(programs)
    try:
        with Stopped():
            process = place.start("query", COUNT, "--epsilon", "0.25", "--timeout", "1")
            place.check_ended(process, ["brume query: the deadline of 1 s has passed; nothing was spent"],
                              [])
    finally:
        place.close()


def one_signal_ends_a_query_whose_server_hangs(programs):
    place, lock = Place(programs), Lock("visits")
    try:
        process = place.start_query()
        with Stopped():
            process.send_signal(signal.SIGTERM)
            place.check_ended(process, ["brume query: interrupted; the price stays spent",
                                        "  hint: 'brume history' shows it"], ["reserved"])
    finally:
        lock.release()
        place.close()


def the_owners_cap_is_a_deadline(programs):
    """For every query; a longer one may not be typed, a shorter one may."""
    place, lock = Place(programs, "--timeout", DEADLINE), Lock("visits")
    try:
        code, out, err = place.brume("query", COUNT, "--epsilon", "0.25", "--timeout", "6.5")
        check(code == 3 and out == "" and err.splitlines() == [
            "brume query: '--timeout' is above the cap of the dataset 'visits'",
            "  hint: the owner allows 6 seconds"], (code, err))
        check(place.json("show", "visits")["timeout"] == 6, "the cap is not shown")
        place.check_ended(place.start("query", COUNT, "--epsilon", "0.25"), LATE, ["failed"])
        code, _, err = place.brume("query", COUNT + " WHERE age > 1", "--epsilon", "0.25", "--timeout",
                                   "0.5")
        check(code == 5 and "the deadline of 0.5 s has passed" in err, (code, err))
        code, _, err = place.brume("release", "mean", "visits", "--column", "age", "--bounds", "0..90",
                                   "--epsilon", "0.25")
        check(code == 5 and f"the deadline of {DEADLINE} s has passed" in err, (code, err))
    finally:
        lock.release()
        place.close()


def a_deadline_ends_synth_without_a_file(programs):
    """Many rounds over a file."""
    place = Folder(programs)
    try:
        place.write_visits(1000)
        place.run("register", "visits", "visits.csv", "--unit", "person", "--budget", "epsilon=1",
                  "--bounds", "age=0..100")
        code, out, err = place.brume("synth", "visits", "--columns", "age", "--bins", "1000", "--workload",
                                     "marginals:1", "--method", "mwem", "--rounds", "1000000", "--epsilon",
                                     "0.25", "--rows", "10", "--output", "out.csv", "--timeout", "1",
                                     "--json")
        check(code == 5 and out == "" and "the deadline of 1 s has passed" in err, (code, out, err))
        check(not [f for f in os.listdir(place.folder) if f.startswith("out")], "a file is left")
        check(place.holds(), "the ledger does not hold")
    finally:
        place.close()


def the_server_notices_that_a_client_was_killed(programs):
    """kill -9 while the server works: it stops although nobody told it."""
    place, lock = Place(programs), Lock("visits")
    try:
        process = place.start_query()
        process.kill()
        process.communicate(timeout=SOON)
        wait_until_gone("the server still works for a process that was killed")
    finally:
        lock.release()
        place.close()


TESTS = [a_deadline_cancels_the_query,
         a_deadline_ends_a_query_whose_server_hangs,
         a_deadline_ends_waiting_for_a_connection,
         one_signal_ends_a_query_whose_server_hangs,
         the_owners_cap_is_a_deadline,
         a_deadline_ends_synth_without_a_file,
         the_server_notices_that_a_client_was_killed]


def main():
    psql("CREATE TABLE visits(who int, age int); INSERT INTO visits SELECT i, i % 90 FROM "
         "generate_series(1, 2000) i")
    return run_functions(TESTS, sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
