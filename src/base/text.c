/* Small helpers for names and messages. */
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 63 };

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

size_t brume_text_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    size_t row[3][LONGEST + 1];
    size_t *before = row[0], *above = row[1], *here = row[2];
    for (size_t j = 0; j <= m; j++)
        above[j] = j;
    for (size_t i = 1; i <= n; i++) {
        here[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (here[j - 1] + 1 < best)
                best = here[j - 1] + 1;
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            here[j] = best;
        }
        size_t *oldest = before;
        before = above;
        above = here;
        here = oldest;
    }
    return above[m];
}

const char *brume_text_nearest(const char *name, const char *const *candidates, size_t count)
{
    size_t length = strlen(name);
    size_t allowed = length / 3 < 1 ? 1 : length / 3 > 4 ? 4 : length / 3;
    size_t best = allowed + 1, nearest = count;
    for (size_t i = 0; i < count; i++) {
        size_t distance = brume_text_distance(name, candidates[i]);
        if (distance < best) {
            best = distance;
            nearest = i;
        }
    }
    for (size_t i = 0; i < count && nearest == count && length > 0; i++)
        if (strncasecmp(name, candidates[i], length) == 0)
            nearest = i;
    return nearest < count ? candidates[nearest] : NULL;
}

/* "there are a, b, c", or as many of them as there is room for. */
static void list_names(const char *const *names, size_t count, char hint[BRUME_COLUMN_HINT])
{
    size_t used = 0;
    for (size_t i = 0; i < count && names[i]; i++) {
        const char *before = i == 0 ? "there are " : ", ";
        if (used + strlen(before) + strlen(names[i]) + sizeof ", ..." > BRUME_COLUMN_HINT) {
            snprintf(hint + used, BRUME_COLUMN_HINT - used, "%s", i == 0 ? "" : ", ...");
            return;
        }
        used += (size_t)snprintf(hint + used, BRUME_COLUMN_HINT - used, "%s%s", before, names[i]);
    }
}

void brume_text_column_hint(const char *name, const char *const *names, size_t count,
                            char hint[BRUME_COLUMN_HINT])
{
    const char *other = count == 1 ? strpbrk(names[0], ";|\t,") : NULL;
    const char *nearest = other ? NULL : brume_text_nearest(name, names, count);
    hint[0] = '\0';
    if (other && *other == '\t')
        snprintf(hint, BRUME_COLUMN_HINT, "all names are in one column: --delimiter tab?");
    else if (other)
        snprintf(hint, BRUME_COLUMN_HINT, "all names are in one column: --delimiter '%c'?", *other);
    else if (nearest)
        snprintf(hint, BRUME_COLUMN_HINT, "did you mean '%.100s'?", nearest);
    else
        list_names(names, count, hint);
}

void brume_text_group(const char *number, char *out, size_t size)
{
    size_t sign = *number == '-', whole = strspn(number + sign, "0123456789"), used = 0;
    for (size_t i = 0; number[i] && used + 2 < size; i++) {
        bool inside = i > sign && i < sign + whole;
        if (inside && (sign + whole - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = number[i];
    }
    out[used] = '\0';
}
