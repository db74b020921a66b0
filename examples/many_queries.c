/* Thousands of counts at one price: four ways to answer all 2-way marginals of a small survey.
 *
 * What each costs is an event, known before; so is a bound on its error. */
#include <math.h>
#include <stdio.h>

#include <brume/brume.h>

#include "must.h"

enum { COLUMNS = 5, CELLS = 32, QUERIES = 40, PEOPLE = 20000 };

/* The worst answer of all queries, in people. */
static double worst(const double *answers, const double *truth)
{
    double most = 0;
    for (int i = 0; i < QUERIES; i++)
        most = fmax(most, fabs(answers[i] - truth[i]));
    return most;
}

int main(void)
{
    /* Five yes-or-no columns: 32 cells. A database is how many people are in each. */
    const uint32_t sizes[COLUMNS] = {2, 2, 2, 2, 2};
    brume_error error;
    brume_universe universe;
    brume_workload *workload = NULL;
    brume_bits *bits = NULL;
    double counts[CELLS] = {0}, truth[QUERIES], answers[QUERIES], histogram[CELLS], bound;
    must(brume_universe_make(sizes, COLUMNS, &universe, &error), &error);
    for (uint32_t i = 0; i < PEOPLE; i++) {
        uint32_t record[COLUMNS] = {i % 2, i % 3 == 0, i % 5 < 2, i % 7 == 0, i % 4 == 1};
        uint64_t cell;
        must(brume_universe_cell(&universe, record, &cell, &error), &error);
        counts[cell]++;
    }

    /* Every pair of columns, every combination of their values: 10 tables of 4 counts. */
    must(brume_workload_open(&universe, &workload, &error), &error);
    must(brume_workload_add_marginals(workload, 2, &error), &error);
    must(brume_workload_answer(workload, counts, truth, &error), &error);
    must(brume_bits_open(&bits, &error), &error);
    printf("%zu queries about %d people, epsilon 1, the number of people is public\n\n",
           brume_workload_size(workload), PEOPLE);

    /* Noise on each answer, or on each cell; the event is what an account would record. */
    for (int way = BRUME_DIRECT_QUERIES; way <= BRUME_DIRECT_HISTOGRAM; way++) {
        brume_direct_options options = {(brume_direct_way)way, BRUME_REPLACE, 1, 0};
        brume_event event;
        char text[200];
        must(brume_direct_event(workload, &options, &event, &error), &error);
        must(brume_event_write(&event, text, sizeof text, &error), &error);
        must(brume_direct_alpha(workload, &options, 0.05, &bound, &error), &error);
        must(brume_direct_release(workload, &options, counts, bits, answers, histogram, &error),
             &error);
        printf("%-22s off by %5.0f, at most %5.0f at 95 %%   %s\n",
               way == BRUME_DIRECT_QUERIES ? "noise on answers" : "noise on cells",
               worst(answers, truth), bound, text);
    }

    /* MWEM: a synthetic histogram that answers all of them, and any other question for free. */
    brume_mwem_options mwem = {
        .adjacency = BRUME_REPLACE, .epsilon = 1, .rounds = 40, .records = PEOPLE};
    must(brume_mwem_alpha(workload, &mwem, 0.05, &bound, &error), &error);
    must(brume_mwem(workload, &mwem, counts, bits, histogram, &error), &error);
    must(brume_workload_answer(workload, histogram, answers, &error), &error);
    printf("%-22s off by %5.0f, at most %5.0f at 95 %%\n", "MWEM", worst(answers, truth), bound);

    /* Private multiplicative weights: one question after the other; most answers are free. */
    brume_multiplicative_weights_options options = {
        .adjacency = BRUME_REPLACE, .epsilon = 1, .alpha = 0.15, .records = PEOPLE};
    brume_multiplicative_weights *stream = NULL;
    int free_answers = 0;
    must(brume_multiplicative_weights_open(workload, &options, counts, bits, &stream, &error),
         &error);
    for (size_t i = 0; i < QUERIES; i++) {
        bool was_free;
        must(brume_multiplicative_weights_ask(stream, bits, i, &answers[i], &was_free, &error),
             &error);
        free_answers += was_free;
    }
    must(brume_multiplicative_weights_alpha(stream, QUERIES, 0.05, &bound, &error), &error);
    printf("%-22s off by %5.0f, at most %5.0f at 95 %%   %d of %d answers were free\n",
           "multiplicative weights", worst(answers, truth), bound, free_answers, QUERIES);

    brume_multiplicative_weights_close(stream);
    brume_workload_close(workload);
    brume_bits_close(bits);
    return 0;
}
