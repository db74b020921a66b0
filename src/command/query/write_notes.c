/* What an answer cost and what is to be kept in mind: see the header. */
#include "command/query/write_notes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "command/frame/readable.h"
#include "command/frame/wrap.h"
#include "command/query/ask.h"

/* An epsilon is said as it was typed. A rho is computed: four digits, what it cost rounded up, what
 * is left down. */
static brume_number_text few_digits(const brume_answer_price *price, bool up)
{
    if (!price->concentrated || !(price->amount > 0))
        return brume_shortest(price->amount);
    return up ? brume_digits_up(price->amount, 4) : brume_digits_down(price->amount, 4);
}

static void write_price(FILE *out, const brume_query_answer *answer)
{
    const brume_answer_price *cost = &answer->cost, *left = &answer->remaining;
    const char *unit = cost->concentrated ? "rho" : "epsilon";
    fprintf(out, "%s %s %s", answer->cached ? "read again for free (it cost" : "cost", unit,
            few_digits(cost, true).text);
    if (cost->delta > 0)
        fprintf(out, ", delta %s%s", brume_rounded_up(cost->delta).text,
                answer->delta_by_default ? " by default" : "");
    fputs(answer->cached ? ")" : "", out);
    fprintf(out, "; left: %s %s", unit, few_digits(left, false).text);
    if (left->delta > 0)
        fprintf(out, ", delta %s", brume_digits_down(left->delta, 4).text);
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
    json_t *said = brume_query_answer_notes(answer);
    for (size_t i = 0; i < json_array_size(said); i++)
        fprintf(notes, "\n%s", json_string_value(json_array_get(said, i)));
    bool failed = !said;
    json_decref(said);
    for (size_t i = 0; i < json_array_size(answer->warnings); i++)
        fprintf(notes, "\nwarning: %s", json_string_value(json_array_get(answer->warnings, i)));
    if (fclose(notes) != 0 || failed) {
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
