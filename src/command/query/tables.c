/* brume tables: many tables of counts at once, which add up. Grouping sets without SQL.
 *
 * Promise: it is one query (GROUP BY GROUPING SETS) with one price, asked as 'brume query' asks it;
 * the file is opened before anything is spent. */
#include "command/query/ask.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/csv_write.h"
#include "base/error.h"
#include "base/read_number.h"
#include "base/text.h"
#include "command/frame/output.h"
#include "command/frame/watch.h"
#include "command/ledger/open_ledger.h"
#include "command/query/write_answer.h"
#include "query/plan/policy.h"
#include "query/release/explain.h"

enum { MOST_COLUMNS = 15, MOST_TABLES = 64, MOST_BINS = 64 };

typedef struct workload {
    const char *columns[MOST_COLUMNS]; /* of the policy */
    double low[MOST_COLUMNS], high[MOST_COLUMNS];
    uint64_t bins[MOST_COLUMNS];   /* between these bounds; 0: its values are declared */
    const char *const *typed_bins; /* NAME=N */
    size_t typed_bin_count;
    size_t column_count;
    uint32_t tables[MOST_TABLES]; /* bit i: it has column i */
    size_t table_count;
    const brume_policy *policy;
} workload;

/* ---- the words ---- */

static brume_status add_table(workload *all, uint32_t table, brume_error *error)
{
    for (size_t i = 0; i < all->table_count; i++)
        if (all->tables[i] == table)
            return BRUME_OK;
    if (all->table_count == MOST_TABLES)
        return brume_fail(error, BRUME_EUNSUPPORTED, "fewer columns, or several calls",
                          "'--workload' has more than %d tables", MOST_TABLES);
    all->tables[all->table_count++] = table;
    return BRUME_OK;
}

/* All tables of `size` columns. */
static brume_status add_marginals(workload *all, size_t size, brume_error *error)
{
    if (size > all->column_count)
        return brume_fail(error, BRUME_EARGUMENT,
                          "a table is of columns with declared values: --domain declares them, "
                          "--columns names some of them",
                          "'--workload' asks for tables of %zu columns, and there %s %zu", size,
                          all->column_count == 1 ? "is" : "are", all->column_count);
    for (uint32_t table = 0; table < UINT32_C(1) << all->column_count; table++)
        if ((size_t)__builtin_popcount(table) == size)
            BRUME_TRY(add_table(all, table, error));
    return BRUME_OK;
}

static brume_status read_sizes(workload *all, const char *text, brume_error *error)
{
    for (const char *at = text;;) {
        char *end = NULL;
        unsigned long size = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : MOST_TABLES;
        if (size > MOST_COLUMNS || !end || (*end && *end != ','))
            return brume_fail(
                error, BRUME_EARGUMENT, "such as marginals:2 or marginals:1,2",
                "'--workload' names tables of '%s' columns, must be numbers from 0 to "
                "%d",
                text, MOST_COLUMNS);
        BRUME_TRY(add_marginals(all, size, error));
        if (!*end)
            return BRUME_OK;
        at = end + 1 + strspn(end + 1, " ");
    }
}

/* The bins typed for a column; 0: none. */
static brume_status bins_of(const workload *all, const char *name, uint64_t *bins,
                            brume_error *error)
{
    size_t length = strlen(name);
    *bins = 0;
    for (size_t i = 0; i < all->typed_bin_count; i++) {
        const char *typed = all->typed_bins[i];
        if (strncasecmp(typed, name, length) != 0 || typed[length] != '=')
            continue;
        BRUME_TRY(brume_read_count(typed + length + 1, "'--bins'", bins, error));
        if (*bins < 2 || *bins > MOST_BINS)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "'--bins %s' must be from 2 to %d",
                              typed, MOST_BINS);
    }
    return BRUME_OK;
}

static brume_status add_column(workload *all, const char *name, brume_error *error)
{
    const brume_policy_column *column = brume_policy_find(all->policy, name);
    if (!column)
        return brume_fail(error, BRUME_EUNKNOWN, "'brume show' lists them", "no column '%s'", name);
    uint64_t bins = 0;
    size_t at = all->column_count;
    BRUME_TRY(bins_of(all, column->name, &bins, error));
    if (!column->domain_count && !bins)
        return brume_fail(error, BRUME_EARGUMENT,
                          "the owner declares its values with --domain; or a column with bounds is "
                          "cut with --bins NAME=10",
                          "column '%s' has no declared values", name);
    if (at == MOST_COLUMNS)
        return brume_fail(error, BRUME_EUNSUPPORTED, "name some with --columns",
                          "more than %d columns", MOST_COLUMNS);
    if (bins &&
        (!column->low || !column->high ||
         brume_read_real(column->low, "the lower bound", &all->low[at], NULL) != BRUME_OK ||
         brume_read_real(column->high, "the upper bound", &all->high[at], NULL) != BRUME_OK))
        return brume_fail(error, BRUME_EARGUMENT, "bins are cut between bounds that are numbers",
                          "'--bins' names '%s', which has none", name);
    all->bins[at] = bins;
    all->columns[all->column_count++] = column->name;
    return BRUME_OK;
}

static bool has_bins(const workload *all, const char *name)
{
    uint64_t bins = 0;
    return bins_of(all, name, &bins, NULL) != BRUME_OK || bins > 0;
}

/* Every NAME=N names a column. */
static brume_status check_bins(const workload *all, brume_error *error)
{
    for (size_t i = 0; i < all->typed_bin_count; i++) {
        size_t length = strcspn(all->typed_bins[i], "=");
        bool found = false;
        for (size_t c = 0; c < all->column_count; c++)
            found = found || (strlen(all->columns[c]) == length &&
                              strncasecmp(all->columns[c], all->typed_bins[i], length) == 0);
        if (!found)
            return brume_fail(error, BRUME_EARGUMENT, "for example --bins age=10",
                              "'--bins %s' names no column of the tables", all->typed_bins[i]);
    }
    return BRUME_OK;
}

/* Calls `add` for each name of a list, without blanks around it; `text` is cut into them. */
static brume_status each_name(char *text,
                              brume_status (*add)(workload *, const char *, uint32_t *,
                                                  brume_error *),
                              workload *all, uint32_t *table, brume_error *error)
{
    char *rest = NULL;
    for (char *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        name += strspn(name, " \t");
        for (size_t length = strlen(name); length && isspace((unsigned char)name[length - 1]);)
            name[--length] = 0;
        BRUME_TRY(add(all, name, table, error));
    }
    return BRUME_OK;
}

static brume_status add_named(workload *all, const char *name, uint32_t *table, brume_error *error)
{
    for (size_t i = 0; i < all->column_count; i++)
        if (strcasecmp(all->columns[i], name) == 0) {
            if (table)
                *table |= UINT32_C(1) << i;
            return BRUME_OK;
        }
    BRUME_TRY(add_column(all, name, error));
    if (table)
        *table |= UINT32_C(1) << (all->column_count - 1);
    return BRUME_OK;
}

/* One statement of a file: total, marginal A, B or marginals K. */
static brume_status read_line(workload *all, char *line, size_t number, brume_error *error)
{
    uint32_t table = 0;
    line[strcspn(line, "#\r\n")] = 0;
    line += strspn(line, " \t");
    if (!*line)
        return BRUME_OK;
    size_t word = strcspn(line, " \t");
    char *rest = line + word + strspn(line + word, " \t");
    if (word == 9 && strncasecmp(line, "marginals", word) == 0)
        return read_sizes(all, rest, error);
    if (word == 8 && strncasecmp(line, "marginal", word) == 0 && *rest) {
        BRUME_TRY(each_name(rest, add_named, all, &table, error));
        return add_table(all, table, error);
    }
    if (strncasecmp(line, "total", 5) == 0 && !line[5 + strspn(line + 5, " \t")])
        return add_table(all, 0, error);
    return brume_fail(
        error, BRUME_ESYNTAX,
        "total, marginal A, B or marginals K; 'brume synth --method mwem' takes others",
        "line %zu of the workload is no table: '%.60s'", number, line);
}

static brume_status read_file(workload *all, const char *path, brume_error *error)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0, number = 0;
    brume_status status = BRUME_OK;
    if (!file)
        return brume_fail(error, BRUME_ESOURCE, "marginals:2, or a file", "cannot read '%s': %s",
                          path, strerror(errno));
    while (status == BRUME_OK && getline(&line, &room, file) >= 0)
        status = read_line(all, line, ++number, error);
    free(line);
    fclose(file);
    return status;
}

static brume_status read_words(const brume_call *call, workload *all, brume_error *error)
{
    const char *columns = brume_call_text(call, "columns");
    const char *text = brume_call_text(call, "workload");
    if (!text)
        return brume_fail(error, BRUME_EARGUMENT, "such as marginals:2, or a file",
                          "'--workload' is missing");
    bool every = strncmp(text, "marginals:", 10) == 0;
    char *copy = columns ? strdup(columns) : NULL;
    if (columns && !copy)
        return brume_no_memory(error, NULL);
    brume_status status = copy ? each_name(copy, add_named, all, NULL, error) : BRUME_OK;
    free(copy);
    for (size_t i = 0; status == BRUME_OK && !columns && i < all->policy->column_count; i++)
        if (all->policy->columns[i].domain_count || has_bins(all, all->policy->columns[i].name))
            status = add_column(all, all->policy->columns[i].name, error);
    if (status == BRUME_OK)
        status = every ? read_sizes(all, text + 10, error) : read_file(all, text, error);
    if (status == BRUME_OK)
        status = check_bins(all, error);
    if (status == BRUME_OK && all->table_count == 0)
        status = brume_fail(error, BRUME_EARGUMENT, "marginal A, B or marginals K",
                            "'--workload' asks for no table");
    return status;
}

/* ---- the query ---- */

/* A name in SQL. */
static void write_name(FILE *out, const char *name)
{
    fputc('"', out);
    for (; *name; name++)
        fprintf(out, *name == '"' ? "\"\"" : "%c", *name);
    fputc('"', out);
}

/* A column as a key: its values, or in which bin they are; values beyond the bounds are in the
 * outermost ones, those that are missing in none. */
static void write_key(FILE *out, const workload *all, size_t column)
{
    const char *name = all->columns[column];
    uint64_t bins = all->bins[column];
    double low = all->low[column], width = (all->high[column] - low) / (double)(bins ? bins : 1);
    if (!bins) {
        write_name(out, name);
        return;
    }
    fputs("CASE", out);
    for (uint64_t b = 0; b < bins; b++) {
        double from = low + width * (double)b, to = low + width * (double)(b + 1);
        fputs(" WHEN ", out);
        write_name(out, name);
        fprintf(out, b + 1 < bins ? " < %s" : " >= %s",
                brume_shortest(b + 1 < bins ? to : from).text);
        fprintf(out, " THEN '%s to ", brume_shortest(from).text);
        fprintf(out, "%s'", brume_shortest(b + 1 < bins ? to : all->high[column]).text);
    }
    fputs(" END", out);
}

static char *write_query(const workload *all, const char *source)
{
    char *sql = NULL;
    size_t length = 0;
    uint32_t used = 0;
    FILE *out = open_memstream(&sql, &length);
    if (!out)
        return NULL;
    for (size_t i = 0; i < all->table_count; i++)
        used |= all->tables[i];
    fputs("SELECT ", out);
    for (size_t i = 0; i < all->column_count; i++)
        if (used >> i & 1) {
            write_key(out, all, i);
            fputs(" AS ", out);
            write_name(out, all->columns[i]);
            fputs(", GROUPING(", out);
            write_key(out, all, i);
            fputs("), ", out);
        }
    fputs("COUNT(*) AS count FROM ", out);
    write_name(out, source);
    fputs(" GROUP BY GROUPING SETS (", out);
    for (size_t t = 0; t < all->table_count; t++) {
        const char *before = "";
        fputs(t ? ", (" : "(", out);
        for (size_t i = 0; i < all->column_count; i++)
            if (all->tables[t] >> i & 1) {
                fputs(before, out);
                write_key(out, all, i);
                before = ", ";
            }
        fputc(')', out);
    }
    fputc(')', out);
    if (fclose(out) == 0)
        return sql;
    free(sql);
    return NULL;
}

/* ---- the file ---- */

/* The scale of the noise in a cell, from its error at 95 %. */
static double deviation_of(const brume_query_answer *answer, size_t cell)
{
    const char *mechanism = answer->columns[cell % answer->column_count].mechanism;
    bool laplace = mechanism && strstr(mechanism, "laplace");
    return answer->errors[cell] / (laplace ? -log(0.05) / M_SQRT2 : 1.959963984540054);
}

/* The table that a row belongs to: the names of its columns. Keys come in pairs, each with whether
 * it is not in the table. */
static void write_row(FILE *out, const brume_query_answer *answer, size_t row)
{
    size_t columns = answer->column_count, first = row * columns, last = first + columns - 1;
    char *set = NULL, *text = NULL;
    size_t length = 0;
    FILE *names = open_memstream(&set, &length);
    for (size_t i = 0; names && i + 1 < columns; i += 2)
        if (answer->values[first + i + 1].number == 0)
            fprintf(names, "%s%s", ftell(names) > 0 ? " " : "", answer->columns[i].name);
    if (names && fclose(names) == 0)
        brume_csv_write_field(out, set);
    free(set);
    for (size_t i = 0; i + 1 < columns; i += 2) {
        bool in = answer->values[first + i + 1].number == 0;
        text = in ? brume_cell_text(answer, first + i, "", true) : NULL;
        fputc(',', out);
        brume_csv_write_field(out, text ? text : "");
        free(text);
    }
    fprintf(out, ",%s", brume_shortest(answer->values[last].number).text);
    fprintf(out, ",%s\n", brume_shortest(deviation_of(answer, last)).text);
}

static bool is_inline(const brume_call *call)
{
    const char *path = brume_call_text(call, "output");
    return path && strcmp(path, "-") == 0;
}

static void write_tables(FILE *out, const brume_query_answer *answer)
{
    fputs("set", out);
    for (size_t i = 0; i + 1 < answer->column_count; i += 2) {
        fputc(',', out);
        brume_csv_write_field(out, answer->columns[i].name);
    }
    fputs(",count,standard_deviation\n", out);
    for (size_t row = 0; row < answer->row_count; row++)
        write_row(out, answer, row);
}

static brume_status finish_file(FILE *out, const char *path, brume_error *error)
{
    if (fflush(out) != 0 || ftruncate(fileno(out), ftell(out)) != 0)
        return brume_fail(error, BRUME_EDISK,
                          "the answer is recorded: the same call writes it again",
                          "cannot write '%s': %s", path, strerror(errno));
    return BRUME_OK;
}

static brume_status report(brume_call *call, const workload *all, const brume_query_answer *answer,
                           brume_error *error)
{
    json_t *json = NULL, *notes = NULL;
    const char *path = brume_call_text(call, "output");
    BRUME_TRY(brume_query_answer_to_json(answer, &json, error));
    if (call->json && is_inline(call)) /* the answer itself, as that of a query */
        return brume_call_write_json(call, json, error);
    if (call->json) {
        static const char *const parts[] = {
            "rows",       "row_error_95", "rows_bar_95",       "rows_too_few",
            "rows_total", "columns",      "rows_cut_allowance"};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            json_object_del(json, parts[i]);
        json_object_set_new(json, "rows", json_integer((json_int_t)answer->row_count));
        json_object_set_new(json, "tables", json_integer((json_int_t)all->table_count));
        json_object_set_new(json, "output", json_string(path));
        return brume_call_write_json(call, json, error);
    }
    fprintf(call->out, "wrote %zu table%s, %zu rows, to %s\n", all->table_count,
            all->table_count == 1 ? "" : "s", answer->row_count, path);
    bool rho = answer->cost.concentrated;
    fprintf(call->out, "cost %s %s", rho ? "rho" : "epsilon",
            brume_digits_up(answer->cost.amount, 6).text);
    fprintf(call->out, "; left: %s %s\n", rho ? "rho" : "epsilon",
            brume_digits_down(answer->remaining.amount, 6).text);
    notes = json_object_get(json, "notes");
    for (size_t i = 0; i < json_array_size(notes); i++)
        brume_write_sentence(call->out, "%s", json_string_value(json_array_get(notes, i)));
    json_decref(json);
    return BRUME_OK;
}

/* ---- running ---- */

/* What the words promise, for nothing. */
static brume_status show_plan(brume_call *call, brume_ledger *ledger, const workload *all,
                              const char *sql, brume_error *error)
{
    json_t *plan = NULL;
    brume_payment payment = brume_call_payment(call);
    BRUME_TRY(brume_explain_whole(ledger, sql, &payment, NULL, &plan, error));
    json_object_set_new(plan, "tables", json_integer((json_int_t)all->table_count));
    if (call->json)
        return brume_call_write_json(call, plan, error);
    const json_t *columns = json_object_get(plan, "columns");
    const json_t *bar =
        json_object_get(json_array_get(columns, json_array_size(columns) - 1), "bar_95");
    const json_t *low = json_is_array(bar) ? json_array_get(bar, 0) : bar;
    const json_t *high = json_is_array(bar) ? json_array_get(bar, 1) : bar;
    const char *apart = json_string_value(json_object_get(plan, "joint_sets_why"));
    fprintf(
        call->out, "nothing was read, drawn or charged\n%zu tables of %lld counts together\n",
        all->table_count,
        (long long)json_integer_value(json_object_get(json_object_get(plan, "shape"), "groups")));
    if (json_is_number(bar))
        fprintf(call->out, "each count: ± %s at most (95 %%)\n",
                brume_rounded_up(json_number_value(bar)).text);
    else if (json_is_array(bar))
        fprintf(call->out, "each count: ± %s to %s (95 %%), by the limit that is chosen\n",
                brume_rounded_up(json_number_value(low)).text,
                brume_rounded_up(json_number_value(high)).text);
    if (apart)
        fprintf(call->out, "the tables will not add up: %s\n", apart);
    json_decref(plan);
    return BRUME_OK;
}

static brume_status ask_and_write(brume_call *call, brume_ledger *ledger, const workload *all,
                                  const char *sql, FILE *out, brume_error *error)
{
    brume_bits *bits = NULL;
    brume_query_answer *answer = NULL;
    const brume_watch *watch = NULL;
    brume_payment payment = brume_call_payment(call);
    BRUME_TRY(brume_call_watch(call, &watch, error));
    BRUME_TRY(brume_call_open_bits(call, &bits, error));
    BRUME_TRY(brume_ask(ledger, sql, &payment, NULL, bits, watch, &answer, error));
    brume_status status = BRUME_OK;
    bool only_rows = is_inline(call) && !call->json; /* they may go into a pipe */
    if (out || only_rows)
        write_tables(out ? out : call->out, answer);
    if (out)
        status = finish_file(out, brume_call_text(call, "output"), error);
    if (status == BRUME_OK && !only_rows)
        status = report(call, all, answer, error);
    brume_query_answer_close(answer);
    return status;
}

static brume_status open_output(const brume_call *call, FILE **out, bool *is_new,
                                brume_error *error)
{
    const char *path = brume_call_text(call, "output"), *end = path ? strrchr(path, '.') : NULL;
    if (!path)
        return brume_fail(error, BRUME_EARGUMENT, "a .csv file", "'--output' is missing");
    if (!end || strcasecmp(end, ".csv") != 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, "a .csv file", "'--output' is '%s'", path);
    *out = fopen(path, "r+e"); /* what is in it stays until there is an answer */
    *is_new = !*out;
    if (!*out)
        *out = fopen(path, "wxe");
    if (!*out)
        return brume_fail(error, BRUME_EDISK, "nothing was spent", "cannot write '%s': %s", path,
                          strerror(errno));
    return BRUME_OK;
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_ledger *ledger = NULL;
    brume_dataset *dataset = NULL;
    brume_policy *policy = NULL;
    workload all = {.column_count = 0};
    FILE *out = NULL;
    bool is_new = false;
    BRUME_TRY(brume_call_one_of(call, "epsilon", "rho", error));
    BRUME_TRY(brume_call_check_price(call, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_call_open_dataset(call, ledger, brume_call_operand(call, 0), &dataset, error));
    BRUME_TRY(brume_policy_from_json(dataset->policy, &policy, error));
    all.policy = policy;
    bool dry = brume_call_has(call, "dry-run");
    char *sql = NULL;
    brume_status status =
        brume_call_texts(call, "bins", &all.typed_bins, &all.typed_bin_count, error);
    if (status == BRUME_OK)
        status = read_words(call, &all, error);
    if (status == BRUME_OK && !(sql = write_query(&all, brume_call_operand(call, 0))))
        status = brume_no_memory(error, NULL);
    if (status == BRUME_OK && !dry && !is_inline(call))
        status = open_output(call, &out, &is_new, error);
    if (status == BRUME_OK)
        status = dry ? show_plan(call, ledger, &all, sql, error)
                     : ask_and_write(call, ledger, &all, sql, out, error);
    if (out)
        fclose(out);
    if (status != BRUME_OK && is_new && out)
        unlink(brume_call_text(call, "output"));
    free(sql);
    brume_policy_close(policy);
    return status;
}

const brume_command brume_command_tables = {
    .name = "tables",
    .summary = "release many tables of counts at once, which add up",
    .description =
        "Writes the tables of counts of a workload as one long file: the set of columns, their "
        "values, the count, and the standard deviation of its noise. All tables have one price, every "
        "total is the sum of its parts, and no number has more noise than if each table had been "
        "asked for its part of the price. It is the query SELECT ... GROUP BY GROUPING SETS, and is "
        "charged, limited and recorded like it: the same call at the same price is free.\n\n"
        "The columns are those with declared values, or some of them by --columns; numbers with bounds "
        "are cut into bins by --bins. A workload is "
        "marginals:2 (all tables of two columns), marginals:0,1,2, or a file with a table a line: "
        "total, marginal A, B, marginals K; # begins a comment. Rows with a value that is not "
        "declared are in no table. Up to 64 tables of up to 15 columns.",
    .usage =
        "SOURCE --workload marginals:K|FILE --output FILE.csv (--epsilon E [--delta D] | --rho "
        "R) [OPTION...]",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "SOURCE", "a registered dataset of one table")),
    BRUME_OPTIONS(BRUME_OPTION(TEXT, "workload", "marginals:K|FILE", "which tables"),
                  BRUME_OPTION(TEXT, "columns", "A,B,...",
                               "of these columns; of all with declared values unless typed"),
                  BRUME_OPTION(TEXT, "bins", "NAME=N",
                               "cut a column of numbers with bounds into N bins of equal width",
                               .repeated = true),
                  BRUME_OPTION(FILE, "output", "FILE.csv",
                               "where to write them; - for standard output, with --json the answer "
                               "as query has it"),
                  BRUME_FLAG("dry-run", "check everything and show how far off counts will be"),
                  BRUME_PAYMENT_OPTIONS, BRUME_AGE_OPTIONS, BRUME_LIMIT_OPTION, BRUME_WHERE_OPTION,
                  BRUME_TIMEOUT_OPTION, BRUME_PROJECT_OPTION, BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("tables visits --workload marginals:0,1 --epsilon 0.5 --output "
                   "tables.csv"),
    .run = run,
};
