/* Somebody else's program on two neighbouring tables. Promises: files appear in a folder of their
 * own alone; the command is the caller's, run with no more rights than the caller's. */
#include "audit/program_subject.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* Outcomes in steps of 2^-20 of a unit, within 2^40 units; texts are below all of them. */
static const double STEP = 0x1p-20, FARTHEST = 0x1p60;
static const int64_t TEXTS = INT64_MIN / 2;

/* Rows at the lower bound and at the upper one, and the row that differs. */
static const struct {
    size_t low, high;
    bool differs_high;
    const char *words;
} pairs[] = {
    {10, 0, true, "ten rows at the lower bound, and one at the upper one"},
    {0, 10, false, "ten rows at the upper bound, and one at the lower one"},
    {10, 10, true, "ten rows at each bound, and one more at the upper one"},
    {1, 0, true, "a row at the lower bound, and one at the upper one"},
};

struct brume_program_subject {
    char *command;
    size_t pair;
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

static brume_status write_table(brume_program_subject *subject, bool second, double low,
                                double high, brume_adjacency adjacency, brume_error *error)
{
    snprintf(subject->paths[second], sizeof subject->paths[second], "%s/%d.csv", subject->folder,
             second + 1);
    FILE *out = fopen(subject->paths[second], "wx");
    if (!out)
        return brume_fail(error, BRUME_EDISK, "is $TMPDIR a folder that may be written?",
                          "cannot write '%s'", subject->paths[second]);
    bool is_high = pairs[subject->pair].differs_high;
    fputs("value\n", out);
    for (size_t i = 0; i < pairs[subject->pair].low; i++)
        fprintf(out, "%.17g\n", low);
    for (size_t i = 0; i < pairs[subject->pair].high; i++)
        fprintf(out, "%.17g\n", high);
    if (second)
        fprintf(out, "%.17g\n", is_high ? high : low);
    else if (adjacency == BRUME_REPLACE)
        fprintf(out, "%.17g\n", is_high ? low : high);
    return fclose(out) == 0 ? BRUME_OK
                            : brume_fail(error, BRUME_EDISK, "is the disk full?",
                                         "cannot write '%s'", subject->paths[second]);
}

static brume_status make(brume_program_subject *subject, const char *command, double low,
                         double high, brume_adjacency adjacency, brume_error *error)
{
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
    BRUME_TRY(write_table(subject, false, low, high, adjacency, error));
    return write_table(subject, true, low, high, adjacency, error);
}

brume_status brume_program_subject_open(const char *command, double low, double high,
                                        brume_adjacency adjacency, size_t pair,
                                        brume_program_subject **out, brume_error *error)
{
    brume_program_subject *subject = calloc(1, sizeof *subject);
    if (!subject)
        return brume_no_memory(error, "an audit");
    subject->pair = pair;
    brume_status status = make(subject, command, low, high, adjacency, error);
    if (status != BRUME_OK) {
        brume_program_subject_close(subject);
        return status;
    }
    *out = subject;
    return BRUME_OK;
}

/* A line as an outcome. */
static int64_t read_outcome(char *line)
{
    char *end = NULL;
    line[strcspn(line, "\r\n")] = 0;
    double value = strtod(line, &end);
    if (end != line && !*end && !isnan(value))
        return (int64_t)llrint(fmax(fmin(value / STEP, FARTHEST), -FARTHEST));
    uint64_t hash = 14695981039346656037u;
    for (const char *c = line; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return TEXTS - (int64_t)(hash >> 24);
}

brume_status brume_program_subject_draw(const void *context, bool second, brume_bits *bits,
                                        int64_t *out, size_t n, brume_error *error)
{
    (void)bits; /* the program has its own */
    const brume_program_subject *subject = context;
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
            out[read++] = read_outcome(line);
    int ended = pclose(answers);
    if (ended != 0 || read < n)
        return brume_fail(error, BRUME_EARGUMENT,
                          "it is run as 'PROGRAM FILE COUNT' and prints COUNT answers, a line each",
                          "the program printed %zu of %zu answers and ended with %d", read, n,
                          ended);
    return BRUME_OK;
}

double brume_program_subject_step(void)
{
    return STEP;
}

const char *brume_program_subject_neighbours(const brume_program_subject *subject)
{
    return pairs[subject->pair].words;
}

const char *brume_program_subject_table(const brume_program_subject *subject, bool second)
{
    return subject->paths[second];
}
