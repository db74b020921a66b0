/* Candidates with their scores. Promises: score_file.h. */
#include "command/mechanism/score_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "reader/csv_rows.h"

static brume_status bad_row(size_t row, const char *what, const char *hint, brume_error *error)
{
    return brume_fail(error, BRUME_EARGUMENT, hint, "row %zu (after the heading) %s", row, what);
}

static brume_status make_room(brume_score_file *file, size_t *room, brume_error *error)
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

static brume_status read_row(const brume_csv *csv, size_t candidate, size_t score,
                             brume_score_file *file, brume_error *error)
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

static const brume_score_file *sorted_file; /* qsort has no context */

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

static brume_status check_different(const brume_score_file *file, brume_error *error)
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

static brume_status read_rows(brume_csv *csv, brume_score_file *file, brume_error *error)
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

brume_status brume_score_file_read(const char *path, brume_score_file *out, brume_error *error)
{
    brume_csv *csv = NULL;
    struct stat info = {0};
    *out = (brume_score_file){0};
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

void brume_score_file_free(brume_score_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        json_decref(file->candidates[i]);
    free(file->candidates);
    free(file->scores);
    *file = (brume_score_file){0};
}
