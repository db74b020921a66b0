#include "audit/query/line_features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 300 };

typedef struct line_count {
    const char *line;
    size_t times; /* that it is there */
} line_count;

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static int by_times(const void *left, const void *right)
{
    const line_count *a = left, *b = right;
    if (a->times != b->times)
        return a->times < b->times ? -1 : 1;
    return strcmp(a->line, b->line);
}

/* The different lines, in the order of their bytes; how many there are. */
static size_t count_lines(char **lines, size_t count, line_count *out)
{
    size_t different = 0;
    qsort(lines, count, sizeof *lines, by_text);
    for (size_t i = 0, next; i < count; i = next) {
        next = i + 1;
        while (next < count && strcmp(lines[i], lines[next]) == 0)
            next++;
        out[different++] = (line_count){lines[i], next - i};
    }
    return different;
}

static void visit_counts(line_count *counts, size_t different, brume_feature_visit *each,
                         void *context)
{
    char name[MOST_NAME];
    for (size_t i = 0; i < different; i++) {
        snprintf(name, sizeof name, "row %.200s", counts[i].line);
        each(context, name, (double)counts[i].times);
    }
    if (different < 2)
        return;
    qsort(counts, different, sizeof *counts, by_times);
    const line_count *last = counts + different - 1;
    snprintf(name, sizeof name, "rarest %.200s", counts[0].line);
    each(context, name, (double)(counts[1].times - counts[0].times));
    snprintf(name, sizeof name, "commonest %.200s", last->line);
    each(context, name, (double)(last->times - last[-1].times));
}

bool brume_line_features_visit(const char *text, brume_feature_visit *each, void *context)
{
    size_t count = 0, room = strlen(text) / 2 + 2;
    char *copy = strdup(text), *rest = NULL;
    char **lines = calloc(room, sizeof *lines);
    line_count *counts = calloc(room, sizeof *counts);
    bool good = copy && lines && counts;
    for (char *at = good ? strtok_r(copy, "\n", &rest) : NULL; at; at = strtok_r(NULL, "\n", &rest))
        lines[count++] = at; /* each takes two bytes of the text, but for the last */
    if (good && count > 1)
        visit_counts(counts, count_lines(lines + 1, count - 1, counts), each, context);
    free(counts);
    free(lines);
    free(copy);
    return good;
}
