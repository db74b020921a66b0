/* The notes of an answer: what limits, bounds and thresholds do to it, in words of the data.
 *
 * 1. A note stands there only where something was cut, may have been cut, or is not known.
 * 2. A note is one or two sentences: what, how much, in which direction, and whether ± has it.
 * 3. Columns of which the same is said share one note; where that is not all of them it opens with
 *    their names.
 * docs/reading-an-answer.md has every note, with what to do about it. */
#include "query/release/answer.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- numbers ---- */

enum { NUMBER = 48 };

typedef struct number_text {
    char text[NUMBER];
} number_text;

/* 2,347; at most four digits stay together where they may be a year or a code. */
static number_text in_full(double value, size_t together)
{
    char plain[NUMBER];
    number_text out;
    snprintf(plain, sizeof plain, "%.*g", fabs(value) < 1e15 && value == floor(value) ? 15 : 6,
             value);
    if (strcspn(plain, ".e") <= together)
        snprintf(out.text, sizeof out.text, "%s", plain);
    else
        brume_text_group(plain, out.text, sizeof out.text);
    return out;
}

static number_text exactly(double value)
{
    return in_full(value, 0);
}

/* Two digits, or whole numbers below 100, never below what it is. */
static number_text about(double value)
{
    double step = value > 0 ? pow(10, floor(log10(value)) - 1) : 1;
    return exactly(ceil(value / step - 1e-9) * step);
}

/* ---- what is said of one column ---- */

/* "visits", or nothing where it is an amount that is added. */
static const char *noun_of(const brume_answer_column *column, const brume_words *words)
{
    return column->counts == BRUME_COUNTS_ROWS     ? words->rows
           : column->counts == BRUME_COUNTS_GROUPS ? "groups"
           : column->counts == BRUME_COUNTS_VALUES ? "different values"
                                                   : "";
}

/* A count or a sum: what is left out is missing from it. For a mean, a quantile or a mode the units
 * that have more only weigh less than they should. */
static bool is_total(const brume_answer_column *column)
{
    return column->side != BRUME_SIDE_EITHER || column->counts == BRUME_COUNTS_SUM;
}

static const char *true_number(const brume_answer_column *column)
{
    return column->side == BRUME_SIDE_HIGHER  ? "higher"
           : column->side == BRUME_SIDE_LOWER ? "lower"
                                              : "another one";
}

/* "Each patient counts with at most 96 visits" */
static void write_limit(FILE *out, const brume_answer_column *column, const brume_words *words)
{
    number_text limit = exactly(column->limit);
    bool weighs = !isnan(column->rank_error_95) || !isnan(column->count_error_95);
    const char *most = limit.text;
    if (column->counts == BRUME_COUNTS_VOTES && column->limit == 1)
        fprintf(out, "Each %s votes for one value, drawn at random among its own", words->unit);
    else if (column->counts == BRUME_COUNTS_VOTES)
        fprintf(out, "Each %s votes for at most %s values, drawn at random among its own",
                words->unit, most);
    else if (column->counts == BRUME_COUNTS_SUM || column->counts == BRUME_COUNTS_UNKNOWN)
        fprintf(out, "Each %s adds at most %s", words->unit, most);
    else if (column->counts == BRUME_COUNTS_GROUPS)
        fprintf(out, "Each %s counts in at most %s group%s", words->unit, most,
                column->limit == 1 ? "" : "s");
    else if (weighs)
        fprintf(out, "The %s of one %s weigh no more than %s", words->rows, words->unit, most);
    else if (column->limit == 1)
        fprintf(out, "Each %s counts at most once", words->unit);
    else
        fprintf(out, "Each %s counts with at most %s %s", words->unit, most,
                noun_of(column, words));
}

/* " About 2,300 visits beyond that are left out; ± includes them." */
static void write_cut(FILE *out, const brume_answer_column *column, const brume_words *words)
{
    bool amount = column->counts == BRUME_COUNTS_SUM || column->counts == BRUME_COUNTS_UNKNOWN;
    bool reaches = isfinite(column->reach);
    if (!(column->cut_allowance > 0))
        return;
    if (!amount && column->cut_allowance < 1)
        fprintf(out, ". Hardly any %s beyond that are left out; ± includes them",
                noun_of(column, words));
    else
        fprintf(out, ". %s %s%s%s beyond that %s left out; ± includes %s",
                reaches ? "Up to" : "About",
                about(amount ? column->cut_allowance : ceil(column->cut_allowance)).text,
                amount ? "" : " ", noun_of(column, words), amount ? "is" : "are",
                amount ? "it" : "them");
    if (reaches)
        fprintf(out, ", if nobody has more than %s", exactly(column->reach).text);
}

/* " If fewer than 285 patients have far more visits than 96, nobody can see it; the true number
 * would then be higher." */
static void write_hidden(FILE *out, const brume_answer_column *column, const brume_words *words)
{
    if (!(column->cut_hidden > 0))
        return;
    bool several = column->cut_hidden > 1;
    bool allowed = column->cut_allowance > 0 || isfinite(column->reach);
    const char *noun = noun_of(column, words), *far = allowed ? "far " : "";
    fputs(". If ", out);
    if (several)
        fprintf(out, "fewer than %s %s have ", exactly(column->cut_hidden + 1).text, words->units);
    else
        fprintf(out, "one %s has ", words->unit);
    if (isnan(column->limit))
        fprintf(out, "%smore than the limit", far);
    else
        fprintf(out, "%smore%s%s than %s", far, *noun ? " " : "", noun,
                exactly(column->limit).text);
    if (column->cut_in_bar && !(column->limit <= 1) && isnan(column->rank_error_95) &&
        isnan(column->count_error_95))
        fputs(", or many with a mean far from that of others", out); /* their distances are cut */
    if (column->cut_in_bar)
        fputs(", nobody can see it; the true value may then lie outside", out);
    else
        fprintf(out, ", nobody can see it; the true number would then be %s", true_number(column));
}

/* Typed, or the owner's: nobody counted who has more. */
static void write_given(FILE *out, const brume_answer_column *column, const brume_words *words)
{
    const char *noun = noun_of(column, words);
    number_text limit = exactly(column->limit);
    if (!is_total(column)) {
        write_limit(out, column, words);
        fputs("; ± does not include what that changes", out);
    } else if (column->origin == BRUME_ORIGIN_OWNER) {
        fprintf(out,
                "If one %s %s more%s%s than %s, the owner's ceiling, the rest is left out; ± "
                "does not include it",
                words->unit, *noun ? "has" : "adds", *noun ? " " : "", noun, limit.text);
    } else if (!*noun) {
        fprintf(out, "What one %s adds beyond %s is left out; ± does not include it", words->unit,
                limit.text);
    } else {
        fprintf(out, "%c%s beyond %s per %s are left out; ± does not include them",
                toupper((unsigned char)noun[0]), noun + 1, limit.text, words->unit);
    }
}

static const char pay_more[] = "pay more, or type a limit";

static void write_not_found(FILE *out, const brume_answer_column *column, const brume_words *words)
{
    fprintf(out, "There are too few %s for this price to choose a limit on what one may add",
            words->units);
    if (isnan(column->limit))
        fputs(", so there is no value", out);
    else {
        fputs(". ", out);
        write_limit(out, column, words);
        fputs(", and what that leaves out is not known", out);
    }
    fprintf(out, ": %s", pay_more);
}

/* Arithmetic on numbers that may have several limits. */
static void write_several(FILE *out, const brume_answer_column *column, const brume_words *words)
{
    if (column->cut_not_known)
        fprintf(out, "What limits cut of it cannot be told at this price, so there is no ±: %s",
                pay_more);
    else if (column->cut_allowance > 0)
        fprintf(out, "Limits on what one %s adds may have moved it by %s; ± includes that",
                words->unit, about(column->cut_allowance).text);
    else if (column->cut_hidden > 0)
        fprintf(out, "What one %s adds to it is limited", words->unit);
    if (!column->cut_not_known)
        write_hidden(out, column, words);
}

/* For a mean, a quantile or a declared mode whose bar allows for what limits cut. */
static void write_allowed(FILE *out, const brume_answer_column *column, const brume_words *words)
{
    bool cuts = isfinite(column->reach);
    if (!cuts && !(column->cut_hidden > 0))
        return;
    write_limit(out, column, words);
    if (cuts)
        fprintf(out, "; %s what is beyond, if nobody has more than %s",
                !isnan(column->rank_error_95)    ? "the interval allows for"
                : !isnan(column->count_error_95) ? "the margin allows for"
                                                 : "± allows for",
                exactly(column->reach).text);
    write_hidden(out, column, words);
}

/* For those whose bar does not. */
static void write_weights(FILE *out, const brume_answer_column *column, const brume_words *words)
{
    if (!(column->cut_units > 0) && !isnan(column->cut_units) && !(column->cut_hidden > 0))
        return;
    write_limit(out, column, words);
    if (column->cut_units > 0)
        fprintf(out, "; up to %s %s have more", exactly(column->cut_units).text,
                column->cut_units == 1 ? words->unit : words->units);
    fputs(". ± does not include what that changes", out);
}

/* What limits do to the column; nothing where they cut nobody. */
static void write_limits(FILE *out, const brume_answer_column *column, const brume_words *words)
{
    if (column->limit_not_found)
        write_not_found(out, column, words);
    else if (isnan(column->limit) && column->origin == BRUME_ORIGIN_OWNER)
        fprintf(out,
                "What one %s has beyond the owner's ceilings is left out; ± does not include it",
                words->unit);
    else if (isnan(column->limit))
        write_several(out, column, words);
    else if (column->counts == BRUME_COUNTS_VOTES)
        write_limit(out, column, words);
    else if (column->origin != BRUME_ORIGIN_CHOSEN && !(column->cut_units == 0))
        write_given(out, column, words);
    else if (column->cut_not_known) {
        write_limit(out, column, words);
        fprintf(out,
                ". How much some have beyond that cannot be told at this price, so there is "
                "no ±: %s",
                pay_more);
    } else if (column->cut_in_bar)
        write_allowed(out, column, words);
    else if (!is_total(column))
        write_weights(out, column, words);
    else if (column->cut_allowance > 0 || column->cut_hidden > 0) {
        write_limit(out, column, words);
        write_cut(out, column, words);
        write_hidden(out, column, words);
    }
}

/* What bounds do to its values. */
static void write_bounds(FILE *out, const brume_answer_column *column, const brume_words *words)
{
    const brume_answer_bias *bias = &column->bias;
    if (!isnan(bias->units) && bias->clamped >= 0) {
        fprintf(out,
                "About %s of %s %s (± %s) have values outside the declared bounds, which count as "
                "the nearest bound",
                exactly(round(bias->clamped)).text, exactly(round(bias->units)).text, words->units,
                about(bias->error_95).text);
        return;
    }
    if (!column->clamps)
        return;
    if (isnan(column->clamp_low))
        fputs("Values outside the declared bounds count as the nearest bound", out);
    else
        fprintf(out, "Values outside %s..%s count as %s or %s", in_full(column->clamp_low, 4).text,
                in_full(column->clamp_high, 4).text, in_full(column->clamp_low, 4).text,
                in_full(column->clamp_high, 4).text);
    fputs("; ± does not include that", out);
}

/* What is known of a mode, or of a quantile that has no interval. */
static void write_selection(FILE *out, const brume_answer_column *column, bool intervals,
                            const brume_words *words)
{
    if (!isnan(column->rank_error_95) && intervals)
        return;
    if (!isnan(column->rank_error_95))
        fprintf(out, "Its place among the sorted values is at most %s off (95 %%)",
                about(column->rank_error_95).text);
    else if (!isnan(column->count_error_95))
        fprintf(out, "Another value has at most %s %s more (95 %%)",
                about(column->count_error_95).text, words->rows);
    else if (!isnan(column->gap_95))
        fprintf(out, "A value of %s %s more than another loses against it in at most 5 %% of draws",
                about(column->gap_95).text, words->units);
    if (column->threshold >= 0)
        fprintf(out, ". A value of fewer than about %s %s is not shown",
                exactly((double)column->threshold).text, words->units);
}

/* Moved, as nothing else says. */
static void write_moved(FILE *out, const brume_query_answer *answer,
                        const brume_answer_column *column)
{
    bool said = !isnan(column->limit) || column->clamps || !isnan(column->bias.units) ||
                column->cut_hidden > 0 || column->cut_allowance >= 0 || column->cut_not_known ||
                column->origin != BRUME_ORIGIN_CHOSEN;
    if (column->biased && !said)
        fprintf(out, "± does not include what limits and bounds did to %s",
                json_array_size(answer->stages) > 0 ? "the number that was asked first" : "it");
}

/* ---- the list ---- */

typedef enum note_kind {
    NOTE_LIMITS,
    NOTE_BOUNDS,
    NOTE_SELECTION,
    NOTE_MOVED,
    NOTE_TOTALS,
    NOTE_KINDS
} note_kind;

/* Is every cell too few, and not even an interval or a number for those who add up? Then there is
 * nothing that limits or bounds could have moved. */
static bool shows_nothing(const brume_query_answer *answer, size_t column)
{
    for (size_t row = 0; row < answer->row_count; row++) {
        size_t cell = row * answer->column_count + column;
        if (!answer->too_few || !answer->too_few[cell] ||
            answer->values[cell].kind != BRUME_VALUE_NULL ||
            brume_query_answer_interval(answer, cell))
            return false;
    }
    return answer->row_count > 0;
}

/* The note of a column without its full stop, "" for none; NULL: no memory. */
static char *note_of(const brume_query_answer *answer, size_t index, note_kind kind)
{
    const brume_answer_column *column = &answer->columns[index];
    char *text = NULL;
    size_t length = 0;
    if (shows_nothing(answer, index) && !column->limit_not_found && !column->cut_not_known)
        return strdup("");
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    if (!column->is_key && kind == NOTE_LIMITS)
        write_limits(out, column, &answer->words);
    else if (!column->is_key && kind == NOTE_BOUNDS)
        write_bounds(out, column, &answer->words);
    else if (!column->is_key && kind == NOTE_SELECTION)
        write_selection(out, column, answer->intervals != NULL, &answer->words);
    else if (!column->is_key && kind == NOTE_MOVED)
        write_moved(out, answer, column);
    else if (column->adds_up && kind == NOTE_TOTALS)
        fprintf(out,
                "Every total is the sum of its parts: %s with a value that is not declared are in "
                "none of them, and small numbers may come out below 0",
                answer->words.rows);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static bool add(json_t *list, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    bool good = length >= 0 && json_array_append_new(list, json_string(text)) == 0;
    if (length >= 0)
        free(text);
    return good;
}

/* The notes of a kind: of `texts` each once, behind the names that share it. */
static bool add_shared(json_t *list, const brume_query_answer *answer, char *const *texts)
{
    size_t values = 0;
    for (size_t i = 0; i < answer->column_count; i++)
        values += !answer->columns[i].is_key;
    for (size_t i = 0; i < answer->column_count; i++) {
        size_t sharing = 0;
        bool repeated = false;
        char *names = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&names, &length);
        for (size_t j = 0; out && j < answer->column_count; j++) {
            if (strcmp(texts[i], texts[j]) != 0)
                continue;
            repeated = repeated || j < i;
            fprintf(out, "%s%s", sharing++ ? ", " : "", answer->columns[j].name);
        }
        bool good = out && fclose(out) == 0;
        if (good && *texts[i] && !repeated)
            good = sharing == values ? add(list, "%s.", texts[i])
                                     : add(list, "%s: %s.", names, texts[i]);
        free(names);
        if (!good)
            return false;
    }
    return true;
}

static bool add_kind(json_t *list, const brume_query_answer *answer, note_kind kind)
{
    char **texts = calloc(answer->column_count + 1, sizeof *texts);
    bool good = texts != NULL;
    for (size_t i = 0; good && i < answer->column_count; i++)
        good = (texts[i] = note_of(answer, i, kind)) != NULL;
    good = good && add_shared(list, answer, texts);
    for (size_t i = 0; texts && i < answer->column_count; i++)
        free(texts[i]);
    free(texts);
    return good;
}

static bool add_threshold(json_t *list, const brume_query_answer *answer)
{
    size_t near = 0;
    double groups = NAN;
    for (size_t i = 0; answer->near && i < answer->row_count; i++)
        near += answer->near[i];
    for (size_t i = 0; i < answer->column_count; i++)
        groups = answer->columns[i].is_key ? answer->columns[i].limit : groups;
    if (answer->threshold < 0)
        return true;
    char each[160] = "";
    if (!isnan(groups))
        snprintf(each, sizeof each, " To tell, each %s counts in at most %s of its groups.",
                 answer->words.unit, exactly(groups).text);
    if (!add(list, "%sroups with fewer than about %s %s are not shown.%s",
             answer->row_count == 0 ? "No group is shown: g" : "G",
             exactly((double)answer->threshold).text, answer->words.units, each))
        return false;
    return near == 0 || add(list,
                            "%zu of the groups %s hardly larger: counts there are more often too "
                            "large than too small.",
                            near, near == 1 ? "is" : "are");
}

/* MIN and MAX are answered as quantiles. */
static bool add_extremes(json_t *list, const brume_query_answer *answer)
{
    for (size_t i = 0; i < answer->column_count; i++) {
        const brume_answer_column *column = &answer->columns[i];
        if (!column->is_key && !isnan(column->quantile) &&
            !add(list, "%s is the %s %% quantile: a minimum or maximum would be one %s's value.",
                 column->name, exactly(100 * column->quantile).text, answer->words.unit))
            return false;
    }
    return true;
}

json_t *brume_query_answer_notes(const brume_query_answer *answer)
{
    json_t *list = json_array();
    bool good = list != NULL;
    if (good && (answer->is_public || answer->is_dummy))
        return list;
    if (good && answer->cached && *answer->read)
        good = add(list, "This answer is %s%s.", brume_as_of(answer->read).text,
                   !answer->windows ? ""
                   : json_integer_value(json_object_get(answer->windows, "open")) == 0
                       ? "; its windows were closed"
                       : " while some of its windows were open: rows may have come since, and "
                         "--fresh asks again");
    good = good && add_threshold(list, answer) && add_extremes(list, answer);
    for (int kind = 0; good && kind < NOTE_KINDS; kind++)
        good = add_kind(list, answer, (note_kind)kind);
    if (good && answer->post_processed)
        good = add(list,
                   "Computed from %zu released table%s; ± is what their noise may have moved, "
                   "in 200 draws of it.",
                   json_array_size(answer->stages),
                   json_array_size(answer->stages) == 1 ? "" : "s");
    if (good)
        return list;
    json_decref(list);
    return NULL;
}
