#!/usr/bin/env python3
"""The server closes windows of series by itself, at quantised times, in TAP.

    run_series.py DIRECTORY_OF_BRUME
"""
import datetime
import json
import os
import signal
import sys
import time

from server import SOON, Server, check
from processes import run_functions

DAYS = 3


def open_series(server, seconds_left):
    """A series of days, of which one closes so many seconds from now."""
    now = datetime.datetime.now(datetime.timezone.utc)
    today = now.date()
    with open(server.path("seen.csv"), "w", encoding="utf-8") as file:
        file.write("person,day\n")
        file.writelines(f"p{i},{today - datetime.timedelta(days=i % 5)}\n" for i in range(500))
    midnight = datetime.datetime.combine(today, datetime.time(), datetime.timezone.utc)
    after = int((now - midnight).total_seconds()) + seconds_left
    server.run("register", "seen", "seen.csv", "--unit", "person", "--columns", "person text, day date", "--window",
               "day day", "--window-budget", "epsilon=1", "--budget", "none")
    server.run("series", "open", "daily", "SELECT COUNT(*) AS n FROM seen", "--limit", "2/day", "--epsilon", "0.5",
               "--from", str(today - datetime.timedelta(days=DAYS)), "--horizon", "30", "--close-after", f"{after}s")
    return today


def until(server, last):
    """Wait until the series is published up to a day."""
    end = time.monotonic() + SOON
    while time.monotonic() < end:
        got = server.ask("GET", "/v1/series", "ann")
        check(got.code == 200, got)
        if got.json["series"][0]["closed_until"] == str(last):
            return
        time.sleep(0.2)
    raise AssertionError(f"{last} was not published: {server.log_text()[-600:]}")


def windows_are_published_when_they_close(programs):
    """Those that had closed before it started, and the next one in time; analysts read them for free, and may
    not publish; a server that is killed loses nothing."""
    with Server(programs, "--quantum", "1") as server:
        today = open_series(server, 12)
        until(server, today - datetime.timedelta(days=2))
        until(server, today - datetime.timedelta(days=1))
        shown = server.ask("GET", "/v1/series/daily", "ann")
        check(shown.code == 200 and len(shown.json["points"]) == DAYS, shown)
        check(server.ask("POST", "/v1/call/series/update", "ann", {"name": "daily"}).code == 403, "an analyst published")
        told = [json.loads(line) for line in server.log_text().splitlines() if "series published" in line]
        check(len(told) == 2 and all("daily: " in line["detail"] for line in told), f"{told}")
        server.end(signal.SIGKILL)
        server.serve()
        again = server.ask("GET", "/v1/series/daily", "ann")
        check(again.json["points"] == shown.json["points"], "a published number changed")
        check(server.json("ledger", "verify")["holds"] is True, "the ledger does not hold")


def a_source_that_is_gone_ends_nothing(programs):
    """It is said in the log, and nothing is recorded."""
    server = Server(programs, "--quantum", "1")
    open_series(server, 3600)
    os.rename(server.path("seen.csv"), server.path("away.csv"))
    with server:
        end = time.monotonic() + SOON
        while "series failed" not in server.log_text():
            check(time.monotonic() < end, "no failure was told")
            time.sleep(0.2)
        got = server.ask("GET", "/v1/series", "ann").json["series"][0]
        check(got["closed_until"] is None and got["ended"] is False, got)


if __name__ == "__main__":
    sys.exit(run_functions([windows_are_published_when_they_close, a_source_that_is_gone_ends_nothing], sys.argv[1]))
