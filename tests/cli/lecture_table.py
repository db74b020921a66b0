#!/usr/bin/env python3
"""Make the table of docs/lectures/README.md from the pages, or check that it is the one they make.

    lecture_table.py DOCS_FOLDER           check, in TAP
    lecture_table.py DOCS_FOLDER --write   write it

Every item of the lectures is a heading `## NUMBER. TITLE` of one page, with at least one command
that the tests run and a line `Agrees with: ...`. The table has a row for each of them, in order.
Where the notes are corrected (`**Correction.**`), a command comes after it that shows the mistake.
"""
import glob
import os
import re
import sys

ITEMS = 81
BEGIN, END = "<!-- table begins -->", "<!-- table ends -->"


def read_items(folder):
    """{number: (page, title, command, agrees)} and what is wrong."""
    items, wrong = {}, []
    for path in sorted(glob.glob(os.path.join(folder, "*.md"))):
        page = os.path.basename(path)
        if page == "README.md":
            continue
        parts = re.split(r"^## (\d+)\. (.*)$", open(path, encoding="utf-8").read(), flags=re.M)
        for number, title, text in zip(parts[1::3], parts[2::3], parts[3::3]):
            number = int(number)
            command = re.search(r"^\$ (?:.*\| )?(brume .*)$", text, flags=re.M)
            commands = re.findall(r"^\$ (.*brume .*)$", text, flags=re.M)
            shown = [c for c in commands if " register " not in c]
            agrees = re.search(r"^Agrees with: (.*)$", text, flags=re.M)
            after = text.rpartition("**Correction.**")
            if after[1] and not re.search(r"^\$ ", after[2], flags=re.M):
                wrong.append(f"item {number} corrects the notes, and no command after it shows the mistake")
            if number in items:
                wrong.append(f"item {number} is there twice")
            if not command or not shown or not agrees:
                wrong.append(f"item {number} has no command, or nothing that it agrees with")
                continue
            items[number] = (page, title, shown[0], agrees.group(1))
    wrong += [f"item {n} is missing" for n in range(1, ITEMS + 1) if n not in items]
    return items, wrong


def make_table(items):
    rows = ["| | item | command | agrees with |", "|---|---|---|---|"]
    for number in sorted(items):
        page, title, command, agrees = items[number]
        name = re.search(r"brume ((?:ledger|stream|attack)? ?[a-z]\S*)", command).group(1).strip()
        short = re.search(r"brume [^|<>]*", command).group(0).strip().replace("|", "\\|")
        short = short if len(short) <= 90 else short[:87] + "..."
        rows.append(f"| {number} | [{title}]({page}) | `{short}` | {agrees.replace('|', chr(92) + '|')} |")
        assert name
    return "\n".join(rows)


def main():
    folder = sys.argv[1]
    path = os.path.join(folder, "README.md")
    items, wrong = read_items(folder)
    text = open(path, encoding="utf-8").read()
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END)
    made = "\n\n" + make_table(items) + "\n\n"
    if "--write" in sys.argv:
        open(path, "w", encoding="utf-8").write(before + BEGIN + made + END + after)
        return 0
    print("1..2")
    print(f"{'not ok' if wrong else 'ok'} 1 - every item has a command and something that it agrees with")
    print("\n".join("# " + line for line in wrong), end="\n" if wrong else "")
    same = inside == made
    print(f"{'ok' if same else 'not ok'} 2 - the table is the one that the pages make")
    if not same:
        print("# run tests/cli/lecture_table.py docs/lectures --write")
    return 1 if wrong or not same else 0


if __name__ == "__main__":
    sys.exit(main())
