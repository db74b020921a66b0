#!/usr/bin/env python3
"""The systemd unit and the container file of deploy/, as far as they can be checked without running them, in TAP.

    run_deploy.py DIRECTORY_OF_BRUME DIRECTORY_OF_DEPLOY
"""
import os
import re
import shlex
import shutil
import subprocess
import sys

from server import Server, check
from processes import run_tests


def said(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def starts(programs, words):
    """Does `brume serve` take these words, with an address and keys of this machine?"""
    server = Server(programs, tls=True)
    here = []
    for word in words:
        if os.path.basename(word) in ("cert.pem", "key.pem"):
            word = os.path.basename(word)
        here.append(re.sub(r":\d+$", ":0", word))
    code, out, err = server.brume(*here, "--check")
    check(code == 0 and out.startswith("ready to listen on https://"), (here, code, out, err))
    server.close()


def packages_of(program, names):
    """Debian's packages of the libraries that a program and the libraries of these names load."""
    found = set()
    paths = [program]
    for line in said("ldconfig", "-p")[1].splitlines():
        if line.split()[:1] and line.split()[0] in names:
            paths.append(line.split()[-1])
    for path in paths:
        for line in said("ldd", path)[1].splitlines():
            library = line.split("=>")[-1].split("(")[0].strip()
            if not library.startswith("/") or "brume" in library or "duckdb" in library:
                continue
            for name in (os.path.realpath(library), library, library.replace("/lib/", "/usr/lib/", 1)):
                code, owner = said("dpkg", "-S", name)
                if code == 0:
                    found.add(owner.split(":")[0])
                    break
            else:
                raise AssertionError(f"no package has {library}")
    return found


def main():
    programs, deploy = sys.argv[1], sys.argv[2]
    unit, container = os.path.join(deploy, "brume.service"), os.path.join(deploy, "Containerfile")

    def unit_is_good():
        check(said("systemd-analyze", "verify", unit) == (0, ""), said("systemd-analyze", "verify", unit))
        code, text = said("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=25", unit)
        check(code == 0, text[-300:])  # the threshold is ten times the exposure

    def unit_starts():
        words = shlex.split(re.search(r"^ExecStart=(.*)$", read(unit), re.M).group(1))
        check(words[:3] == ["/usr/bin/env", "brume", "serve"], words)
        starts(programs, words[2:])

    def container_starts():
        words = re.findall(r'"([^"]*)"', re.search(r"^ENTRYPOINT (.*)$", read(container), re.M).group(1))
        check(words[:2] == ["brume", "serve"], words)
        starts(programs, words[1:])

    def container_has_libraries():
        text = read(container).split("FROM ")[-1]
        listed = set(re.search(r"--no-install-recommends([^&]*)&&", text).group(1).replace("\\", " ").split())
        loaded = {"libmicrohttpd.so.12", "libpq.so.5"}  # when they are needed
        needed = packages_of(os.path.join(programs, "brume"), loaded) - {"libc6", "libgcc-s1"}
        closure = set(listed)
        code, text = said("apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests", "--no-conflicts",
                          "--no-breaks", "--no-replaces", "--no-enhances", *sorted(listed))
        check(code == 0, text[-300:])
        closure |= {line.split(":")[0].strip() for line in text.splitlines() if line and not line.startswith((" ", "<"))}
        check(needed <= closure, f"missing: {sorted(needed - closure)}")
        check(len(needed) > 10, needed)

    tests = [("the options of the unit are those of brume serve", unit_starts),
             ("the options of the container are those of brume serve", container_starts)]
    if shutil.which("systemd-analyze"):
        tests.append(("systemd finds nothing wrong with the unit", unit_is_good))
    # The names of its libraries are of one release: on another they cannot be compared.
    release = re.search(r"^FROM \S*/debian:(\d+)-slim$", read(container), re.M).group(1)
    system = read("/etc/os-release").replace('"', "").splitlines()
    if "ID=debian" in system and f"VERSION_ID={release}" in system:
        tests.append(("the container has every library that brume loads", container_has_libraries))
    return run_tests(tests)


if __name__ == "__main__":
    sys.exit(main())
