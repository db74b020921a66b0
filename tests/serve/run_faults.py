#!/usr/bin/env python3
"""`brume serve` and bad requests, clients that go away, full queues and disks, kills, in TAP.

    run_faults.py DIRECTORY_OF_BRUME [KILLS]          (with KILLS: only that many kills)
"""
import http.client
import json
import random
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

from server import COUNT, SOON, Server, check
from processes import run_functions

PATIENCE = 2


def waited_for(condition, what):
    limit = time.monotonic() + SOON
    while not condition():
        check(time.monotonic() < limit, what)
        time.sleep(0.05)


def raw(server, data, wait=5):
    """The bytes that come back for bytes that were sent, until the server closes or says nothing."""
    with server.socket() as one:
        one.sendall(data)
        one.settimeout(wait)
        got = b""
        try:
            while piece := one.recv(65536):
                got += piece
        except TimeoutError:
            pass
        return got


def no_path_leads_out_of_the_page(programs):
    with Server(programs, "--rate", "0") as server:
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/..%2f..%2fbrume.db",
                     "/brume.db", "/./index.html", "/index.html%00.js", "/v1/datasets/..%2f..%2fbrume.db",
                     "/v1/datasets/%2e%2e", "/v1/call/..%2f..%2fshell", "/\\..\\brume.db"):
            for token in (None, "ann"):
                got = server.ask("GET", path, token)
                check(got.code in (400, 401, 404, 405), f"{path}: {got}")
                check(b"root:" not in got.bytes and b"SQLite" not in got.bytes, path)
        page = server.ask("GET", "/")
        check(page.code == 200 and b"<html" in page.bytes, page)
        check(server.ask("GET", "/", headers={"If-None-Match": page.headers["ETag"]}).code == 304, "no 304")


def answers_have_strict_headers(programs):
    with Server(programs) as server:
        for got in (server.ask("GET", "/"), server.ask("GET", "/v1/me", "ann"), server.ask("GET", "/nothing")):
            policy = got.headers["Content-Security-Policy"]
            check("default-src 'none'" in policy and "unsafe" not in policy, policy)
            check("frame-ancestors 'none'" in policy and "script-src 'self'" in policy, policy)
            check(got.headers["X-Content-Type-Options"] == "nosniff", "sniffing")
            check(got.headers["Access-Control-Allow-Origin"] is None, "other origins may read")
            check(got.headers["Set-Cookie"] is None, "a cookie")
        check(server.ask("GET", "/v1/me", "ann").headers["Cache-Control"] == "no-store", "it may be stored")
        check(server.ask("OPTIONS", "/v1/query", headers={"Origin": "https://elsewhere.example"}).code == 405,
              "OPTIONS")


def bad_bodies_are_refused(programs):
    with Server(programs, "--rate", "0") as server:
        large = b'{"sql":"' + b"x" * (1 << 20) + b'"}'
        cases = [(b"{", 400), (b"[]", 400), (b'{"sql":1}', 400), (b'{"epsilon":{}}', 400), (b"\xff\xfe", 400),
                 (b'{"sql":"SELECT 1","nonsense":1}', 400), (b"[" * 100000, 400)]
        for body, code in cases:
            got = server.ask("POST", "/v1/query", "ann", body)
            check(got.code in (code, 404) and got.json["error"]["message"], f"{body[:40]}: {got}")
        check(server.ask("POST", "/v1/query", "ann", b"{}", {"Content-Type": "text/plain"}).code == 415, "415")
        try:
            check(server.ask("POST", "/v1/query", "ann", large).code == 413, "a large body")
        except (ConnectionError, http.client.HTTPException):
            pass  # it may close before it has read all
        head = (f"POST /v1/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.tokens['ann']}\r\n"
                "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
        chunks = b"".join(b"10000\r\n" + b"x" * 65536 + b"\r\n" for _ in range(20)) + b"0\r\n\r\n"
        check(b" 413 " in raw(server, head + chunks), "a large body in pieces")
        check(raw(server, b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 200000 + b"\r\n\r\n")[9:10] in (b"4", b""),
              "large headers")
        for noise in (b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"\0" * 1000, b"POST /v1/query HTTP/9.9\r\n\r\n"):
            raw(server, noise, 0.5)
        check(server.ask("GET", "/healthz").code == 200 and server.spent() == 0, "it goes on")


def rates_are_limited(programs):
    with Server(programs, "--rate", "5") as server:
        codes = [server.ask("GET", "/v1/me", "ann").code for _ in range(30)]
        check(codes.count(200) >= 10 and 429 in codes, codes)
        check(server.ask("GET", "/v1/me", "bob").code == 200, "another user's rate was used up")


def slow_clients_are_closed(programs):
    """A request that trickles in, a body that never comes, and TLS that is never begun or finished."""
    with Server(programs, "--patience", str(PATIENCE), tls=True) as server:
        idle, begun = server.socket(), server.socket()
        begun.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        context = ssl.create_default_context(cafile=server.path("cert.pem"))
        trickle = context.wrap_socket(server.socket(), server_hostname="localhost")
        body = context.wrap_socket(server.socket(), server_hostname="localhost")
        body.sendall(f"POST /v1/query HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.tokens['ann']}\r\n"
                     "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode())
        start, closed = time.monotonic(), 0
        trickle.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        while time.monotonic() < start + SOON:
            try:
                trickle.sendall(b"y")
            except OSError:
                closed = time.monotonic() - start
                break
            time.sleep(0.2)
        check(0 < closed < PATIENCE + SOON / 2, f"closed after {closed} s")
        for one in (idle, begun, body):
            one.settimeout(SOON)  # one that stays open ends the test with a TimeoutError
            try:
                while one.recv(1000):
                    pass  # an alert of TLS
            except (ConnectionError, ssl.SSLError):
                pass
        check(server.ask("GET", "/v1/me", "ann").code == 200, "it goes on")


def tls_is_strong(programs):
    with Server(programs, tls=True) as server:
        context = ssl.create_default_context(cafile=server.path("cert.pem"))
        with context.wrap_socket(server.socket(), server_hostname="localhost") as one:
            check(one.version() == "TLSv1.3", one.version())
        for version in (ssl.TLSVersion.TLSv1_2,):
            context.maximum_version = version
            with context.wrap_socket(server.socket(), server_hostname="localhost") as one:
                name = one.cipher()[0]
                check("GCM" in name or "CHACHA20" in name, name)
                check(name.startswith("ECDHE") or name.startswith("DHE"), name)
        for arguments in (["-tls1"], ["-tls1_1"], ["-tls1_2", "-cipher", "AES128-GCM-SHA256:@SECLEVEL=0"],
                          ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0"],
                          ["-tls1_2", "-cipher", "aNULL:@SECLEVEL=0"]):
            done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", *arguments],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                  timeout=SOON)
            check("Cipher is (NONE)" in done.stdout or done.returncode != 0, f"{arguments}: {done.stdout[-300:]}")
        check(server.ask("GET", "/").headers["Strict-Transport-Security"], "HSTS")
        with server.socket() as plain:
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            check(b"200 OK" not in plain.recv(1000), "it answers without TLS")


def others_may_not_read_the_key(programs):
    server = Server(programs, tls=True)
    subprocess.run(["chmod", "644", server.path("key.pem")], check=True)
    code, _, err = server.brume("serve", "--listen", "127.0.0.1:0", "--tls-cert", "cert.pem", "--tls-key",
                                "key.pem", "--check")
    check(code == 3 and "everybody" in err, (code, err))
    code, _, err = server.brume("serve", "--listen", "0.0.0.0:0", "--check")
    check(code == 3 and "--insecure" in err, (code, err))
    server.close()


def a_client_that_goes_away_has_paid(programs):
    with Server(programs) as server:
        one = server.connect()
        one.request("POST", "/v1/query", json.dumps({"sql": COUNT, "epsilon": 0.5}),
                    {"Authorization": "Bearer " + server.tokens["ann"], "Content-Type": "application/json"})
        waited_for(lambda: server.spent() == 0.5, "it was not charged")
        one.sock.close()
        waited_for(lambda: server.states() == ["committed"], server.states())
        again = server.query("bob", epsilon=0.5)
        check(again.code == 200 and again.json["cached"] is True, again)
        check(server.spent() == 0.5 and server.holds(), "it was charged again")


def in_threads(count, work):
    results, threads = [], []
    for number in range(count):
        threads.append(threading.Thread(target=lambda n=number: results.append(work(n))))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def a_full_queue_refuses_and_charges_nothing(programs):
    with Server(programs, "--workers", "1", "--queue", "2", "--quantum", "1") as server:
        got = in_threads(8, lambda n: server.query(epsilon=0.01 + n / 1000))
        good = [one for one in got if one.code == 200]
        busy = [one for one in got if one.code == 503]
        check(len(good) + len(busy) == 8 and 1 <= len(good) <= 4 and busy, got)
        check(all(one.headers["Retry-After"] and "nothing was spent" in one.json["error"]["message"]
                  for one in busy), busy)
        check(abs(server.spent() - sum(one.json["cost"]["epsilon"] for one in good)) < 1e-12, "the charges")
        check(server.ask("POST", "/v1/explain", "ann", {"sql": COUNT, "epsilon": 1}).code == 200, "explain")


def analysts_at_once_spend_exactly_the_budget(programs):
    with Server(programs, "--queue", "100", "--rate", "0", budget="epsilon=0.25") as server:
        got = in_threads(20, lambda n: server.query("ann" if n % 2 else "bob", f"{COUNT} WHERE age < {n}",
                                                    0.05))
        codes = sorted(one.code for one in got)
        check(codes == [200] * 5 + [403] * 15, codes)
        check(server.spent() == 0.25 and server.states() == ["committed"] * 5 and server.holds(), "spent")
        answers = {one.bytes for one in got if one.code == 200}
        check(len(answers) == 5, "an answer was given twice")


def a_full_disk_charges_nothing_and_passes(programs):
    with Server(programs) as server:
        check(server.query(epsilon=0.5).code == 200, "it answers")
        pid = str(server.process.pid)
        subprocess.run(["prlimit", "--pid", pid, "--fsize=4096:"], check=True)
        full = server.query(epsilon=0.25)
        check(full.code in (500, 502, 503) and b"rows" not in full.bytes, full)
        check(server.ask("GET", "/healthz").code == 200, "it goes on")
        subprocess.run(["prlimit", "--pid", pid, "--fsize=unlimited:"], check=True)
        again = server.query(epsilon=0.125)
        check(again.code == 200, again)
        check(server.spent() in (0.625, 0.875) and server.holds(), server.spent())


def a_token_that_is_revoked_asks_no_more(programs):
    """One query has been charged and runs, the next waits for it: the first is answered, for it is paid, and the
    second is refused, and charged nothing."""
    with Server(programs, "--workers", "1", "--quantum", "5") as server:
        result = {}
        first = threading.Thread(target=lambda: result.update(first=server.query(epsilon=0.5)))
        first.start()
        waited_for(lambda: server.spent() == 0.5, "it was not charged")
        second = threading.Thread(
            target=lambda: result.update(second=server.query(sql=f"{COUNT} WHERE age > 3", epsilon=0.25)))
        second.start()
        waited_for(lambda: "\nbrume_jobs_waiting 1\n" in server.ask("GET", "/metrics", "bob").bytes.decode(),
                   "the second does not wait")
        server.json("user", "token", "ann")
        check(not result, "the first was answered too soon to try this")
        first.join()
        second.join()
        check(server.query().code == 401, "the old token is good")
        check(result["first"].code == 200 and result["second"].code == 403, result)
        check(server.spent() == 0.5 and server.holds(), server.spent())


def sigterm_lets_calls_end(programs):
    with Server(programs) as server:
        result = []
        one = threading.Thread(target=lambda: result.append(server.query(epsilon=0.5)))
        one.start()
        waited_for(lambda: server.spent() == 0.5, "it was not charged")
        check(server.end(signal.SIGTERM) == 0, "the exit code")
        one.join()
        check(result[0].code == 200, result)
        check(server.holds(), "the ledger")


def answers_leave_at_quantised_times(programs):
    with Server(programs, "--quantum", "0.7") as server:
        for sql in (COUNT, "SELECT COUNT( FROM visits", "SELECT COUNT(*) FROM nowhere"):
            got = server.query(sql=sql)
            check(0.7 <= got.seconds, f"{sql}: {got}")
        check(server.query().json["cached"] is True and server.query().seconds < 0.7, "a free re-read")


def polling_tells_nothing_finer(programs):
    """What others see of a query that runs, in history and explain, changes at quantised times only."""
    quantum, sql = 1.5, "SELECT SUM(age) AS s FROM visits"
    with Server(programs, "--quantum", str(quantum), "--rate", "0", ceilings=False) as server:
        start, seen, over = time.monotonic(), {}, []
        one = threading.Thread(target=lambda: over.append(server.query(sql=sql, epsilon=8)))
        one.start()
        while one.is_alive():
            events = server.ask("GET", "/v1/history", "bob").json["events"]
            plan = server.ask("POST", "/v1/explain", "bob", {"sql": sql, "epsilon": 1}).json["limits"]["chosen"]
            for what in [event["state"] for event in events] + [plan]:
                seen.setdefault(what, time.monotonic() - start)
        one.join()
        check(over[0].code == 200, over)
        check("reserved" in seen and seen["reserved"] < quantum, seen)
        check("ledger" in seen and seen["ledger"] >= quantum, f"the choice was seen early: {seen}")
        check(seen.get("committed", 2 * quantum) >= 2 * quantum, f"the end was seen early: {seen}")


def kills(programs, count=4):
    """After kill -9 at any time the ledger holds, and every answer that was seen was charged."""
    server, seen, number = Server(programs, budget="epsilon=1000"), 0.0, 0
    chance = random.Random(count)
    for _ in range(count):
        server.serve()
        stop = time.monotonic() + chance.uniform(0, 1.5)
        got = []

        def ask(n):
            try:
                answer = server.query("ann" if n % 2 else "bob", f"{COUNT} WHERE age < {n}", 0.125)
                if answer.code == 200:
                    got.append(answer.json["cost"]["epsilon"])
            except (OSError, http.client.HTTPException, ValueError):
                pass

        threads = [threading.Thread(target=ask, args=(number + i,)) for i in range(4)]
        number += 4
        for thread in threads:
            thread.start()
        time.sleep(max(0, stop - time.monotonic()))
        server.end(signal.SIGKILL)
        for thread in threads:
            thread.join()
        seen += sum(got)
        check(server.spent() >= seen and server.holds(), f"spent {server.spent()}, seen {seen}")
    check(server.spent() <= 0.125 * number, "more was charged than was asked")
    with server:
        check(server.query(epsilon=0.5).code == 200, "it starts again")


def a_typed_deadline_tells_no_finer_time(programs):
    """It falls between the end of reading for the choice of limits and the time that is told: as if the
    reading had taken longer, no choice is recorded, and the answer leaves at that time."""
    asked = {"sql": "SELECT COUNT(*) AS n, SUM(age) AS s FROM visits", "epsilon": 0.5}
    with Server(programs, "--quantum", "3", ceilings=False) as server:
        before, rows = server.ask("POST", "/v1/explain", "ann", asked).json, server.json("ledger", "verify")["rows"]
        got = server.query(**asked, timeout=2.5)
        check(got.code == 503 and "stays spent" in got.json["error"]["message"], got)
        check(3 <= got.seconds < 5.5, f"it waited once: {got.seconds}")
        check(server.ask("POST", "/v1/explain", "ann", asked).json == before, "an explanation tells of it")
        check(server.json("ledger", "verify")["rows"] == rows + 2, "the charge and its failure are recorded")
        check(server.query(**asked).code == 200, "in time it is answered")
        check(server.json("ledger", "verify")["rows"] > rows + 4, "the choice is recorded too")


def a_script_says_what_it_spent(programs):
    many = ";".join(f"{COUNT} WHERE age > {n}" for n in range(40))
    with Server(programs, "--quantum", "0.2") as server:
        got = server.query(sql=many, timeout=3, format="json")
        said = got.json["error"]["message"]
        check("before it " in said, got)
        before = int(said.split("before it ")[1].split()[0])
        check(got.code == 503 and before > 0, got)
        last = 0.01 if "passed; the price stays spent" in said else 0
        check(abs(server.spent() - 0.01 * before - last) < 1e-9, f"{said}, and {server.spent()} is spent")
    with Server(programs, "--deadline", "0.5", "--quantum", "0.2") as server:
        got = server.query(sql=";".join([COUNT] * 20000), format="json")
        check(got.code == 503 and "nothing was spent" in got.json["error"]["message"] and server.spent() == 0, got)
        metrics = server.ask("GET", "/metrics", "ann").bytes.decode()
        check("\nbrume_jobs_given_up_total 0\n" in metrics, "checking a script can be stopped")


def main():
    if len(sys.argv) > 2:
        def many_kills(programs):
            kills(programs, int(sys.argv[2]))
        return run_functions([many_kills], sys.argv[1])
    return run_functions(
        [no_path_leads_out_of_the_page, answers_have_strict_headers, bad_bodies_are_refused, rates_are_limited,
         slow_clients_are_closed, tls_is_strong, others_may_not_read_the_key, a_client_that_goes_away_has_paid,
         a_full_queue_refuses_and_charges_nothing, analysts_at_once_spend_exactly_the_budget,
         a_full_disk_charges_nothing_and_passes, a_token_that_is_revoked_asks_no_more, sigterm_lets_calls_end,
         answers_leave_at_quantised_times, polling_tells_nothing_finer,
         a_typed_deadline_tells_no_finer_time, a_script_says_what_it_spent, kills], sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
