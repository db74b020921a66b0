/* The features of a released table. Promises: what two analysts would see differently has another
 * name or another number. */
#include "audit/query/answer_features.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A value that is no number as part of a name. */
static void write_value(FILE *out, const brume_value *value)
{
    if (value->kind == BRUME_VALUE_TEXT) /* its length keeps the names of different rows apart */
        fprintf(out, "%zu:%.*s", value->length, (int)value->length, value->text);
    else if (value->kind == BRUME_VALUE_BOOLEAN)
        fputs(value->boolean ? "true" : "false", out);
    else
        fputs("null", out);
}

static const brume_value *cell(const brume_query_answer *answer, size_t row, size_t column)
{
    return &answer->values[row * answer->column_count + column];
}

/* The key of a row, then, for a value of it, the number of its column, what is looked at and,
 * unless it is a number, the value. NULL: out of memory. */
static char *name_of(const brume_query_answer *answer, size_t row, size_t column, const char *what)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    for (size_t i = 0; i < answer->column_count; i++) {
        const brume_value *key = cell(answer, row, i);
        if (!answer->columns[i].is_key)
            continue;
        fputc('[', out);
        if (key->kind == BRUME_VALUE_NUMBER)
            fprintf(out, "%.17g", key->number);
        else
            write_value(out, key);
    }
    if (column < answer->column_count) {
        fprintf(out, " %zu %s ", column, what);
        if (cell(answer, row, column)->kind != BRUME_VALUE_NUMBER)
            write_value(out, cell(answer, row, column));
    }
    bool good = fclose(out) == 0;
    if (!good)
        free(text);
    return good ? text : NULL;
}

typedef struct visitor {
    const brume_query_answer *answer;
    const brume_plan *plan;
    brume_feature_visit *each;
    void *context;
} visitor;

static bool visit_cell(const visitor *v, size_t row, size_t column, const char *what, double value)
{
    char *name = name_of(v->answer, row, column, what);
    if (name)
        v->each(v->context, name, value);
    free(name);
    return name != NULL;
}

/* The two numbers behind a mean: of values, and the sum about the centre of the bounds for each
 * expression that has one. */
static bool visit_mean(const visitor *v, size_t row, size_t column, double value, double error)
{
    double limit = v->answer->columns[column].limit;
    double values = (limit > 0 ? limit : 1) / error;
    bool good = true, any = false;
    for (size_t i = 0; good && i < v->plan->measure_count; i++) {
        const brume_measure *measure = &v->plan->measures[i];
        char what[40];
        if (measure->kind != BRUME_MEASURE_CENTRED)
            continue;
        double step = brume_plan_step(v->plan, measure);
        double centre = (double)brume_measure_centre(measure) * step;
        snprintf(what, sizeof what, "sum %zu", measure->expression);
        good = visit_cell(v, row, column, what, (value - centre) * values);
        any = true;
    }
    return good && (!any || visit_cell(v, row, column, "number", values));
}

/* How far a value is from that of the first row: noise that is not drawn for each of them shows. */
static bool visit_beside(const visitor *v, size_t row, size_t column)
{
    const brume_value *first = cell(v->answer, 0, column), *value = cell(v->answer, row, column);
    return row == 0 || first->kind != BRUME_VALUE_NUMBER ||
           visit_cell(v, row, column, "beside", value->number - first->number);
}

/* Products of a value with those before it in its row: a number of values times a mean or a
 * variance is a sum. */
static bool visit_products(const visitor *v, size_t row, size_t column)
{
    double value = cell(v->answer, row, column)->number;
    bool good = true;
    for (size_t i = 0; good && i < column; i++) {
        const brume_value *before = cell(v->answer, row, i);
        char what[40];
        snprintf(what, sizeof what, "times %zu", i);
        if (before->kind == BRUME_VALUE_NUMBER && !v->answer->columns[i].is_key)
            good = visit_cell(v, row, column, what, value * before->number);
    }
    return good;
}

/* Every feature of a row: that its key is there, then its values and their errors. */
static bool visit_row(const visitor *v, size_t row)
{
    const brume_query_answer *answer = v->answer;
    bool good = visit_cell(v, row, answer->column_count, "", 1);
    if (good && answer->near && answer->near[row])
        good = visit_cell(v, row, 0, "near", 1);
    for (size_t i = 0; good && i < answer->column_count; i++) {
        const brume_value *value = cell(answer, row, i);
        double error = answer->errors ? answer->errors[row * answer->column_count + i] : NAN;
        bool number = value->kind == BRUME_VALUE_NUMBER;
        if (answer->columns[i].is_key)
            continue;
        good = visit_cell(v, row, i, "value", number ? value->number : 1);
        if (good && number)
            good = visit_beside(v, row, i) && visit_products(v, row, i);
        const brume_value *ends =
            brume_query_answer_interval(answer, row * answer->column_count + i);
        for (int end = 0; good && ends && end < 2; end++)
            good = visit_cell(v, row, i, end ? "high" : "low",
                              ends[end].kind == BRUME_VALUE_NUMBER ? ends[end].number : 1);
        if (good && number && isfinite(error)) {
            good = visit_cell(v, row, i, "error", error);
            if (good && error > 0)
                good = visit_cell(v, row, i, "over", value->number / error) &&
                       visit_mean(v, row, i, value->number, error);
        }
    }
    return good;
}

/* What is said of columns: limits, errors, estimates of bias. */
static void visit_columns(const visitor *v)
{
    for (size_t i = 0; i < v->answer->column_count; i++) {
        const brume_answer_column *c = &v->answer->columns[i];
        const struct {
            const char *name;
            double value;
        } numbers[] = {{"error_95", c->error_95},
                       {"limit", c->limit},
                       {"cut_units", c->cut_units},
                       {"cut_allowance", c->cut_allowance},
                       {"cut_hidden", c->cut_hidden},
                       {"rank_error_95", c->rank_error_95},
                       {"count_error_95", c->count_error_95},
                       {"gap_95", c->gap_95},
                       {"threshold", (double)c->threshold},
                       {"units", c->bias.units},
                       {"cut", c->bias.cut},
                       {"clamped", c->bias.clamped},
                       {"bias_error_95", c->bias.error_95}};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            char name[60];
            snprintf(name, sizeof name, "column %zu %s", i, numbers[k].name);
            if (!c->is_key && !isnan(numbers[k].value))
                v->each(v->context, name, numbers[k].value);
        }
    }
}

static void visit_texts(const visitor *v)
{
    size_t index;
    const json_t *warning;
    json_array_foreach (v->answer->warnings, index, warning) {
        char name[400];
        snprintf(name, sizeof name, "warning %.300s", json_string_value(warning));
        v->each(v->context, name, 1);
    }
}

bool brume_features_visit(const void *answered, brume_feature_visit *each, void *context)
{
    const brume_answered *of = answered;
    const brume_query_answer *answer = of->answer;
    const brume_error *refused = of->refused;
    visitor v = {answer, of->plan, each, context};
    bool good = true;
    if (!answer) {
        char name[900];
        snprintf(name, sizeof name, "refused %d %s / %s", (int)refused->status, refused->message,
                 refused->hint);
        each(context, name, 1);
        return true;
    }
    each(context, "rows", (double)answer->row_count);
    visit_columns(&v);
    visit_texts(&v);
    for (size_t i = 0; good && i < answer->row_count; i++)
        good = visit_row(&v, i);
    return good;
}
