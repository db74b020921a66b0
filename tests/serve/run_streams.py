#!/usr/bin/env python3
"""Streams of questions through `brume serve`, in TAP.

    run_streams.py DIRECTORY_OF_BRUME
"""
import os
import signal
import subprocess
import sys
import threading
import time

from server import SOON, Server, check
from processes import run_functions

OPEN = {"command": "stream above-threshold", "dataset": "visits", "threshold": 100, "epsilon": 50}
BUDGET = "epsilon=1000"  # noise of scale 0.2 at most: counts are 80 and more away from the threshold


def opened(server, who="ann", **more):
    got = server.ask("POST", "/v1/streams", who, {**OPEN, **more})
    check(got.code == 200, got)
    return "/v1/streams/" + got.json["stream"]


def asked(server, path, question, who="ann"):
    return server.ask("POST", path, who, {"question": question})


def progress(server):
    return [event.get("progress", {}).get("asked") for event in server.json("history", "visits")["events"]]


def a_stream_is_paid_once_and_answers_until_it_halts(programs):
    with Server(programs, "--quantum", "0.05", rows=400, budget=BUDGET) as server:
        path = opened(server)
        check(server.spent() == 50, "its price is charged when it is opened")
        for question in ("age > 85", "age > 88"):
            got = asked(server, path, question)
            check(got.code == 200 and got.json["halted"] is False and '"above": false' in got.json["answer"], got)
        wrong = asked(server, path, "nothing > 1")
        check(wrong.code == 404 and wrong.json["error"]["code"] == "unknown", wrong)
        last = asked(server, path, "age >= 0")
        check(last.json["halted"] is True and '"above": true' in last.json["answer"], last)
        check(asked(server, path, "age > 1").code == 404, "it has ended")
        check(server.states() == ["committed"] and progress(server) == [3], (server.states(), progress(server)))
        check(server.spent() == 50 and server.holds(), server.spent())
        path = opened(server, epsilon=0.5)
        check(server.ask("DELETE", path, "ann").code == 200, "another one, which is ended")
        check(asked(server, path, "age > 1").code == 404 and server.states() == ["committed"] * 2, "it has ended")


def a_stream_is_its_users_own(programs):
    with Server(programs, "--quantum", "0.05", budget=BUDGET) as server:
        path = opened(server)
        check(asked(server, path, "age > 80", "bob").code == 404, "bob asks ann's")
        check(server.ask("DELETE", path, "bob").code == 404, "bob ends ann's")
        got = server.ask("POST", "/v1/streams", "bob", OPEN)
        check(got.code == 403 and "another stream is open" in got.json["error"]["message"], got)
        check(server.spent() == 50, "and is not charged for it")
        check(server.query("bob").code == 200, "queries are answered meanwhile")
        got = server.ask("POST", "/v1/streams", "carl", OPEN)
        check(got.code == 403 and "not for an auditor" in got.json["error"]["message"], got)
        for body in ({**OPEN, "command": "query"}, {"dataset": "visits"}, {**OPEN, "nonsense": 1}, {**OPEN, "ledger": "x"},
                     {**OPEN, "timeout": 9}):
            check(server.ask("POST", "/v1/streams", "ann", body).code in (400, 404), body)
        check(asked(server, path, "age > 80").code == 200, "ann's goes on")
        server.json("user", "token", "ann")
        check(asked(server, path, "age > 80").code == 401, "an old token")
        check(server.ask("POST", path, "bob", {}).code == 400, "without a question")


def one_that_is_left_is_ended(programs):
    with Server(programs, "--quantum", "0.05", "--deadline", "5", budget=BUDGET) as server:
        path = opened(server)
        limit = time.monotonic() + SOON
        while server.states() != ["committed"]:
            check(time.monotonic() < limit, "it is open still")
            time.sleep(0.1)
        check(asked(server, path, "age > 1").code == 404, "it has ended")
        opened(server, "bob", epsilon=0.5)


def answers_and_records_of_streams_leave_at_quantised_times(programs):
    quantum = 1.5
    with Server(programs, "--quantum", str(quantum), budget=BUDGET) as server:
        path = opened(server)
        seen, over, start = [], [], time.monotonic()
        one = threading.Thread(target=lambda: over.append(asked(server, path, "age >= 0")))
        one.start()
        while one.is_alive():
            event = server.json("history", "visits")["events"][0]
            seen.append((event["state"], event.get("progress", {}).get("asked"), time.monotonic() - start))
        one.join()
        check(over[0].json["halted"] is True and over[0].seconds >= quantum, over)
        early = [what for what in seen if what[:2] != ("reserved", 0) and what[2] < quantum]
        check(not early and seen, f"what was recorded was seen early: {early}")


def a_question_is_not_stopped_midway(programs):
    """Whether the stream goes on would tell how soon its rows were read."""
    with Server(programs, "--quantum", "0.5", rows=400000, budget=BUDGET) as server:
        path = opened(server, threshold=10**9)
        for wait in (0.01, 0.03, 0.1):
            over = []
            one = threading.Thread(target=lambda: over.append(server.ask(
                "POST", path, "ann", {"question": "age > 85"}, {"Brume-Ticket": "mine"})))
            one.start()
            time.sleep(wait)
            check(server.ask("POST", "/v1/cancel", "ann", {"ticket": "mine"}).code == 200, "it is asked to end")
            one.join()
            check(over[0].code == 200 or b"nothing was spent" in over[0].bytes, over)
        check(asked(server, path, "age > 85").code == 200, "it goes on")


def a_server_that_stops_records_its_streams(programs):
    for how in (signal.SIGTERM, signal.SIGKILL):
        server = Server(programs, "--quantum", "0.05", budget=BUDGET)
        server.serve()
        path = opened(server)
        asked(server, path, "age > 80")
        server.end(how)
        check(server.states() == (["committed"] if how == signal.SIGTERM else ["reserved"]), server.states())
        check(server.spent() == 50 and server.holds(), "the ledger")
        server.serve()
        check(server.ask("DELETE", opened(server, "bob", epsilon=0.5), "bob").code == 200, "another can be opened")
        server.end()
        server.close()


def a_killed_stream_is_recorded_with_every_answer_it_gave(programs):
    words = ("stream", "above-threshold", "--dataset", "visits", "--threshold", "1000", "--epsilon", "100")
    with Server(programs, "--quantum", "0.05", budget=BUDGET) as server:
        for given in (23, 1):
            one = subprocess.Popen([server.program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env=server.environment, cwd=server.folder)
            for i in range(given):
                one.stdin.write(f"age > {i}\n")
                one.stdin.flush()
                check(one.stdout.readline() == "below\n", "an answer")
            check((progress(server)[-1] or 0) <= given, "it is open")
            one.kill()
            one.wait()
            check(progress(server)[-1] == given, f"{progress(server)} after {given} answers")
        check(progress(server) == [23, 1] and server.holds(), progress(server))
        path = opened(server, threshold=1000, epsilon=100)  # the file beside the ledger becomes this one's
        for i in range(5):
            check(asked(server, path, f"age > {i}").code == 200, i)
        server.end(signal.SIGKILL)
        check(progress(server) == [23, 1, 5] and server.states() == ["reserved"] * 3, progress(server))
        os.remove(server.path("brume.db.stream"))  # what the journal has by then is not in it
        check(progress(server)[:2] == [23, 1] and server.holds(), progress(server))


def the_command_line_streams_as_on_the_ledger(programs):
    words = ("stream", "sparse-vector", "--dataset", "visits", "--threshold", "100", "--epsilon", "100", "--hits",
             "2")
    lines = "age > 85\nnothing > 1\nage >= 0\nage > 88\nage >= 0\nage >= 0\n"
    with Server(programs, "--quantum", "0.05", rows=400, budget=BUDGET) as server:
        environment = dict(server.environment, BRUME_TOKEN=server.tokens["ann"])
        for more in ((), ("--json",)):
            there = subprocess.run([server.program, "--server", f"http://127.0.0.1:{server.port}", *words, *more],
                                   input=lines, text=True, capture_output=True, env=environment, cwd="/", timeout=SOON,
                                   check=False)
            here = subprocess.run([server.program, *words, *more], input=lines, text=True, capture_output=True,
                                  env=server.environment, cwd=server.folder, timeout=SOON, check=False)
            check((there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr),
                  f"{there} is not {here}")
            check(there.returncode == 0 and len(there.stdout.splitlines()) == 4, there)
        check(server.spent() == 400 and server.holds(), server.spent())
        numbers = subprocess.run([server.program, "--server", f"http://127.0.0.1:{server.port}", "stream",
                                  "above-threshold", "--no-ledger", "--threshold", "0", "--epsilon", "1"], input="-1000\n",
                                 text=True, capture_output=True, env=environment, cwd="/", timeout=SOON, check=False)
        check(numbers.stdout == "below\n", "numbers need no server")
        check(not os.path.exists("/brume.db"), "nothing was made here")


TESTS = [a_stream_is_paid_once_and_answers_until_it_halts, a_stream_is_its_users_own, one_that_is_left_is_ended,
         answers_and_records_of_streams_leave_at_quantised_times, a_question_is_not_stopped_midway,
         a_server_that_stops_records_its_streams, a_killed_stream_is_recorded_with_every_answer_it_gave,
         the_command_line_streams_as_on_the_ledger]

if __name__ == "__main__":
    sys.exit(run_functions(TESTS, sys.argv[1]))
