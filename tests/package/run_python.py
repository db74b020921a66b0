#!/usr/bin/env python3
"""The tests of the Python package on the libraries of this build, as TAP.

    run_python.py SOURCE BUILD [PROGRAM [ARGUMENT...]]

PROGRAM: run this one of python/ instead, whose exit code says whether it passed.

numpy, pytest, pandas and pyarrow come from PyPI into a virtual environment in the build folder. The
wheel itself is made and tested by ./run python.
"""
import os
import re
import subprocess
import sys

source, build = map(os.path.abspath, sys.argv[1:3])
place = os.path.join(build, "python")
python = os.path.join(place, "bin", "python")
NEEDED = ["numpy", "pytest", "pandas", "pyarrow"]


def make_environment():
    """A virtual environment that has what is needed; made once."""
    probe = [python, "-c", "import " + ", ".join(NEEDED)]
    if os.path.exists(python) and subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0:
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
    subprocess.run([python, "-m", "pip", "-q", "--disable-pip-version-check", "install"] + NEEDED,
                   check=True)


def link_libraries():
    """Both libraries in one folder, as a wheel has them."""
    folder = os.path.join(place, "libraries")
    os.makedirs(folder, exist_ok=True)
    for path in ("libbrume.so.0", "src/session/libbrume-sql.so.0"):
        link = os.path.join(folder, os.path.basename(path))
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(os.path.join(build, path), link)
    return folder


def sanitize(environment):
    """What Python needs to run libraries that were built with AddressSanitizer."""
    runtime = subprocess.run(["cc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, text=True, check=True)
    pinned = os.path.join(source, "third_party", "duckdb", "libduckdb.so")
    environment.update(LD_PRELOAD=runtime.stdout.strip(), PYTHONMALLOC="malloc",
                       ASAN_OPTIONS="detect_leaks=1:malloc_context_size=12:exitcode=23",
                       UBSAN_OPTIONS="halt_on_error=1")
    if os.path.exists(pinned):  # the sanitizer's dlopen does not look into run paths
        environment["BRUME_DUCKDB"] = pinned


def leaks_of_brume(report):
    """The leaks of a report whose stack goes through brume; what Python itself keeps is not ours."""
    parts = re.split(r"(?=(?:Direct|Indirect) leak of )", report)
    return [part.strip() for part in parts if " leak of " in part[:20] and re.search(r"\bbrume_|libbrume", part)]


def run_sanitized(program, environment):
    """Run it; exit 1 where memory of brume leaks, or where the check does not find leaks that are made."""
    sanitize(environment)

    def found(*command):
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 23) or "LeakSanitizer has encountered" in done.stderr or \
                "ERROR: AddressSanitizer" in done.stderr or "runtime error" in done.stderr:
            sys.exit(f"{done.stderr[-4000:]}\nended with {done.returncode}")
        return leaks_of_brume(done.stderr)

    if not found(*program[:2], "--forget", "100"):
        sys.exit("100 sessions that were never closed were not found: the check is broken")
    leaks = found(*program)
    for leak in leaks[:5]:
        print(leak, file=sys.stderr)
    print(f"{len(leaks)} leaks that go through brume")
    return 1 if leaks else 0


def main():
    make_environment()
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment.update(PYTHONPATH=os.path.join(source, "python"), PYTHONDONTWRITEBYTECODE="1",
                       BRUME_LIBRARY_DIR=link_libraries(),
                       BRUME_PROGRAM=os.path.join(build, "src", "cli", "brume"))
    if len(sys.argv) > 3:
        program = [python, os.path.join(source, "python", sys.argv[3]), *sys.argv[4:]]
        symbols = subprocess.run(["nm", "-D", os.path.join(build, "libbrume.so")], stdout=subprocess.PIPE, text=True)
        if "__asan_init" in symbols.stdout:
            return run_sanitized(program, environment)
        return subprocess.run(program, env=environment).returncode
    done = subprocess.run([python, "-m", "pytest", "-v", "--no-header", "-p", "no:cacheprovider",
                           os.path.join(source, "python", "tests")],
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seen = 0
    for line in done.stdout.splitlines():
        match = re.match(r"\S*?(\w+\.py::.*?) (PASSED|FAILED|ERROR|SKIPPED)\b", line)
        if match:
            seen += 1
            bad = "not " if match[2] in ("FAILED", "ERROR") else ""
            print(f"{bad}ok {seen} - {match[1]}" + (" # SKIP" if match[2] == "SKIPPED" else ""))
    print(f"1..{seen}")
    if done.returncode != 0 or seen == 0:
        print(done.stdout, file=sys.stderr)
        return 1
    return 0


sys.exit(main())
