/* One attack: counts, a curator that answers them, an adversary that guesses. Promises: the
 * adversary's part sees the subsets and the answers, never the secret. */
#include "audit/reconstruct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/exhaustive.h"
#include "audit/least_squares.h"
#include "base/error.h"

/* Share of a person in the gap of least squares: with m = 4n, about 0.03 in norm. */
static const double TOLERANCE = 1e-4;

struct brume_attack {
    brume_adversary adversary;
    size_t people, queries;
    uint64_t number;
    brume_subsets subsets; /* polynomial */
    uint8_t *secret, *respondents, *decoy;
    double *indicator, *counts, *answers, *decoys;
};

void brume_attack_close(brume_attack *attack)
{
    if (!attack)
        return;
    brume_subsets_close(&attack->subsets);
    if (attack->secret)
        explicit_bzero(attack->secret, attack->people);
    free(attack->secret);
    free(attack->respondents);
    free(attack->decoy);
    free(attack->indicator);
    free(attack->counts);
    free(attack->answers);
    free(attack->decoys);
    free(attack);
}

size_t brume_attack_queries(const brume_attack *attack)
{
    return attack->queries;
}

size_t brume_attack_moved(const brume_attack *attack)
{
    if (attack->adversary == BRUME_ADVERSARY_EXPONENTIAL)
        return attack->queries / 2; /* half of all subsets hold a person */
    return brume_subsets_moved(&attack->subsets);
}

/* Ones over all subsets, or over the random ones. */
static void count_ones(const brume_attack *attack, const uint8_t *bits, double *counts)
{
    if (attack->adversary == BRUME_ADVERSARY_EXPONENTIAL) {
        uint32_t mask = 0;
        for (size_t i = 0; i < attack->people; i++)
            mask |= (uint32_t)bits[i] << i;
        for (size_t subset = 0; subset < attack->queries; subset++)
            counts[subset] = (double)__builtin_popcount((uint32_t)subset & mask);
        return;
    }
    for (size_t i = 0; i < attack->people; i++)
        attack->indicator[i] = bits[i];
    brume_subsets_sum(&attack->subsets, attack->indicator, counts);
}

static brume_status make(brume_attack *attack, const uint8_t *secret, brume_error *error)
{
    size_t people = attack->people;
    if (attack->adversary == BRUME_ADVERSARY_EXPONENTIAL) {
        BRUME_TRY(brume_exhaustive_check(people, error));
        attack->queries = (size_t)1 << people;
    } else {
        BRUME_TRY(
            brume_subsets_open(people, attack->queries, attack->number, &attack->subsets, error));
    }
    attack->secret = malloc(people);
    attack->respondents = malloc(people);
    attack->decoy = malloc(people);
    attack->indicator = malloc(people * sizeof *attack->indicator);
    attack->counts = malloc(attack->queries * sizeof *attack->counts);
    attack->answers = malloc(attack->queries * sizeof *attack->answers);
    if (!attack->secret || !attack->respondents || !attack->decoy || !attack->indicator ||
        !attack->counts || !attack->answers)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu queries about %zu people",
                          attack->queries, people);
    for (size_t i = 0; i < people; i++)
        if (secret[i] > 1)
            return brume_fail(error, BRUME_EARGUMENT, NULL, "secret %zu is neither 0 nor 1", i + 1);
    memcpy(attack->secret, secret, people);
    count_ones(attack, secret, attack->counts);
    return BRUME_OK;
}

brume_status brume_attack_open(brume_adversary adversary, const uint8_t *secret, size_t people,
                               size_t queries, uint64_t number, brume_attack **out,
                               brume_error *error)
{
    brume_attack *attack = calloc(1, sizeof *attack);
    if (!attack)
        return brume_fail(error, BRUME_EMEMORY, NULL, "out of memory");
    attack->adversary = adversary;
    attack->people = people;
    attack->queries = queries;
    attack->number = number;
    brume_status status = make(attack, secret, error);
    if (status != BRUME_OK) {
        brume_attack_close(attack);
        return status;
    }
    *out = attack;
    return BRUME_OK;
}

/* The liar's other database. Against all subsets: as many ones and zeros exchanged as the bound can
 * hide. Against random ones: a quarter of the people each way, as far from the secret as chance is.
 */
static brume_status make_decoy(brume_attack *attack, double bound, brume_error *error)
{
    if (!attack->decoys)
        attack->decoys = malloc(attack->queries * sizeof *attack->decoys);
    if (!attack->decoys)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for %zu answers", attack->queries);
    double each = attack->adversary == BRUME_ADVERSARY_EXPONENTIAL ? floor(2 * bound)
                                                                   : (double)(attack->people / 4);
    double left[2] = {each, each};
    memcpy(attack->decoy, attack->secret, attack->people);
    uint64_t state = attack->number;
    size_t start = (size_t)(brume_public_word(&state) % attack->people);
    for (size_t i = 0; i < attack->people; i++) {
        size_t person = (start + i) % attack->people;
        if (left[attack->secret[person]]-- > 0)
            attack->decoy[person] ^= 1;
    }
    count_ones(attack, attack->decoy, attack->decoys);
    return BRUME_OK;
}

static brume_status guess_exhaustively(brume_attack *attack, double bound, brume_recovery *out,
                                       brume_error *error)
{
    unsigned people = (unsigned)attack->people;
    BRUME_TRY(brume_exhaustive(attack->answers, people, error));
    uint32_t guess = brume_exhaustive_guess(attack->answers, people), truth = 0;
    for (unsigned i = 0; i < people; i++)
        truth |= (uint32_t)attack->secret[i] << i;
    out->recovered = people - (size_t)__builtin_popcount(guess ^ truth);
    out->residual = attack->answers[guess];
    if (isfinite(bound)) {
        brume_survivors survivors =
            brume_exhaustive_survivors(attack->answers, people, bound, truth);
        out->survivors = survivors.count;
        out->farthest = survivors.farthest;
    }
    return BRUME_OK;
}

static brume_status guess_by_squares(brume_attack *attack, brume_recovery *out, brume_error *error)
{
    brume_least_squares solved;
    BRUME_TRY(brume_least_squares_solve(&attack->subsets, attack->answers,
                                        TOLERANCE * (double)attack->people, attack->indicator,
                                        &solved, error));
    for (size_t i = 0; i < attack->people; i++)
        out->recovered += (attack->indicator[i] > .5) == attack->secret[i];
    out->gap = solved.gap;
    return BRUME_OK;
}

brume_status brume_attack_run(brume_attack *attack, const brume_curator *curator, brume_bits *bits,
                              brume_recovery *out, brume_error *error)
{
    brume_recovery recovery = {0};
    if (curator->kind == BRUME_CURATOR_DECOY)
        BRUME_TRY(make_decoy(attack, curator->bound, error));
    BRUME_TRY(brume_curator_respond(curator, bits, attack->secret, attack->respondents,
                                    attack->people, error));
    count_ones(attack, attack->respondents, attack->answers);
    BRUME_TRY(brume_curator_answer(curator, attack->decoys, bits, attack->answers, attack->queries,
                                   error));
    double squares = 0;
    for (size_t i = 0; i < attack->queries; i++) {
        double off = attack->answers[i] - attack->counts[i];
        squares += off * off;
    }
    recovery.square_error = sqrt(squares / (double)attack->queries);
    if (attack->adversary == BRUME_ADVERSARY_EXPONENTIAL)
        BRUME_TRY(
            guess_exhaustively(attack, brume_curator_largest_error(curator), &recovery, error));
    else
        BRUME_TRY(guess_by_squares(attack, &recovery, error));
    *out = recovery;
    return BRUME_OK;
}
