"""The places of a C file where faults can be planted, and what is put there."""
import re


# --- reading C ---------------------------------------------------------------------------------------
def blank(text):
    """The text with comments, strings and preprocessor lines as spaces, every place where it was."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S | re.M)


def without_messages(code):
    """The code with what only tells (errors, printing, JSON) as spaces: a fault there is no leak."""
    return without_calls(code, r"brume_fail|[fs]n?printf|json_(?:pack|object_set_new)")


def without_memory(code):
    """The code with sizes of memory as spaces: sanitizers find a fault there, not these tests."""
    return without_calls(code, r"(?:c|m|re|aligned_)alloc|brume_arena_allocate")


def without_calls(code, names):
    for m in re.finditer(r"\b(?:" + names + r")(\()", code):
        end = closing(code, m.start(1))
        code = code[:m.end()] + re.sub(r"[^\n]", " ", code[m.end():end]) + code[end:]
    return code


def closing(code, at):
    """The place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0:
            return i
    return len(code) - 1


def arguments(code, at):
    """(start, end) of each argument of the call whose bracket is at `at`."""
    end, depth, start, found = closing(code, at), 0, at + 1, []
    for i in range(at, end):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if code[i] == "," and depth == 1:
            found.append((start, i))
            start = i + 1
    return found + [(start, end)]


# --- rules: each yields (start, end, what is put there) ----------------------------------------------
def drop_factor(code, text, names):
    for m in re.finditer(r"\b2(?:\.0)? \* | \* 2(?:\.0)?\b(?![.\w])| / 2\b(?![.\w])", code):
        yield m.start(), m.end(), ""
    for m in re.finditer(r"\bbrume_(?:multiply|divide)_(?:up|down)(\()", code):
        parts = arguments(code, m.start(1))
        for i in range(len(parts)):
            if len(parts) == 2 and code[slice(*parts[i])].strip() in ("2", "2.0", "0.5", ".5"):
                yield m.start(), closing(code, m.start(1)) + 1, text[slice(*parts[1 - i])].strip()


def swap_extremes(code, text, names):
    for m in re.finditer(r"\bf(min|max)\(", code):
        yield m.start(1), m.end(1), {"min": "max", "max": "min"}[m.group(1)]


def turn_rounding(code, text, names):
    other = {"up": "down", "down": "up", "upper": "lower", "lower": "upper", "ceil": "floor",
             "floor": "ceil", "RNDU": "RNDD", "RNDD": "RNDU", "CEIL": "FLOOR", "FLOOR": "CEIL"}
    for m in re.finditer(r"\b(\w+_)(up|down|upper|lower)\(|\b()(ceil|floor)\(|\b(MPFR_)(RND[UD])\b|"
                         r"\b(ARF_RND_)(CEIL|FLOOR)\b|(\.)(upper|lower)\b", code):
        which = m.lastindex
        stem, word = m.group(which - 1), m.group(which)
        line_start = code.rfind("\n", 0, m.start()) + 1
        if word in ("up", "down", "upper", "lower") and stem != "." and stem + other[word] not in names:
            continue
        if not code[line_start].isspace():  # a definition
            continue
        yield m.start(which), m.end(which), other[word]


def is_extreme(code, comparison):
    """a > b ? a : b, and such: at equality there is nothing to choose."""
    left = re.search(r"([\w.>\[\]*-]+)$", code[max(0, comparison.start() - 80):comparison.start()])
    right = re.match(r"([\w.>\[\]*-]+)\s\? ([\w.>\[\]*-]+)\s+: ([\w.>\[\]*-]+)", code[comparison.end():])
    return bool(left and right and {left.group(1), right.group(1)} == {right.group(2), right.group(3)})


def off_by_one(code, text, names):
    other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
    for m in re.finditer(r" (<=|>=|<|>) ", code):
        if not is_extreme(code, m):
            yield m.start(1), m.end(1), other[m.group(1)]
    for m in re.finditer(r" [+-] 1\b(?![.\w])|(?<=[ (=])1 \+ ", code):
        yield m.start(), m.end(), ""


def skip_clamp(code, text, names):
    for m in re.finditer(r"(?<=[ (=-])(?:f(?:min|max)|\w*clamp\w*)(\()", code):
        parts = arguments(code, m.start(1))
        keep = parts if m.group().startswith("f") else parts[:1]
        for start, end in keep:
            yield m.start(), closing(code, m.start(1)) + 1, "(" + text[start:end].strip() + ")"


def skip_check(code, text, names):
    kinds = r"(?:reserve|charge|check|commit|append|see|cap|verify|next|agree|mark|head|begin)"
    for m in re.finditer(r"\bBRUME_TRY(\()\s*(\w+)", code):
        if re.search(r"(?:^|_)" + kinds + r"(?:_|$)", m.group(2)):
            yield m.start(), closing(code, m.start(1)) + 1, ""
    for m in re.finditer(r"\bstatus =\s+(\w+)(\()", code):
        if re.search(r"(?:^|_)" + kinds + r"(?:_|$)", m.group(1)):
            yield m.start(), closing(code, m.start(2)) + 1, "status = BRUME_OK"


def reuse_draw(code, text, names):
    for m in re.finditer(r"\b(?:draws?|noise|noisy|words?|block|uniforms?)\[([^\[\]]*\bi\b[^\[\]]*)\]", code):
        yield m.start(1), m.end(1), "0"


# x ? BRUME_OK : out_of_memory(error): no test runs out of memory.
OUT_OF_MEMORY = re.compile(r":\s+(?:out_of_memory|(?:brume_)?no_memory)\b|\bBRUME_EMEMORY\b|\"(?:out of|no) memory")


def other_branch(code, text, names):
    for m in re.finditer(r"\s\? ", code):
        depth, start = 0, m.start()
        while start > 0:
            c = code[start - 1]
            depth += (c in ")]}") - (c in "([{")
            if depth < 0 or (depth == 0 and (c in ",;:?" or re.search(r"(?:[^=!<>]=|return)\s$",
                                                                      code[max(0, start - 8):start]))):
                break
            start -= 1
        while code[start].isspace():
            start += 1
        for chosen in ("true", "false"):
            if chosen == "false" or not OUT_OF_MEMORY.search(text[m.start():text.find(";", m.start())]):
                yield start, m.start(), chosen


RULES = {
    "factor": drop_factor,
    "extremes": swap_extremes,
    "rounding": turn_rounding,
    "one": off_by_one,
    "clamp": skip_clamp,
    "check": skip_check,
    "draw": reuse_draw,
    "branch": other_branch,
}


def places(text, names):
    """(rule, start, end, what is put there) of every fault in the text of a file."""
    code = without_memory(without_messages(blank(text)))
    for rule, find in RULES.items():
        for start, end, put in find(code, text, names):
            if text[start:end] != put:
                yield rule, start, end, put
