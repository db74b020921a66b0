"""cluster_spark.py BRUME CLINIC_VISITS --linear [MILLIONS]: what a query costs where the rows lie, against rows, units and
groups.

Narrow tables of the shapes of cluster_linear.py, from one million rows to MILLIONS (100): a count and a sum by group under
typed limits. The smallest is asked three times before, so that Java has compiled. Printed as CSV: the engine, rows, units,
groups, seconds, processor seconds of brume and of Spark, and the largest memory of brume in KiB. tools/docs/scale-model
reads it."""
import os
import subprocess
import time

from cluster_linear import HEADER, shapes
from cluster_spark import Dataset, Server, fail

SQL = "SELECT ward, COUNT(*) AS n, SUM(stay) AS s FROM {table} GROUP BY ward"


def make_table(server, table, rows, units, groups):
    server.sql(f"""CREATE TABLE {table} USING parquet AS SELECT id * 48271 % {units} AS patient,
        pmod(xxhash64(id), {groups}) AS ward, id % 31 AS stay FROM range(0, {rows})""")


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
    print(HEADER, flush=True)
    try:
        for number, (rows, units, groups) in enumerate(shapes(most)):
            table = f"narrow{number}"
            make_table(server, table, rows, units, groups)
            dataset = Dataset(brume, server, table, "--unit", "patient", "--bounds", "stay=0..30", "--domain",
                              "ward=" + ",".join(str(i) for i in range(groups)))
            for _ in range(3 if number == 0 else 0):
                ask(dataset, table)
            wall, here, there, memory = ask(dataset, table)
            print(f"spark,{rows},{units},{groups},{wall:.2f},{here:.2f},{there:.2f},{memory}", flush=True)
            server.sql(f"DROP TABLE {table}")
    finally:
        server.stop()
    return 0
