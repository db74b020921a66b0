"""Parquet files that no library writes (any more): a writer of single pages, and what it writes.

Old ways (levels as plain bits, LZ4 in Hadoop's frames, dictionaries by their first name), and values
that do not fit what the schema says of them.
"""
import os
import struct

INT32, INT64, INT96, BYTE_ARRAY, FIXED = 1, 2, 3, 6, 7


def varint(n):
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def zigzag(n):
    return varint(n << 1 if n >= 0 else (-n << 1) - 1)


class Long(int):
    """An integer of 64 bits; others have 32."""


def struct_of(fields):
    """Thrift's compact protocol: fields as (id, value); a value is an int, bytes, list or dict."""
    out, last = b"", 0
    for number, value in sorted(fields.items()):
        kind = (1 if value is True else 2 if value is False else
                6 if isinstance(value, Long) else 5 if isinstance(value, int) else
                8 if isinstance(value, bytes) else 9 if isinstance(value, list) else 12)
        out += bytes([number - last << 4 | kind])
        last = number
        if kind in (5, 6):
            out += zigzag(value)
        elif kind == 8:
            out += varint(len(value)) + value
        elif kind == 9:
            out += list_of(value)
        elif kind == 12:
            out += struct_of(value)
    return out + b"\0"


def list_of(values):
    kind = 12 if values and isinstance(values[0], dict) else 8 if values and isinstance(values[0], bytes) else 5
    out = bytes([len(values) << 4 | kind]) if len(values) < 15 else bytes([0xF0 | kind]) + varint(len(values))
    for value in values:
        out += struct_of(value) if kind == 12 else varint(len(value)) + value if kind == 8 else zigzag(value)
    return out


def page(kind, packed, size, details):
    return struct_of({1: kind, 2: size, 3: len(packed), {0: 5, 2: 7, 3: 8}[kind]: details}) + packed


def data_page(body, count, encoding=0, levels=3, codec=lambda b: b):
    return page(0, codec(body), len(body), {1: count, 2: encoding, 3: levels, 4: 3})


def file_of(columns, rows):
    """Columns: (schema element without its name, name, [page bytes], codec)."""
    out, chunks = b"PAR1", []
    for element, name, pages, codec in columns:
        start, body = len(out), b"".join(pages)
        out += body
        chunks.append({2: Long(start), 3: {1: element[1], 2: [0], 3: [name], 4: codec, 5: Long(rows),
                                           6: Long(len(body)), 7: Long(len(body)), 9: Long(start)}})
    schema = [{4: b"schema", 5: len(columns)}] + [{**e, 4: n} for e, n, _, _ in columns]
    footer = struct_of({1: 1, 2: schema, 3: Long(rows),
                        4: [{1: chunks, 2: Long(len(out)), 3: Long(rows)}]})
    return out + footer + struct.pack("<I", len(footer)) + b"PAR1"


def texts(values):
    return b"".join(struct.pack("<I", len(v)) + v for v in values)


def hadoop_lz4(body):
    """One block of literals: what no compressor would write, and every one reads."""
    literal = bytes([0xF0 if len(body) >= 15 else len(body) << 4])
    rest = len(body) - 15
    while rest >= 255:
        literal += b"\xff"
        rest -= 255
    if len(body) >= 15:
        literal += bytes([rest])
    block = literal + body
    return struct.pack(">II", len(body), len(block)) + block


def int96(nanos, day):
    return struct.pack("<qi", nanos, day)


def misfits():
    """Values beyond what the schema states: (element, native, type, stored bytes, expected)."""
    int32 = lambda *v: struct.pack(f"<{len(v)}i", *v)
    int64 = lambda *v: struct.pack(f"<{len(v)}q", *v)
    yield ({1: INT32, 3: 0, 6: 15}, "TINYINT", "integer", int32(127, 128, -128, -129),
           ["127", None, "-128", None])
    yield ({1: INT32, 3: 0, 6: 11}, "UTINYINT", "integer", int32(0, 255, 256, -1), ["0", "255", None, None])
    yield ({1: INT32, 3: 0, 6: 16}, "SMALLINT", "integer", int32(32767, 32768, -32768, -32769),
           ["32767", None, "-32768", None])
    yield ({1: INT32, 3: 0, 6: 12}, "USMALLINT", "integer", int32(65535, 65536, 0, -1),
           ["65535", None, "0", None])
    yield ({1: INT32, 3: 0, 6: 5, 7: 1, 8: 3}, "DECIMAL(3,1)", "decimal(3,1)",
           int32(999, 1000, -999, -1000), ["99.9", None, "-99.9", None])
    yield ({1: INT64, 3: 0, 6: 5, 7: 0, 8: 18}, "DECIMAL(18,0)", "decimal(18,0)",
           int64(10**18 - 1, 10**18, 1 - 10**18, -2**63), [str(10**18 - 1), None, str(1 - 10**18), None])
    yield ({1: INT64, 3: 0, 6: 5, 7: 0, 8: 20}, "DECIMAL(20,0)", "decimal(20,0)",
           int64(2**63 - 1, -2**63, 0, 1), [str(2**63 - 1), str(-2**63), "0", "1"])
    yield ({1: BYTE_ARRAY, 3: 0, 6: 5, 7: 2, 8: 4}, "DECIMAL(4,2)", "decimal(4,2)",
           texts([b"", b"\xff" * 20, b"\x00" * 17 + b"\x27\x0f", b"\x27\x10"]),
           [None, "-0.01", "99.99", None])
    yield ({1: BYTE_ARRAY, 3: 0, 6: 5, 7: 0, 8: 38}, "DECIMAL(38,0)", "decimal(38,0)",
           texts([b"\x01" + b"\x00" * 16, b"\x00" + b"\xff" * 16, b"\xff\x7f" + b"\xff" * 15, b"\x80"]),
           [None, None, None, "-128"])
    yield ({1: BYTE_ARRAY, 3: 0, 6: 19}, "JSON", "text", texts([b"{}", b"\xff", b"[1]", b"a\0b"]),
           ["{}", None, "[1]", None])
    yield ({1: BYTE_ARRAY, 3: 0, 6: 4}, "VARCHAR", "text", texts([b"red", b"\xfe", b"", b"blue"]),
           ["red", None, "", "blue"])
    yield ({1: FIXED, 2: 3, 3: 0, 6: 0}, "VARCHAR", "text", b"abc\xff\xff\xffd\0fxyz",
           ["abc", None, None, "xyz"])
    yield ({1: INT96, 3: 0}, "TIMESTAMP", "timestamp",
           int96(0, 2440588) + int96(-1, 2440588) + int96(2**63 - 1, 2**31 - 1) + int96(0, -2**31),
           ["0", "-1", None, None])
    yield ({1: FIXED, 2: 12, 3: 0, 6: 21}, "INTERVAL", "refused", b"\0" * 48, None)
    yield ({1: INT32, 3: 0, 6: 7}, "TIME", "refused", int32(1, 2, 3, 4), None)
    yield ({1: BYTE_ARRAY, 3: 0, 6: 20}, "UNKNOWN", "refused", texts([b""] * 4), None)
    yield ({1: INT64, 3: 2}, "NESTED", "refused", int64(1, 2, 3, 4), None)


def write_misfits(folder, write_expected):
    found = list(misfits())
    columns = [(e, b"c%d" % i, [data_page(stored, 4)], 0) for i, (e, _, _, stored, _) in enumerate(found)]
    with open(os.path.join(folder, "misfits.parquet"), "wb") as out:
        out.write(file_of(columns, 4))
    write_expected(folder, "misfits", [(f"c{i}", n, t) for i, (_, n, t, _, _) in enumerate(found)],
                   list(zip(*[e for _, _, _, _, e in found if e])))


def write_old(folder, write_expected):
    """Ten rows, of which rows 2, 5 and 9 are NULL."""
    rows, null = 10, {2, 5, 9}
    values = [7 * i - 20 for i in range(rows) if i not in null]
    bits = [0 if i in null else 1 for i in range(rows)]
    old_levels = bytes([int("".join(map(str, bits[:8])), 2), int("".join(map(str, bits[8:])), 2) << 6])
    plain = struct.pack(f"<{len(values)}q", *values)
    # each level a run of its own, then one value packed in too few bytes for its group of eight
    runs = b"".join(bytes([2, b]) for b in bits[:8]) + bytes([3, bits[8] | bits[9] << 1])
    levels = struct.pack("<I", len(runs)) + runs
    keys = [b"north", b"\xff", b"south"]
    packed = sum(k << 2 * i for i, k in enumerate((0, 1, 2, 0, 1, 2, 0)))
    indices = bytes([2, 3]) + struct.pack("<H", packed)
    dictionary = page(2, texts(keys), len(texts(keys)), {1: len(keys), 2: 2})
    index_page = struct_of({1: 1, 2: 3, 3: 3, 6: {}}) + b"abc"
    columns = [
        ({1: INT64, 3: 1}, b"bits", [data_page(old_levels + plain, rows, levels=4)], 0),
        ({1: INT64, 3: 1}, b"runs", [index_page, data_page(levels + plain, rows)], 0),
        ({1: INT64, 3: 1}, b"lz4", [data_page(levels + plain, rows, codec=hadoop_lz4)], 5),
        ({1: BYTE_ARRAY, 3: 1, 6: 0}, b"key", [dictionary, data_page(levels + indices, rows, encoding=2)], 0),
    ]
    with open(os.path.join(folder, "old.parquet"), "wb") as out:
        out.write(file_of(columns, rows))
    left, names, lines = iter(values), iter(["north", None, "south", "north", None, "south", "north"]), []
    for i in range(rows):
        number = None if i in null else str(next(left))
        lines.append((number, number, number, None if i in null else next(names)))
    write_expected(folder, "old", [("bits", "BIGINT", "bigint"), ("runs", "BIGINT", "bigint"),
                                   ("lz4", "BIGINT", "bigint"), ("key", "VARCHAR", "text")], lines)


def constants(count, value):
    """DELTA_BINARY_PACKED: blocks of 128 in four parts, all differences 0."""
    blocks = (count - 1 + 127) // 128
    return varint(128) + varint(4) + varint(count) + zigzag(value) + bytes(5) * blocks


def write_old_long(folder, write_expected):
    """Levels as plain bits for more rows than two batches have, beside texts that need memory of their own: the
    second column of them takes whatever the first batch left."""
    rows = 4200
    bits = [0 if i % 7 == 3 else 1 for i in range(rows)]
    levels = bytes(sum(b << 7 - k for k, b in enumerate(bits[i:i + 8])) for i in range(0, rows, 8))
    plain = b"".join(struct.pack("<i", i) for i in range(rows) if bits[i])
    texts_by_delta = constants(rows, 0) + constants(rows, 1) + bytes(97 + i % 26 for i in range(rows))
    columns = [({1: INT32, 3: 1}, b"bits", [data_page(levels + plain, rows, levels=4)], 0),
               *[({1: BYTE_ARRAY, 3: 0, 6: 0}, name, [data_page(texts_by_delta, rows, encoding=7)], 0)
                 for name in (b"t", b"u")]]
    with open(os.path.join(folder, "old_long.parquet"), "wb") as out:
        out.write(file_of(columns, rows))
    write_expected(folder, "old_long",
                   [("bits", "INTEGER", "integer"), ("t", "VARCHAR", "text"), ("u", "VARCHAR", "text")],
                   [(str(i) if bits[i] else None, *[chr(97 + i % 26)] * 2) for i in range(rows)])


def write_one_bad_row(folder, write_expected):
    """A hundred people, of whom number 42 has no good value anywhere (nanoseconds are all good)."""
    rows, bad, day, start = 100, 42, 86400, 10957  # the first good day is 2000-01-01

    def column(name, element, native, kind, stored, expected, wrong, is_bad=True):
        values = [wrong if i == bad else stored(i) for i in range(rows)]
        lines = [None if i == bad and is_bad else expected(i) for i in range(rows)]
        return ({**element, 3: 0}, name, [data_page(b"".join(values), rows)], 0), (name.decode(), native, kind), lines

    def stamp(unit):
        return lambda i: struct.pack("<q", (start + i) * day * unit)
    int64_max, micros = struct.pack("<q", 2**63 - 1), lambda i: str((start + i) * day * 10**6)
    nanos = {1: INT64, 10: {8: {1: False, 2: {3: {}}}}}
    text_of = lambda i: b"north" if i % 2 else b"south"
    made = [
        column(b"person", {1: INT64}, "BIGINT", "bigint", lambda i: struct.pack("<q", i), str,
               struct.pack("<q", bad)),
        column(b"ms", {1: INT64, 6: 9}, "TIMESTAMP", "timestamp", stamp(10**3), micros,
               struct.pack("<q", 2**62)),
        column(b"us", {1: INT64, 6: 10}, "TIMESTAMP", "timestamp", stamp(10**6), micros, int64_max),
        column(b"ns", nanos, "TIMESTAMP_NS", "timestamp", stamp(10**9), micros, stamp(10**9)(bad), False),
        column(b"impala", {1: INT96}, "TIMESTAMP", "timestamp", lambda i: int96(0, 2440588 + start + i),
               micros, int96(0, 2**31 - 1)),
        column(b"town", {1: BYTE_ARRAY, 6: 0}, "VARCHAR", "text", lambda i: texts([text_of(i)]),
               lambda i: text_of(i).decode(), texts([b"\xff"])),
        column(b"spent", {1: INT32, 6: 5, 7: 2, 8: 5}, "DECIMAL(5,2)", "decimal(5,2)",
               lambda i: struct.pack("<i", 100 * i), lambda i: f"{i}.00", struct.pack("<i", 12345678)),
        column(b"cost", {1: FIXED, 2: 9, 6: 5, 7: 2, 8: 20}, "DECIMAL(20,2)", "decimal(20,2)",
               lambda i: (100 * i).to_bytes(9, "big"), lambda i: f"{i}.00", (2**70).to_bytes(9, "big")),
        column(b"weight", {1: 5}, "DOUBLE", "double", lambda i: struct.pack("<d", i), str,
               struct.pack("<d", float("nan"))),
    ]
    made[0][2][bad] = str(bad)
    with open(os.path.join(folder, "one_bad_row.parquet"), "wb") as out:
        out.write(file_of([m[0] for m in made], rows))
    write_expected(folder, "one_bad_row", [m[1] for m in made], list(zip(*[m[2] for m in made])))


def write_by_hand(folder, write_expected):
    write_one_bad_row(folder, write_expected)
    write_misfits(folder, write_expected)
    write_old(folder, write_expected)
    write_old_long(folder, write_expected)
