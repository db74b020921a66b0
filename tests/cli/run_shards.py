#!/usr/bin/env python3
"""Tables that are sharded over several PostgreSQL servers, and servers that go away, in TAP.

    run_shards.py BRUME CLINIC_VISITS [RUNS]

Starts the servers of `./run cluster postgresql`. RUNS: how often a server is killed in each way (2).
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import cluster_citus  # noqa: E402
from cluster_servers import Cluster, find_programs  # noqa: E402
from processes import check, run_tests  # noqa: E402

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "cluster")
NARROW = "patient int4, ward text, stay int2"


def cluster(brume, visits_program, *arguments, code=0):
    which, *rest = arguments
    done = subprocess.run([sys.executable, TOOL, which, brume, visits_program, *rest], capture_output=True, text=True,
                          check=False)
    check(done.returncode == code, f"exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def asked_of_shards(servers):
    """The statements that came to the shards so far."""
    texts = []
    for server in servers[2:]:
        with open(server.folder + "/data/server.log", encoding="utf-8") as file:
            texts.append(file.read())
    return texts


def aggregated_where_they_lie(brume, visits_program):
    """Texts are grouped by their own collation, and units and keys of small integers too."""
    with Cluster(brume, visits_program, "-c log_statement=all") as servers:
        servers.fill(20000)
        first = servers.servers[1]
        clinic = servers.clinic("two shards", first)
        asked = [("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", ["--limit", "6"]),
                 ("SELECT ward, SUM(stay) AS s FROM visits GROUP BY ward", ["--limit", "60"]),
                 ("SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis", ["--delta", "1e-9", "--limit", "6"])]
        for sql, options in asked:
            before = [text.count("GROUP BY 1, 2") for text in asked_of_shards(servers.servers)]
            here = clinic.ask(sql, options, "brume")
            there = clinic.ask(sql, options, "engine")
            after = [text.count("GROUP BY 1, 2") for text in asked_of_shards(servers.servers)]
            check([row[0] for row in here] == [row[0] for row in there], f"{here}\n{there}")
            check(all(b > a for a, b in zip(before, after)), f"{sql}: the shards did not aggregate: {before} {after}")


def narrow_units(brume, visits_program):
    with Cluster(brume, visits_program, "-c log_statement=all") as servers:
        _, first, *shards = servers.servers
        first.psql(f"CREATE EXTENSION postgres_fdw; CREATE TABLE visits ({NARROW}) PARTITION BY HASH (patient)")
        for i, shard in enumerate(shards):
            shard.psql(f"CREATE TABLE visits ({NARROW})")
            first.psql(f"""CREATE SERVER shard{i} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{shard.folder}',
                port '{shard.port}', dbname 'postgres'); CREATE USER MAPPING FOR brume SERVER shard{i} OPTIONS (user
                'brume'); CREATE FOREIGN TABLE visits{i} PARTITION OF visits FOR VALUES WITH (MODULUS 2, REMAINDER {i})
                SERVER shard{i} OPTIONS (table_name 'visits')""")
        first.psql("INSERT INTO visits SELECT i % 900, 'w' || i % 5, i % 30 FROM generate_series(1, 9000) AS s(i); "
                   "ANALYZE visits")
        clinic = servers.clinic("narrow", first, ["--domain", "ward=w0,w1,w2,w3", "--bounds", "stay=0..30"])
        sql, options = "SELECT ward, SUM(stay) AS s FROM visits GROUP BY ward", ["--limit", "40"]
        here, there = clinic.ask(sql, options, "brume"), clinic.ask(sql, options, "engine")
        check(all(abs(a[1] - b[1]) < 1e-2 for a, b in zip(here, there)) and len(here) == 4, f"{here}\n{there}")
        check(all("GROUP BY 1, 2" in text for text in asked_of_shards(servers.servers)), "the shards did not aggregate")


def without_citus(brume, visits_program):
    control = cluster_citus.control_file(find_programs())
    if os.path.exists(control):
        return  # it is there: the clinic on it is measured by ./run cluster citus
    said = cluster(brume, visits_program, "citus", code=3)
    check(said.strip() == cluster_citus.MISSING.format(control=control), said)


def main():
    brume, visits_program = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    runs = sys.argv[3] if len(sys.argv) > 3 else "2"
    return run_tests([
        ("rows are aggregated where they lie", lambda: aggregated_where_they_lie(brume, visits_program)),
        ("small integers need not be widened", lambda: narrow_units(brume, visits_program)),
        ("the clinic answers the same on shards", lambda: cluster(brume, visits_program, "postgresql", "20000")),
        ("servers that are killed", lambda: cluster(brume, visits_program, "postgresql", "--kills", runs)),
        ("two connections are faster than one", lambda: cluster(brume, visits_program, "postgresql", "--streams")),
        ("Citus is not here", lambda: without_citus(brume, visits_program))])


if __name__ == "__main__":
    sys.exit(main())
