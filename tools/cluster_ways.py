"""cluster postgresql [VISITS]: the clinic streamed and where the rows lie, on one server and on two shards. Answers are
compared: epsilon is so large that the noise is below 1e-2 but with a probability below 1e-20."""
import os
import sys

from cluster_servers import Cluster

LIMIT = 6
ASKED = [("visits by ward", f"SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", ["--limit", str(LIMIT)]),
         ("days by age", "SELECT age, SUM(stay) AS days FROM visits GROUP BY age", []),
         ("means by ward", "SELECT ward, COUNT(*) AS n, AVG(stay) AS mean FROM visits GROUP BY ward", [])]
# What one would write by hand for the first question.
BY_HAND = f"""SET enable_partitionwise_aggregate = on; SELECT ward, sum(CASE WHEN m <= {LIMIT} THEN n * 262144 ELSE div(n * {LIMIT * 262144}::numeric, m) END)
    FROM (SELECT ward, n, sum(n) OVER (PARTITION BY patient) AS m FROM
        (SELECT patient, ward, count(*) AS n FROM visits GROUP BY patient, ward) AS t) AS m GROUP BY ward"""


def near(one, other):
    pairs = [pair for left, right in zip(one, other) for pair in zip(left, right)]
    return len(one) == len(other) and all(
        a == b or (isinstance(a, (int, float)) and abs(a - b) < 1e-2) for a, b in pairs)


def show(clinic, title, way, result):
    _, wall, here, there = result
    print(f"{clinic.name:<14} {title:<15} {way:<22} {wall:7.2f} {here:9.2f} {there:9.2f}", flush=True)


def run_clinic(clinic, by_hand):
    for title, sql, options in ASKED:
        ways = [("streamed, 1 connection", "brume", 1), ("streamed, 2", "brume", 2), ("where the rows lie", "engine", 2)]
        answers = []
        for way, where, connections in ways:
            result = clinic.measure(lambda: clinic.ask(sql, options, where, connections))
            answers.append(result[0])
            show(clinic, title, way, result)
        if not all(near(answers[0], other) for other in answers[1:]):
            sys.exit(f"cluster: the answers to {sql} differ:\n" + "\n".join(str(rows) for rows in answers))
        if by_hand and title == ASKED[0][0]:
            show(clinic, title, "SQL by hand, no noise", clinic.measure(lambda: clinic.server.psql(BY_HAND)))


def main(brume, visits_program, rest):
    visits = int(rest[0]) if rest else 200000
    with Cluster(brume, visits_program) as cluster:
        cluster.fill(visits)
        print(f"{visits} visits of {visits // 5} patients, {os.cpu_count()} processors")
        print(f"{'servers':<14} {'asked':<15} {'way':<22} {'seconds':>7} {'of brume':>9} {'of servers':>10}")
        for name, server in (("one", cluster.servers[0]), ("two shards", cluster.servers[1])):
            run_clinic(cluster.clinic(name, server), True)
    return 0
