/* The method tree: its card, and the neighbours on which an auditor attacks it.
 *
 * Promises: a run under a price of 1/sigma^2 costs what gaussian(sigma=) costs, at sensitivity 1.
 * proofs/tree.md. */
#include <math.h>

#include "base/error.h"
#include "mechanism/card.h"
#include "mechanism/trial.h"
#include "synthetic/tree.h"
#include "synthetic/tree_count.h"

static const brume_parameter parameters[] = {
    {.name = "sigma",
     .type = BRUME_PARAMETER_REAL,
     .least = 0,
     .least_open = true,
     .most = INFINITY,
     .most_open = true,
     .direction = BRUME_MORE_NOISE,
     .unit = "",
     .help = "the price of all draws together is that of gaussian(sigma=)"},
};

static const char *const examples[] = {
    "account 'tree(sigma=4)' --delta 1e-7",
    "calibrate 'tree(sigma=?)' --epsilon 1 --delta 1e-7",
    "audit 'tree(sigma=1)' --delta 1e-3 --samples 2000",
    NULL,
};

static brume_status cost(const brume_event *event, brume_cost *cost, brume_error *error)
{
    brume_event gaussian = {.mechanism = brume_card_by_name("gaussian")->id,
                            .adjacency = event->adjacency,
                            .sensitivity = 1,
                            .parameter = {event->parameter[0], 1},
                            .count = 1};
    BRUME_TRY(brume_event_cost(&gaussian, cost, error));
    /* what is left of the price when a run ends is not drawn with */
    cost->concentrated = cost->renyi = BRUME_UPPER;
    cost->loss = cost->loss == BRUME_EXACT ? BRUME_UPPER : cost->loss;
    return BRUME_OK;
}

/* ---- the attack ----
 *
 * Two columns of two values. Who knows both inputs and sees a run weighs every released number by
 * its law on either: the sum of these log likelihoods is the best there is to say. A column's count
 * by itself shows whether its noise is there. */

/* One row is written: the counts of the rows are then far from the true ones, so that one unit more
 * moves the distance between them, which bars measure, by all that it can. */
enum { VALUES = 2, CELLS = VALUES * VALUES, ROWS_WRITTEN = 1, MODEL_ROWS = 40, MOST_ROWS = 64 };

static const brume_tree_column columns[] = {{VALUES, false}, {VALUES, false}};
static const brume_tree_table table = {2, {0, 1}, 1};
/* rows in each cell of the first input; the second has some more in the last cell, or has them
 * there and not in the first */
static const uint64_t first_rows[CELLS] = {40, 2, 3, 2};

typedef struct small_table {
    uint16_t value[2][MOST_ROWS];
    double cells[CELLS];
    uint64_t rows;
} small_table;

static void fill(const brume_tree_attack *attack, bool second, small_table *out)
{
    *out = (small_table){0};
    for (int cell = 0; cell < CELLS; cell++) {
        uint64_t count = first_rows[cell];
        if (second && cell == CELLS - 1)
            count += attack->moved;
        if (second && cell == 0 && attack->replaces)
            count -= attack->moved;
        out->cells[cell] = (double)count;
        for (uint64_t i = 0; i < count; i++) {
            out->value[0][out->rows] = (uint16_t)(cell / VALUES);
            out->value[1][out->rows++] = (uint16_t)(cell % VALUES);
        }
    }
}

/* The count of a cell of a measured table in an input. */
static double count_of(const small_table *of, const brume_tree_measured *one, size_t x)
{
    double sum = 0;
    for (size_t cell = 0; cell < CELLS; cell++) {
        size_t value[] = {cell / VALUES, cell % VALUES}, here = 0;
        for (size_t k = 0; k < one->columns; k++)
            here = here * VALUES + value[one->column[k]];
        sum += here == x ? of->cells[cell] : 0;
    }
    return sum;
}

/* The log likelihood of a number for the second input, less that for the first. */
static double speaks(double seen, double first, double second, double sigma)
{
    return ((seen - first) * (seen - first) - (seen - second) * (seen - second)) /
           (2 * sigma * sigma);
}

static double distance(const small_table *of, const double *made, double scale)
{
    double sum = 0;
    for (int x = 0; x < CELLS; x++)
        sum += fabs(of->cells[x] - rint(BRUME_TREE_GRID * scale * made[x]) / BRUME_TREE_GRID);
    return sum;
}

static double weigh_counts(const brume_tree_result *result, const small_table *inputs)
{
    double sum = 0;
    for (size_t i = 0; i < result->measured_count; i++) {
        const brume_tree_measured *one = &result->measured[i];
        for (size_t x = 0; x < one->cells; x++)
            sum += speaks((double)one->noisy[x], count_of(&inputs[0], one, x),
                          count_of(&inputs[1], one, x), one->sigma);
    }
    return sum;
}

static double weigh_bars(const brume_tree_result *result, const brume_tree_plan *plan,
                         const small_table *inputs)
{
    double made[CELLS] = {0}, scale = result->records / (double)result->rows;
    for (uint64_t r = 0; r < result->rows; r++)
        made[result->column[0][r] * VALUES + result->column[1][r]]++;
    double far[] = {distance(&inputs[0], made, scale), distance(&inputs[1], made, scale)};
    return speaks(result->bars[0].measured, far[0], far[1], plan->bar_noise) +
           speaks(result->mean, far[0], far[1], plan->mean_noise);
}

static int64_t outcome_of(const brume_tree_attack *attack, const brume_tree_result *result,
                          const brume_tree_plan *plan, const small_table *inputs)
{
    double weight;
    if (attack->what == BRUME_TREE_ATTACK_COLUMN)
        weight = (double)result->measured[0].noisy[VALUES - 1];
    else if (attack->what == BRUME_TREE_ATTACK_BARS)
        weight = weigh_bars(result, plan, inputs);
    else
        weight = weigh_counts(result, inputs);
    return (int64_t)(BRUME_TRIAL_GRID * fmax(fmin(weight, 0x1p30), -0x1p30));
}

brume_status brume_tree_attack_draw(const brume_tree_attack *attack, bool second, brume_bits *bits,
                                    int64_t *out, size_t n, brume_error *error)
{
    small_table inputs[2];
    brume_tree_plan plan;
    brume_tree_source source = attack->source;
    source.model_rows = MODEL_ROWS;
    source.context = source.add ? bits : NULL;
    const brume_tree_question question = {
        .columns = 2,
        .column = columns,
        .tables = 1,
        .table = &table,
        .options = {.adjacency = attack->adjacency,
                    .sigma = attack->sigma,
                    .rows_per_unit = 1,
                    .rows = ROWS_WRITTEN,
                    .rounds = 1,
                    .error_share = attack->what == BRUME_TREE_ATTACK_BARS ? 0.5 : 0,
                    .beta = 0.05}};
    fill(attack, false, &inputs[0]);
    fill(attack, true, &inputs[1]);
    const uint16_t *data[] = {inputs[second].value[0], inputs[second].value[1]};
    BRUME_TRY(brume_tree_plan_make(&question, (double)inputs[0].rows, &plan, error));
    for (size_t i = 0; i < n; i++) {
        brume_tree_result result;
        BRUME_TRY(
            brume_tree_run_on(&question, data, inputs[second].rows, &source, bits, &result, error));
        out[i] = outcome_of(attack, &result, &plan, inputs);
        brume_tree_result_clear(&result);
    }
    return BRUME_OK;
}

/* ---- the trial ---- */

static brume_status prepare(const brume_event *event, size_t pair, void *state, brume_error *error)
{
    if (!(event->parameter[0] >= 0x1p-10 && event->parameter[0] <= 0x1p20))
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL,
                          "'sigma' is %g, an audit takes 2^-10 to 2^20", event->parameter[0]);
    *(brume_tree_attack *)state = (brume_tree_attack){.adjacency = event->adjacency,
                                                      .replaces = event->adjacency == BRUME_REPLACE,
                                                      .moved = 1,
                                                      .sigma = event->parameter[0],
                                                      .what = (brume_tree_attacked)pair};
    return BRUME_OK;
}

static const char *describe(const brume_event *event, const void *state)
{
    static const char *const seen[] = {
        "47 rows of two columns, and one more or one in another cell; all noisy counts are seen",
        "47 rows of two columns, and one more or one in another cell; half of the price is for "
        "bars, which are seen",
        "47 rows of two columns, and one more or one in another cell; the noisy count of one value "
        "is seen"};
    (void)event;
    return seen[((const brume_tree_attack *)state)->what];
}

static brume_status draw(const brume_event *event, const void *state, bool second, brume_bits *bits,
                         int64_t *out, size_t n, brume_error *error)
{
    (void)event;
    return brume_tree_attack_draw(state, second, bits, out, n, error);
}

static const brume_trial trial = {
    .neighbours = "47 rows of two columns; and one more, or one in another cell",
    .outcome = "log likelihood of the second against the first, of what is seen; or the count",
    .step = 1.0 / BRUME_TRIAL_GRID,
    .slow = true,
    .pairs = 3,
    .state_size = sizeof(brume_tree_attack),
    .prepare = prepare,
    .describe = describe,
    .draw = draw,
};

const brume_card brume_card_tree = {
    .id = 28,
    .name = "tree",
    .summary = "synthetic rows of wide tables: noisy tables chosen by noisy scores",
    .guarantee = "that of one Gaussian mechanism: gaussian(sigma=)",
    .adjacencies = BRUME_ADD_REMOVE | BRUME_REPLACE,
    .sensitivity = "none",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .proof = "tree.md",
    .examples = examples,
    .cost = cost,
    .trial = &trial,
};
