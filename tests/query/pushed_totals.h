/* Totals where the rows lie, for tests of each engine: random tables, queries about them, limits,
 * comparison of what was collected, and the checks that every engine must pass. What differs
 * between engines is in a pushed_engine. */
#ifndef BRUME_TESTS_QUERY_PUSHED_TOTALS_H
#define BRUME_TESTS_QUERY_PUSHED_TOTALS_H

#include "asked.h"

enum { PUSHED_SUMS = 16, PUSHED_UNITS = 8, PUSHED_QUESTIONS = 10, PUSHED_MUTANTS = 7 };

/* A statement of sums that is wrong: the right one, under this norm and limit, with one or two of
 * its texts replaced. */
typedef struct pushed_mutant {
    int p;
    uint64_t limit;
    struct {
        const char *from, *to; /* NULL: none */
    } replace[2];
} pushed_mutant;

typedef struct pushed_engine {
    /* Change the table t (u, name, k, l, x, y, big) by SQL, and let the engine see the change. */
    void (*execute)(const char *sql);
    void (*publish)(void); /* NULL: it sees all at once */
    asked (*open)(const char *sql, bool by_name);
    size_t questions, units; /* whose neighbours are tried: fewer where it takes long */
    /* All that a statement of this dialect, which calls the table so, answers as one text. */
    char *(*answer)(const char *sql);
    brume_dialect dialect;
    const char *table;
    int shift; /* of the sum in mutants, where they differ */
    pushed_mutant mutants[PUSHED_MUTANTS];
} pushed_engine;

/* The engine that the following is about. */
extern const pushed_engine *pushed_here;

/* ---- tables and queries ---- */

/* A number below `end`, from a fixed seed. */
uint64_t pushed_below(uint64_t end);

/* Random rows in place of those of the table. A few units have most of them; values are small, with
 * many ties, or huge. Declared values of k are a, b and it's \. */
void pushed_fill(size_t rows);

/* A query on the table of the source, planned: units are those of u, or of name. */
asked pushed_open(const brume_source *table, const char *sql, bool by_name);

/* Queries about all that is pushed down, and whether the units of each are those of name. */
extern const char *const pushed_questions[PUSHED_QUESTIONS];
bool pushed_by_name(size_t question);

/* ---- limits, and sums under them ---- */

/* Limits for all that the plan limits, and its sums under them. */
typedef struct pushed_limits {
    brume_total_limit limits[PUSHED_SUMS];
    brume_limited_sum sums[PUSHED_SUMS];
    size_t limit_count, sum_count;
    int p;
} pushed_limits;

/* How far a row moves a measure of limit 1, on the grid of its sum. */
double pushed_reach(const brume_measure *measure);

pushed_limits pushed_choose(const brume_plan *plan, int p, double noise);

const brume_bounded_group *pushed_sum_up(brume_collected *collected, const pushed_limits *how,
                                         size_t *count);

/* The same groups with the same numbers: fails where they are not. And histograms, of one or more
 * bins for all that is limited. */
void pushed_compare_sums(brume_collected *here, brume_collected *there, const pushed_limits *how,
                         size_t key_count, const char *sql);
void pushed_compare_histograms(const brume_plan *plan, brume_collected *here,
                               brume_collected *there);

/* ---- checks, as tests of cmocka ---- */

void pushed_wrong_statements_give_other_integers(void **state);
void pushed_one_unit_moves_no_more_than_its_limit(void **state);

#endif
