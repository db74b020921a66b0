"""cluster_spark.py BRUME CLINIC_VISITS --linear [MILLIONS]: what a query costs where the rows lie on Spark, against rows.

Tables of narrow rows, from one million of them to MILLIONS (100), five of a unit and in ten groups, a count and a sum
by group under typed limits. The smallest is asked three times before, so that Java has compiled. Printed as CSV: rows,
units, groups, seconds, processor seconds of brume and of Spark, and the largest memory of brume in KiB."""
import os
import subprocess
import time

from cluster_spark import Dataset, Server, fail

MILLION = 1000000
GROUPS = 10
SQL = "SELECT ward, COUNT(*) AS n, SUM(stay) AS s FROM {table} GROUP BY ward"


def make_table(server, rows):
    table = f"narrow{rows // MILLION}"
    server.sql(f"""CREATE TABLE {table} USING parquet AS SELECT id * 48271 % {rows // 5} AS patient,
        pmod(xxhash64(id), {GROUPS}) AS ward, id % 31 AS stay FROM range(0, {rows})""")
    return table


def ask(dataset, table):
    """Seconds, processor seconds of brume and of the server, KiB."""
    dataset.asked += 1
    before, began = dataset.server.processor_time(), time.monotonic()
    # pylint: disable-next=consider-using-with
    process = subprocess.Popen([dataset.brume, "query", SQL.format(table=table), "--epsilon", str(dataset.asked),
                                "--limit", "n=6", "--limit", "s=100", "--where", "engine", "--json"],
                               env=dataset.environment, stdout=subprocess.DEVNULL)
    _, status, use = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    if status != 0:
        fail("the query failed")
    return wall, use.ru_utime + use.ru_stime, dataset.server.processor_time() - before, use.ru_maxrss


def main(brume, most):
    server = Server(memory="3g", settings=[("spark.sql.shuffle.partitions", 64)])
    print("rows,units,groups,seconds,brume,server,memory", flush=True)
    try:
        for size in (1, 3, 10, 30, 100):
            if size > most:
                break
            rows = size * MILLION
            table = make_table(server, rows)
            dataset = Dataset(brume, server, table, "--unit", "patient", "--bounds", "stay=0..30", "--domain",
                              "ward=" + ",".join(str(i) for i in range(GROUPS)))
            for _ in range(3 if size == 1 else 0):
                ask(dataset, table)
            wall, here, there, memory = ask(dataset, table)
            print(f"{rows},{rows // 5},{GROUPS},{wall:.2f},{here:.2f},{there:.2f},{memory}", flush=True)
    finally:
        server.stop()
    return 0
