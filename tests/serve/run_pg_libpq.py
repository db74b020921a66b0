#!/usr/bin/env python3
"""The calls of libpq that R's RPostgres makes, against `brume serve --pg`, in TAP.

    run_pg_libpq.py DIRECTORY_OF_BRUME

RPostgres is in no registry that the tests use. It is a client of libpq: it sets two settings and reads the types
when it connects, prepares every query without a name, describes it, executes it in single-row mode, and reads
texts. This makes the same calls in the same order, by ctypes; the statements are written anew after those that it
sends.
"""
import ctypes
import sys

from pg_client import PgServer
from processes import run_functions
from server import check

COMMAND_OK, TUPLES_OK, SINGLE_TUPLE = 1, 2, 9
TABLES = ("SELECT table_schema, table_name FROM information_schema.tables WHERE TRUE AND "
          "(table_schema = ANY(current_schemas(true))) AND (table_schema <> 'pg_catalog')")
CURRENT = ("(SELECT nr, schemas[nr] AS table_schema FROM (SELECT *, generate_subscripts(schemas, 1) AS nr FROM "
           "(SELECT current_schemas(true) AS schemas) a) b WHERE schemas[nr] <> 'pg_catalog') c")
FIELDS = ("SELECT column_name FROM (SELECT *, rank() OVER (ORDER BY nr) AS first FROM " + CURRENT + " INNER JOIN "
          "INFORMATION_SCHEMA.columns USING (table_schema) WHERE table_name = 'visits') d WHERE first = 1 "
          "ORDER BY ordinal_position")
CATALOG_TABLES = ("SELECT s.nspname AS table_schema, c.relname AS table_name FROM pg_class c INNER JOIN pg_namespace s "
                  "ON s.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm') AND s.nspname = "
                  "ANY(current_schemas(true)) AND s.nspname <> 'pg_catalog' AND NOT c.relispartition ORDER BY c.relname")
CATALOG_FIELDS = ("SELECT a.attname FROM pg_catalog.pg_attribute a WHERE a.attrelid = 'visits'::regclass AND "
                  "a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum")


class Libpq:
    """A connection, with what RPostgres calls."""

    def __init__(self, **parameters):
        self.pq = ctypes.CDLL("libpq.so.5")
        for name in ("PQconnectdbParams", "PQexec", "PQprepare", "PQdescribePrepared", "PQgetResult"):
            getattr(self.pq, name).restype = ctypes.c_void_p
        for name in ("PQerrorMessage", "PQfname", "PQgetvalue", "PQcmdTuples"):
            getattr(self.pq, name).restype = ctypes.c_char_p
        names = [name.encode() for name in parameters] + [None]
        values = [str(value).encode() for value in parameters.values()] + [None]
        texts = ctypes.c_char_p * len(names)
        self.connection = ctypes.c_void_p(self.pq.PQconnectdbParams(texts(*names), texts(*values), 0))
        check(self.pq.PQstatus(self.connection) == 0, self.error())
        self.told = []
        receiver = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
        self.processor = receiver(lambda _, message: self.told.append(message.decode()))
        self.pq.PQsetNoticeProcessor(self.connection, self.processor, None)

    def error(self):
        return self.pq.PQerrorMessage(self.connection).decode()

    def rows(self, result):
        pq, result = self.pq, ctypes.c_void_p(result)
        got = []
        for i in range(pq.PQntuples(result)):
            got.append([None if pq.PQgetisnull(result, i, j) else pq.PQgetvalue(result, i, j).decode()
                        for j in range(pq.PQnfields(result))])
        return got

    def execute(self, sql):
        """At once, by the simple protocol: dbExecute(..., immediate = TRUE)."""
        result = self.pq.PQexec(self.connection, sql.encode())
        code = self.pq.PQresultStatus(ctypes.c_void_p(result))
        check(code in (COMMAND_OK, TUPLES_OK), f"{sql}: {self.error()}")
        rows = self.rows(result)
        self.pq.PQclear(ctypes.c_void_p(result))
        return rows

    def describe(self, sql):
        """Names and types of its columns, and how many parameters it has."""
        pq = self.pq
        made = ctypes.c_void_p(pq.PQprepare(self.connection, b"", sql.encode(), 0, None))
        check(pq.PQresultStatus(made) == COMMAND_OK, f"{sql}: {self.error()}")
        pq.PQclear(made)
        about = ctypes.c_void_p(pq.PQdescribePrepared(self.connection, b""))
        check(pq.PQresultStatus(about) == COMMAND_OK, f"{sql}: {self.error()}")
        columns = [(pq.PQfname(about, i).decode(), pq.PQftype(about, i)) for i in range(pq.PQnfields(about))]
        count = pq.PQnparams(about)
        pq.PQclear(about)
        return columns, count

    def fetch(self, *values):
        """Run what was described; all rows, which come one by one."""
        texts = (ctypes.c_char_p * max(1, len(values)))(*[value.encode() for value in values])
        zeros = (ctypes.c_int * max(1, len(values)))()
        check(self.pq.PQsendQueryPrepared(self.connection, b"", len(values), texts, zeros, zeros, 0) == 1, self.error())
        check(self.pq.PQsetSingleRowMode(self.connection) == 1, "single rows")
        got = []
        while result := self.pq.PQgetResult(self.connection):
            code = self.pq.PQresultStatus(ctypes.c_void_p(result))
            check(code in (SINGLE_TUPLE, TUPLES_OK, COMMAND_OK), self.error())
            got += self.rows(result)
            self.pq.PQclear(ctypes.c_void_p(result))
        return got

    def query(self, sql, *values):
        self.describe(sql)
        return self.fetch(*values)

    def close(self):
        self.pq.PQfinish(self.connection)


def connect(server, **options):
    one = Libpq(dbname="brume", user="ann", password=server.tokens["ann"], host="127.0.0.1", port=server.pg_port,
                client_encoding="utf8", **options)
    one.execute("SET datestyle to 'iso, mdy'")
    one.execute("SET TIMEZONE = 'UTC'")
    return one


def a_start_and_lists_of_tables_are_answered(programs):
    with PgServer(programs) as server:
        one = connect(server)
        types = dict(one.execute("SELECT oid, typname FROM pg_type"))
        check((types["20"], types["25"], types["701"], types["16"]) == ("int8", "text", "float8", "bool"), types)
        check(one.query(TABLES + " ORDER BY table_type, table_name") == [["public", "visits"]], "tables")
        check(one.query(CATALOG_TABLES) == [["public", "visits"]], "tables of the catalog")
        for name, there in (("visits", "t"), ("nothing", "f")):
            check(one.query(f"SELECT EXISTS ({TABLES} AND table_name = '{name}')") == [[there]], name)
        check(one.query(FIELDS) == [["person"], ["age"]], "columns")
        check(one.query(CATALOG_FIELDS) == [["person"], ["age"]], "columns of the catalog")
        check(server.spent() == 0, "it is free")
        one.close()


def a_question_is_described_for_nothing_and_charged_once(programs):
    with PgServer(programs) as server:
        one = connect(server, options="-c brume.epsilon=0.25")
        sql = "SELECT age > 40 AS old, COUNT(*) AS n, AVG(age) AS a FROM visits WHERE age > $1 GROUP BY 1"
        columns, parameters = one.describe(sql)
        check(columns == [("old", 16), ("n", 20), ("a", 701)] and parameters == 1, (columns, parameters))
        check(server.spent() == 0, "to describe is free")
        first = one.fetch("30")
        check(server.spent() == 0.25 and len(first) == 3 and "charged epsilon 0.25; left: epsilon" in one.told[0],
              (first, one.told))
        check(one.query(sql, "30") == first and server.spent() == 0.25, "again is free")
        check(sum("free of charge" in text for text in one.told) == 1, one.told)
        one.close()


def what_is_left_is_the_users_own(programs):
    """The notice says what this user may still spend: of the allotment, where that is less than the dataset's."""
    with PgServer(programs) as server:
        server.run("user", "allot", "ann", "visits=epsilon=1")
        one = connect(server, options="-c brume.epsilon=0.25")
        one.query("SELECT COUNT(*) AS n FROM visits")
        check("charged epsilon 0.25; left: epsilon 0.75" in one.told[0], one.told)
        one.close()


if __name__ == "__main__":
    sys.exit(run_functions([a_start_and_lists_of_tables_are_answered, a_question_is_described_for_nothing_and_charged_once,
                            what_is_left_is_the_users_own], sys.argv[1]))
