/* Fields of comma-separated values, written. */
#include "base/csv_write.h"

#include <string.h>

void brume_csv_write_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

void brume_csv_write_field(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n"))
        brume_csv_write_quoted(out, text);
    else
        fputs(text, out);
}
