/* count and histogram by randomized response: every row answers for itself.
 *
 * Promises: each row's answer is epsilon-DP by itself, whatever the others are; the estimates are
 * computed from the answers and from their number, which is public. */
#include "query/statistic/release.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <brume/noise/randomized_response.h>

enum { MOST_KEYS = 256 };

typedef struct answers {
    const char *keys[MOST_KEYS]; /* none of a count */
    uint64_t given[MOST_KEYS];   /* how many answered each; of a count: no, yes */
    unsigned k;
    uint64_t rows;
} answers;

static bool is_yes(const char *text)
{
    static const char *const words[] = {"1", "true", "t", "yes", "y"};
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

/* What the row would say, or k where it has nothing to say that can be said. */
static unsigned truth_of(const answers *all, const char *text)
{
    if (!all->keys[0])
        return is_yes(text);
    unsigned i = 0;
    while (i < all->k && (!text || strcmp(all->keys[i], text) != 0))
        i++;
    return i;
}

/* A row without a value in the domain answers any of them alike, which is between all others. */
static brume_status answer_row(const brume_release *release, answers *all, const char *text,
                               brume_error *error)
{
    uint64_t moved, uniform;
    unsigned truth = truth_of(all, text);
    BRUME_TRY(
        brume_randomized_response_noise(release->bits, release->epsilon, all->k, &moved, error));
    do /* drawn for every row, so that the time does not tell */
        BRUME_TRY(brume_bits_words(release->bits, &uniform, 1, error));
    while (uniform >= UINT64_MAX / all->k * all->k);
    uint64_t said = truth == all->k ? uniform % all->k : (truth + moved) % all->k;
    all->given[said]++;
    all->rows++;
    return BRUME_OK;
}

static brume_status ask_rows(const brume_release *release, answers *all, brume_error *error)
{
    size_t column;
    BRUME_TRY(brume_release_find(release, NULL, &column, error));
    for (;;) {
        bool more;
        size_t length = 0;
        BRUME_TRY(brume_csv_next(release->csv, &more, error));
        if (!more)
            return BRUME_OK;
        BRUME_TRY(answer_row(release, all, brume_csv_field(release->csv, column, &length), error));
    }
}

static json_t *pair_of(double low, double high, double times)
{
    low = fmin(fmax(low, 0), 1) * times;
    high = fmin(fmax(high, 0), 1) * times;
    return json_pack("[f, f]", low, high);
}

/* The count of one answer, without bias: its row or value, share and intervals. */
static brume_status estimate(brume_release *release, const answers *all, unsigned which,
                             json_t *shares, json_t *intervals, json_t *share_intervals,
                             double *half, brume_error *error)
{
    brume_share share = {.estimate = NAN, .lower = 0, .upper = 1};
    double rows = (double)all->rows;
    if (all->rows > 0)
        BRUME_TRY(brume_randomized_response_estimate(release->epsilon, all->k, all->given[which],
                                                     all->rows, .05, 1, &share, error));
    double estimated = isfinite(share.estimate) ? share.estimate * rows : 0;
    if (release->rows)
        json_array_append_new(release->rows, json_pack("[s, f]", all->keys[which], estimated));
    else
        release->value = brume_json_real(estimated);
    json_array_append_new(shares, brume_json_real(share.estimate));
    json_array_append_new(intervals, pair_of(share.lower, share.upper, rows));
    json_array_append_new(share_intervals, pair_of(share.lower, share.upper, 1));
    *half = fmax(*half, (share.upper - share.lower) / 2 * rows);
    return BRUME_OK;
}

static brume_status tell(brume_release *release, const answers *all, brume_error *error)
{
    json_t *shares = json_array(), *intervals = json_array(), *share_intervals = json_array();
    bool one = release->rows == NULL;
    double half = 0;
    brume_status status = BRUME_OK;
    for (unsigned i = one ? 1 : 0; status == BRUME_OK && i < all->k; i++)
        status = estimate(release, all, i, shares, intervals, share_intervals, &half, error);
    if (status == BRUME_OK) {
        release->error_95 = half;
        brume_release_tell(release, "debiased", json_true());
        brume_release_tell(release, "share", json_incref(one ? json_array_get(shares, 0) : shares));
        brume_release_tell(release, "interval_95",
                           json_incref(one ? json_array_get(intervals, 0) : intervals));
        brume_release_tell(release, "share_interval_95",
                           json_incref(one ? json_array_get(share_intervals, 0) : share_intervals));
    }
    json_decref(shares);
    json_decref(intervals);
    json_decref(share_intervals);
    return status;
}

/* --domain, cut at commas in `words`. */
static brume_status read_keys(const brume_release *release, char *words, answers *all,
                              brume_error *error)
{
    all->k = 0;
    for (char *word; (word = strsep(&words, ","));) {
        for (unsigned i = 0; i < all->k; i++)
            if (strcmp(all->keys[i], word) == 0)
                return brume_fail(error, BRUME_EARGUMENT, NULL, "'%s' is twice in '--domain'",
                                  word);
        if (all->k == MOST_KEYS)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "more than %d values in '--domain'",
                              (int)MOST_KEYS);
        all->keys[all->k++] = word;
    }
    if (all->k < 2)
        return brume_fail(error, BRUME_EARGUMENT, "for example --domain red,green",
                          "%s by randomized response needs two values or more in '--domain'",
                          release->statistic);
    return BRUME_OK;
}

brume_status brume_release_local(brume_release *release, brume_error *error)
{
    bool histogram = strcmp(release->statistic, "histogram") == 0;
    BRUME_TRY(brume_release_method(release, NULL, error));
    if (!release->words->adjacency && release->words->from_file)
        release->adjacency = BRUME_REPLACE;
    if (release->adjacency != BRUME_REPLACE)
        return brume_fail(error, BRUME_EARGUMENT, "--adjacency replace",
                          "randomized response tells the number of rows, which must be public: it "
                          "is under replace");
    answers all = {.k = 2};
    const char *domain = release->words->domain;
    char *words = strdup(domain ? domain : "");
    brume_status status = words ? BRUME_OK : brume_no_memory(error, "the domain");
    if (status == BRUME_OK && histogram)
        status = read_keys(release, words, &all, error);
    if (status == BRUME_OK)
        status = ask_rows(release, &all, error);
    if (histogram)
        release->rows = json_array();
    if (status == BRUME_OK)
        status = tell(release, &all, error);
    explicit_bzero(all.given, sizeof all.given);
    free(words);
    return status;
}
