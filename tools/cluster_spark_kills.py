"""cluster_spark.py BRUME CLINIC_VISITS --kills [RUNS [WAY...]]: what brume does when Spark goes away, RUNS times (100) in
each of three ways, or in those that are named.

  executor  the executor is killed in a query: a clear error, the charge stays, the next query answers
  server    the server is killed in a query: the same, when the server is back
  gone      the server is gone before the query: a clear error, nothing is charged

An executor is the process that runs the tasks; the server, which plans and hands them out, lives on when it is killed.
Spark is told not to run a lost task again, as it would otherwise (then the query would answer). Nothing is killed before
the query is charged. In every other run an executor is killed when a task runs; all other kills come after a random time.
Queries that answered all the same were over by then, or had tasks that were lost before they began, and are not counted
among the runs. Half of the queries are streamed, the others are answered where the rows lie. What happened is counted, and
anything else ends this with an error."""
import json
import os
import random
import shutil
import signal
import subprocess
import time

from cluster_spark import QUICK, WARDS, Server, clinic, fail, make_visits

ROWS = 1000000
SQL = "SELECT ward, COUNT(*) AS n, AVG(stay) AS m FROM visits GROUP BY ward"
WAYS = ("brume", "engine")
NO_SECOND_TRY = [("spark.task.maxFailures", 1), ("spark.stage.maxConsecutiveAttempts", 1),
                 ("spark.deploy.maxExecutorRetries", -1)]
LOST = "Spark failed, or was lost, while it ran the query"
GONE = "cannot connect to the Spark server"


class Counts:
    """What happened in the runs of one way."""

    def __init__(self):
        self.runs = self.errors = self.kept = self.next = self.answered = 0

    def show(self, title):
        print(f"{title}: {self.runs} runs, {self.errors} clear errors, {self.kept} charges that stayed, {self.next} next "
              f"queries that answered ({self.answered} more queries answered all the same)", flush=True)


class Executors:
    """The processes that run the tasks of a server whose master is a local cluster."""

    def __init__(self, server):
        self.server, self.folder = server, os.path.join(server.environment["SPARK_HOME"], "work")

    def find(self):
        found = []
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    words = file.read()
                if b"CoarseGrainedExecutorBackend" in words and os.getsid(int(entry)) == self.server.process.pid:
                    found.append(int(entry))
            except (OSError, ValueError):
                continue
        return found

    def kill(self):
        for process in self.find():
            os.kill(process, signal.SIGKILL)

    def wait_until_back(self):
        while not self.find():
            time.sleep(0.1)

    def unfinished(self):
        """How many tasks have begun and not ended so far, by the executors' own logs: those that run, and those that were
        killed."""
        count = 0
        for path, _, files in os.walk(self.folder):
            if "stderr" in files:
                with open(os.path.join(path, "stderr"), encoding="utf-8", errors="replace") as file:
                    text = file.read()
                count += text.count("Running task") - text.count("Finished task")
        return count


def has_ended(event):
    return event["state"] == "failed"


def start_query(dataset, where):
    dataset.asked += 1  # another price, so that it is asked and not read again
    # pylint: disable-next=consider-using-with
    return subprocess.Popen([dataset.brume, "query", SQL, "--epsilon", str(1 + dataset.asked), "--where", where, "--json"],
                            env=dataset.environment, text=True, cwd=dataset.server.folder, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def killed_in_query(dataset, kill, revive, runs, executors=None):
    """Where `executors` are given, every other kill waits for a task of theirs."""
    counts = Counts()
    while counts.runs < runs:
        before, killed = dataset.events(), executors.unfinished() if executors else 0
        where = WAYS[counts.runs // 2 % 2]
        process = start_query(dataset, where)
        while process.poll() is None and len(dataset.events()) == len(before):
            time.sleep(0.02)  # it is charged, and not yet answered
        certain = executors and (counts.runs + counts.answered) % 2 == 0
        while certain and process.poll() is None and executors.unfinished() == killed:
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.05 if certain else 2))
        kill()
        out, err = process.communicate(timeout=300)
        if process.returncode == 0:
            counts.answered += 1
            revive()
            continue
        counts.runs += 1
        if out or LOST not in err:
            fail(f"{where}: exit {process.returncode}: {out} {err}")
        counts.errors += 1
        after = dataset.events()
        if len(after) != len(before) + 1 or sum(map(has_ended, after)) != sum(map(has_ended, before)) + 1:
            fail("the charge did not stay: " + json.dumps(after[-1]))
        counts.kept += 1
        revive()
        rows = dataset.ask(SQL, [], random.choice(WAYS))
        if len(rows) != len(WARDS):
            fail(f"the next query answers {rows}")
        counts.next += 1
        if counts.runs % 10 == 0 and counts.runs < runs:
            counts.show("so far")
    return counts


def gone_before_query(dataset, runs):
    """How many clear errors there were; that nothing was charged is seen after each."""
    errors, before = 0, dataset.events()
    for i in range(runs):
        process = start_query(dataset, WAYS[i % 2])
        out, err = process.communicate(timeout=300)
        if process.returncode == 0 or out or GONE not in err:
            fail(f"exit {process.returncode}: {out} {err}")
        errors += 1
        if dataset.events() != before:
            fail("something was charged: " + json.dumps(dataset.events()[-1]))
    return errors


def make_clinic(brume, visits_program, server):
    make_visits(server, visits_program, ROWS)
    dataset = clinic(brume, server)
    dataset.ask(SQL, [], "engine")
    return dataset


def check_ledger(dataset):
    if json.loads(dataset.call("ledger", "verify", "--json"))["holds"] is not True:
        fail("the ledger does not verify")


def by_executor(brume, visits_program, runs):
    server = Server("local-cluster[1,2,700]", "700m", [*QUICK, ("spark.executor.memory", "700m"), *NO_SECOND_TRY])
    executors = Executors(server)
    try:
        dataset = make_clinic(brume, visits_program, server)
        killed_in_query(dataset, executors.kill, executors.wait_until_back, runs, executors).show(
            "the executor killed in the query")
        check_ledger(dataset)
    finally:
        server.stop()
        shutil.rmtree(executors.folder, ignore_errors=True)


def by_server(brume, visits_program, runs):
    server = Server(memory="700m", settings=QUICK)
    try:
        dataset = make_clinic(brume, visits_program, server)
        killed_in_query(dataset, server.kill, server.start, runs).show("the server killed in the query")
        check_ledger(dataset)
    finally:
        server.stop()


def by_absence(brume, visits_program, runs):
    server = Server(memory="700m", settings=QUICK)
    try:
        dataset = make_clinic(brume, visits_program, server)
        server.kill()
        errors = gone_before_query(dataset, runs)
        server.start()
        if len(dataset.ask(SQL, [], "engine")) != len(WARDS):
            fail("the next query does not answer")
        check_ledger(dataset)
        print(f"the server gone before the query: {runs} runs, {errors} clear errors, nothing charged in any; when it is "
              "back the next query answers", flush=True)
    finally:
        server.stop()


def main(brume, visits_program, rest):
    runs, *named = rest or ["100"]
    ways = {"executor": by_executor, "server": by_server, "gone": by_absence}
    for name in named or ways:
        if name not in ways:
            fail(f"--kills: no way '{name}', only {', '.join(ways)}")
        ways[name](brume, visits_program, int(runs))
    return 0
