"""cluster_spark.py BRUME CLINIC_VISITS --tables [ROWS]: the clinic as a Parquet, a Delta and an Iceberg table behind one
Spark server.

The libraries of Delta and Iceberg come from Maven, by Spark's own client, into build/spark/ivy. Each table is registered
and asked, streamed and where the rows lie; the answers must be those of the Parquet table (epsilon is so large that the
noise is below 1e-2 but with a probability below 1e-20). A second name of each table must be refused, because one table
has one budget. So must be views, and what cannot be answered where the rows lie, before it costs anything."""
import os

import cluster_spark
from cluster_spark import Dataset, Server, clinic, fail, near

PACKAGES = ["io.delta:delta-spark_4.1_2.13:4.4.0", "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"]
CATALOG = (("", "org.apache.iceberg.spark.SparkCatalog"), (".type", "hadoop"), (".warehouse", "{folder}/lake"))
SETTINGS = [*cluster_spark.QUICK,
            ("spark.jars.packages", ",".join(PACKAGES)),
            ("spark.jars.ivy", os.path.join(cluster_spark.VENV, "ivy")),
            ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension,"
                                     "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"),
            ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
            *[("spark.sql.catalog." + name + key, value) for name in ("lake", "other") for key, value in CATALOG]]
ASKED = [*cluster_spark.ASKED,
         ("diagnoses", "SELECT diagnosis, COUNT(*) AS n FROM visits WHERE diagnosis <> 'leprosy' GROUP BY diagnosis",
          ["--delta", "1e-9"])]  # without one that few have: whether it is shown depends on which groups units keep
BUDGET = "epsilon=1e12,delta=1e-6"
# What is registered besides, what is asked, and a part of what is said.
REFUSED = [([], "SELECT MEDIAN(stay) AS m FROM visits", "quantiles and modes are drawn from the values"),
           ([], "SELECT MODE() WITHIN GROUP (ORDER BY ward) AS m FROM visits", "drawn from the values"),
           (["--domain", "age=" + ",".join(str(i) for i in range(10001))],
            "SELECT age, COUNT(*) AS n FROM visits GROUP BY age", "more than 10000 declared values")]


def location_of(server, table):
    return next(line[1] for line in server.sql(f"DESCRIBE TABLE EXTENDED {table}") if line[0] == "Location")


def make_tables(server, visits_program, rows):
    """The tables, each with another name of it."""
    cluster_spark.make_visits(server, visits_program, rows)
    server.sql("CREATE TABLE delta_visits USING delta AS SELECT * FROM visits", "CREATE NAMESPACE lake.clinic",
               "CREATE TABLE lake.clinic.visits USING iceberg AS SELECT * FROM visits",
               "CREATE VIEW seen AS SELECT * FROM visits")
    for name, table in (("parquet", "visits"), ("delta", "delta_visits")):
        server.sql(f"CREATE TABLE again_{name} USING {name} LOCATION '{location_of(server, table)}'")
    return [("visits", "again_parquet"), ("delta_visits", "again_delta"), ("lake.clinic.visits", "other.clinic.visits")]


def ask_all(brume, server, table):
    dataset = clinic(brume, server, table, budget=BUDGET)
    name, answers = table.split(".")[-1], []
    for title, sql, options in ASKED:
        both = [dataset.ask(sql.replace("visits", name), options, where) for where in ("brume", "engine")]
        if not near(*both) or not both[0]:
            fail(f"{table}, {title}: the answers differ:\n{both[0]}\n{both[1]}")
        answers.append(both[0])
    return dataset, answers


def check_refused(dataset, said, *words):
    before = len(dataset.events())
    done = dataset.run(*words)
    if done.returncode == 0 or done.stdout or said not in done.stderr:
        fail(f"{' '.join(words)[:200]}: exit {done.returncode}: {done.stdout} {done.stderr}")
    if len([event for event in dataset.events() if event.get("state") != "refused"]) != before:
        fail(f"{' '.join(words)[:200]}: something was charged")


def check_obstacles(brume, server):
    for i, (options, sql, said) in enumerate(REFUSED):
        name = f"kept{i}"
        dataset = Dataset(brume, server, "visits", "--unit", "patient", "--bounds", "stay=0..30", "--domain",
                          "ward=" + ",".join(cluster_spark.WARDS), "--rows-stay", "true", *options, budget=BUDGET,
                          ledger=name)
        check_refused(dataset, said, "query", sql, "--epsilon", "1")
        check_refused(dataset, "needs them in brume, because", "query", sql, "--epsilon", "1")


def main(brume, visits_program, rows):
    server = Server(settings=SETTINGS)
    try:
        tables, first = make_tables(server, visits_program, rows), None
        for table, again in tables:
            dataset, answers = ask_all(brume, server, table)
            first = first or answers
            if not all(near(one, other) for one, other in zip(first, answers)):
                fail(f"{table} answers otherwise:\n{first}\n{answers}")
            for budget in ([], ["--public"]):
                words = budget or ["--unit", "patient", "--budget", BUDGET]
                done = dataset.run("register", "again", server.url, "--table", again, *words)
                if done.returncode == 0:
                    fail(f"{again} got a budget of its own")
            print(f"{table}: the same answers both ways, and no second budget as {again}", flush=True)
        done = dataset.run("register", "seen", server.url, "--table", "seen", "--unit", "patient", "--budget", BUDGET)
        if done.returncode == 0 or "is a view" not in done.stderr:
            fail(f"a view: exit {done.returncode}: {done.stderr}")
        check_obstacles(brume, server)
        print("what cannot be answered where the rows lie is refused by name, and costs nothing", flush=True)
    finally:
        server.stop()
    return 0
