"""PostgreSQL servers of the system's packages in a folder of their own, and the clinic on them: what the commands of
`./run cluster postgresql` share."""
import json
import os
import pathlib
import pwd
import resource
import shutil
import subprocess
import sys
import tempfile
import time

COLUMNS = "patient int8, ward text, diagnosis text, age int8, stay int8, cost numeric(10,2), day date"
WARDS = ["emergency", "medicine", "surgery", "maternity", "cardiology", "neurology", "oncology"]


def find_programs():
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    name = str(found[-1]) if found else shutil.which("initdb")
    if not name:
        sys.exit("cluster: no PostgreSQL server programs found (Debian's package: postgresql)")
    return os.path.dirname(name)


class Server:
    """One server, whose socket is in its own folder."""

    def __init__(self, programs, folder, port, user, options=""):
        self.programs, self.port, self.user, self.options = programs, port, user, options
        self.folder = os.path.join(folder, str(port))
        os.mkdir(self.folder)
        if user:
            shutil.chown(self.folder, user)
        self.url = f"postgresql://brume@/postgres?host={self.folder.replace('/', '%2F')}&port={port}"
        self.control("initdb", "-D", self.folder + "/data", "-U", "brume", "-A", "trust", "-E", "UTF8",
                     "--locale=C.UTF-8", "--no-sync")
        self.start()

    def start(self):
        options = (f"-c listen_addresses='' -c port={self.port} -k {self.folder} -c fsync=off "
                   f"-c shared_buffers=128MB -c work_mem=64MB -c max_wal_size=4GB {self.options}")
        self.control("pg_ctl", "-D", self.folder + "/data", "-w", "-t", "60", "-l", self.folder + "/data/server.log",
                     "-o", options, "start")
        with open(self.folder + "/data/postmaster.pid", encoding="ascii") as file:
            self.process = int(file.readline())

    def control(self, program, *arguments):
        how = {"cwd": self.folder, "stdout": subprocess.DEVNULL, "check": True}
        become = ["runuser", "-u", self.user, "--"] if self.user else []
        subprocess.run([*become, os.path.join(self.programs, program), *arguments], **how)

    def stop(self):
        """At once, as if it were killed; nothing where it does not run."""
        if os.path.exists(self.folder + "/data/postmaster.pid"):
            self.control("pg_ctl", "-D", self.folder + "/data", "-m", "immediate", "-w", "stop")

    def psql(self, sql):
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, self.url], check=True,
                              capture_output=True, text=True)
        return done.stdout

    def load(self, csv, table="visits"):
        subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c",
                        f"\\copy {table} FROM '{csv}' (FORMAT csv, HEADER)", self.url], check=True)

    def has_sessions(self):
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
                with open(f"/proc/{name}/cmdline", encoding="ascii", errors="replace") as file:
                    title = file.read()  # empty while it ends
                    if parent == self.process and (not title or title.startswith("postgres: brume")):
                        return True
            except (OSError, ValueError, IndexError):
                pass  # it has ended, or is no process
        return False

    def processor_time(self):
        """Of the server and of its sessions, which are counted when they have ended."""
        for _ in range(200):
            if not self.has_sessions():
                break
            time.sleep(0.05)
        with open(f"/proc/{self.process}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def make_tables(servers, csv):
    alone, first, *shards = servers
    alone.psql(f"CREATE TABLE visits ({COLUMNS})")
    alone.load(csv)
    first.psql(f"CREATE EXTENSION postgres_fdw; CREATE TABLE visits ({COLUMNS}) PARTITION BY HASH (patient)")
    for i, shard in enumerate(shards):
        shard.psql(f"CREATE TABLE everywhere ({COLUMNS}) PARTITION BY HASH (patient)")
        for j, name in ((i, "visits"), (1 - i, "elsewhere")):  # a server keeps the rows of its own partition
            shard.psql(f"CREATE TABLE {name} PARTITION OF everywhere FOR VALUES WITH (MODULUS 2, REMAINDER {j})")
        shard.load(csv, "everywhere")
        shard.psql("DROP TABLE elsewhere")
        first.psql(f"""CREATE SERVER shard{i} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{shard.folder}',
            port '{shard.port}', dbname 'postgres', fetch_size '10000', async_capable 'true');
            CREATE USER MAPPING FOR brume SERVER shard{i} OPTIONS (user 'brume');
            CREATE FOREIGN TABLE visits{i} PARTITION OF visits FOR VALUES WITH (MODULUS 2, REMAINDER {i})
                SERVER shard{i} OPTIONS (table_name 'visits')""")
    for server in [*shards, alone, first]:
        server.psql("ANALYZE")
    first.psql("ANALYZE visits")  # with its foreign partitions, which ANALYZE alone leaves out


class Clinic:
    """A server's visits, registered in a ledger of their own."""

    def __init__(self, name, brume, server, servers, folder, policy=None):
        self.name, self.server, self.servers = name, server, servers
        self.brume, self.folder, self.asked = os.path.abspath(brume), folder, 0
        self.ledger = os.path.join(folder, name.replace(" ", "-") + ".db")
        policy = policy or ["--bounds", "stay=0..30", "--bounds", "age=0..100", "--domain", "ward=" + ",".join(WARDS),
                            "--domain", "age=" + ",".join(str(i) for i in range(101))]
        self.call("register", "visits", server.url, "--table", "visits", "--unit", "patient", "--budget",
                  "epsilon=1e12,delta=1e-6", *policy)

    def environment(self, connections=2):
        return {**os.environ, "BRUME_LEDGER": self.ledger, "BRUME_CONNECTIONS": str(connections)}

    def call(self, *arguments, connections=2):
        done = subprocess.run([self.brume, *arguments], env=self.environment(connections), capture_output=True, text=True,
                              cwd=self.folder, check=False)
        if done.returncode != 0:
            sys.exit(f"cluster: {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def ask(self, sql, options, where, connections=2):
        self.asked += 1  # another price, so that it is asked and not read again
        return json.loads(self.call("query", sql, "--epsilon", str(1e9 + self.asked), "--where", where, "--json",
                                    *options, connections=connections))["rows"]

    def spent(self):
        use = resource.getrusage(resource.RUSAGE_CHILDREN)
        return use.ru_utime + use.ru_stime, sum(server.processor_time() for server in self.servers)

    def measure(self, work):
        here, there = self.spent()
        began = time.monotonic()
        made = work()
        wall = time.monotonic() - began
        now = self.spent()
        return made, wall, now[0] - here, now[1] - there


class Cluster:
    """Servers in a folder of their own, until they are stopped: one alone, one that coordinates, two shards."""

    def __init__(self, brume, visits_program, options=""):
        self.brume, self.visits_program, self.options = brume, visits_program, options
        self.folder, self.servers = tempfile.mkdtemp(prefix="brume-cluster-"), []
        os.chmod(self.folder, 0o755)

    def __enter__(self):
        user = None
        if os.getuid() == 0:
            user = "postgres" if "postgres" in [entry.pw_name for entry in pwd.getpwall()] else "nobody"
        programs = find_programs()
        try:
            for port in range(5441, 5445):
                self.servers.append(Server(programs, self.folder, port, user, self.options))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.stop()
        shutil.rmtree(self.folder)

    def make_visits(self, visits):
        csv = os.path.join(self.folder, "visits.csv")
        subprocess.run([self.visits_program, csv, str(visits), str(max(1, visits // 5))], check=True)
        return csv

    def fill(self, visits):
        make_tables(self.servers, self.make_visits(visits))

    def clinic(self, name, server, policy=None):
        return Clinic(name, self.brume, server, self.servers, self.folder, policy)
