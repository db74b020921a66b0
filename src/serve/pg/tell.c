/* What a client is told in addition to the rows: the price, the errors, what is not shown and why.
 * A table of rows has no room for it, and psql shows notices. Promises: connection.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/pg/connection.h"

/* ---- numbers ---- */

/* Four digits, rounded away from what would be too good: what is left down, the rest up. From
 * 10,000 on errors are whole numbers, which are read more easily than powers of ten. */
enum { DIGITS_TEXT = 32 };

static void put_digits(double number, bool up, char text[DIGITS_TEXT])
{
    snprintf(text, DIGITS_TEXT, "%.3e", number);
    double shown = strtod(text, NULL);
    if (up ? shown < number : shown > number) {
        double step = pow(10, floor(log10(fabs(number))) - 3);
        shown += up ? step : -step;
    }
    snprintf(text, DIGITS_TEXT, "%.4g", shown);
}

static void put_error(double bar, char text[DIGITS_TEXT])
{
    if (bar >= 1e4 && bar < 1e15)
        snprintf(text, DIGITS_TEXT, "%.0f", ceil(bar));
    else
        put_digits(bar, true, text);
}

/* `up`: it was charged; else it is left. Epsilon and rho are shown as they are. */
static void write_amounts(FILE *out, const json_t *amounts, bool up)
{
    static const char *const names[] = {"epsilon", "delta", "rho"};
    const char *comma = "";
    for (int i = 0; i < 3; i++) {
        const json_t *amount = json_object_get(amounts, names[i]);
        double number = json_number_value(amount);
        char text[BRUME_PG_NUMBER_TEXT], digits[DIGITS_TEXT];
        bool is_delta = i == 1;
        if (!json_is_number(amount) || (is_delta && number == 0))
            continue;
        brume_pg_number_text(number, text);
        put_digits(number, up, digits);
        fprintf(out, "%s%s %s", comma, names[i], is_delta ? digits : text);
        comma = ", ";
    }
}

/* ---- errors ---- */

static const json_t *columns_of(const json_t *answer)
{
    return json_object_get(answer, "columns");
}

/* The noise, and where a limit cut something the allowance for it; false: no bar can be claimed,
 * because what was cut is not known, or there is none. */
static bool add_allowance(const json_t *column, const json_t *noise, double *bar)
{
    const json_t *allowance = json_object_get(column, "cut_allowance");
    if (!json_is_number(noise) || json_is_false(json_object_get(column, "cut_known")))
        return false;
    *bar = json_number_value(noise);
    if (json_is_number(allowance) && json_number_value(allowance) > 0)
        *bar += json_number_value(allowance);
    return true;
}

bool brume_pg_bar(const json_t *answer, size_t row, size_t column, double *bar)
{
    const json_t *about = json_array_get(columns_of(answer), column);
    const json_t *bars = json_object_get(answer, "rows_bar_95");
    if (bars) {
        const json_t *own = json_array_get(json_array_get(bars, row), column);
        *bar = json_number_value(own);
        return json_is_number(own);
    }
    const json_t *errors = json_object_get(answer, "row_error_95");
    const json_t *noise = json_object_get(about, "error_95");
    if (json_is_array(errors) && json_array_size(errors) > 0)
        noise = json_array_get(json_array_get(errors, row), column);
    return add_allowance(about, noise, bar);
}

/* An interval of the only row: "median 26 to 31"; false: there is none, or more rows. */
static bool write_interval(FILE *out, const json_t *answer, size_t column, const char *comma,
                           const char *name)
{
    const json_t *rows = json_object_get(answer, "rows_interval_95");
    const json_t *ends = json_array_get(json_array_get(rows, 0), column);
    char *texts[2] = {NULL, NULL};
    bool there = json_array_size(rows) == 1 && json_is_array(ends);
    for (size_t i = 0; there && i < 2; i++)
        texts[i] =
            json_is_string(json_array_get(ends, i))
                ? strdup(json_string_value(json_array_get(ends, i)))
                : json_dumps(json_array_get(ends, i), JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    there = texts[0] && texts[1];
    if (there)
        fprintf(out, "%s%s %s to %s", comma, name, texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
    return there;
}

/* The largest error of each column, in a sentence. */
static void write_errors(FILE *out, const json_t *answer)
{
    const char *comma = "95 % errors: ";
    const json_t *column;
    size_t i;
    json_array_foreach (columns_of(answer), i, column) {
        const char *name = json_string_value(json_object_get(column, "name"));
        const json_t *rank = json_object_get(column, "rank_error_95");
        char text[DIGITS_TEXT];
        double bar = 0;
        bool barred = add_allowance(column, json_object_get(column, "error_95"), &bar);
        if (name && write_interval(out, answer, i, comma, name)) {
            comma = ", ";
            continue;
        }
        if (!name || (!barred && !json_is_number(rank)))
            continue;
        put_error(barred ? bar : json_number_value(rank), text);
        fprintf(out, "%s%s ±%s%s", comma, name, text, barred ? "" : " in rank");
        comma = ", ";
    }
    fputs(*comma == ',' ? "\n" : "", out);
}

/* ---- what else is to be kept in mind ---- */

static bool is_unlimited(const json_t *column)
{
    return json_is_false(json_object_get(column, "limit_found")) ||
           json_is_false(json_object_get(column, "cut_known"));
}

static void write_detail(FILE *out, const json_t *answer)
{
    const json_t *note;
    size_t i;
    write_errors(out, answer);
    json_array_foreach (json_object_get(answer, "notes"), i, note)
        fprintf(out, "%s\n", json_string_value(note));
}

static void write_price(FILE *out, const json_t *answer)
{
    if (json_is_true(json_object_get(answer, "cached"))) {
        fputs("read again, free of charge", out);
    } else {
        fputs("charged ", out);
        write_amounts(out, json_object_get(answer, "cost"), true);
    }
    fputs("; left: ", out);
    write_amounts(out, json_object_get(answer, "remaining"), false);
}

/* The text that `write` makes, without a line end; NULL: no memory. */
static char *text_of(void (*write)(FILE *, const json_t *), const json_t *answer)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    write(out, answer);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    if (length > 0 && text[length - 1] == '\n')
        text[length - 1] = '\0';
    return text;
}

void brume_pg_tell(brume_pg_connection *connection, const json_t *answer)
{
    const json_t *warning, *column;
    bool unlimited = false;
    size_t i;
    json_array_foreach (json_object_get(answer, "warnings"), i, warning)
        if (json_is_string(warning))
            brume_pg_notice(connection, "WARNING", "01000", json_string_value(warning), NULL, NULL);
    if (!brume_pg_is_on(connection->settings, "brume.notices"))
        return;
    json_array_foreach (columns_of(answer), i, column)
        unlimited = unlimited || is_unlimited(column);
    char *message = text_of(write_price, answer), *detail = text_of(write_detail, answer);
    if (message)
        brume_pg_notice(connection, "NOTICE", "00000", message, detail,
                        unlimited ? "set brume.epsilon to more, or brume.unit_limit to what one "
                                    "unit may add"
                                  : NULL);
    free(message);
    free(detail);
}
