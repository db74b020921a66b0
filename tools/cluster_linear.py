"""cluster postgresql --linear [MILLIONS]: what a query costs where the rows lie, against rows, units and groups.

Tables of narrow rows are made on one server: from one million rows to MILLIONS (100), and of three million rows with more
or fewer units and groups. One process of the server answers. Printed as CSV: the engine, rows, units, groups, seconds,
processor seconds of brume and of the server, and the largest memory of brume in KiB. tools/docs/scale-model reads it."""
import os
import subprocess
import sys
import time

from cluster_servers import Cluster

MILLION = 1000000
HEADER = "engine,rows,units,groups,seconds,brume,server,memory"


def shapes(most):
    """Rows, units and groups of each measurement."""
    sizes = [size * MILLION for size in (1, 3, 10, 30, 100) if size <= most]
    made = [(rows, rows // 5, 10) for rows in sizes]
    middle = min(3, most) * MILLION
    others = [(middle, middle // 50, 10), (middle, middle // 2, 10), (middle, middle // 5, 1000)]
    return made[:-1] + others + made[-1:]  # the longest last


def make_table(server, rows, units, groups):
    server.psql("DROP TABLE IF EXISTS narrow")
    server.psql(f"""CREATE UNLOGGED TABLE narrow AS SELECT (i * 48271 % {units})::int8 AS patient,
        (abs(hashint8(i)::int8) % {groups})::int8 AS ward, (i % 31)::int8 AS stay
        FROM generate_series(1::int8, {rows}::int8) AS s(i)""")
    server.psql("VACUUM ANALYZE narrow")


def measure(cluster, server, number, groups):
    """Seconds, processor seconds of brume and of the server, KiB."""
    environment = {**os.environ, "BRUME_LEDGER": os.path.join(cluster.folder, f"linear{number}.db")}
    domain = ",".join(str(i) for i in range(groups))
    subprocess.run([cluster.brume, "register", "narrow", server.url, "--table", "narrow", "--unit", "patient", "--budget",
                    "epsilon=10", "--bounds", "stay=0..30", "--domain", "ward=" + domain], env=environment, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    before, began = server.processor_time(), time.monotonic()
    process = subprocess.Popen([cluster.brume, "query", "SELECT ward, COUNT(*) AS n, SUM(stay) AS s FROM narrow GROUP BY ward",
                                "--epsilon", "1", "--limit", "n=6", "--limit", "s=100", "--where", "engine", "--json"],
                               env=environment, stdout=subprocess.DEVNULL)
    _, status, use = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    if status != 0:
        sys.exit("cluster: the query failed")
    return wall, use.ru_utime + use.ru_stime, server.processor_time() - before, use.ru_maxrss


def main(brume, visits_program, rest):
    most = int(rest[0]) if rest else 100
    print(HEADER, flush=True)
    with Cluster(os.path.abspath(brume), visits_program) as cluster:
        server = cluster.servers[0]
        server.psql("ALTER SYSTEM SET max_parallel_workers_per_gather = 0")
        server.psql("SELECT pg_reload_conf()")
        for number, (rows, units, groups) in enumerate(shapes(most)):
            make_table(server, rows, units, groups)
            wall, here, there, memory = measure(cluster, server, number, groups)
            print(f"postgresql,{rows},{units},{groups},{wall:.2f},{here:.2f},{there:.2f},{memory}", flush=True)
    return 0
