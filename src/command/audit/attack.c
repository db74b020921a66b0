/* brume attack reconstruct: what an adversary recovers, with and without brume.
 *
 * Promises: generated secrets and the adversary's subsets are the same in every call, so that what
 * has no noise can be repeated; noise is the kernel's. What is printed is not private: the tool is
 * for the owner of the data, and for learning. A row of a file that is no bit is named by its
 * number; its value is not told. */
#include <stdlib.h>
#include <string.h>

#include <brume/account/account.h>
#include <brume/noise/laplace.h>

#include "audit/exhaustive.h"
#include "audit/reconstruct.h"
#include "audit/subsets.h"
#include "command/command.h"
#include "command/frame/bar_chart.h"
#include "command/frame/output.h"
#include "command/frame/table.h"
#include "reader/csv_rows.h"

enum { BRUME_ASSAULT_PEOPLE = 1 << 20 };

typedef struct brume_assault {
    brume_adversary adversary;
    size_t people, queries; /* queries of the polynomial adversary */
    size_t moved;           /* answers that one person's bit can move */
    uint64_t runs;
    uint8_t *secret; /* of a file; NULL: generated, others in each run */
    double likelier; /* probability of the likelier value of a bit */
    double delta;
    brume_bits *bits;
} brume_assault;

/* Several runs against one curator. */
typedef struct brume_outcome {
    double recovered, square_error; /* means */
    size_t least_recovered, most_recovered;
    double survivors, gap; /* mean; largest */
    size_t farthest;       /* largest */
} brume_outcome;

/* ---- the target, and runs against it ---- */

enum { STANDARD_PEOPLE = 128, STANDARD_SMALL = 12 };

/* ------------------------------------------------------------------------------ runs */

static brume_status run_assault(const brume_assault *assault, const brume_curator *curator,
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

static brume_status read_assault(const brume_call *call, brume_assault *assault, brume_error *error)
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

/* ---- the picture: the share of bits recovered over the noise ----
 *
 * Each point is a mean over the runs. The certified line is the most that anybody can expect of
 * answers with that Laplace noise. */

enum { POINTS = 22, CURVES = 4 };

typedef struct plot_curve {
    const char *name, *form; /* form: the curator for a standard deviation */
    double per_deviation;    /* its parameter, per standard deviation of the noise */
    double x[POINTS], y[POINTS], bound[POINTS];
} plot_curve;

static brume_status trace(const brume_assault *assault, double least, double most, plot_curve *c,
                          brume_progress *progress, uint64_t *done, brume_error *error)
{
    for (int i = 0; i < POINTS; i++) {
        double deviation = least * pow(most / least, (double)i / (POINTS - 1));
        char text[80];
        brume_curator curator;
        brume_outcome outcome;
        snprintf(text, sizeof text, c->form, fmin(deviation * c->per_deviation, 0x1p20));
        BRUME_TRY(brume_curator_read(text, &curator, error));
        BRUME_TRY(run_assault(assault, &curator, &outcome, error));
        BRUME_TRY(
            brume_curator_most(&curator, assault->moved, assault->likelier, &c->bound[i], error));
        c->x[i] = deviation;
        c->y[i] = outcome.recovered / (double)assault->people;
        brume_progress_update(progress, ++*done);
    }
    return BRUME_OK;
}

static void draw(FILE *file, const brume_assault *assault, double least, double most,
                 const plot_curve *curves)
{
    const brume_panel panel = {
        76,
        56,
        620,
        320,
        {"standard deviation of the noise (bounded noise: bound / sqrt 3)", least, most, true},
        {"share of bits recovered", .3, 1, false}};
    char title[120];
    snprintf(title, sizeof title, "%zu secret bits, %zu subset counts, %s adversary",
             assault->people, assault->queries,
             assault->adversary == BRUME_ADVERSARY_EXPONENTIAL ? "exponential" : "polynomial");
    brume_svg_begin(file, 740, 540, title);
    brume_svg_panel(file, &panel, title);
    brume_svg_line(file, &panel, BRUME_STROKE_GUIDE, (double[]){least, most},
                   (double[]){assault->likelier, assault->likelier}, 2);
    const double prices[] = {100, 10, 1};
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
        /* Laplace noise of scale moved/epsilon. */
        double x = sqrt(2) * (double)assault->moved / prices[i];
        if (x < least || x > most)
            continue;
        char text[40];
        snprintf(text, sizeof text, "Laplace: epsilon %g", prices[i]);
        brume_svg_line(file, &panel, BRUME_STROKE_GUIDE, (double[]){x, x}, (double[]){.3, 1}, 2);
        double place = panel.left + panel.width * log(x / least) / log(most / least);
        brume_svg_note(file, place - 110, panel.top + panel.height - 8, text);
    }
    for (int i = 0; i < CURVES; i++)
        brume_svg_line(file, &panel, i, curves[i].x, curves[i].y, POINTS);
    brume_svg_line(file, &panel, CURVES, curves[0].x, curves[0].bound, POINTS);
    for (int i = 0; i < CURVES; i++)
        brume_svg_legend(file, 76 + 320 * (i % 2), 440 + 24 * (i / 2), i, curves[i].name);
    brume_svg_legend(file, 76, 488, CURVES,
                     "the most that anybody can expect, Laplace noise (certified)");
    brume_svg_legend(file, 76, 512, BRUME_STROKE_GUIDE, "guessing; prices of all answers");
    brume_svg_end(file);
}

static brume_status plot_assault(const brume_call *call, const brume_assault *assault,
                                 const char *path, brume_error *error)
{
    plot_curve curves[CURVES] = {
        {.name = "Laplace noise (brume)",
         .form = "discrete_laplace(scale=%.17g)",
         .per_deviation = 0.70710678118654757},
        {.name = "Gaussian noise (brume)",
         .form = "discrete_gaussian(sigma=%.17g)",
         .per_deviation = 1},
        {.name = "uniform noise within a bound",
         .form = "uniform(bound=%.17g)",
         .per_deviation = 1.7320508075688772},
        {.name = "a liar with a decoy within the bound",
         .form = "decoy(bound=%.17g)",
         .per_deviation = 1.7320508075688772},
    };
    double least = .03 * sqrt((double)assault->people), most = 4 * (double)assault->moved;
    most = fmax(most, 10 * sqrt((double)assault->people));
    FILE *file;
    BRUME_TRY(brume_svg_open(path, &file, error)); /* before the work: a bad path is told at once */
    brume_progress progress;
    uint64_t done = 0;
    brume_status status = BRUME_OK;
    brume_progress_start(&progress, call, "drawing", (uint64_t)POINTS * CURVES);
    for (int i = 0; status == BRUME_OK && i < CURVES; i++)
        status = trace(assault, least, most, &curves[i], &progress, &done, error);
    brume_progress_end(&progress);
    if (status == BRUME_OK)
        draw(file, assault, least, most, curves);
    return brume_svg_close(file, path, status, error);
}

/* ---- the command ---- */

enum { MOST_ROWS = 64 };

/* ------------------------------------------------------------------------------- rows */

typedef struct reconstruct_row {
    brume_curator curator;
    char text[160];
    brume_outcome outcome;
    brume_bound epsilon;
    double most; /* share of bits that any adversary can expect */
} reconstruct_row;

typedef struct reconstruct_rows {
    reconstruct_row row[MOST_ROWS];
    size_t count;
} reconstruct_rows;

static brume_status add_row(reconstruct_rows *all, const char *text, brume_error *error)
{
    if (all->count == MOST_ROWS)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "more than %d kinds of answers", MOST_ROWS);
    reconstruct_row *next = &all->row[all->count];
    BRUME_TRY(brume_curator_read(text, &next->curator, error));
    BRUME_TRY(brume_curator_write(&next->curator, next->text, sizeof next->text, error));
    all->count++;
    return BRUME_OK;
}

static brume_status add_calibrated(const brume_assault *assault, const char *mechanism,
                                   const char *parameter, double epsilon, reconstruct_rows *all,
                                   brume_error *error)
{
    char text[160];
    double value;
    if (assault->delta == 0) {
        BRUME_TRY(brume_laplace_scale((double)assault->moved, epsilon, &value, error));
    } else {
        brume_expression expression = {0};
        brume_calibration found = {0};
        snprintf(text, sizeof text, "%s(%s=?)*%zu", mechanism, parameter, assault->moved);
        BRUME_TRY(brume_expression_parse(text, BRUME_REPLACE, &expression, error));
        brume_status status = brume_calibrate(&expression, epsilon, assault->delta, &found, error);
        brume_expression_free(&expression);
        if (status != BRUME_OK)
            return status;
        value = found.value;
    }
    /* Six digits are off by at most a relative 5e-6: more noise than needed, and a short text. */
    snprintf(text, sizeof text, "%s(%s=%.6g)", mechanism, parameter,
             value == floor(value) && value < 1e6 ? value : value * (1 + 6e-6));
    return add_row(all, text, error);
}

/* What brume sells for that price. */
static brume_status add_protected(const brume_assault *assault, double epsilon,
                                  reconstruct_rows *all, brume_error *error)
{
    char text[80];
    BRUME_TRY(add_calibrated(assault, "discrete_laplace", "scale", epsilon, all, error));
    if (assault->delta > 0)
        BRUME_TRY(add_calibrated(assault, "discrete_gaussian", "sigma", epsilon, all, error));
    snprintf(text, sizeof text, "randomized_response(epsilon=%.17g)", epsilon);
    return add_row(all, text, error);
}

static brume_status add_standard(const brume_assault *assault, reconstruct_rows *all,
                                 brume_error *error)
{
    double root = sqrt((double)assault->people);
    const double shares[] = {.1, .25, .5, 1};
    char text[80];
    BRUME_TRY(add_row(all, "exact", error));
    snprintf(text, sizeof text, "rounded(step=%.0f)", fmax(2, ceil(root / 2)));
    BRUME_TRY(add_row(all, text, error));
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        snprintf(text, sizeof text, "uniform(bound=%.2g)", shares[i] * root);
        BRUME_TRY(add_row(all, text, error));
    }
    snprintf(text, sizeof text, "decoy(bound=%.2g)", root / 2);
    BRUME_TRY(add_row(all, text, error));
    BRUME_TRY(add_protected(assault, 10, all, error));
    return add_protected(assault, 1, all, error);
}

static brume_status make_rows(const brume_call *call, const brume_assault *assault,
                              reconstruct_rows *all, brume_error *error)
{
    if (!brume_call_has(call, "answers") && !brume_call_has(call, "epsilon"))
        return add_standard(assault, all, error);
    for (size_t i = 0; i < brume_call_times(call, "answers"); i++)
        BRUME_TRY(add_row(all, brume_call_text_at(call, "answers", i), error));
    for (size_t i = 0; i < brume_call_times(call, "epsilon"); i++) {
        double epsilon;
        BRUME_TRY(
            brume_read_real(brume_call_text_at(call, "epsilon", i), "--epsilon", &epsilon, error));
        BRUME_TRY(add_protected(assault, epsilon, all, error));
    }
    return BRUME_OK;
}

static brume_status fill_rows(const brume_call *call, const brume_assault *assault,
                              reconstruct_rows *all, brume_error *error)
{
    brume_progress progress;
    brume_progress_start(&progress, call, "attacking", all->count);
    brume_status status = BRUME_OK;
    for (size_t i = 0; status == BRUME_OK && i < all->count; i++) {
        reconstruct_row *next = &all->row[i];
        status = brume_curator_epsilon(&next->curator, assault->moved, assault->delta,
                                       &next->epsilon, error);
        if (status == BRUME_OK)
            status = brume_curator_most(&next->curator, assault->moved, assault->likelier,
                                        &next->most, error);
        if (status == BRUME_OK)
            status = run_assault(assault, &next->curator, &next->outcome, error);
        brume_progress_update(&progress, i + 1);
    }
    brume_progress_end(&progress);
    return status;
}

/* ----------------------------------------------------------------------------- output */

static bool is_private(const reconstruct_row *r)
{
    return r->curator.kind == BRUME_CURATOR_NOISE || r->curator.kind == BRUME_CURATOR_RESPONSE;
}

static bool is_exponential(const brume_assault *assault)
{
    return assault->adversary == BRUME_ADVERSARY_EXPONENTIAL;
}

/* Bits that the exponential adversary gets for certain. */
static size_t certain(const brume_assault *assault, const reconstruct_row *r)
{
    double bound = brume_curator_largest_error(&r->curator);
    return assault->people - brume_exhaustive_hidden(bound, (unsigned)assault->people);
}

static json_t *row_json(const brume_assault *assault, const reconstruct_row *r)
{
    double bound = brume_curator_largest_error(&r->curator);
    bool sure = is_exponential(assault) && isfinite(bound);
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o}", "answers", r->text, "error",
                  brume_json_real(r->outcome.square_error), "largest_error", brume_json_real(bound),
                  "epsilon_upper", brume_json_real(r->epsilon.upper), "bits_recovered",
                  brume_json_real(r->outcome.recovered), "share",
                  brume_json_real(r->outcome.recovered / (double)assault->people),
                  "least_recovered", (json_int_t)r->outcome.least_recovered, "most_recovered",
                  (json_int_t)r->outcome.most_recovered, "share_at_most",
                  is_private(r) ? brume_json_real(r->most) : json_null(), "bits_at_least",
                  sure ? json_integer((json_int_t)certain(assault, r)) : json_null());
    if (!object)
        return NULL;
    if (r->epsilon.infinite)
        json_object_set_new(object, "infinite", json_true());
    if (sure) {
        json_object_set_new(object, "survivors", brume_json_real(r->outcome.survivors));
        json_object_set_new(object, "most_wrong", json_integer((json_int_t)r->outcome.farthest));
    }
    if (!is_exponential(assault))
        json_object_set_new(object, "gap", brume_json_real(r->outcome.gap));
    return object;
}

static brume_status write_json(brume_call *call, const brume_assault *assault,
                               const reconstruct_rows *all, brume_error *error)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->count; i++)
        json_array_append_new(list, row_json(assault, &all->row[i]));
    return brume_call_write_json(
        call,
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:o, s:{s:o, s:o}, s:o}", "adversary",
                  is_exponential(assault) ? "exponential" : "polynomial", "people",
                  (json_int_t)assault->people, "queries", (json_int_t)assault->queries, "moved",
                  (json_int_t)assault->moved, "runs", (json_int_t)assault->runs, "secrets",
                  assault->secret ? "file" : "generated", "delta", brume_json_real(assault->delta),
                  "guessing", "bits", brume_json_real(assault->likelier * (double)assault->people),
                  "share", brume_json_real(assault->likelier), "rows", list),
        error);
}

static void table_row(brume_table *table, const brume_assault *assault, const reconstruct_row *r)
{
    brume_table_cell(table, "%s", r->text);
    brume_table_cell(table, "%.4g", r->outcome.square_error);
    if (!is_private(r))
        brume_table_cell(table, "none");
    else if (r->epsilon.infinite)
        brume_table_cell(table, "infinite");
    else
        brume_table_cell(table, "%.4g", r->epsilon.upper);
    brume_table_cell(table, "%.1f", r->outcome.recovered);
    brume_table_cell(table, "%.1f %%", 100 * r->outcome.recovered / (double)assault->people);
    if (is_private(r))
        brume_table_cell(table, "<= %.1f %%", 100 * r->most);
    else if (is_exponential(assault))
        brume_table_cell(table, ">= %zu bits", certain(assault, r));
    else
        brume_table_cell(table, "-");
}

static brume_status write_text(brume_call *call, const brume_assault *assault,
                               const reconstruct_rows *all, brume_error *error)
{
    const char *const columns[] = {"answers", ">error", ">epsilon", ">bits",
                                   ">share",  ">bound", NULL};
    fprintf(call->out, "%s adversary: %zu %s counts about %zu secret bits, %llu run%s\n\n",
            is_exponential(assault) ? "exponential" : "polynomial", assault->queries,
            is_exponential(assault) ? "subset" : "random subset", assault->people,
            (unsigned long long)assault->runs, assault->runs == 1 ? "" : "s");
    brume_table *table = brume_table_open(columns);
    for (size_t i = 0; i < all->count; i++)
        table_row(table, assault, &all->row[i]);
    brume_table_cell(table, "no answers: guessing");
    brume_table_cell(table, "-");
    brume_table_cell(table, "0");
    brume_table_cell(table, "%.1f", assault->likelier * (double)assault->people);
    brume_table_cell(table, "%.1f %%", 100 * assault->likelier);
    brume_table_cell(table, "-");
    BRUME_TRY(brume_table_write(table, call, error));
    fprintf(call->out, "\n%s", brume_dim(call));
    brume_write_sentence(call->out,
                         "bits: how many came back, on average; one person's bit moves %zu answers",
                         assault->moved);
    brume_write_sentence(call->out, "epsilon: that of all answers, at delta = %s",
                         brume_shortest(assault->delta).text);
    brume_write_sentence(call->out, "error: the root of the mean square of answer - truth");
    brume_write_sentence(
        call->out, "bound: <= a share that nobody can expect to exceed, though few runs may%s",
        is_exponential(assault) ? ", >= bits that come back whoever answers" : "");
    fputs(brume_plain(call), call->out);
    if (brume_call_has(call, "plot"))
        fprintf(call->out, "%sbits recovered over noise: %s%s\n", brume_dim(call),
                brume_call_text(call, "plot"), brume_plain(call));
    return BRUME_OK;
}

static brume_status attack(brume_call *call, brume_assault *assault, reconstruct_rows *all,
                           brume_error *error)
{
    BRUME_TRY(read_assault(call, assault, error));
    BRUME_TRY(make_rows(call, assault, all, error));
    BRUME_TRY(fill_rows(call, assault, all, error));
    if (brume_call_has(call, "plot"))
        BRUME_TRY(plot_assault(call, assault, brume_call_text(call, "plot"), error));
    return call->json ? write_json(call, assault, all, error)
                      : write_text(call, assault, all, error);
}

static brume_status run(brume_call *call, brume_error *error)
{
    brume_assault assault = {0};
    reconstruct_rows *all = calloc(1, sizeof *all);
    if (!all)
        return brume_no_memory(error, NULL);
    brume_status status = brume_bits_open(&assault.bits, error);
    if (status == BRUME_OK)
        status = attack(call, &assault, all, error);
    brume_bits_close(assault.bits);
    if (assault.secret)
        explicit_bzero(assault.secret, assault.people);
    free(assault.secret);
    free(all);
    return status;
}

static const char *const adversaries[] = {"exponential", "polynomial", NULL};

const brume_command brume_command_attack_reconstruct = {
    .name = "attack reconstruct",
    .summary = "show what an adversary recovers, with and without brume",
    .usage = "[--adversary WORD] [--people N | --input FILE.csv --column NAME] [OPTION...]",
    .description =
        "Every person has a secret bit, and somebody answers how many ones there are in subsets "
        "of the people. If the answers are exact, or off by a little, almost all bits come back: "
        "too many answers that are too accurate tell everything. The table shows how many, for "
        "answers that are exact, rounded, disturbed within a bound, and protected by brume with "
        "its price.\n\n"
        "The exponential adversary asks all 2^N subsets and keeps the candidates that no answer "
        "contradicts by more than E: it has at most 2 floor(2E) bits wrong, whoever answers. The "
        "polynomial one asks random subsets and solves least squares in the box [0, 1]^N; it "
        "takes thousands of people. Against differential privacy nobody can expect more than the "
        "share under 'bound', which the accountant certifies for these answers, for bits that are "
        "independent and as likely as guessing says.\n\n"
        "uniform(bound=E) adds uniform noise within E. decoy(bound=E) answers as another database "
        "would, as far as E allows: a clever liar. A mechanism of brume is written as elsewhere, "
        "such as 'gaussian(sigma=30)', for each answer; randomized_response is of each bit.\n\n"
        "Generated secrets and the subsets are the same in every call; noise is not. What is "
        "printed of a file is not private: it is for the owner of the data.",
    BRUME_OPTIONS(
        BRUME_OPTION(
            CHOICE, "adversary", "WORD",
            "exponential: all subsets, all candidates; polynomial (the standard): least squares",
            .choices = adversaries),
        BRUME_OPTION(COUNT, "people", "N",
                     "how many secret bits to generate: 128, or 12 for the exponential adversary",
                     BRUME_FROM_TO(1, BRUME_ASSAULT_PEOPLE)),
        BRUME_OPTION(FILE, "input", "FILE.csv",
                     "attack the bits of this file instead; a row is a person"),
        BRUME_OPTION(TEXT, "column", "NAME", "the column of zeros and ones in it"),
        BRUME_OPTION(COUNT, "queries", "M",
                     "random subsets that the polynomial adversary asks: 4 times the people",
                     BRUME_FROM_TO(1, 1e9)),
        BRUME_OPTION(
            TEXT, "answers", "HOW",
            "exact, rounded(step=), uniform(bound=), decoy(bound=), or a mechanism of brume",
            .repeated = true),
        BRUME_OPTION(REAL, "epsilon", "E",
                     "answers protected by brume at this price for all of them", .repeated = true,
                     BRUME_ABOVE_TO(0, 700)),
        BRUME_OPTION(REAL, "delta", "D", "the delta at which prices are meant: 0 unless typed",
                     BRUME_FROM_BELOW(0, .5)),
        BRUME_OPTION(COUNT, "runs", "R",
                     "over how many runs to average: 20 unless typed, fewer where they are long",
                     BRUME_FROM_TO(1, 100000)),
        BRUME_OPTION(FILE, "plot", "FILE.svg", "draw the bits recovered over the noise")),
    BRUME_EXAMPLES(
        "attack reconstruct",
        "attack reconstruct --people 500 --epsilon 1 --epsilon 5 --delta 1e-6 --runs 5",
        "attack reconstruct --adversary exponential --people 8 --answers 'decoy(bound=1)'",
        "attack reconstruct --input patients.csv --column smoker --answers 'uniform(bound=2)' --json"),
    .run = run,
};
