"""cluster postgresql --streams [VISITS]: rows streamed on one connection against two, where each connection has a
limited speed and nothing else is the limit.

The connections go through a small program here that hands on a fixed number of bytes a second on each of them, as a
network or a server with processors to spare would; so little that the processors of this machine, which do the work of
server and client, have time to spare. Asked in turns, three times each; the ratio is that of the medians. Beside it the
processor time of both, without the limit: what a second connection costs more."""
import os
import socket
import statistics
import sys
import threading
import time

from cluster_servers import Cluster

RATE = 1 << 19  # bytes a second on each connection
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def pump(from_socket, to_socket, rate):
    """Hand bytes on until there are no more, not faster than `rate` (None: as they come)."""
    began, sent = time.monotonic(), 0
    try:
        while data := from_socket.recv(16384):
            to_socket.sendall(data)
            sent += len(data)
            ahead = sent / rate - (time.monotonic() - began) if rate else 0
            if ahead > 0:
                time.sleep(ahead)
        to_socket.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side has gone: the other one is told by the end of its own


def serve(listener, path):
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        server = socket.socket(socket.AF_UNIX)
        server.connect(path)
        for arguments in ((client, server, None), (server, client, RATE)):
            threading.Thread(target=pump, args=arguments, daemon=True).start()


def slow_url(cluster, server):
    """A URL of the server, by way of a socket on which every connection is slow."""
    folder = os.path.join(cluster.folder, "slow")
    os.mkdir(folder)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/.s.PGSQL.{server.port}")
    listener.listen(16)
    path = f"{server.folder}/.s.PGSQL.{server.port}"
    threading.Thread(target=serve, args=(listener, path), daemon=True).start()
    return f"postgresql://brume@/postgres?host={folder.replace('/', '%2F')}&port={server.port}"


def main(brume, visits_program, rest):
    visits = int(rest[0]) if rest else 400000
    with Cluster(brume, visits_program) as cluster:
        cluster.fill(visits)
        server = cluster.servers[0]
        fast = cluster.clinic("fast", server)
        server.url = slow_url(cluster, server)
        slow = cluster.clinic("slow", server)
        walls, costs = {1: [], 2: []}, {1: [], 2: []}
        for _ in range(3):
            for connections in (1, 2):
                _, wall, _, _ = slow.measure(lambda: slow.ask(SQL, ["--limit", "6"], "brume", connections))
                walls[connections].append(wall)
                _, _, here, there = fast.measure(lambda: fast.ask(SQL, ["--limit", "6"], "brume", connections))
                costs[connections].append(here + there)
        one, two = statistics.median(walls[1]), statistics.median(walls[2])
        print(f"{visits} visits, {RATE >> 10} KiB a second on each connection, seconds:")
        print(f"  one connection {one:.2f}, two {two:.2f}: {one / two:.2f} times as fast")
        cost = [statistics.median(costs[n]) for n in (1, 2)]
        print(f"without that limit, processor seconds of brume and server: {cost[0]:.2f} and {cost[1]:.2f}")
        if one / two < 1.7:
            sys.exit("cluster: two connections are not 1.7 times as fast as one")
    return 0
