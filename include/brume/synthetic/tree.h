/* Synthetic rows of wide tables: noisy tables of few columns, chosen by noisy scores, and a model
 * that is fitted to them.
 *
 * 1. First every column is counted alone. Then a few rounds: all candidates (pairs of columns; at
 *    last triples, where the workload has some and noise is fine) are scored by how badly the
 *    model's rows answer them, with noise; many are chosen at once, each at the resolution that its
 *    noise can bear, and measured; the model is fitted again. Universes may have 10^16 cells and
 *    more: the model is a junction tree with a limit of cells.
 * 2. The price is one Gaussian mechanism: gaussian(sigma=), sensitivity 1. Every draw takes its
 *    mu^2 = (L2 sensitivity/noise)^2 from 1/sigma^2, rounded up; a draw that would exceed what is
 *    left is not made. Or a pure epsilon, with Laplace noise and choices by permute-and-flip, at
 *    more error. Proof: proofs/tree.md.
 * 3. A unit has at most rows_per_unit rows: the caller sees to it. Under BRUME_REPLACE the number
 *    of rows is public.
 * 4. A share of the price measures the error of the rows that are written, for every table of the
 *    workload: with probability >= 1 - beta all bars hold at once, for any data.
 * 5. The result is a function of noisy numbers. The measurements are paid: brume_tree_redraw makes
 *    more rows of them for nothing.
 * 6. Columns of more than BRUME_TREE_MODEL_VALUES values are in the model with as many bins of
 *    about equal noisy count (labels: the most frequent by name, and one for the rest); rows get a
 *    value within its bin by the noisy counts. */
#ifndef BRUME_TREE_H
#define BRUME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <brume/adjacency.h>
#include <brume/bits.h>
#include <brume/mechanism/event.h>
#include <brume/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BRUME_TREE_COLUMNS = 128,
    BRUME_TREE_VALUES = 65535,
    BRUME_TREE_MODEL_VALUES = 128,
    BRUME_TREE_WIDEST = 4, /* columns of a table */
    BRUME_TREE_LEVELS = 16,
    BRUME_TREE_ROUNDS = 64,
};

typedef struct brume_tree_column {
    uint32_t values; /* 1 .. BRUME_TREE_VALUES */
    bool ordered;    /* bins are of neighbours */
} brume_tree_column;

/* A table of the workload. */
typedef struct brume_tree_table {
    size_t columns;
    uint16_t column[BRUME_TREE_WIDEST]; /* ascending */
    double weight;                      /* > 0 */
} brume_tree_table;

/* A structural zero: never[cell] != 0 for the cells, row-major over the values of at most three
 * columns, that no row may be in. For columns that are in the model with all their values. */
typedef struct brume_tree_zero {
    size_t columns;
    uint16_t column[BRUME_TREE_WIDEST];
    const uint8_t *never;
} brume_tree_zero;

/* False stops with BRUME_ECANCELLED; the price is due all the same. Rounds from 0. */
typedef bool brume_tree_progress(void *context, uint64_t round, uint64_t rounds);

typedef struct brume_tree_options {
    brume_adjacency adjacency;     /* BRUME_ADD_REMOVE or BRUME_REPLACE; no default */
    double sigma;                  /* the price is that of gaussian(sigma=); or 0 and */
    double epsilon;                /* pure */
    uint64_t rows_per_unit;        /* >= 1 */
    uint64_t rows;                 /* to write, >= 1 */
    uint64_t rounds;               /* 0: 6 where noise is fine, else 4; pure: always 2 */
    uint64_t model_cells;          /* 0: 2^20 where noise is fine, else 2^18 */
    double error_share;            /* of the price, for bars: 0 to 0.5 */
    double beta;                   /* all bars hold with probability >= 1 - beta */
    brume_tree_progress *progress; /* or NULL */
    void *progress_context;
} brume_tree_options;

/* What is asked, all of it public. The arrays are the caller's. */
typedef struct brume_tree_question {
    size_t columns;
    const brume_tree_column *column;
    size_t tables;
    const brume_tree_table *table;
    size_t zeros;
    const brume_tree_zero *zero;
    brume_tree_options options;
} brume_tree_question;

/* What is known before a row is read; noise in records. */
typedef struct brume_tree_plan {
    brume_event event;
    double mu;          /* 1/sigma; 0: pure */
    double one_noise;   /* standard deviation on each count of one column */
    double round_noise; /* on each count of 1.2 tables a column, of equal size, in one round */
    double score_noise; /* on each score of a round; NaN where scores are not released */
    double bar_noise;   /* on the measured error of each table of the workload; NaN: none */
    double bar;         /* what a bar adds to the measured error */
    double mean_noise;  /* on the mean error of the workload; NaN: none */
    size_t scored;      /* tables that are scored in the first round */
    double model_cells; /* the largest limit that the run may take */
    double bytes;       /* at most, for so many records; the data included */
} brume_tree_plan;

/* A measurement: noisy counts of a table over the levels of its columns. */
typedef struct brume_tree_measured {
    size_t columns;
    uint16_t column[BRUME_TREE_WIDEST];
    uint8_t level[BRUME_TREE_WIDEST]; /* 0: all values that the model has */
    uint32_t bins[BRUME_TREE_WIDEST];
    uint64_t round; /* 0: the columns alone */
    double sigma;   /* standard deviation of the noise */
    double score;   /* the noisy error that it was chosen by, less what data scatter; NaN: none */
    size_t cells;
    int64_t *noisy;
} brume_tree_measured;

/* The error of a table: the L1 distance, in records, between its counts and those of the rows that
 * are written, scaled to `records`. */
typedef struct brume_tree_bar {
    double measured; /* with noise; may be below 0 */
    double most;     /* the bar: the error is at most this. NaN where none was bought */
    double cells;
} brume_tree_bar;

typedef struct brume_tree_result {
    uint64_t rows;
    size_t columns;
    uint16_t *column[BRUME_TREE_COLUMNS]; /* rows values each */
    double records;                       /* noisy, or public under replace */
    size_t measured_count;
    brume_tree_measured *measured;
    brume_tree_bar *bars; /* one per table of the workload */
    double mean;          /* of their errors, measured; NaN: none */
    double mean_off;      /* with probability >= 1 - beta the true mean is within this of it */
    uint64_t rounds, chosen;
    double model_cells;         /* of the model that was made */
    uint64_t passed_over;       /* tables that the limit of cells kept out, over all rounds */
    size_t best_passed_columns; /* the best of them; 0: none */
    uint16_t best_passed[BRUME_TREE_WIDEST];
    bool converged;
} brume_tree_result;

/* Check the question, and say what it costs and what it promises. `records`: how many the bound on
 * memory is for.
 * Errors: BRUME_EARGUMENT; BRUME_EUNSUPPORTED for too many columns or values; BRUME_EOVERFLOW for a
 * limit of cells below the largest column, or above 2^28. */
BRUME_API BRUME_MUST_USE brume_status brume_tree_plan_make(const brume_tree_question *question,
                                                           double records, brume_tree_plan *plan,
                                                           brume_error *error);

/* Run on n rows: data[c][i] < values of column c. Errors: those of the plan; BRUME_EARGUMENT for a
 * value outside its column, and no rows under BRUME_REPLACE; BRUME_ERANDOM, BRUME_EMEMORY,
 * BRUME_ECANCELLED. *result is to be cleared after a success only. */
BRUME_API BRUME_MUST_USE brume_status brume_tree_run(const brume_tree_question *question,
                                                     const uint16_t *const *data, uint64_t n,
                                                     brume_bits *bits, brume_tree_result *result,
                                                     brume_error *error);

/* More rows from what was measured: post-processing. Of `from` the records and the measurements are
 * used; of the question all but the price. */
BRUME_API BRUME_MUST_USE brume_status brume_tree_redraw(const brume_tree_question *question,
                                                        const brume_tree_result *from,
                                                        brume_bits *bits, brume_tree_result *result,
                                                        brume_error *error);

BRUME_API void brume_tree_result_clear(brume_tree_result *result);

#ifdef __cplusplus
}
#endif

#endif
