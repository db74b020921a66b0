/* A table of values that break naive SQL, on both engines. */
#include "nasty.h"
#include "nasty_kind.h"

#include "check.h"

#include <stdlib.h>

#include <duckdb.h>
#include <libpq-fe.h>

uint64_t nasty_next(nasty_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

size_t nasty_below(nasty_random *random, size_t bound)
{
    return (size_t)(nasty_next(random) % bound);
}

/* ---- values ---- */

static const struct column {
    const char *name, *postgresql, *duckdb;
    kind kind;
    int precision, scale;
    const char *low, *high; /* declared bounds */
} columns[] = {
    {"b1", "boolean", "BOOLEAN", B, 0, 0, NULL, NULL},
    {"b2", "boolean", "BOOLEAN", B, 0, 0, NULL, NULL},
    {"i1", "integer", "INTEGER", I, 0, 0, NULL, NULL},
    {"i2", "integer", "INTEGER", I, 0, 0, "-10", "100"},
    {"m1", "smallint", "SMALLINT", S, 0, 0, NULL, NULL},
    {"l1", "bigint", "BIGINT", L, 0, 0, NULL, NULL},
    {"l2", "bigint", "BIGINT", L, 0, 0, "-1000000", "7"},
    {"f1", "double precision", "DOUBLE", F, 0, 0, NULL, NULL},
    {"f2", "double precision", "DOUBLE", F, 0, 0, "-5", "5.5"},
    {"r1", "real", "FLOAT", R, 0, 0, NULL, NULL},
    {"d1", "numeric(9,2)", "DECIMAL(9,2)", D, 9, 2, NULL, NULL},
    {"d2", "numeric(18,3)", "DECIMAL(18,3)", D, 18, 3, "0", "50"},
    {"d3", "numeric(5,0)", "DECIMAL(5,0)", D, 5, 0, NULL, NULL},
    {"d4", "numeric(12,6)", "DECIMAL(12,6)", D, 12, 6, NULL, NULL},
    {"s1", "text", "VARCHAR", T, 0, 0, NULL, NULL},
    {"s2", "varchar", "VARCHAR", T, 0, 0, NULL, NULL},
    {"dt1", "date", "DATE", DT, 0, 0, NULL, NULL},
    {"dt2", "date", "DATE", DT, 0, 0, "1970-01-02", "2024-02-28"},
    {"ts1", "timestamp", "TIMESTAMP", TS, 0, 0, NULL, NULL},
    {"ts2", "timestamp", "TIMESTAMP", TS, 0, 0, "1969-12-31 23:59:59.5", "2024-02-29"},
    {"tz1", "timestamptz", "TIMESTAMP WITH TIME ZONE", TZ, 0, 0, NULL, NULL},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const char *const booleans[] = {"true", "false"};
static const char *const integers[] = {
    "0",     "1",     "-1",    "2",          "-2",          "3",          "7",
    "10",    "100",   "-100",  "2147483647", "-2147483648", "2147483646", "-2147483647",
    "46340", "46341", "65536", "-65536",     "1000000"};
static const char *const smalls[] = {"0", "1", "-1", "32767", "-32768", "7", "180", "181"};
static const char *const bigs[] = {"0",
                                   "1",
                                   "-1",
                                   "2",
                                   "7",
                                   "-10",
                                   "2147483648",
                                   "-2147483649",
                                   "3037000499",
                                   "3037000500",
                                   "4294967296",
                                   "1000000000000",
                                   "9223372036854775807",
                                   "-9223372036854775808",
                                   "9007199254740993"};
static const char *const reals[] = {"0",
                                    "-0.0",
                                    "1",
                                    "-1",
                                    "0.5",
                                    "-0.5",
                                    "1.5",
                                    "2.5",
                                    "-2.5",
                                    "0.1",
                                    "0.30000000000000004",
                                    "NaN",
                                    "Infinity",
                                    "-Infinity",
                                    "1.7976931348623157e308",
                                    "-1.7976931348623157e308",
                                    "5e-324",
                                    "-5e-324",
                                    "2.2250738585072014e-308",
                                    "1e-160",
                                    "1e-150",
                                    "-1e-149",
                                    "1e150",
                                    "9.999e149",
                                    "-1e151",
                                    "1e200",
                                    "1e-200",
                                    "4503599627370495.5",
                                    "4503599627370497.5",
                                    "9007199254740993",
                                    "2147483647.5",
                                    "2147483646.5",
                                    "-2147483648.5",
                                    "9223372036854775807",
                                    "9223372036854774784",
                                    "-9223372036854775808",
                                    "-9223372036854777856",
                                    "345",
                                    "346",
                                    "-346",
                                    "709.8",
                                    "-745.2",
                                    "1e-17",
                                    "0.9999999999999999",
                                    "123456789.123456789",
                                    "1e15",
                                    "1e16",
                                    "0.285",
                                    "1.005",
                                    "2.675",
                                    "1e22",
                                    "12345678.905",
                                    "9.9e-5",
                                    "0.00015",
                                    "1e-7"};
static const char *const floats[] = {"0",     "-0.0", "1",        "0.5", "1e38",     "-1e38",
                                     "1e-45", "NaN",  "Infinity", "0.1", "16777217", "-2.5"};
static const char *const texts[] = {
    "",
    "a",
    "A",
    "b",
    " a",
    "a ",
    "  ",
    "abc",
    "ABC",
    "aXb",
    "Straße",
    "É",
    "é",
    "e\u0301",
    "İ",
    "ı",
    "ß",
    "ẞ",
    "日本語",
    "🙂",
    "👨‍👩‍👧",
    "Ω",
    "ω",
    "ſ",
    "K",
    "a%b",
    "a_b",
    "\\",
    "a\\b",
    "it's",
    "0",
    "1",
    "-1",
    "+7",
    " 42 ",
    "\t42\n",
    "4_2",
    "0x10",
    "1e3",
    "1.5",
    "-1.5",
    ".5",
    "5.",
    "1.005",
    "-2.5",
    "1e400",
    "1e-400",
    "NaN",
    "inf",
    "Infinity",
    "2147483647",
    "2147483648",
    "-2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "00000000000000000000012",
    "99999999999999999999999999",
    "true",
    "TRUE",
    "t",
    "yes",
    "on",
    "of",
    "off",
    "no",
    "0001-01-01",
    "0000-01-01",
    "2020-02-29",
    "2021-02-29",
    "1900-02-29",
    "2000-02-29",
    "2100-02-29",
    "9999-12-31",
    "10000-01-01",
    "2020-13-01",
    "2020-00-10",
    "2020-04-31",
    "2020-1-5",
    "2020-01-05 10:11:12",
    "2020-01-05T10:11:12.5",
    "2020-01-05 24:00:00",
    "2020-01-05 23:59:60",
    "2020-01-05 10:11",
    "2020-01-05 10:11:12.1234567",
    "2020-01-05 10:11:12+02",
    "now",
    "today",
    "infinity",
    "epoch",
    "\u00a0x\u00a0",
    "\u3000",
    "tab\there",
    "x\n",
    "\n",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "1234567.125",
    "-0",
    "-0.0",
    "0.285",
    "1e05",
    "12e-2",
    "+.5e+1"};
static const char *const dates[] = {"2020-02-29", "2019-02-28", "1970-01-01", "1969-12-31",
                                    "0001-01-01", "9999-12-31", "2000-01-01", "1999-12-31",
                                    "1900-03-01", "2024-12-30", "2021-01-03", "2018-12-31",
                                    "1600-02-29", "infinity",   "-infinity",  "12000-01-01"};
static const char *const stamps[] = {"2020-02-29 23:59:59.999999",
                                     "2020-03-31 12:00:00",
                                     "1970-01-01 00:00:00",
                                     "1969-12-31 23:59:59.999999",
                                     "1969-12-31 23:59:59.5",
                                     "0001-01-01 00:00:00",
                                     "0001-01-01 00:00:00.000001",
                                     "9999-12-31 23:59:59.999999",
                                     "2000-01-31 10:20:30.123",
                                     "1999-12-31 23:00:00",
                                     "2021-01-03 00:00:01",
                                     "infinity",
                                     "-infinity",
                                     "12000-01-01 00:00:00"};

#define PICK(list) list[nasty_below(random, sizeof list / sizeof *list)]

/* A value as text, or NULL. */
static const char *random_value(nasty_random *random, const struct column *column, char buffer[80])
{
    bool fixed = nasty_below(random, 2) == 0;
    if (nasty_below(random, 14) == 0)
        return NULL;
    int64_t whole = (int64_t)nasty_next(random);
    switch (column->kind) {
    case B:
        return PICK(booleans);
    case I:
        if (fixed)
            return PICK(integers);
        snprintf(buffer, 80, "%d", (int)(nasty_below(random, 2) ? whole % 1000 : whole));
        return buffer;
    case S:
        return PICK(smalls);
    case L:
        if (fixed)
            return PICK(bigs);
        snprintf(buffer, 80, "%lld",
                 (long long)(nasty_below(random, 2) ? whole % 1000000
                                                    : whole >> nasty_below(random, 10)));
        return buffer;
    case F: {
        if (fixed)
            return PICK(reals);
        double x = (double)whole / 0x1p63;
        size_t how = nasty_below(random, 3);
        x = how == 0   ? (double)(whole % 1000000) / 1000
            : how == 1 ? x * 100
                       : x * pow(10, (double)nasty_below(random, 320) - 160);
        snprintf(buffer, 80, "%.17g", x);
        return buffer;
    }
    case R:
        return PICK(floats);
    case D: {
        int64_t limit = 1;
        for (int i = 0; i < column->precision; i++)
            limit *= 10;
        static const int64_t units[] = {0,  1,  -1, 5,   -5,   15,  25,   -25,   49,
                                        50, 51, 99, 100, -150, 250, 1005, -2500, 15000};
        int64_t value = fixed ? PICK(units) : nasty_below(random, 2) ? whole % limit : whole % 5000;
        if (nasty_below(random, 20) == 0)
            value = nasty_below(random, 2) ? limit - 1 : 1 - limit;
        value %= limit;
        int64_t scale = 1;
        for (int i = 0; i < column->scale; i++)
            scale *= 10;
        int64_t size = llabs(value);
        snprintf(buffer, 80, column->scale ? "%s%lld.%0*lld" : "%s%lld", value < 0 ? "-" : "",
                 (long long)(size / scale), column->scale, (long long)(size % scale));
        return buffer;
    }
    case T: {
        size_t how = nasty_below(random, 4), length = 0;
        if (fixed)
            return PICK(texts);
        if (how == 0) {
            snprintf(buffer, 80, "%04d-%02d-%02d", (int)nasty_below(random, 10001),
                     (int)nasty_below(random, 14), (int)nasty_below(random, 33));
        } else if (how == 1) {
            snprintf(buffer, 80, "%04d-%02d-%02d %02d:%02d:%02d",
                     1 + (int)nasty_below(random, 9999), 1 + (int)nasty_below(random, 12),
                     1 + (int)nasty_below(random, 31), (int)nasty_below(random, 25),
                     (int)nasty_below(random, 61), (int)nasty_below(random, 61));
        } else {
            static const char *const letters[] = {"a", "b",  "A",  "B",    " ", "é", "日", "%",
                                                  "_", "\\", "\t", "🙂", "x", "y", "Z",  "'"};
            static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7",
                                                 "8", "9", ".", "+", "-", "e", "E", " "};
            size_t count = nasty_below(random, 9);
            buffer[0] = 0;
            for (size_t i = 0; i < count; i++)
                length += (size_t)snprintf(buffer + length, 80 - length, "%s",
                                           how == 2 ? PICK(letters) : PICK(digits));
        }
        return buffer;
    }
    case DT:
        if (fixed)
            return PICK(dates);
        snprintf(buffer, 80, "%04d-%02d-%02d", 1 + (int)nasty_below(random, 9999),
                 1 + (int)nasty_below(random, 12), 1 + (int)nasty_below(random, 28));
        return buffer;
    default:
        if (fixed && column->kind == TS)
            return PICK(stamps);
        snprintf(buffer, 80, "%04d-%02d-%02d %02d:%02d:%02d.%06d%s",
                 2 + (int)nasty_below(random, 9990), 1 + (int)nasty_below(random, 12),
                 1 + (int)nasty_below(random, 28), (int)nasty_below(random, 24),
                 (int)nasty_below(random, 60), (int)nasty_below(random, 60),
                 (int)nasty_below(random, 1000000), column->kind == TZ ? "+02" : "");
        return buffer;
    }
}

static void quote(char *out, size_t size, const char *text, const char *type, bool postgresql)
{
    size_t length = (size_t)snprintf(out, size, postgresql ? "'" : "CAST('");
    for (; *text && length + 4 < size; text++) {
        if (*text == '\'')
            out[length++] = '\'';
        out[length++] = *text;
    }
    snprintf(out + length, size - length, postgresql ? "'::%s" : "' AS %s)", type);
}

static void run_postgresql(PGconn *connection, const char *sql)
{
    if (!connection)
        return;
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%.300s: %s", sql, PQerrorMessage(connection));
    PQclear(result);
}

static void run_duckdb(duckdb_connection connection, const char *sql)
{
    duckdb_result result;
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        fail_msg("%.300s: %s", sql, duckdb_result_error(&result));
    duckdb_destroy_result(&result);
}

void nasty_make(uint64_t seed, const char *url, const char *path)
{
    nasty_random random = {seed};
    PGconn *postgresql = url ? PQconnectdb(url) : NULL;
    duckdb_database database;
    duckdb_connection duckdb;
    assert_true(!url || PQstatus(postgresql) == CONNECTION_OK);
    assert_int_equal(duckdb_open(NULL, &database), DuckDBSuccess);
    assert_int_equal(duckdb_connect(database, &duckdb), DuckDBSuccess);
    char sql[2][40000];
    size_t length[2];
    run_postgresql(postgresql, "SET client_min_messages = error; SET TimeZone = 'UTC'; DROP TABLE "
                               "IF EXISTS nasty");
    run_duckdb(duckdb, "SET TimeZone = 'UTC'");
    for (int e = 0; e < 2; e++) {
        length[e] = (size_t)snprintf(sql[e], sizeof sql[e], "CREATE TABLE nasty(id bigint");
        for (size_t j = 0; j < COLUMNS; j++)
            length[e] += (size_t)snprintf(sql[e] + length[e], sizeof sql[e] - length[e], ", %s %s",
                                          columns[j].name,
                                          e ? columns[j].postgresql : columns[j].duckdb);
        snprintf(sql[e] + length[e], sizeof sql[e] - length[e], ")");
    }
    run_duckdb(duckdb, sql[0]);
    run_postgresql(postgresql, sql[1]);
    for (int i = 0; i < NASTY_ROWS; i++) {
        for (int e = 0; e < 2; e++)
            length[e] = (size_t)snprintf(sql[e], sizeof sql[e], "INSERT INTO nasty VALUES (%d", i);
        for (size_t j = 0; j < COLUMNS; j++) {
            char buffer[80], quoted[512];
            const char *value = random_value(&random, &columns[j], buffer);
            /* Only PostgreSQL's numeric has a NaN: it must read as NULL there. */
            bool nan = columns[j].kind == D && nasty_below(&random, 25) == 0;
            for (int e = 0; e < 2; e++) {
                const char *shown = nan ? e ? "NaN" : NULL : value;
                if (shown)
                    quote(quoted, sizeof quoted, shown,
                          e ? columns[j].postgresql : columns[j].duckdb, e);
                length[e] += (size_t)snprintf(sql[e] + length[e], sizeof sql[e] - length[e], ", %s",
                                              shown ? quoted : "NULL");
            }
        }
        for (int e = 0; e < 2; e++)
            snprintf(sql[e] + length[e], sizeof sql[e] - length[e], ")");
        run_duckdb(duckdb, sql[0]);
        run_postgresql(postgresql, sql[1]);
    }
    snprintf(sql[0], sizeof sql[0], "COPY nasty TO '%s' (FORMAT parquet)", path);
    run_duckdb(duckdb, sql[0]);
    PQfinish(postgresql);
    duckdb_disconnect(&duckdb);
    duckdb_close(&database);
}

const brume_catalog *nasty_catalog(brume_engine *engine, int slot)
{
    static brume_catalog catalogs[2];
    static brume_catalog_table tables[2];
    static brume_catalog_column kept[2][64];
    static brume_description descriptions[2];
    brume_error error;
    brume_description_clear(&descriptions[slot]);
    assert_ok(brume_engine_describe(engine, 0, &descriptions[slot], &error));
    const brume_description *found = &descriptions[slot];
    for (size_t i = 0; i < found->column_count; i++) {
        const brume_column *each = &found->columns[i];
        kept[slot][i] = (brume_catalog_column){each->name,   each->type,     each->leaf,
                                               each->native, each->not_null, NULL,
                                               NULL,         false,          false};
        for (size_t j = 0; j < COLUMNS; j++)
            if (strcmp(columns[j].name, each->name) == 0) {
                kept[slot][i].low = columns[j].low;
                kept[slot][i].high = columns[j].high;
            }
    }
    tables[slot] = (brume_catalog_table){.name = "nasty",
                                         .privacy = BRUME_PRIVACY_UNIT,
                                         .columns = kept[slot],
                                         .column_count = found->column_count};
    catalogs[slot] = (brume_catalog){&tables[slot], 1};
    return &catalogs[slot];
}
