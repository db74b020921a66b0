/* brume query: ask in SQL, pay from the ledger.
 *
 * Promises: nothing is printed that was not charged first; Ctrl-C ends it at any time, and says
 * whether the price is spent. */
#include "cli/query/ask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv_write.h"
#include "cli/frame/interrupt.h"
#include "cli/ledger/open_ledger.h"
#include "cli/frame/table.h"
#include "cli/frame/wrap.h"

/* ---- formats ---- */

static bool error_of(const json_t *answer, size_t row, size_t column, double *error)
{
    const json_t *value =
        json_array_get(json_array_get(json_object_get(answer, "row_error_95"), row), column);
    if (!value)
        value =
            json_object_get(json_array_get(json_object_get(answer, "columns"), column), "error_95");
    *error = json_number_value(value);
    return json_is_number(value);
}

static bool is_key(const json_t *column)
{
    return strcmp(json_string_value(json_object_get(column, "role")), "key") == 0;
}

/* The heads of the table, NULL at the end: a value is followed by its error bar. */
static char **table_heads(const json_t *answer)
{
    const json_t *columns = json_object_get(answer, "columns");
    size_t count = json_array_size(columns), used = 0;
    char **heads = calloc(2 * count + 1, sizeof *heads);
    for (size_t i = 0; heads && i < count; i++) {
        const json_t *column = json_array_get(columns, i);
        const char *name = json_string_value(json_object_get(column, "name"));
        size_t size = strlen(name) + 2;
        if ((heads[used] = malloc(size)))
            snprintf(heads[used++], size, "%s%s", is_key(column) ? "" : ">", name);
        if (!is_key(column))
            heads[used++] = strdup("± 95 %");
    }
    return heads;
}

static void free_heads(char **heads)
{
    for (size_t i = 0; heads && heads[i]; i++)
        free(heads[i]);
    free(heads);
}

/* What is said of a quantile or a mode in place of an error bar. */
static void write_statement(brume_table *table, const json_t *column)
{
    static const char *const said[][2] = {
        {"rank_error_95", "rank"}, {"count_error_95", "rows"}, {"gap_95", "gap"}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const json_t *number = json_object_get(column, said[i][0]);
        if (number) {
            brume_table_cell(table, "%s %s", said[i][1],
                             brume_rounded_up(json_number_value(number)).text);
            return;
        }
    }
    brume_table_cell(table, "%s", "");
}

static void write_cells(brume_table *table, const json_t *answer, size_t row)
{
    const json_t *columns = json_object_get(answer, "columns");
    const json_t *values = json_array_get(json_object_get(answer, "rows"), row);
    for (size_t i = 0; i < json_array_size(columns); i++) {
        char *text = brume_json_text(json_array_get(values, i));
        brume_table_cell(table, "%s", text ? text : "");
        free(text);
        double error = 0;
        if (is_key(json_array_get(columns, i)))
            continue;
        if (error_of(answer, row, i, &error))
            brume_table_cell(table, "%s", brume_rounded_up(error).text);
        else
            write_statement(table, json_array_get(columns, i));
    }
}

/* How many of about `units` units: a share of them, in per cent. */
static double percent(const json_t *bias, const char *which)
{
    double units = json_number_value(json_object_get(bias, "units"));
    double some = json_number_value(json_object_get(bias, which));
    return units >= 1 ? 100 * fmin(1, some / units) : 0;
}

/* Which values bounding or clamping may bend and, where the owner allows it, how many units that
 * concerns. */
static void write_bias(FILE *out, const json_t *answer)
{
    const json_t *columns = json_object_get(answer, "columns");
    const char *between = "\nmay be biased by limits and bounds: ";
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i), *bias = json_object_get(column, "bias");
        if (!json_is_true(json_object_get(column, "biased")))
            continue;
        fprintf(out, "%s%s", between, json_string_value(json_object_get(column, "name")));
        between = ", ";
        if (!bias)
            continue;
        const char *open = " (";
        if (json_object_get(bias, "cut")) {
            fprintf(out, "%scut: %.1f %%", open, percent(bias, "cut"));
            open = ", ";
        }
        if (json_object_get(bias, "clamped")) {
            fprintf(out, "%sclamped: %.1f %%", open, percent(bias, "clamped"));
            open = ", ";
        }
        fprintf(out, " of about %.0f units, ± %s)",
                json_number_value(json_object_get(bias, "units")),
                brume_rounded_up(json_number_value(json_object_get(bias, "error_95"))).text);
    }
}

/* MIN and MAX are answered as quantiles. */
static void write_extremes(FILE *out, const json_t *answer)
{
    const json_t *columns = json_object_get(answer, "columns");
    const char *before = "\na minimum or maximum is one person's value, so a quantile is shown: ";
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i);
        const json_t *quantile = json_object_get(column, "quantile");
        if (!quantile)
            continue;
        fprintf(out, "%s%s: %s", before, json_string_value(json_object_get(column, "name")),
                brume_shortest(json_number_value(quantile)).text);
        before = ", ";
    }
}

static void write_price(FILE *out, const json_t *answer)
{
    const json_t *cost = json_object_get(answer, "cost"),
                 *left = json_object_get(answer, "remaining");
    const json_t *rho = json_object_get(cost, "rho");
    const char *unit = json_is_number(rho) ? "rho" : "epsilon";
    double paid = json_number_value(json_object_get(cost, unit));
    double delta = json_number_value(json_object_get(cost, "delta"));
    bool cached = json_is_true(json_object_get(answer, "cached"));
    fprintf(out, "%s %s %s", cached ? "read again for free (it cost" : "cost", unit,
            brume_shortest(paid).text);
    if (delta > 0)
        fprintf(out, ", delta %s%s", brume_rounded_up(delta).text,
                json_is_true(json_object_get(answer, "delta_by_default")) ? " by default" : "");
    fputs(cached ? ")" : "", out);
    fprintf(out, "; left: %s %s", unit,
            brume_shortest(json_number_value(json_object_get(left, unit))).text);
    double left_delta = json_number_value(json_object_get(left, "delta"));
    if (left_delta > 0)
        fprintf(out, ", delta %s", brume_digits_down(left_delta, 4).text);
    const json_t *threshold = json_object_get(answer, "threshold");
    if (threshold)
        fprintf(out, "\ngroups with fewer than about %lld units are not shown",
                (long long)json_integer_value(threshold));
    const json_t *near = json_object_get(answer, "near_threshold");
    size_t close = 0;
    for (size_t i = 0; i < json_array_size(near); i++)
        close += json_is_true(json_array_get(near, i));
    if (close)
        fprintf(out,
                "; of those shown %zu %s hardly larger: counts there are more often too large than "
                "too small",
                close, close == 1 ? "is" : "are");
    write_extremes(out, answer);
    write_bias(out, answer);
}

/* What it cost and what is to be kept in mind, below the table: a line each, wrapped. */
static brume_status write_notes(const brume_call *call, const json_t *answer, brume_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *notes = open_memstream(&text, &length);
    if (!notes)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    write_price(notes, answer);
    if (fclose(notes) != 0) {
        free(text);
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    }
    fprintf(call->out, "\n%s", brume_dim(call));
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        brume_write_sentence(call->out, "%s", line);
    fputs(brume_plain(call), call->out);
    free(text);
    return BRUME_OK;
}

static brume_status write_table(brume_call *call, const json_t *answer, brume_error *error)
{
    brume_table *table = NULL;
    char **heads = table_heads(answer);
    brume_status status = heads ? brume_table_open((const char *const *)heads, &table, error)
                                : brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    size_t rows = json_array_size(json_object_get(answer, "rows"));
    for (size_t i = 0; status == BRUME_OK && i < rows; i++)
        write_cells(table, answer, i);
    if (status == BRUME_OK)
        status = brume_table_write(table, call, error);
    brume_table_close(table);
    free_heads(heads);
    if (status == BRUME_OK && rows == 0)
        fprintf(call->out, "(no group passed the threshold)\n");
    return status == BRUME_OK ? write_notes(call, answer, error) : status;
}

static void write_html_cell(FILE *out, const char *tag, const char *text)
{
    fprintf(out, "<%s>", tag);
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            fputc(*text, out);
        }
    fprintf(out, "</%s>", tag);
}

typedef enum grid_format { GRID_CSV, GRID_HTML } grid_format;

static void write_grid_cell(FILE *out, grid_format format, bool head, bool first, const char *text)
{
    if (format == GRID_HTML) {
        write_html_cell(out, head ? "th" : "td", text);
        return;
    }
    if (!first)
        fputc(',', out);
    brume_csv_write_field(out, text);
}

/* Values with full precision, each value column followed by its error bar. */
static void write_grid_row(FILE *out, grid_format format, const json_t *answer, size_t row,
                           bool head)
{
    const json_t *columns = json_object_get(answer, "columns");
    const json_t *values = json_array_get(json_object_get(answer, "rows"), row);
    fputs(format == GRID_HTML ? "<tr>" : "", out);
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i), *value = json_array_get(values, i);
        const char *name = json_string_value(json_object_get(column, "name"));
        char *text = head                  ? strdup(name)
                     : json_is_real(value) ? strdup(brume_shortest(json_real_value(value)).text)
                     : json_is_null(value) ? strdup("")
                                           : brume_json_text(value);
        write_grid_cell(out, format, head, i == 0, text ? text : "");
        free(text);
        if (is_key(column))
            continue;
        char bar[160] = "";
        double error = 0;
        if (head)
            snprintf(bar, sizeof bar, "%.120s_error_95", name);
        else if (error_of(answer, row, i, &error))
            snprintf(bar, sizeof bar, "%s", brume_shortest(error).text);
        write_grid_cell(out, format, head, false, bar);
    }
    fputs(format == GRID_HTML ? "</tr>\n" : "\n", out);
}

static void write_grid(const brume_call *call, grid_format format, const json_t *answer)
{
    if (format == GRID_HTML)
        fputs("<table>\n", call->out);
    write_grid_row(call->out, format, answer, 0, true);
    for (size_t i = 0; i < json_array_size(json_object_get(answer, "rows")); i++)
        write_grid_row(call->out, format, answer, i, false);
    if (format == GRID_HTML)
        fputs("</table>\n", call->out);
}

static brume_status write_answer(brume_call *call, json_t *answer, brume_error *error)
{
    const char *format = brume_call_text(call, "format");
    if (call->json || (format && strcmp(format, "json") == 0))
        return brume_call_write_json(call, json_incref(answer), error);
    if (!format || strcmp(format, "table") == 0)
        return write_table(call, answer, error);
    write_grid(call, strcmp(format, "html") == 0 ? GRID_HTML : GRID_CSV, answer);
    return BRUME_OK;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_bits *bits = NULL;
    json_t *answer = NULL;
    brume_payment payment = brume_call_payment(call);
    brume_target target;
    const brume_target *asked = brume_call_target(call, &target) ? &target : NULL;
    BRUME_TRY(brume_call_check_price(call, error));
    const brume_watch *watch = NULL;
    BRUME_TRY(brume_interrupt_watch(call, &watch, error));
    brume_status status = brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error);
    if (status == BRUME_OK)
        status = brume_bits_open(&bits, error);
    if (status == BRUME_OK)
        status = brume_answer(ledger, brume_call_operand(call, 0), &payment, asked, bits, watch,
                              &answer, error);
    if (status == BRUME_OK)
        status = write_answer(call, answer, error);
    json_decref(answer);
    brume_bits_close(bits);
    brume_ledger_close(ledger);
    return status;
}

static const char *const formats[] = {"table", "csv", "json", "html", NULL};
static const brume_operand operands[] = {
    {.name = "SQL", .help = "one SELECT over registered datasets"}};
static const brume_option options[] = {
    BRUME_PAYMENT_OPTIONS,
    BRUME_TARGET_OPTIONS,
    {.name = "format",
     .type = BRUME_OPTION_CHOICE,
     .argument = "FORMAT",
     .choices = formats,
     .help = "table (unless said), csv, json or html"},
    BRUME_TIMEOUT_OPTION,
    BRUME_LEDGER_OPTION,
};

static const char *const examples[] = {
    "query 'SELECT ward, COUNT(*), AVG(age) FROM visits GROUP BY ward' --epsilon 0.5",
    "query 'SELECT COUNT(DISTINCT patient) FROM visits' --within 20 --format csv",
    NULL,
};

const brume_command brume_command_query = {
    .name = "query",
    .summary = "ask in SQL; the answer is private and paid for",
    .description =
        "Answers one SELECT of aggregates over registered datasets, with noise, and an error bar "
        "beside each value: the noiseless value on the bounded data is within it with a "
        "probability of 95 %. The price is on the ledger before the answer exists, and stays "
        "spent. The same question at the same price is read again for free. Ctrl-C ends it and says "
        "whether the price was spent; it has two seconds to stop in order, a second one does not wait. "
        "The deadline of --timeout, or of the owner, ends it in the same way.",
    .usage = "SQL (--epsilon E [--delta D] | --rho R | --within A) [OPTION...]",
    .operands = BRUME_LIST(operands),
    .options = BRUME_LIST(options),
    .examples = examples,
    .run = run,
};
