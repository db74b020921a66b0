/* Random SQL expressions over the nasty table. */
#include "nasty.h"
#include "nasty_kind.h"

#include "check.h"

typedef struct emitter {
    nasty_random *random;
    char *text;
    size_t size, length;
} emitter;

static void put(emitter *e, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (e->length < e->size)
        e->length += (size_t)vsnprintf(e->text + e->length, e->size - e->length, format, arguments);
    va_end(arguments);
}

#define CHOOSE(...)                                                                                \
    ((const char *const[]){__VA_ARGS__})[nasty_below(                                              \
        e->random, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))]

static void emit(emitter *e, kind wanted, int depth);

static void emit_number(emitter *e, int depth)
{
    static const kind kinds[] = {I, I, L, F, F, D};
    emit(e, kinds[nasty_below(e->random, 6)], depth);
}

static void emit_leaf(emitter *e, kind wanted)
{
    bool constant = nasty_below(e->random, 10) < 3;
    if (constant && nasty_below(e->random, 14) == 0) {
        put(e, "CAST(NULL AS %s)",
            wanted == B    ? "boolean"
            : wanted == I  ? "integer"
            : wanted == L  ? "bigint"
            : wanted == F  ? "double precision"
            : wanted == D  ? "numeric(9,2)"
            : wanted == T  ? "text"
            : wanted == DT ? "date"
                           : "timestamp");
        return;
    }
    switch (wanted) {
    case B:
        put(e, "%s", constant ? CHOOSE("true", "false") : CHOOSE("b1", "b2"));
        break;
    case I:
        put(e, "%s",
            constant ? CHOOSE("0", "1", "(-1)", "2", "3", "7", "10", "(-3)", "100", "2147483647",
                              "(-2147483648)", "65536")
                     : CHOOSE("i1", "i2", "m1", "i1"));
        break;
    case L:
        put(e, "%s",
            constant ? CHOOSE("3000000000", "9223372036854775807", "(-9223372036854775808)",
                              "4294967296", "CAST(-7 AS bigint)", "CAST(0 AS bigint)")
                     : CHOOSE("l1", "l2"));
        break;
    case F:
        if (constant)
            put(e, "CAST('%s' AS double precision)",
                CHOOSE("0", "1", "-1", "0.5", "2.5", "-2.5", "1e10", "3", "1e-10", "0.1", "1e149",
                       "-7e140", "1e-140", "100", "2147483647.5", "9.2233720368547758e18"));
        else
            put(e, "%s", CHOOSE("f1", "f2", "f1", "r1"));
        break;
    case D:
        put(e, "%s",
            constant ? CHOOSE("0.5", "1.25", "(-2.5)", "99.99", "0.001", "12345.678", "0.0", "1e3",
                              "100.00")
                     : CHOOSE("d1", "d2", "d3", "d4"));
        break;
    case T:
        put(e, "%s",
            constant ? CHOOSE("'a'", "'A'", "' a '", "'abc'", "'é'", "'É'", "'日本'", "'ß'", "'%%'",
                              "'_'", "'\\'", "''''", "'x y'", "'12'", "' 7'", "'1.5'",
                              "'2020-02-29'", "'true'", "'aXb'", "'İ'", "'🙂'", "''")
                     : CHOOSE("s1", "s2"));
        if (constant)
            put(e, "::text");
        break;
    case DT:
        if (constant)
            put(e, "DATE '%s'",
                CHOOSE("2020-02-29", "1970-01-01", "0001-01-01", "9999-12-31", "1900-02-28",
                       "2000-12-31", "1969-12-31"));
        else
            put(e, "%s", CHOOSE("dt1", "dt2"));
        break;
    default:
        if (constant)
            put(e, "TIMESTAMP '%s'",
                CHOOSE("2020-02-29 12:34:56.789", "1970-01-01 00:00:00", "0001-01-01 00:00:00",
                       "9999-12-31 23:59:59.999999", "1969-12-31 23:59:59.5",
                       "2021-01-31 00:00:00"));
        else
            put(e, "%s", CHOOSE("ts1", "ts2", "tz1"));
    }
}

/* CASE, COALESCE, NULLIF, GREATEST, LEAST of values of one kind. */
static void emit_choice(emitter *e, kind wanted, int depth)
{
    size_t how = nasty_below(e->random, wanted == B ? 4 : 5);
    if (how == 1 && nasty_below(e->random, 2)) {
        put(e, "%s(", CHOOSE("if", "iff"));
        emit(e, B, depth);
        put(e, ", ");
        emit(e, wanted, depth);
        put(e, ", ");
        emit(e, wanted, depth);
        put(e, ")");
        return;
    }
    if (how < 2) {
        put(e, "CASE WHEN ");
        emit(e, B, depth);
        put(e, " THEN ");
        emit(e, wanted, depth);
        if (how == 0 || nasty_below(e->random, 2)) {
            put(e, " ELSE ");
            emit(e, wanted, depth);
        }
        put(e, " END");
        return;
    }
    put(e, "%s(",
        how == 2   ? CHOOSE("COALESCE", "ifnull", "nvl")
        : how == 3 ? "NULLIF"
                   : CHOOSE("GREATEST", "LEAST"));
    emit(e, wanted, depth);
    put(e, ", ");
    emit(e, wanted, depth);
    put(e, ")");
}

static void emit_cast(emitter *e, kind wanted, int depth)
{
    static const kind numbers[] = {I, L, F, D, T, B};
    static const kind for_text[] = {I, L, D, B, DT, TS};
    static const kind for_boolean[] = {I, L, T};
    kind from = T;
    const char *type = "text";
    switch (wanted) {
    case I:
    case L:
        from = numbers[nasty_below(e->random, 6)];
        type = wanted == I ? CHOOSE("integer", "smallint") : "bigint";
        if (wanted == I)
            type = "integer";
        break;
    case F:
        from = numbers[nasty_below(e->random, 5)];
        type = "double precision";
        break;
    case D:
        from = numbers[nasty_below(e->random, 5)];
        type = CHOOSE("numeric(9,2)", "numeric(18,3)", "numeric(5,0)", "numeric(12,6)",
                      "numeric(4,4)", "numeric(15,8)");
        break;
    case B:
        from = for_boolean[nasty_below(e->random, 3)];
        type = "boolean";
        break;
    case T:
        from = for_text[nasty_below(e->random, 6)];
        break;
    case DT:
        from = nasty_below(e->random, 2) ? TS : T;
        type = "date";
        break;
    default:
        from = nasty_below(e->random, 2) ? DT : T;
        type = "timestamp";
    }
    put(e, "CAST(");
    emit(e, from, depth);
    put(e, " AS %s)", type);
}

static void emit_pair(emitter *e, kind a, const char *operation, kind b, int depth)
{
    put(e, "(");
    emit(e, a, depth);
    put(e, " %s ", operation);
    emit(e, b, depth);
    put(e, ")");
}

static void emit_comparable(emitter *e, const char *operation, int depth)
{
    size_t how = nasty_below(e->random, 6);
    kind times[] = {DT, TS};
    if (how < 3) {
        put(e, "(");
        emit_number(e, depth);
        put(e, " %s ", operation);
        emit_number(e, depth);
        put(e, ")");
    } else if (how == 3) {
        emit_pair(e, T, operation, T, depth);
    } else if (how == 4) {
        emit_pair(e, times[nasty_below(e->random, 2)], operation, times[nasty_below(e->random, 2)],
                  depth);
    } else {
        emit_pair(e, B, operation, B, depth);
    }
}

static void emit_boolean(emitter *e, int depth)
{
    static const kind all[] = {I, L, F, D, B, T, DT, TS};
    switch (nasty_below(e->random, 11)) {
    case 0:
    case 1:
    case 2:
        emit_comparable(e, CHOOSE("=", "<>", "<", "<=", ">", ">="), depth);
        return;
    case 3:
        emit_pair(e, B, CHOOSE("AND", "OR"), B, depth);
        return;
    case 4:
        put(e, "(NOT ");
        emit(e, B, depth);
        put(e, ")");
        return;
    case 5:
        put(e, "((");
        emit(e, all[nasty_below(e->random, 8)], depth);
        put(e, ") %s)", CHOOSE("IS NULL", "IS NOT NULL"));
        return;
    case 6:
        put(e, "((");
        emit(e, B, depth);
        put(e, ") %s)",
            CHOOSE("IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "IS UNKNOWN",
                   "IS NOT UNKNOWN"));
        return;
    case 7:
        emit_comparable(e, CHOOSE("IS DISTINCT FROM", "IS NOT DISTINCT FROM"), depth);
        return;
    case 8:
        put(e, "((");
        if (nasty_below(e->random, 2)) {
            emit_number(e, depth);
            put(e, ") %sBETWEEN %s AND %s)", CHOOSE("", "NOT "), CHOOSE("-5", "0", "1.5"),
                CHOOSE("3", "7.25", "1000"));
        } else {
            emit(e, DT, depth);
            put(e, ") %sIN ('2020-02-29', '1970-01-01', NULL, '9999-12-31'))", CHOOSE("", "NOT "));
        }
        return;
    case 9:
        put(e, "(");
        emit(e, T, depth);
        if (nasty_below(e->random, 2)) {
            put(e, " %s '%s')", CHOOSE("~", "~*", "!~", "!~*"),
                CHOOSE("", "a", "^a", "b$", "^$", ".", "^.$", "^..+$", "[a-c]|é", "[^a-z]", "\\d+",
                       "\\s", "^\\w*$", "(a|b){2,3}", "A.*B", "[[:punct:]]", "日|^(é|a)", "\\.",
                       "  ", "^(?:[^/]+/)*$", "[\\u0000-\\u0040]"));
            return;
        }
        put(e, " %s '%s'%s)", CHOOSE("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"),
            CHOOSE("%", "_", "a%", "%a", "%A%", "_b%", "", "a", "\\%%", "%\\_%", "é%", "__", "%日_",
                   "a\\\\%", "%  %"),
            "");
        return;
    default:
        if (nasty_below(e->random, 2)) {
            put(e, "%s(", CHOOSE("starts_with", "ends_with"));
            emit(e, T, depth);
            put(e, ", ");
            emit(e, T, depth);
            put(e, ")");
        } else if (nasty_below(e->random, 2)) {
            put(e, "contains(");
            emit(e, T, depth);
            put(e, ", %s)", CHOOSE("'a'", "'é'", "''", "left(s2, 2)"));
        } else {
            put(e, "((");
            emit_number(e, depth);
            put(e, ") %sIN (1, 2.5, -3, NULL, 100))", CHOOSE("", "NOT "));
        }
    }
}

static void emit_text(emitter *e, int depth)
{
    kind times[] = {DT, TS};
    size_t how = nasty_below(e->random, 12);
    if (how == 0) {
        emit_pair(e, T, "||", T, depth);
        return;
    }
    if (how == 9 || how == 10) {
        kind time = times[nasty_below(e->random, 2)];
        put(e, how == 9 ? "strftime(" : "to_char(");
        emit(e, time, depth);
        if (how == 9)
            put(e, ", '%s')",
                time == DT ? CHOOSE("%Y-%m", "%Y", "%d.%m.%Y", "%m/%d")
                           : CHOOSE("%Y-%m-%d %H:%M:%S", "%H:%M", "%Y%m%d", "%S, %M_%H"));
        else
            put(e, ", '%s')",
                time == DT ? CHOOSE("YYYY-MM", "YYYY", "DD.MM.YYYY", "mm/dd")
                           : CHOOSE("YYYY-MM-DD HH24:MI:SS", "HH24:MI", "YYYYMMDD", "SS, MI_hh24"));
        return;
    }
    if (how == 11) {
        put(e, "split_part(");
        emit(e, T, depth);
        put(e, ", '%s', %s)", CHOOSE(" ", "a", "é", "ab", "."), CHOOSE("1", "2", "3", "1000"));
        return;
    }
    put(e, "%s(",
        how == 1   ? "concat"
        : how == 2 ? CHOOSE("lower", "upper")
        : how == 3 ? CHOOSE("btrim", "ltrim", "rtrim")
        : how == 4 ? CHOOSE("left", "right")
        : how == 5 ? "replace"
                   : "substring");
    emit(e, T, depth);
    if (how == 1) {
        put(e, ", ");
        emit(e, T, depth);
    } else if (how == 3 && nasty_below(e->random, 2)) {
        put(e, ", '%s'", CHOOSE(" ", "a", "é", " a", "\t ", "xyz"));
    } else if (how == 4 || how >= 6) {
        put(e, ", ");
        emit(e, I, depth);
    } else if (how == 5) {
        put(e, ", %s, %s", CHOOSE("'a'", "left(s1, 4)", "''", "'é'"), CHOOSE("'b'", "''", "'xyz'"));
    }
    if (how == 7 || how == 8) {
        put(e, ", ");
        emit(e, I, depth);
    }
    put(e, ")");
}

static void emit_time(emitter *e, kind wanted, int depth)
{
    kind times[] = {DT, TS};
    if (wanted == DT && nasty_below(e->random, 4) == 0) {
        put(e, "last_day(");
        emit(e, times[nasty_below(e->random, 2)], depth);
        put(e, ")");
    } else if (wanted == DT) {
        emit_pair(e, DT, CHOOSE("+", "-"), I, depth);
    } else if (nasty_below(e->random, 5) == 0) {
        put(e, "(");
        emit(e, times[nasty_below(e->random, 2)], depth);
        put(e, " %s INTERVAL %s)", CHOOSE("+", "-"),
            CHOOSE("'3' MONTH", "'-2' YEAR", "'90' DAY", "'7' HOUR", "'1' MINUTE", "'59' SECOND"));
    } else if (nasty_below(e->random, 3)) {
        put(e, "date_trunc('%s', ",
            CHOOSE("second", "minute", "hour", "day", "week", "month", "quarter", "year"));
        emit(e, times[nasty_below(e->random, 2)], depth);
        put(e, ")");
    } else {
        put(e, "(");
        emit(e, times[nasty_below(e->random, 2)], depth);
        put(e, " %s INTERVAL '%s')", CHOOSE("+", "-"),
            CHOOSE("1 month", "-1 month 3 days", "1 year 2 months 03:04:05", "400 days",
                   "100 years", "1 microsecond", "-90 minutes"));
    }
}

static void emit_integer(emitter *e, kind wanted, int depth)
{
    kind times[] = {DT, TS};
    switch (nasty_below(e->random, 13)) {
    case 10:
        put(e, "%s(", CHOOSE("strlen", "octet_length"));
        emit(e, T, depth);
        put(e, ")");
        return;
    case 11:
        put(e, "%s(",
            CHOOSE("year", "quarter", "month", "week", "day", "dayofweek", "isodow", "dayofyear",
                   "isoyear"));
        emit(e, times[nasty_below(e->random, 2)], depth);
        put(e, ")");
        return;
    case 12:
        if (nasty_below(e->random, 4) == 0) {
            put(e, "%s(", CHOOSE("hour", "minute", "second"));
            emit(e, TS, depth);
        } else {
            put(e, "date_diff('%s', ",
                CHOOSE("year", "quarter", "month", "week", "day", "hour", "minute", "second"));
            emit(e, times[nasty_below(e->random, 2)], depth);
            put(e, ", ");
            emit(e, times[nasty_below(e->random, 2)], depth);
        }
        put(e, ")");
        return;
    case 0:
        put(e, "(- ");
        emit(e, wanted, depth);
        put(e, ")");
        return;
    case 1:
        put(e, "abs(");
        emit(e, wanted, depth);
        put(e, ")");
        return;
    case 2:
        put(e, "length(");
        emit(e, T, depth);
        put(e, ")");
        return;
    case 3:
        put(e, "strpos(");
        emit(e, T, depth);
        put(e, ", left(");
        emit(e, T, depth);
        put(e, ", 4))");
        return;
    case 4:
        emit_pair(e, DT, "-", DT, depth);
        return;
    case 5:
        put(e, "width_bucket(");
        emit_number(e, depth);
        put(e, ", %s)", CHOOSE("0, 10, 3", "-5, 5, 10", "0.5, 1e3, 1", "0, 1, 7"));
        return;
    case 6:
        put(e, "CLAMP(");
        emit(e, wanted, depth);
        put(e, ", %s)", CHOOSE("-10, 100", "0, 7", "-2.5, 3.5"));
        return;
    default:
        emit_pair(e, wanted, CHOOSE("+", "-", "*", "/", "%"),
                  wanted == L && nasty_below(e->random, 2) ? I : wanted, depth);
    }
}

static void emit_double(emitter *e, int depth)
{
    kind times[] = {DT, TS};
    switch (nasty_below(e->random, 10)) {
    case 0:
        put(e, "%s(",
            CHOOSE("floor", "ceil", "round", "trunc", "sqrt", "ln", "log10", "exp", "abs", "sign"));
        emit(e, nasty_below(e->random, 3) ? F : I, depth);
        put(e, ")");
        return;
    case 1:
        put(e, "power(");
        emit(e, nasty_below(e->random, 3) ? F : I, depth);
        put(e, ", ");
        if (nasty_below(e->random, 2))
            put(e, "%s", CHOOSE("2", "3", "0.5", "7", "-1"));
        else
            emit(e, F, depth);
        put(e, ")");
        return;
    case 2:
        put(e, "date_part('%s', ", CHOOSE("year", "month", "epoch", "dow", "doy", "week"));
        emit(e, times[nasty_below(e->random, 2)], depth);
        put(e, ")");
        return;
    case 3:
        put(e, "CLAMP(");
        emit(e, F, depth);
        put(e, ", %s)", CHOOSE("-5, 5", "0, 1e10", "-0.25, 0.75"));
        return;
    case 4:
        emit_pair(e, D, "/", nasty_below(e->random, 2) ? D : I, depth);
        return;
    default:
        put(e, "(");
        if (nasty_below(e->random, 2)) {
            emit(e, F, depth);
            put(e, " %s ", CHOOSE("+", "-", "*", "/"));
            emit_number(e, depth);
        } else {
            emit_number(e, depth);
            put(e, " %s ", CHOOSE("+", "-", "*", "/"));
            emit(e, F, depth);
        }
        put(e, ")");
    }
}

static void emit_decimal(emitter *e, int depth)
{
    kind times[] = {DT, TS};
    switch (nasty_below(e->random, 8)) {
    case 0:
        put(e, "%s(", CHOOSE("abs", "sign", "floor", "ceil", "round", "trunc", "- "));
        emit(e, D, depth);
        put(e, ")");
        return;
    case 1:
        put(e, "%s(", CHOOSE("round", "trunc"));
        emit(e, D, depth);
        put(e, ", %s)", CHOOSE("0", "1", "2", "-1", "4"));
        return;
    case 2:
        put(e, "extract(%s from ",
            CHOOSE("year", "month", "day", "quarter", "week", "dow", "isodow", "doy", "isoyear",
                   "epoch"));
        emit(e, times[nasty_below(e->random, 2)], depth);
        put(e, ")");
        return;
    case 3:
        put(e, "extract(%s from ", CHOOSE("hour", "minute", "second"));
        emit(e, TS, depth);
        put(e, ")");
        return;
    case 4:
        put(e, "CLAMP(");
        emit(e, D, depth);
        put(e, ", %s)", CHOOSE("0, 50", "-1.5, 1.25"));
        return;
    default:
        emit_pair(e, D, CHOOSE("+", "-", "*", "%"), nasty_below(e->random, 2) ? D : I, depth);
    }
}

static void emit(emitter *e, kind wanted, int depth)
{
    size_t how = nasty_below(e->random, 100);
    if (depth <= 0 || how < 10 || e->length + 2000 > e->size) {
        emit_leaf(e, wanted);
    } else if (how < 23) {
        emit_choice(e, wanted, depth - 1);
    } else if (how < 35) {
        emit_cast(e, wanted, depth - 1);
    } else {
        switch (wanted) {
        case B:
            emit_boolean(e, depth - 1);
            break;
        case T:
            emit_text(e, depth - 1);
            break;
        case DT:
        case TS:
            emit_time(e, wanted, depth - 1);
            break;
        case F:
            emit_double(e, depth - 1);
            break;
        case D:
            emit_decimal(e, depth - 1);
            break;
        default:
            emit_integer(e, wanted, depth - 1);
        }
    }
}

void nasty_expression(nasty_random *random, int depth, char *text, size_t size)
{
    static const kind kinds[] = {I, L, F, F, D, B, T, DT, TS};
    emitter e = {random, text, size, 0};
    text[0] = 0;
    emit(&e, kinds[nasty_below(random, 9)], depth);
}

void nasty_condition(nasty_random *random, int depth, char *text, size_t size)
{
    emitter e = {random, text, size, 0};
    text[0] = 0;
    emit(&e, B, depth);
}
