"""Connections in process: asking, owning, streams, errors, threads, processes, forks, Ctrl-C.

Counts are asked at epsilon 5 of 3,000 people, one row each: noise of scale below 1 that is off by 100
has a probability below exp(-100).
"""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import pytest

import brume
from conftest import BUDGET, write_table

COUNT = "SELECT COUNT(*) AS n FROM survey"


def test_query(con):
    result = con.query(COUNT, epsilon=5)
    assert result.columns == ["n"] and abs(result.scalar() - 3000) < 100
    assert result.cost["epsilon"] == 5 and result.remaining["epsilon"] == 5 and not result.cached
    again = con.query(COUNT, epsilon=5)
    assert again.cached and again.rows == result.rows and again.remaining == result.remaining


def test_a_recorded_answer_is_a_table(con):
    asked = con.query("SELECT town, COUNT(*) AS n FROM survey GROUP BY town", epsilon=5)
    name = f"answer_{con.history('survey')[-1]['id']}"
    further = con.query(f"SELECT town, n, n - LAG(n) OVER (ORDER BY town) AS more FROM {name} ORDER BY town")
    assert [row[:2] for row in further] == asked.rows
    assert [row[2] for row in further][1:] == [asked[1][1] - asked[0][1], asked[2][1] - asked[1][1]]
    assert further.cost["epsilon"] == 0 and con.budget("survey")["remaining"]["epsilon"] == 5
    assert further.row_error_95[1][2] > asked.row_error_95[1][1]  # a difference of two noises
    with pytest.raises(brume.UnknownNameError):
        con.query("SELECT * FROM answer_999")


def test_groups_and_frames(con):
    result = con.query("SELECT town, COUNT(*) AS n FROM survey GROUP BY town", epsilon=5)
    assert [row[0] for row in result] == ["Aix", "Bex", "Cully"]
    pytest.importorskip("pyarrow")
    table = result.arrow()
    assert table.column("n").to_pylist() == [row[1] for row in result]
    assert result.arrow() is table
    assert table.schema.field("n").metadata[b"role"] == b"value"


def test_rows_that_are_never_taken_are_released(con):
    for _ in range(200):
        con.query(COUNT, epsilon=1)


def test_explain_spends_nothing(con):
    plan = con.explain(COUNT, epsilon=1)
    assert plan["cost"]["epsilon"] == 1 and plan["plan"]
    assert con.budget("survey")["spent"]["epsilon"] == 0


def test_owner(con):
    assert [one["name"] for one in con.datasets()] == ["survey"]
    assert con.show("survey")["dataset"] == "survey"
    assert con.budget()[0]["dataset"] == "survey"
    con.query(COUNT, epsilon=1)
    assert con.history("survey")[-1]["sql"] == COUNT
    con.amend("survey", data_version="2")
    assert con.call("ledger verify") is not None


def test_release_synth_audit(con):
    assert con.release("median", "survey", column="age", epsilon=1)["released"] is True
    made = con.synth("survey", columns="town,age", workload="marginals:1", method="laplace", epsilon=1,
                     rows=100, output="made.csv")
    assert os.path.exists("made.csv") and made["rows"] == 100
    with pytest.raises(brume.BrumeError):
        made.df()
    made = con.synth("survey", columns="town,age", workload="marginals:2", method="tree", epsilon=1, rows=100)
    assert made.df().shape == (100, 2) and list(made.df().columns) == ["town", "age"]
    assert made["tables"][0]["columns"] == ["town", "age"]
    assert con.audit("laplace(scale=1)", samples=10000, confidence="0.99999999999999")["verdict"] == "consistent"


def test_prices_are_exact_decimals(con):
    for _ in range(3):
        con.query(COUNT, epsilon=0.1, timeout=60)
        con.amend("survey", data_version=str(_))
    assert con.budget("survey")["spent"]["epsilon"] == pytest.approx(0.3, rel=1e-15)


def test_stream(con):
    questions = con.stream("above-threshold", dataset="survey", threshold=1000, epsilon=5)
    assert next(questions) is None
    assert questions.send("age > 78")["above"] is False
    with pytest.raises(brume.BrumeError):
        questions.send("no such column > 3")
    last = next_stream(con, questions)
    assert last is None
    assert con.query(COUNT, epsilon=1)  # the session is free again


def next_stream(con, questions):
    """A generator that raised has ended, and its stream with it."""
    try:
        questions.send("age > 10")
    except StopIteration:
        return None
    return questions


def test_stream_halts(con):
    questions = con.stream("above-threshold", dataset="survey", threshold=100, epsilon=5)
    next(questions)
    answer = questions.send("age > 10")
    assert answer["above"] is True and answer["halted"] is True
    with pytest.raises(StopIteration):
        questions.send("age > 10")


def test_a_closed_stream_frees_the_session(con):
    questions = con.stream("sparse-vector", dataset="survey", threshold=100, epsilon=1, hits=3)
    next(questions)
    with pytest.raises(brume.ArgumentError):
        con.query(COUNT, epsilon=1)
    questions.close()
    assert con.query(COUNT, epsilon=1)


@pytest.mark.parametrize("sql, options, wanted", [
    ("SELECT COUNT(*) FROM nobody", {"epsilon": 1}, brume.UnknownNameError),
    ("SELECT COUNT(* FROM survey", {"epsilon": 1}, brume.QuerySyntaxError),
    ("SELECT * FROM survey", {"epsilon": 1}, brume.BrumeError),
    (COUNT, {"epsilon": 100}, brume.BudgetError),
    (COUNT, {"epsilon": -1}, brume.ArgumentError),
    (COUNT, {"epsilon": float("nan")}, brume.ArgumentError),
    (COUNT, {}, brume.ArgumentError),
    (COUNT, {"epsilon": 1, "colour": "red"}, brume.BrumeError),
    ("SELECT\0", {"epsilon": 1}, brume.ArgumentError),
    (b"SELECT", {"epsilon": 1}, TypeError),
    (COUNT, {"epsilon": object()}, TypeError),
])
def test_what_is_wrong_is_said_and_costs_nothing(con, sql, options, wanted):
    with pytest.raises(wanted):
        con.query(sql, **options)
    assert con.budget("survey")["spent"]["epsilon"] == 0


def test_an_unknown_option_names_it(con):
    with pytest.raises(brume.BrumeError, match="colour"):
        con.query(COUNT, epsilon=1, colour="red")


def test_a_ledger_that_is_not_there(folder):
    with pytest.raises(brume.BrumeError):
        brume.connect("nowhere.db", must_exist=True)
    with pytest.raises(brume.ArgumentError, match="NUL"):
        brume.connect("brume.db\0")
    with brume.connect("nowhere.db") as con, pytest.raises(brume.BrumeError):
        con.query(COUNT, epsilon=1)


def test_a_closed_connection(con):
    con.close()
    con.close()
    with pytest.raises(brume.ArgumentError, match="closed"):
        con.query(COUNT, epsilon=1)
    con.cancel()


def test_a_fork_needs_its_own_connection(con):
    child = os.fork()
    if child == 0:
        try:
            con.query(COUNT, epsilon=1)
        except brume.ArgumentError:
            with brume.connect("brume.db", progress=False) as own:
                os._exit(0 if own.budget("survey")["spent"]["epsilon"] == 0 else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert con.query(COUNT, epsilon=1)


def test_a_connection_cannot_be_copied_and_is_left_as_it_was(con):
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled.*brume.connect"):
            copied(con)
    assert con.query(COUNT, epsilon=1)


def ask_often(number, answers):
    with brume.connect("brume.db", progress=False) as own:
        for k in range(10):
            try:
                own.query(f"SELECT COUNT(*) AS n FROM survey WHERE age > {number}{k:02d}", epsilon=0.1)
                answers.append(1)
            except brume.BudgetError:
                pass


def test_sixteen_threads_share_a_budget(con):
    answers = []
    threads = [threading.Thread(target=ask_often, args=(k + 1, answers)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 100  # 160 questions at 0.1 of 10
    assert con.budget("survey")["remaining"]["epsilon"] == 0


def ask_in_a_process(number):
    answers = []
    ask_often(number, answers)
    return len(answers)


def test_eight_processes_share_a_budget(con):
    with multiprocessing.get_context("spawn").Pool(8) as pool:
        assert sum(pool.map(ask_in_a_process, range(1, 17))) == 100
    assert con.budget("survey")["remaining"]["epsilon"] == 0


def test_progress_is_told(con):
    told = []
    with brume.connect("brume.db", progress=lambda *what: told.append(what)) as own:
        own.audit("laplace(scale=1)", samples=3_000_000)
    labels = [label for label, _, _ in told]
    assert labels[0] and labels[-1] is None, told  # work, and that it is over
    assert all(0 <= done <= total for label, done, total in told if label and total)


def test_a_progress_function_that_fails_ends_nothing(con, monkeypatch):
    """Python reports it as an exception that was ignored."""
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: reported.append(what.exc_type))

    def fail(*_):
        raise RuntimeError("of the caller")

    with brume.connect("brume.db", progress=fail) as own:
        assert own.audit("laplace(scale=1)", samples=3_000_000, confidence="0.99999999999999")["verdict"]
    assert RuntimeError in reported


def test_progress_may_cancel_and_may_not_close(con):
    refused = []

    def tell(label, *_):
        if label:
            try:
                own.close()
            except brume.ArgumentError as why:
                refused.append(why)

    with brume.connect("brume.db", progress=tell) as own:
        assert own.audit("laplace(scale=1)", samples=3_000_000, confidence="0.99999999999999")["verdict"]
        assert own.budget("survey")["queries"] == 0
    assert refused and "cancel" in refused[0].hint


INTERRUPTED = """
import os, signal, sys, threading
import brume
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background has it ignored
con = brume.connect("brume.db", progress=False)
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    con.query("SELECT town, COUNT(*) FROM large GROUP BY town", epsilon=1)
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.fixture
def large(con, folder):
    """Three million people: no machine answers in a tenth of a second."""
    write_table(folder / "large.csv", 3_000_000)
    con.register("large", "large.csv", unit="person", budget=BUDGET, domain={"town": "Aix,Bex,Cully"})
    return con


def test_control_c_cancels(large):
    assert subprocess.run([sys.executable, "-c", INTERRUPTED], timeout=120).returncode == 7


def test_cancel_from_another_thread(large):
    threading.Timer(0.1, large.cancel).start()
    with pytest.raises(brume.CancelledError):
        large.query("SELECT town, COUNT(*) FROM large GROUP BY town", epsilon=1)
    assert large.query(COUNT, epsilon=1)


def test_closing_while_another_thread_asks_ends_the_call_and_crashes_nothing(large):
    raised, asking = [], threading.Event()

    def ask(own):
        asking.set()
        try:
            own.query("SELECT town, COUNT(*) FROM large GROUP BY town", epsilon=1)
        except brume.BrumeError as why:
            raised.append(why)

    own = brume.connect("brume.db", progress=False)
    thread = threading.Thread(target=ask, args=(own,))
    thread.start()
    asking.wait()
    threading.Event().wait(0.1)
    own.close()
    thread.join()
    assert isinstance(raised[0], (brume.CancelledError, brume.ArgumentError))
    for _ in range(50):  # and at any moment
        own = brume.connect("brume.db", progress=False)
        threads = [threading.Thread(target=lambda own=own: own_datasets(own)) for _ in range(3)]
        for thread in threads:
            thread.start()
        own.close()
        for thread in threads:
            thread.join()


def own_datasets(own):
    try:
        own.datasets()
        own.cancel()
    except brume.ArgumentError:
        pass  # closed, or another thread was first


def test_an_exception_in_a_generator_ends_the_stream(con):
    questions = con.stream("above-threshold", dataset="survey", threshold=10**6, epsilon=1)
    next(questions)
    with pytest.raises(KeyError):
        questions.throw(KeyError("of the caller"))
    assert con.query(COUNT, epsilon=1)
    questions = con.stream("above-threshold", dataset="survey", threshold=10**6, epsilon=1)
    next(questions)
    for wrong in (3, None, b"age > 3", "age > \0"):
        with pytest.raises(Exception):
            questions.send(wrong)
        assert con.datasets()
        questions = con.stream("above-threshold", dataset="survey", threshold=10**6, epsilon=0.1)
        next(questions)
    del questions  # a generator that nobody has any more is closed
    assert con.query(COUNT, epsilon=0.5)


FORGOTTEN = """
import brume
con = brume.connect("brume.db", progress=False)
questions = con.stream("above-threshold", dataset="survey", threshold=10**6, epsilon=1)
next(questions)
questions.send("age > 50")
"""


def test_a_stream_that_is_open_at_the_end_of_the_program_is_recorded(con):
    done = subprocess.run([sys.executable, "-c", FORGOTTEN], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == ""
    assert con.history("survey")[-1]["state"] == "committed"


def test_magic(con):
    from brume.magic import brume_magic

    class Shell:
        user_ns = {}

    result = brume_magic("--epsilon 5 --to n", COUNT, Shell)
    assert abs(result.scalar() - 3000) < 100 and Shell.user_ns["n"] is result
    assert brume_magic("--epsilon 5 --explain", COUNT)["cost"]["epsilon"] == 5
    with pytest.raises(ValueError, match="unrecognized arguments: --price 3; usage"):
        brume_magic("--price 3", COUNT)
