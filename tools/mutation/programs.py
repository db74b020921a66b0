"""The tests of a room, linked with all faults of its files, and what they say of one."""
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading

from mutation import schema

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build")
INCLUDED = re.compile(r'^#include "([^"]+\.c)"', re.M)
STRICT = ["-Wno-error", "-Werror=implicit-function-declaration", "-Werror=int-conversion",
          "-Werror=incompatible-pointer-types"]


def run(words, **options):
    return subprocess.run(words, cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **options)


def need(words, what):
    done = run(words)
    if done.returncode != 0:
        sys.exit(f"mutate: {what}\n{done.stdout[-3000:]}")
    return done.stdout


class Test:
    """A program, or one of its tests."""

    def __init__(self, known, target, one=None):
        self.known, self.name, self.command, self.target, self.one = known, known["name"], known["cmd"], target, one
        self.slow = any(s.endswith(":slow") for s in known["suite"])
        self.environment, self.seconds, self.seen, self.program = dict(known["env"]), 1.0, set(), None
        self.found, self.tried = {}, {}  # {file, or function: how many faults}
        self.key = None  # of the program as it is linked now, and of this test in it
        if one:
            self.name += ": " + one
            self.environment["BRUME_FAULT_TEST"] = one

    def promise(self, path, function):
        """Faults of the function that it is likely to find in a second: as many as it found there, or in
        the file where it tried few of the function's."""
        share = (self.found.get(path, 0) + 0.05) / (self.tried.get(path, 0) + 1)
        share = (self.found.get(function, 0) + share) / (self.tried.get(function, 0) + 1)
        return share / (self.seconds + 0.02)

    def learn(self, path, function, found):
        for place in (path, function):
            self.tried[place] = self.tried.get(place, 0) + 1
            self.found[place] = self.found.get(place, 0) + found


BY_FILES_TOO = {"touched windows", "replays of windows"}  # where there is no server they run on files alone


def tests_of(folders, pattern, slow):
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        need(["meson", "setup", BUILD, ROOT], "no build")
    need(["ninja", "-C", BUILD, "build.ninja"], "no build")  # tests that are new
    known = json.loads(subprocess.run(["meson", "introspect", BUILD, "--tests", "--targets"], check=True,
                                      capture_output=True).stdout)
    targets = {t["id"]: t["filename"][0] for t in known["targets"]}
    found = []
    for each in known["tests"]:
        suites = [s.split(":")[-1] for s in each["suite"]]
        if "fast" not in suites and not (slow and "slow" in suites):
            continue
        own = [os.path.relpath(targets[d], BUILD) for d in each["depends"] if d in targets]
        own = [t for t in own if any(t.startswith(f"tests/{folder}/test_") for folder in folders)]
        if each["name"] in BY_FILES_TOO:
            each["cmd"] = [os.path.join(BUILD, each["cmd"][1]), *each["cmd"][2:]]
        alone = each["cmd"][0].startswith(BUILD)  # others bring a database server with them
        if len(own) == 1 and alone and re.fullmatch(pattern, each["name"]):
            found.append(Test(each, own[0]))
    return found


class Builder:
    """Compiles what has faults into a folder of its own, and links the tests with it."""

    def __init__(self, place, sanitize):
        self.place, self.refused, self.objects, self.archives = place, {}, {}, {}
        self.flags = ["-fsanitize=address"] if sanitize else []
        with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
            self.commands = {each["output"]: each for each in json.load(file)}
        os.makedirs(place, exist_ok=True)

    def write(self, path, text):
        """Where it was; a file that stays as it was keeps its time."""
        full = os.path.join(self.place, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        if not os.path.exists(full) or open(full, encoding="utf-8").read() != text:
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        return full

    def words(self, output, path):
        """How the object is compiled; ccache, where there is one, knows whether it has to be."""
        words = shlex.split(self.commands[output]["command"])
        words = words[:words.index("-MD")] + ["-g0", "-fdiagnostics-color=never", "-include", "stdbool.h", "-iquote",
                                              os.path.join(ROOT, os.path.dirname(path))]
        at = next(i for i, word in enumerate(words) if word.startswith("-I"))
        return words[:at] + ["-I" + os.path.join(self.place, "src")] + words[at:]

    def plant(self, planted):
        """Write all faults: {path: (base, {number: place})}. Those that do not compile are in refused."""
        for path, (base, faults) in sorted(planted.items()):
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                text = file.read()
            output = next(o for o in self.commands if self.source(o) == path)
            while True:
                written = schema.write(path, text, base, faults)
                full = os.path.join(self.place, path)
                if os.path.exists(full) and open(full, encoding="utf-8").read() == written:
                    break  # it did compile
                done = run(self.words(output, path) + STRICT + ["-fsyntax-only", self.write(path + ".new.c", written)])
                wrong = {int(n) for n in re.findall(r"^fault-(\d+):\d+:\d+: error", done.stdout, re.M)}
                if done.returncode == 0:
                    self.write(path, written)
                    break
                if not wrong & set(faults):
                    sys.exit(f"mutate: {path} with its faults does not compile\n{done.stdout[-3000:]}")
                self.refused.setdefault(path, set()).update(wrong)
                faults = {n: fault for n, fault in faults.items() if n not in wrong}
        self.paths = set(planted)

    def source(self, output):
        each = self.commands[output]
        return os.path.relpath(os.path.join(each["directory"], each["file"]), ROOT)

    def has_faults(self, path):
        if path in self.paths:
            return True
        if not path.startswith("tests/"):
            return False
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return any("src/" + each in self.paths for each in INCLUDED.findall(file.read()))

    @staticmethod
    def make(words, made, parts):
        """Run the command, unless it was run before with parts that are as old as they were."""
        now = " ".join(words) + " ".join(str(os.stat(os.path.join(BUILD, part)).st_mtime_ns) for part in parts)
        stamp = hashlib.sha256(now.encode()).hexdigest()
        if os.path.exists(made + ".stamp") and open(made + ".stamp", encoding="utf-8").read() == stamp:
            return
        if os.path.exists(made):
            os.remove(made)
        need(words, f"{os.path.basename(made)} cannot be made")
        with open(made + ".stamp", "w", encoding="utf-8") as file:
            file.write(stamp)

    def object(self, output):
        """The object with its faults, or the sound one where it has none."""
        if output not in self.commands or not self.has_faults(self.source(output)):
            return output
        if output not in self.objects:
            path = self.source(output)
            source = os.path.join(self.place if path in self.paths else ROOT, path)
            made = os.path.join(self.place, "objects", output)
            os.makedirs(os.path.dirname(made), exist_ok=True)
            parts = [source] + [os.path.join(ROOT, path), output]  # the sound object knows its headers
            self.make(self.words(output, path) + ["-O1", "-w", "-Wno-error", *self.flags, "-o", made, "-c", source],
                      made, parts)
            self.objects[output] = made
        return self.objects[output]

    def archive(self, name):
        """The archive with the objects that have faults in the place of the sound ones."""
        if name not in self.archives:
            told = need(["ninja", "-C", BUILD, "-t", "query", name], f"no {name}").split("outputs:")[0]
            members = re.findall(r"^    (\S+\.o)$", told, re.M)
            objects = {m: self.object(m) for m in members}
            if all(m == o for m, o in objects.items()):
                self.archives[name] = name
            else:
                made = os.path.join(self.place, "objects", name)
                os.makedirs(os.path.dirname(made), exist_ok=True)
                self.make(["ar", "qcs", made] + list(objects.values()), made, list(objects.values()))
                self.archives[name] = made
        return self.archives[name]

    def runtime(self, size):
        source = self.write("runtime.c", f"#define SIZE {size}\n" + schema.RUNTIME)
        self.make(["cc", "-O1", "-o", source[:-1] + "o", "-c", source], source[:-1] + "o", [source])
        return source[:-1] + "o"

    def link(self, test, runtime):
        shown = need(["ninja", "-C", BUILD, "-t", "commands", test.target], "no command").strip().split("\n")[-1]
        words = shlex.split(shown)
        at = words.index("-o")
        test.program = os.path.join(self.place, "objects", test.target)
        os.makedirs(os.path.dirname(test.program), exist_ok=True)
        rest = []
        for word in words[at + 2:]:
            inside = word.endswith((".o", ".a")) and not os.path.isabs(word)
            rest.append(word if not inside else
                        self.archive(word) if word.endswith(".a") else self.object(word))
        fast = ["-fuse-ld=gold"] if os.path.exists("/usr/bin/ld.gold") else []
        self.make(words[:at] + self.flags + fast + ["-o", test.program, runtime] + rest, test.program,
                  [word for word in rest if word.endswith((".o", ".a"))])


class Runner:
    """Runs tests, each in an empty folder, with a fault or with none."""

    def __init__(self, place, sanitize):
        self.sanitize = sanitize
        self.folder, self.seen = os.path.join(place, "temporary"), os.path.join(place, "seen")
        os.makedirs(place, exist_ok=True)

    def passes(self, test, fault, seconds, size=0):
        """(did it pass within that time, its seconds of processor time). A fault may make a program run
        for ever, write for ever, or wait for ever."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        environment = dict(os.environ, **test.environment, TMPDIR=self.folder, BRUME_FAULT=str(fault),
                           LD_LIBRARY_PATH=os.path.join(ROOT, "third_party", "duckdb"))
        if self.sanitize:
            environment["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=1"
        if size:
            with open(self.seen, "wb") as file:
                file.write(bytes(size))
            environment["BRUME_FAULT_SEEN"] = self.seen

        def limit():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
            if not self.sanitize:  # it takes more addresses than there is memory
                resource.setrlimit(resource.RLIMIT_AS, (1 << 36, 1 << 36))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))

        before, good = resource.getrusage(resource.RUSAGE_CHILDREN), True
        self.names = []
        with subprocess.Popen([test.program] + test.command[1:], cwd=BUILD, env=environment, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, preexec_fn=limit) as process:
            alarm = threading.Timer(20 + 8 * seconds, os.killpg, (process.pid, signal.SIGKILL))
            alarm.start()
            for line in process.stdout:
                self.names += re.findall(r"^ok \d+ - (\w+)$", line)
                if line.startswith("not ok"):
                    good = False
                    break
            if not good:
                os.killpg(process.pid, signal.SIGKILL)
            good = process.wait() == 0 and good
            alarm.cancel()
            try:
                os.killpg(process.pid, signal.SIGKILL)  # whom it started, and left
            except ProcessLookupError:
                pass
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return good, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def measure(self, program, size, known):
        """The tests of the program that can be run alone, or the program itself, each with its time and
        the functions it calls; known from a run before?"""
        with open(program.program, "rb") as file:
            key = hashlib.sha256(file.read()).hexdigest() + " " + " ".join(program.command[1:])
        if key not in known.found:
            whole = self.measured(program, size)
            if not whole:
                sys.exit(f"mutate: '{program.name}' fails without a fault")
            parts = []
            for name in self.names if len(self.names) > 1 else []:
                part = self.measured(self.part(program, name), size)
                if not part or self.names != [name]:  # it needs the others
                    parts = []
                    break
                parts.append([name, *part])
            known.keep(key, parts or [[None, *whole]])
        found = []
        for name, seconds, seen in known.found[key]:
            found.append(self.part(program, name))
            found[-1].seconds, found[-1].seen = seconds, set(seen)
            found[-1].key = hashlib.sha256(f"{key} {name}".encode()).hexdigest()[:12]
        return found

    @staticmethod
    def part(program, name):
        test = Test(program.known, program.target, name)
        test.program = program.program
        return test

    def measured(self, test, size):
        good, seconds = self.passes(test, 0, 300, size)
        with open(self.seen, "rb") as file:
            return [seconds, [i for i, byte in enumerate(file.read()) if byte]] if good else None

    def attempt(self, tests, path, number, function, effort, passed):
        """'killed by ...', 'not reached', 'survives', or 'undecided' after that many seconds of tests.
        Tests whose keys are in `passed` did not find it before; those that do not now are added."""
        left, spent = [test for test in tests if function in test.seen], 0.0
        if not left:
            return "not reached"
        left = [test for test in left if test.key not in passed]
        while left:
            fitting = [test for test in left if not effort or spent + test.seconds <= effort]
            if not fitting:
                return "undecided"
            test = min(fitting, key=lambda test: (test.slow, -test.promise(path, function)))
            left.remove(test)
            spent += test.seconds
            good, _ = self.passes(test, number, 0.4 + 5 * test.seconds)
            test.learn(path, function, not good)
            if not good:
                return f"killed by {test.name}"
            passed.append(test.key)
        return "survives"
