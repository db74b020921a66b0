#!/usr/bin/env python3
"""brume shell at a terminal, driven as a person would: usage run_shell.py BRUME.

Every step types something and waits for what must come; the budget is read afterwards, so that a
shell that spends without asking, or asks and spends nothing, is found."""
import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time

BRUME = os.path.abspath(sys.argv[1])
PATIENCE = 60  # seconds; a step takes a fraction of one


class Terminal:
    def __init__(self, words, folder, rows=24, **environment):
        self.seen = ""
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.environ.update(TERM="xterm", HOME=folder, LC_ALL="C.UTF-8", **environment)
            os.execv(BRUME, [BRUME, *words])
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))

    def type(self, text):
        os.write(self.file, text.encode())

    def read(self):
        """More of what the terminal shows; False at its end."""
        ready, _, _ = select.select([self.file], [], [], 0.1)
        if not ready:
            return True
        try:
            piece = os.read(self.file, 65536)
        except OSError:
            return False
        self.seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r", "", piece.decode("utf-8", "replace"))
        return bool(piece)

    def expect(self, pattern):
        """Wait for the pattern in what was shown since the last match; the match."""
        end = time.monotonic() + PATIENCE
        while True:
            match = re.search(pattern, self.seen)
            if match:
                self.seen = self.seen[match.end():]
                return match
            if time.monotonic() > end or not self.read():
                sys.exit(f"run_shell: expected {pattern!r}, got {self.seen!r}")

    def leave(self):
        end = time.monotonic() + PATIENCE
        while self.read() and time.monotonic() < end:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def brume(folder, *words):
    return subprocess.run([BRUME, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def spent(folder):
    return json.loads(brume(folder, "budget", "visits", "--json"))["spent"]["epsilon"]


def check(what, holds):
    if not holds:
        sys.exit(f"run_shell: {what}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "visits.csv"), "w") as out:
            out.write("person,town,age\n")
            for i in range(300):
                out.write(f"{i},town{i % 40},{i % 90}\n")
        domain = ",".join(f"town{i}" for i in range(40))
        brume(folder, "register", "visits", "visits.csv", "--unit", "person", "--budget", "epsilon=10",
              "--bounds", "age=0..100", "--domain", f"town={domain}", "--max-rows", "1", "--max-groups", "1")

        for name, head in (("people", "name,street"), ("stays", "name,days")):
            with open(os.path.join(folder, f"{name}.csv"), "w") as out:
                out.write(f"{head}\n1,2\n")
        with open(os.path.join(folder, "clinic.yaml"), "w") as out:
            out.write("budget: epsilon=1\ntables:\n  people: {source: people.csv, unit: name}\n"
                      "  stays: {source: stays.csv, link: name = people.name}\n")
        brume(folder, "register", "clinic", "--policy", "clinic.yaml")

        one = Terminal(["shell"], folder, PAGER="sed s/^/paged:/")
        one.expect(r"No price is set")
        one.expect("brume> ")
        # without a price nothing runs
        one.type("SELECT COUNT(*) FROM visits;\n")
        one.expect(r"neither a price nor an accuracy")
        one.expect("brume> ")
        one.type("\\epsilon zero\n")
        one.expect(r"'zero' is no number above 0")
        one.type("\\epsilon 0.5\n")
        one.expect(r"each statement costs epsilon 0.5")
        # completion: a table's name, a column's name, a backslash word
        one.type("SELECT AVG(ag\t")
        one.expect(r"AVG\(age")
        one.type("\x03")  # Ctrl-C drops the line
        one.expect("brume> ")
        one.type("\\expl\tSELECT COUNT(*) FROM vis\t\n")
        one.expect(r"price: epsilon 0.5")
        one.expect("brume> ")
        check("explain spent something", spent(folder) == 0)
        # asked, and no
        one.type("SELECT COUNT(*) AS n\n")
        one.expect("-> ")
        one.type("FROM visits; \n")
        one.expect(r"this costs epsilon 0.5; noise at 95 %: n ± \d")
        one.expect(r"spend it\? \[y/N\] ")
        one.type("n\n")
        one.expect("nothing was spent")
        check("spent although the answer was no", spent(folder) == 0)
        # asked, and Ctrl-C is a no
        one.type("SELECT COUNT(*) AS n FROM visits;\n")
        one.expect(r"\[y/N\] ")
        one.type("\x03")
        one.expect("nothing was spent")
        # asked, and yes
        one.type("SELECT COUNT(*) AS n FROM visits;\n")
        one.expect(r"\[y/N\] ")
        one.type("y\n")
        one.expect(r"left: epsilon 9.5")
        check("a yes spends the price once", spent(folder) == 0.5)
        # semicolons in texts and comments end nothing
        one.type("SELECT COUNT(*) AS n FROM visits WHERE town = 'a;b' -- no; end\n")
        one.expect("-> ")
        one.type(";\n")
        one.expect(r"\[y/N\] ")
        one.type("n\n")
        one.expect("brume> ")
        # lines with a backslash work within a statement, but not within quotes or a comment
        one.type("SELECT COUNT(*) AS n FROM visits\n")
        one.expect("-> ")
        one.type("\\explain\n")
        one.expect(r"price: epsilon 0.5")
        one.expect("-> ")
        one.type("\\nonsense\n")
        one.expect(r"there is no '.nonsense'")
        one.expect("-> ")
        one.type("\\budget visits\n")
        one.expect(r"epsilon 9.5 of 10 left")
        one.expect("-> ")
        one.type("WHERE town = 'x\n")
        one.expect("-> ")
        one.type("\\q\n")
        one.expect("-> ")
        one.type("' /*\n")
        one.expect("-> ")
        one.type("\\reset\n")
        one.expect("-> ")
        one.type("*/\n")
        one.expect("-> ")
        one.type("\\reset\n")
        one.expect("dropped")
        one.expect("brume> ")
        check("a line within a statement spent something", spent(folder) == 0.5)
        # a policy's tables and their columns are completed: by their names, and behind the dataset's
        one.type("SELECT COUNT(*) FROM peo\t")
        one.expect(r"FROM people ")
        one.type("JOIN clinic.st\tUSING (nam\t")
        one.expect(r"clinic.stays USING \(name ")
        one.type("\x03")
        one.expect("brume> ")
        one.type("SELECT AVG(day\t")
        one.expect(r"AVG\(days ")
        one.type("\x03")
        one.expect("brume> ")
        # a long answer goes through the pager
        one.type("\\ask off\n")
        one.expect("not asked")
        one.type("SELECT town, COUNT(*) AS n FROM visits GROUP BY town;\n")
        one.expect(r"paged:town39")
        one.expect("brume> ")
        # the line before comes back with the arrow up
        one.type("\\budget visits\n")
        one.expect(r"epsilon 9 of 10 left")
        one.type("\x1b[A\n")
        one.expect(r"epsilon 9 of 10 left")
        one.type("\\nonsense\n")
        one.expect(r"there is no '.nonsense'")
        one.type("\\q\n")
        check("the shell ends with code 0", one.leave() == 0)
        history = os.path.join(folder, ".brume_history")
        check("the history is readable by others", os.stat(history).st_mode & 0o077 == 0)
        check("the history has the statements", "visits" in open(history).read())

        # "brume" alone is a shell; the history is there again; Ctrl-D leaves
        two = Terminal([], folder)
        two.expect("brume> ")
        two.type("\x1b[A\x1b[A")
        two.expect(r"nonsense|budget")
        two.type("\x03")
        two.expect("brume> ")
        two.type("\x04")
        check("Ctrl-D ends with code 0", two.leave() == 0)
        three = Terminal([], folder)
        three.expect("brume> ")
        three.type("SELECT 1\n")
        three.expect("-> ")
        three.type("  \\q\n")
        check("a statement that is begun keeps nobody", three.leave() == 0)

        # from a pipe: no questions, the first error ends it with its code
        script = "\\epsilon 0.25\nSELECT COUNT(*) FROM visits;\nSELECT nothing FROM visits;\nSELECT COUNT(*) FROM visits;\n"
        run = subprocess.run([BRUME, "shell"], cwd=folder, input=script, capture_output=True, text=True)
        check(f"a script ends at its first error: {run}", run.returncode not in (0, 1) and "nothing" in run.stderr)
        check("the statement before it was answered", spent(folder) == 1.25)


main()
