/* Random whole queries over the nasty table. */
#include "nasty_query.h"

#include "check.h"

enum { DEPTH = 3, LONG = 6000 };

typedef struct writer {
    nasty_random *random;
    char *text;
    size_t length;
    const char *unit; /* NULL: a row is a unit */
} writer;

static void put(writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    w->length += (size_t)vsnprintf(w->text + w->length, NASTY_QUERY - w->length, format, arguments);
    va_end(arguments);
    assert_holds(w->length < NASTY_QUERY);
}

static size_t below(writer *w, size_t bound)
{
    return nasty_below(w->random, bound);
}

#define CHOOSE(...)                                                                                \
    ((const char *const[]){                                                                        \
        __VA_ARGS__})[below(w, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))]

static void put_expression(writer *w)
{
    char text[LONG];
    nasty_expression(w->random, (int)below(w, DEPTH + 1), text, sizeof text);
    put(w, "%s", text);
}

static void put_condition(writer *w)
{
    char text[LONG];
    nasty_condition(w->random, (int)below(w, DEPTH + 1), text, sizeof text);
    put(w, "%s", text);
}

/* A number, most often one with bounds. */
static void put_number(writer *w)
{
    switch (below(w, 8)) {
    case 0:
        put(w, "CLAMP(");
        put_expression(w);
        put(w, ", %s)", CHOOSE("0, 1", "-5, 5", "0, 1000000000000", "-0.5, 0.25", "3, 3"));
        break;
    case 1:
        put_expression(w);
        break;
    case 2:
        put(w, "CASE WHEN ");
        put_condition(w);
        put(w, " THEN %s ELSE 0 END", CHOOSE("i2", "d2", "f2", "1"));
        break;
    case 3:
        put(w, "%s %s %zu", CHOOSE("i2", "l2", "d2", "f2"), CHOOSE("+", "-", "*"), below(w, 400));
        break;
    case 4:
        put(w, "%s %s %s", CHOOSE("i2", "l2", "d2", "f2"), CHOOSE("+", "-", "*"),
            CHOOSE("i2", "l2", "d2", "f2"));
        break;
    default:
        put(w, "%s", CHOOSE("i2", "l2", "f2", "d2"));
    }
}

static void put_aggregate(writer *w)
{
    switch (below(w, 16)) {
    case 0:
    case 1:
        put(w, "COUNT(*)");
        return;
    case 2:
        if (!w->unit) {
            put(w, "COUNT(*)");
        } else if (below(w, 3) == 0) {
            put(w, "COUNT(DISTINCT CASE WHEN ");
            put_condition(w);
            put(w, " THEN %s END)", w->unit);
        } else {
            put(w, "COUNT(DISTINCT %s)%s", w->unit,
                CHOOSE("", "", " FILTER (WHERE b1)", " FILTER (WHERE i2 > 0)"));
        }
        return;
    case 3:
        put(w, "COUNT(");
        put_expression(w);
        put(w, ")");
        return;
    case 4:
    case 5:
        put(w, "PERCENTILE_%s(%s) WITHIN GROUP (ORDER BY ", CHOOSE("CONT", "DISC"),
            CHOOSE("0", "1", "0.5", "0.25", "0.999999999", "0.000000001", "0.123456789",
                   "ARRAY[0, 0.1, 0.123456789, 0.5, 0.987654321, 1]"));
        put_number(w);
        put(w, ")%s", below(w, 6) ? "" : " FILTER (WHERE b1)");
        return;
    case 7:
        put(w, "%s(%s)%s", CHOOSE("MIN", "MAX", "MEDIAN"),
            CHOOSE("dt1", "ts1", "dt2 + 1", "i2", "date(ts2)", "last_day(dt1)"),
            below(w, 6) ? "" : " FILTER (WHERE b2)");
        return;
    case 8:
        put(w, "%s(COUNT(*)) OVER (%s%s)", CHOOSE("SUM", "AVG", "MIN", "MAX", "COUNT"),
            CHOOSE("", "PARTITION BY COUNT(*) > 5 "),
            CHOOSE("", "ORDER BY COUNT(*) DESC", "ORDER BY COUNT(*) ROWS UNBOUNDED PRECEDING"));
        return;
    case 9:
        put(w, "%s(",
            CHOOSE("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2",
                   "REGR_COUNT", "REGR_AVGX", "REGR_AVGY"));
        put_number(w);
        put(w, ", ");
        put_number(w);
        put(w, ")%s", below(w, 6) ? "" : " FILTER (WHERE b1)");
        return;
    case 6:
        put(w, "MODE() WITHIN GROUP (ORDER BY %s)", CHOOSE("b1", "i2", "s1", "d3", "s2", "i2 % 3"));
        return;
    default:
        put(w, "%s(",
            CHOOSE("SUM", "SUM", "AVG", "VAR_POP", "VAR_SAMP", "STDDEV", "STDDEV_POP", "MEDIAN"));
        put_number(w);
        put(w, ")%s", below(w, 6) ? "" : " FILTER (WHERE b2)");
    }
}

static void put_output(writer *w)
{
    switch (below(w, 10)) {
    case 0:
        put_aggregate(w);
        put(w, " %s ", CHOOSE("+", "-", "*", "/"));
        put_aggregate(w);
        break;
    case 1:
        put(w, "ROUND(");
        put_aggregate(w);
        put(w, " * 1e300 * 1e300, 2)");
        break;
    case 2:
        put(w, "SQRT(");
        put_aggregate(w);
        put(w, ")");
        break;
    default:
        put_aggregate(w);
    }
}

static void put_source(writer *w)
{
    static const char *const all =
        "id, b1, b2, i1, i2, m1, l1, l2, f1, f2, r1, d1, d2, d3, d4, s1, s2, dt1, dt2, ts1, ts2, "
        "tz1";
    switch (below(w, 6)) {
    case 0:
        put(w, "(SELECT %s FROM nasty WHERE ", all);
        put_condition(w);
        put(w, ") AS nasty");
        return;
    case 1:
        if (w->unit) {
            put(w, "(SELECT *, ");
            put_number(w);
            put(w, " AS more FROM nasty) AS nasty");
            return;
        }
        break;
    default:
        break;
    }
    put(w, "nasty");
}

static void put_where(writer *w)
{
    switch (below(w, 5)) {
    case 0:
        put(w, " WHERE ");
        put_condition(w);
        return;
    case 1:
        if (!w->unit)
            return;
        put(w, " WHERE %s %sIN (SELECT %s FROM nasty GROUP BY %s HAVING COUNT(*) > %zu)", w->unit,
            CHOOSE("", "NOT "), w->unit, w->unit, below(w, 4));
        return;
    default:
        return;
    }
}

/* Per unit first, then over units. */
static void put_nested(writer *w)
{
    put(w, "SELECT COUNT(*), %s(n), %s(t) FROM (SELECT %s, CLAMP(COUNT(*), 0, 9) AS n, CLAMP(",
        CHOOSE("SUM", "AVG", "MEDIAN"), CHOOSE("SUM", "VAR_POP", "MEDIAN"), w->unit);
    put(w, "%s(", CHOOSE("SUM", "MIN", "MAX", "COUNT"));
    put_number(w);
    put(w, "), 0, 100) AS t FROM nasty");
    put_where(w);
    put(w, " GROUP BY %s) AS p", w->unit);
}

/* What a unit's own rows say about that unit: windows, first rows, other rows. */
static void put_timeline(writer *w)
{
    const char *order = CHOOSE("i1", "d2", "s1", "dt1", "ts1 DESC", "f1 NULLS FIRST", "b1, l1",
                               "s2 DESC NULLS LAST");
    switch (below(w, 4)) {
    case 0:
        put(w,
            "SELECT b1, COUNT(*), SUM(CLAMP(n, 0, 9)), COUNT(v) FROM (SELECT b1, %s OVER (PARTITION BY "
            "%s ORDER BY %s) AS n, ",
            CHOOSE("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "NTILE(3)", "COUNT(*)", "SUM(i2)",
                   "LAG(i2, 2, 5)"),
            w->unit, order);
        put(w, "%s(", CHOOSE("LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "COUNT"));
        put_expression(w);
        put(w, ") OVER (PARTITION BY %s, i2 ORDER BY %s%s) AS v FROM nasty", w->unit, order,
            CHOOSE("", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
                   " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"));
        put_where(w);
        put(w, ") AS p GROUP BY b1");
        return;
    case 1:
        put(w, "SELECT COUNT(*), SUM(i2), COUNT(x) FROM (SELECT DISTINCT ON (%s%s) %s, i2, ",
            w->unit, CHOOSE("", ", b1"), w->unit);
        put_expression(w);
        put(w, " AS x FROM nasty ORDER BY %s, %s) AS p", w->unit, order);
        return;
    case 2:
        put(w,
            "SELECT COUNT(*), COUNT(*) FILTER (WHERE %sEXISTS (SELECT 1 FROM nasty b WHERE b.%s = "
            "nasty.%s AND b.i1 %s nasty.i1 AND ",
            CHOOSE("", "NOT "), w->unit, w->unit, CHOOSE("<", "=", ">="));
        put_condition(w);
        put(w, ")) FROM nasty");
        return;
    default:
        put(w,
            "SELECT COUNT(n), SUM(CLAMP(n, 0, 9)) FROM (SELECT (SELECT %s FROM nasty b WHERE b.%s = "
            "nasty.%s AND ",
            CHOOSE("COUNT(*)", "MAX(b.i2)", "SUM(b.l2)", "COUNT(DISTINCT b.s1)"), w->unit, w->unit);
        put_condition(w);
        put(w, ") AS n FROM nasty) AS p");
    }
}

void nasty_query(nasty_random *random, const char *unit, char *text)
{
    writer all = {random, text, 0, unit}, *w = &all;
    text[0] = 0;
    if (unit && below(w, 8) == 0) {
        put_timeline(w);
        return;
    }
    if (unit && below(w, 10) == 0) {
        put_nested(w);
        return;
    }
    char keys[3][LONG];
    size_t key_count = below(w, 5) % 4;
    put(w, "SELECT ");
    for (size_t i = 0; i < key_count; i++) {
        if (below(w, 3))
            snprintf(keys[i], sizeof keys[i], "%s", CHOOSE("b1", "i2", "d3", "s1", "dt1", "m1"));
        else
            nasty_expression(random, (int)below(w, DEPTH), keys[i], sizeof keys[i]);
        put(w, "%s AS k%zu, ", keys[i], i);
    }
    size_t outputs = below(w, 40) == 0 ? 60 + below(w, 200) : 1 + below(w, 4);
    for (size_t i = 0; i < outputs; i++) {
        put(w, "%s", i ? ", " : "");
        put_output(w);
        put(w, " AS o%zu", i);
    }
    put(w, " FROM ");
    put_source(w);
    put_where(w);
    for (size_t i = 0; i < key_count; i++)
        put(w, "%s%s", i ? ", " : " GROUP BY ", keys[i]);
    if (below(w, 6) == 0) {
        put(w, " HAVING ");
        put_aggregate(w);
        put(w, " %s %s", CHOOSE("<", ">", "="), CHOOSE("0", "10", "1e308"));
    }
    if (below(w, 6) == 0)
        put(w, " ORDER BY o0 %s", CHOOSE("DESC", "NULLS FIRST", ""));
    if (below(w, 8) == 0)
        put(w, " LIMIT %zu", below(w, 5));
}
