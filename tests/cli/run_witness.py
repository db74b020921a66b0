#!/usr/bin/env python3
"""A ledger and its witness, in TAP: an older copy charges nothing, and no crash stops a sound ledger.

    [with-cluster] run_witness.py DIRECTORY_OF_BRUME

A witness that is a command is called at every step between the ledger and it, so it kills brume there:
before the rows are written, after they are on disk, before the new head is kept and after it was.
"""
import json
import os
import shutil
import sys
import threading

from processes import Folder, check, run_tests

KEEPER = r'''#!/bin/sh
# one head in the file `head`; the Nth call (file `kill`: "N before" or "N after") ends who called
folder=$(dirname "$0"); cd "$folder" || exit 1
end() { # who called is the parent of the shell that runs this
    kill -9 "$(sed -n 's/^PPid:[^0-9]*//p' /proc/$PPID/status)"; exit 9; }
count=$(cat count 2>/dev/null || echo 0); count=$((count + 1)); echo $count > count
set -- "$@"; action=$1
[ -f gone ] && exit 7
if [ "$(cat kill 2>/dev/null)" = "$count before" ]; then end; fi
case $action in
read) cat head 2>/dev/null ;;
keep) now=$(cat head 2>/dev/null); [ -n "$now" ] || now="0 -"
      [ "$now" = "$5 $6" ] || exit 3
      echo "$3 $4" > head.new; mv head.new head ;;
esac
if [ "$(cat kill 2>/dev/null)" = "$count after" ]; then end; fi
exit 0
'''


class Place(Folder):
    def __init__(self, programs):
        super().__init__(programs)
        self.write_visits(400)
        self.asked = 0
        self.run("register", "visits", "visits.csv", "--unit", "person", "--budget", "epsilon=1000", "--max-rows", "1",
                 "--bounds", "age=0..100")

    def ask(self):
        """A question that was not asked before."""
        self.asked += 1
        return self.brume("query", f"SELECT COUNT(*) FROM visits WHERE age <> {100 + self.asked}", "--epsilon", "0.01")

    def spent(self):
        return len(self.json("history", "visits")["events"])

    def copy(self, name):
        self.run("ledger", "backup", name)

    def put_back(self, name):
        for ending in ("-wal", "-shm"):
            if os.path.exists(self.path("brume.db" + ending)):
                os.remove(self.path("brume.db" + ending))
        shutil.copyfile(self.path(name), self.path("brume.db"))

    def witness(self):
        return self.json("ledger", "witness")

    def keeper(self):
        with open(self.path("keeper"), "w", encoding="utf-8") as file:
            file.write(KEEPER)
        os.chmod(self.path("keeper"), 0o755)
        self.run("ledger", "witness", "exec:" + self.path("keeper"))

    def set(self, name, text=None):
        if text is None:
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        else:
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)


def refused(answer, words):
    code, out, err = answer
    check(code in (5, 6) and not out and words in err and "nothing was charged" in err, f"{code} {out} {err}")


def older_copy(place, where, again=None):
    """What holds for every kind of place."""
    again = again or where
    place.run("ledger", "witness", where)
    check(place.ask()[0] == 0, "a first question")
    place.copy("old.db")
    check(place.ask()[0] == 0, "a second one")
    place.copy("new.db")
    place.put_back("old.db")
    refused(place.ask(), "behind its witness")
    for words in (("amend", "visits", "--budget", "epsilon=2000"), ("user", "add", "kim", "--role", "analyst"),
                  ("ledger", "witness", again), ("ledger", "witness", "--remove"), ("ledger", "witness", "elsewhere")):
        code, _, err = place.brume(*words)
        check(code == 6 and "behind its witness" in err, f"{words}: {err}")
    check(place.brume("ledger", "verify")[0] == 6 and place.witness()["state"] == "behind", "verify says so")
    check(place.brume("history", "visits")[0] == 0, "it can be read")
    place.put_back("new.db")
    check(place.ask()[0] == 0 and place.json("ledger", "verify")["witness"]["state"] == "agrees", "the newest goes on")
    place.put_back("old.db")
    place.run("ledger", "witness", again, "--accept-older")
    check(place.ask()[0] == 0, "what the owner accepted goes on")
    rows = json.loads(place.run("ledger", "export"))["rows"]
    told = [json.loads(r["body"]) for r in rows if r["kind"] == "witness"]
    check("accepted" in told[-1] and "accepted" not in told[0], "and its journal says so")
    place.put_back("new.db")
    refused(place.ask(), "witness")
    place.put_back("old.db")
    place.run("ledger", "witness", again, "--accept-older")


def a_file(programs):
    place = Place(programs)
    older_copy(place, "head")
    with open(place.path("head"), "w", encoding="utf-8") as file:
        file.write("brume-witness nonsense\n")
    refused(place.ask(), "no witness of this ledger")
    place.close()


def a_command(programs):
    place = Place(programs)
    place.keeper()
    older_copy(place, "exec:" + place.path("keeper"))
    place.close()


def a_server(programs):
    url = os.environ.get("BRUME_TEST_POSTGRESQL")
    if not url:
        return
    place = Place(programs)
    older_copy(place, url)
    second = Place(programs)
    second.run("ledger", "witness", url)  # a row for each ledger
    check(second.ask()[0] == 0 and place.ask()[0] == 0, "both go on")
    second.close()
    place.close()


def killed_at_each_step(programs):
    """A kill at each call of the witness, before and after it: the ledger goes on, and where the question was
    answered no earlier copy of the ledger charges anything."""
    place = Place(programs)
    place.keeper()
    place.set("count", "0\n")
    check(place.ask()[0] == 0, "unharmed")
    calls = int(open(place.path("count"), encoding="utf-8").read())
    check(calls >= 6, f"each transaction asks it twice and tells it: {calls} calls")
    tried = 0
    for at in range(1, calls + 1):
        for when in ("before", "after"):
            place.copy("before.db")
            place.set("count", "0\n")
            place.set("kill", f"{at} {when}\n")
            charges = place.spent()
            code, out, _ = place.ask()
            place.set("kill")
            check(code == -9 and not out, f"call {at}, {when}: killed, {code} {out}")
            check(place.witness()["state"] == "agrees", f"call {at}, {when}: not behind")
            made = place.spent() - charges
            code, out, err = place.ask()
            check(code == 0 and out, f"call {at}, {when}: a sound ledger goes on: {err}")
            check(place.spent() == charges + made + 1, "and is charged")
            place.copy("after.db")
            place.put_back("before.db")
            refused(place.ask(), "behind its witness")
            place.put_back("after.db")
            os.remove(place.path("before.db"))
            os.remove(place.path("after.db"))
            tried += 1
    check(place.holds() and tried == 2 * calls, "the ledger holds")
    place.close()


def rolled_back_between(programs):
    """The copy from before a charge is put back while brume is between the ledger and the witness: what is put
    back never gets an answer for a charge that it lost."""
    place = Place(programs)
    place.keeper()
    check(place.ask()[0] == 0, "unharmed")
    place.copy("before.db")
    place.set("count", "0\n")
    place.set("kill", "2 before\n")  # the rows are on disk, the witness does not know
    check(place.ask()[0] == -9, "killed")
    place.set("kill")
    place.put_back("before.db")  # the charge had no answer: it may be lost
    check(place.ask()[0] == 0 and place.holds(), "an unanswered charge may be put back")
    place.close()


def at_once(programs):
    """Processes at once, each charged, and the witness has the newest head at the end."""
    place = Place(programs)
    place.run("ledger", "witness", "head")
    seen = []

    def work(i):
        for j in range(4):
            seen.append(place.brume("query", f"SELECT COUNT(*) FROM visits WHERE age <> {1000 * i + j}",
                                    "--epsilon", "0.01"))
    threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(all(code == 0 for code, _, _ in seen), [err for code, _, err in seen if code])
    said = place.witness()
    check(said["state"] == "agrees" and said["saw"] == said["rows"], said)
    check(place.spent() == 24 and place.holds(), "all were charged")
    place.close()


def two_copies(programs):
    """Two copies of a ledger with one witness, in use at once: only one of them answers."""
    for _ in range(8):
        place = Place(programs)
        place.run("ledger", "witness", "head")
        place.copy("second.db")
        answers = {"brume.db": [], "second.db": []}

        def work(name, i):
            for j in range(3):
                answers[name].append(place.brume("query", f"SELECT COUNT(*) FROM visits WHERE age <> {1000 * i + j}",
                                                 "--epsilon", "0.01", "--ledger", name)[0])
        threads = [threading.Thread(target=work, args=(n, i + 1)) for i, n in enumerate(answers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        good = [name for name, codes in answers.items() if 0 in codes]
        check(len(good) <= 1, f"answers from both: {answers}")
        place.close()


def out_of_reach(programs):
    place = Place(programs)
    place.keeper()
    place.set("gone", "")
    refused(place.ask(), "cannot be asked")
    check(place.spent() == 0 and place.witness()["state"] == "unreachable", "nothing was charged")
    place.set("gone")
    place.run("ledger", "witness", "exec:" + place.path("keeper"), "--unreachable", "go-on")
    place.set("gone", "")
    check(place.ask()[0] == 0, "go-on goes on")
    said = place.witness()
    check(said["unwitnessed"] >= 2 and said["state"] == "unreachable" and said["unreachable"] == "go-on", said)
    place.set("gone")
    unwitnessed = said["unwitnessed"]
    check(place.ask()[0] == 0, "and when it is back")
    said = place.witness()
    check(said["state"] == "agrees" and said["unwitnessed"] == unwitnessed and said["saw"] == said["rows"], said)
    place.copy("old.db")
    check(place.ask()[0] == 0, "one more")
    place.put_back("old.db")
    refused(place.ask(), "behind its witness")  # it can be reached: going on does not help
    place.close()


def reached_no_more(programs):
    """The witness goes away between the ledger and it: the row is charged, and nothing is shown."""
    place = Place(programs)
    place.keeper()
    with open(place.path("keeper"), "w", encoding="utf-8") as file:
        file.write(KEEPER.replace("set -- ", '[ "$count" -ge 2 ] && exit 7\nset -- ', 1))
    place.set("count", "0\n")
    code, out, err = place.ask()
    check(code == 5 and not out and "was not told of it" in err, f"{code} {out} {err}")
    check(place.states() == ["reserved"], "charged, and not answered")
    place.close()


def words(programs):
    place = Place(programs)
    check(place.witness()["state"] == "none", "none at first")
    for arguments, code in ((("--unreachable", "go-on"), 2), (("head", "--remove"), 2), (("",), 2),
                            (("no-such-folder/head",), 5), (("exec:false",), 5), (("head", "--unreachable", "x"), 2)):
        got, out, err = place.brume("ledger", "witness", *arguments)
        check(got == code and not out and err, f"{arguments}: {got} {err}")
        check(place.witness()["state"] == "none", "nothing was set")
    place.run("ledger", "witness", "head")
    place.run("ledger", "witness", "--remove")
    check(place.witness()["state"] == "none" and place.holds(), "removed")
    place.run("ledger", "witness", "head")  # what it kept is in the journal
    place.run("ledger", "witness", "second")
    check(place.ask()[0] == 0 and place.holds(), "moved")
    os.remove(place.path("second"))
    refused(place.ask(), "no head of this ledger")
    place.run("ledger", "witness", "second")
    check(place.ask()[0] == 0, "set again")
    export = place.run("ledger", "export")
    check("second" not in export, "its place is in no export")
    place.close()


if __name__ == "__main__":
    P = sys.argv[1]
    sys.exit(run_tests([
        ("an older copy charges nothing: a file", lambda: a_file(P)),
        ("an older copy charges nothing: a command", lambda: a_command(P)),
        ("an older copy charges nothing: a server", lambda: a_server(P)),
        ("killed at each step, a sound ledger goes on and an older one does not", lambda: killed_at_each_step(P)),
        ("a charge without an answer may be put back", lambda: rolled_back_between(P)),
        ("processes at once tell it in order", lambda: at_once(P)),
        ("of two copies in use one is answered", lambda: two_copies(P)),
        ("out of reach: refuse, or go on and say so", lambda: out_of_reach(P)),
        ("reached no more: charged, and nothing shown", lambda: reached_no_more(P)),
        ("setting, moving, removing", lambda: words(P)),
    ]))
