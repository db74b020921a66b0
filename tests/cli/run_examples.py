#!/usr/bin/env python3
"""Run every example that commands and cards show, in TAP: each must succeed and answer.

    run_examples.py DIRECTORY_OF_BRUME FOLDER

FOLDER holds the files that examples name; it is copied, and the examples run in the copy, in the
order in which `brume help` lists the commands.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


# They review what somebody else asked, over a server: tests/serve/run_review.py runs them.
NEED_OTHERS = {"review show", "review approve", "review reject"}


def main():
    programs, given = os.path.abspath(sys.argv[1]), sys.argv[2]
    environment = dict(os.environ, PATH=programs + ":" + os.environ["PATH"], LC_ALL="C.UTF-8")
    environment.pop("BRUME_LEDGER", None)
    examples = []
    for command, key in (("help", "commands"), ("mechanisms", "mechanisms")):
        listed = json.loads(subprocess.check_output(["brume", command, "--json"], env=environment))
        for item in listed[key]:
            if item["name"] in NEED_OTHERS:
                continue
            if not item["examples"]:
                examples.append((item["name"], None))
            examples += [(item["name"], example) for example in item["examples"]]
    print(f"1..{len(examples)}")
    folder, failed = tempfile.mkdtemp(prefix="brume-examples-"), 0
    try:
        shutil.copytree(given, folder, dirs_exist_ok=True)
        for number, (name, example) in enumerate(examples, 1):
            if example is None:
                failed += 1
                print(f"not ok {number} - {name} has examples")
                continue
            done = subprocess.run(["bash", "-c", example], cwd=folder, env=environment, timeout=120,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            # beside a token stands whose it is
            quiet = not done.stderr or re.fullmatch("the token of .*\n", done.stderr)
            good = done.returncode == 0 and done.stdout and quiet
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - {name}: {example}")
            if not good:
                print("\n".join("# " + line for line in
                                [f"exit {done.returncode}"] + done.stderr.splitlines()[:20]))
            sys.stdout.flush()
    finally:
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
