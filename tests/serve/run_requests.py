#!/usr/bin/env python3
"""Requests to `brume serve`: that they are recorded, counted and framed, in TAP.

    run_requests.py DIRECTORY_OF_BRUME
"""
import json
import os
import socket
import stat
import subprocess
import sys
import time

from pg_client import PgServer, error_of, message, text
from processes import run_functions
from server import COUNT, SOON, Server, check


def lines(server, name="brume.db.requests"):
    with open(server.path(name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def of_users(server, **how):
    return [(line["user"], line["method"], line["route"], line["code"]) for line in lines(server, **how) if "user" in line]


def every_request_is_recorded_with_its_user(programs):
    with PgServer(programs, "--quiet", "--rate", "0") as server:
        server.query("ann", epsilon=0.5)
        server.ask("POST", "/v1/explain", "bob", {"sql": COUNT, "epsilon": 1})
        server.ask("GET", "/v1/history", "carl")
        server.ask("GET", "/v1/users", "ann")
        server.ask("GET", "/v1/datasets/nowhere", "owner")
        server.ask("POST", "/v1/query", "ann", b"{")
        server.ask("GET", "/v1/me", "brume_wrong")
        server.ask("GET", "/")
        server.psql(COUNT, user="bob", options="-c brume.epsilon=0.25")
        server.end()
        got = of_users(server)
        check(got[:6] == [("ann", "POST", "/v1/query", 200), ("bob", "POST", "/v1/explain", 200),
                          ("carl", "GET", "/v1/history", 200), ("ann", "GET", "/v1/users", 403),
                          ("owner", "GET", "/v1/datasets/{name}", 404), ("ann", "POST", "/v1/query", 400)], got)
        check(got[6:] == [("bob", "PG", "connect", 200), ("bob", "PG", "explain", 200), ("bob", "PG", "query", 200)],
              got)
        events = [line["event"] for line in lines(server) if "event" in line]
        check(events == ["starting", "started", "stopping", "stopped"], events)
        check(server.log_text() == "", server.log_text()[:2000])
        with open(server.path("brume.db.requests"), encoding="utf-8") as file:
            whole = file.read()
        check("COUNT" not in whole and "visits" not in whole, "a question is in the record")
        check(all(token not in whole for token in server.tokens.values()), "a token is in the record")
        check(stat.S_IMODE(os.stat(server.path("brume.db.requests")).st_mode) == 0o600, "others may read it")


def a_record_is_only_added_to_and_may_be_moved(programs):
    with Server(programs, "--requests", "seen.jsonl") as server:
        server.ask("GET", "/v1/me", "ann")
        time.sleep(0.2)
        os.rename(server.path("seen.jsonl"), server.path("old.jsonl"))
        server.ask("GET", "/v1/me", "bob")
        server.end()
        check([user for user, *_ in of_users(server, name="old.jsonl")] == ["ann"], "the old one")
        check([user for user, *_ in of_users(server, name="seen.jsonl")] == ["bob"], "the new one")
        server.serve()
        server.ask("GET", "/v1/me", "carl")
        server.end()
        check([user for user, *_ in of_users(server, name="seen.jsonl")] == ["bob", "carl"], "after a start")


def what_cannot_be_recorded_does_not_run(programs):
    with PgServer(programs, "--requests", "full/seen.jsonl") as server:  # there is no such folder yet
        for got in (server.query(), server.ask("GET", "/v1/me", "ann")):
            check(got.code == 503 and "recorded" in got.json["error"]["message"], got)
        out, err = server.psql(COUNT, options="-c brume.epsilon=0.25")
        check(out == "" and "recorded" in err, (out, err))
        check(server.spent() == 0, "nothing ran")
        check(server.ask("GET", "/healthz").code == 200, "it goes on")
        os.mkdir(server.path("full"))
        check(server.query().code == 200, "it runs again")
        server.end()
        told = lines(server, "full/seen.jsonl")
        check(told[0]["event"] == "missing" and told[0]["requests"] >= 3, told)


def connections_are_limited_for_each_user(programs):
    with PgServer(programs, "--connections", "3", "--rate", "0") as server:
        open_ones = [server.connect() for _ in range(3)]
        for one in open_ones:
            check(server.ask("GET", "/v1/me", "ann", connection=one).code == 200, "one of three")
        fourth = server.connect()
        got = server.ask("GET", "/v1/me", "ann", connection=fourth)
        check(got.code == 429 and "connections" in got.json["error"]["message"], got)
        check(got.headers["Connection"].lower() == "close", "it is closed")
        raw = server.raw()
        check(error_of(raw.login("ann", server.tokens["ann"])[0])[0] == "53300", "doors are counted together")
        raw.close()
        check(server.ask("GET", "/v1/me", "bob").code == 200, "another user's were used up")
        check(server.ask("GET", "/v1/me", "ann", connection=open_ones[0]).code == 200, "those that are open go on")
        check(server.ask("GET", "/v1/me", "bob", connection=open_ones[0]).code == 200, "one is bob's now")
        check(server.ask("GET", "/v1/me", "ann").code == 200, "so that ann may have another")
        open_ones[1].close()
        raws = [server.raw() for _ in range(3)]
        limit = time.monotonic() + SOON
        while error_of(raws[0].login("ann", server.tokens["ann"])[0]):
            check(time.monotonic() < limit, "a connection that was closed is counted still")
            raws[0] = server.raw()
        check(error_of(raws[0].query("SELECT 1")) is None, "it works")
        for one in open_ones + raws:
            one.close()


def raw_answers(server, data):
    """All that comes back until the connection ends or nothing comes for a second."""
    with server.socket() as one:
        one.sendall(data)
        one.settimeout(1)
        got = b""
        try:
            while piece := one.recv(65536):
                got += piece
            return got, True
        except TimeoutError:
            return got, False
        except ConnectionResetError:
            return got, True


def where_a_body_ends_is_said_in_one_way(programs):
    """What a proxy before the server may read in another way is refused, and the connection closed, so that
    nothing behind it is taken for a request."""
    with Server(programs, "--rate", "0") as server:
        head = (f"POST /v1/explain HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.tokens['ann']}\r\n"
                "Content-Type: application/json\r\n")
        behind = (f"GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.tokens['owner']}\r\n\r\n")
        chunked = "2\r\n{}\r\n0\r\n\r\n"
        wrong = {"both": f"Content-Length: {len(chunked)}\r\nTransfer-Encoding: chunked\r\n",
                 "both, turned": f"Transfer-Encoding: chunked\r\nContent-Length: {len(chunked)}\r\n",
                 "two lengths": f"Content-Length: {len(chunked)}\r\nContent-Length: 2\r\n",
                 "the same twice": f"Content-Length: {len(chunked)}\r\nContent-Length: {len(chunked)}\r\n",
                 "a list": f"Content-Length: {len(chunked)}, {len(chunked)}\r\n",
                 "a sign": f"Content-Length: +{len(chunked)}\r\n",
                 "two codings": "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                 "another coding": "Transfer-Encoding: gzip, chunked\r\n",
                 "a space in the name": f"Transfer-Encoding : chunked\r\nContent-Length: {len(chunked)}\r\n"}
        for name, headers in wrong.items():
            got, closed = raw_answers(server, (head + headers + "\r\n" + chunked + behind).encode())
            check(got.startswith(b"HTTP/1.1 400 ") and closed, f"{name}: {got[:300]}")
            check(b" 200 " not in got and b'"owner"' not in got, f"{name}: what is behind it was answered")
        got, _ = raw_answers(server, (head + wrong["both"] + "\r\n" + chunked).encode())
        body = got.split(b"\r\n\r\n", 1)[1]  # libmicrohttpd 1.0 refuses it before brume sees it, with a page
        check(body.startswith(b"<html>") or json.loads(body)["error"]["code"] == "argument", got)
        got, _ = raw_answers(server, (head + "Transfer-Encoding: chunked\r\n\r\n" + chunked + behind).encode())
        check(got.count(b"HTTP/1.1 ") == 2 and b'"owner"' in got, "one way is good")


def a_script_that_ends_midway_delivers_what_was_paid(programs):
    with Server(programs, "--quantum", "0.1", budget="epsilon=1") as server:
        script = ";".join(f"{COUNT} WHERE age > {n}" for n in range(3))
        server.run("user", "allot", "ann", "visits=epsilon=0.75")
        refused = server.query(sql=f"{script};{COUNT} WHERE age > 3", epsilon=0.25, format="json")
        check(refused.code == 403 and server.spent() == 0 and "answers" not in refused.json, refused)
        with open(server.path("gone.csv"), "w", encoding="utf-8") as file:
            file.write("person,age\np1,20\n")
        server.run("register", "gone", "gone.csv", "--unit", "person", "--budget", "epsilon=1")
        os.remove(server.path("gone.csv"))
        got = server.query(sql=f"{script};SELECT COUNT(*) FROM gone", epsilon=0.25, format="json")
        check(got.code >= 400 and server.spent() == 0.75, got)
        answers = [json.loads(line) for line in got.json["answers"].splitlines()]
        check([one["cost"]["epsilon"] for one in answers] == [0.25] * 3, answers)
        check("before it 3 were answered" in got.json["error"]["message"], got)
        again = server.query("bob", f"{COUNT} WHERE age > 1", 0.25)
        check(again.json["cached"] and again.json["rows"] == answers[1]["rows"], "what was recorded is another answer")
        check("answers" not in server.query("ann", "SELECT COUNT( FROM visits").json, "nothing was answered")
        server.run("user", "allot", "bob", "visits=epsilon=0.25")
        done = subprocess.run([server.program, "--server", f"http://127.0.0.1:{server.port}", "query",
                               f"{COUNT} WHERE age > 50; SELECT COUNT(*) FROM gone", "--epsilon", "0.2", "--json"], text=True,
                              capture_output=True, check=False, timeout=SOON,
                              env=dict(server.environment, BRUME_TOKEN=server.tokens["bob"]))
        check(done.returncode == 6 and "statement 2" in done.stderr, done)
        check([json.loads(line)["cost"]["epsilon"] for line in done.stdout.splitlines()] == [0.2], done)


def half_a_request_costs_nothing(programs):
    """A client that goes away in the middle of its body, or of a message of the PostgreSQL protocol."""
    with PgServer(programs) as server:
        body = json.dumps({"sql": COUNT, "epsilon": 0.5}).encode()
        head = (f"POST /v1/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.tokens['ann']}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode()
        for cut in (len(head) // 2, len(head), len(head) + 5, len(head + body) - 1):
            with server.socket() as one:
                one.sendall((head + body)[:cut])
        raw = server.raw()
        raw.login("ann", server.tokens["ann"])
        raw.query("SET brume.epsilon = 0.5")
        raw.send(message(b"Q", text(COUNT))[:-3])
        raw.socket.shutdown(socket.SHUT_WR)
        raw.rest()
        raw.close()
        check(server.spent() == 0 and server.query(epsilon=0.25).code == 200 and server.spent() == 0.25, "spent")


def an_error_is_json_wherever_its_text_is_cut(programs):
    with Server(programs, "--quiet", "--rate", "0") as server:
        connection = server.connect()
        for length in range(215, 245):
            for before in ("", "x", "xx"):
                odd = before + "\u00e9" * length
                for path, body in (("/v1/query", {"sql": f'SELECT COUNT("{odd}") FROM visits', "epsilon": 1}),
                                   ("/v1/explain", {"sql": f"SELECT COUNT(*) FROM \"{odd}\"", "epsilon": 1}),
                                   ("/v1/query", {"sql": COUNT, "epsilon": odd})):
                    answer = server.ask("POST", path, "ann", body, connection=connection)
                    check(400 <= answer.code < 500 and answer.json["error"]["message"], (path, length, before))
        check(server.spent() == 0, "spent")


TESTS = [every_request_is_recorded_with_its_user, a_record_is_only_added_to_and_may_be_moved,
         what_cannot_be_recorded_does_not_run, connections_are_limited_for_each_user,
         where_a_body_ends_is_said_in_one_way, a_script_that_ends_midway_delivers_what_was_paid,
         half_a_request_costs_nothing, an_error_is_json_wherever_its_text_is_cut]

if __name__ == "__main__":
    sys.exit(run_functions(TESTS, sys.argv[1]))
