/* histogram, mode and top-k of a column's texts. */
#include "query/statistic/release.h"

#include <stdlib.h>
#include <string.h>

#include <brume/statistic/key_count.h>
#include <brume/noise/laplace.h>
#include <brume/mechanism/selection.h>
#include <brume/mechanism/stability.h>
#include <brume/mechanism/stable_histogram.h>
#include <brume/statistic/top_k.h>

#include "number/rounding.h"
#include "query/price/error_bar.h"

/* A text for JSON: bytes that are not UTF-8 become question marks, a function of that key alone. */
static json_t *key_json(const char *key, size_t length)
{
    json_t *text = json_stringn(key, length);
    if (text)
        return text;
    char *plain = malloc(length + 1);
    for (size_t i = 0; plain && i < length; i++)
        plain[i] = (unsigned char)key[i] < 128 ? key[i] : '?';
    text = plain ? json_stringn(plain, length) : NULL;
    free(plain);
    return text;
}

/* The declared domain, split at commas, in its order; *count is 0 without one. */
static brume_status read_domain(const brume_release *release, char **storage, const char ***keys,
                                size_t *count, brume_error *error)
{
    const char *text = release->words->domain;
    *storage = NULL;
    *keys = NULL;
    *count = 0;
    if (!text)
        return BRUME_OK;
    const char *equals = strchr(text, '='), *column = release->words->column;
    if (equals && column && strncmp(text, column, strlen(column)) == 0 &&
        text + strlen(column) == equals)
        text = equals + 1; /* COLUMN=V1,V2 as `register` takes it */
    size_t most = 1;
    for (const char *at = text; *at; at++)
        most += *at == ',';
    *storage = strdup(text);
    *keys = calloc(most, sizeof **keys);
    if (!*storage || !*keys)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for the domain");
    char *rest = *storage;
    for (char *word; (word = strsep(&rest, ","));) {
        for (size_t i = 0; i < *count; i++)
            if (strcmp((*keys)[i], word) == 0)
                return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is twice in '--domain'",
                                  word);
        (*keys)[(*count)++] = word;
    }
    return BRUME_OK;
}

/* Keys that nobody declared are shown only if many units have them, and the unit's own column has
 * as many as there are units. */
static brume_status check_shared(const brume_release *release, brume_error *error)
{
    const char *column = release->words->column;
    const char *unit = json_string_value(json_object_get(release->policy, "unit"));
    if (!unit || !column || strcmp(unit, column) != 0)
        return BRUME_OK;
    return brume_fail(error, BRUME_EUNSUPPORTED,
                      "take a column that many have in common; nothing was spent",
                      "no value of '%s' would be shown: each is one unit's", column);
}

/* Count the column's texts; a missing one is the empty text, an ordinary key. */
static brume_status count_keys(const brume_release *release, brume_key_count **out, uint64_t *rows,
                               brume_error *error)
{
    size_t column;
    BRUME_TRY(brume_release_find(release, NULL, &column, error));
    brume_key_count *keys = NULL;
    BRUME_TRY(brume_key_count_open(&keys, error));
    *rows = 0;
    for (;;) {
        bool more;
        brume_status status = brume_csv_next(release->csv, &more, error);
        if (status == BRUME_OK && more) {
            size_t length = 0;
            const char *text = brume_csv_field(release->csv, column, &length);
            status = brume_key_count_add(keys, text ? text : "", length, 1, error);
            ++*rows;
        }
        if (status != BRUME_OK) {
            brume_key_count_close(keys);
            return status;
        }
        if (!more)
            break;
    }
    *out = keys;
    return BRUME_OK;
}

/* The counts of the declared keys; values outside the domain are dropped. */
static void count_domain(const brume_key_count *keys, const char **domain, size_t count,
                         int64_t *counts, uint64_t *inside)
{
    *inside = 0;
    for (size_t i = 0; i < brume_key_count_size(keys); i++) {
        const char *key;
        size_t length;
        uint64_t here = brume_key_count_at(keys, i, &key, &length);
        for (size_t j = 0; j < count; j++)
            if (strlen(domain[j]) == length && memcmp(domain[j], key, length) == 0) {
                counts[j] = (int64_t)here;
                *inside += here;
            }
    }
}

static brume_status histogram_of_domain(brume_release *release, const brume_key_count *keys,
                                        const char **domain, size_t count, brume_error *error)
{
    int64_t *counts = calloc(count, sizeof *counts);
    if (!counts)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for the counts");
    uint64_t inside;
    double scale;
    count_domain(keys, domain, count, counts, &inside);
    brume_status status = brume_laplace_scale(release->adjacency == BRUME_REPLACE ? 2 : 1,
                                              release->epsilon, &scale, error);
    if (status == BRUME_OK)
        status = brume_discrete_laplace_add(release->bits, brume_up(scale), counts, counts, count,
                                            error);
    for (size_t i = 0; i < count && status == BRUME_OK; i++)
        json_array_append_new(release->rows,
                              json_pack("[o, I]", key_json(domain[i], strlen(domain[i])),
                                        (json_int_t)(counts[i] > 0 ? counts[i] : 0)));
    if (status == BRUME_OK)
        release->error_95 = brume_error_width(BRUME_NOISE_DISCRETE_LAPLACE, brume_up(scale), .05);
    free(counts);
    return status;
}

static brume_status histogram_of_any(brume_release *release, brume_key_count *keys,
                                     brume_error *error)
{
    brume_histogram_rule rule = {.noise = BRUME_HISTOGRAM_DISCRETE_LAPLACE,
                                 .epsilon = release->epsilon,
                                 .delta = release->delta,
                                 .keys_per_unit = 1,
                                 .amount_per_key = 1,
                                 .adjacency = release->adjacency};
    const char *noise = release->words->noise;
    if (noise && strcmp(noise, "gaussian") != 0 && strcmp(noise, "laplace") != 0)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "a histogram has no noise '%s'; it has: laplace, gaussian", noise);
    if (noise && strcmp(noise, "gaussian") == 0)
        rule.noise = BRUME_HISTOGRAM_GAUSSIAN;
    brume_histogram_plan plan;
    BRUME_TRY(brume_histogram_plan_make(&rule, &plan, error));
    brume_release_tell(release, "threshold", json_integer((json_int_t)plan.threshold));
    if (rule.noise == BRUME_HISTOGRAM_GAUSSIAN)
        brume_release_tell(release, "sigma", brume_json_real(plan.scale));
    size_t n = brume_key_count_size(keys);
    int64_t *counts = malloc((n + 1) * sizeof *counts);
    unsigned char *keep = malloc(n + 1);
    brume_status status = BRUME_OK;
    if (!counts || !keep)
        status = brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu keys", n);
    const char *key;
    size_t length;
    for (size_t i = 0; i < n && status == BRUME_OK; i++)
        counts[i] = (int64_t)brume_key_count_at(keys, i, &key, &length);
    if (status == BRUME_OK)
        status = brume_histogram_release(&plan, release->bits, counts, counts, keep, n, error);
    if (status == BRUME_OK) {
        brume_key_count_put(keys, counts);
        status = brume_key_count_sort(keys, keep, error);
    }
    for (size_t i = 0; status == BRUME_OK && i < brume_key_count_size(keys); i++) {
        uint64_t noisy = brume_key_count_at(keys, i, &key, &length);
        json_array_append_new(release->rows,
                              json_pack("[o, I]", key_json(key, length), (json_int_t)noisy));
    }
    free(counts);
    free(keep);
    if (status != BRUME_OK)
        return status;
    release->cost_delta = release->delta;
    release->error_95 = brume_error_width(rule.noise == BRUME_HISTOGRAM_GAUSSIAN
                                              ? BRUME_NOISE_ROUNDED_GAUSSIAN
                                              : BRUME_NOISE_DISCRETE_LAPLACE,
                                          plan.scale, .05);
    return BRUME_OK;
}

/* The winners, exactly, where no few rows could change them. */
static brume_status winners(brume_release *release, const brume_key_count *keys,
                            const char **domain, size_t domain_count, uint64_t rows,
                            brume_error *error)
{
    bool mode = strcmp(release->statistic, "mode") == 0;
    size_t n = domain ? domain_count : brume_key_count_size(keys);
    brume_top_k_rule rule = {.k = mode ? 1 : release->words->k,
                             .ordered = release->words->ordered,
                             .open_domain = !domain,
                             .adjacency = release->adjacency};
    if (rule.k == 0 || rule.k > 1000000)
        return brume_fail(error, BRUME_EARGUMENT, "for example --k 3", "top-k needs '--k'");
    uint64_t units = rows, distance = 0;
    size_t *chosen = calloc(rule.k, sizeof *chosen), count = 0;
    int64_t *counts = calloc(n + 1, sizeof *counts);
    const char *key = NULL;
    size_t length = 0;
    brume_status status = BRUME_OK;
    if (!chosen || !counts)
        status = brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu keys", n);
    if (status == BRUME_OK && domain)
        count_domain(keys, domain, domain_count, counts, &units);
    for (size_t i = 0; status == BRUME_OK && !domain && i < n; i++)
        counts[i] = (int64_t)brume_key_count_at(keys, i, &key, &length);
    if (status == BRUME_OK)
        status = brume_top_k(&rule, (const uint64_t *)counts, n, units > 0 ? units : 1, chosen,
                             &count, &distance, error);
    /* Rows outside a declared domain have no key, so that also under replace the rows with one may
     * all vanish, one a change, and with them the answer. */
    if (domain && distance > (units > 0 ? units - 1 : 0))
        distance = units > 0 ? units - 1 : 0;
    uint64_t threshold = 0;
    double unused;
    if (status == BRUME_OK)
        status =
            brume_stability_threshold(release->epsilon, release->delta, &threshold, &unused, error);
    if (status == BRUME_OK)
        status = brume_stable_release(release->epsilon, release->delta, release->bits, distance,
                                      &release->released, error);
    release->cost_delta = release->delta;
    if (status == BRUME_OK)
        brume_release_tell(release, "threshold", json_integer((json_int_t)threshold));
    if (status == BRUME_OK && count == 0)
        release->released = false; /* no answer looks like a failed test */
    for (size_t i = 0; status == BRUME_OK && release->released && i < count; i++) {
        if (domain) {
            key = domain[chosen[i]];
            length = strlen(key);
        } else {
            (void)brume_key_count_at(keys, chosen[i], &key, &length);
        }
        if (mode)
            release->value = key_json(key, length);
        else
            json_array_append_new(release->rows, key_json(key, length));
    }
    free(chosen);
    free(counts);
    return status;
}

/* The mode among public keys, by a choice that favours large counts. One row more or less moves one
 * count by 1, so that under add-remove the counts are monotone. */
static brume_status choose_mode(brume_release *release, const brume_key_count *keys,
                                const char **domain, size_t count, brume_error *error)
{
    bool exponential = brume_release_is(release, "exponential");
    brume_select_noise noise = exponential ? BRUME_SELECT_GUMBEL : BRUME_SELECT_LAPLACE;
    brume_selection options = {.adjacency = release->adjacency,
                               .epsilon = release->epsilon,
                               .sensitivity = 1,
                               .monotone = release->adjacency == BRUME_ADD_REMOVE};
    int64_t *counts = calloc(count, sizeof *counts);
    double *scores = calloc(count, sizeof *scores), gap;
    uint64_t inside;
    size_t chosen = 0;
    brume_decimal one;
    brume_status status = counts && scores ? brume_decimal_parse("1", &one, error)
                                           : brume_no_memory(error, "the counts");
    if (status == BRUME_OK) {
        count_domain(keys, domain, count, counts, &inside);
        for (size_t i = 0; i < count; i++)
            scores[i] = (double)counts[i];
        status =
            brume_noisy_max_choose(release->bits, noise, &options, scores, count, &chosen, error);
    }
    if (status == BRUME_OK)
        status = brume_selection_gap_upper(noise, &options, &one, count, .05, &gap, error);
    if (status == BRUME_OK) {
        release->value = key_json(domain[chosen], strlen(domain[chosen]));
        brume_release_tell(release, "gap_95", brume_json_real(gap));
    }
    free(counts);
    free(scores);
    return status;
}

brume_status brume_release_keys(brume_release *release, brume_error *error)
{
    const char *typed = release->words->method;
    if (typed && strcmp(typed, "randomized-response") == 0)
        return brume_release_local(release, error);
    bool histogram = strcmp(release->statistic, "histogram") == 0;
    char *storage;
    const char **domain;
    size_t domain_count;
    brume_status status = read_domain(release, &storage, &domain, &domain_count, error);
    bool public_keys = histogram && domain;
    if (status == BRUME_OK)
        status = brume_release_method(release, public_keys ? "laplace" : "stable", error);
    bool stable = status == BRUME_OK && brume_release_is(release, "stable");
    if (status == BRUME_OK && !domain && !stable)
        status = brume_fail(error, BRUME_EARGUMENT, "for example --domain red,green",
                            "%s by the method '%s' needs '--domain'", release->statistic,
                            release->method);
    if (status == BRUME_OK && stable)
        status = brume_release_need_delta(release, error);
    if (status == BRUME_OK && !domain)
        status = check_shared(release, error);
    brume_key_count *keys = NULL;
    uint64_t rows = 0;
    if (status == BRUME_OK)
        status = count_keys(release, &keys, &rows, error);
    if (strcmp(release->statistic, "mode") != 0)
        release->rows = json_array();
    if (status == BRUME_OK && !domain && !histogram)
        status = brume_key_count_sort(keys, NULL, error); /* ties go by the order of the bytes */
    if (status == BRUME_OK && histogram && domain)
        status = histogram_of_domain(release, keys, domain, domain_count, error);
    else if (status == BRUME_OK && histogram)
        status = histogram_of_any(release, keys, error);
    else if (status == BRUME_OK && !stable)
        status = choose_mode(release, keys, domain, domain_count, error);
    else if (status == BRUME_OK)
        status = winners(release, keys, domain, domain_count, rows, error);
    brume_key_count_close(keys);
    free(domain);
    free(storage);
    return status;
}

/* ---- without privacy, for `brume statistic` ---- */

/* The mode, its number among the keys, and how many changes surely leave it; SIZE_MAX for none. */
static brume_status find_mode(const brume_release *input, const brume_key_count *keys,
                              const char **domain, size_t domain_count, uint64_t rows, size_t *mode,
                              uint64_t *distance, brume_error *error)
{
    size_t n = domain ? domain_count : brume_key_count_size(keys), winner = 0, found = 0, length;
    brume_top_k_rule rule = {.k = 1, .open_domain = !domain, .adjacency = input->adjacency};
    const char *key;
    int64_t *counts = calloc(n + 1, sizeof *counts);
    if (!counts)
        return brume_no_memory(error, "the keys");
    uint64_t units = rows;
    if (domain)
        count_domain(keys, domain, domain_count, counts, &units);
    for (size_t i = 0; !domain && i < n; i++)
        counts[i] = (int64_t)brume_key_count_at(keys, i, &key, &length);
    /* Under replace rows outside of a declared domain are there too and may get a key. */
    bool fixed = input->adjacency == BRUME_REPLACE && rows == 0;
    brume_status status = brume_top_k(&rule, (const uint64_t *)counts, n,
                                      fixed       ? 0
                                      : units > 0 ? units
                                                  : 1,
                                      &winner, &found, distance, error);
    if (domain && found > 0 && *distance > units - 1)
        *distance = units - 1;
    *mode = found > 0 ? winner : SIZE_MAX;
    free(counts);
    return status;
}

brume_status brume_look_mode(const brume_release *input, brume_look *look, brume_error *error)
{
    char *storage;
    const char **domain;
    size_t domain_count, mode = SIZE_MAX;
    uint64_t rows = 0, distance = 0;
    brume_key_count *keys = NULL;
    brume_status status = read_domain(input, &storage, &domain, &domain_count, error);
    if (status == BRUME_OK)
        status = count_keys(input, &keys, &rows, error);
    if (status == BRUME_OK)
        status = brume_key_count_sort(keys, NULL, error);
    if (status == BRUME_OK)
        status = find_mode(input, keys, domain, domain_count, rows, &mode, &distance, error);
    if (status == BRUME_OK)
        status = brume_answer_instability(distance, look->smoothness, brume_look_bound(look),
                                          &look->found, error);
    if (status == BRUME_OK && mode != SIZE_MAX) {
        const char *key = domain ? domain[mode] : NULL;
        size_t length = key ? strlen(key) : 0;
        if (!key)
            (void)brume_key_count_at(keys, mode, &key, &length);
        look->value = key_json(key, length);
    }
    brume_key_count_close(keys);
    free(domain);
    free(storage);
    return status;
}
