#!/usr/bin/env python3
"""run_page.py PROGRAMS CLINIC_VISITS FOLDER [AXE]: the page of the server, driven in a headless Chromium, in TAP.

A person signs in, types SQL, moves the slider, asks, reads again, stops, runs out of budget, releases a statistic; an
owner registers and amends a dataset, adds a user; an analyst makes synthetic data; an auditor verifies the ledger; all of it also on a phone, in the dark, by keyboard alone. Whether anything was spent is read from
the ledger, not from the page. Screenshots go to FOLDER. AXE: axe.min.js of axe-core, which must find nothing serious
or critical; without it those tests are skipped.
"""
import csv
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser, find_browser  # noqa: E402
from server import Server  # noqa: E402

WARDS = "emergency,medicine,surgery,maternity,cardiology,neurology,oncology"
QUESTION = "SELECT ward, COUNT(*) AS visits, AVG(stay) AS mean_stay\nFROM visits\nGROUP BY ward"
QUESTION_TEXT = "[...document.querySelectorAll('.cm-line')].map((one) => one.textContent).join('\\n')"
OFFERED = "[...document.querySelectorAll('.cm-tooltip-autocomplete li')].map((one) => one.innerText).join()"
RANGE = "document.querySelector('input[type=range]')"
DOCUMENTED = ("answer", "phone-ask")  # pictures of docs/server-page.md
TAKES = 45  # Tab presses at most between two controls


class Clinic(Server):
    """The demo's clinic, smaller, with an owner, an analyst who has an allotment, and an auditor."""

    def __init__(self, programs, make_visits, tls=False):
        super().__init__(programs, register=False, tls=tls)
        self.made_by = programs, make_visits
        subprocess.run([make_visits, self.path("visits.parquet"), "60000", "200000"], check=True)
        subprocess.run([make_visits, self.path("second.parquet"), "3000", "700"], check=True)
        self.run("register", "visits", "visits.parquet", "--unit", "patient", "--budget", "epsilon=3,delta=1e-7", "--max-groups", "2",
                 "--max-rows", "2", "--bounds", "age=0..100", "--bounds", "stay=0..30", "--bounds", "cost=0..5200", "--domain", "ward=" + WARDS)
        for name, role, *more in (("olivia", "owner"), ("alice", "analyst", "--allot", "visits=epsilon=2,delta=5e-8"), ("audra", "auditor")):
            self.tokens[name] = self.json("user", "add", name, "--role", role, *more)["token"]

    def register_wide(self, rows=5_000_000):
        """A table that takes a second to read; its name is the last of the alphabet, so that others come first."""
        with open(self.path("wide.csv"), "w", encoding="utf-8") as file:
            file.write("person,town,age\n")
            for start in range(0, rows, 100_000):
                file.write("".join(f"{i},{'ABC'[i % 3]},{i % 90}\n" for i in range(start, start + 100_000)))
        self.run("register", "wide", "wide.csv", "--unit", "person", "--budget", "epsilon=20,delta=1e-6", "--domain", "town=A,B,C",
                 "--bounds", "age=0..100")

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/"


def check(held, why):
    if not held:
        raise AssertionError(why)


class Person:
    """Somebody at a browser."""

    def __init__(self, browser, server, folder):
        self.browser, self.server, self.folder = browser, server, folder

    def sign_in(self, name):
        b = self.browser
        b.open(self.server.url)
        b.run("sessionStorage.clear()")
        b.open(self.server.url)
        b.fill("Token", self.server.tokens[name])
        b.key("Enter")
        b.wait(f"!document.getElementById('shell').hidden && document.getElementById('account').innerText.includes({json.dumps(name)})")

    def go(self, view):
        b = self.browser
        b.run(f"location.hash = '#/{view}'")
        b.wait("document.querySelector('#main h1') && !document.querySelector('#main [aria-busy]')", why=f"{view} is shown")
        if view == "ask":
            b.wait("document.querySelectorAll('.tree summary').length > 0", why="the tables are listed")

    def begin(self, name="alice"):
        """Sign in, to an empty question."""
        self.sign_in(name)
        self.go("ask")

    def write(self, sql):
        """Type a question, and wait for its error bars."""
        b = self.browser
        b.fill("Question in SQL", sql)
        b.key("Escape")
        self.settle()

    def settle(self):
        """Until explain has answered what is on the page."""
        time.sleep(0.35)
        self.browser.wait("!document.querySelector('.bars.stale')")

    def errors(self):
        """What every column's error bar says: {name: text}."""
        return dict(self.browser.run("[...document.querySelectorAll('.bars li')].filter((one) => one.querySelector('code'))"
                                     ".map((one) => [one.querySelector('code').innerText, one.querySelector('.pm')?.innerText])"))

    def shot(self, name):
        """A screenshot for eyes; those of the documents also in a small file."""
        time.sleep(0.3)
        self.browser.screenshot(os.path.join(self.folder, name + ".png"))
        if name in DOCUMENTED:
            self.browser.screenshot(os.path.join(self.folder, f"page-{name}.webp"), "webp")

    def choose(self, label, value):
        """Choose an option of a list."""
        field = self.browser.field(label)
        self.browser.run(f"{field}.value = {json.dumps(value)}; {field}.dispatchEvent(new Event('change'))")

    def ask(self):
        self.browser.click_named("button", "Ask, spends")
        self.browser.wait("document.querySelector('#answer table') || document.querySelector('#answer .note.bad')", why="an answer is shown")


# --- what a person does; each takes a Person and raises AssertionError ---

def a_wrong_token_opens_nothing(person):
    b = person.browser
    b.prefer("light")
    b.open(person.server.url)
    b.fill("Token", "brume_" + "A" * 43)
    b.key("Enter")
    b.wait("document.querySelector('[role=alert]')")
    check(b.run("document.getElementById('shell').hidden"), "the page opens with a wrong token")
    check(b.run("sessionStorage.length") == 0, "a wrong token is kept")
    person.shot("sign-in")


def the_token_is_kept_in_this_tab_only(person):
    b = person.browser
    person.sign_in("alice")
    check(b.run("Object.values(sessionStorage).length") == 1, "the token is not kept for the tab")
    check(not b.run(f"Object.values(localStorage).join().includes({json.dumps(person.server.tokens['alice'])})"), "it is in the local storage")
    check(b.run("document.cookie") == "", "there is a cookie")
    b.open(person.server.url)
    b.wait_text("alice")
    check(not any(person.server.tokens["alice"] in url for _, url in b.requests), "the token is in an address")
    b.click_named("button", "Sign out")
    b.wait_text("Token")
    check(b.run("sessionStorage.length") == 0, "the token stays after signing out")


def completion_offers_tables_columns_and_functions(person):
    b = person.browser
    person.begin()
    b.fill("Question in SQL", "SELECT wa")
    def accept(offered, key):
        b.wait(f"{OFFERED}.includes('{offered}')", why=f"{offered} is offered")
        time.sleep(0.2)  # a key at once is no choice yet
        b.key(key)
    accept("ward", "Enter")
    b.type(", cou")
    accept("COUNT(*)", "Tab")
    b.type(" FROM vi")
    b.wait(f"{OFFERED}.includes('visits')", why="a table is offered")
    time.sleep(0.2)
    b.key("ArrowDown")
    b.key("ArrowUp")
    b.key("Enter")
    b.type(" GROUP BY ward")
    b.key("Escape")
    text = b.run(QUESTION_TEXT)
    check(text == "SELECT ward, COUNT(*) FROM visits GROUP BY ward", f"completion wrote {text!r}")
    kinds = b.run("[...new Set([...document.querySelectorAll('.cm-line span')].map((one) => one.className))]")
    check({"keyword", "function", "name"} <= set(kinds), f"no colours: {kinds}")


def the_editor_undoes_and_closes_brackets(person):
    """Undoing goes over what a completion and the button Example wrote; a bracket gets its other half, which is typed over."""
    b = person.browser
    person.begin()
    b.fill("Question in SQL", "SELECT wa")
    b.wait(f"{OFFERED}.includes('ward')", why="a column is offered")
    time.sleep(0.2)
    b.key("Enter")
    b.wait(f"{QUESTION_TEXT} === 'SELECT ward'")
    b.key("z", 2)
    b.wait(f"{QUESTION_TEXT} === 'SELECT wa'", why="undoing a completion")
    b.click_named("button", "Clear")
    b.run(f"{b.field('Question in SQL')}.focus()")
    b.key("z", 2)
    b.wait(f"{QUESTION_TEXT} === 'SELECT wa'", why="undoing Clear")
    b.fill("Question in SQL", "SELECT AVG")
    b.key("(")
    b.wait(f"{QUESTION_TEXT} === 'SELECT AVG()'", why="a bracket is closed")
    b.type("age")
    b.key(")")
    b.wait(f"{QUESTION_TEXT} === 'SELECT AVG(age)'", why="a bracket is typed over")
    b.wait("document.querySelectorAll('.cm-matchingBracket').length === 2", why="brackets that belong together are shown")
    b.key("Tab")
    check(not b.run("document.activeElement.closest('.editor')"), "Tab does not leave the editor")


def the_slider_shows_errors_and_spends_nothing(person):
    b = person.browser
    person.begin()
    person.write(QUESTION)
    before = person.server.spent()
    first = person.errors()
    check(set(first) == {"visits", "mean_stay"}, f"error bars of {first}")
    person.shot("question")
    start = len(b.requests)
    seen = [first]
    b.run(f"{RANGE}.focus()")
    for keys in (["Home"], ["ArrowRight"] * 5, ["End"]):
        for key in keys:
            b.key(key)
        person.settle()
        seen.append(person.errors())
    check(len({json.dumps(one) for one in seen}) == 4, f"the bars do not follow the slider: {seen}")
    calls = {(method, url.split("/v1/")[1].split("?")[0]) for method, url in b.requests[start:] if "/v1/" in url}
    check(calls == {("POST", "explain")}, f"moving the slider called {calls}")
    check(person.server.spent() == before, "moving the slider spent something")
    for key in ("ArrowLeft", "Home", "End"):  # at once, before explain has answered
        b.key(key)
        disabled, label, price = b.run("((one) => [one.disabled, one.innerText, document.querySelector('.amount input').value])"
                                       "(document.querySelector('.spend .main'))")
        check(disabled or label.endswith(price), f"the button says {label!r} at {price}")
    widths = []
    for key in ("Home", "End"):
        b.key(key)
        person.settle()
        widths.append(b.run("Number(document.querySelector('.bars .pm').innerText.replaceAll(',', '').replace(/[^0-9.]+/g, ' ').trim().split(' ').pop())"))
    check(widths[1] < widths[0], f"more epsilon does not give a smaller error: {widths}")


def an_accuracy_has_a_price(person):
    b = person.browser
    person.begin()
    person.write("SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward")
    before = person.server.spent()
    b.click_named("summary", "More settings")
    b.fill("One person adds at most", "4")
    b.click("[...document.querySelectorAll('.modes label')].find((one) => one.innerText.includes('accuracy'))")
    b.fill("Each value within ±", "100")
    person.settle()
    b.wait("/spends ε 0\\.\\d+/.test([...document.querySelectorAll('button.main')].map((one) => one.innerText).join())", why="a price is found")
    check(person.server.spent() == before, "finding a price spent something")
    person.shot("accuracy")


def a_rehearsal_is_free(person):
    b = person.browser
    person.begin()
    person.write(QUESTION)
    before = person.server.spent()
    b.click_named("button", "Try on made-up data")
    b.wait_text("Rehearsal on made-up data")
    check(person.server.spent() == before, "a rehearsal spent something")
    person.shot("rehearsal")


def check_answer(b):
    check(b.run("document.querySelectorAll('#answer tbody tr').length") == 7, "a row for every ward")
    check(b.run("document.querySelector('#answer tbody').innerText.includes('±')"), "no error in the table")
    check(b.run("document.querySelectorAll('#answer svg .error').length") == 14, "no whiskers")


def an_answer_is_a_table_and_bars_with_whiskers(person):
    b = person.browser
    person.begin()
    person.write(QUESTION)
    b.fill("Price, epsilon", "0.5")
    person.settle()
    before = person.server.spent()
    person.ask()
    b.wait("document.querySelector('#answer h2').innerText === 'Answer'")
    check(abs(person.server.spent() - before - 0.5) < 1e-9, "the price is not what the button says")
    check_answer(b)
    check("cost ε 0.5" in b.text(), "the cost is not said")
    check(b.run("document.activeElement.innerText") == "Answer", "the focus does not go to the answer")
    b.run("scrollTo(0, 0)")
    person.shot("answer")


def error_bars_of_answers_are_within_those_before(person):
    """What is shown before, for a group of the size that was released, is at least the bar of the answer.

    Mean and count share one noisy number of rows here (no value is NULL), so that nothing in this is left to chance."""
    b = person.browser
    person.begin()
    person.write("SELECT ward, COUNT(*) AS visits, AVG(COALESCE(stay, 0)) AS mean_stay FROM visits GROUP BY ward")
    check(set(person.errors()) == {"visits", "mean_stay"} and None not in person.errors().values(), f"error bars {person.errors()}")
    b.fill("Price, epsilon", "0.5")
    person.settle()
    person.ask()
    charge = person.server.json("history", "visits")["events"][-1]["id"]
    answer = person.server.ask("GET", f"/v1/history?answer={charge}", "alice").json
    plan = {"sql": "SELECT COUNT(*) AS visits, AVG(COALESCE(stay, 0)) AS mean_stay FROM visits",
            "columns": [{"name": "visits", "role": "value", "bar_95": answer["events"][0]["error_95"]}, {"name": "mean_stay", "role": "value", "bar_95": None}],
            "plan": [dict(event, columns=["visits", "mean_stay"][event["measure"] != "rows":]) for event in answer["events"]]}
    check([event["measure"] for event in plan["plan"]] in (["rows", "sum"], ["rows", "centred sum"]), f"another plan: {plan}")
    for row, bars in zip(answer["rows"], answer["row_error_95"]):
        before = b.run(f"import('/preview.js').then((preview) => preview.columnErrors({json.dumps(plan)}, {row[1]}))")
        shown = {one["name"]: one for one in before}
        check(abs(shown["visits"]["most"] - bars[1]) <= 0.5, f"a count of {bars[1]} was shown as {shown}")  # it is rounded
        check(bars[2] <= 1.02 * shown["mean_stay"]["most"] <= 6 * bars[2], f"a mean of {row}: {bars[2]}, shown {shown}")  # so is the size



def number_after(sign, text):
    """The number that a text has after a sign: 1200 of '± 1,200'."""
    return float("".join(one for one in text.split(sign)[-1] if one.isdigit() or one == "."))


def the_bar_before_is_the_bar_of_the_answer(person):
    """With a typed limit nothing is left to find out; without one it is a range until the question has found its limit."""
    b = person.browser
    person.begin("olivia")
    sql = "SELECT ward, COUNT(*) AS n FROM visits WHERE age < 70 GROUP BY ward"
    person.write(sql)
    b.fill("Price, epsilon", "0.1")
    b.click_named("summary", "More settings")
    b.fill("One person adds at most", "3")
    person.settle()
    before = person.errors()["n"]
    plan = person.server.json("explain", sql, "--epsilon", "0.1", "--limit", "3")
    bar = next(one for one in plan["columns"] if one["name"] == "n")["bar_95"]
    check(bar <= number_after("±", before) <= 1.1 * bar, f"explain says {bar}, the page {before}")
    person.ask()
    cells = b.run("[...document.querySelectorAll('#answer td .pm')].map((one) => one.innerText)")
    check(len(cells) == 7 and all(number_after("±", cell) == number_after("±", before) for cell in cells), f"{before} before, then {cells}")
    b.fill("One person adds at most", "")
    person.settle()
    plan = person.server.json("explain", sql, "--epsilon", "0.1")
    bar = next(one for one in plan["columns"] if one["name"] == "n")["bar_95"]
    check(isinstance(bar, list) == (person.errors()["n"].count("±") == 2), f"explain says {bar}, the page {person.errors()}")


def a_price_is_never_more_than_what_is_left(person):
    b = person.browser
    server = person.server
    if not any(one["dataset"] == "small" for one in server.json("budget")["budgets"]):
        subprocess.run([server.made_by[1], server.path("small.parquet"), "500", "200"], check=True)
        server.run("register", "small", "small.parquet", "--unit", "patient", "--budget", "epsilon=0.2", "--bounds", "stay=0..30", "--domain", "ward=" + WARDS)
    person.begin("olivia")
    person.write("SELECT COUNT(*) AS n FROM small")
    amount = b.run("document.querySelector('.amount input').value")
    check(amount == "0.2", f"the price to begin with is {amount}, and 0.2 is left")
    button = "document.querySelector('.spend .main')"
    check(not b.run(f"{button}.disabled"), "what is left cannot be spent")
    check(b.run(f"getComputedStyle({button}).backgroundColor") != b.run("getComputedStyle(document.querySelector('.spend button:not(.main)')).backgroundColor"),
          "what spends looks like what is free")
    b.fill("Price, epsilon", "0.21")
    person.settle()
    check(b.run(f"{button}.disabled && {button}.innerText.startsWith('Not enough left')"), f"more than is left: {b.run(button + '.innerText')}")


def nobody_who_types_is_shown_an_error(person):
    b = person.browser
    person.begin()
    start = time.monotonic()
    b.fill("Question in SQL", "SELECT wrad FROM visits")
    b.key("Escape")
    b.wait("document.querySelector('.bars:not(.stale)')")
    said = b.run("document.querySelector('#main .note') && document.querySelector('#main .note').innerText")
    check(not said or time.monotonic() - start > 1.2, f"said while somebody types: {said}")
    b.wait_text("did you mean 'ward'?")
    check(not b.run("!!document.querySelector('#main [role=alert]')"), "an alarm while the question has the focus")
    b.key("Enter", 2)
    b.wait("document.querySelector('#main [role=alert]')", why="asking it says what is wrong")
    b.fill("Question in SQL", "SELECT ward")
    check(not b.run("!!document.querySelector('#main [role=alert]')"), "the old error stays")


def times_are_lines_and_two_keys_a_table_of_both(person):
    b = person.browser
    person.begin("olivia")
    where = "WHERE day BETWEEN DATE '2026-01-01' AND DATE '2026-06-30'"
    person.write(f"SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS n FROM visits {where} GROUP BY 1")
    b.click_named("button", "Try on made-up data")
    b.wait("document.querySelector('#answer .line-of')", why="a line over time")
    check(b.run("document.querySelectorAll('#answer .spot').length") == 6, "not a point for every month")
    check("2026-03" in b.run("document.querySelector('#answer .chart svg').textContent"), "no months on the axis")
    person.write(f"SELECT ward, DATE_TRUNC('month', day) AS month, COUNT(*) AS n FROM visits {where} GROUP BY 1, 2")
    b.click_named("button", "Try on made-up data")
    b.wait("document.querySelectorAll('#answer .line-of').length === 7", why="a line for every ward")
    head = b.run("[...document.querySelectorAll('#answer table')[0].querySelectorAll('thead th')].map((one) => one.innerText)")
    check(head == ["month", *sorted(WARDS.split(","))], f"the table of both has the columns {head}")
    check(b.run("document.querySelectorAll('#answer table')[0].querySelectorAll('tbody tr').length") == 6, "not a row for every month")
    person.shot("months")
    person.write("SELECT ward, CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS age_group, COUNT(*) AS n FROM visits GROUP BY 1, 2")
    b.click_named("button", "Try on made-up data")
    b.wait("document.querySelectorAll('#answer .bar-of').length === 14", why="bars in groups of two")
    check(b.run("document.querySelectorAll('#answer .tones li').length") == 2, "the colours are not named")
    person.shot("groups")


def pictures_say_what_tables_say(person):
    """A count has no whisker below 0, too few have no number, and labels of months are evenly spaced."""
    b = person.browser
    person.begin()
    wards = {"columns": [{"name": "ward", "role": "key"}, {"name": "n", "role": "value", "bar_95": 50, "true_if_cut": "higher"},
                         {"name": "m", "role": "value", "bar_95": None}],
             "rows": [["a", 10, None], ["b", 200, 5]], "rows_too_few": [[False, False, True], [False] * 3]}
    b.run(f"import('/picture.js').then(({{charts}}) => {{ window.drawn = charts({json.dumps(wards)}, false); }})")
    zero, ends = b.run("[Number(drawn.querySelector('.base').getAttribute('x1')), [...drawn.querySelectorAll('.error')].map((one) => parseFloat(one.getAttribute('d').slice(1)))]")
    check(len(ends) == 2 and min(ends) == zero, f"whiskers begin at {ends}, and 0 is at {zero}")
    told = b.run("drawn.textContent")
    check("too few" in told and "NULL" not in told, f"the pictures say {told}")
    months = {"columns": [{"name": "month", "role": "key", "period": "month"}, {"name": "n", "role": "value", "bar_95": 3}],
              "rows": [[f"{2023 + i // 12}-{i % 12 + 1:02}-01", 10 + i] for i in range(24)]}
    labels = b.run(f"import('/picture.js').then(({{charts}}) => [...charts({json.dumps(months)}, false).querySelectorAll('svg text')].map((one) => one.textContent).filter((one) => one.includes('-')))")
    at = [int(label[:4]) * 12 + int(label[5:]) for label in labels]
    check(len(at) > 2 and len({after - before for before, after in zip(at, at[1:])}) == 1, f"labels {labels}")


def a_question_has_a_link(person):
    b = person.browser
    person.begin()
    sql = "SELECT ward, 100/COUNT(*) AS share FROM visits WHERE ward <> 'a/b %' GROUP BY ward"
    person.write(sql)
    link = b.run("[...document.querySelectorAll('#main a')].find((one) => one.innerText === 'Link').href")
    before = person.server.spent()
    person.write("SELECT 1")
    start = len(b.requests)
    b.open("about:blank")
    b.open(link)
    b.wait("document.querySelector('.cm-content') && document.querySelectorAll('.tree summary').length > 0")
    person.settle()
    check(b.run(QUESTION_TEXT) == sql, f"the link gave {b.run(QUESTION_TEXT)!r}")
    check(not any(url.endswith(("/v1/query", "/v1/limits", "/v1/release")) for _, url in b.requests[start:]) and person.server.spent() == before, "opening a link asks")


def the_empty_page_shows_tables_and_recent_questions(person):
    b = person.browser
    person.begin()
    check(b.run("document.querySelector('.names').open && document.querySelector('.tree details').open"), "the tables are closed")
    b.wait("document.querySelector('.recent li')", why="recent questions")
    before = person.server.spent()
    b.click("document.querySelector('.recent li .slight')")
    b.wait("document.querySelector('#answer table')", why="the answer is read again")
    check(person.server.spent() == before, "reading again spent something")
    check(b.run("document.querySelector('.recent').hidden"), "they stay beside an answer")


def asking_again_is_free(person):
    b = person.browser
    before = person.server.spent()
    start = len(b.requests)
    b.click_named("button", "Read again, free")
    b.wait_text("read again, free")
    check(not any(url.endswith("/v1/query") for _, url in b.requests[start:]), "it was asked, not read")
    person.begin()  # a new visit, which knows of no charge: the server finds the recorded answer
    person.write(QUESTION)
    b.fill("Price, epsilon", "0.5")
    person.settle()
    person.ask()
    b.wait_text("read again, free")
    check(person.server.spent() == before, "asking again spent something")


def a_basket_is_priced_and_paid_by_one_button(person):
    """Two questions and one of them again: paid twice, answered below each other, by names that are asked further for nothing."""
    b = person.browser
    person.begin("olivia")
    count, mean = ("SELECT COUNT(*) AS n FROM visits WHERE age < 33", "SELECT ward, COUNT(*) AS m FROM visits WHERE age < 34 GROUP BY ward")
    person.write(f"{count};\n{mean};\n{count};")
    b.fill("Price, epsilon", "0.04")
    person.settle()
    before, start = person.server.spent(), len(b.requests)
    check(b.run("document.querySelectorAll('.of-basket').length") == 3, "not three questions")
    check(b.run("document.querySelector('.spend .main').innerText") == "Ask 3 questions, spends ε 0.08", "the sum is not on the button")
    check(person.server.json("explain", f"{count};{mean};{count}", "--epsilon", "0.04")["cost"]["epsilon"] == 0.08, "explain -f says another sum")
    person.shot("basket")
    b.size(390, 844, phone=True)
    b.prefer("dark")
    b.run("document.querySelector('.of-basket').scrollIntoView()")
    check(b.run("document.documentElement.scrollWidth") <= 390, "the basket is wider than a phone")
    person.shot("basket-phone-dark")
    b.size(1360, 900)
    b.prefer("light")
    b.click_named("button", "Ask 3 questions")
    b.wait("document.querySelectorAll('#answer .answer').length === 3", why="three answers")
    b.wait("document.querySelector('.spend .main').innerText === 'Read again, free'", why="it is paid")
    check(abs(person.server.spent() - before - 0.08) < 1e-9, f"{person.server.spent() - before} was spent")
    check(sum(url.endswith("/v1/query") for _, url in b.requests[start:]) == 2, "what was paid is asked again")
    names = b.run("[...document.querySelectorAll('#answer .answer .bar code')].map((one) => one.innerText)")
    charged = [event["id"] for event in person.server.json("history", "visits", "--limit", "2")["events"]]
    check(names == [f"answer_{charged[0]}", f"answer_{charged[1]}", f"answer_{charged[0]}"], f"names {names}, charges {charged}")
    shown = b.run("[...document.querySelectorAll('#answer .answer:nth-child(2) td .pm')].map((one) => one.innerText)")
    check(max(number_after("±", one) for one in shown) == number_after("±", person.errors()["m"]), f"answers {shown}, bars {person.errors()}")
    person.shot("basket-answers")
    b.click(f"[...document.querySelectorAll('#answer button')].find((one) => one.innerText.startsWith({json.dumps(names[1])}))")
    person.settle()
    check(b.run(QUESTION_TEXT) == f"SELECT *\nFROM {names[1]}", "the name is not in the editor")
    b.click_named("button", "Ask, free")
    b.wait("document.querySelectorAll('#answer .answer').length === 1 && document.querySelectorAll('#answer tbody tr').length >= 7", why="a free answer")
    check("from recorded answers, free" in b.text() and abs(person.server.spent() - before - 0.08) < 1e-9, "SQL of an answer is not free")
    person.write(f"{count};\n{mean}")
    b.click_named("button", "Take out: " + count)
    person.settle()
    check(b.run(QUESTION_TEXT) == mean and not b.run("!!document.querySelector('.of-basket')"), "a question cannot be taken out")


def a_basket_that_breaks_off_shows_what_was_paid(person):
    b = person.browser
    person.begin("olivia")
    person.write("SELECT COUNT(*) AS n FROM visits WHERE age < 35;\nSELECT COUNT(*) AS n FROM visits WHERE age < 36")
    b.fill("Price, epsilon", "0.03")
    person.settle()
    b.run("window.kept = window.fetch; window.asked = 0; window.fetch = (path, how) => path === '/v1/query' && (window.asked += 1) === 2"
          " ? Promise.reject(new TypeError('gone')) : window.kept(path, how)")
    before = person.server.spent()
    b.click_named("button", "Ask 2 questions")
    b.wait_text("Question 2 of 2 was not answered")
    b.run("window.fetch = window.kept")
    check(b.run("document.querySelectorAll('#answer .answer').length") == 1, "the first answer is gone")
    check(abs(person.server.spent() - before - 0.03) < 1e-9, "something else was spent")


def downloads_have_the_answer(person):
    b = person.browser
    b.send("Page.setDownloadBehavior", behavior="allow", downloadPath=person.folder)
    for ending in ("csv", "json"):
        path = os.path.join(person.folder, "answer." + ending)
        if os.path.exists(path):
            os.remove(path)
        b.click_named("button", ending.upper())
        end = time.monotonic() + 20
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.1)
        check(os.path.exists(path), f"no {ending} came")
    with open(os.path.join(person.folder, "answer.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    with open(os.path.join(person.folder, "answer.json"), encoding="utf-8") as file:
        answer = json.load(file)
    check(rows[0] == ["ward", "visits", "visits_error_95", "mean_stay", "mean_stay_error_95"], f"columns {rows[0]}")
    check([float(row[1]) for row in rows[1:]] == [row[1] for row in answer["rows"]], "CSV and JSON differ")


def history_reads_again_for_nothing(person):
    b = person.browser
    before = person.server.spent()
    start = len(b.requests)
    person.go("history")
    b.wait_text("Read again, free")
    b.click_named("button", "Read again, free")
    b.wait_text("Answer, read again")
    check(b.run("document.querySelectorAll('.answer tbody tr').length") == 7, "the answer is not there")
    check(not any(url.endswith("/v1/query") for _, url in b.requests[start:]), "it was asked again")
    check(person.server.spent() == before, "reading again spent something")
    b.run("scrollTo(0, 0)")
    person.shot("history")


def errors_come_with_their_hint(person):
    b = person.browser
    person.begin()
    person.write("SELECT AVG(kost) FROM visits")
    b.wait_text("did you mean 'cost'?")
    person.shot("hint")
    person.write("SELECT ward FROM")
    b.run("document.activeElement.blur()")
    b.wait("document.querySelector('#main [role=alert]')")


def beyond_the_budget_is_refused(person):
    """The button is disabled; where somebody else spends meanwhile, the server refuses, and the page says so."""
    b = person.browser
    person.begin()
    person.write("SELECT COUNT(*) AS n FROM visits")
    b.fill("Price, epsilon", "2.9")
    person.settle()
    check("not enough" in b.run("document.querySelector('.meter.over').innerText"), "the meter does not say so")
    check(b.run("document.querySelector('.spend .main').disabled"), "one can ask for more than is left")
    b.run(f"{RANGE}.focus()")
    b.key("Home")
    b.key("End")
    person.settle()
    most = b.run("document.querySelector('.amount input').value")
    person.server.ask("POST", "/v1/query", "alice", {"sql": "SELECT COUNT(*) AS m FROM visits WHERE age > 30", "epsilon": "0.01"})
    before = person.server.spent()
    b.click_named("button", f"Ask, spends ε {most}")
    b.wait("document.querySelector('#answer .note.bad')")
    check("Hint:" in b.run("document.querySelector('#answer .note.bad').innerText"), "no hint")
    check(person.server.spent() == before, "a refusal spent something")
    person.shot("refused")
    person.write("SELECT COUNT(*) AS n FROM visits WHERE age > 20")
    check(not b.run("!!document.querySelector('#answer .note.bad')"), "the old error stays")


def an_owner_registers_a_dataset(person):
    b = person.browser
    person.sign_in("olivia")
    person.go("datasets")
    b.click_named("link", "Register a dataset")
    b.wait_text("Policy file")
    b.fill("Name", "second")
    b.fill("Budget ε", "1")
    b.fill("Budget δ", "1e-6")
    b.fill("Source", "second.parquet")
    b.fill("Column of the person", "patient")
    b.click_named("button", "Add bounds")
    b.fill("Column", "age")
    b.fill("From", "0")
    b.fill("To", "100")
    b.click_named("button", "Add a domain")
    b.fill("Values, with commas", "surgery, medicine")
    b.run("document.activeElement.closest('.fields').querySelector('input').focus()")
    b.type("ward")
    b.wait("document.querySelector('.yaml pre').innerText.includes('ward: [surgery, medicine]')", why="the policy is written")
    person.shot("register")
    b.click_named("button", "Register")
    b.wait("location.hash === '#/datasets/second'")
    b.wait_text("0 to 100")
    shown = person.server.json("show", "second")
    check(shown["budget"]["epsilon"] == 1 and shown["tables"][0]["unit"] == "patient", f"registered {shown}")
    person.shot("dataset")
    person.go("register")
    b.fill("Name", "third")
    b.fill("Budget ε", "1")
    b.fill("Source", "second.parquet")
    b.fill("Column of the person", "patient")
    b.click_named("button", "Register")
    b.wait_text("It was not registered")


def an_owner_adds_a_user(person):
    b = person.browser
    person.go("users")
    b.wait_text("audra")
    b.fill("Name", "bob")
    b.click_named("button", "Add an allotment")
    b.run(f"{b.field('Dataset')}.value = 'visits'; {b.field('Dataset')}.dispatchEvent(new Event('change'))")
    b.fill("ε", "0.25")
    b.click_named("button", "Add user")
    b.wait("document.querySelector('.token code')")
    token = b.run("document.querySelector('.token code').innerText")
    person.shot("users")
    person.server.tokens["bob"] = token
    person.sign_in("bob")
    person.go("budgets")
    b.wait_text("my allotment")
    check("ε 0.25 left of 0.25" in b.text(), "bob does not see his allotment")
    check("Users" not in b.run("document.getElementById('nav').innerText"), "an analyst sees the owner's views")
    b.run("location.hash = '#/users'")
    b.wait("location.hash === '#/ask'")
    person.sign_in("olivia")
    person.go("users")
    b.click("[...document.querySelectorAll('tbody tr')].find((one) => one.innerText.startsWith('bob')).querySelector('summary')")
    b.fill("ε in all", "0.75")
    b.key("Enter")
    b.wait_text("second: ε 0.75")
    check(any(one["name"] == "bob" and one["allotments"][0]["budget"]["epsilon"] == 0.75 for one in person.server.json("user", "list")["users"]),
          "the allotment is not changed")
    b.click("[...document.querySelectorAll('tbody tr')].find((one) => one.innerText.startsWith('bob')).querySelector('button.danger')")
    b.click_named("button", "Remove bob?")
    b.wait("![...document.querySelectorAll('tbody tr')].some((one) => one.innerText.startsWith('bob') && one.querySelector('button'))", why="bob is gone")
    check(person.server.ask("GET", "/v1/me", "bob").code == 401, "a removed user's token still opens")


def an_owner_sees_who_spent_what(person):
    b = person.browser
    person.sign_in("olivia")
    person.go("budgets")
    b.wait_text("Who spent what")
    check("alice" in b.run("document.querySelector('#main table').innerText"), "alice has spent nothing")
    person.shot("budgets")


def an_auditor_reads_and_does_not_ask(person):
    b = person.browser
    person.sign_in("audra")
    check("Ask" not in b.run("document.getElementById('nav').innerText"), "an auditor may ask")
    person.go("history")
    b.wait_text("alice")


STOP = "[...document.querySelectorAll('button')].find((one) => one.offsetParent && one.innerText.trim() === 'Stop')"


def a_question_that_runs_can_be_stopped(person):
    b = person.browser
    person.server.register_wide()
    person.begin("olivia")
    check(not b.run(f"!!({STOP})"), "there is something to stop before anything runs")
    person.write("SELECT town, COUNT(*) AS n FROM wide GROUP BY town")
    b.click_named("button", "Ask, spends")
    b.run("scrollTo(0, 0)")
    seen = b.run("((box) => box.top >= 0 && box.bottom <= innerHeight && box.height > 0)(document.querySelector('.running').getBoundingClientRect())")
    b.click(STOP)
    b.wait("document.querySelector('#answer .note.bad')", why="it has stopped")
    said = b.run("document.querySelector('#answer .note.bad').innerText")
    check("Stopped" in said and "spent" in said, f"stopping says {said!r}")
    events = person.server.json("history", "wide")["events"]
    check(all(one["state"] != "committed" for one in events), f"it was answered all the same: {events}")
    b.wait(f"!({STOP})", why="there is nothing to stop any more")
    check(seen, "what stops is out of sight")
    person.shot("stopped")
    b.wait("!document.querySelector('.spend .main').disabled", why="one can ask again")


def limits_are_bought_alone(person):
    b = person.browser
    person.begin("olivia")
    person.write("SELECT ward, SUM(stay) AS stay FROM visits GROUP BY ward")
    b.fill("Price, epsilon", "0.05")
    person.settle()
    b.click_named("summary", "More settings")
    before = person.server.spent()
    b.click_named("button", "Buy the choice of limits alone, spends ε 0.05")
    b.wait("document.querySelector('#answer table')", why="the limits are shown")
    check("sum" in b.run("document.querySelector('#answer table').innerText"), "no limit of the sum")
    check(abs(person.server.spent() - before - 0.05) < 1e-9, "limits cost something else")
    person.shot("limits")


def statistics_are_released_and_read_again(person):
    b = person.browser
    person.sign_in("alice")
    person.go("statistics")
    check(b.run("document.querySelector('#main button.main').disabled"), "something is chosen already")
    person.choose("Of which table", "visits")
    person.choose("Statistic", "median")
    names = b.run(f"[...{b.field('Column of it')}.options].map((one) => one.value)")
    check(names == ["", "age", "stay", "cost"], f"a median of {names}")
    person.choose("Statistic", "count")
    b.fill("Price ε", "0.1")
    b.wait_text("± 30, 95 times of 100")
    person.choose("Statistic", "median")
    person.choose("Column of it", "age")
    b.wait_text("rows in rank, 95 times of 100")
    before = person.server.spent()
    b.click_named("button", "Release, spends ε 0.1")
    b.wait("document.querySelector('#released .one b')", why="a median is released")
    value = float(b.run("document.querySelector('#released .one b').innerText"))
    check(0 <= value <= 100 and abs(person.server.spent() - before - 0.1) < 1e-9, f"a median of {value}, spent {person.server.spent() - before}")
    check("Synthetic data" not in b.text(), "an analyst is offered files of the server")
    person.shot("statistics")
    b.click_named("button", "Release, spends ε 0.1")
    b.wait("document.querySelector('#released').innerText.includes('read again, free')", why="the same is free")
    check(abs(person.server.spent() - before - 0.1) < 1e-9, "reading again spent something")
    b.fill("Price ε", "2.9")
    b.wait("[...document.querySelectorAll('#main button.main')].some((one) => one.disabled && one.innerText === 'Not enough left for ε 2.9')", why="too much cannot be sent")


def statistics_know_tables_of_a_policy(person):
    b = person.browser
    person.sign_in("olivia")
    person.go("statistics")
    person.choose("Of which table", "second.second")
    person.choose("Statistic", "covariance")
    b.wait_text("not to be had of a table of a policy file")
    person.choose("Statistic", "mean")
    person.choose("Column of it", "age")
    b.fill("Price ε", "0.1")
    b.wait_text("of 1,000 values")

    def spent():
        return person.server.json("budget", "second")["spent"]["epsilon"]
    before = spent()
    b.click_named("button", "Release, spends ε 0.1")
    b.wait("document.querySelector('#released .one b')", why="a mean is released")
    check(abs(spent() - before - 0.1) < 1e-9, "it cost something else")
    person.shot("statistics-policy")


def an_analyst_makes_synthetic_data(person):
    b = person.browser
    person.sign_in("alice")
    person.go("synthetic")
    b.run(f"{b.field('Made from')}.value = 'visits'; {b.field('Made from')}.dispatchEvent(new Event('change'))")
    b.fill("Rows", "50")
    b.fill("Price ε", "0.1")
    b.wait_text("Nothing is spent yet.")
    before = person.server.spent()
    b.click_named("button", "Make it, spends ε 0.1")
    b.wait("document.querySelector('#synthetic table')", why="rows are shown", seconds=90)
    check("50 rows" in b.run("document.querySelector('#synthetic').innerText"), "not 50 rows")
    check(abs(person.server.spent() - before - 0.1) < 1e-9, "it cost something else")
    person.shot("synthetic")


def an_owner_amends_a_dataset(person):
    b = person.browser
    person.go("datasets/wide")
    b.click_named("summary", "Amend the policy")
    b.click_named("button", "Amend")
    b.wait_text("Nothing was changed.")
    b.fill("New budget ε", "25")
    b.fill("New budget δ", "1e-6")
    b.fill("Bounds", "age=0..90")
    b.click_named("button", "Amend")
    b.wait_text("0 to 90")
    shown = person.server.json("budget", "wide")
    check(shown["budget"]["epsilon"] in (25, "25"), f"the budget is {shown['budget']}")
    person.shot("amended")
    b.click_named("summary", "Amend the policy")
    b.fill("New budget ε", "0.0000001")
    b.click_named("button", "Amend")
    b.wait_text("It was not amended")


def an_auditor_verifies_and_exports(person):
    b = person.browser
    person.sign_in("audra")
    person.go("ledger")
    b.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=person.folder)
    b.click_named("button", "Verify the ledger")
    b.wait_text("The ledger holds")
    target = os.path.join(person.folder, "ledger.json")
    if os.path.exists(target):
        os.remove(target)
    b.click_named("button", "Download the record")
    b.wait_text("ledger.json is downloaded.")
    for _ in range(100):
        if os.path.exists(target):
            break
        time.sleep(0.1)
    with open(target, encoding="utf-8") as file:
        check(isinstance(json.load(file), dict), "the record is not JSON")
    check(person.server.program and subprocess.run([person.server.program, "ledger", "verify", "--against", target], cwd=person.server.folder,
          env=person.server.environment, stdout=subprocess.DEVNULL).returncode == 0, "the record is not one of this ledger")
    person.shot("ledger")
    person.sign_in("alice")
    check("Ledger" not in b.run("document.getElementById('nav').innerText"), "an analyst is shown the ledger")


def the_page_works_over_tls(person):
    b = person.browser
    b.open("about:blank")  # what the page of before still asks is not of this one
    time.sleep(1)
    start = len(b.requests)
    with Clinic(*person.server.made_by, tls=True) as other:
        somebody = Person(b, other, person.folder)
        somebody.begin()
        somebody.write(QUESTION)
        somebody.ask()
        check_answer(b)
        check(b.run("location.protocol") == "https:" and b.run("isSecureContext"), "it is not a secure context")
        called = {url for _, url in b.requests[start:] if not url.startswith((other.url, "blob:", "about:", "data:"))}
        check(not called, f"requests to {called}")
        check(other.spent() > 0, "nothing was asked")
        somebody.shot("tls")
        b.open("about:blank")
        time.sleep(1)
    del b.requests[start:]  # of another server than the rest


def a_phone_shows_everything(person):
    b = person.browser
    b.size(390, 844, phone=True)
    person.sign_in("alice")
    for view in ("ask", "datasets", "datasets/visits", "budgets", "history"):
        person.go(view)
        if view == "ask":
            person.write(QUESTION)
            person.ask()
            b.run("scrollTo(0, 0)")
        wide = b.run("document.documentElement.scrollWidth")
        check(wide <= 390, f"{view} is {wide} points wide on a phone of 390")
        small = b.run("""[...document.querySelectorAll('button, a, input, select, summary')].filter((one) => one.offsetParent && one.id !== 'skip' && !one.closest('p'))
            .map((one) => [one.innerText || one.id, one.getBoundingClientRect()]).filter(([, box]) => box.height < 24).map(([text]) => text)""")
        check(not small, f"too small to touch in {view}: {small}")
        person.shot("phone-" + view.replace("/", "-"))
    b.size(1360, 900)


def dark_follows_the_system_and_the_switch(person):
    b = person.browser
    b.run("localStorage.clear()")

    def ground():
        return b.run("getComputedStyle(document.documentElement).backgroundColor")
    b.prefer("dark")
    person.sign_in("alice")
    dark = ground()
    person.go("ask")
    person.write(QUESTION)
    person.ask()
    b.run("scrollTo(0, 0)")
    person.shot("dark")
    b.click_named("button", "Light colours")
    light = ground()
    check(light != dark, "the switch changes nothing")
    b.open(person.server.url)
    b.wait_text("alice")
    check(ground() == light, "the choice is forgotten")
    b.run("localStorage.clear()")
    b.prefer("light")


def tab_to(browser, test, why):
    """Press Tab until the focused element passes the test, which gets it as `one`."""
    for _ in range(TAKES):
        if browser.run(f"((one) => {test})(document.activeElement)"):
            return
        browser.key("Tab")
    raise AssertionError(f"Tab does not reach {why}")


def everything_works_by_keyboard(person):
    b = person.browser
    b.open(person.server.url)
    b.run("sessionStorage.clear()")
    b.open(person.server.url)
    b.wait("document.activeElement.type === 'password'", why="the focus is in the token")
    b.type(person.server.tokens["alice"])
    b.key("Enter")
    b.wait_text("Price and error")
    b.wait("document.querySelectorAll('.tree summary').length > 0")
    b.run("document.body.focus()")
    tab_to(b, "one.matches('.cm-content')", "the question")
    b.key("a", 2)
    b.type("SELECT MEDIAN(age) AS median_age FROM visits")
    b.key("Escape")
    tab_to(b, "one.type === 'range'", "the slider")
    b.key("Home")
    for _ in range(12):
        b.key("ArrowRight")
    person.settle()
    b.wait("document.querySelector('.bars .pm')")
    check(b.run("getComputedStyle(document.activeElement).outlineStyle") != "none", "the focus cannot be seen")
    tab_to(b, "one.innerText.startsWith('Ask, spends')", "the button")
    before = person.server.spent()
    b.key("Enter")
    b.wait("document.querySelector('#answer .one b')", why="an answer by keyboard")
    check(person.server.spent() > before, "it was not asked")
    b.run("document.getElementById('skip').focus()")
    b.key("Enter")
    check(b.run("document.activeElement.id") == "main", "the skip link does not skip")


def a_screen_reader_finds_its_way(person):
    b = person.browser
    tree = b.send("Accessibility.getFullAXTree")["nodes"]
    found = {(node.get("role", {}).get("value"), node.get("name", {}).get("value")) for node in tree if not node.get("ignored")}
    roles = {role for role, _ in found}
    check({"banner", "navigation", "main", "heading"} <= roles, f"landmarks: {sorted(str(role) for role in roles)}")
    check(("navigation", "Main") in found and ("slider", "Price, epsilon, as a slider") in found, "the slider or the navigation has no name")
    check(any(role == "status" for role in roles), "no live region")
    person.write(QUESTION)
    b.wait("document.getElementById('status').innerText.includes('Nothing was spent')", why="the errors are announced")


def nothing_else_was_called(person):
    b = person.browser
    others = {url for _, url in b.requests if not url.startswith((person.server.url, "blob:", "about:", "data:"))}
    check(not others, f"requests to {others}")
    check(not b.faults, f"the console says {b.faults}")


def axe_finds_nothing_serious(person, axe, schemes=("light", "dark"),
                              views=("ask", "datasets", "datasets/visits", "budgets", "history", "statistics", "synthetic", "ledger", "register", "users", "door")):
    b = person.browser
    with open(axe, encoding="utf-8") as file:
        script = file.read()
    worst = []
    person.sign_in("olivia")
    for scheme in schemes:
        b.prefer(scheme)
        for view in views:
            if view == "door":
                b.click_named("button", "Sign out")
                b.wait_text("Token")
            else:
                person.go(view)
            if view == "ask":
                person.write(QUESTION)
                b.fill("Price, epsilon", "0.5")
                person.settle()
                person.ask()
                person.write(QUESTION + ";\nSELECT COUNT(*) AS n FROM visits")  # a basket beside an answer
                b.click_named("summary", "Tables and columns")
                b.click_named("summary", "More settings")
                person.settle()  # the bars are pale while they are asked for
                time.sleep(0.3)
            b.run(script + "\n;true")
            found = b.run("axe.run(document, {resultTypes: ['violations']}).then((all) => all.violations"
                          ".map((one) => [one.impact, one.id, one.nodes.map((node) => node.target.join(' ')).slice(0, 4)]))")
            worst += [(scheme, view, *one) for one in found if one[0] in ("serious", "critical")]
            for one in found:
                print(f"# axe, {scheme} {view}: {one}")
        if "door" in views and scheme != schemes[-1]:
            person.sign_in("olivia")
    b.prefer("light")
    check(not worst, f"axe-core found {worst}")


def an_answer_again(person):
    person.begin("olivia")
    person.write(QUESTION)
    person.browser.fill("Price, epsilon", "0.5")
    person.settle()
    person.ask()
    check_answer(person.browser)


# Pages with a fault: the file, what is replaced by what, and who must find it.
FAULTS = [
    ("basket.js", "return own ? [own.id]", "return own ? [own.id - 1]", a_basket_is_priced_and_paid_by_one_button),
    ("ask.js", "plan.statements.map(({ sql }) =>", "plan.statements.slice(1).map(({ sql }) =>", a_basket_is_priced_and_paid_by_one_button),
    ("chart.js", '["halo", "error"]', '["halo"]', an_answer_again),
    ("api.js", "get(`/v1/history?answer=${part(id)}`)", 'post("/v1/query", {sql: "SELECT COUNT(*) AS n FROM visits", epsilon: "0.01"})',
     history_reads_again_for_nothing),
    ("style.css", "--soft: light-dark(#51606e", "--soft: light-dark(#b9c2cb", axe_finds_nothing_serious),
    ("api.js", 'post("/v1/explain", question, signal)', '(post("/v1/query", question), post("/v1/explain", question, signal))', the_slider_shows_errors_and_spends_nothing),
    ("ask.js", "this.button.disabled = !again && (!plan || !enough);", "this.button.disabled = !again && !plan;", a_price_is_never_more_than_what_is_left),
    ("budget.js", "Math.min(most, 0.5)", "0.5", a_price_is_never_more_than_what_is_left),
    ("ask.js", "this.showWrong(document.activeElement === this.editor.area);", "this.showWrong();", nobody_who_types_is_shown_an_error),
    ("ask.js", "    this.wrong = null;\n    clear(this.problem);\n", "", nobody_who_types_is_shown_an_error),
    ("preview.js", "least: bar, most: bar, about", "least: 2 * bar, most: 2 * bar, about", the_bar_before_is_the_bar_of_the_answer),
    ("picture.js", "if (time && values.length > 2)", "if (false)", times_are_lines_and_two_keys_a_table_of_both),
    ("picture.js", "keys.length !== 2", "true", times_are_lines_and_two_keys_a_table_of_both),
    ("picture.js", ".clamp_low >= 0 ? 0 : undefined", ".clamp_low >= 0 ? undefined : undefined", pictures_say_what_tables_say),
    ("editor.js", "closeBrackets(), ", "", the_editor_undoes_and_closes_brackets),
    ("app.js", "rest: rest.map(decodeURIComponent)", "rest", a_question_has_a_link),
    ("app.js", "\nstart();", "\ndocument.body.setAttribute('style', 'color: red');\nstart();", nothing_else_was_called),
]


def pages_with_a_fault_are_found(person, axe):
    b = person.browser
    for name, old, new, step in FAULTS:
        if step is axe_finds_nothing_serious and not axe:
            continue
        b.alter(name, old, new)
        found = False
        try:
            if step is axe_finds_nothing_serious:
                step(person, axe, ("light",), ("budgets",))
            elif step is nothing_else_was_called:
                person.begin()
                step(person)
            else:
                step(person)
        except AssertionError as error:
            found = True
            print(f"# found in {name}: {str(error)[:150]}")
        b.alter(None, None, None)
        check(found, f"{step.__name__} does not find {new!r} in {name}")
        check(not any("nothing to alter" in fault for fault in b.faults), f"{name} has no {old!r}")


def main():
    programs, make_visits, folder = sys.argv[1:4]
    axe = sys.argv[4] if len(sys.argv) > 4 else None
    if not find_browser():
        print("1..0 # SKIP there is no Chromium")
        return 0
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        if name.startswith("failed-"):
            os.remove(os.path.join(folder, name))
    steps = [a_wrong_token_opens_nothing, the_token_is_kept_in_this_tab_only, completion_offers_tables_columns_and_functions,
             the_editor_undoes_and_closes_brackets, the_slider_shows_errors_and_spends_nothing, an_accuracy_has_a_price, a_rehearsal_is_free, an_answer_is_a_table_and_bars_with_whiskers,
             error_bars_of_answers_are_within_those_before, asking_again_is_free, a_basket_is_priced_and_paid_by_one_button,
             a_basket_that_breaks_off_shows_what_was_paid, downloads_have_the_answer, history_reads_again_for_nothing, the_empty_page_shows_tables_and_recent_questions,
             the_bar_before_is_the_bar_of_the_answer, a_price_is_never_more_than_what_is_left, nobody_who_types_is_shown_an_error,
             times_are_lines_and_two_keys_a_table_of_both, pictures_say_what_tables_say, a_question_has_a_link, errors_come_with_their_hint,
             beyond_the_budget_is_refused, an_owner_registers_a_dataset, an_owner_adds_a_user, an_owner_sees_who_spent_what,
             an_auditor_reads_and_does_not_ask, a_question_that_runs_can_be_stopped, limits_are_bought_alone, statistics_are_released_and_read_again, statistics_know_tables_of_a_policy,
             an_analyst_makes_synthetic_data, an_owner_amends_a_dataset, an_auditor_verifies_and_exports, the_page_works_over_tls, a_phone_shows_everything, dark_follows_the_system_and_the_switch, everything_works_by_keyboard,
             a_screen_reader_finds_its_way, axe_finds_nothing_serious, nothing_else_was_called, pages_with_a_fault_are_found]
    print(f"1..{len(steps)}")
    failed = 0
    with Clinic(programs, make_visits) as server:
        person = Person(Browser(), server, folder)
        try:
            for number, step in enumerate(steps, 1):
                name = step.__name__.replace("_", " ")
                if step is axe_finds_nothing_serious and not axe:
                    print(f"ok {number} - {name} # SKIP without axe-core: ./run page fetches it")
                    continue
                try:
                    step(person, axe) if step in (axe_finds_nothing_serious, pages_with_a_fault_are_found) else step(person)
                    print(f"ok {number} - {name}", flush=True)
                except (AssertionError, RuntimeError, TimeoutError) as error:
                    failed += 1
                    print(f"not ok {number} - {name}")
                    print("\n".join("# " + line for line in str(error).splitlines()), flush=True)
                    person.shot("failed-" + step.__name__.replace("_", "-"))
        finally:
            person.browser.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
