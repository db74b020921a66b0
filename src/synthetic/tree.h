/* Where the mechanism of brume/synthetic/tree.h meets data: for its tests. */
#ifndef BRUME_SYNTHETIC_TREE_H
#define BRUME_SYNTHETIC_TREE_H

#include <brume/synthetic/tree.h>

/* One draw: numbers that depend on rows go in, what is released comes out. There are no others. */
typedef struct brume_tree_draw {
    bool is_score;      /* scores, in steps of 1/16 record; else counts */
    bool is_laplace;    /* else Gaussian, of standard deviation `scale` */
    double scale;       /* in the same steps */
    double sensitivity; /* of all numbers together, in steps: the L2 norm squared; L1 for Laplace */
    double cost_upper;  /* in mu^2, or epsilon */
} brume_tree_draw;

/* Who draws. The library's own (add is NULL) adds exact noise and chooses by permute-and-flip; a
 * test looks at the true numbers instead, and answers as it likes. */
typedef struct brume_tree_source {
    uint64_t model_rows; /* that stand for the model between rounds; 0: as many as it takes */
    void *context;
    brume_status (*add)(void *context, const brume_tree_draw *draw, int64_t *values, size_t n,
                        brume_error *error);
    /* Choose one of n by scores of that sensitivity, at that epsilon. */
    brume_status (*choose)(void *context, double epsilon, double sensitivity, const double *scores,
                           size_t n, size_t *index, brume_error *error);
} brume_tree_source;

/* The library's own: its context is a brume_tree_own. */
typedef struct brume_tree_own {
    brume_bits *bits;
    brume_adjacency adjacency;
} brume_tree_own;

BRUME_MUST_USE brume_status brume_tree_own_add(void *context, const brume_tree_draw *draw,
                                               int64_t *values, size_t n, brume_error *error);
BRUME_MUST_USE brume_status brume_tree_own_choose(void *context, double epsilon, double sensitivity,
                                                  const double *scores, size_t n, size_t *index,
                                                  brume_error *error);

/* How an auditor attacks the method: tree_card.c. What is seen of a run: all noisy counts; the
 * bars, half of the price; one noisy count of a column. */
typedef enum brume_tree_attacked {
    BRUME_TREE_ATTACK_COUNTS,
    BRUME_TREE_ATTACK_BARS,
    BRUME_TREE_ATTACK_COLUMN,
} brume_tree_attacked;

typedef struct brume_tree_attack {
    brume_adjacency adjacency; /* that is claimed */
    bool replaces;             /* the neighbour has other rows, else more of them */
    uint64_t moved;            /* how many; a sound run is attacked with one, <= 14 */
    double sigma;
    brume_tree_attacked what;
    brume_tree_source source; /* a broken one, in tests: its context is the bits */
} brume_tree_attack;

/* n runs on the neighbours, each as the log likelihood of the second against the first, or the
 * count, in steps of 1/BRUME_TRIAL_GRID. */
BRUME_MUST_USE brume_status brume_tree_attack_draw(const brume_tree_attack *attack, bool second,
                                                   brume_bits *bits, int64_t *out, size_t n,
                                                   brume_error *error);

enum { BRUME_TREE_MODEL_CELLS = 1 << 18 };                      /* of a model, unless it is said */
enum { BRUME_TREE_CELLS = 1 << 28, BRUME_TREE_ROWS = 1 << 27 }; /* of a model, to write: at most */

/* Every fault of a question; those of its columns alone. */
BRUME_MUST_USE brume_status brume_tree_check(const brume_tree_question *question,
                                             brume_error *error);
BRUME_MUST_USE brume_status brume_tree_check_columns(const brume_tree_question *question,
                                                     brume_error *error);

/* Values outside their columns, no rows under replace. */
BRUME_MUST_USE brume_status brume_tree_check_data(const brume_tree_question *question,
                                                  const uint16_t *const *data, uint64_t n,
                                                  brume_error *error);

/* The median number of cells of the pairs of columns: public. 0: no memory. */
double brume_tree_median_pair(const brume_tree_question *question);

/* brume_tree_run with another source; `bits` are for what is post-processing. */
BRUME_MUST_USE brume_status brume_tree_run_on(const brume_tree_question *question,
                                              const uint16_t *const *data, uint64_t n,
                                              const brume_tree_source *source, brume_bits *bits,
                                              brume_tree_result *result, brume_error *error);

#endif
