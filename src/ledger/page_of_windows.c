/* What each window has spent: lists of runs, and the pages of the file that hold them.
 *
 * Promise: a charge adds its price to every window of its set, or changes nothing; what is read is
 * what the hash of its page says. */
#include "ledger/page_of_windows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/digest.h"
#include "number/decimal.h"

enum { PLACES = 30, MOST_RUNS = 512 }; /* runs of a page */

static const brume_u128 most = ~(brume_u128)0;
/* A limit never reaches so far that a sum below it and a price could pass 128 bits unseen. */
static const brume_u128 most_limit = ~(brume_u128)0 >> 1;

static brume_status no_memory(brume_error *error)
{
    return brume_no_memory(error, "the windows");
}

/* ---- sums ---- */

/* x in units of 10^-30, of which it has no finer part; `most` if it does not fit. */
static brume_u128 units_of(const brume_decimal *x)
{
    brume_u128 units = 0;
    for (int i = BRUME_DECIMAL_LIMBS - 1; i >= 0; i--) {
        if (units >> 96)
            return most;
        units = units << 32 | x->digits[i];
    }
    for (int32_t places = x->exponent + PLACES; units && places > 0; places--) {
        if (units > most / 10)
            return most;
        units *= 10;
    }
    return units;
}

static brume_u128 units_up(const brume_decimal *x)
{
    brume_decimal rounded;
    /* a price that does not fit is above every limit */
    return brume_decimal_quantise_up(x, PLACES, &rounded, NULL) == BRUME_OK ? units_of(&rounded)
                                                                            : most;
}

static brume_u128 units_down(const brume_decimal *x)
{
    brume_decimal rounded;
    brume_decimal_quantise_down(x, PLACES, &rounded);
    brume_u128 units = units_of(&rounded);
    return units > most_limit ? most_limit : units;
}

brume_window_sum brume_window_sum_of_price(const brume_charge *price)
{
    return (brume_window_sum){units_up(&price->amount), units_up(&price->delta)};
}

brume_window_sum brume_window_sum_of_limit(const brume_filter *budget)
{
    return (brume_window_sum){units_down(&budget->limit), units_down(&budget->limit_delta)};
}

static bool has_room(const brume_window_sum *spent, const brume_window_sum *price,
                     const brume_window_sum *limit)
{
    return spent->amount <= limit->amount && price->amount <= limit->amount - spent->amount &&
           spent->delta <= limit->delta && price->delta <= limit->delta - spent->delta;
}

static bool same_sum(const brume_window_sum *a, const brume_window_sum *b)
{
    return a->amount == b->amount && a->delta == b->delta;
}

static bool is_zero(const brume_window_sum *sum)
{
    return sum->amount == 0 && sum->delta == 0;
}

static void add_sum(brume_window_sum *to, const brume_window_sum *price)
{
    to->amount += price->amount;
    to->delta += price->delta;
}

/* ---- texts of sums ---- */

/* Two divisions of 128 bits, and the rest in 64: pages are written in every charge. */
static char *print_units(brume_u128 units, char *to)
{
    static const uint64_t half = 1000000000000000; /* 10^15 */
    uint64_t low = (uint64_t)(units % half);
    brume_u128 rest = units / half;
    uint64_t high = (uint64_t)(rest % half), whole = (uint64_t)(rest / half);
    to += sprintf(to, "%llu", (unsigned long long)whole);
    if (low == 0 && high == 0)
        return to;
    *to++ = '.';
    for (int i = 14; i >= 0; i--, high /= 10, low /= 10) {
        to[i] = (char)('0' + high % 10);
        to[i + 15] = (char)('0' + low % 10);
    }
    to += PLACES;
    while (to[-1] == '0')
        to--;
    *to = 0;
    return to;
}

/* What print_units writes, and nothing else; NULL otherwise. */
static const char *read_units(const char *from, brume_u128 *units)
{
    uint64_t parts[3] = {0, 0, 0}; /* whole, and 15 digits each */
    int digits = 0;
    const char *begin = from;
    for (; *from >= '0' && *from <= '9' && from - begin < 10; from++)
        parts[0] = 10 * parts[0] + (uint64_t)(*from - '0');
    if (from == begin || (*begin == '0' && from - begin > 1))
        return NULL;
    if (*from == '.') {
        for (from++; *from >= '0' && *from <= '9' && digits < PLACES; from++, digits++)
            parts[1 + digits / 15] = 10 * parts[1 + digits / 15] + (uint64_t)(*from - '0');
        if (digits == 0 || from[-1] == '0')
            return NULL;
        for (; digits < PLACES; digits++)
            parts[1 + digits / 15] *= 10;
    }
    static const uint64_t half = 1000000000000000;
    if (parts[0] > 340000000) /* 3.4e8 * 10^30 < 2^128 */
        return NULL;
    *units = ((brume_u128)parts[0] * half + parts[1]) * half + parts[2];
    return from;
}

const char *brume_window_sum_print(const brume_window_sum *sum, char text[BRUME_WINDOW_SUM_TEXT])
{
    char *end = print_units(sum->amount, text);
    *end++ = ' ';
    print_units(sum->delta, end);
    return text;
}

brume_status brume_window_left(brume_rule rule, const brume_window_sum *limit,
                               const brume_window_sum *spent, brume_charge *left,
                               brume_error *error)
{
    brume_charge made = {.rule = rule};
    char text[BRUME_WINDOW_SUM_TEXT];
    brume_window_sum rest = {limit->amount > spent->amount ? limit->amount - spent->amount : 0,
                             limit->delta > spent->delta ? limit->delta - spent->delta : 0};
    brume_window_sum_print(&rest, text);
    char *space = strchr(text, ' ');
    *space = 0;
    BRUME_TRY(brume_decimal_parse(text, &made.amount, error));
    BRUME_TRY(brume_decimal_parse(space + 1, &made.delta, error));
    *left = made;
    return BRUME_OK;
}

/* ---- runs ---- */

void brume_window_runs_free(brume_window_runs *runs)
{
    free(runs->list);
    *runs = (brume_window_runs){0};
}

static bool make_room(brume_window_runs *runs, size_t count)
{
    if (count <= runs->room)
        return true;
    size_t room = 2 * count + 16;
    brume_window_run *list = realloc(runs->list, room * sizeof *list);
    if (!list)
        return false;
    runs->list = list;
    runs->room = room;
    return true;
}

/* The first run that ends at `window` or after it. */
static size_t find_run(const brume_window_runs *runs, int64_t window)
{
    size_t low = 0, high = runs->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (runs->list[middle].last < window)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The piece of runs and gaps that begins at `at`, cut at `last`; *index is of the first run that
 * does not end before `at`, and goes on with the pieces. */
static brume_window_run next_piece(const brume_window_runs *runs, size_t *index, int64_t at,
                                   int64_t last)
{
    const brume_window_run *run = *index < runs->count ? &runs->list[*index] : NULL;
    brume_window_run piece = {at, last, {0, 0}};
    if (run && run->first <= at) {
        piece.spent = run->spent;
        piece.last = run->last < last ? run->last : last;
        *index += run->last <= last;
    } else if (run && run->first <= last) {
        piece.last = run->first - 1;
    }
    return piece;
}

bool brume_window_runs_fit(const brume_window_runs *runs, const brume_window_set *set,
                           const brume_window_sum *price, const brume_window_sum *limit,
                           brume_window_run *lacking)
{
    for (size_t i = 0; i < set->count; i++) {
        const brume_window_range *range = &set->ranges[i];
        size_t index = find_run(runs, range->first);
        for (int64_t at = range->first;;) {
            brume_window_run piece = next_piece(runs, &index, at, range->last);
            if (!has_room(&piece.spent, price, limit)) {
                *lacking = piece;
                return false;
            }
            if (piece.last == range->last)
                break;
            at = piece.last + 1;
        }
    }
    return true;
}

brume_window_run brume_window_runs_fullest(const brume_window_runs *runs,
                                           const brume_window_set *set)
{
    brume_window_run fullest = {0};
    for (size_t i = 0; i < set->count; i++) {
        const brume_window_range *range = &set->ranges[i];
        for (size_t j = find_run(runs, range->first);
             j < runs->count && runs->list[j].first <= range->last; j++)
            if (runs->list[j].spent.amount > fullest.spent.amount || is_zero(&fullest.spent))
                fullest = runs->list[j];
    }
    return fullest;
}

/* At the end of `to`, joined with the last run there where they are one; an untouched one is none.
 */
static bool append_run(brume_window_runs *to, const brume_window_run *run)
{
    brume_window_run *before = to->count ? &to->list[to->count - 1] : NULL;
    if (is_zero(&run->spent) || run->last < run->first)
        return true;
    if (before && before->last == run->first - 1 && same_sum(&before->spent, &run->spent)) {
        before->last = run->last;
        return true;
    }
    if (!make_room(to, to->count + 1))
        return false;
    to->list[to->count++] = *run;
    return true;
}

/* The runs first..end of `runs` become those of `made`. */
static bool splice(brume_window_runs *runs, size_t first, size_t end, const brume_window_runs *made)
{
    size_t count = runs->count - (end - first) + made->count;
    if (!make_room(runs, count))
        return false;
    if (runs->count > end)
        memmove(&runs->list[first + made->count], &runs->list[end],
                (runs->count - end) * sizeof *runs->list);
    if (made->count)
        memcpy(&runs->list[first], made->list, made->count * sizeof *runs->list);
    runs->count = count;
    return true;
}

/* One range: its runs are cut at both ends, gaps become runs, and equal neighbours one run. */
static bool add_range(brume_window_runs *runs, const brume_window_range *range,
                      const brume_window_sum *price, brume_window_runs *made)
{
    size_t first = find_run(runs, range->first - 1), index = find_run(runs, range->first);
    bool good = true;
    made->count = 0;
    for (size_t i = first; good && i <= index && i < runs->count; i++) { /* what is before it */
        brume_window_run before = runs->list[i];
        before.last = before.last < range->first ? before.last : range->first - 1;
        good = append_run(made, &before);
    }
    for (int64_t at = range->first; good;) {
        brume_window_run piece = next_piece(runs, &index, at, range->last);
        add_sum(&piece.spent, price);
        good = append_run(made, &piece);
        if (piece.last == range->last)
            break;
        at = piece.last + 1;
    }
    if (good && index < runs->count && runs->list[index].first <= range->last + 1) { /* and after */
        brume_window_run after = runs->list[index++];
        after.first = after.first > range->last ? after.first : range->last + 1;
        good = append_run(made, &after);
    }
    return good && splice(runs, first, index, made);
}

brume_status brume_window_runs_add(brume_window_runs *runs, const brume_window_set *set,
                                   const brume_window_sum *price, brume_error *error)
{
    brume_window_runs made = {0};
    bool good = true;
    for (size_t i = 0; good && i < set->count; i++)
        good = add_range(runs, &set->ranges[i], price, &made);
    brume_window_runs_free(&made);
    return good ? BRUME_OK : no_memory(error);
}

brume_status brume_window_set_from_json(const json_t *list, brume_window_set *set,
                                        brume_error *error)
{
    size_t i = 0;
    json_t *pair = NULL;
    json_array_foreach (list, i, pair) {
        const json_t *first = json_array_get(pair, 0), *last = json_array_get(pair, 1);
        int64_t from = json_integer_value(first), to = json_integer_value(last);
        if (!json_is_integer(first) || !json_is_integer(last) || json_array_size(pair) != 2 ||
            to < from || (set->count && from <= set->ranges[set->count - 1].last + 1))
            return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                              "the windows of a charge cannot be read");
        BRUME_TRY(brume_window_set_add(set, from, to, error));
    }
    return json_is_array(list) ? BRUME_OK
                               : brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                                            "the windows of a charge cannot be read");
}

/* ---- pages ---- */

static brume_status damaged(const char *dataset, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                      "the ledger's record of the windows of '%s' does not hold", dataset);
}

/* The runs of a page's lines, at the end of `runs`, in order and each as it would be written. */
static brume_status read_lines(const char *dataset, const char *body, brume_window_runs *runs,
                               brume_error *error)
{
    size_t begin = runs->count;
    while (*body) {
        brume_window_run run;
        char *end = NULL;
        run.first = strtoll(body, &end, 10);
        if (end == body || *end != ' ')
            return damaged(dataset, error);
        body = end + 1;
        run.last = strtoll(body, &end, 10);
        if (end == body || *end != ' ' || run.last < run.first)
            return damaged(dataset, error);
        body = read_units(end + 1, &run.spent.amount);
        if (!body || *body != ' ')
            return damaged(dataset, error);
        body = read_units(body + 1, &run.spent.delta);
        if (!body || *body != '\n')
            return damaged(dataset, error);
        body++;
        if ((runs->count > begin || begin > 0) && runs->list[runs->count - 1].last >= run.first)
            return damaged(dataset, error);
        if (!make_room(runs, runs->count + 1))
            return no_memory(error);
        runs->list[runs->count++] = run;
    }
    return runs->count > begin ? BRUME_OK : damaged(dataset, error);
}

/* The pages that a statement gives (first, hash, body), checked, at the end of `runs`; in `keys`
 * (NULL: not wanted) where each begins. */
static brume_status read_pages(brume_ledger *ledger, const char *dataset,
                               brume_statement *statement, brume_window_runs *runs,
                               brume_window_runs *keys, brume_error *error)
{
    bool row = true;
    for (;;) {
        char hash[BRUME_DIGEST_TEXT];
        BRUME_TRY(brume_store_step(ledger, statement, &row, error));
        if (!row)
            return BRUME_OK;
        const char *body = brume_store_text(statement, 2);
        size_t before = runs->count;
        BRUME_TRY(brume_digest(&body, 1, hash, error));
        if (strcmp(hash, brume_store_text(statement, 1)) != 0)
            return damaged(dataset, error);
        BRUME_TRY(read_lines(dataset, body, runs, error));
        if (runs->list[before].first != brume_store_int(statement, 0))
            return damaged(dataset, error);
        const brume_window_run key = {runs->list[before].first, runs->list[before].first, {0, 0}};
        if (keys && !make_room(keys, keys->count + 1))
            return no_memory(error);
        if (keys)
            keys->list[keys->count++] = key;
    }
}

static brume_status read_undated(brume_ledger *ledger, const char *dataset, brume_window_sum *spent,
                                 brume_error *error)
{
    brume_window_runs runs = {0};
    brume_statement *statement = NULL;
    BRUME_TRY(brume_store_prepare(ledger, &statement, error,
                                  "SELECT first, hash, body FROM window_page WHERE dataset = ?1 "
                                  "AND first = ?2",
                                  "ti", dataset, BRUME_UNDATED));
    brume_status status = read_pages(ledger, dataset, statement, &runs, NULL, error);
    if (status == BRUME_OK)
        *spent = runs.count ? runs.list[0].spent : (brume_window_sum){0, 0};
    brume_store_finish(statement);
    brume_window_runs_free(&runs);
    return status;
}

/* Every page with a run that touches first..last or ends or begins next to it: from the last one
 * that begins at `first` or before. */
static brume_status read_between(brume_ledger *ledger, const char *dataset, int64_t first,
                                 int64_t last, brume_window_runs *runs, brume_window_runs *keys,
                                 brume_error *error)
{
    brume_statement *statement = NULL;
    if (ledger->schema < 5) /* no windows yet */
        return BRUME_OK;
    BRUME_TRY(brume_store_prepare(
        ledger, &statement, error,
        "SELECT first, hash, body FROM window_page WHERE dataset = ?1 AND first > ?4 AND first <= "
        "?3 AND first >= coalesce((SELECT max(first) FROM window_page WHERE dataset = ?1 AND first "
        "> ?4 AND first <= ?2), ?2) ORDER BY first",
        "tiii", dataset, first, last == INT64_MAX ? last : last + 1, BRUME_UNDATED));
    brume_status status = read_pages(ledger, dataset, statement, runs, keys, error);
    brume_store_finish(statement);
    return status;
}

brume_status brume_window_pages_between(brume_ledger *ledger, const char *dataset, int64_t first,
                                        int64_t last, brume_window_runs *runs, brume_error *error)
{
    *runs = (brume_window_runs){0};
    brume_status status = read_between(ledger, dataset, first, last, runs, NULL, error);
    if (status != BRUME_OK)
        brume_window_runs_free(runs);
    return status;
}

brume_status brume_window_pages_read(brume_ledger *ledger, const char *dataset,
                                     brume_window_runs *runs, brume_window_sum *undated,
                                     brume_error *error)
{
    *undated = (brume_window_sum){0, 0};
    *runs = (brume_window_runs){0};
    if (ledger->schema < 5)
        return BRUME_OK;
    BRUME_TRY(read_undated(ledger, dataset, undated, error));
    return brume_window_pages_between(ledger, dataset, INT64_MIN + 1, INT64_MAX, runs, error);
}

static const char delete_page[] = "DELETE FROM window_page WHERE dataset = ?1 AND first = ?2";

/* One page. */
static brume_status write_page(brume_ledger *ledger, const char *dataset,
                               const brume_window_run *runs, size_t count, brume_error *error)
{
    enum { LINE = BRUME_WINDOW_SUM_TEXT + 48 };
    char hash[BRUME_DIGEST_TEXT], *body = malloc(count * LINE + 1), *end = body;
    if (!body)
        return no_memory(error);
    for (size_t i = 0; i < count; i++) {
        end += sprintf(end, "%lld %lld ", (long long)runs[i].first, (long long)runs[i].last);
        end = print_units(runs[i].spent.amount, end);
        *end++ = ' ';
        end = print_units(runs[i].spent.delta, end);
        *end++ = '\n';
    }
    *end = 0;
    const char *parts[] = {body};
    brume_status status = brume_digest(parts, 1, hash, error);
    if (status == BRUME_OK)
        status = brume_store_execute(
            ledger, error,
            "INSERT INTO window_page(dataset, first, hash, body) VALUES(?1,?2,?3,?4) ON "
            "CONFLICT(dataset, first) DO UPDATE SET hash=?3, body=?4 WHERE window_page.hash <> ?3",
            "titt", dataset, runs->first, hash, body);
    free(body);
    return status;
}

static bool is_key(const brume_window_runs *keys, int64_t first)
{
    size_t at = find_run(keys, first);
    return at < keys->count && keys->list[at].first == first;
}

/* Where the page ends that begins with run `begin`: where an old one began, so that one whose runs
 * did not change stays as it is, unless the page would be short; and at MOST_RUNS. */
static size_t page_end(const brume_window_runs *runs, const brume_window_runs *keys, size_t begin)
{
    size_t end = begin + 1;
    while (end < runs->count && end - begin < MOST_RUNS &&
           (end - begin < MOST_RUNS / 4 || !is_key(keys, runs->list[end].first)))
        end++;
    return end;
}

/* Runs that were read from the pages of `keys` go back. */
static brume_status write_pages(brume_ledger *ledger, const char *dataset,
                                const brume_window_runs *runs, const brume_window_runs *keys,
                                brume_error *error)
{
    size_t kept = 0;
    for (size_t begin = 0, end; begin < runs->count; begin = end) {
        end = page_end(runs, keys, begin);
        for (; kept < keys->count && keys->list[kept].first <= runs->list[begin].first; kept++)
            if (keys->list[kept].first != runs->list[begin].first)
                BRUME_TRY(brume_store_execute(ledger, error, delete_page, "ti", dataset,
                                              keys->list[kept].first));
        BRUME_TRY(write_page(ledger, dataset, &runs->list[begin], end - begin, error));
    }
    for (; kept < keys->count; kept++)
        BRUME_TRY(
            brume_store_execute(ledger, error, delete_page, "ti", dataset, keys->list[kept].first));
    return BRUME_OK;
}

static brume_status charge_undated(brume_ledger *ledger, const char *dataset,
                                   const brume_window_sum *spent, const brume_window_sum *price,
                                   brume_error *error)
{
    brume_window_run run = {BRUME_UNDATED, BRUME_UNDATED, *spent};
    add_sum(&run.spent, price);
    return is_zero(&run.spent) ? BRUME_OK : write_page(ledger, dataset, &run, 1, error);
}

brume_status brume_window_pages_charge(brume_ledger *ledger, const char *dataset,
                                       const brume_window_set *set, const brume_window_sum *price,
                                       const brume_window_sum limits[2], brume_window_run *lacking,
                                       brume_window_sum *fullest, brume_error *error)
{
    brume_window_runs runs = {0}, keys = {0};
    brume_window_sum undated = {0, 0};
    brume_status status = BRUME_OK;
    if (set->count)
        status = read_between(ledger, dataset, set->ranges[0].first,
                              set->ranges[set->count - 1].last, &runs, &keys, error);
    if (status == BRUME_OK && set->undated)
        status = read_undated(ledger, dataset, &undated, error);
    /* both are checked before either is written */
    if (status == BRUME_OK && set->undated && !has_room(&undated, price, &limits[1])) {
        *lacking = (brume_window_run){BRUME_UNDATED, BRUME_UNDATED, undated};
        status = BRUME_EBUDGET;
    }
    if (status == BRUME_OK && !brume_window_runs_fit(&runs, set, price, &limits[0], lacking))
        status = BRUME_EBUDGET;
    if (status == BRUME_OK)
        status = brume_window_runs_add(&runs, set, price, error);
    if (status == BRUME_OK)
        *fullest = brume_window_runs_fullest(&runs, set).spent;
    if (status == BRUME_OK)
        status = write_pages(ledger, dataset, &runs, &keys, error);
    if (status == BRUME_OK && set->undated)
        status = charge_undated(ledger, dataset, &undated, price, error);
    brume_window_runs_free(&runs);
    brume_window_runs_free(&keys);
    return status;
}
