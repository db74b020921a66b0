"""cluster_spark.py BRUME CLINIC_VISITS [ROWS]: the clinic on a Spark Connect server, and what it costs.

Installs pyspark and the ADBC driver for Spark from PyPI into build/spark (once), starts a Spark Connect server on this
machine alone in a temporary folder, asks the clinic through brume, streamed and where the rows lie, checks that the
answers agree (epsilon is so large that the noise is below 1e-2 but with a probability below 1e-20), measures, and stops
it. Then a table in which nearly every row is a pair of its own, of a tenth as many units as rows and 1,024 keys: brume
where the rows lie, beside SQL that one would write by hand. ROWS is 200000 unless said. Every statement runs twice, and
the second time counts, because the first compiles it. Processor time is that of brume and of the server.

    cluster_spark.py BRUME CLINIC_VISITS --kills [RUNS [WAY...]]  executors and servers that go away
    cluster_spark.py BRUME CLINIC_VISITS --pairs [ROWS]   the second table alone
    cluster_spark.py BRUME CLINIC_VISITS --linear [MILLIONS]  cost against rows
    cluster_spark.py BRUME CLINIC_VISITS --tables [ROWS]  the clinic as Parquet, Delta and Iceberg tables
    cluster_spark.py BRUME CLINIC_VISITS --forms [PEOPLE]  timelines, links, statistics: as on files and PostgreSQL
    cluster_spark.py --run PROGRAM [ARGUMENT...]          run PROGRAM beside a server: BRUME_TEST_SPARK is its URL
"""
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, "build", "spark")
PACKAGES = ["pyspark==4.1.3", "adbc-driver-spark==0.3.0"]
WARDS = ["emergency", "medicine", "surgery", "maternity", "cardiology", "neurology", "oncology"]
ASKED = [("visits by ward", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", ["--limit", "6"]),
         ("days by age", "SELECT age, SUM(stay) AS days FROM visits GROUP BY age", []),
         ("means by ward", "SELECT ward, COUNT(*) AS n, AVG(stay) AS mean FROM visits GROUP BY ward", [])]
KEYS = 1024
# Four groups of a unit and three rows in each, by hash: what one would write without brume's limits.
BY_HAND = """SELECT k, count(*) AS units, sum(n) AS n, sum(nx) AS nx, sum(CAST(s AS decimal(28,0))) AS s FROM (
 SELECT k, n, nx, s, row_number() OVER (PARTITION BY u ORDER BY xxhash64(11L, 12L, u, k), k) AS g FROM (
  SELECT u, k, count(*) AS n, count(x) AS nx, coalesce(sum(x - 2500), 0) AS s FROM (
   SELECT u, k, x, row_number() OVER (PARTITION BY u, k ORDER BY xxhash64(13L, 14L, u, k, x), x) AS r FROM
    (SELECT /*+ REPARTITION(u) */ u, k, CASE WHEN v < 0 THEN 0L WHEN v > 5000 THEN 5000L ELSE v END AS x FROM pairs
     WHERE u IS NOT NULL) AS a) AS b WHERE r <= 3 GROUP BY u, k) AS c) AS d WHERE g <= 4 GROUP BY k"""
# For small tables: to compile less is quicker.
QUICK = [("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
         ("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"),
         ("spark.sql.shuffle.partitions", 2)]
PLAIN = "SELECT k, count(*), sum(v) FROM pairs GROUP BY k"


def fail(text):
    sys.exit("cluster: " + text)


def site_packages():
    folder = os.path.join(VENV, "lib")
    return os.path.join(folder, os.listdir(folder)[0], "site-packages")


def install():
    if not os.path.exists(os.path.join(VENV, "bin", "python")):
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    done = subprocess.run([os.path.join(VENV, "bin", "pip"), "install", "-q", *PACKAGES], check=False)
    if done.returncode != 0:
        fail("pyspark and adbc-driver-spark could not be installed from PyPI")


def java_home():
    for name in ("java-17-openjdk-amd64", "java-17-openjdk-arm64", "java-1.17.0-openjdk"):
        if os.path.exists("/usr/lib/jvm/" + name):
            return "/usr/lib/jvm/" + name
    return os.environ.get("JAVA_HOME")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A Spark Connect server in a folder of its own, on 127.0.0.1 alone."""

    def __init__(self, master="local[2]", memory="2g", settings=()):
        self.folder = tempfile.mkdtemp(prefix="brume-spark-")
        self.master, self.memory = master, memory
        self.settings = [(key, str(value).replace("{folder}", self.folder)) for key, value in settings]
        self.port, self.process, self.python = free_port(), None, None
        self.url = f"spark://127.0.0.1:{self.port}"
        self.driver = os.path.join(site_packages(), "adbc_driver_spark", "libadbc_driver_spark.so")
        self.environment = {**os.environ, "SPARK_HOME": os.path.join(site_packages(), "pyspark"),
                            "SPARK_LOCAL_IP": "127.0.0.1", "BRUME_SPARK_DRIVER": self.driver,
                            "BRUME_TEST_SPARK": self.url}
        if java_home():
            self.environment["JAVA_HOME"] = java_home()
        try:
            self.start()
        except BaseException:  # also an interrupt: no server is left behind
            self.stop()
            raise

    def start(self):
        values = {"spark.connect.grpc.binding.port": self.port, "spark.connect.grpc.binding.address": "127.0.0.1",
                  "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
                  "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": 4,
                  "spark.sql.warehouse.dir": self.folder + "/warehouse", "spark.local.dir": self.folder + "/scratch",
                  "spark.sql.catalogImplementation": "hive",
                  "spark.hadoop.javax.jdo.option.ConnectionURL":
                      f"jdbc:derby:;databaseName={self.folder}/metastore;create=true",
                  "spark.log.level": "WARN", **dict(self.settings)}
        command = [os.path.join(self.environment["SPARK_HOME"], "bin", "spark-submit"), "--class",
                   "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", self.master,
                   "--driver-memory", self.memory]
        for key, value in values.items():
            command += ["--conf", f"{key}={value}"]
        with open(self.folder + "/server.log", "a", encoding="utf-8") as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen([*command, "spark-internal"], cwd=self.folder, env=self.environment,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        for _ in range(3000):
            if self.process.poll() is not None:
                fail("the Spark server ended: " + open(self.folder + "/server.log", encoding="utf-8").read()[-3000:])
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.2)
        fail("the Spark server did not start")

    def kill(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.python:
            self.python.stdin.close()
            self.python.wait()
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def sql(self, *statements):
        """Run statements in a process of its own, which stays; the rows of the last one."""
        program = ("import sys, json, adbc_driver_spark.dbapi as d\n"
                   f"c = d.connect('sc://127.0.0.1:{self.port}').cursor()\n"
                   "for line in sys.stdin:\n"
                   "  c.execute(json.loads(line)); print(json.dumps([[str(x) for x in r] for r in c.fetchall()]), "
                   "flush=True)\n")
        if not self.python or self.python.poll() is not None:
            # pylint: disable-next=consider-using-with
            self.python = subprocess.Popen([os.path.join(VENV, "bin", "python"), "-c", program], text=True,
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for statement in statements:
            self.python.stdin.write(json.dumps(statement) + "\n")
            self.python.stdin.flush()
            rows = self.python.stdout.readline()
            if not rows:
                fail("Spark failed: " + statement)
        return json.loads(rows)

    def processor_time(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


class Dataset:
    """A table of the server, registered in a ledger of its own."""

    def __init__(self, brume, server, table, *options, budget="epsilon=1e12", ledger=None):
        self.brume, self.server, self.asked = os.path.abspath(brume), server, 0
        self.environment = {**server.environment, "BRUME_LEDGER": f"{server.folder}/{ledger or table}.db"}
        self.call("register", table.split(".")[-1], server.url, "--table", table, "--budget", budget, *options)

    def run(self, *arguments):
        return subprocess.run([self.brume, *arguments], env=self.environment, capture_output=True, text=True,
                              cwd=self.server.folder, check=False)

    def call(self, *arguments):
        done = self.run(*arguments)
        if done.returncode != 0:
            fail(f"{' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def ask(self, sql, options, where):
        self.asked += 1  # another price, so that it is asked and not read again
        return json.loads(self.call("query", sql, "--epsilon", str(1e9 + self.asked), "--where", where, "--json",
                                    *options))["rows"]

    def events(self):
        return json.loads(self.call("history", "--json"))["events"]


def measure(server, work):
    """What the second time makes, and its seconds: by the clock, of brume, of the server."""
    work()
    use, there, began = resource.getrusage(resource.RUSAGE_CHILDREN), server.processor_time(), time.monotonic()
    made = work()
    wall, now = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    here = now.ru_utime + now.ru_stime - use.ru_utime - use.ru_stime
    return made, wall, here, server.processor_time() - there


def show(title, way, result):
    _, wall, here, there = result
    print(f"{title:<22} {way:<22} {wall:7.2f} {here:9.2f} {there:10.2f}", flush=True)


def near(one, other):
    pairs = [pair for left, right in zip(one, other) for pair in zip(left, right)]
    return len(one) == len(other) and all(
        a == b or (isinstance(a, (int, float)) and abs(a - b) < 1e-2) for a, b in pairs)


def make_visits(server, visits_program, visits):
    path = os.path.join(server.folder, "visits.parquet")
    subprocess.run([visits_program, path, str(visits), str(max(1, visits // 5))], check=True)
    server.sql(f"CREATE TABLE visits USING parquet AS SELECT * FROM parquet.`{path}`")


def clinic(brume, server, table="visits", **how):
    return Dataset(brume, server, table, "--unit", "patient", "--bounds", "stay=0..30", "--bounds", "age=0..100",
                   "--domain", "ward=" + ",".join(WARDS), "--domain", "age=" + ",".join(str(i) for i in range(101)), **how)


def run_clinic(brume, server):
    dataset = clinic(brume, server)
    for title, sql, options in ASKED:
        answers = []
        for way, where in (("streamed", "brume"), ("where the rows lie", "engine")):
            result = measure(server, lambda: dataset.ask(sql, options, where))
            answers.append(result[0])
            show(title, way, result)
        if not near(*answers):
            fail(f"the answers to {sql} differ:\n{answers[0]}\n{answers[1]}")


def run_pairs(brume, server, rows):
    server.sql(f"""CREATE TABLE pairs USING parquet AS SELECT pmod(xxhash64(id, 1), {max(1, rows // 10)}) AS u,
        pmod(xxhash64(id, 2), {KEYS}) AS k, pmod(xxhash64(id, 3), 5001) AS v FROM range(0, {rows})""")
    dataset = Dataset(brume, server, "pairs", "--unit", "u", "--bounds", "v=0..5000",
                      "--domain", "k=" + ",".join(str(i) for i in range(KEYS)))
    title, sql = "sum of 1,024 keys", "SELECT k, SUM(v) AS s FROM pairs GROUP BY k"
    limit = ["--limit", "30000"]
    for _ in range(3):  # so that Java has compiled what all of them share
        dataset.ask(sql, limit, "engine")
        server.sql(BY_HAND)
    there = measure(server, lambda: dataset.ask(sql, limit, "engine"))
    show(title, "where the rows lie", there)
    by_hand = measure(server, lambda: server.sql(BY_HAND))
    show(title, "SQL by hand, no noise", by_hand)
    print(f"where the rows lie against SQL by hand: {(there[2] + there[3]) / by_hand[3]:.2f} of its processor time",
          flush=True)
    here = measure(server, lambda: dataset.ask(sql, limit, "brume"))
    show(title, "streamed", here)
    if not near(here[0], there[0]):
        fail("the answers differ")
    show(title + ", chosen", "where the rows lie", measure(server, lambda: dataset.ask(sql, [], "engine")))
    show(title, "without limits", measure(server, lambda: server.sql(PLAIN)))


# --- what can be started ------------------------------------------------------------------------------

def run_beside(words):
    install()
    server = Server(settings=QUICK)
    try:
        return subprocess.run(words, env=server.environment, check=False).returncode
    finally:
        server.stop()


def main(brume, visits_program, rest):
    install()
    if rest and rest[0] == "--kills":
        import cluster_spark_kills  # it needs this file, as the next ones do
        return cluster_spark_kills.main(brume, visits_program, rest[1:])
    if rest and rest[0] == "--linear":
        import cluster_spark_linear
        return cluster_spark_linear.main(brume, int(rest[1]) if len(rest) > 1 else 100)
    if rest and rest[0] == "--tables":
        import cluster_tables
        return cluster_tables.main(brume, visits_program, int(rest[1]) if len(rest) > 1 else 20000)
    if rest and rest[0] == "--forms":
        import cluster_spark_forms
        return cluster_spark_forms.main(brume, visits_program, rest[1:])
    pairs_only = bool(rest) and rest[0] == "--pairs"
    rows = int(rest[pairs_only]) if len(rest) > pairs_only else 200000
    server = Server(memory="2g" if rows > 2000000 else "1g")
    try:
        print(f"{rows} rows, {os.cpu_count()} processors, Spark with 2 of them")
        print(f"{'asked':<22} {'way':<22} {'seconds':>7} {'of brume':>9} {'of Spark':>10}")
        if not pairs_only:
            make_visits(server, visits_program, rows)
            run_clinic(brume, server)
        run_pairs(brume, server, rows)
    finally:
        server.stop()
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no server is left behind
    if len(sys.argv) > 2 and sys.argv[1] == "--run":
        sys.exit(run_beside(sys.argv[2:]))
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
