"""cluster postgresql --kills [RUNS]: servers that go away, RUNS times (100) in each of three ways.

  a shard is killed in a query       a clear error, the charge stays, the next query answers when the shard is back
  the coordinator is killed in one   the same
  the coordinator is gone before it  a clear error, nothing is charged

That a server is killed in the query and not before or after it is made sure: the query waits for a table that another
session has locked, or, in every other run of the first way, is killed after a random time; runs that had ended by then or had not
begun are not counted. Every other query is streamed, the others are answered where the rows lie."""
import json
import random
import subprocess
import sys
import time

from cluster_servers import Cluster

SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
LOST = ("the connection to the PostgreSQL server was lost", "PostgreSQL failed while it ran the query")


class Asked:
    """A query that runs while something else is done."""

    def __init__(self, clinic, where):
        clinic.asked += 1
        self.process = subprocess.Popen(
            [clinic.brume, "query", SQL, "--epsilon", str(1 + clinic.asked), "--where", where, "--json"],
            env=clinic.environment(), cwd=clinic.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self):
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def events(clinic):
    return json.loads(clinic.call("history", "visits", "--json"))["events"]


def expect(condition, text):
    if not condition:
        sys.exit("cluster: " + text)


def wait_until_running(server):
    """Until a query of another session runs or waits there."""
    for _ in range(300):
        if int(server.psql("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND backend_type = "
                           "'client backend' AND pid <> pg_backend_pid() AND query NOT LIKE 'LOCK%'")):
            return
        time.sleep(0.02)
    sys.exit("cluster: the query never came to the server")


def lock(server):
    """A session that has locked the visits there."""
    session = subprocess.Popen(["psql", "-X", "-q", server.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    session.stdin.write("BEGIN; LOCK TABLE visits IN ACCESS EXCLUSIVE MODE; SELECT 'locked';\n")
    session.stdin.flush()
    while "locked" not in session.stdout.readline():
        pass
    return session


def check_lost(clinic, before, result):
    code, out, err = result
    expect(code != 0 and not out and any(text in err for text in LOST), f"exit {code}: {out} {err}")
    after = events(clinic)
    failed = [sum(event["state"] == "failed" for event in each) for each in (before, after)]
    expect(len(after) == len(before) + 1 and failed[1] == failed[0] + 1, "the charge did not stay")


def check_answers(clinic):
    rows = clinic.ask(SQL, ["--limit", "6"], random.choice(["brume", "engine"]))
    expect(len(rows) == 7, f"the next query answers {rows}")


def killed_in_query(clinic, victim, locked_at, runs, always):
    """`always`: the query waits for the lock in every run, not in every other one."""
    counted = late = 0
    while counted < runs:
        before = events(clinic)
        certain = always or counted % 2 == 0
        session = lock(locked_at) if certain else None
        asked = Asked(clinic, "brume" if counted % 4 < 2 else "engine")
        if certain:
            wait_until_running(locked_at)
        else:
            time.sleep(random.uniform(0.02, 0.25))
        victim.stop()
        result = asked.end()
        if session:
            session.kill()
            session.wait()
        if not certain and (result[0] == 0 or len(events(clinic)) == len(before)):
            late += 1  # it had answered already, or had not begun
        else:
            check_lost(clinic, before, result)
            counted += 1
        victim.start()
        check_answers(clinic)
    return late


def gone_before_query(clinic, victim, runs):
    victim.stop()
    before = len(events(clinic))
    for i in range(runs):
        code, out, err = Asked(clinic, ("brume", "engine")[i % 2]).end()
        expect(code != 0 and not out and "cannot connect to the PostgreSQL server" in err, f"exit {code}: {out} {err}")
    expect(len(events(clinic)) == before, "something was charged")
    victim.start()
    check_answers(clinic)


def main(brume, visits_program, rest):
    runs = int(rest[0]) if rest else 100
    with Cluster(brume, visits_program) as cluster:
        cluster.fill(100000)
        _, first, *shards = cluster.servers
        clinic = cluster.clinic("two shards", first)
        late = killed_in_query(clinic, shards[1], shards[1], runs, False)
        print(f"{runs} runs: a shard killed in the query: an error, the charge stays, the next query answers "
              f"({late} more were too early or too late)", flush=True)
        killed_in_query(clinic, first, shards[1], runs, True)
        print(f"{runs} runs: the coordinator killed in the query: the same", flush=True)
        gone_before_query(clinic, first, runs)
        print(f"{runs} runs: the coordinator gone before the query: an error, nothing is charged", flush=True)
        holds = json.loads(clinic.call("ledger", "verify", "--json"))["holds"]
        expect(holds is True, "the ledger does not verify")
    return 0
