#!/usr/bin/env python3
"""Every route of `brume serve` with every role, in TAP.

    run_roles.py DIRECTORY_OF_BRUME

The table below says for every route what each role gets. It is compared with the server's own list of
routes, so that a new route without a line here fails.
"""
import re
import sys
import time

from server import COUNT, Server, check
from processes import run_tests

WHO = ("owner", "analyst", "auditor")
NO_TOKEN = ("none", "wrong", "expired", "revoked", "removed")
SELECT = {"sql": COUNT, "epsilon": 0.001}
# method, path, body: the codes for owner, analyst, auditor. Without a good token: 401, but where OPEN.
OPEN = {("GET", "/healthz"), ("GET", "/openapi.json")}
TABLE = [
    ("GET", "/healthz", None, (200, 200, 200)),
    ("GET", "/openapi.json", None, (200, 200, 200)),
    ("GET", "/metrics", None, (200, 200, 200)),
    ("GET", "/v1/me", None, (200, 200, 200)),
    ("POST", "/v1/cancel", {"ticket": "nothing runs"}, (200, 200, 200)),
    ("POST", "/v1/query", SELECT, (200, 200, 403)),
    ("POST", "/v1/explain", SELECT, (200, 200, 200)),
    ("POST", "/v1/dummy", SELECT, (200, 200, 200)),
    ("POST", "/v1/limits", {"sql": "SELECT SUM(age) FROM visits WHERE person <> '{who}'", "epsilon": 0.5}, (200, 200, 403)),
    ("POST", "/v1/release", {"statistic": "count", "source": "visits", "epsilon": 0.001}, (200, 200, 403)),
    ("POST", "/v1/streams", {"command": "stream above-threshold", "dataset": "nowhere", "threshold": 1, "epsilon": 1},
     (404, 404, 403)),
    ("POST", "/v1/streams/{stream}", {"question": "age > 1"}, (404, 404, 404)),
    ("DELETE", "/v1/streams/{stream}", None, (404, 404, 404)),
    ("GET", "/v1/datasets", None, (200, 200, 200)),
    ("GET", "/v1/datasets/{name}", None, (200, 200, 200)),
    ("POST", "/v1/datasets", {"name": "more", "source": "more.csv", "unit": "row", "budget": "epsilon=1"},
     (200, 403, 403)),
    ("GET", "/v1/budget", None, (200, 200, 200)),
    ("GET", "/v1/budget/{name}", None, (200, 200, 200)),
    ("GET", "/v1/history", None, (200, 200, 200)),
    ("GET", "/v1/history/{name}", None, (200, 200, 200)),
    ("GET", "/v1/series", None, (200, 200, 200)),
    ("GET", "/v1/series/{name}", None, (404, 404, 404)),
    ("GET", "/v1/ledger/export", None, (200, 403, 200)),
    ("GET", "/v1/ledger/verify", None, (200, 403, 200)),
    ("GET", "/v1/users", None, (200, 403, 200)),
    ("POST", "/v1/users", {"name": "new-{who}", "role": "analyst"}, (200, 403, 403)),
    ("DELETE", "/v1/users/{name}", None, (200, 403, 403)),
    ("POST", "/v1/call/{command}", {}, (200, 200, 200)),
]
# What no analyst or auditor may do through the general door: files of the server by path, other ledgers.
PATHS = [
    ("register", {"name": "x", "source": "/etc/passwd", "unit": "row", "budget": "epsilon=1"}),
    ("inspect", {"file": "visits.csv"}),
    ("amend", {"name": "visits", "budget": "epsilon=1000"}),
    ("user/add", {"name": "eve", "role": "owner"}),
    ("query", {"file": "/etc/passwd", "epsilon": 0.001}),
    ("query", {**SELECT, "plot": "stolen.svg"}),
    ("release", {"statistic": "count", "source": "visits.csv", "no-ledger": True, "epsilon": 1}),
    ("statistic", {"name": "median", "file": "visits.csv", "column": "age"}),
    ("choose", {"file": "visits.csv", "epsilon": 1}),
    ("account", {"expr": "laplace(scale=1)", "delta": 0, "plot": "stolen.svg"}),
    ("ledger/backup", {"file": "stolen.db"}),
    ("audit", {"query": COUNT, "epsilon": 1, "save": "stolen"}),
]


def names(path, who):
    return path.replace("{name}", "new-owner" if path.startswith("/v1/users") else "visits").replace(
        "{command}", "help").replace("{stream}", "0" * 32).replace("{who}", who)


def body_for(body, who):
    return body and {key: names(value, who) if isinstance(value, str) else value for key, value in body.items()}


def make(programs):
    server = Server(programs, "--rate", "0", ceilings=False)
    with open(server.path("more.csv"), "w", encoding="utf-8") as file:
        file.write("a\n1\n")
    server.tokens["analyst"], server.tokens["auditor"] = server.tokens["ann"], server.tokens["carl"]
    server.tokens["wrong"] = server.tokens["ann"][:-4] + "AAAA"
    server.tokens["none"] = ""
    for name in ("expired", "revoked", "removed"):
        server.tokens[name] = server.json("user", "add", name, "--role", "owner")["token"]
    server.json("user", "token", "revoked")
    server.run("user", "remove", "removed")
    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
    server.tokens["expired"] = server.json("user", "add", "expiring", "--role", "owner", "--expires",
                                           soon)["token"]
    time.sleep(2.1)
    return server


def every_role(server, row):
    method, path, body, codes = row
    for who, code in zip(WHO, codes):
        got = server.ask(method, names(path, who), who, body_for(body, who))
        check(got.code == code, f"{who}: {got}, expected {code}")
        check(code != 403 or got.json["error"]["code"] == "policy", f"{who}: {got}")


def without_a_token(server, row):
    method, path, body, _ = row
    texts = set()
    for who in NO_TOKEN:
        headers = {} if who != "none" else None
        got = server.ask(method, names(path, who), None if who == "none" else who, body_for(body, who), headers)
        check(got.code == (200 if (method, path) in OPEN else 401), f"{who}: {got}")
        texts.add(got.bytes)
    check(len(texts) == 1, f"refusals differ: {texts}")


def paths_are_the_owners(server):
    before = server.spent()
    for command, options in PATHS:
        for who in ("analyst", "auditor"):
            got = server.ask("POST", "/v1/call/" + command, who, options)
            check(got.code in (400, 403, 404, 422), f"{who} {command} {options}: {got}")
            check(b"root:" not in got.bytes, "it shows a file of the server")
    for who in WHO:
        got = server.ask("POST", "/v1/query", who, {**SELECT, "ledger": "other.db"})
        check(got.code == 400, f"another ledger: {got}")
    check(server.spent() == before, "a refusal cost something")
    check("eve" not in [user["name"] for user in server.json("user", "list")["users"]], "somebody made a user")


def tokens_count_in_headers_only(server):
    token = server.tokens["ann"]
    for path in (f"/v1/me?token={token}", f"/v1/me?access_token={token}"):
        check(server.ask("GET", path).code == 401, path)
    check(server.ask("GET", "/v1/me", headers={"Cookie": f"token={token}"}).code == 401, "a cookie counts")
    check(server.ask("GET", "/v1/me", headers={"Authorization": f"Basic {token}"}).code == 401, "Basic counts")


def the_log_has_no_secrets(server):
    server.query(sql="SELECT COUNT(*) AS secretname FROM visits WHERE age > 17")
    server.ask("GET", "/v1/datasets/secretname", "ann")
    text = server.log_text()
    for token in server.tokens.values():
        check(not token or token not in text, "a token is in the log")
    check("secretname" not in text and "SELECT" not in text, "a question is in the log")
    check(re.search(r'"route":"/v1/query"', text), "routes are not in the log")


def main():
    server = make(sys.argv[1])
    with server:
        listed = server.ask("GET", "/openapi.json").json["paths"]
        routes = {(method.upper(), path) for path, methods in listed.items() for method in methods}
        tests = [("the table has every route", lambda: check(
            routes == {row[:2] for row in TABLE}, routes ^ {row[:2] for row in TABLE}))]
        for row in TABLE:
            tests.append((f"{row[0]} {row[1]} by role", lambda row=row: every_role(server, row)))
        for row in TABLE:
            tests.append((f"{row[0]} {row[1]} without a good token", lambda row=row: without_a_token(server, row)))
        tests += [("paths are the owners", lambda: paths_are_the_owners(server)),
                  ("tokens count in headers only", lambda: tokens_count_in_headers_only(server)),
                  ("the log has no secrets", lambda: the_log_has_no_secrets(server)),
                  ("the ledger holds", lambda: check(server.holds(), "it does not"))]
        code = run_tests(tests)
    return code


if __name__ == "__main__":
    sys.exit(main())
