#!/usr/bin/env python3
"""make_parquet.py FOLDER: the Parquet fixtures of tests/reader, and what they must be read as.

Needs pyarrow (pip install pyarrow); the fixtures are committed, so that the tests do not. Each
NAME.parquet has a NAME.expected: the columns as `name native type`, an empty line, and the rows as
tests/reader/parquet_text.h prints them. What is expected comes from the lists of values below and
from nothing that reads Parquet.
"""
import os
import random
import struct
import sys
import uuid

import pyarrow as pa
import pyarrow.parquet as pq

from parquet_by_hand import write_by_hand

DAY = 86400 * 10**6
FIRST, LAST = -719162 * DAY, 2932897 * DAY - 1  # of the years 0001 to 9999, in microseconds
BAD = None  # what a value that is none is expected as


def decimals(units, scale):
    digits = str(abs(units)).rjust(scale + 1, "0")
    point = len(digits) - scale
    return "-" * (units < 0) + digits[:point] + ("." + digits[point:] if scale else "")


def micros(x):
    return str(x) if FIRST <= x <= LAST else BAD


def real(x):
    return "%.17g" % x if abs(x) < 1e150 else BAD


def half(x):
    return real(struct.unpack("<e", struct.pack("<e", x))[0]) if abs(x) < 1e5 else BAD


def single(x):
    return real(struct.unpack("<f", struct.pack("<f", x))[0]) if abs(x) < 1e38 else BAD


def text(raw):
    try:
        return None if b"\0" in raw else raw.decode("utf-8")
    except UnicodeDecodeError:
        return BAD


def units_of(precision, scale):
    def expected(x):
        return decimals(x, scale) if abs(x) < 10**precision else BAD
    return expected


class Column:
    """A type, values to store, and how each is expected to be read."""

    def __init__(self, name, native, kind, arrow, values, expected, other="PLAIN"):
        self.name, self.native, self.kind, self.arrow = name, native, kind, arrow
        self.values, self.expected, self.other = values, expected, other


def texts_of_every_kind():
    good = ["", "a", "town", "Grüße", "日本語", "🙂", "a longer text, beyond twelve bytes", "x" * 300,
            "\u0800\uffff", "\U0010ffff", "town", "towns"]
    bad = [b"\xff", b"abc\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"nul\0byte", b"\xf4\x90\x80\x80",
           b"12345678\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80"]
    return [t.encode() for t in good] + bad


TIMES = [0, 1, -1, 999, -999, 1000, -1000, 1500, -1500, 10**15, -10**15]
EDGES = [FIRST, FIRST - 1, LAST, LAST + 1, 2**63 - 1, -2**63]
MILLIS = TIMES[:7] + [FIRST // 1000, FIRST // 1000 - 1, LAST // 1000, LAST // 1000 + 1,
                      2**63 - 1, -2**63, 9223372036854776, -9223372036854776]
INTEGERS = [0, 1, -1, 7, 100, -100]


def number_columns():
    def ints(bits, signed):
        low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if signed else (0, 2**bits - 1)
        return [x for x in INTEGERS if x >= low] + [low, high]
    delta = "DELTA_BINARY_PACKED"
    yield Column("b", "BOOLEAN", "boolean", pa.bool_(), [True, False, False], lambda x: str(x).lower(),
                 "RLE")
    for bits, name, kind in ((8, "TINYINT", "integer"), (16, "SMALLINT", "integer"),
                             (32, "INTEGER", "integer"), (64, "BIGINT", "bigint")):
        yield Column(f"i{bits}", name, kind, getattr(pa, f"int{bits}")(), ints(bits, True), str, delta)
    for bits, name, kind in ((8, "UTINYINT", "integer"), (16, "USMALLINT", "integer"),
                             (32, "UINTEGER", "bigint"), (64, "UBIGINT", "decimal(20,0)")):
        yield Column(f"u{bits}", name, kind, getattr(pa, f"uint{bits}")(), ints(bits, False), str, delta)
    reals = [0.0, -0.0, 1.5, -2.25, 0.1, float("inf"), float("-inf"), float("nan")]
    split = "BYTE_STREAM_SPLIT"
    yield Column("f16", "FLOAT", "double", pa.float16(), reals + [65504.0, 6e-8], half, split)
    yield Column("f32", "FLOAT", "double", pa.float32(), reals + [3e37, 1e-40], single, split)
    yield Column("f64", "DOUBLE", "double", pa.float64(),
                 reals + [1e150, -1e150, 9.9999999999999999e149, 1e300, 5e-324], real, split)


def decimal_columns():
    for precision, scale in ((5, 2), (9, 0), (18, 4), (19, 0), (38, 10)):
        size = next(n for n in range(1, 17) if 2**(8 * n - 1) > 10**precision)
        top = 10**precision
        values = [0, 1, -1, 12345, top - 1, 1 - top, top, -top, 2**(8 * size - 1) - 1, -2**(8 * size - 1)]
        yield Column(f"d{precision}", f"DECIMAL({precision},{scale})", f"decimal({precision},{scale})",
                     pa.decimal128(precision, scale), values, units_of(precision, scale),
                     "BYTE_STREAM_SPLIT")
    top = 10**76
    values = [0, 1, -1, 10**40, -10**40, top // 3]
    yield Column("d60", "DOUBLE", "double", pa.decimal256(60, 5), [v for v in values if abs(v) < 10**60],
                 lambda x: "%.17g" % (x / 10**5), "PLAIN")


def time_columns():
    delta = "DELTA_BINARY_PACKED"
    days = [0, 1, -1, -719162, -719163, 2932896, 2932897, 2**31 - 1, -2**31]
    yield Column("day", "DATE", "date", pa.date32(), days,
                 lambda x: str(x) if -719162 <= x <= 2932896 else BAD, delta)
    for unit, values, to in (("ms", MILLIS, lambda x: micros(x * 1000)), ("us", TIMES + EDGES, micros),
                             ("ns", TIMES + [2**63 - 1, -2**63], lambda x: micros(x // 1000))):
        native = "TIMESTAMP_NS" if unit == "ns" else "TIMESTAMP"
        yield Column(unit, native, "timestamp", pa.timestamp(unit), values, to, delta)
        yield Column(unit + "z", "TIMESTAMP WITH TIME ZONE", "timestamp", pa.timestamp(unit, "UTC"),
                     values, to, delta)


def text_columns():
    yield Column("t", "VARCHAR", "text", pa.string(), texts_of_every_kind(), text,
                 "DELTA_LENGTH_BYTE_ARRAY")
    yield Column("p", "VARCHAR", "text", pa.string(),
                 [b"prefix", b"prefixes", b"pre", b"prefix of many", b"prefix of \xff", b""], text,
                 "DELTA_BYTE_ARRAY")
    identities = [uuid.UUID(int=k) for k in (0, 1, 2**128 - 1, 0x123456789abcdef0123456789abcdef0)]
    yield Column("id", "UUID", "text", pa.uuid(), identities, str, "DELTA_BYTE_ARRAY")


def arrow_array(column, values):
    kind, valid = column.arrow, [v is not None for v in values]
    if pa.types.is_decimal(kind):
        size = kind.byte_width
        data = b"".join((v or 0).to_bytes(size, "little", signed=True) for v in values)
        bits = pa.array(valid, pa.bool_()).buffers()[1]
        return pa.Array.from_buffers(kind, len(values), [bits, pa.py_buffer(data)])
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).view(kind)
    if pa.types.is_date32(kind):
        return pa.array(values, pa.int32()).view(kind)
    if pa.types.is_string(kind):
        return pa.array(values, pa.binary()).view(kind)
    if isinstance(kind, pa.UuidType):
        storage = pa.array([v and v.bytes for v in values], pa.binary(16))
        return pa.ExtensionArray.from_storage(kind, storage)
    if pa.types.is_float16(kind):
        import numpy
        return pa.array([None if v is None else numpy.float16(v) for v in values], kind)
    return pa.array(values, kind)


# How NULLs lie: none, some, in runs, all, none in a required column.
def with_nulls(values, pattern, rng):
    if pattern == "some":
        return [None if rng.random() < 0.3 else v for v in values]
    if pattern == "runs":
        return [None if (i // 17) % 2 else v for i, v in enumerate(values)]
    if pattern == "all":
        return [None] * len(values)
    return values


PATTERNS = ["some", "none", "runs", "required", "some", "all"]


def write(folder, name, columns, rows, seed, patterns=PATTERNS, **options):
    rng = random.Random(seed)
    fields, arrays, stored = [], [], []
    for index, column in enumerate(columns):
        pattern = patterns[(index + seed) % len(patterns)]
        values = [rng.choice(column.values) for _ in range(rows)]
        values[:len(column.values)] = column.values[:rows]
        values = with_nulls(values, pattern, rng)
        fields.append(pa.field(column.name, column.arrow, nullable=pattern != "required"))
        arrays.append(arrow_array(column, values))
        stored.append([None if v is None else column.expected(v) for v in values])
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    pq.write_table(table, os.path.join(folder, name + ".parquet"), write_statistics=False,
                   store_schema=False, row_group_size=rows // 2 + 1, **options)
    write_expected(folder, name, [(c.name, c.native, c.kind) for c in columns], list(zip(*stored)))


def write_expected(folder, name, columns, rows):
    with open(os.path.join(folder, name + ".expected"), "w", encoding="utf-8") as out:
        for column in columns:
            out.write(" ".join(column) + "\n")
        out.write("\n")
        for row in rows:
            out.write("\t".join("\\N" if v is None else v for v in row) + "\n")


def main(folder):
    columns = [*number_columns(), *decimal_columns(), *time_columns(), *text_columns()]
    small = {"data_page_size": 100, "write_batch_size": 16}
    # encodings and versions of pages
    others = {c.name: c.other for c in columns}
    for seed, version in enumerate(("1.0", "2.0")):
        for k, (name, encoding) in enumerate((("plain", "PLAIN"), ("other", others))):
            write(folder, f"{name}_v{version[0]}", columns, 90, 2 * seed + k, use_dictionary=False,
                  data_page_version=version, compression="zstd", column_encoding=encoding, **small)
        write(folder, f"dictionary_v{version[0]}", columns, 90, 4 + seed, use_dictionary=True,
              data_page_version=version, compression="zstd", **small)
    # compressions
    few = [c for c in columns if c.name in ("b", "i64", "f64", "d5", "us", "t", "p")]
    for seed, codec in enumerate(("none", "snappy", "gzip", "brotli", "zstd", "lz4")):
        for version in ("1.0", "2.0"):
            write(folder, f"{codec}_v{version[0]}", few, 100, 10 + seed, use_dictionary=["t", "b"],
                  data_page_version=version, compression=codec, **small)
    # more rows than a batch, in one page and in many
    many = [c for c in columns if c.name in ("b", "i32", "us", "p")]
    for seed, size in enumerate((1 << 11, 1 << 20)):
        write(folder, f"batches_{seed}", many, 4500, 20 + seed, use_dictionary=["i32"],
              column_encoding={"us": "DELTA_BINARY_PACKED"}, compression="zstd", data_page_size=size)
    # integers of 32 and 64 bits as decimals; timestamps of 96 bits
    whole = [c for c in columns if c.name in ("d5", "d9", "d18")]
    write(folder, "decimal_integers", whole, 60, 30, store_decimal_as_integer=True)
    stamps = [c for c in columns if c.name in ("ns", "nsz")]
    for column in stamps:
        column.native = "TIMESTAMP"
    write(folder, "int96", stamps, 60, 31, use_deprecated_int96_timestamps=True)
    write_nested(folder)
    write_statistics(folder)
    write_by_hand(folder, write_expected)


def write_nested(folder):
    """Columns that are refused stand between others, which are read."""
    table = pa.table({
        "a": pa.array([1, 2, None], pa.int64()),
        "list": pa.array([[1, 2], None, []], pa.list_(pa.int64())),
        "b": pa.array(["x", None, "z"], pa.string()),
        "struct": pa.array([{"m": 1, "n": "q"}, None, {"m": 3, "n": None}],
                           pa.struct([("m", pa.int32()), ("n", pa.string())])),
        "map": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())),
        "blob": pa.array([b"\1", None, b"\2"], pa.binary()),
        "time": pa.array([1, None, 3], pa.int64()).view(pa.time64("us")),
        "nothing": pa.array([None, None, None], pa.null()),
        "c": pa.array([True, None, False], pa.bool_()),
    })
    pq.write_table(table, os.path.join(folder, "nested.parquet"), store_schema=False)
    write_expected(folder, "nested", [
        ("a", "BIGINT", "bigint"), ("list", "NESTED", "refused"), ("b", "VARCHAR", "text"),
        ("struct", "NESTED", "refused"), ("map", "NESTED", "refused"), ("blob", "BLOB", "refused"),
        ("time", "TIME", "refused"), ("nothing", "INTEGER", "integer"), ("c", "BOOLEAN", "boolean")],
        [("1", "x", None, "true"), ("2", None, None, None), (None, "z", None, "false")])


def write_statistics(folder):
    """A timestamp out of range stands in the footer's statistics too."""
    table = pa.table({"us": pa.array([0, 1, 2], pa.int64()).view(pa.timestamp("us")),
                      "ms": pa.array([0, 2**62, -2**62], pa.int64()).view(pa.timestamp("ms")),
                      "t": pa.array([b"a", b"\xff", b"b"], pa.binary()).view(pa.string())})
    pq.write_table(table, os.path.join(folder, "statistics.parquet"), store_schema=False)
    write_expected(folder, "statistics", [("us", "TIMESTAMP", "timestamp"), ("ms", "TIMESTAMP", "timestamp"),
                                          ("t", "VARCHAR", "text")],
                   [("0", "0", "a"), ("1", None, None), ("2", None, "b")])


if __name__ == "__main__":
    main(sys.argv[1])
