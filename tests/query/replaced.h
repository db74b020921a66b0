/* A text with another one in the place of a part, wherever it is: for statements that are wrong. */
#ifndef BRUME_TESTS_QUERY_REPLACED_H
#define BRUME_TESTS_QUERY_REPLACED_H

#include <stdio.h>
#include <string.h>

/* The caller frees it. */
static inline char *replaced(const char *text, const char *from, const char *to)
{
    char *out = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&out, &length);
    for (const char *at; (at = strstr(text, from)); text = at + strlen(from))
        fprintf(file, "%.*s%s", (int)(at - text), text, to);
    fputs(text, file);
    fclose(file);
    return out;
}

#endif
