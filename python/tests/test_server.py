"""brume.connect(url): the same methods, through a server."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal

import pytest

import brume
from conftest import write_table

PROGRAM = os.environ.get("BRUME_PROGRAM") or shutil.which("brume")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="the program brume, which serves, is not there")
COUNT = "SELECT COUNT(*) AS n FROM survey"


class Server:
    """A ledger with `survey`, an owner, two analysts and an auditor, behind `brume serve`."""

    def __init__(self, folder, tls):
        write_table(folder / "survey.csv", 300)
        self.folder, self.ca = folder, None
        self.environment = dict(os.environ, BRUME_LEDGER=str(folder / "brume.db"))
        self.run("register", "survey", "survey.csv", "--unit", "person", "--budget", "epsilon=2",
                 "--bounds", "age=0..100", "--domain", "town=Aix,Bex,Cully", "--max-rows", "1",
                 "--max-groups", "1", "--limits", "fixed")
        self.tokens = {name: json.loads(self.run("user", "add", name, "--role", role, *more, "--json"))["token"]
                       for name, role, *more in (("olga", "owner"), ("carl", "auditor"), ("bob", "analyst"),
                                                 ("ann", "analyst", "--allot", "survey=epsilon=0.5"))}
        keys = []
        if tls:
            self.ca = str(folder / "cert.pem")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                            "-nodes", "-keyout", str(folder / "key.pem"), "-out", self.ca, "-days", "2",
                            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                           check=True, capture_output=True)
            os.chmod(folder / "key.pem", 0o600)
            keys = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"]
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--quantum", "0.05", "--quiet", *keys], cwd=folder,
            env=self.environment, stdout=subprocess.PIPE, text=True)
        assert select.select([self.process.stdout], [], [], 60)[0]
        self.url = self.process.stdout.readline().split()[-1]

    def run(self, *words):
        return subprocess.run([PROGRAM, *words], cwd=self.folder, env=self.environment, check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def connect(self, name, **options):
        return brume.connect(self.url, token=self.tokens[name], ca=self.ca, **options)

    def close(self):
        self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()


@pytest.fixture(scope="module", params=[False, True], ids=["http", "https"])
def server(request, tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("server"), request.param)
    yield made
    made.close()


def test_a_query_is_charged_once_and_read_again_for_free(server):
    with server.connect("ann", must_exist=True) as con:
        first = con.query(COUNT, epsilon=Decimal("0.1"))
        again = con.query(COUNT, epsilon=0.1)
        assert first.columns == ["n"] and first.scalar() == again.scalar() and again.cached
        assert first.cost["epsilon"] == 0.1 and first.error_95["n"] > 0
        by_town = con.query("SELECT town, COUNT(*) AS n FROM survey GROUP BY town", epsilon=0.1)
        assert [row[0] for row in by_town] == ["Aix", "Bex", "Cully"] and "±" in repr(by_town)
        mine = con.budget("survey")["mine"]
        assert mine["spent"]["epsilon"] == pytest.approx(0.2) and mine["queries"] == 2


def test_the_answer_is_that_of_the_ledger_itself(server):
    with server.connect("bob") as there, brume.connect(str(server.folder / "brume.db"), progress=False) as here:
        there.query(COUNT, epsilon=0.05)
        assert there.query(COUNT, epsilon=0.05).json == here.query(COUNT, epsilon=0.05).json
        assert there.explain(COUNT, epsilon=0.3) == here.explain(COUNT, epsilon=0.3)
        assert there.datasets() == here.datasets() and there.show("survey") == here.show("survey")
        assert there.history("survey") == here.history("survey")
        assert {event["user"] for event in there.history()} >= {"bob"}


def test_tables_for_notebooks(server):
    pandas = pytest.importorskip("pandas")
    with server.connect("bob") as con:
        answer = con.query("SELECT town, COUNT(*) AS n FROM survey GROUP BY town", epsilon=0.05)
        assert isinstance(answer.df(), pandas.DataFrame) and list(answer.df().columns) == ["town", "n"]
        assert answer.arrow().num_rows == 3 and "<table>" in answer._repr_html_()


def test_errors_are_those_of_brume(server):
    with server.connect("ann") as con:
        for raised, act in (
                (brume.BudgetError, lambda: con.query("SELECT COUNT(*) FROM survey WHERE age > 1", epsilon=0.45)),
                (brume.BudgetError, lambda: con.query(COUNT, epsilon=100)),
                (brume.PolicyError, lambda: con.call("user list")),
                (brume.PolicyError, lambda: con.register("x", "/etc/passwd", unit="row", budget="epsilon=1")),
                (brume.UnknownNameError, lambda: con.query("SELECT nothing FROM survey", epsilon=0.1)),
                (brume.QuerySyntaxError, lambda: con.query("SELEKT", epsilon=0.1)),
                (brume.UnknownNameError,
                 lambda: next(con.stream("above-threshold", dataset="nowhere", threshold=1, epsilon=0.1))),
                (brume.ArgumentError, lambda: con.query(COUNT, epsilon=Decimal("NaN"))),
                (brume.UnsupportedError, lambda: con.call("query", sql=COUNT, epsilon=1, plot="x.svg")),
                (TypeError, lambda: con.query(3, epsilon=1)),
                (brume.ArgumentError, lambda: con.query(COUNT, epsilon=float("nan")))):
            with pytest.raises(raised):
                act()
        with pytest.raises(brume.BudgetError, match="your allotment on 'survey'") as caught:
            con.query("SELECT COUNT(*) FROM survey WHERE age > 1", epsilon=0.45)
        assert caught.value.code == "budget" and caught.value.exit_code == 3 and caught.value.hint
    with pytest.raises(brume.ArgumentError, match="closed"):
        con.datasets()


def test_streams_ask_and_halt(server):
    with server.connect("bob") as con:
        questions = con.stream("above-threshold", dataset="survey", threshold=-100000, epsilon=0.1)
        next(questions)
        with server.connect("ann") as other, pytest.raises(brume.PolicyError, match="another stream"):
            next(other.stream("above-threshold", dataset="survey", threshold=1, epsilon=0.1))
        assert questions.send("age >= 0")["above"] is True
        assert list(questions) == []  # it has halted
        left = con.stream("above-threshold", dataset="survey", threshold=100000, epsilon=0.1)
        next(left)
        assert [left.send("age >= 0")["above"] for _ in range(2)] == [False, False]
        left.close()
        with pytest.raises(brume.UnknownNameError):
            asked = con.stream("above-threshold", dataset="survey", threshold=100, epsilon=0.1)
            next(asked)
            asked.send("nothing > 1")
        states = {event["state"] for event in con.history("survey")}
    assert states == {"committed"}


def test_roles_hold(server):
    with server.connect("carl") as con:
        assert con.call("ledger verify")["holds"] is True
        with pytest.raises(brume.PolicyError, match="not for an auditor"):
            con.query(COUNT, epsilon=0.01)
    with server.connect("olga") as con:
        with pytest.raises(brume.DiskError, match="nowhere.yaml"):
            con.register("other", policy="nowhere.yaml")
        assert server.url in repr(con) and server.tokens["olga"] not in repr(con)
        assert {user["name"] for user in con.call("user list")["users"]} >= {"ann", "bob"}


def test_only_who_has_a_token_and_is_trusted(server, monkeypatch):
    monkeypatch.delenv("BRUME_TOKEN", raising=False)
    with pytest.raises(brume.ArgumentError, match="token"):
        brume.connect(server.url, ca=server.ca)
    monkeypatch.setenv("BRUME_TOKEN", server.tokens["ann"])
    assert brume.connect(server.url, ca=server.ca).datasets()
    with pytest.raises(brume.PolicyError, match="the token is not valid"):
        brume.connect(server.url, token="brume_wrong", ca=server.ca, must_exist=True)
    if server.ca:
        with pytest.raises(brume.SourceError, match="certificate"):
            brume.connect(server.url, must_exist=True)
    for wrong in ("http://example.org", "https://", "http://127.0.0.1:port", "https://a@b", "https://h?x=1"):
        with pytest.raises(brume.ArgumentError):
            brume.connect(wrong)
    with pytest.raises(brume.SourceError, match="cannot reach"):
        brume.connect("http://127.0.0.1:1", must_exist=True)
    with pytest.raises(TypeError, match="token"):
        brume.connect(server.url, token=3)
    for options in ({"timeout": -1}, {"timeout": float("nan")}):
        with pytest.raises(brume.ArgumentError, match="timeout"):
            brume.connect(server.url, ca=server.ca, **options)
    for no_certificates in ("nowhere.pem", __file__):
        with pytest.raises(brume.ArgumentError, match="ca="):
            brume.connect("https://127.0.0.1:1", ca=no_certificates)
    if not server.ca:
        with pytest.raises(brume.SourceError, match="TLS"):
            brume.connect(server.url.replace("http:", "https:"), must_exist=True)
    with pytest.raises(brume.ArgumentError, match="for a server"):
        brume.connect("brume.db", token="x")


def test_threads_share_a_budget(server):
    """Eight threads ask eight questions of 0.1; an allotment of 0.3 carries exactly three."""
    token = json.loads(server.run("user", "add", "eve", "--role", "analyst", "--allot", "survey=epsilon=0.3",
                                  "--json"))["token"]
    won = []

    def ask(least):
        with brume.connect(server.url, token=token, ca=server.ca) as con:
            try:
                con.query(f"SELECT COUNT(*) FROM survey WHERE age > {least}", epsilon=0.1)
                won.append(least)
            except brume.BudgetError:
                pass

    threads = [threading.Thread(target=ask, args=(30 + i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 3
    assert json.loads(server.run("ledger", "verify", "--json"))["holds"]


def test_what_is_left_is_what_an_analyst_may_still_spend(server):
    token = json.loads(server.run("user", "add", "fay", "--role", "analyst", "--allot", "survey=epsilon=0.2",
                                  "--json"))["token"]
    with brume.connect(server.url, token=token, ca=server.ca) as con, server.connect("bob") as other:
        mine = con.query("SELECT COUNT(*) AS n FROM survey WHERE age > 77", epsilon=Decimal("0.01"))
        theirs = other.query("SELECT COUNT(*) AS n FROM survey WHERE age > 77", epsilon=Decimal("0.01"))
        assert mine.remaining["epsilon"] == pytest.approx(0.19) and theirs.cached
        assert theirs.remaining["epsilon"] == other.budget("survey")["remaining"]["epsilon"] > 0.19
        assert con.budget("survey")["mine"]["remaining"]["epsilon"] == mine.remaining["epsilon"]


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """A server with a table for questions that take long."""
    made = Server(tmp_path_factory.mktemp("slow"), False)
    write_table(made.folder / "large.csv", 100_000)
    made.run("register", "large", "large.csv", "--unit", "person", "--budget", "epsilon=9", "--domain", "town=Aix,Bex")
    yield made
    made.close()


# Ten seconds of an idle machine, if nobody ends it.
SLOW = "SELECT town, COUNT(*) AS n FROM large WHERE " + \
       " OR ".join(f"town || '{'x' * 2000}' ~ '(A|x|C)+.*y{i}$'" for i in range(16)) + " GROUP BY town"


def test_cancel_ends_the_call_on_the_server(slow):
    with slow.connect("bob") as con:
        ended = threading.Event()

        def cancel():
            while not ended.wait(0.2):  # the first may come before the server has the question
                con.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        try:
            with pytest.raises(brume.CancelledError):
                con.query(SLOW, epsilon=1)
        finally:
            ended.set()
            thread.join()
        assert con.query(COUNT, epsilon=Decimal("0.01")).rows
        assert [event["state"] for event in con.history("large")] in ([], ["failed"])
    with slow.connect("carl") as con:
        con.cancel()  # nothing runs


INTERRUPTED = """
import signal, sys
import brume
signal.signal(signal.SIGINT, signal.default_int_handler)
con = brume.connect(sys.argv[1], token=sys.argv[2])
try:
    con.query(sys.argv[3], epsilon=1)
except KeyboardInterrupt:
    sys.exit(7)
"""


def test_control_c_ends_the_call_on_the_server(slow):
    with slow.connect("carl") as con:
        before = len(con.history("large"))
        asking = subprocess.Popen([sys.executable, "-c", INTERRUPTED, slow.url, slow.tokens["bob"],
                                   SLOW.replace("y0", "z")])
        while len(con.history("large")) == before:  # until it was charged, and reads rows
            assert asking.poll() is None
            time.sleep(0.05)
        asking.send_signal(signal.SIGINT)
        assert asking.wait(120) == 7
        while con.history("large")[before]["state"] == "reserved":
            time.sleep(0.05)
        assert con.history("large")[before]["state"] == "failed"
