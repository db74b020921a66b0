#!/usr/bin/env python3
"""What an analyst sees without paying is the same on two tables that differ in one person, in TAP.

    run_unpaid.py DIRECTORY_OF_BRUME

Two servers with the same policy, users and requests; one person's row is an ordinary one in the first
table and a nasty one in the second. All that was not paid for must be the same to the byte, headers and
codes included, but for clocks, tokens and keys, which are masked; of paid answers all but the numbers
drawn. The control: a server that shows a row count would be found (the rows of the paid answer differ).
"""
import os
import re
import sys

from server import COUNT, Server, check
from processes import run_tests

NASTY = ["p7,7", "p7,99999999999999999999", 'p7,"', "p7", ",,,,", "p7,\x01\xff", "p7,NaN", ""]
ASK = [
    ("GET", "/healthz", None), ("GET", "/openapi.json", None), ("GET", "/metrics", None), ("GET", "/v1/me", None),
    ("GET", "/v1/datasets", None), ("GET", "/v1/datasets/visits", None), ("GET", "/v1/datasets/nobody", None),
    ("GET", "/v1/budget", None), ("GET", "/v1/budget/visits", None), ("GET", "/v1/history", None),
    ("GET", "/v1/ledger/export", None), ("GET", "/v1/ledger/verify", None), ("GET", "/", None),
    ("POST", "/v1/explain", {"sql": COUNT, "epsilon": 0.5}),
    ("POST", "/v1/explain", {"sql": "SELECT age, COUNT(*) FROM visits GROUP BY age", "within": 5}),
    ("POST", "/v1/explain", {"sql": "SELECT AVG(age) FROM visits", "epsilon": 0.5, "verbose": True}),
    ("POST", "/v1/query", {"sql": "SELECT * FROM visits", "epsilon": 0.5}),
    ("POST", "/v1/query", {"sql": "SELECT SUM(person) FROM visits", "epsilon": 0.5}),
    ("POST", "/v1/query", {"sql": "SELECT COUNT(nothing) FROM visits", "epsilon": 0.5}),
    ("POST", "/v1/query", {"sql": COUNT, "epsilon": 1000}), ("POST", "/v1/query", {"sql": COUNT}),
    ("POST", "/v1/call/budget", {"name": "visits"}), ("POST", "/v1/call/show", {"name": "visits", "policy": True}),
    ("POST", "/v1/call/inspect", {"file": "visits.csv"}), ("POST", "/v1/call/audit", {"query": COUNT}),
    ("POST", "/v1/limits", {"sql": COUNT, "epsilon": 1000}),
    ("GET", "/v1/history/visits", None), ("GET", "/v1/history?answer=1", None), ("GET", "/v1/users", None),
    ("POST", "/v1/cancel", {"ticket": "nothing"}), ("POST", "/v1/dummy", {"sql": "SELECT * FROM visits", "epsilon": 1}),
    ("POST", "/v1/streams", {"command": "stream above-threshold", "dataset": "visits", "threshold": 1, "epsilon": 1000}),
    ("POST", "/v1/streams/" + 32 * "0", {"question": "age > 1"}), ("DELETE", "/v1/streams/" + 32 * "0", None),
    ("POST", "/v1/release", {"statistic": "mean", "source": "visits", "column": "nothing", "epsilon": 1}),
]
PAY = [("POST", "/v1/query", {"sql": COUNT, "epsilon": 0.5}),
       ("POST", "/v1/query", {"sql": "SELECT COUNT(age) AS a, SUM(age) AS s FROM visits", "epsilon": 0.5}),
       ("POST", "/v1/release", {"statistic": "count", "source": "visits", "epsilon": 0.25}),
       ("POST", "/v1/dummy", {"sql": "SELECT COUNT(*) AS n, SUM(age) AS s FROM visits", "epsilon": 0.5})]  # free, and drawn
MASKS = [(rb'"time": ?"[^"]*"', b'"time"'), (rb"[0-9a-f]{32,}", b"hash"), (rb"\d{4}-\d\d-\d\dT[0-9:.]+Z?", b"time"), (rb"\d{4}-\d\d-\d\d \d\d:\d\d UTC", b"time"),
         (rb'"(hash|key|salt|previous|state|answer)": ?"[^"]*"', rb'"\1"')]
DRAWN = ("rows", "value", "as_of")


def masked(server, answer):
    text = answer.bytes.replace(os.path.realpath(server.folder).encode(), b"folder")
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    headers = sorted((name, value) for name, value in answer.headers.items()
                     if name not in ("Date", "Content-Length"))
    return answer.code, headers, text


def without_drawn(value):
    if isinstance(value, dict):
        return {key: without_drawn(part) for key, part in value.items() if key not in DRAWN}
    return [without_drawn(part) for part in value] if isinstance(value, list) else value


def serve_with(programs, row):
    """A server on a table whose eighth line is this one."""
    server = Server(programs, "--rate", "0", "--quantum", "0.05", register=False)
    server.write_visits(200)
    with open(server.path("visits.csv"), "rb") as file:
        lines = file.read().split(b"\n")
    lines[8] = row.encode("latin-1")
    with open(server.path("visits.csv"), "wb") as file:
        file.write(b"\n".join(lines))
    server.run("register", "visits", "visits.csv", "--unit", "person", "--budget", "epsilon=5", "--bounds",
               "age=0..100", "--max-groups", "1", "--max-rows", "1", "--columns", "person text, age integer")
    server.add_users()
    return server


def compare(servers, who, request):
    got = [server.ask(request[0], request[1], who, request[2]) for server in servers]
    seen = [masked(server, one) for server, one in zip(servers, got)]
    check(seen[0][:2] == seen[1][:2], f"{who} {request}: {got[0]} and {got[1]}")
    at = len(os.path.commonprefix([seen[0][2], seen[1][2]]))
    check(seen[0][2] == seen[1][2], f"{who} {request}: {seen[0][2][at - 60:at + 60]} and {seen[1][2][at - 60:at + 60]}")
    return got


def tests_of(programs, row):
    servers = [serve_with(programs, NASTY[0]).serve(), serve_with(programs, row).serve()]

    def unpaid():
        for who in ("ann", "carl", "nobody"):
            for request in ASK:
                compare(servers, who, request)

    def paid():
        for request in PAY:
            got = [server.ask(request[0], request[1], "bob", request[2]) for server in servers]
            check(got[0].code == got[1].code == 200, got)
            check(without_drawn(got[0].json) == without_drawn(got[1].json), got)

    def drawn():
        rows = [[server.query("bob", f"{COUNT} WHERE age < {n}", 0.01).json["rows"] for n in range(4)]
                for server in servers]
        check(rows[0] != rows[1], "answers do not differ: nothing was compared")
        for server in servers:
            server.end()
            server.close()

    word = repr(row)
    return [(f"unpaid answers with {word}", unpaid), (f"paid answers with {word}", paid),
            (f"the same after paying with {word}", unpaid), (f"control with {word}", drawn)]


def main():
    tests = []
    for row in NASTY[1:3] if len(sys.argv) < 3 else NASTY[1:]:
        tests += tests_of(sys.argv[1], row)
    return run_tests(tests)


if __name__ == "__main__":
    sys.exit(main())
