"""All faults of a file in one text: a function with faults is written once more for each of them, and
asks at its beginning which of these copies is to run in its place.

The fault that is planted is the number in the environment's BRUME_FAULT, and the functions that were
called are marked in the file that BRUME_FAULT_SEEN names: a test that calls none of the copies cannot
find a fault in them. BRUME_FAULT_TEST is the one test of the program that runs. A number is 1,000 for
each file before this one, and its place in this one."""
import re

from mutation import rules

STEP = 1000  # numbers of a file; no file has as many faults

RUNTIME = """
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int brume_fault;
void cmocka_set_test_filter(const char *) __attribute__((weak));
static unsigned char nobody_looks[SIZE];
unsigned char *brume_fault_seen = nobody_looks;

__attribute__((constructor(101))) static void start(void)
{
    const char *number = getenv("BRUME_FAULT"), *seen = getenv("BRUME_FAULT_SEEN");
    brume_fault = number ? atoi(number) : 0;
    if (getenv("BRUME_FAULT_TEST") && cmocka_set_test_filter)
        cmocka_set_test_filter(getenv("BRUME_FAULT_TEST"));
    setvbuf(stdout, NULL, _IOLBF, 0); /* whoever waits for the first failure sees it at once */
    int file = seen ? open(seen, O_RDWR) : -1;
    if (file < 0)
        return;
    /* shared with processes that the test starts, and kept where one of them is killed */
    void *shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED)
        brume_fault_seen = shared;
    close(file);
}
"""

HEADER = re.compile(r"^(?=[A-Za-z_])((?:__attribute__\(\([^{};]*?\)\)|[^;{}=()])*?)"
                    r"\b(?!__attribute__)(\w+)\(([^;{}]*)\)\s*\{\n", re.M)


class Function:
    def __init__(self, number, code, match):
        self.number, self.prefix, self.name, self.parameters = number, match.group(1), match.group(2), match.group(3)
        self.start, self.body = match.start(), match.end()
        self.name_at, self.end = match.start(2), code.index("\n}", match.end() - 1) + 2

    def arguments(self):
        """The names of its parameters, as they are passed on."""
        if self.parameters.strip() == "void":
            return ""
        whole = "(" + self.parameters + ")"
        found = []
        for start, end in rules.arguments(whole, 0):
            one = whole[start:end].strip()
            inner = re.search(r"\(\*\s*(?:const\s+)?(\w+)\)", one)  # of a function, of an array
            found.append((inner or re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", one)).group(1))
        return ", ".join(found)

    def result(self):
        """What it returns, without the words that only tell how it is compiled."""
        words = re.sub(r"__attribute__\(\(.*?\)\)\s|\b(?:static|inline|extern|BRUME_\w+)\s", " ", self.prefix)
        return " ".join(words.split())

    def declaration(self, copy):
        return f"static __attribute__((noinline)) {self.result()} {copy}({self.parameters})"


def functions_of(text):
    code = rules.blank(text)
    found = [Function(i, code, match) for i, match in enumerate(HEADER.finditer(code))]
    return [f for f in found if "..." not in f.parameters]  # these cannot be passed on


def write(path, text, base, planted):
    """The text with every fault of `planted`: {number in this file: (function, start, end, put)}."""
    parts, at = [f'extern int brume_fault;\nextern unsigned char *brume_fault_seen;\n#line 1 "{path}"\n'], 0
    for function in functions_of(text):
        own = {n: fault for n, fault in planted.items() if fault[0] == function.number}
        if not own:
            continue
        parts.append(text[at:function.start])
        copies, cases = [], []
        for number, (_, start, end, put) in own.items():
            copy = f"{function.name}_fault_{number}"
            parts.append(function.declaration(copy) + ";\n")
            call = f"{copy}({function.arguments()});"
            cases.append(f"case {base + number}: " + (f"{call} return;" if function.result() == "void"
                                                      else f"return {call}"))
            copies.append(f'\n#line 1 "fault-{number}"\n{function.declaration(copy)}\n{{\n'
                          + text[function.body:start] + put + text[end:function.end])
        line = text.count("\n", 0, function.start) + 1
        parts.append(f'#line {line} "{path}"\n' + text[function.start:function.body])
        parts.append(f"brume_fault_seen[{base + function.number}] = 1; switch (brume_fault) {{ {' '.join(cases)} }}\n")
        parts.append(text[function.body:function.end] + "".join(copies))
        parts.append(f'\n#line {text.count(chr(10), 0, function.end) + 1} "{path}"')
        at = function.end
    return "".join(parts) + text[at:]
