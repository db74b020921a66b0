"""What the tests of real processes share: a folder in which `brume` runs, and TAP."""
import json
import os
import shutil
import subprocess
import sys
import tempfile


def check(condition, text):
    if not condition:
        raise AssertionError(text)


class Folder:
    """A folder of its own, in which `brume` runs."""

    def __init__(self, programs):
        self.folder = tempfile.mkdtemp(prefix="brume-processes-")
        self.program = os.path.join(os.path.abspath(programs), "brume")
        self.environment = {k: v for k, v in os.environ.items() if k != "BRUME_LEDGER"}

    def path(self, name):
        return os.path.join(self.folder, name)

    def write_visits(self, rows):
        with open(self.path("visits.csv"), "w", encoding="utf-8") as file:
            file.write("person,age\n")
            file.writelines(f"p{i},{i % 90}\n" for i in range(rows))

    def start(self, *arguments, before=(), **how):
        how = {"cwd": self.folder, "env": self.environment, "stdout": subprocess.PIPE, **how}
        return subprocess.Popen([*before, self.program, *arguments], stdin=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, **how)

    def brume(self, *arguments, **how):
        """The exit code, standard output and standard error."""
        process = self.start(*arguments, **how)
        out, err = process.communicate(timeout=90)
        return process.returncode, out, err

    def run(self, *arguments):
        """Standard output of what must succeed."""
        code, out, err = self.brume(*arguments)
        check(code == 0, f"brume {arguments[0]}: exit {code}: {err}")
        return out

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--json"))

    def states(self):
        return [event["state"] for event in self.json("history", "visits")["events"]]

    def holds(self):
        return self.json("ledger", "verify")["holds"] is True

    def close(self):
        shutil.rmtree(self.folder)


def run_tests(tests):
    """Run pairs of a name and a function without arguments, in TAP; the exit code."""
    print(f"1..{len(tests)}")
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} - {name}")
        except (AssertionError, subprocess.SubprocessError, ValueError, KeyError, OSError) as fault:
            failed += 1
            print(f"not ok {number} - {name}")
            print("\n".join("# " + line for line in str(fault).splitlines()[:20]))
        sys.stdout.flush()
    return 1 if failed else 0


def run_functions(functions, programs):
    """The same for functions of the programs' folder that are named for what holds."""
    return run_tests([(test.__name__.replace("_", " "), lambda test=test: test(programs))
                      for test in functions])
