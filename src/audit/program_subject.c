/* Somebody else's program on two neighbouring tables. Promises: files appear in a folder of their
 * own alone; the command is the caller's, run with no more rights than the caller's. */
#include "audit/program_subject.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* Values in steps of 2^-20 of a unit, within 2^40 units; texts are below all of them. */
static const double STEP = 0x1p-20, FARTHEST = 0x1p60;
static const int64_t TEXTS = INT64_MIN / 2;

/* Rows at the lower bound, a third of the way up and at the upper bound, and the row that differs.
 */
static const struct {
    size_t low, third, high;
    bool differs_high;
    const char *words;
} pairs[] = {
    {10, 0, 0, true, "ten rows at the lower bound, and one at the upper one"},
    {0, 0, 10, false, "ten rows at the upper bound, and one at the lower one"},
    {10, 0, 10, true, "ten rows at each bound, and one more at the upper one"},
    {1, 0, 0, true, "a row at the lower bound, and one at the upper one"},
    {0, 2, 2, false, /* a median below all of them is rare, and one more row makes it likelier */
     "two rows a third of the way up, two at the upper bound, and one at the lower one"},
    {0, 4, 4, false, /* the same where a row is replaced, for half of the rate */
     "four rows a third of the way up, four at the upper bound, and one at the lower one"},
    {54, 6, 0, true, /* the same for the quantile 0.9 */
     "fifty-four rows at the lower bound, six a third of the way up, and one at the upper one"},
    {20, 20, 20, true, /* counts of values: none is far from an even share, and each has its own */
     "twenty rows at each bound and a third of the way up, and one more at the upper one"},
};

/* True answers that a textbook's noise may have been added to, on both tables: sum, rows, mean. */
enum { TRUTHS = 6 };

struct brume_program_subject {
    char *command;
    size_t pair;
    double low, high;
    brume_adjacency adjacency;
    brume_program_view view;
    brume_truth truths[TRUTHS];
    char folder[200], paths[2][240];
};

size_t brume_program_pairs(void)
{
    return sizeof pairs / sizeof *pairs;
}

void brume_program_subject_close(brume_program_subject *subject)
{
    if (!subject)
        return;
    for (int second = 0; second < 2; second++)
        if (subject->paths[second][0])
            unlink(subject->paths[second]);
    if (subject->folder[0])
        rmdir(subject->folder);
    free(subject->command);
    free(subject);
}

const char *brume_program_subject_path(const brume_program_subject *subject, bool second)
{
    return subject->paths[second];
}

static double third_of(const brume_program_subject *subject)
{
    return subject->low + (subject->high - subject->low) / 3;
}

static brume_status write_table(const brume_program_subject *subject, const char *path, bool second,
                                brume_error *error)
{
    double low = subject->low, high = subject->high;
    FILE *out = fopen(path, "wx");
    if (!out)
        return brume_fail(error, BRUME_EDISK, "is it a folder that may be written, without it?",
                          "cannot write '%s'", path);
    bool is_high = pairs[subject->pair].differs_high;
    fputs("value\n", out);
    for (size_t i = 0; i < pairs[subject->pair].low; i++)
        fprintf(out, "%.17g\n", low);
    for (size_t i = 0; i < pairs[subject->pair].third; i++)
        fprintf(out, "%.17g\n", third_of(subject));
    for (size_t i = 0; i < pairs[subject->pair].high; i++)
        fprintf(out, "%.17g\n", high);
    if (second)
        fprintf(out, "%.17g\n", is_high ? high : low);
    else if (subject->adjacency == BRUME_REPLACE)
        fprintf(out, "%.17g\n", is_high ? low : high);
    return fclose(out) == 0
               ? BRUME_OK
               : brume_fail(error, BRUME_EDISK, "is the disk full?", "cannot write '%s'", path);
}

static brume_status make_table(brume_program_subject *subject, bool second, brume_error *error)
{
    snprintf(subject->paths[second], sizeof subject->paths[second], "%s/%d.csv", subject->folder,
             second + 1);
    return write_table(subject, subject->paths[second], second, error);
}

brume_status brume_program_subject_save(const brume_program_subject *subject, const char *folder,
                                        brume_error *error)
{
    for (int second = 0; second < 2; second++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%d.csv", folder, second + 1) < 0)
            return brume_no_memory(error, "an audit");
        brume_status status = write_table(subject, path, second != 0, error);
        free(path);
        BRUME_TRY(status);
    }
    return BRUME_OK;
}

static brume_status make(brume_program_subject *subject, const char *command, brume_error *error)
{
    double low = subject->low, high = subject->high;
    const char *folder = getenv("TMPDIR");
    subject->command = strdup(command);
    if (!subject->command)
        return brume_no_memory(error, "an audit");
    if (!(isfinite(low) && isfinite(high) && low < high))
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the bounds are %g and %g, must be finite and in order", low, high);
    int length = snprintf(subject->folder, sizeof subject->folder, "%s/brume-audit-XXXXXX",
                          folder && *folder ? folder : "/tmp");
    if (length >= (int)sizeof subject->folder || !mkdtemp(subject->folder)) {
        subject->folder[0] = 0;
        return brume_fail(error, BRUME_EDISK, "is $TMPDIR a folder that may be written?",
                          "cannot make a folder for an audit");
    }
    BRUME_TRY(make_table(subject, false, error));
    return make_table(subject, true, error);
}

brume_status brume_program_subject_open(const char *command, double low, double high,
                                        brume_adjacency adjacency, size_t pair,
                                        brume_program_subject **out, brume_error *error)
{
    brume_program_subject *subject = calloc(1, sizeof *subject);
    if (!subject)
        return brume_no_memory(error, "an audit");
    subject->pair = pair;
    subject->low = low;
    subject->high = high;
    subject->adjacency = adjacency;
    brume_status status = make(subject, command, error);
    if (status != BRUME_OK) {
        brume_program_subject_close(subject);
        return status;
    }
    *out = subject;
    return BRUME_OK;
}

/* ---- looking ---- */

void brume_program_subject_look(brume_program_subject *subject, brume_program_view view,
                                double epsilon)
{
    subject->view = view;
    for (int second = 0; second < 2; second++) {
        bool replaced = subject->adjacency == BRUME_REPLACE;
        bool is_high = pairs[subject->pair].differs_high == (second != 0);
        double low = (double)pairs[subject->pair].low, high = (double)pairs[subject->pair].high;
        double third = (double)pairs[subject->pair].third, rows = low + third + high;
        double sum = low * subject->low + third * third_of(subject) + high * subject->high;
        if (second || replaced) {
            rows += 1;
            sum += is_high ? subject->high : subject->low;
        }
        double range = subject->high - subject->low;
        double most = fmax(fabs(subject->low), fabs(subject->high));
        brume_truth *of = &subject->truths[second * TRUTHS / 2];
        of[0] = (brume_truth){sum, (replaced ? range : most) / epsilon};
        of[1] = (brume_truth){rows, 1 / epsilon};
        of[2] = (brume_truth){sum / rows, range / rows / epsilon};
    }
}

static int64_t value_of(double number)
{
    return (int64_t)llrint(fmax(fmin(number / STEP, FARTHEST), -FARTHEST));
}

int64_t brume_program_subject_outcome(const brume_program_subject *subject,
                                      const brume_program_answer *answer)
{
    if (isnan(answer->number))
        return answer->text;
    if (subject->view == BRUME_VIEW_VALUE || !isfinite(answer->number))
        return value_of(answer->number);
    return subject->view == BRUME_VIEW_PRECISION
               ? brume_precision_of(answer->number)
               : (int64_t)brume_textbook_reached(answer->number, subject->truths, TRUTHS);
}

double brume_program_subject_step(const brume_program_subject *subject)
{
    return subject->view == BRUME_VIEW_VALUE ? STEP : 1;
}

const char *brume_program_subject_words(const brume_program_subject *subject)
{
    switch (subject->view) {
    case BRUME_VIEW_PRECISION:
        return "the exponent of the lowest bit that is set in what the program prints";
    case BRUME_VIEW_TEXTBOOK:
        return "from which sum (1), number of rows (2) and mean (4) of the first table, and of the "
               "second (8, 16, 32), textbook noise reaches what the program prints, together";
    default:
        return "what the program prints";
    }
}

/* ---- running ---- */

static brume_program_answer read_answer(char *line)
{
    char *end = NULL;
    line[strcspn(line, "\r\n")] = 0;
    brume_program_answer answer = {strtod(line, &end), 0};
    if (end != line && !*end && !isnan(answer.number))
        return answer;
    uint64_t hash = 14695981039346656037u;
    for (const char *c = line; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return (brume_program_answer){NAN, TEXTS - (int64_t)(hash >> 24)};
}

brume_status brume_program_subject_run(const brume_program_subject *subject, bool second,
                                       brume_program_answer *out, size_t n, brume_error *error)
{
    char *command = NULL, line[4096];
    if (asprintf(&command, "%s '%s' %zu", subject->command, subject->paths[second], n) < 0)
        return brume_no_memory(error, "an audit");
    FILE *answers = popen(command, "r");
    free(command);
    if (!answers)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "cannot run the program");
    size_t read = 0;
    while (fgets(line, sizeof line, answers))
        if (read < n)
            out[read++] = read_answer(line);
    int ended = pclose(answers);
    if (ended != 0 || read < n)
        return brume_fail(error, BRUME_EARGUMENT,
                          "it is run as 'PROGRAM FILE COUNT' and prints COUNT answers, a line each",
                          "the program printed %zu of %zu answers and ended with %d", read, n,
                          ended);
    return BRUME_OK;
}

brume_status brume_program_subject_draw(const void *context, bool second, brume_bits *bits,
                                        int64_t *out, size_t n, brume_error *error)
{
    (void)bits; /* the program has its own */
    const brume_program_subject *subject = context;
    brume_program_answer *answers = malloc((n + 1) * sizeof *answers);
    if (!answers)
        return brume_no_memory(error, "an audit");
    brume_status status = brume_program_subject_run(subject, second, answers, n, error);
    for (size_t i = 0; status == BRUME_OK && i < n; i++)
        out[i] = brume_program_subject_outcome(subject, &answers[i]);
    free(answers);
    return status;
}

const char *brume_program_subject_neighbours(const brume_program_subject *subject)
{
    return pairs[subject->pair].words;
}
