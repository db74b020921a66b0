#!/usr/bin/env python3
"""Real clients against `brume serve --pg`, in TAP: psycopg 3, SQLAlchemy with pandas, pgJDBC, R.

    run_pg_clients.py DIRECTORY_OF_BRUME BUILD

The Python packages come from PyPI into BUILD/pg-clients; pgJDBC and R's RPostgreSQL are Debian's
(libpostgresql-jdbc-java, default-jdk-headless, r-cran-rpostgresql). What is not there is skipped.
"""
import os
import shutil
import subprocess
import sys

from pg_client import PgServer
from server import check

HERE = os.path.dirname(os.path.abspath(__file__))
JAR = "/usr/share/java/postgresql.jar"
NEEDED = ["psycopg[binary]==3.3.9", "SQLAlchemy==2.1.8", "pandas==3.1.1"]


def python(build):
    """An interpreter that has the packages; made once. None: PyPI does not answer."""
    place = os.path.join(build, "pg-clients")
    program = os.path.join(place, "bin", "python")
    probe = [program, "-c", "import psycopg, sqlalchemy, pandas"]
    if os.path.exists(program) and subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0:
        return program
    subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
    done = subprocess.run([program, "-m", "pip", "-q", "--disable-pip-version-check", "install", *NEEDED])
    return program if done.returncode == 0 else None


def run(programs, command, **environment):
    with PgServer(programs) as server:
        words = command(server)
        done = subprocess.run(words, env=server.libpq(**environment), cwd=server.folder, text=True,
                              capture_output=True, timeout=600, stdin=subprocess.DEVNULL)
        check(done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        check(server.holds(), "the ledger")


def main(programs, build):
    interpreter = python(build)
    java, rscript = shutil.which("java"), shutil.which("Rscript")
    has_r = rscript and subprocess.run([rscript, "-e", "library(RPostgreSQL)"], capture_output=True).returncode == 0
    clients = [
        ("psycopg, SQLAlchemy and pandas", interpreter,
         lambda server: [interpreter, os.path.join(HERE, "pg_clients.py")]),
        ("pgJDBC", java and os.path.exists(JAR),
         lambda server: [java, "-cp", JAR, os.path.join(HERE, "PgJdbc.java"),
                         f"jdbc:postgresql://127.0.0.1:{server.pg_port}/brume", "ann", server.tokens["ann"]]),
        ("R", has_r, lambda server: [rscript, os.path.join(HERE, "pg_clients.R")]),
    ]
    failed = 0
    print(f"1..{len(clients)}")
    for number, (name, there, command) in enumerate(clients, 1):
        try:
            if there:
                run(programs, command)
            print(f"ok {number} - {name}" + ("" if there else " # SKIP it is not installed"), flush=True)
        except (AssertionError, subprocess.SubprocessError) as fault:
            failed = 1
            print(f"not ok {number} - {name}")
            print("\n".join("# " + line for line in str(fault).splitlines()), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(*map(os.path.abspath, sys.argv[1:])))
