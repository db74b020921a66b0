#!/usr/bin/env python3
"""check_page.py FOLDER MESON_BUILD: what the page's strict security policy and its being compiled in rest on, in TAP.

Every file that is referred to is there, every file is listed for the program, nothing is inline, nothing is
parsed from a text, and nothing comes from elsewhere. Each rule is also tried on a copy with one fault, which it
must find.
"""
import os
import re
import shutil
import sys
import tempfile

REFERENCE = re.compile(r'(?:href|src)="([^"#]+)"')
IMPORT = re.compile(r'(?:from|import)\s+"([^"]+)"')
URL = re.compile(r"url\(([^)]+)\)")
INLINE = [(re.compile(r"<script(?![^>]*\bsrc=)[^>]*>", re.I), "an inline script"), (re.compile(r"<style", re.I), "an inline style"),
          (re.compile(r"\sstyle\s*=", re.I), "a style attribute"), (re.compile(r"\son[a-z]+\s*=\s*[\"']", re.I), "an inline handler"),
          (re.compile(r"javascript:", re.I), "a javascript: address")]
PARSED = re.compile(r"\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|eval\s*\(|"
                    r"new Function|setAttribute\(\s*[\"']style|cssText)\b")
REMOTE = re.compile(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}|\bwss?://", re.I)
NAMESPACE = "http://www.w3.org/2000/svg"


def texts(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith((".html", ".css", ".js", ".svg")):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                yield name, file.read()


def missing_files(folder, _):
    there = set(os.listdir(folder))
    for name, text in texts(folder):
        named = REFERENCE.findall(text) if name.endswith((".html", ".svg")) else []
        if name.endswith(".js"):
            named = IMPORT.findall(text) + re.findall(r'src: "([^"]+)"', text)
        elif name.endswith(".css"):
            named = [one.strip("\"'") for one in URL.findall(text)]
        for one in named:
            if one.removeprefix("./") not in there:
                yield f"{name}: there is no {one}"


def unlisted_files(folder, meson):
    with open(meson, encoding="utf-8") as file:
        listed = set(re.findall(r"'files/([^']+)'", file.read()))
    there = set(os.listdir(folder))
    yield from (f"{name} is not in meson.build" for name in sorted(there - listed))
    yield from (f"meson.build lists {name}, which is not there" for name in sorted(listed - there))


def inline_parts(folder, _):
    for name, text in texts(folder):
        if name.endswith((".html", ".svg")):
            for pattern, what in INLINE:
                if pattern.search(text):
                    yield f"{name}: {what}"


def parsed_texts(folder, _):
    for name, text in texts(folder):
        if name == "codemirror.js":
            text = text.replace("style.cssText", "") # set by a script that came from the server, which the policy allows
        if name.endswith(".js") and PARSED.search(text):
            yield f"{name}: {PARSED.search(text).group(0)}"


def remote_parts(folder, _):
    for name, text in texts(folder):
        found = REMOTE.search(text.replace(NAMESPACE, ""))
        if found:
            yield f"{name}: {found.group(0)}"


def missing_licences(folder, _):
    there = os.listdir(folder)
    for name in there:
        if (name.endswith(".woff2") or name == "codemirror.js") and not any(other.endswith("-licence.txt") and name.startswith(other.removesuffix("-licence.txt"))
                                               for other in there):
            yield f"{name} has no licence beside it"


# What holds, how it is found to fail, and a fault that must be found: (file, text that is added).
RULES = [
    ("every file that is referred to is there", missing_files, ("app.js", '\nimport "./nowhere.js";\n')),
    ("every file is compiled in", unlisted_files, ("extra.js", "export {};\n")),
    ("nothing is inline", inline_parts, ("index.html", "<script>alert(1)</script>")),
    ("no handler is inline", inline_parts, ("index.html", '<p onclick="x()">')),
    ("no style is inline", inline_parts, ("index.html", '<p style="color: red">')),
    ("no text is parsed as markup or script", parsed_texts, ("dom.js", "\ndocument.body.innerHTML = name;\n")),
    ("nothing comes from elsewhere", remote_parts, ("style.css", "\n@import url(https://fonts.example.com/a.css);\n")),
    ("every font has its licence, and the editor", missing_licences, ("other.woff2", "")),
]


def finds_fault(check, folder, meson, fault):
    with tempfile.TemporaryDirectory() as copy:
        copied = os.path.join(copy, "files")
        shutil.copytree(folder, copied)
        with open(os.path.join(copied, fault[0]), "a", encoding="utf-8") as file:
            file.write(fault[1])
        return bool(list(check(copied, meson)))


def main():
    folder, meson = sys.argv[1], sys.argv[2]
    print(f"1..{len(RULES)}")
    failed = 0
    for number, (what, check, fault) in enumerate(RULES, 1):
        wrong = list(check(folder, meson))
        if not finds_fault(check, folder, meson, fault):
            wrong.append("the rule does not find a fault")
        print(f"{'not ok' if wrong else 'ok'} {number} - {what}")
        for one in wrong:
            print(f"# {one}")
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
