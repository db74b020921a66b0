"""A PostgreSQL client in a few lines, for what real clients never send; and `brume serve --pg`."""
import base64
import hashlib
import hmac
import os
import socket
import struct
import subprocess

from server import SOON, Server, check


class PgServer(Server):
    """`brume serve` with the PostgreSQL protocol as well."""

    def __init__(self, programs, *options, pg="127.0.0.1:0", quantum="0.05", **how):
        super().__init__(programs, "--quantum", quantum, "--pg", pg, *options, **how)

    def serve(self):
        super().serve()
        line = self.process.stdout.readline()  # it follows the first one at once, or the process ends
        check(line.startswith("listening on postgresql:"), f"{line!r} {self.log_text()[-500:]}")
        self.pg_port = int(line.rsplit(":", 1)[1])
        return self

    def libpq(self, user="ann", options="", **more):
        """The environment in which libpq connects as this user."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PG") and k != "LD_PRELOAD"}
        return {**environment, "PGHOST": "127.0.0.1", "PGPORT": str(self.pg_port), "PGUSER": user,
                "PGDATABASE": "brume", "PGPASSWORD": self.tokens.get(user, user), "PGOPTIONS": options,
                "PGCONNECT_TIMEOUT": "30", **more}

    def psql(self, *commands, **how):
        """Standard output and standard error of psql, for commands that are given one after another."""
        words = [word for command in commands for word in ("-c", command)]
        done = subprocess.run(["psql", "-X", "-A", "-t", *words], env=self.libpq(**how), text=True,
                              capture_output=True, timeout=SOON, stdin=subprocess.DEVNULL)
        return done.stdout, done.stderr

    def raw(self):
        return Raw(socket.create_connection(("127.0.0.1", self.pg_port), timeout=SOON))


def text(value):
    return value.encode() + b"\0"


def message(kind, body=b""):
    return kind + struct.pack("!i", len(body) + 4) + body


def startup(**parameters):
    body = struct.pack("!i", 3 << 16) + b"".join(text(k) + text(v) for k, v in parameters.items()) + b"\0"
    return struct.pack("!i", len(body) + 4) + body


class Raw:
    """A connection whose messages are written by hand."""

    def __init__(self, connection):
        self.socket = connection

    def send(self, data):
        self.socket.sendall(data)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def receive(self):
        """The type and the body of one message."""
        kind = self.exactly(1)
        return kind, self.exactly(struct.unpack("!i", self.exactly(4))[0] - 4)

    def until(self, kind):
        """Messages up to one of this type, or to the end of the connection (then `None` is last)."""
        got = []
        try:
            while not got or got[-1][0] != kind:
                got.append(self.receive())
        except (EOFError, ConnectionResetError):
            got.append(None)
        return got

    def rest(self):
        """All bytes until the connection ends."""
        data = b""
        try:
            while part := self.socket.recv(65536):
                data += part
        except ConnectionResetError:
            pass
        return data

    def login(self, user, token):
        """The whole start; the messages after the proof, and the server's first SCRAM message."""
        self.send(startup(user=user, database="brume"))
        kind, body = self.receive()
        check(kind == b"R" and b"SCRAM-SHA-256\0" in body, (kind, body))
        first = "n=,r=" + base64.b64encode(os.urandom(18)).decode()
        data = ("n,," + first).encode()
        self.send(message(b"p", text("SCRAM-SHA-256") + struct.pack("!i", len(data)) + data))
        kind, body = self.receive()
        check(kind == b"R" and body[:4] == struct.pack("!i", 11), (kind, body))
        server = body[4:].decode()
        parts = dict(part.split("=", 1) for part in server.split(","))
        salted = hashlib.pbkdf2_hmac("sha256", token.encode(), base64.b64decode(parts["s"]), int(parts["i"]))
        key = hmac.digest(salted, b"Client Key", "sha256")
        final = f"c=biws,r={parts['r']}"
        signature = hmac.digest(hashlib.sha256(key).digest(), f"{first},{server},{final}".encode(), "sha256")
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature))).decode()
        self.send(message(b"p", f"{final},p={proof}".encode()))
        return self.until(b"Z"), parts

    def query(self, sql):
        self.send(message(b"Q", text(sql)))
        return self.until(b"Z")

    def close(self):
        self.socket.close()


def error_of(messages):
    """SQLSTATE and text of the first error among messages; None if there is none."""
    for one in messages:
        if one and one[0] == b"E":
            fields = {part[:1]: part[1:].decode() for part in one[1].split(b"\0") if part}
            return fields[b"C"], fields[b"M"]
    return None
