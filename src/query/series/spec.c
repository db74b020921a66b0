/* What a series is, as it is recorded. */
#include "query/series/spec.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "query/price/error_bar.h"

static const char *const rule_words[] = {"rows", "units", "ever"};

/* ---- writing and reading ---- */

/* A double to the last bit, as text. */
static json_t *exact_real(double value)
{
    char text[48];
    snprintf(text, sizeof text, "%a", value);
    return json_string(text);
}

/* Numbers of 64 bits do not fit JSON's. */
static json_t *exact_whole(uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return json_string(text);
}

bool brume_series_spec_write(const brume_series_spec *spec, json_t *terms)
{
    char length[BRUME_WINDOW_TEXT], offset[BRUME_WINDOW_TEXT];
    json_t *radices = json_array();
    for (size_t i = 0; radices && i < spec->shape.levels; i++)
        if (json_array_append_new(radices, json_integer((json_int_t)spec->shape.radix[i])) != 0)
            return false;
    json_t *noise = json_pack("{s:s,s:o,s:o,s:o}", "rule", brume_rule_word(spec->noise.rule),
                              "numerator", exact_whole(spec->noise.numerator), "denominator",
                              exact_whole(spec->noise.denominator), "scale",
                              exact_real(spec->noise.scale));
    json_t *made = json_pack(
        "{s:s,s:s,s:I,s:I,s:I,s:o,s:o,s:o,s:b,s:s,s:b,s:o,s:I}", "length",
        brume_window_length_text(&spec->grid, length), "offset",
        brume_window_offset_text(&spec->grid, offset), "close_after", (json_int_t)spec->close_after,
        "first_number", (json_int_t)spec->first, "horizon", (json_int_t)spec->shape.horizon,
        "radices", radices, "noise", noise, "most", exact_whole(spec->limit.most), "per_window",
        spec->limit.per_window, "counts", rule_words[spec->limit.rule], "is_count", spec->is_count,
        "step", exact_real(spec->step), "cell_count", (json_int_t)spec->cell_count);
    return made && json_object_set_new(terms, "spec", made) == 0;
}

static double read_real(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? strtod(text, NULL) : -1;
}

static uint64_t read_whole(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? strtoull(text, NULL, 10) : 0;
}

static bool read_shape(const json_t *json, brume_running_shape *shape)
{
    const json_t *radices = json_object_get(json, "radices");
    shape->horizon = (uint64_t)json_integer_value(json_object_get(json, "horizon"));
    shape->levels = json_array_size(radices);
    shape->kind = shape->levels ? BRUME_RUNNING_TREE : BRUME_RUNNING_SQUARE_ROOT;
    for (size_t i = 0; i < shape->levels && i < BRUME_RUNNING_LEVELS; i++)
        shape->radix[i] = (uint64_t)json_integer_value(json_array_get(radices, i));
    return shape->levels <= BRUME_RUNNING_LEVELS;
}

static bool read_noise(const json_t *json, brume_running_noise *noise)
{
    const char *rule = json_string_value(json_object_get(json, "rule"));
    noise->numerator = read_whole(json, "numerator");
    noise->denominator = read_whole(json, "denominator");
    noise->scale = read_real(json, "scale");
    return rule && brume_rule_parse(rule, &noise->rule, NULL) == BRUME_OK && noise->scale > 0 &&
           !noise->numerator == !noise->denominator;
}

static bool read_limit(const json_t *json, brume_series_limit *limit)
{
    const char *rule = json_string_value(json_object_get(json, "counts"));
    limit->most = read_whole(json, "most");
    limit->per_window = json_is_true(json_object_get(json, "per_window"));
    for (int i = BRUME_SERIES_ROWS; rule && i <= BRUME_SERIES_EVER; i++)
        if (strcmp(rule, rule_words[i]) == 0) {
            limit->rule = (brume_series_rule)i;
            return limit->most > 0;
        }
    return false;
}

brume_status brume_series_spec_read(const json_t *terms, brume_series_spec *out, brume_error *error)
{
    const json_t *json = json_object_get(terms, "spec");
    const char *length = json_string_value(json_object_get(json, "length"));
    brume_series_spec spec = {
        .close_after = json_integer_value(json_object_get(json, "close_after")),
        .first = json_integer_value(json_object_get(json, "first_number")),
        .is_count = json_is_true(json_object_get(json, "is_count")),
        .step = read_real(json, "step"),
        .cell_count = (size_t)json_integer_value(json_object_get(json, "cell_count"))};
    if (!length ||
        brume_window_grid_parse(length, json_string_value(json_object_get(json, "offset")),
                                &spec.grid, NULL) != BRUME_OK ||
        spec.grid.length == BRUME_WINDOW_VALUES || !read_shape(json, &spec.shape) ||
        !read_noise(json_object_get(json, "noise"), &spec.noise) ||
        !read_limit(json, &spec.limit) || !(spec.step > 0) || spec.cell_count < 1 ||
        spec.cell_count > BRUME_SERIES_CELLS)
        return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                          "what a series is cannot be read");
    *out = spec;
    return BRUME_OK;
}

/* ---- time ---- */

int64_t brume_series_close_of(const brume_series_spec *spec, uint64_t at)
{
    return brume_window_first_instant(&spec->grid, spec->first + (int64_t)at + 1) +
           spec->close_after * 1000000;
}

uint64_t brume_series_closed_at(const brume_series_spec *spec, int64_t moment)
{
    uint64_t low = 0, high = spec->shape.horizon; /* windows below `low` have closed */
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (brume_series_close_of(spec, middle) <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const char *brume_series_moment(int64_t moment, char text[BRUME_SERIES_MOMENT])
{
    time_t seconds = (time_t)(moment / 1000000 - (moment % 1000000 < 0));
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(text, BRUME_SERIES_MOMENT, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

int64_t brume_series_seconds(const char *text)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    char *end = NULL;
    long count = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || count > 100000 || !*end || end[1])
        return -1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (*end == units[i].unit)
            return count * units[i].seconds;
    return -1;
}

const char *brume_series_length(int64_t seconds, char text[BRUME_SERIES_LENGTH])
{
    int64_t unit = seconds % 86400 == 0 ? 86400 : seconds % 3600 == 0 ? 3600 : 60;
    unit = seconds % unit ? 1 : unit;
    snprintf(text, BRUME_SERIES_LENGTH, "%lld%c", (long long)(seconds / unit),
             unit == 86400  ? 'd'
             : unit == 3600 ? 'h'
             : unit == 60   ? 'm'
                            : 's');
    return text;
}

/* ---- how far off ---- */

brume_status brume_series_error_95(const brume_series_spec *spec, brume_running *running,
                                   uint64_t first, uint64_t last, double *out, brume_error *error)
{
    double spread = 0;
    BRUME_TRY(brume_running_spread(running, first, last, &spread, error));
    if (spec->noise.rule == BRUME_RULE_PURE) {
        *out = spec->step * brume_error_width_of_sum(BRUME_NOISE_DISCRETE_LAPLACE,
                                                     spec->noise.scale, (size_t)spread, 0.05);
        return BRUME_OK;
    }
    /* A combination of Gaussian noises. Each is on steps of 2^-16 and at least 2^16 / sqrt(2 rho)
     * of them wide, so that its being on a grid does not show; the factor allows for it. */
    static const double quantile = 1.959963984540055;
    *out = spec->step * quantile * spec->noise.scale * spread * (1 + 1e-6);
    return BRUME_OK;
}
