#!/usr/bin/env python3
"""Planted privacy faults are found by brume audit, each within a minute, in TAP.

    run_planted.py BUILD [--sound | --check] [--only PATTERN] [--samples N] [--record FILE] [--program FILE]

The faults of tests/audit/planted are linked into one copy of the program, where a number in the environment says
which one is there (tools/mutation); neither the working tree nor BUILD is touched. Each is audited as its last line
says, with 8,000 draws on each neighbour where that does not say otherwise, at a confidence of .999. One is found where
the verdict is "violation" after at most a minute of two processors, or where the program stops by itself before it
shows anything. At least 20 of 30 are to be found; what was found of each is printed.

--sound audits the same subjects without a fault: none is to be accused but with probability .001 each. Those that a
sound program refuses are left out. --only takes the faults whose text the pattern matches, --samples is the number of
draws, --record a file that gets a line of JSON for each audit, --program a copy that was linked before. --check only
looks whether the program still has the places of all 30.
"""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLANTED = os.path.join(ROOT, "tests", "audit", "planted")
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True
from mutation import programs, schema  # noqa: E402

SECONDS, DRAWS = 120, 8000  # a minute of two processors
LEAST = 20  # to be found
COLUMNS = "person text, ward text, age bigint, balance bigint, city text"
BOUNDS = ["--bounds", "age=0..100", "--bounds", "balance=-100..100"]
FIXED = ["--max-groups", "2", "--max-rows", "3", "--limits", "fixed"]
# name: (unit, more options)
DATASETS = {"rows": ("row", []), "rows_r": ("row", ["--adjacency", "replace"]),
            "rows_b": ("row", ["--estimate-bias", "0.1"]), "visits": ("person", []),
            "visits_r": ("person", ["--adjacency", "replace"]), "homes": ("person", []),
            "wide": ("row", ["--domain", "city=x,y,z"]),
            "capped": ("person", FIXED), "capped_c": ("person", [*FIXED, "--rule", "concentrated"])}
CLINIC = """budget: epsilon=100,delta=0.1
tables:
  patients: {source: patients.csv, unit: patient, columns: 'patient bigint, pkey bigint'}
  visits2: {source: visits2.csv, link: pkey = patients.pkey, columns: 'pkey bigint, cost bigint'}
  tests: {source: tests.csv, link: pkey = patients.pkey, columns: 'pkey bigint, result bigint'}
  staff: {source: staff.csv, unit: worker, columns: 'worker bigint, skey bigint'}
  shifts: {source: shifts.csv, link: skey = staff.skey, columns: 'skey bigint, hours bigint'}
"""


def load_mutate():
    """tools/mutate, which is no module by its name."""
    loader = importlib.machinery.SourceFileLoader("mutate", os.path.join(ROOT, "tools", "mutate"))
    mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
    loader.exec_module(mutate)
    return mutate


def faults_of(mutate):
    """[(fault, words of the audit)]"""
    listed = mutate.planted_faults(PLANTED, tests_named=False)
    faults = [(fault, shlex.split(fault.rule.split(" $ ")[1])) for fault in listed]
    for fault, _ in faults:
        fault.rule = fault.rule.split(" $ ")[0]
    return faults


def link_of(target):
    """The words that link it, after its name."""
    shown = programs.need(["ninja", "-C", programs.BUILD, "-t", "commands", target], "no command")
    words = shlex.split(shown.strip().split("\n")[-1])
    return words[words.index("-o") + 2:]


def libraries_of(target):
    return [word for word in link_of(target) if word.startswith("-l") or word.endswith((".a", ".so"))]


def number(faults):
    """{path: its first number and its faults by their numbers}, as tools/mutation plants them."""
    planted, bases = {}, {path: i * schema.STEP for i, path in enumerate(sorted({f.path for f, _ in faults}))}
    for fault, _ in faults:
        own = planted.setdefault(fault.path, (bases[fault.path], {}))[1]
        own[len(own) + 1] = (fault.function, *fault.place)
        fault.number = bases[fault.path] + len(own)
    return planted


def build(planted):
    """The program with all faults."""
    builder = programs.Builder(os.path.join(ROOT, "build-mutate", "audited"), False)
    builder.plant(planted)
    if builder.refused:
        sys.exit(f"faults that do not compile: {builder.refused}")
    runtime = builder.runtime(len(planted) * schema.STEP)
    made, inside = os.path.join(builder.place, "brume"), []
    for word in link_of("src/cli/libbrume-program.so"):  # what its libraries are made of, with the faults
        if word in ("-shared", "-Wl,--allow-shlib-undefined"):
            continue
        if word.startswith("src/session/libbrume-sql.so"):
            inside += libraries_of(word)
        elif not word.startswith("libbrume.so"):
            inside.append(word)
    inside = [builder.archive(word) if word.endswith(".a") and not os.path.isabs(word) else word for word in inside]
    main = ["-DBRUME_LINKED", *(f"-I{folder}" for folder in (f"{ROOT}/src", f"{ROOT}/include", "include")),
            f"{ROOT}/src/cli/main.c"]
    builder.make(["cc", "-o", made, *main, runtime] + inside, made,
                 [word for word in inside if word.endswith((".o", ".a"))])
    return made


def run(words, folder, fault):
    environment = dict(os.environ, BRUME_FAULT=str(fault),
                       LD_LIBRARY_PATH=os.path.join(ROOT, "third_party", "duckdb"))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def register(brume, folder):
    """What is registered says what tables are made of; no audit reads the files."""
    for name, (unit, more) in DATASETS.items():
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as file:
            file.write("person,ward,age,balance,city\n" + f"{name},a,1,1,x\n")
        run_or_stop([brume, "register", name, name + ".csv", "--unit", unit, "--budget", "epsilon=100,delta=0.1",
                     "--columns", COLUMNS, *BOUNDS, "--domain", "ward=a,b,c", *more], folder)
    for i, name in enumerate(("patients", "visits2", "tests", "staff", "shifts")):
        column = CLINIC.split(f"source: {name}.csv")[1].split("columns: '")[1].split("'")[0]
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as file:
            file.write(",".join(each.split()[0] for each in column.split(", ")) + f"\n1,{i}\n")
    with open(os.path.join(folder, "clinic.yaml"), "w", encoding="utf-8") as file:
        file.write(CLINIC)
    run_or_stop([brume, "register", "clinic", "--policy", "clinic.yaml"], folder)


def run_or_stop(words, folder):
    done, _ = run(words, folder, 0)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--sound", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--samples", default=str(DRAWS))
    parser.add_argument("--record", default=os.devnull)
    parser.add_argument("--program", help="one that was built before")
    parser.add_argument("--check", action="store_true", help="is each fault of the list in one place?")
    asked = parser.parse_args()
    programs.BUILD = os.path.abspath(asked.build)
    faults = faults_of(load_mutate())
    planted, count = number(faults), 0
    if asked.check:
        print(f"1..1\n{'' if len(faults) == 30 else 'not '}ok 1 - 30 faults, each in one place: {len(faults)}")
        return 0 if len(faults) == 30 else 1
    brume = asked.program or build(planted)
    faults = [each for each in faults if re.search(asked.only, each[0].rule)]
    with tempfile.TemporaryDirectory() as folder, open(asked.record, "a", encoding="utf-8") as record:
        register(brume, folder)
        for fault, words in faults:
            typed = words if "--samples" in words else [*words, "--samples", asked.samples]
            done, seconds = run([brume, "audit", *typed, "--json"], folder, 0 if asked.sound else fault.number)
            if done.returncode != 0:
                stopped = not asked.sound and json.loads(done.stderr)["error"]["code"] == "internal"
                count += stopped  # the program sees by itself that its noise and its limit differ: nothing was shown
                print(f"# {'stopped' if stopped else 'refused'}: {fault.rule}: {done.stderr.strip()}", flush=True)
                continue
            said = json.loads(done.stdout)
            found = said["verdict"] == "violation" and (asked.sound or seconds <= SECONDS)
            count += found
            print(f"# {'found ' if found else 'missed'} {seconds:5.1f} s  epsilon {said['epsilon_lower']:.3f} of "
                  f"{said['epsilon_claimed']:.3f}, delta {said['delta_lower']:.2g} of {said['delta']:.2g}: {fault.rule}"
                  f"; {said['witness']['neighbours']}", flush=True)
            record.write(json.dumps({"fault": fault.rule, "seconds": seconds, **said}) + "\n")
    good = count == 0 if asked.sound else count >= min(LEAST, len(faults))
    what = "accused where they are sound" if asked.sound else "found"
    print(f"1..1\n{'' if good else 'not '}ok 1 - {count} of {len(faults)} planted faults are {what}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
