"""What the tests of `brume serve` share: a folder with a registered table, users, and a server."""
import http.client
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from processes import Folder, check  # noqa: E402  (the path is set above)

COUNT = "SELECT COUNT(*) AS n FROM visits"
SOON = 60  # seconds; machines are busy


class Answer:
    """What came back: a code, headers, bytes, and how long it took."""

    def __init__(self, response, seconds):
        self.code, self.headers, self.seconds = response.status, response.headers, seconds
        self.bytes = response.read()

    @property
    def json(self):
        return json.loads(self.bytes)

    def __repr__(self):
        return f"{self.code} {self.bytes[:300]!r} after {self.seconds:.3f} s"


class Server(Folder):
    """A ledger with `visits`, users owner, ann, bob and carl (an auditor), and `brume serve` on it."""

    def __init__(self, programs, *options, rows=200, budget="epsilon=10", before=(), register=True,
                 environment=None, tls=False, ceilings=True):
        super().__init__(programs)
        self.environment.update(environment or {})
        self.options, self.before, self.tls, self.process = options, before, tls, None
        self.tokens = {}
        if register:
            self.write_visits(rows)
            self.run("register", "visits", "visits.csv", "--unit", "person", "--budget", budget,
                     "--bounds", "age=0..100",
                     *(("--max-groups", "1", "--max-rows", "1") if ceilings else ()))
            self.add_users()
        if tls:
            self.make_certificate()

    def add_users(self):
        for name, role in (("owner", "owner"), ("ann", "analyst"), ("bob", "analyst"), ("carl", "auditor")):
            self.tokens[name] = self.json("user", "add", name, "--role", role)["token"]

    def make_certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-keyout", self.path("key.pem"), "-out", self.path("cert.pem"), "-days",
                        "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
        os.chmod(self.path("key.pem"), 0o600)

    def serve(self):
        """Start it, and wait until it listens."""
        keys = ("--tls-cert", "cert.pem", "--tls-key", "key.pem") if self.tls else ()
        self.log = open(self.path("log.jsonl"), "a", encoding="utf-8")
        self.process = subprocess.Popen(
            [*self.before, self.program, "serve", "--listen", "127.0.0.1:0", *keys, *self.options],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.log, text=True)
        ready = select.select([self.process.stdout], [], [], SOON)[0]
        line = self.process.stdout.readline() if ready else ""
        check(line.startswith("listening on"), f"it does not listen: {line!r} {self.log_text()[-500:]}")
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def log_text(self):
        with open(self.path("log.jsonl"), encoding="utf-8") as file:
            return file.read()

    def end(self, how=signal.SIGTERM):
        """End it; its exit code."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(timeout=SOON)
        self.process.stdout.close()
        self.log.close()
        self.process = None
        return code

    def __enter__(self):
        return self.serve()

    def __exit__(self, *fault):
        if self.end() not in (0, None) and fault[0] is None:
            raise AssertionError("the server did not end with code 0: " + self.log_text()[-500:])
        self.close()

    def connect(self, timeout=SOON):
        if not self.tls:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        context = ssl.create_default_context(cafile=self.path("cert.pem"))
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=context)

    def socket(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=SOON)

    def ask(self, method, path, token=None, body=None, headers=None, connection=None):
        """One request. `token`: a user's name, or a text that is none of them; `body`: JSON or bytes."""
        own = connection or self.connect()
        sent = dict(headers or {})
        if token is not None:
            sent.setdefault("Authorization", "Bearer " + self.tokens.get(token, token))
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        start = time.monotonic()
        try:
            own.request(method, path, body=body, headers=sent)
            response = own.getresponse()
            return Answer(response, time.monotonic() - start)
        finally:
            if connection is None:
                own.close()

    def query(self, token="ann", sql=COUNT, epsilon=0.01, **options):
        return self.ask("POST", "/v1/query", token, {"sql": sql, "epsilon": epsilon, **options})

    def spent(self):
        return self.json("budget", "visits")["spent"]["epsilon"]
