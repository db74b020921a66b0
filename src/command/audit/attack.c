/* The target of `brume attack reconstruct`, and runs against it.
 *
 * Promises: generated secrets and the subsets are the same in every call. A row of a file that is
 * no bit is named by its number; its value is not told. */
#include "command/audit/attack.h"

#include <stdlib.h>
#include <string.h>

#include "audit/subsets.h"
#include "reader/csv_rows.h"

enum { STANDARD_PEOPLE = 128, STANDARD_SMALL = 12 };

/* ------------------------------------------------------------------------------ runs */

brume_status brume_assault_run(const brume_assault *assault, const brume_curator *curator,
                               brume_outcome *out, brume_error *error)
{
    brume_outcome total = {.least_recovered = SIZE_MAX};
    uint8_t *secret = malloc(assault->people);
    if (!secret)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu people", assault->people);
    brume_status status = BRUME_OK;
    for (uint64_t run = 0; status == BRUME_OK && run < assault->runs; run++) {
        uint64_t state = UINT64_C(0x6272756d65) + (run << 32); /* fixed: "brume" */
        for (size_t i = 0; i < assault->people; i++)
            secret[i] = assault->secret ? assault->secret[i]
                                        : (uint8_t)(brume_public_word(&state) >> 63);
        brume_attack *attack = NULL;
        brume_recovery recovery = {0};
        status = brume_attack_open(assault->adversary, secret, assault->people, assault->queries, 1,
                                   &attack, error);
        if (status == BRUME_OK)
            status = brume_attack_run(attack, curator, assault->bits, &recovery, error);
        brume_attack_close(attack);
        total.recovered += (double)recovery.recovered;
        total.square_error += recovery.square_error;
        total.survivors += (double)recovery.survivors;
        if (recovery.recovered < total.least_recovered)
            total.least_recovered = recovery.recovered;
        if (recovery.recovered > total.most_recovered)
            total.most_recovered = recovery.recovered;
        if (recovery.farthest > total.farthest)
            total.farthest = recovery.farthest;
        total.gap = fmax(total.gap, recovery.gap);
    }
    explicit_bzero(secret, assault->people);
    free(secret);
    if (status != BRUME_OK)
        return status;
    total.recovered /= (double)assault->runs;
    total.square_error /= (double)assault->runs;
    total.survivors /= (double)assault->runs;
    *out = total;
    return BRUME_OK;
}

/* ---------------------------------------------------------------------------- secrets */

/* Zeros and ones of the column; the rows are people. */
static brume_status read_rows(brume_csv *csv, size_t column, brume_assault *assault,
                              brume_error *error)
{
    size_t room = 0;
    for (;;) {
        bool more;
        double number;
        BRUME_TRY(brume_csv_next(csv, &more, error));
        if (!more)
            return BRUME_OK;
        if (!brume_csv_number(csv, column, &number) || (number != 0 && number != 1))
            return brume_fail(error, BRUME_EARGUMENT, "secrets are written as 0 and 1",
                              "row %zu of the column is neither 0 nor 1", assault->people + 1);
        if (assault->people == BRUME_ASSAULT_PEOPLE)
            return brume_fail(error, BRUME_EOVERFLOW, NULL, "the file has more than 2^20 rows");
        if (assault->people == room) {
            room = room ? 2 * room : 1024;
            uint8_t *secret = realloc(assault->secret, room);
            if (!secret)
                return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu people", room);
            assault->secret = secret;
        }
        assault->secret[assault->people++] = (uint8_t)number;
    }
}

static brume_status read_file(const brume_call *call, brume_assault *assault, brume_error *error)
{
    const char *name = brume_call_text(call, "column");
    if (!name)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--input' needs '--column'");
    if (brume_call_has(call, "people"))
        return brume_fail(error, BRUME_EARGUMENT, "leave out one of them",
                          "'--people' and '--input' are given, the rows of a file are its people");
    brume_csv *csv = NULL;
    size_t column;
    BRUME_TRY(brume_csv_open(brume_call_text(call, "input"), NULL, &csv, error));
    brume_status status = brume_csv_find(csv, name, &column, error);
    if (status == BRUME_OK)
        status = read_rows(csv, column, assault, error);
    brume_csv_close(csv);
    if (status != BRUME_OK)
        return status;
    if (assault->people == 0)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "the file has no rows");
    size_t ones = 0;
    for (size_t i = 0; i < assault->people; i++)
        ones += assault->secret[i];
    double share = (double)ones / (double)assault->people;
    assault->likelier = fmax(share, 1 - share);
    return BRUME_OK;
}

brume_status brume_assault_read(const brume_call *call, brume_assault *assault, brume_error *error)
{
    const char *adversary = brume_call_text(call, "adversary");
    bool exponential = adversary && strcmp(adversary, "exponential") == 0;
    assault->adversary = exponential ? BRUME_ADVERSARY_EXPONENTIAL : BRUME_ADVERSARY_POLYNOMIAL;
    assault->delta = brume_call_real(call, "delta", 0);
    assault->likelier = .5;
    if (exponential && brume_call_has(call, "queries"))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "'--queries' is given, but the exponential adversary asks all subsets");
    if (brume_call_has(call, "input"))
        BRUME_TRY(read_file(call, assault, error));
    else if (brume_call_has(call, "column"))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--column' needs '--input'");
    else
        assault->people =
            brume_call_count(call, "people", exponential ? STANDARD_SMALL : STANDARD_PEOPLE);
    assault->queries = exponential ? 0 : brume_call_count(call, "queries", 4 * assault->people);
    /* Refuses what is too large, and knows how many answers a bit moves. */
    uint8_t *nobody = calloc(assault->people, 1);
    if (!nobody)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu people", assault->people);
    brume_attack *attack = NULL;
    brume_status status = brume_attack_open(assault->adversary, nobody, assault->people,
                                            assault->queries, 1, &attack, error);
    free(nobody);
    if (status != BRUME_OK)
        return status;
    assault->moved = brume_attack_moved(attack);
    assault->queries = brume_attack_queries(attack);
    brume_attack_close(attack);
    /* Fewer runs where each is long: queries times people says how long. */
    double runs = fmin(20, 0x1p25 / ((double)assault->queries * (double)assault->people));
    assault->runs = brume_call_count(call, "runs", runs > 1 ? (uint64_t)runs : 1);
    return BRUME_OK;
}
