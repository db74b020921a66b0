/* Small helpers for names and messages. */
#include "base/text.h"

#include <stdint.h>
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
