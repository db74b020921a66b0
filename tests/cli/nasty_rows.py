"""Tables of people for the neighbour test: ordinary rows, and the nastiest rows one person can have.

A table has the columns id (the unit), who (a copy of it, to group by), x (a bounded number), t (text)
and d (a timestamp). Ordinary units are named u1, u2, ...; nothing nasty contains a 'u', so a nasty row
can belong to the victim or to nobody, but not to somebody else.
"""
import json
import os
import struct
import subprocess

VICTIM = "v7"
NAMES = ("id", "who", "x", "t", "d")


def ordinary(random, unit):
    x = random.choice(["", str(random.randint(-20, 120)), f"{random.uniform(0, 100):.3f}"])
    t = random.choice(["", "red", "green bee", "été", "5 o'clock", "a,b"])
    d = random.choice(["", f"20{random.randint(10, 24)}-0{random.randint(1, 9)}-11 10:00:00"])
    return [unit, unit, x, t, d]


def ordinary_table(random):
    """Rows of 3 to 12 units without the victim, in a random order."""
    rows = [ordinary(random, f"u{i}") for i in range(random.randint(3, 12))
            for _ in range(random.randint(1, 3))]
    random.shuffle(rows)
    return rows


# --- CSV and TSV -----------------------------------------------------------------------------------

BYTES = [b'"', b'""', b'"""', b'\\"', b"'", b"\\", b"\r", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80",
         b"\xef\xbb\xbf", b"\xf4\x90\x80\x80", b"#", b" ", b"\t", b",", b";", b"|", b"1e999", b"NaN", b"-inf",
         b"99999999999999999999999999999999999999999", b"0x10", b"1_000", b"2020-13-45", b"-0", b"NULL", b"\\N",
         b"{", b"[", b"}", b"\x1a", b"\x7f", b"\xe2\x80\xa8", b"\x0b", b"\x85", b"a" * 70000, b'"' * 3001, b"," * 3000,
         b"294247-01-10 04:00:54.775807", b"10000-01-01", b"0000-00-00", b"infinity", b"$(id)", b"%s%n", b"\xc2\x85"]


def mash(random, most=9):
    return b"".join(random.choice(BYTES) for _ in range(random.randint(0, most)))


def separated_line(cells, delimiter, quoting):
    def cell(text):
        special = delimiter in text or '"' in text
        return '"' + text.replace('"', '""') + '"' if quoting and (special or len(text) % 3 == 2) else text
    return delimiter.join(cell(text) for text in cells).encode()


def nasty_separated(random, delimiter):
    """A line of any bytes but LF, often one that begins like a row of the victim."""
    kind = random.randrange(5)
    mark = delimiter.encode()
    if kind == 0:
        return mash(random)
    if kind == 1:
        return f"{VICTIM}{delimiter}{VICTIM}{delimiter}".encode() + mash(random)
    cells = [cell.encode() for cell in ordinary(random, VICTIM)]
    cells[random.randrange(2 if kind == 4 else 0, 5)] = mash(random, 4)
    if kind == 2:
        return mark.join(cells[:random.randint(0, 5)])
    if kind == 3:
        return mark.join(cells + [mash(random, 3)] * random.randint(1, 40))
    return mark.join(cells)


def nasty_visit(random, number):
    """A line of the victim's in a table of visit, person and cost."""
    line = random.choice([mash(random), f"{VICTIM}-{number},{VICTIM},".encode() + mash(random, 3),
                          mash(random, 2) + f",{VICTIM},3".encode(), f"{VICTIM}-{number}".encode()])
    return line if b"\n" not in line else b""


# --- JSON lines ------------------------------------------------------------------------------------

def json_line(cells):
    record = {name: text for name, text in zip(NAMES, cells) if text != ""}
    if "x" in record:
        record["x"] = float(record["x"])
    return json.dumps(record).encode()


def nasty_json(random):
    good = json_line(ordinary(random, VICTIM))
    kind = random.randrange(8)
    if kind == 0:
        return good[:random.randint(0, len(good) - 1)]
    if kind == 1:
        return good + random.choice([b"}", b",", b"{", good, b"\0", b" x", b"\\"])
    if kind == 2:
        return mash(random)
    if kind == 3:
        return b'{"id":' + random.choice([b"[" * 20000, b'{"a":' * 20000, b'"' + b"\\" * 4001, b'"\\ud800"'])
    if kind == 4:
        value = random.choice([b"1e999", b"-1E+400", b"01", b"+1", b"NaN", b'"\\x00"', b"[1,2]", b'{"x":1}', b"true",
                               b"9" * 500, b"1e-400", b"nil", b"'1'", b'"\\n1"', b"0.1e", b"--1"])
        return b'{"id":"v7","who":"v7","x":' + value + b',"t":"red"}'
    if kind == 5:
        return b'{"id":"v7","id":"v8","who":"v7","who":1,"hiv_' + b"s" * random.randint(1, 50) + b'":"positive"}'
    if kind == 6:
        return b'{"id":"v7","who":"v7","t":"' + random.choice([b"\xff", b"\\ud83d", b"\\u0000", b"\x01", b"\t",
                                                              b"a" * 200000, b"\\", b"\\q"]) + b'"}'
    return random.choice([b"", b" ", b"null", b"[]", b"{}", b'"v7"', b"\xef\xbb\xbf{}", b"[" + good, good + b"]"])


# --- Parquet ---------------------------------------------------------------------------------------
# DuckDB writes a file in which each nasty value is a sentinel of the same length; its bytes are then
# replaced, which no writer of valid files would do.

TEXT_SENTINEL, NUMBER_SENTINEL, TIME_SENTINEL = "SENTINELSENTINEL", "77777777.777", "2001-02-03 04:05:06.789"
SENTINELS = [VICTIM, VICTIM, NUMBER_SENTINEL, TEXT_SENTINEL, TIME_SENTINEL]
EPOCH_MICROSECONDS = 981173106789000
NASTY_TEXTS = [b"\xff" * 16, b"\xc3" * 16, b"\0" * 16, b"a" * 15 + b"\xe2", b"\xed\xa0\x80a" * 4,
               b"'\";--,\r\n\t\\%__\x7f  "]
NASTY_TIMES = [2**63 - 1, -2**63, 2**62, -2**62, 9223372036854775, -9223372036854775, 253402300800000000,
               -62135596800000001]
TIME_UNITS = {"TIMESTAMP": EPOCH_MICROSECONDS, "TIMESTAMP_MS": EPOCH_MICROSECONDS // 1000,
              "TIMESTAMP_NS": EPOCH_MICROSECONDS * 1000}
NUMBERS = {  # the type, how the sentinel is stored, and what may stand there instead
    "DOUBLE": (struct.pack("<d", float(NUMBER_SENTINEL)),
               [struct.pack("<d", number) for number in (float("nan"), float("inf"), -float("inf"), 1e300, 5e-324)]),
    "DECIMAL(18,3)": (struct.pack("<q", 77777777777), [struct.pack("<q", n) for n in (2**63 - 1, -2**63, 10**18)]),
    "DECIMAL(30,3)": ((77777777777).to_bytes(16, "big"), [b"\x7f" + b"\xff" * 15, b"\x80" + b"\0" * 15]),
    "BIGINT": (struct.pack("<q", 77777778), [struct.pack("<q", n) for n in (2**63 - 1, -2**63)]),
}


def parquet_types(random):
    return random.choice(list(NUMBERS)), random.choice(list(TIME_UNITS))


def write_parquet(program, types, csv, path):
    select = (f"SELECT id, who, CAST(x AS {types[0]}) AS x, t, CAST(d AS {types[1]}) AS d "
              f"FROM read_csv('{csv}', all_varchar = true, header = true, nullstr = '')")
    subprocess.run([program, select, path, "COMPRESSION uncompressed"], check=True, timeout=60)


def patch_parquet(random, types, source, path):
    stored, others = NUMBERS[types[0]]
    patches = [(TEXT_SENTINEL.encode(), random.choice(NASTY_TEXTS)), (stored, random.choice(others)),
               (struct.pack("<q", TIME_UNITS[types[1]]), struct.pack("<q", random.choice(NASTY_TIMES)))]
    with open(source, "rb") as file:
        content = file.read()
    for before, after in patches:
        content = content.replace(before, after)
    with open(path, "wb") as file:
        file.write(content)


# --- PostgreSQL ------------------------------------------------------------------------------------

PG_NUMBERS = ["NULL", "'NaN'", "1e130", "-1e130", "'Infinity'", "'-Infinity'", "0.00000000000000000001", "'-0'"]
PG_TEXTS = ["NULL", "''", "repeat('a', 100000)", r"E'\u2028'", r"E'\x7f'", "'\"'", "''''", r"E'\\'", r"E'\u00e9\u0301'",
            "'1e999'", "'NaN'", "'-'", "repeat('%_', 500)", r"E'\n\r\t'"]
PG_TIMES = ["NULL", "'infinity'", "'-infinity'", "'4713-01-01 00:00:00 BC'", "'294276-12-31 23:59:59.999999'",
            "'0001-01-01'", "'9999-12-31 23:59:59.999999'", "'10000-01-01'"]


def pg_value(text):
    return "NULL" if text == "" else "'" + text.replace("'", "''") + "'"


def pg_ordinary(cells):
    return "(" + ",".join(pg_value(cell) for cell in cells) + ")"


def pg_nasty(random):
    unit = f"'{VICTIM}'"
    return (f"({random.choice([unit, unit, unit, 'NULL'])},{random.choice([unit, unit, 'NULL'])},{random.choice(PG_NUMBERS)},"
            f"{random.choice(PG_TEXTS)},{random.choice(PG_TIMES)})")


def pg_visit(random):
    return [random.choice([b"NULL", VICTIM.encode() + b"-0"]), random.choice([VICTIM.encode(), b"NULL"]),
            random.choice([b"NaN", b"1e130", b"NULL", b"-0", b"Infinity"])]


def pg_tables(schema, visits, items):
    """The linked tables: rows of visits as lists of bytes, rows of items as lines."""
    def row(cells):
        return "(" + ",".join("NULL" if cell == b"NULL" else f"'{cell.decode()}'" for cell in cells) + ")"
    statements = [f"CREATE TABLE {schema}.visits (visit text, person text, cost numeric)",
                  f"CREATE TABLE {schema}.items (visit text, price numeric)"]
    for name, rows in (("visits", visits), ("items", [line.split(b",") for line in items])):
        if rows:
            statements.append(f"INSERT INTO {schema}.{name} VALUES " + ",".join(row(cells) for cells in rows))
    return ";\n".join(statements)


def psql(url, sql):
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", url], input=sql, check=True, text=True, timeout=60,
                   stdout=subprocess.DEVNULL, env={**os.environ, "PGOPTIONS": "--client-min-messages=warning"})
