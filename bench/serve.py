#!/usr/bin/env python3
"""`brume serve` under load.

    bench/serve.py BRUME CLINIC_VISITS [--seconds N] [--rate N] [--connections N] [--rows N] [--analysts N]

Two measurements. First so many open connections, over which so many requests a second go, explanations and
free re-reads in turn, for N seconds (300): the time from when a request was due to the end of its answer,
and the server's memory. Then analysts who ask at once, each for more than there is together: what was spent
must be the budget exactly, every answer charged once. The clients run on the same machine.
"""
import argparse
import asyncio
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

QUESTIONS = ["SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
             "SELECT ward, AVG(stay) AS stay, AVG(cost) AS cost FROM visits GROUP BY ward",
             "SELECT COUNT(*) AS n FROM visits WHERE age >= 65",
             "SELECT MEDIAN(age) AS age FROM visits WHERE ward = 'cardiology'"]


class Clinic:
    """The demo's data, users and a server, in a temporary folder."""

    def __init__(self, brume, make_visits, rows, users, budget):
        self.folder = tempfile.mkdtemp(prefix="brume-bench-")
        self.brume = os.path.abspath(brume)
        subprocess.run([os.path.abspath(make_visits), "visits.parquet", str(rows), str(rows // 5)], check=True,
                       cwd=self.folder)
        self.run("register", "visits", "visits.parquet", "--unit", "patient", "--budget", budget, "--max-groups",
                 "2", "--max-rows", "2", "--bounds", "age=0..100", "--bounds", "stay=0..30", "--bounds",
                 "cost=0..5200", "--domain",
                 "ward=emergency,medicine,surgery,maternity,cardiology,neurology,oncology")
        self.tokens = [self.run("user", "add", f"analyst{i}", "--role", "analyst")["token"] for i in range(users)]
        self.server = subprocess.Popen([self.brume, "serve", "--listen", "127.0.0.1:0", "--quiet", "--rate", "0",
                                        "--queue", "10000", "--deadline", "600"], cwd=self.folder,
                                       stdout=subprocess.PIPE, text=True)
        select.select([self.server.stdout], [], [], 60)
        self.port = int(self.server.stdout.readline().rsplit(":", 1)[1])

    def run(self, *words):
        done = subprocess.run([self.brume, *words, "--json"], cwd=self.folder, check=True, capture_output=True,
                              text=True)
        return json.loads(done.stdout)

    def memory(self):
        """Resident memory of the server in MiB."""
        with open(f"/proc/{self.server.pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) / 1024
        return 0

    def processor(self):
        """Processor seconds that the server has used."""
        with open(f"/proc/{self.server.pid}/stat", encoding="ascii") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.server.terminate()
        self.server.wait(timeout=60)
        self.server.stdout.close()
        shutil.rmtree(self.folder)


class Link:
    """A connection that is kept, one request at a time."""

    def __init__(self, port):
        self.port, self.busy = port, asyncio.Lock()

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def ask(self, token, path, body):
        data = json.dumps(body).encode()
        head = (f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n")
        async with self.busy:
            self.writer.write(head.encode() + data)
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            return int(head.split()[1]), await self.reader.readexactly(length)


def quantile(times, share):
    return times[min(len(times) - 1, int(share * len(times)))]


async def load(clinic, connections, rate, seconds):
    links = await asyncio.gather(*(Link(clinic.port).open() for _ in range(connections)))
    for sql in QUESTIONS:  # paid once; read again for free below
        code, body = await links[0].ask(clinic.tokens[0], "/v1/query", {"sql": sql, "epsilon": 0.1})
        assert code == 200, body
    times, bad, tasks, memory = [], [], [], []
    used, start = clinic.processor(), time.monotonic() + 0.5

    async def one(number, due):
        sql, token = QUESTIONS[number // 2 % len(QUESTIONS)], clinic.tokens[number % len(clinic.tokens)]
        path = "/v1/explain" if number % 2 else "/v1/query"
        code, body = await links[number % connections].ask(token, path, {"sql": sql, "epsilon": 0.1})
        times.append(time.monotonic() - due)
        if code != 200 or (path == "/v1/query" and b'"cached": true' not in body):
            bad.append((code, body[:200]))

    for number in range(int(rate * seconds)):
        due = start + number / rate
        await asyncio.sleep(max(0, due - time.monotonic()))
        tasks.append(asyncio.create_task(one(number, due)))
        if number % int(rate * seconds / 10) == 0:
            memory.append(clinic.memory())
    await asyncio.gather(*tasks)
    memory.append(clinic.memory())
    took = time.monotonic() - start
    times.sort()
    print(f"{connections} connections, {len(times)} requests in {took:.1f} s ({len(times) / took:.0f}/s), "
          f"{len(bad)} not as they should be")
    print(f"time: median {1e3 * quantile(times, .5):.1f} ms, p99 {1e3 * quantile(times, .99):.1f} ms, "
          f"largest {1e3 * times[-1]:.1f} ms")
    print(f"processor time of the server: {1e3 * (clinic.processor() - used) / len(times):.2f} ms a request; load of "
          f"the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("memory of the server, MiB: " + " ".join(f"{one:.0f}" for one in memory))
    for link in links:
        link.writer.close()
    return not bad


async def crowd(clinic, analysts, budget):
    """Each asks four questions of a twentieth of the budget each."""
    price = budget / 20
    links = await asyncio.gather(*(Link(clinic.port).open() for _ in range(4 * analysts)))
    start = time.monotonic()
    got = await asyncio.gather(*(
        links[i].ask(clinic.tokens[i % analysts], "/v1/query",
                     {"sql": f"SELECT COUNT(*) AS n FROM visits WHERE cost > {i}", "epsilon": price})
        for i in range(4 * analysts)))
    answers = [json.loads(body) for code, body in got if code == 200]
    refused = sum(code == 403 for code, _ in got)
    spent = clinic.run("budget", "visits")["spent"]["epsilon"]
    events = clinic.run("history", "visits")["events"]
    holds = clinic.run("ledger", "verify")["holds"]
    print(f"{analysts} analysts, {len(got)} questions at once on {ROWS} rows: {len(answers)} answered, {refused} "
          f"refused, in {time.monotonic() - start:.1f} s; spent {spent} of {budget}; ledger holds: {holds}")
    for link in links:
        link.writer.close()
    return (spent == budget and len(answers) == 20 and len(events) == 20 and refused == len(got) - 20 and holds
            and sum(one["cached"] for one in answers) == 0)


ROWS = 1000000


def main():
    global ROWS
    parser = argparse.ArgumentParser()
    parser.add_argument("brume")
    parser.add_argument("make_visits")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--analysts", type=int, default=50)
    given = parser.parse_args()
    ROWS = given.rows
    good = True
    if given.seconds > 0:
        clinic = Clinic(given.brume, given.make_visits, given.rows, 50, "epsilon=3,delta=1e-7")
        try:
            good = asyncio.run(load(clinic, given.connections, given.rate, given.seconds))
        finally:
            clinic.close()
    if given.analysts > 0:
        clinic = Clinic(given.brume, given.make_visits, given.rows, given.analysts, "epsilon=5")
        try:
            good = asyncio.run(crowd(clinic, given.analysts, 5)) and good
        finally:
            clinic.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
