"""Sessions that are opened and closed in one process, a question in each: memory must stay flat.

    python python/bench/sessions.py [SESSIONS]     10,000 unless said; exit 1 if memory grows
    python python/bench/sessions.py --forget N     leak N sessions, for a check that must find them

Each session asks a question whose answer is on the ledger, every tenth a new one, and drops the rows
unread. The first tenth of the sessions fills what is filled once (caches); after it the heap may grow by
less than 40 bytes for each session, as in tests/session/test_threads.c.
"""

import ctypes
import gc
import os
import random
import sys
import tempfile
import time

import brume


def resident():
    """Bytes of memory that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class MallocInfo(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


_libc = ctypes.CDLL(None)
_libc.mallinfo2.restype = MallocInfo


def heap():
    """Bytes that C's allocator has given out."""
    gc.collect()
    info = _libc.mallinfo2()
    return info.uordblks + info.hblkhd


def files():
    return len(os.listdir("/proc/self/fd"))


def one(number):
    with brume.connect("brume.db", progress=False, must_exist=True) as con:
        least = number // 10 if number % 10 == 0 else 0
        con.query(f"SELECT town, COUNT(*) AS n FROM survey WHERE age > {least} GROUP BY town", epsilon=1)


def main(sessions):
    people = random.Random(7)
    with open("survey.csv", "w") as file:
        file.write("person,town,age\n")
        file.writelines(f"{i},{people.choice('ABC')},{people.randint(18, 90)}\n" for i in range(100))
    with brume.connect("brume.db", progress=False) as con:
        con.register("survey", "survey.csv", unit="person", budget=f"epsilon={sessions}",
                     bounds={"age": "0..100"}, domain={"town": "A,B,C"})
    start, before, files_before = time.time(), 0, 0
    for number in range(sessions):
        if number == sessions // 10:
            before, files_before = heap(), files()
        one(number)
        if number % (sessions // 10) == sessions // 10 - 1:
            print(f"{number + 1:6} sessions  {resident() / 1e6:8.2f} MB resident  {heap() / 1e6:8.3f} MB of heap"
                  f"  {files()} files  {time.time() - start:6.1f} s", flush=True)
    grown = (heap() - before) / (sessions - sessions // 10)
    print(f"{grown:.1f} bytes of heap for each session after the first tenth")
    return 0 if grown < 40 and files() == files_before else 1


def forget(sessions):
    """Open sessions and lose their handles."""
    for _ in range(sessions):
        brume.connect("brume.db", progress=False)._session._handle = None
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if sys.argv[1:2] == ["--forget"]:
            result = forget(int(sys.argv[2]))
        else:
            result = main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
        os.chdir("/")
    sys.exit(result)
