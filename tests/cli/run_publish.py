#!/usr/bin/env python3
"""Bundles of published answers, in TAP: what is in them, what is refused, and that no byte of one can be
changed without being found, by brume and by the independent program.

    run_publish.py DIRECTORY_OF_BRUME SOURCE_ROOT [EVERY]

Of each file every EVERYth byte is changed, one at a time (61; in the suite audit: 1).
"""
import contextlib
import hashlib
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys

from processes import Folder, check, run_tests

try:
    import cryptography  # the independent program needs it
except ImportError:
    cryptography = None

PEOPLE = "who<b>,town,age\n" + "".join(f"p{i},{'ab'[i % 3 == 0]},{20 + i % 50}\n" for i in range(900))
ABOUT = """title: Ages of two towns
publisher: [Office]
description: Ages & numbers of people <of> two towns.
use: To compare them.
region: Nowhere
authors: [Somebody]
"""


class Place(Folder):
    def fill(self):
        for name, text in (("people.csv", PEOPLE), ("other.csv", PEOPLE.replace("p", "q")),
                           ("about.yaml", ABOUT), ("wrong.yaml", "titel: x\n")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        for name in ("people", "other"):
            self.run("register", name, f"{name}.csv", "--unit", "who<b>", "--budget", "epsilon=3", "--bounds",
                     "age=0..100", "--domain", "town=a,b", "--columns", "who<b>, town, age")
        for sql in ("SELECT town, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY town",
                    "SELECT COUNT(*) AS n FROM other", "SELECT MEDIAN(age) AS m, COUNT(*) AS few FROM people "
                    "WHERE age > 200"):
            self.run("query", sql, "--epsilon", "0.4")
        self.run("key", "new", "office.key")
        events = self.json("history")["events"]
        self.of = {name: [e["id"] for e in events if e["dataset"] == name] for name in ("people", "other")}

    def publish(self, folder, *more, answers=None, name="people"):
        answers = self.of["people"] if answers is None else answers
        words = [word for answer in answers for word in ("--answer", str(answer))]
        return self.try_run("publish", name, *words, "--out", folder, *more)

    def try_run(self, *words):
        return subprocess.run([self.program, *words], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, check=False)

    def verifiers(self, folder, *more):
        """The exit codes of both, or of the one that can be run."""
        codes = [self.try_run("verify-bundle", folder, *more).returncode]
        if cryptography:
            codes.append(subprocess.run([sys.executable, SOURCES + "/tools/verify_bundle.py", folder, *more],
                                        cwd=self.folder, capture_output=True, check=False).returncode)
        return codes

    def quickly(self, folder):
        """The exit code of the independent program, in this process: a bundle has tens of thousands of bytes."""
        if not cryptography:
            return self.try_run("verify-bundle", folder).returncode
        if SOURCES + "/tools" not in sys.path:
            sys.path.insert(0, SOURCES + "/tools")
        import verify_bundle  # pylint: disable=import-outside-toplevel
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            sys.argv = ["verify_bundle.py", self.path(folder)]
            try:
                verify_bundle.main()
            except SystemExit as end:
                return end.code
        return 0


def whole(place):
    made = place.publish("release", "--key", "office.key", "--about", "about.yaml", "--json")
    check(made.returncode == 0, made.stderr)
    said = json.loads(made.stdout)
    check(said["tables"] == 2 and said["missing"] == [], said)
    for path in ("release.json", "manifest.json", "signature", "README.md", "index.html", "registry.yaml",
                 "metadata/csvw.json", "metadata/dcat.json", "metadata/croissant.json",
                 *(f"tables/{i}.{form}" for i in place.of["people"] for form in ("csv", "parquet"))):
        check(os.path.exists(place.path("release/" + path)), path)
    check(set(place.verifiers("release", "--key", "office.key.pub")) == {0}, "both say that it holds")
    page = open(place.path("release/index.html"), encoding="utf-8").read()
    check("people &lt;of&gt; two" in page and "<of>" not in page, "texts are escaped")
    check("who&lt;b&gt;" in page and "<b>" not in page, "names of columns are escaped")
    check(place.try_run("ledger", "verify").returncode == 0, "the ledger holds")


def others_stay_unseen(place):
    """Nothing of what was asked of another dataset is in the bundle."""
    for path, _, files in os.walk(place.path("release")):
        for name in files:
            data = open(os.path.join(path, name), "rb").read()
            check(b"FROM other" not in data and b"other.csv" not in data, name)


def refused(place):
    before = sorted(os.listdir(place.folder))
    key = ("--key", "office.key")
    for code, words, made in (
            (2, "is missing", place.publish("new")),
            (3, "already", place.publish("release", *key)),
            (3, "is not of the dataset", place.publish("new", *key, answers=place.of["other"])),
            (2, "no recorded answer", place.publish("new", *key, answers=[9999])),
            (2, "no recorded answer", place.publish("new", *key, answers=[1])),
            (2, "stands twice", place.publish("new", *key, answers=place.of["people"][:1] * 2)),
            (2, "nowhere", place.publish("new", *key, name="nowhere")),
            (2, "titel", place.publish("new", *key, "--about", "wrong.yaml")),
            (6, "cannot read the key", place.publish("new", "--key", "absent.key")),
            (2, "cannot sign", place.publish("new", "--key", "office.key.pub"))):
        check(made.returncode == code and words in made.stderr and not made.stdout,
              f"{words}: {made.returncode} {made.stderr}")
        check(sorted(os.listdir(place.folder)) == before, f"nothing is written: {words}")


def beliefs(place):
    """What is said of beliefs afterwards is never below the bound: odds times e^epsilon; with a delta
    2 e^epsilon, as the odds may grow by more than e^epsilon with a probability above delta; and for
    somebody who is known to be there, two steps."""
    place.run("register", "third", "people.csv", "--new-budget", "--unit", "who<b>", "--budget", "epsilon=3,delta=1e-6",
              "--columns", "who<b>, town, age")
    place.run("query", "SELECT town, COUNT(*) AS n FROM third GROUP BY town", "--epsilon", "0.5", "--delta", "1e-7")
    for name, private in (("people", False), ("third", True)):
        best = [g for g in place.json("card", name)["dataset"]["guarantees"] if g["delta"] <= 1e-6][-1]
        epsilon, delta = best["epsilon_upper"], best["delta"]
        check((delta > 0) == private, best)
        text = " ".join(place.run("card", name).split())
        one = float(re.search(r"thinks it at most ([0-9.]+) % likely", text)[1])
        two = float(re.search(r"is then thought ([0-9.]+) % likely", text)[1])
        for said, growth in ((one, epsilon), (two, 2 * epsilon)):
            odds = math.exp(growth) * (2 if private else 1)
            check(0 <= said - 100 * odds / (1 + odds) < 0.02, f"{name}: {said} for odds {odds}")
        fails = [float(word) for word in re.findall(r"except with a probability of ([0-9.e-]+[0-9])", text)]
        least = [2 * delta, 2 * delta * (1 + math.exp(epsilon))] if private else []
        check(len(fails) == len(least) and all(l <= f < 1.01 * l for f, l in zip(fails, least)), f"{name}: {fails}")


def another_key(place):
    place.run("key", "new", "second.key")
    check(1 not in [code == 0 for code in place.verifiers("release", "--key", "second.key.pub")],
          "signed by another key")


def every_byte(place):
    """A changed byte anywhere, a file more, a file less."""
    shutil.copytree(place.path("release"), place.path("copy"))
    tried = 0
    for folder, _, files in os.walk(place.path("copy")):
        for name in files:
            path = os.path.join(folder, name)
            data = open(path, "rb").read()
            for at in range(0, len(data), EVERY):
                with open(path, "wb") as file:
                    file.write(data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1:])
                codes = place.verifiers("copy") if tried % 8 == 0 else [place.quickly("copy")]
                tried += 1
                check(0 not in codes, f"{name}, byte {at}: {codes}")
            os.remove(path)
            check(0 not in place.verifiers("copy"), f"{name} is missing")
            with open(path, "wb") as file:
                file.write(data)
    with open(place.path("copy/tables/more.csv"), "w", encoding="utf-8") as file:
        file.write("n\n1\n")
    check(0 not in place.verifiers("copy"), "a file that is not listed")
    os.remove(place.path("copy/tables/more.csv"))
    check(set(place.verifiers("copy")) == {0}, "whole again")


def rewrite(place, change):
    """An unsigned bundle whose release.json was changed and whose manifest was made anew."""
    shutil.rmtree(place.path("forged"), ignore_errors=True)
    shutil.copytree(place.path("unsigned"), place.path("forged"))
    with open(place.path("forged/release.json"), encoding="utf-8") as file:
        document = json.load(file)
    files = change(document) or {}
    files["release.json"] = json.dumps(document)
    for path, text in files.items():
        with open(place.path("forged/" + path), "w", encoding="utf-8") as file:
            file.write(text)
    with open(place.path("forged/manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    for listed in manifest["files"]:
        data = open(place.path("forged/" + listed["path"]), "rb").read()
        listed.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    with open(place.path("forged/manifest.json"), "w", encoding="utf-8") as file:
        json.dump(manifest, file)
    return place.verifiers("forged")


def forgeries(place):
    """What a publisher could write who signs it anew: the journal's rows say otherwise."""
    made = place.publish("unsigned", "--unsigned")
    check(made.returncode == 0, made.stderr)
    check(set(place.verifiers("unsigned")) == {0}, "it holds, unsigned")
    check(set(rewrite(place, lambda document: None)) == {0}, "the forger changes nothing: it holds")
    first = place.of["people"][0]

    def cheaper(document):
        document["answers"][0]["cost"]["exact"] = "pure epsilon=0.1 delta=0"

    def other_question(document):
        document["answers"][0]["sql"] = "SELECT 1 FROM people"

    def charged_less(document):
        cheaper(document)
        for row in document["ledger"]["rows"]:
            row["body"] = row["body"].replace("epsilon=0.4", "epsilon=0.1")

    def spent_less(document):
        document["dataset"]["filter"] = document["dataset"]["filter"].replace("spent=0.8", "spent=0.4")

    def other_number(document):
        del document
        path = f"answers/{first}.json"
        text = open(place.path("unsigned/" + path), encoding="utf-8").read()
        return {path: text.replace('"rows":[["a",', '"rows":[["a",1', 1)}

    def other_table(document):
        del document
        path = f"tables/{first}.csv"
        return {path: open(place.path("unsigned/" + path), encoding="utf-8").read().replace("a,", "a,1", 1)}

    def shorter_log(document):
        document["ledger"]["size"] -= 1

    def without_rows(document):
        document["ledger"]["rows"] = document["ledger"]["rows"][1:]

    def promises_more(document):
        document["cost"]["guarantees"][0]["epsilon_upper"] = 0.1

    def promises_at_another_delta(document):
        document["cost"]["guarantees"][0]["delta"] = 0.5

    def dataset_promises_more(document):
        document["dataset"]["guarantees"][0]["epsilon_upper"] = 0.1

    def other_charges(document):
        document["cost"]["charges"] = ["pure epsilon=0.1 delta=0"] * 2

    def other_sum(document):
        document["dataset"]["spent_exact"] = "pure epsilon=0.1 delta=0"

    def one_answer_less(document):
        document["answers"] = document["answers"][:1]
        document["cost"]["charges"] = document["cost"]["charges"][:1]

    check(rewrite(place, dataset_promises_more)[0] != 0, "what all answers cost together, by brume")
    for change in (promises_more, promises_at_another_delta, other_charges, other_sum, one_answer_less, cheaper, other_question, charged_less, spent_less, other_number, other_table, shorter_log, without_rows):
        codes = rewrite(place, change)
        check(0 not in codes, f"{change.__name__}: {codes}")


if __name__ == "__main__":
    PROGRAMS, SOURCES = (os.path.abspath(word) for word in sys.argv[1:3])
    EVERY = int(sys.argv[3]) if len(sys.argv) > 3 else 61
    PLACE = Place(PROGRAMS)
    PLACE.fill()
    CODE = run_tests([
        ("a bundle is whole, and both programs say that it holds", lambda: whole(PLACE)),
        ("a bundle shows nothing of other datasets", lambda: others_stay_unseen(PLACE)),
        ("what cannot be published is refused by name, and nothing is written", lambda: refused(PLACE)),
        ("what is said of beliefs is not below the bound", lambda: beliefs(PLACE)),
        ("a bundle is not taken for another key's", lambda: another_key(PLACE)),
        ("what a publisher writes who signs anew is found by the journal", lambda: forgeries(PLACE)),
        ("every changed byte is found", lambda: every_byte(PLACE)),
    ])
    PLACE.close()
    sys.exit(CODE)
