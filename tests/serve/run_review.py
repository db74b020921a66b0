#!/usr/bin/env python3
"""Answers that are held leave a running server by no door, in TAP.

    run_review.py DIRECTORY_OF_BRUME

The doors are all that the server, the PostgreSQL protocol, the command line and bundles have. What must not
leave is read off the ledger's file: the digits of the numbers that were drawn.
"""
import json
import os
import re
import shutil
import sqlite3
import sys

from pg_client import PgServer
from processes import check, run_tests

EPSILON = 0.05  # noise of thousands, so that two answers do not have the same digits
ASKED = "SELECT SUM(age) AS total, COUNT(*) AS n FROM visits WHERE age < 80"


class Reviewed(PgServer):
    def add_users(self):
        for name, role in (("owner", "owner"), ("ann", "analyst"), ("bob", "analyst"), ("carl", "auditor"),
                           ("rev", "reviewer"), ("sue", "reviewer")):
            self.tokens[name] = self.json("user", "add", name, "--role", role)["token"]
        self.run("project", "open", "flu", "--purpose", "the winter", "--member", "ann", "--allot",
                 "visits=epsilon=5", "--approvals", "2")

    def call(self, who, command, **options):
        return self.ask("POST", "/v1/call/" + command, who, options)

    def recorded(self):
        """Number of the newest charge, and the digits of its numbers."""
        ledger = sqlite3.connect(self.path("brume.db"))
        row, body = ledger.execute("SELECT committed, answer.body FROM answer JOIN journal ON journal.id = committed "
                                   "WHERE kind = 'commit' ORDER BY committed DESC LIMIT 1").fetchone()
        charge = json.loads(ledger.execute("SELECT body FROM journal WHERE id = ?", (row,)).fetchone()[0])["reservation"]
        ledger.close()
        numbers = [n for line in json.loads(body)["rows"] for n in line if isinstance(n, (int, float))]
        digits = {re.sub(r"\D", "", str(n)).strip("0") for n in numbers if abs(n) > 20000}
        check(digits, body)
        return charge, digits

    def doors(self, who, charge):
        """What comes out of every door for one user, as text by name."""
        out = {}

        def note(name, answer):
            out[name] = f"{answer.code} {answer.bytes.decode(errors='replace')} {answer.headers}"
        note("query", self.query(who, ASKED, EPSILON))
        note("query as events", self.ask("POST", "/v1/query", who, {"sql": ASKED, "epsilon": EPSILON},
                                         {"Accept": "text/event-stream"}))
        note("query as arrow", self.ask("POST", "/v1/query", who, {"sql": ASKED, "epsilon": EPSILON},
                                        {"Accept": "application/vnd.apache.arrow.stream"}))
        for form in ("csv", "tsv", "markdown", "json"):
            note("query as " + form, self.call(who, "query", sql=ASKED, epsilon=EPSILON, format=form))
        note("explain", self.ask("POST", "/v1/explain", who, {"sql": ASKED, "epsilon": EPSILON}))
        note("answer_N", self.query(who, f"SELECT * FROM answer_{charge}", 1))
        note("SQL over it", self.query(who, f"SELECT MAX(total) + 1 FROM answer_{charge}", 1))
        note("history", self.ask("GET", "/v1/history", who))
        note("history of one", self.ask("GET", "/v1/history/visits", who))
        note("history --answer", self.call(who, "history", answer=charge))
        note("budget", self.ask("GET", "/v1/budget/visits", who))
        note("export", self.ask("GET", "/v1/ledger/export", who))
        note("verify", self.ask("GET", "/v1/ledger/verify", who))
        note("find", self.call(who, "ledger/find", text="rows"))
        note("card", self.call(who, "card", name="visits"))
        note("review list", self.call(who, "review/list"))
        note("review show", self.call(who, "review/show", id=str(charge)))
        note("project list", self.call(who, "project/list"))
        note("limits", self.ask("POST", "/v1/limits", who, {"sql": ASKED, "epsilon": 0.01}))
        note("series", self.call(who, "series/list"))
        note("metrics", self.ask("GET", "/metrics", who))
        note("publish", self.call(who, "publish", name="visits", answer=[charge], out=self.path("b-" + who),
                                  unsigned=True))
        for folder, _, files in os.walk(self.path("b-" + who)):
            for name in files:
                out["bundle " + name] = open(os.path.join(folder, name), "rb").read().decode(errors="replace")
        shutil.rmtree(self.path("b-" + who), ignore_errors=True)
        raw = self.raw()
        raw.login(who, self.tokens[who])
        for sql in (f"SET brume.epsilon = {EPSILON}", ASKED, f"SELECT * FROM answer_{charge}", "SELECT * FROM pg_catalog.pg_class"):
            out["PostgreSQL: " + sql] = repr(raw.query(sql))
        raw.close()
        return out

    def at_the_shell(self, charge):
        out = {}
        for words in (("query", ASKED, "--epsilon", str(EPSILON), "--project", "flu"),
                      ("query", ASKED, "--epsilon", str(EPSILON), "--project", "flu", "--plot", "p.svg"),
                      ("explain", ASKED, "--epsilon", str(EPSILON), "--project", "flu"), ("history",),
                      ("history", "--answer", str(charge)), ("query", f"SELECT * FROM answer_{charge}"),
                      ("ledger", "export", "--texts"), ("review", "list"), ("review", "show", str(charge)),
                      ("publish", "visits", "--answer", str(charge), "--out", "bundle", "--unsigned"),
                      ("ledger", "find", "n")):
            _, printed, said = self.brume(*words)
            out[" ".join(words)] = printed + said
        for name in ("p.svg", "bundle/release.json"):
            out[name] = open(self.path(name), encoding="utf-8").read() if os.path.exists(self.path(name)) else ""
        shutil.rmtree(self.path("bundle"), ignore_errors=True)
        return out


def leaks(out, digits):
    """The doors whose text has the digits of a number; separators of digits are taken out."""
    return {name for name, text in out.items()
            if any(d in re.sub(r"(?<=\d)[., \u202f](?=\d)", "", text) for d in digits)}


def by_no_door(programs):
    with Reviewed(programs, rows=3000, budget="epsilon=1000") as server:
        first = server.query("ann", ASKED, EPSILON)
        check(first.code == 403 and b"held until it is approved" in first.bytes, first)
        charge, digits = server.recorded()
        for who in ("ann", "bob", "owner", "carl", "rev", "sue"):
            out = server.doors(who, charge)
            check(not leaks(out, digits), f"{who}: {leaks(out, digits)} of {digits}")
        check(not leaks(server.at_the_shell(charge), digits), "the owner's shell")
        # the same question outside of the project is another answer, and says nothing of the first
        check(server.query("bob", ASKED, EPSILON).json["cost"]["epsilon"] == EPSILON, "asked elsewhere it is paid")
        for who, code in (("ann", 403), ("bob", 403), ("carl", 403), ("rev", 200), ("rev", 403)):
            got = server.call(who, "review/approve", id=str(charge), reason="fine")
            check(got.code == code, f"{who}: {got}")
        check(not leaks(server.doors("ann", charge), digits), "one of two approvals")
        check(server.call("sue", "review/approve", id=str(charge), reason="fine").code == 200, "the second")
        out = server.doors("ann", charge)
        seen = leaks(out, digits)
        check({"query", "query as csv", "answer_N", "history --answer"} <= seen, f"approved: {seen}")
        check(f"PostgreSQL: SELECT * FROM answer_{charge}" in seen, f"over PostgreSQL: {seen}")
        check(not leaks(server.doors("carl", charge), digits), "an auditor is in no project")
        check(leaks(server.doors("owner", charge), digits) >= {"history --answer", "bundle release.json"}
              or leaks(server.doors("owner", charge), digits) >= {"history --answer"}, "an owner sees it")
        bob = leaks(server.doors("bob", charge), digits)
        check(not bob & {"answer_N", "history --answer", "SQL over it"}, f"who is in no project: {bob}")
        check(server.holds(), "the ledger holds")


def rejected(programs):
    with Reviewed(programs, rows=3000, budget="epsilon=1000") as server:
        check(server.query("ann", ASKED, EPSILON).code == 403, "held")
        charge, digits = server.recorded()
        check(server.call("owner", "review/reject", id=str(charge), reason="too fine").code == 200, "rejected")
        check(server.call("rev", "review/approve", id=str(charge), reason="but").code == 403, "for good")
        out = server.doors("ann", charge)
        check(not leaks(out, digits) and "was rejected" in out["query"] and "too fine" in out["review list"], out["query"])
        again = server.call("ann", "query", sql=ASKED, epsilon=EPSILON, fresh=True)
        check(again.code == 403 and b"is held" in again.bytes, f"asked anew, it is held anew: {again}")


def shown_to_reviewers(programs):
    with Reviewed(programs, rows=3000, budget="epsilon=1000") as server:
        server.run("project", "amend", "flu", "--show-answers", "true")
        check(server.query("ann", ASKED, EPSILON).code == 403, "held")
        charge, digits = server.recorded()
        for who, may in (("ann", False), ("bob", False), ("carl", False), ("rev", True), ("owner", True)):
            seen = leaks(server.doors(who, charge), digits)
            check(seen == ({"review show"} if may else set()), f"{who}: {seen}")
        # no streams of questions, and no way past the project
        stream = server.ask("POST", "/v1/streams", "ann", {"command": "stream above-threshold", "dataset": "visits",
                                                          "threshold": 1, "epsilon": 1})
        check(stream.code >= 400 and b"streams" in stream.bytes, stream)
        check(server.query("ann", ASKED + " AND age > 1", 6).code == 403, "over the project's allotment")
        check(server.query("ann", ASKED, EPSILON, project="other").code == 403, "a project that is not there")
        check(server.query("bob", ASKED, EPSILON, project="flu").code == 403, "one that he is not in")


if __name__ == "__main__":
    P = sys.argv[1]
    sys.exit(run_tests([
        ("an answer that is held leaves by no door", lambda: by_no_door(P)),
        ("a rejected one never does", lambda: rejected(P)),
        ("reviewers see it where the project says so", lambda: shown_to_reviewers(P)),
    ]))
