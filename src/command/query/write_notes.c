/* What an answer cost and what is to be kept in mind: see the header. */
#include "command/query/write_notes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "command/frame/readable.h"
#include "command/frame/wrap.h"
#include "command/query/ask.h"

/* " (cut: 1.5 %": how many of the units, in per cent; nothing where there is no estimate. */
static const char *write_percent(FILE *out, const char *open, const char *word, double some,
                                 double units)
{
    if (isnan(some))
        return open;
    fprintf(out, "%s%s: %.1f %%", open, word, units >= 1 ? 100 * fmin(1, some / units) : 0);
    return ", ";
}

/* Which values limits or bounds may move and, where the owner allows it, how many units that
 * concerns. */
static void write_bias(FILE *out, const brume_query_answer *answer)
{
    const char *between = "\nmay be biased by limits and bounds: ";
    for (size_t i = 0; i < answer->column_count; i++) {
        const brume_answer_column *column = &answer->columns[i];
        const brume_answer_bias *bias = &column->bias;
        if (!column->biased)
            continue;
        fprintf(out, "%s%s", between, column->name);
        between = ", ";
        if (isnan(bias->units))
            continue;
        const char *open = write_percent(out, " (", "cut", bias->cut, bias->units);
        write_percent(out, open, "clamped", bias->clamped, bias->units);
        fprintf(out, " of about %.0f units, ± %s)", bias->units,
                brume_rounded_up(bias->error_95).text);
    }
}

/* MIN and MAX are answered as quantiles. */
static void write_extremes(FILE *out, const brume_query_answer *answer)
{
    const char *before = "\na minimum or maximum is one person's value, so a quantile is shown: ";
    for (size_t i = 0; i < answer->column_count; i++) {
        const brume_answer_column *column = &answer->columns[i];
        if (column->is_key || isnan(column->quantile))
            continue;
        fprintf(out, "%s%s: %s", before, column->name, brume_shortest(column->quantile).text);
        before = ", ";
    }
}

/* "total: no limit was found ..." */
static void write_not_found(FILE *out, const brume_answer_column *column)
{
    fprintf(out,
            "\n%s: no limit on what one unit adds was found, because there are too few units for "
            "this price",
            column->name);
    if (isnan(column->limit))
        fputs(", so there is no value", out);
    else
        fprintf(out, "; %s is used, and what was cut is not known",
                brume_shortest(column->limit).text);
    fputs("; pay more, or type --limit", out);
}

/* "; up to 52 units may have more, which the bar does not cover" */
static void write_hidden(FILE *out, const brume_answer_column *column)
{
    if (column->cut_hidden > 0 && !column->cut_not_known)
        fprintf(out, "; up to %.0f unit%s may have %s, which the bar does not cover",
                column->cut_hidden, column->cut_hidden == 1 ? "" : "s",
                column->cut_allowance > 0 ? "far more" : "more");
}

/* Arithmetic on aggregates, which may have several limits. */
static void write_cut(FILE *out, const brume_answer_column *column)
{
    if (column->cut_not_known)
        fprintf(out,
                "\n%s: how much limits cut of it cannot be told at this price, so there is no bar: "
                "pay more, or type --limit",
                column->name);
    else if (column->cut_allowance > 0)
        fprintf(out, "\n%s: by estimate limits moved it by up to %s, which the bar allows for",
                column->name, brume_rounded_up(column->cut_allowance).text);
    else if (column->cut_hidden > 0)
        fprintf(out, "\n%s: it is under a limit", column->name);
    write_hidden(out, column);
}

/* The limits, and what was cut by them. */
static void write_limits(FILE *out, const brume_query_answer *answer)
{
    for (size_t i = 0; i < answer->column_count; i++) {
        const brume_answer_column *column = &answer->columns[i];
        if (column->limit_not_found)
            write_not_found(out, column);
        else if (!column->is_key && isnan(column->limit))
            write_cut(out, column);
        if (column->is_key || column->limit_not_found || isnan(column->limit))
            continue;
        bool selects = !isnan(column->rank_error_95) || !isnan(column->count_error_95);
        fprintf(out, "\n%s: %s %s%s", column->name,
                !isnan(column->gap_95) ? "each unit votes for"
                : selects              ? "the rows of one unit count as at most"
                                       : "one unit adds at most",
                brume_shortest(column->limit).text,
                isnan(column->gap_95) ? ""
                : column->limit == 1  ? " value, chosen at random among its own"
                                      : " values at most, chosen at random among its own");
        if (column->cut_not_known)
            fputs("; how much some have beyond that cannot be told at this price, so there is no "
                  "bar: pay more, or type --limit",
                  out);
        if (column->cut_allowance > 0)
            fprintf(out, "; by estimate some had %s more together, which the bar allows for",
                    brume_rounded_up(column->cut_allowance).text);
        write_hidden(out, column);
    }
}

static void write_price(FILE *out, const brume_query_answer *answer)
{
    const brume_answer_price *cost = &answer->cost, *left = &answer->remaining;
    const char *unit = cost->concentrated ? "rho" : "epsilon";
    fprintf(out, "%s %s %s", answer->cached ? "read again for free (it cost" : "cost", unit,
            brume_shortest(cost->amount).text);
    if (cost->delta > 0)
        fprintf(out, ", delta %s%s", brume_rounded_up(cost->delta).text,
                answer->delta_by_default ? " by default" : "");
    fputs(answer->cached ? ")" : "", out);
    fprintf(out, "; left: %s %s", unit, brume_shortest(left->amount).text);
    if (left->delta > 0)
        fprintf(out, ", delta %s", brume_digits_down(left->delta, 4).text);
}

static void write_threshold(FILE *out, const brume_query_answer *answer)
{
    size_t near = 0;
    for (size_t i = 0; answer->near && i < answer->row_count; i++)
        near += answer->near[i];
    double groups = NAN;
    for (size_t i = 0; i < answer->column_count; i++)
        groups = answer->columns[i].is_key ? answer->columns[i].limit : groups;
    if (answer->threshold >= 0)
        fprintf(out, "\ngroups with fewer than about %lld units are not shown",
                (long long)answer->threshold);
    if (answer->threshold >= 0 && !isnan(groups))
        fprintf(out, "; for that each unit counts in %.0f of its groups", groups);
    if (near)
        fprintf(out,
                "; of those shown %zu %s hardly larger: counts there are more often too large than "
                "too small",
                near, near == 1 ? "is" : "are");
}

/* What was asked first: "first: SELECT AVG(x) FROM t: 41.2 ± 0.3, for epsilon 0.5". */
static void write_stages(FILE *out, const json_t *stages)
{
    for (size_t i = 0; i < json_array_size(stages); i++) {
        const json_t *one = json_array_get(stages, i), *value = json_object_get(one, "value");
        const json_t *bar = json_object_get(one, "error_95"), *cost = json_object_get(one, "cost");
        const json_t *rho = json_object_get(cost, "rho");
        bool concentrated = json_is_number(rho);
        const json_t *amount = concentrated ? rho : json_object_get(cost, "epsilon");
        fprintf(out, "\nfirst: %s: ", json_string_value(json_object_get(one, "sql")));
        if (json_is_number(value))
            fputs(brume_shortest(json_number_value(value)).text, out);
        else
            fputs(json_is_string(value) ? json_string_value(value) : "NULL", out);
        double cut = json_number_value(json_object_get(one, "cut_allowance")); /* 0: none */
        if (json_is_number(bar) && !json_is_false(json_object_get(one, "cut_known")))
            fprintf(out, " ± %s", brume_rounded_up(json_number_value(bar) + cut).text);
        fprintf(out, ", for %s %s", concentrated ? "rho" : "epsilon",
                brume_shortest(json_number_value(amount)).text);
    }
}

brume_status brume_write_notes(const brume_call *call, const brume_query_answer *answer,
                               brume_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *notes = open_memstream(&text, &length);
    if (!notes)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    if (answer->is_public)
        fputs("public tables only: exact, and free of charge", notes);
    else if (answer->is_dummy)
        fputs("dummy: a table made from the policy, not the data; nothing was spent", notes);
    else
        write_price(notes, answer);
    write_stages(notes, answer->stages);
    write_threshold(notes, answer);
    write_extremes(notes, answer);
    write_limits(notes, answer);
    write_bias(notes, answer);
    for (size_t i = 0; i < json_array_size(answer->warnings); i++)
        fprintf(notes, "\nwarning: %s", json_string_value(json_array_get(answer->warnings, i)));
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
