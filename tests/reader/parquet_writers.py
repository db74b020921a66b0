#!/usr/bin/env python3
"""parquet_writers.py PROGRAM SECONDS SEED: random tables, written as Parquet by pyarrow, DuckDB, fastparquet and
parquet-mr (through Spark), are read by brume value for value. PROGRAM is print_parquet.

    parquet_writers.py --fixtures FOLDER    write the files NAME.parquet, NAME.expected of tests/reader/data that are
                                            named after a writer

Tables come in batches, many of them without a row, and columns have NULLs nowhere, here and there, or only. What is
expected comes from the lists of values and from nothing that reads Parquet. Needs pyarrow, duckdb, fastparquet and
pyspark (tools/fuzz installs them); without Java parquet-mr is left out, and the last line says so.
"""
import datetime
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import duckdb
import fastparquet
import pandas
import pyarrow
import pyarrow.parquet

EPOCH = datetime.datetime(1970, 1, 1)
WORDS = ["", "a", "town", "Grüße", "日本語", "a longer text, beyond twelve bytes", "x" * 300]


def micros(value):
    return str((value - EPOCH) // datetime.timedelta(microseconds=1))


# type: how a value is drawn, how it is printed, its names in Arrow, DuckDB, pandas and Spark, and the native name.
TYPES = {
    "i64": (lambda r: r.choice([0, -1, 2**63 - 1, -2**63, r.randrange(1000)]), str,
            pyarrow.int64(), "BIGINT", "Int64", "bigint", "BIGINT bigint"),
    "i32": (lambda r: r.choice([0, -1, 2**31 - 1, r.randrange(9)]), str,
            pyarrow.int32(), "INTEGER", "Int32", "int", "INTEGER integer"),
    "f64": (lambda r: r.choice([0.0, 1.5, -0.1, 1e100]), lambda v: "%.17g" % v,
            pyarrow.float64(), "DOUBLE", "float64", "double", "DOUBLE double"),
    "t": (lambda r: r.choice(WORDS), str,
          pyarrow.string(), "VARCHAR", "object", "string", "VARCHAR text"),
    "b": (lambda r: r.random() < 0.5, lambda v: str(v).lower(),
          pyarrow.bool_(), "BOOLEAN", "boolean", "boolean", "BOOLEAN boolean"),
    "us": (lambda r: EPOCH + datetime.timedelta(seconds=r.randrange(10**9), microseconds=r.randrange(10**6)), micros,
           pyarrow.timestamp("us"), "TIMESTAMP", "datetime64[us]", "timestamp_ntz", "TIMESTAMP timestamp"),
}
NAMES = list(TYPES)


def draw_batch(rng, rows):
    """Columns of so many values, each with NULLs nowhere, here and there, or only."""
    batch = {}
    for name in NAMES:
        share = rng.choice([0, 0.3, 1])
        batch[name] = [None if rng.random() < share else TYPES[name][0](rng) for _ in range(rows)]
    return batch


def draw_batches(rng):
    most = rng.choice([3, 40, 40, 5000])
    return [draw_batch(rng, rng.choice([0, 1, rng.randrange(most)])) for _ in range(rng.randrange(6))]


def joined(batches):
    return {name: [v for batch in batches for v in batch[name]] for name in NAMES}


def rows_text(batches):
    whole = joined(batches)
    lines = zip(*[["\\N" if v is None else TYPES[name][1](v) for v in whole[name]] for name in NAMES])
    return "".join("\t".join(line) + "\n" for line in lines)


# ---- writers: write the batches into a folder, and return the files in order ----

def by_pyarrow(rng, batches, folder):
    """A row group a batch, with rows or without."""
    path = os.path.join(folder, "pyarrow.parquet")
    schema = pyarrow.schema([pyarrow.field(name, TYPES[name][2]) for name in NAMES])
    with pyarrow.parquet.ParquetWriter(
            path, schema, compression=rng.choice(["none", "snappy", "gzip", "brotli", "zstd", "lz4"]),
            data_page_version=rng.choice(["1.0", "2.0"]), use_dictionary=rng.random() < 0.5,
            data_page_size=rng.choice([64, 1 << 20]), write_batch_size=rng.choice([1, 1024]),
            write_statistics=rng.random() < 0.5, write_page_index=rng.random() < 0.5,
            store_schema=rng.random() < 0.5) as writer:
        for batch in batches:
            writer.write_table(pyarrow.table(batch, schema=schema))
    return [path]


def by_duckdb(rng, batches, folder):
    path = os.path.join(folder, "duckdb.parquet")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t(" + ", ".join(f"{n} {TYPES[n][3]}" for n in NAMES) + ")")
        frame = pyarrow.table(joined(batches), schema=pyarrow.schema([(n, TYPES[n][2]) for n in NAMES]))  # noqa: F841
        connection.execute("INSERT INTO t SELECT * FROM frame")
        connection.execute(f"COPY t TO '{path}' (FORMAT parquet, PARQUET_VERSION {rng.choice(['V1', 'V2'])}, CODEC "
                           f"{rng.choice(['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4_raw'])}, "
                           f"ROW_GROUP_SIZE {rng.choice([2048, 122880])})")
    return [path]


def by_fastparquet(rng, batches, folder):
    """A row group a batch; what is appended has the first batch's schema."""
    path = os.path.join(folder, "fastparquet.parquet")
    options = {"compression": rng.choice([None, "SNAPPY", "GZIP", "ZSTD"]), "has_nulls": True, "write_index": False,
               "object_encoding": "utf8", "times": "int64", "stats": rng.random() < 0.5}
    frames = [pandas.DataFrame({n: pandas.Series(batch[n], dtype=TYPES[n][4]) for n in NAMES})
              for batch in batches or [draw_batch(rng, 0)]]
    fastparquet.write(path, frames[0], **options)
    for frame in frames[1:]:
        fastparquet.write(path, frame, append=True, **options)
    return [path]


class Spark:
    """parquet-mr, as Spark calls it: a file of each batch; one without rows has no row group."""

    def __init__(self):
        from pyspark.sql import SparkSession
        self.session = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
                        .config("spark.ui.showConsoleProgress", "false")
                        .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
                        .config("spark.sql.session.timeZone", "UTC").getOrCreate())
        self.session.sparkContext.setLogLevel("ERROR")

    def __call__(self, rng, batches, folder):
        paths = []
        schema = ", ".join(f"{name} {TYPES[name][5]}" for name in NAMES)
        for index, batch in enumerate(batches or [draw_batch(rng, 0)]):
            frame = self.session.createDataFrame(list(zip(*[batch[n] for n in NAMES])), schema).coalesce(1)
            target = os.path.join(folder, f"spark{index}")
            (frame.write.option("compression", rng.choice(["none", "snappy", "gzip", "zstd", "lz4_raw"]))
             .option("parquet.writer.version", rng.choice(["PARQUET_1_0", "PARQUET_2_0"]))
             .option("parquet.enable.dictionary", rng.choice(["true", "false"]))
             .option("parquet.page.row.count.limit", rng.choice(["1", "20000"]))
             .option("parquet.block.size", rng.choice(["2000", "134217728"])).parquet(target))
            paths += [os.path.join(target, f) for f in os.listdir(target) if f.endswith(".parquet")]
        return paths


def writers_here():
    found = {"pyarrow": by_pyarrow, "duckdb": by_duckdb, "fastparquet": by_fastparquet}
    if shutil.which("java"):
        found["spark"] = Spark()
    return found


# ---- reading ----

def columns_text():
    return "".join(f"{name} {TYPES[name][6]}\n" for name in NAMES)


def check(program, paths, expected):
    done = subprocess.run([program, *paths], capture_output=True, text=True, check=False)
    if done.returncode == 0 and done.stdout == expected:
        return
    kept = tempfile.mkdtemp(prefix="brume-parquet-")
    for path in paths:
        shutil.copy(path, kept)
    lines = zip(done.stdout.split("\n"), expected.split("\n"))
    first = next((f"'{a}', expected '{b}'" for a, b in lines if a != b), "another number of lines")
    sys.exit(f"kept in {kept}: status {done.returncode}, {first[:300]}")


def fuzz(program, seconds, seed):
    rng, ended, writers = random.Random(seed), time.monotonic() + seconds, writers_here()
    counts = dict.fromkeys(writers, 0)
    empty = 0
    while time.monotonic() < ended or 0 in counts.values():
        # a file of Spark takes as long as twenty of the others
        name = rng.choices(list(writers), [1 if n == "spark" else 5 for n in writers])[0]
        batches = draw_batches(rng)
        with tempfile.TemporaryDirectory() as folder:
            paths = writers[name](rng, batches, folder)
            check(program, paths, columns_text() + "\n" + rows_text(batches))
        counts[name] += 1
        empty += any(not batch["t"] for batch in batches)
    print(f"{sum(counts.values())} tables, {empty} of them with a batch without rows: "
          + ", ".join(f"{n} {c}" for n, c in counts.items())
          + ("" if "spark" in writers else "; no Java, so not parquet-mr"))


# ---- fixtures ----

def write_fixtures(folder):
    """By each writer: batches with and without rows, and no row at all."""
    rng, writers = random.Random(1), writers_here()
    some = [draw_batch(rng, rows) for rows in (3, 0, 4, 0)]
    some[2] = {name: [None] * 4 for name in NAMES}
    for name, write in writers.items():
        for ending, batches in (("batches", some), ("empty", [some[1]])):
            with tempfile.TemporaryDirectory() as work:
                paths = write(rng, batches if name != "spark" else [joined(batches)], work)
                target = os.path.join(folder, f"{name}_{ending}")
                shutil.copy(paths[0], target + ".parquet")
                with open(target + ".expected", "w", encoding="utf-8") as out:
                    out.write(columns_text() + "\n" + rows_text(batches))


if __name__ == "__main__":
    if sys.argv[1] == "--fixtures":
        write_fixtures(sys.argv[2])
    else:
        fuzz(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
