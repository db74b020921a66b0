/* brume choose: one of several candidates by its score, privately.
 *
 * Promises: given that one unit changes no score by more than the sensitivity typed, the choice is
 * pure epsilon-DP for the epsilon typed. The scores are taken as the exact decimals they are, on a
 * grid on which that sensitivity is a whole number (brume_selection_steps). Only the candidate's
 * name depends on the scores. */
#include "command/command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <brume/mechanism/mechanism.h>
#include <brume/mechanism/selection.h>

#include "base/error.h"
#include "command/host.h"
#include "reader/csv_rows.h"

typedef struct score_file {
    json_t **candidates; /* texts */
    brume_signed_decimal *scores;
    size_t count;
} score_file;

/* ---- the file of candidates with their scores, read strictly ---- */

static brume_status bad_row(size_t row, const char *what, const char *hint, brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, hint, "row %zu (after the heading) %s", row, what);
}

static brume_status make_room(score_file *file, size_t *room, brume_error *error)
{
    if (file->count < *room)
        return BRUME_OK;
    size_t more = *room ? 2 * *room : 64;
    json_t **candidates = realloc(file->candidates, more * sizeof *candidates);
    if (candidates)
        file->candidates = candidates;
    brume_signed_decimal *scores = realloc(file->scores, more * sizeof *scores);
    if (scores)
        file->scores = scores;
    if (!candidates || !scores)
        return brume_no_memory(error, "the candidates");
    *room = more;
    return BRUME_OK;
}

/* A decimal with spaces around it at most. */
static bool read_score(const char *text, size_t length, brume_signed_decimal *out)
{
    char word[400];
    while (length > 0 && (*text == ' ' || *text == '\t'))
        text++, length--;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    if (length == 0 || length >= sizeof word || memchr(text, 0, length))
        return false;
    memcpy(word, text, length);
    word[length] = 0;
    return brume_signed_decimal_parse(word, out, NULL) == BRUME_OK;
}

static brume_status read_row(const brume_csv *csv, size_t candidate, size_t score, score_file *file,
                             brume_error *error)
{
    size_t length = 0, row = file->count + 1;
    const char *text = brume_csv_field(csv, candidate, &length);
    if (!text || length == 0)
        return bad_row(row, "has no candidate", "every row is candidate,score", error);
    json_t *name = json_stringn(text, length);
    if (!name)
        return bad_row(row, "has a candidate that is not UTF-8 text", NULL, error);
    text = brume_csv_field(csv, score, &length);
    if (!text || !read_score(text, length, &file->scores[file->count])) {
        json_decref(name);
        return bad_row(row, text ? "has a score that is not a finite decimal" : "has no score",
                       "write scores as 12, -0.5 or 1e-6, of at most 77 digits", error);
    }
    file->candidates[file->count++] = name;
    return BRUME_OK;
}

static const score_file *sorted_file; /* qsort has no context */

static int by_name(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const json_t *first = sorted_file->candidates[a], *second = sorted_file->candidates[b];
    size_t one = json_string_length(first), two = json_string_length(second);
    int order = memcmp(json_string_value(first), json_string_value(second), one < two ? one : two);
    if (order || one != two)
        return order ? order : one < two ? -1 : 1;
    return a < b ? -1 : a > b;
}

static brume_status check_different(const score_file *file, brume_error *error)
{
    size_t *order = malloc((file->count + 1) * sizeof *order);
    if (!order)
        return brume_no_memory(error, "the candidates");
    for (size_t i = 0; i < file->count; i++)
        order[i] = i;
    sorted_file = file;
    qsort(order, file->count, sizeof *order, by_name);
    sorted_file = NULL;
    brume_status status = BRUME_OK;
    for (size_t i = 1; i < file->count && status == BRUME_OK; i++)
        if (json_equal(file->candidates[order[i - 1]], file->candidates[order[i]]))
            status = brume_fail(error, BRUME_EARGUMENT, "give every candidate one score",
                                "rows %zu and %zu (after the heading) have the same candidate",
                                order[i - 1] + 1, order[i] + 1);
    free(order);
    return status;
}

static brume_status read_rows(brume_csv *csv, score_file *file, brume_error *error)
{
    size_t candidate, score, room = 0;
    BRUME_TRY(brume_csv_find(csv, "candidate", &candidate, error));
    BRUME_TRY(brume_csv_find(csv, "score", &score, error));
    for (;;) {
        bool more;
        BRUME_TRY(brume_csv_next(csv, &more, error));
        if (!more)
            break;
        BRUME_TRY(make_room(file, &room, error));
        BRUME_TRY(read_row(csv, candidate, score, file, error));
    }
    if (file->count == 0)
        return brume_fail(error, BRUME_EARGUMENT, "add a line such as bread,12 for each",
                          "the file of scores has no candidates");
    return check_different(file, error);
}

static brume_status read_scores(const char *path, score_file *out, brume_error *error)
{
    brume_csv *csv = NULL;
    struct stat info = {0};
    *out = (score_file){0};
    if (strcmp(path, "-") == 0)
        path = "/dev/stdin";
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0)
        return brume_fail(error, BRUME_EARGUMENT, "its first line is candidate,score",
                          "the file of scores is empty");
    brume_status status = brume_csv_open(path, NULL, &csv, error);
    if (status != BRUME_OK && !S_ISREG(info.st_mode) && access(path, R_OK) == 0)
        return brume_fail(error, BRUME_EARGUMENT, "its first line is candidate,score",
                          "the scores have no first line that can be read");
    if (status != BRUME_OK)
        return status;
    status = read_rows(csv, out, error);
    brume_csv_close(csv);
    return status;
}

static void free_scores(score_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        json_decref(file->candidates[i]);
    free(file->candidates);
    free(file->scores);
    *file = (score_file){0};
}

/* ---- the choice ---- */

static const char *const methods[] = {"exponential", "noisy-max", "permute-and-flip", NULL};
static const struct {
    const char *name, *title;
    brume_select_noise noise;
} kinds[] = {
    {"exponential", "exponential mechanism", BRUME_SELECT_GUMBEL},
    {"noisy-max", "report noisy max", BRUME_SELECT_LAPLACE},
    {"permute-and-flip", "permute-and-flip", BRUME_SELECT_EXPONENTIAL},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct noise_choice {
    size_t kind, index, candidates;
    brume_selection options; /* in steps */
    brume_decimal epsilon, sensitivity;
    double gap;
    brume_cost cost;
} noise_choice;

/* The words typed. The epsilon used is not above the decimal typed. */
static brume_status read_options(const brume_call *call, noise_choice *out, brume_error *error)
{
    const char *method = brume_call_text(call, "method");
    const char *sensitivity = brume_call_text(call, "sensitivity");
    for (size_t i = 0; method && i < KINDS; i++)
        if (strcmp(method, kinds[i].name) == 0)
            out->kind = i;
    brume_signed_decimal price, most; /* above 0: the options' ranges say so */
    BRUME_TRY(brume_signed_decimal_parse(brume_call_text(call, "epsilon"), &price, error));
    BRUME_TRY(brume_signed_decimal_parse(sensitivity ? sensitivity : "1", &most, error));
    out->epsilon = price.size;
    out->sensitivity = most.size;
    out->options = (brume_selection){.adjacency = BRUME_ADD_REMOVE, /* pure epsilon under any */
                                     .epsilon = brume_decimal_lower(&out->epsilon),
                                     .sensitivity = BRUME_SELECTION_STEPS,
                                     .monotone = brume_call_has(call, "monotone")};
    brume_event event = brume_selection_event(kinds[out->kind].noise, &out->options);
    event.parameter[0] = brume_decimal_upper(&out->epsilon); /* rho of the whole price */
    return brume_event_cost(&event, &out->cost, error);
}

static brume_status draw(const score_file *file, noise_choice *out, brume_error *error)
{
    brume_select_noise noise = kinds[out->kind].noise;
    BRUME_TRY(brume_selection_gap_upper(noise, &out->options, &out->sensitivity, file->count, .05,
                                        &out->gap, error));
    brume_bits *bits = NULL;
    BRUME_TRY(brume_bits_open(&bits, error));
    double *steps = malloc(file->count * sizeof *steps);
    brume_status status = steps ? BRUME_OK : brume_no_memory(error, "the scores");
    if (status == BRUME_OK)
        status = brume_selection_steps(file->scores, file->count, &out->sensitivity, steps, error);
    if (status == BRUME_OK)
        status = brume_noisy_max_choose(bits, noise, &out->options, steps, file->count, &out->index,
                                        error);
    free(steps);
    brume_bits_close(bits);
    return status;
}

static brume_status write_json(brume_call *call, const score_file *file, const noise_choice *chosen,
                               brume_error *error)
{
    json_t *answer = json_pack("{s:O, s:s, s:{s:f, s:f, s:o}, s:o, s:I, s:f, s:b}", "choice",
                               file->candidates[chosen->index], "method", kinds[chosen->kind].name,
                               "cost", "epsilon", brume_decimal_nearest(&chosen->epsilon), "delta",
                               0., "rho", brume_json_real(chosen->cost.rho), "gap_95",
                               brume_json_real(chosen->gap), "candidates", (json_int_t)file->count,
                               "sensitivity", brume_decimal_nearest(&chosen->sensitivity),
                               "monotone", (int)chosen->options.monotone);
    if (answer && isinf(chosen->gap))
        json_object_set_new(answer, "infinite", json_true());
    return brume_call_write_json(call, answer, error);
}

static void write_text(brume_call *call, const score_file *file, const noise_choice *chosen)
{
    const json_t *name = file->candidates[chosen->index];
    fprintf(call->out, "%s", brume_bold(call));
    fwrite(json_string_value(name), 1, json_string_length(name), call->out);
    fprintf(call->out, "%s\n", brume_plain(call));
    if (file->count == 1)
        fprintf(call->out, "the only candidate\n");
    else if (isinf(chosen->gap))
        fprintf(call->out, "the epsilon is too small to promise anything about its score\n");
    else
        fprintf(call->out,
                "its score is less than %s below the best, with probability at least 95 %%\n",
                brume_digits_up(chosen->gap, 6).text);
    char epsilon[BRUME_DECIMAL_TEXT], sensitivity[BRUME_DECIMAL_TEXT];
    brume_decimal_print(&chosen->epsilon, epsilon, sizeof epsilon);
    brume_decimal_print(&chosen->sensitivity, sensitivity, sizeof sensitivity);
    fprintf(call->out, "%s%s over %zu candidate%s, %ssensitivity %s, epsilon %s, rho %s%s\n",
            brume_dim(call), kinds[chosen->kind].title, file->count, file->count == 1 ? "" : "s",
            chosen->options.monotone ? "monotone, " : "", sensitivity, epsilon,
            brume_digits_up(chosen->cost.rho, 6).text, brume_plain(call));
}

static brume_status run(brume_call *call, brume_error *error)
{
    noise_choice chosen = {0};
    score_file file = {0};
    BRUME_TRY(read_options(call, &chosen, error));
    const char *path = brume_call_operand(call, 0);
    if (strcmp(path, "-") == 0 && !(call->host && call->host->reads_input))
        return brume_fail(error, BRUME_EARGUMENT, "give the name of a file",
                          "standard input is read by the command line only");
    brume_status status = read_scores(path, &file, error);
    if (status == BRUME_OK)
        status = draw(&file, &chosen, error);
    if (status == BRUME_OK && call->json)
        status = write_json(call, &file, &chosen, error);
    else if (status == BRUME_OK)
        write_text(call, &file, &chosen);
    free_scores(&file);
    return status;
}

const brume_command brume_command_choose = {
    .name = "choose",
    .summary = "choose the best of several candidates privately",
    .usage = "FILE|- --epsilon E [--method M] [--sensitivity S] [--monotone]",
    .description =
        "FILE holds the true scores, which are secret; the names of the candidates must be public: "
        "a list that depends on the data gives it away. One candidate is chosen at random, better "
        "ones with a higher chance, and only its name is printed. Nobody keeps account of the "
        "price.\n\n"
        "exponential: the chance grows as exp(epsilon score/(2 sensitivity)). permute-and-flip "
        "costs the same epsilon and is never less accurate; noisy-max adds Laplace noise to every "
        "score and takes the largest. All are pure epsilon; the exponential mechanism has the "
        "smallest rho. --monotone doubles the coefficient of the scores and is wrong where one "
        "unit may raise one score and lower another.\n\n"
        "gap_95: with probability at least 95 % the score chosen is less than this below the best "
        "one, whatever the scores are. Scores are read as exact decimals and rounded down to "
        "steps of a 2^20th of the sensitivity, which leaves the sensitivity what it is; the gap "
        "includes one step.",
    BRUME_OPERANDS(BRUME_OPERAND(
        FILE, "FILE", "a CSV with the columns candidate and score; - is standard input")),
    BRUME_OPTIONS(
        BRUME_OPTION(REAL, "epsilon", "E", "the price of the choice", .required = true,
                     BRUME_BETWEEN(0, INFINITY)),
        BRUME_OPTION(CHOICE, "method", "M", "exponential unless given", .choices = methods),
        BRUME_POSITIVE_OPTION("sensitivity", "S",
                              "the most that one unit changes any score; 1 unless given"),
        BRUME_FLAG(
            "monotone",
            "one unit moves all scores in one direction, as counts under add-remove: half the "
            "noise")),
    BRUME_EXAMPLES(
        "choose candidates.csv --epsilon 1",
        "choose candidates.csv --epsilon 0.5 --method permute-and-flip --monotone --json",
        "choose - --epsilon 1 --method noisy-max --sensitivity 0.5 < candidates.csv"),
    .run = run,
};
