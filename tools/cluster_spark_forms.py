"""cluster_spark.py BRUME CLINIC_VISITS --forms [PEOPLE]: what people do over time, links, statistics and SQL over released
groups, on a Spark server, on PostgreSQL and on files.

The tables of bench/sql/timeline_*.yaml are made here, small, with times that are often equal and with values that are
missing, and are the same in all three places. Every question must have the same answer in all of them (epsilon is so
large that the noise is below 1e-2 but with a probability below 1e-20), or be refused in words, for nothing, where it
cannot be asked. PEOPLE is 400 unless said. PostgreSQL is started beside."""
import csv
import datetime
import json
import os
import random
import re
import subprocess
import sys

import cluster_spark
from cluster_spark import QUICK, ROOT, Server, fail, near

TABLES = {
    "users": "user_id INT, signed_up DATE, country STRING",
    "sessions": "session_id INT, user_id INT, started_at TIMESTAMP, device STRING",
    "events": "event_id INT, session_id INT, happened_at TIMESTAMP, kind STRING",
    "orders": "order_id INT, user_id INT, ordered_at TIMESTAMP, amount DECIMAL(10,2)",
    "patients": "patient_id INT, born DATE, sex STRING",
    "stays": "stay_id INT, patient_id INT, admitted_at TIMESTAMP, discharged_at TIMESTAMP, ward STRING",
    "labs": "lab_id INT, stay_id INT, taken_at TIMESTAMP, test STRING, value DECIMAL(8,2)",
}
FURTHER = [
    "SELECT COUNT(DISTINCT user_id) FILTER (WHERE amount > 500) AS heavy, COUNT(DISTINCT user_id) AS all_of_them FROM orders",
    "SELECT CORR(n, total) AS r FROM (SELECT user_id, LEAST(COUNT(*), 50) AS n, LEAST(SUM(amount), 5000) AS total FROM orders "
    "GROUP BY user_id) AS t",
    "SELECT REGR_SLOPE(value, CLAMP(stay_id % 7, 0, 6)) AS slope, COVAR_POP(value, CLAMP(stay_id % 7, 0, 6)) AS c FROM labs",
    "SELECT country, COUNT(*) AS n FROM users u WHERE user_id IN (SELECT user_id FROM orders WHERE amount > 200) GROUP BY country",
    "SELECT country, COUNT(*) AS n FROM users u WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.user_id = u.user_id "
    "AND s.device = 'phone') GROUP BY country",
    "SELECT kind, COUNT(*) AS n, COUNT(DISTINCT session_id) AS sessions FROM events GROUP BY kind",
    "SELECT s.device, e.kind, COUNT(*) AS n FROM sessions s JOIN events e USING (session_id) GROUP BY s.device, e.kind",
    "SELECT u.country, COUNT(*) AS n FROM users u JOIN sessions s ON s.user_id = u.user_id JOIN events e ON e.session_id = "
    "s.session_id WHERE e.kind = 'buy' GROUP BY u.country",
    "SELECT device, n, n - LAG(n) OVER (ORDER BY device) AS more FROM (SELECT device, COUNT(*) AS n FROM sessions GROUP BY "
    "device) AS t",
    "WITH months AS (SELECT date_trunc('month', ordered_at) AS month, SUM(amount) AS revenue FROM orders GROUP BY 1) SELECT "
    "EXTRACT(YEAR FROM month) AS year, SUM(revenue) AS revenue FROM months GROUP BY 1",
    "SELECT country, n, RANK() OVER (ORDER BY n DESC) AS place FROM (SELECT country, COUNT(*) AS n FROM users GROUP BY country) AS t",
    "SELECT COUNT(*) AS n, AVG(so_far) AS so_far FROM (SELECT user_id, SUM(amount) OVER (PARTITION BY user_id ORDER BY ordered_at, "
    "order_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS so_far FROM orders WHERE amount < 10) AS t WHERE so_far < 5000",
    "SELECT kind, COUNT(*) AS n FROM (SELECT kind, LEAD(kind) OVER (PARTITION BY session_id ORDER BY happened_at, event_id) AS "
    "after FROM events) AS t WHERE after = 'buy' GROUP BY kind",
    "SELECT device, COUNT(*) AS n FROM (SELECT DISTINCT ON (user_id) user_id, device FROM sessions ORDER BY user_id, started_at "
    "DESC) AS t GROUP BY device",
    "SELECT COUNT(*) AS n FROM (SELECT ordered_at - LAG(ordered_at) OVER (PARTITION BY user_id ORDER BY ordered_at, order_id) AS "
    "gap FROM orders) AS t WHERE gap > INTERVAL '90 days'",
    "SELECT width_bucket(amount, 0, 1000, 5) AS bin, COUNT(*) AS n FROM orders GROUP BY bin",
    "SELECT date_trunc('quarter', admitted_at) AS quarter, COUNT(*) AS n FROM stays GROUP BY quarter",
    "SELECT ward, COUNT(*) AS n FROM stays s WHERE EXISTS (SELECT 1 FROM labs l WHERE l.stay_id = s.stay_id AND l.test = 'sodium' "
    "AND l.value > 100) GROUP BY ward",
]


def questions():
    with open(os.path.join(ROOT, "bench/sql/timeline.sql"), encoding="utf-8") as file:
        text = "".join(line for line in file if not line.startswith("--"))
    return [each.strip() for each in text.split(";\n") if each.strip()] + FURTHER


def some_time(chance, first, days):
    if chance.random() < 0.02:
        return ""
    return str(datetime.datetime(first, 1, 1) + datetime.timedelta(days=chance.randrange(days), hours=chance.choice([8, 12])))


def make_rows(people):
    """The tables as rows of text; an empty one is NULL."""
    chance = random.Random(7)
    rows = {name: [] for name in TABLES}
    for i in range(1, people + 1):
        day = datetime.date(2023, 1, 1) + datetime.timedelta(days=chance.randrange(600))
        rows["users"].append([i, day, chance.choice(["DE", "FR", "PL", "US", ""])])
        rows["patients"].append([i, datetime.date(1930, 1, 1) + datetime.timedelta(days=chance.randrange(30000)),
                                 chance.choice("fm")])
    for i in range(1, 4 * people + 1):
        rows["sessions"].append([i, chance.randrange(people) + 1, some_time(chance, 2023, 60),
                                 chance.choice(["desktop", "phone", "tablet", ""])])
        rows["orders"].append([i, chance.randrange(people) + 1 if chance.random() > 0.01 else "", some_time(chance, 2023, 700),
                               chance.choice(["", f"{chance.randrange(90000) / 100:.2f}", "5.00"])])
    for i in range(1, 10 * people + 1):
        rows["events"].append([i, chance.randrange(4 * people) + 1, some_time(chance, 2023, 60),
                               chance.choice(["view", "view", "add", "buy"])])
    for i in range(1, 3 * people + 1):
        begin = datetime.datetime(2022, 1, 1) + datetime.timedelta(hours=6 * chance.randrange(3600))
        rows["stays"].append([i, chance.randrange(people) + 1, begin, begin + datetime.timedelta(hours=chance.randrange(480)),
                              chance.choice(["surgery", "medicine", "maternity", "intensive"])])
    for i in range(1, 8 * people + 1):
        rows["labs"].append([i, chance.randrange(3 * people) + 1, some_time(chance, 2022, 900),
                             chance.choice(["creatinine", "sodium", "lactate"]), f"{chance.randrange(4000) / 10:.2f}"])
    return rows


def make_tables(server, people):
    """The rows as files, as tables of Spark and of PostgreSQL, and what Spark stores as Parquet files."""
    statements = []
    for name, rows in make_rows(people).items():
        path = os.path.join(server.folder, name + ".csv")
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
        columns = TABLES[name].replace(" TIMESTAMP", " TIMESTAMP_NTZ")
        server.sql(f"CREATE TABLE text_{name} ({columns}) USING csv OPTIONS (path '{path}')",
                   f"CREATE TABLE {name} USING parquet AS SELECT * FROM text_{name}")
        statements.append(f"CREATE TABLE {name} ({TABLES[name].replace(' STRING', ' TEXT')});")
        with open(path, encoding="utf-8") as file:
            statements.append(f"COPY {name} FROM STDIN (FORMAT csv);\n{file.read()}\\.\n")
    done = subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", os.environ["BRUME_TEST_POSTGRESQL"]],
                          input="\n".join(statements), text=True, capture_output=True, check=False)
    if done.returncode != 0:
        fail("PostgreSQL: " + done.stderr)


def register(brume, server, place):
    """The two policies, for tables that lie in one place; returns how to ask there."""
    environment = {**server.environment, "BRUME_LEDGER": f"{server.folder}/{place}.db"}
    for policy in ("shop", "ward"):
        with open(os.path.join(ROOT, f"bench/sql/timeline_{policy}.yaml"), encoding="utf-8") as file:
            text = file.read().replace("epsilon: 100000", "epsilon: 1e12")
        sources = {"spark": server.url, "postgresql": os.environ["BRUME_TEST_POSTGRESQL"]}

        def locate(match):
            if place == "files":
                return f"source: {server.folder}/warehouse/{match[1]}/*.parquet"
            return f"source: {sources[place]}\n    table: {match[1]}"
        path = f"{server.folder}/{place}_{policy}.yaml"
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"source: (\w+)\.parquet", locate, text))
        done = subprocess.run([brume, "register", policy, "--policy", path], env=environment, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            fail(f"register {policy} of {place}: {done.stderr}")
    return environment


def ask(brume, environment, sql, epsilon, where):
    done = subprocess.run([brume, "query", sql, "--epsilon", epsilon, "--delta", "1e-9", "--json", "--where", where],
                          env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)["rows"], None
    return None, done.stderr.strip()


def main(brume, visits_program, rest):
    if "BRUME_TEST_POSTGRESQL" not in os.environ:
        os.execv(os.path.join(ROOT, "tests/support/with-cluster"),
                 ["with-cluster", sys.executable, os.path.join(ROOT, "tools/cluster_spark.py"), brume, visits_program,
                  "--forms", *rest])
    brume, server, differ = os.path.abspath(brume), Server(settings=QUICK), 0
    try:
        make_tables(server, int(rest[0]) if rest else 400)
        ways = [(place, where, register(brume, server, place) if where == "brume" else None)
                for place, where in (("files", "brume"), ("postgresql", "brume"), ("spark", "brume"))]
        ways += [(place, "engine", environment) for place, _, environment in ways[1:]]
        print("question " + " ".join(f"{place + (', there' if where == 'engine' else ''):>17}" for place, where, _ in ways))
        for number, sql in enumerate(questions(), 1):
            epsilon, words, said = str(1e9 + number), [], []
            first = None
            for place, where, environment in ways:
                rows, error = ask(brume, environment, sql, epsilon + ("1" if where == "engine" else ""), where)
                if error:
                    words.append("refused")
                    said.append(f"         {place}, {where}: {error}")
                elif first is None or near(first, rows):
                    words.append("same" if first is not None else f"{len(rows)} rows")
                    first = rows
                else:
                    words.append("OTHER")
                    said.append(f"         {place}, {where}: {rows}\n         first: {first}")
                    differ += 1
            print(f"{number:>8} " + " ".join(f"{word:>17}" for word in words), flush=True)
            if said:
                print("\n".join([f"         {' '.join(sql.split())}", *said]), flush=True)
    finally:
        server.stop()
    if differ:
        fail(f"{differ} answers differ")
    return 0
