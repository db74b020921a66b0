#!/usr/bin/env python3
"""The promises of `brume query` as real processes that race, die and are interrupted, in TAP.

    run_races.py DIRECTORY_OF_BRUME

The random moments come from a fixed seed; the machine's own timing does the rest.
"""
import json
import os
import random
import signal
import sqlite3
import sys
import time

from processes import Folder, check, run_functions

COUNT = "SELECT COUNT(*) FROM visits"


class Place(Folder):
    """A folder with a registered dataset."""

    def __init__(self, programs, budget, rows=300):
        super().__init__(programs)
        self.write_visits(rows)
        self.run("register", "visits", "visits.csv", "--unit", "person", "--budget", f"epsilon={budget}",
                 "--bounds", "age=0..100")

    def history(self):
        return self.json("history", "visits")["events"]


def exactly_as_many_as_the_budget_carries_are_answered(programs):
    """Of 16 processes that race for a budget of 7 answers, 7 are answered and 9 refused."""
    place = Place(programs, "0.7")
    try:
        racers = [place.start("query", f"{COUNT} WHERE age < {i + 20}", "--epsilon", "0.1", "--json")
                  for i in range(16)]
        ended = [(racer.communicate(timeout=60), racer.returncode) for racer in racers]
        codes = sorted(code for _, code in ended)
        check(codes == [0] * 7 + [3] * 9, f"exit codes {codes}: {[e[0][1] for e in ended]}")
        for (out, err), code in ended:
            check(("rows" in json.loads(out)) if code == 0 else (out == "" and "budget" in err),
                  f"exit {code}: {out} {err}")
        check(len(place.history()) == 7, "other than 7 reservations")
        check(place.json("budget", "visits")["remaining"]["epsilon"] == 0, "something is left")
        check(place.holds(), "the ledger does not hold")
    finally:
        place.close()


def an_answer_that_was_printed_is_charged_however_the_process_dies(programs):
    """60 processes are killed at random moments: each answer seen is on the ledger, which holds."""
    place = Place(programs, "100")
    moments, seen, silent = random.Random(20260711), [], 0
    try:
        began = time.monotonic()
        place.run("query", f"{COUNT} WHERE age < 1000", "--epsilon", "0.01")
        usual = time.monotonic() - began
        for i in range(60):
            sql = f"{COUNT} WHERE age < {i}"
            process = place.start("query", sql, "--epsilon", "0.01", "--json")
            out = ""
            if i % 6 == 5:
                out = process.stdout.read(1)  # the moment at which something is seen
            else:
                time.sleep(moments.uniform(0, 1.3 * usual) if i else 0)  # the first at once: silent
            process.send_signal(signal.SIGKILL)
            out += process.communicate(timeout=60)[0]
            if out:
                seen.append(i)
            else:
                silent += 1
            if i % 10 == 9:
                check(place.holds(), f"the ledger does not hold after {i + 1} kills")
        events = place.history()
        for i in seen:
            charged = [e for e in events if e["sql"] == f"{COUNT} WHERE age < {i}"]
            check(len(charged) == 1 and charged[0]["state"] == "committed",
                  f"answer {i} was seen: {charged}; the newest: {events[-1]}")
        spent = 100 - place.json("budget", "visits")["remaining"]["epsilon"]
        check(abs(spent - 0.01 * len(events)) < 1e-9, f"{spent} for {len(events)} reservations")
        check(len(seen) >= 10 and silent > 0, f"{len(seen)} answers seen, {silent} not: no test")
        check(place.holds(), "the ledger does not hold")
        print(f"# {len(seen)} answers seen, {len(events)} charged, {silent} silent")
        again = place.json("query", f"{COUNT} WHERE age < 1000", "--epsilon", "0.01")
        check(again["cached"] is True, "the answer before the kills is lost")
    finally:
        place.close()


def an_interrupted_query_says_so_and_stays_charged(programs):
    """SIGINT in a long query: no answer, not exit 0, an error, and the charge is kept."""
    place = Place(programs, "1", rows=3_000_000)
    try:
        process = place.start("query", "SELECT VAR_POP(age), COUNT(DISTINCT person) FROM visits",
                              "--epsilon", "0.25")
        limit = time.monotonic() + 30
        while not place.history() and time.monotonic() < limit:
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        check(process.returncode != 0, "it ended before the signal: the query is too short")
        check(process.returncode == 5 and out == "" and err.splitlines() ==
              ["brume query: interrupted; the price stays spent", "  hint: 'brume history' shows it"],
              f"{process.returncode} {out!r} {err!r}")
        events = place.history()
        check(len(events) == 1, f"{events}")
        check(events[0]["state"] == "failed", f"{events}")
        check(place.json("budget", "visits")["remaining"]["epsilon"] == 0.75, "it was refunded")
        check(place.holds(), "the ledger does not hold")
    finally:
        place.close()


def an_interrupted_synth_writes_nothing_and_stays_charged(programs):
    """SIGINT in many rounds: it ends soon, without a file, and the charge is kept."""
    place = Place(programs, "1", rows=1000)
    try:
        process = place.start("synth", "visits", "--columns", "age", "--bins", "1000", "--workload",
                              "marginals:1", "--method", "mwem", "--rounds", "1000000", "--epsilon",
                              "0.25", "--rows", "10", "--output", "out.csv")
        limit = time.monotonic() + 30
        while not place.history() and time.monotonic() < limit:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        check(process.returncode == 5 and out == "" and err.splitlines() ==
              ["brume synth: interrupted; the price stays spent", "  hint: 'brume history' shows it"],
              f"{process.returncode} {out!r} {err!r}")
        check([e["state"] for e in place.history()] == ["failed"], f"{place.history()}")
        check(place.json("budget", "visits")["remaining"]["epsilon"] == 0.75, "it was refunded")
        check(not [f for f in os.listdir(place.folder) if f.startswith("out")], "a file is left")
        check(place.holds(), "the ledger does not hold")
    finally:
        place.close()


def wait_for_lock(process, path):
    """Until the process has opened the ledger, whose lock somebody else holds."""
    limit = time.monotonic() + 30
    folder = f"/proc/{process.pid}/fd"
    while time.monotonic() < limit:
        try:
            if any(os.readlink(os.path.join(folder, number)).startswith(path)
                   for number in os.listdir(folder)):
                return
        except OSError:
            pass
        time.sleep(0.01)
    raise AssertionError("the ledger was not opened")


def an_interrupt_before_the_reservation_says_that_nothing_was_spent(programs):
    """The ledger is locked: a query and a release wait for it, and are interrupted there."""
    place = Place(programs, "1")
    path = os.path.join(place.folder, "brume.db")
    commands = [["query", COUNT, "--epsilon", "0.5"],
                ["query", COUNT, "--epsilon", "0.5", "--json"],
                ["release", "mean", "visits", "--column", "age", "--bounds", "0..100", "--epsilon", "0.5"]]
    try:
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        for number in (signal.SIGINT, signal.SIGTERM):
            for command in commands:
                process = place.start(*command)
                wait_for_lock(process, path)
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
                check(process.returncode == 5 and out == "", f"{process.returncode} {out!r} {err!r}")
                if "--json" in command:
                    check(json.loads(err)["error"] == {
                        "code": "cancelled", "message": "interrupted; nothing was spent", "hint": ""}, err)
                else:
                    check(err == f"brume {command[0]}: interrupted; nothing was spent\n", err)
        holder.execute("ROLLBACK")
        holder.close()
        check(place.history() == [] and place.holds(), "something was spent")
    finally:
        place.close()


def what_an_interrupt_says_of_the_price_is_what_the_ledger_says(programs):
    """60 interrupts at random moments: nothing spent, spent, or answered, as the ledger has it."""
    place = Place(programs, "100", rows=100_000)
    moments, outcomes = random.Random(20261115), {}
    try:
        began = time.monotonic()
        place.run("query", f"{COUNT} WHERE age < 1000", "--epsilon", "0.01")
        usual = time.monotonic() - began
        known = len(place.history())
        for i in range(60):
            process = place.start("query", f"{COUNT} WHERE age < {i}", "--epsilon", "0.01", "--json")
            time.sleep(moments.uniform(0.2, 1.3) * usual)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            new = place.history()[known:]
            states = [event["state"] for event in new]
            if process.returncode == 0:
                outcome = "answered"
                check(states == ["committed"] and "rows" in json.loads(out), f"{states} {out}")
            elif process.returncode == -signal.SIGINT:
                # the program was still being loaded, or had its answer recorded and was about to end
                outcome = "not begun" if states == [] else "ended"
                check((states == [] and out == "") or (states == ["committed"] and (out == "" or "rows" in json.loads(out))),
                      f"{states} {out}")
                check(err == "", err)
            else:
                message = json.loads(err)["error"]["message"]
                outcome = message
                check(process.returncode == 5 and out == "", f"{process.returncode} {out}")
                check((message == "interrupted; nothing was spent" and states == []) or
                      (message == "interrupted; the price stays spent" and states == ["failed"]),
                      f"{message}, but {states}")
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            known += len(new)
        check(place.holds(), "the ledger does not hold")
        print(f"# {outcomes}")
    finally:
        place.close()


def an_interrupted_audit_leaves_no_files(programs):
    """SIGINT while tables are made and while answers are drawn: one error, and an empty $TMPDIR."""
    place = Place(programs, "1")
    try:
        place.environment["TMPDIR"] = made = place.path("made")
        os.mkdir(made)
        for wait in (0, 0.5):
            process = place.start("audit", "--query", COUNT, "--samples", "1000000")
            limit = time.monotonic() + 30
            while not os.listdir(made):
                check(time.monotonic() < limit and process.poll() is None, "no tables are made")
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            check(process.returncode == 5 and out == "", f"{process.returncode} {out!r}")
            check(err == "brume audit: interrupted; nothing was spent\n", err)
            check(os.listdir(made) == [], f"left: {os.listdir(made)}")
        check(place.history() == [], "something was charged")
    finally:
        place.close()


TESTS = [exactly_as_many_as_the_budget_carries_are_answered,
         an_answer_that_was_printed_is_charged_however_the_process_dies,
         an_interrupted_query_says_so_and_stays_charged,
         an_interrupted_synth_writes_nothing_and_stays_charged,
         an_interrupt_before_the_reservation_says_that_nothing_was_spent,
         what_an_interrupt_says_of_the_price_is_what_the_ledger_says,
         an_interrupted_audit_leaves_no_files]


if __name__ == "__main__":
    sys.exit(run_functions(TESTS, sys.argv[1]))
