#!/usr/bin/env python3
"""The command line as a client of `brume serve`, in TAP. (Python: python/tests/test_server.py.)

    run_client.py DIRECTORY_OF_BRUME

The same commands give the same output as on the ledger itself; errors have the same texts and exit
codes; certificates are verified; nothing is sent twice.
"""
import json
import os
import socket
import subprocess
import sys
import threading

from server import COUNT, Server, check

BY_AGE = "SELECT COUNT(*) AS n FROM visits WHERE age > 40"


def as_user(server, name, *words, url=None, ca=True, stdin="", token=None, folder=None):
    """`brume --server ... WORDS` for a user: exit code, standard output, standard error."""
    scheme = "https" if server.tls else "http"
    url = url or f"{scheme}://127.0.0.1:{server.port}"
    trust = ("--server-ca", server.path("cert.pem")) if server.tls and ca else ()
    environment = dict(server.environment, BRUME_TOKEN=token if token is not None else server.tokens[name])
    environment.pop("BRUME_LEDGER", None)
    done = subprocess.run([server.program, "--server", url, *trust, *words], input=stdin, text=True,
                          capture_output=True, env=environment, cwd=folder or "/", check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def local(server, *words):
    done = subprocess.run([server.program, *words], text=True, capture_output=True, cwd=server.folder,
                          env=server.environment, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def the_same_words_give_the_same_output(server):
    """Where the answer does not name the user, it is the owner's at the shell, letter by letter."""
    check(as_user(server, "ann", "query", COUNT, "--epsilon", "0.1")[0] == 0, "a query through the server")
    for words in (["query", COUNT, "--epsilon", "0.1"], ["query", COUNT, "--epsilon", "0.1", "--json"],
                  ["query", COUNT, "--epsilon", "0.1", "--format", "csv"], ["datasets"], ["show", "visits"],
                  ["explain", BY_AGE, "--epsilon", "0.2"], ["explain", BY_AGE, "--within", "5", "--json"],
                  ["history", "visits"], ["history", "--json"], ["datasets", "--json"],
                  ["account", "laplace(scale=2)*3", "--delta", "1e-6"], ["help", "query"], ["query", "--help"],
                  ["query", "SELECT nothing FROM visits", "--epsilon", "0.1"], ["budget", "nowhere"],
                  ["query", COUNT, "--epsilon", "100"], ["query", COUNT], ["qurey", COUNT],
                  ["query", "SELECT nothing FROM visits", "--epsilon", "0.1", "--json"]):
        there, here = as_user(server, "ann", *words), local(server, *words)
        check(there == here, f"{words}: {there} is not {here}")


def roles_and_allotments_hold(server):
    server.run("user", "allot", "bob", "visits=epsilon=0.2")
    check(as_user(server, "bob", "query", BY_AGE, "--epsilon", "0.15")[0] == 0, "within the allotment")
    code, _, error = as_user(server, "bob", "query", "SELECT COUNT(*) FROM visits WHERE age > 41",
                             "--epsilon", "0.1")
    check(code == 3 and "your allotment on 'visits'" in error, f"above it: {code} {error}")
    code, output, _ = as_user(server, "bob", "budget", "visits", "--json")
    check(abs(json.loads(output)["mine"]["remaining"]["epsilon"] - 0.05) < 1e-12, f"what is left: {output}")
    code, _, error = as_user(server, "carl", "query", COUNT, "--epsilon", "0.1")
    check(code == 3 and "not for an auditor" in error, f"an auditor asks: {code} {error}")
    check(as_user(server, "carl", "ledger", "verify")[0] == 0, "an auditor verifies")
    code, _, error = as_user(server, "bob", "user", "add", "mallory", "--role", "owner")
    check(code == 3 and "mallory" not in server.json("user", "list")["users"], f"{code} {error}")
    code, output, _ = as_user(server, "owner", "user", "add", "dora", "--role", "analyst", "--json")
    server.tokens["dora"] = json.loads(output)["token"]
    check(as_user(server, "dora", "datasets")[0] == 0, "a user who was added through the server")
    server.run("user", "remove", "dora")
    code, _, error = as_user(server, "dora", "datasets")
    check(code == 3 and "the token is not valid" in error, f"removed: {code} {error}")


def files_are_those_of_this_machine(server):
    here = server.path("analyst")
    os.makedirs(here, exist_ok=True)
    with open(os.path.join(here, "q.sql"), "w", encoding="utf-8") as file:
        file.write(f"{COUNT};\n{COUNT};\n")
    code, output, error = as_user(server, "ann", "query", "-f", "q.sql", "--epsilon", "0.1", "--json",
                                  folder=here)
    check(code == 0 and len(output.splitlines()) == 2, f"a script: {code} {output} {error}")
    code, output, error = as_user(server, "ann", "query", "-", "--epsilon", "0.1", stdin=COUNT)
    check(code == 0 and "read again for free" in output, f"standard input: {code} {output} {error}")
    for words in (["query", COUNT, "--epsilon", "0.1", "--plot", "x.svg"], ["budget", "--ledger", "other.db"],
                  ["stream", "above-threshold", "--dataset", "visits", "--threshold", "1", "--epsilon", "1", "--ledger", "x.db"],
                  ["serve", "--listen", "127.0.0.1:0"]):
        code, _, error = as_user(server, "ann", *words, folder=here)
        check(code == 4, f"{words}: {code} {error}")
    code, _, error = as_user(server, "ann", "query", "-f", "not-there.sql", "--epsilon", "0.1", folder=here)
    check(code == 6 and "not-there.sql" in error, f"no such file: {code} {error}")
    with open(os.path.join(here, "policy.yaml"), "w", encoding="utf-8") as file:
        file.write("budget: {epsilon: 1}\ntables:\n  people:\n    source: visits2.csv\n    unit: person\n")
    with open(server.path("visits2.csv"), "w", encoding="utf-8") as file:
        file.write("person,x\n1,1\n2,2\n")
    code, output, error = as_user(server, "owner", "register", "more", "--policy", "policy.yaml", folder=here)
    check(code == 0, f"a policy of this machine: {code} {output} {error}")


def the_shell_asks_the_server(server):
    code, output, error = as_user(server, "ann", "shell", "--epsilon", "0.1", folder=server.path("analyst"),
                                  stdin=f"{COUNT};\n\\budget visits\n\\history\n")
    check(code == 0 and "read again for free" in output and "ann" in output, f"{code} {output} {error}")
    code, _, error = as_user(server, "ann", "shell", url="http://127.0.0.1:1", ca=False, stdin=f"{COUNT};\n")
    check(code == 6 and "cannot reach the server" in error, f"{code} {error}")


def what_cannot_be_reached_or_trusted_is_said(server):
    for url, exit_code, text in (("ftp://x", 2, "'--server' is"), ("http://", 2, "'--server' is"),
                                 ("http://127.0.0.1:99999", 2, "'--server' is"),
                                 ("http://example.org", 2, "would send the token"),
                                 ("http://127.0.0.1:1", 6, "cannot reach the server")):
        code, _, error = as_user(server, "ann", "budget", url=url, ca=False)
        check(code == exit_code and text in error, f"{url}: {code} {error}")
    code, _, error = as_user(server, "ann", "budget", token="")
    check(code == 2 and "needs a token" in error, f"no token: {code} {error}")
    code, _, error = as_user(server, "ann", "budget", token="brume_x\r\nX-Evil: 1")
    check(code == 2 and "not a token" in error, f"a token with a line end: {code} {error}")
    code, _, error = as_user(server, "ann", "budget", token="brume_wrong")
    check(code == 3 and "the token is not valid" in error, f"a wrong token: {code} {error}")
    done = subprocess.run([server.program, "--server-ca", "x", "budget"], capture_output=True, text=True, check=False)
    check(done.returncode == 2, "--server-ca alone")


def answer_with(payload):
    """A server of one connection that answers with these bytes; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection = listener.accept()[0]
        connection.recv(65536)
        connection.sendall(payload)
        connection.close()
        listener.close()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def an_answer_that_is_cut_off_or_strange_is_an_error(server):
    head = b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n"
    for payload, text in ((b"", "before the whole answer"), (head, "before the whole answer"),
                          (head + b"Content-Length: 100\r\n\r\n{}", "before the whole answer"),
                          (head + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{}", "before the whole answer"),
                          (head + b"Content-Length: -5\r\n\r\n", "not HTTP as it was asked"),
                          (head + b"Content-Length: 99999999999999999999\r\n\r\n", "too long"),
                          (b"SSH-2.0-x\r\n\r\n", "not HTTP as it was asked"),
                          (b"HTTP/1.0 500 No\r\nContent-Length: 2\r\n\r\nno", "HTTP 500 and no reason")):
        code, output, error = as_user(server, "ann", "budget", url=f"http://127.0.0.1:{answer_with(payload)}",
                                      ca=False)
        check(code == 6 and text in error and not output, f"{payload!r}: {code} {output} {error}")


def certificates_are_verified(server):
    check(as_user(server, "ann", "datasets")[0] == 0, "a certificate that is trusted")
    check(as_user(server, "ann", "datasets", url=f"https://localhost:{server.port}")[0] == 0, "by its name")
    code, _, error = as_user(server, "ann", "datasets", ca=False)
    check(code == 6 and "the certificate of 127.0.0.1 is refused" in error, f"not trusted: {code} {error}")
    code, _, error = as_user(server, "ann", "datasets", url=f"https://127.0.0.2:{server.port}")
    check(code == 6, f"another host: {code} {error}")
    code, _, error = as_user(server, "ann", "datasets", url=f"http://127.0.0.1:{server.port}")
    check(code == 6, f"without TLS: {code} {error}")


def two_clients_race_for_an_allotment(server):
    """Each of 12 questions costs 0.1 of an allotment of 0.5, whoever of the processes comes first."""
    server.run("user", "allot", "ann", "visits=epsilon=5")
    spent = next(u for u in server.json("user", "list")["users"] if u["name"] == "ann")
    left = spent["allotments"][0]["spent"]["epsilon"]
    server.run("user", "allot", "ann", f"visits=epsilon={left + 0.5:.1f}")
    codes, threads = [], []
    for i in range(12):
        sql = f"SELECT COUNT(*) FROM visits WHERE age > {50 + i}"
        threads.append(threading.Thread(
            target=lambda sql=sql: codes.append(as_user(server, "ann", "query", sql, "--epsilon", "0.1")[0])))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(sorted(codes) == [0] * 5 + [3] * 7, f"exit codes {sorted(codes)}")
    check(local(server, "ledger", "verify")[0] == 0, "the ledger holds")


def main():
    programs = os.path.abspath(sys.argv[1])
    plain = [the_same_words_give_the_same_output, roles_and_allotments_hold, files_are_those_of_this_machine,
             the_shell_asks_the_server,
             what_cannot_be_reached_or_trusted_is_said, an_answer_that_is_cut_off_or_strange_is_an_error,
             two_clients_race_for_an_allotment]
    tests = [(test, False) for test in plain] + [(certificates_are_verified, True)]
    print(f"1..{len(tests)}")
    servers = {tls: Server(programs, "--quantum", "0.05", tls=tls) for tls in (False, True)}
    failed = 0
    with servers[False], servers[True]:
        for number, (test, tls) in enumerate(tests, 1):
            name = test.__name__.replace("_", " ")
            try:
                test(servers[tls])
                print(f"ok {number} - {name}", flush=True)
            except Exception as fault:  # pylint: disable=broad-except
                failed += 1
                print(f"not ok {number} - {name}\n# {type(fault).__name__}: {str(fault)[:1500]!r}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
