/* How the lines of a text file (CSV, TSV, JSON lines) are read. The owner declares it; nothing of
 * it is ever found out from rows, because then one row could change how all others are read.
 *
 * As text, for the ledger, it is a JSON object of exactly these keys:
 *   {"delimiter":",","quote":"\"","header":true,"multiline":false}
 * where "quote" is "" for none. */
#ifndef BRUME_READER_FORMAT_H
#define BRUME_READER_FORMAT_H

#include <stdbool.h>

#include <brume/status.h>

typedef struct brume_text_format {
    char delimiter; /* CSV: between fields; an ASCII byte that is not LF, CR, NUL or the quote */
    char quote;     /* CSV: around a field, doubled inside; 0: none */
    bool header;    /* CSV: the first line names the columns */
    bool multiline; /* CSV: a quoted field may hold line ends. Then a row may swallow others, and
                       the file is read by one thread. */
} brume_text_format;

/* The defaults of a file name: a comma, a tab for .tsv (also .tsv.gz); '"'; a header; no multiline.
 */
brume_text_format brume_text_format_of(const char *location);

/* The text of the ledger and back. EARGUMENT for a text that is no such object, or whose format
 * breaks a rule above. The printed text is the caller's to free; NULL: no memory. */
char *brume_text_format_print(const brume_text_format *format);
BRUME_MUST_USE brume_status brume_text_format_parse(const char *text, brume_text_format *out,
                                                    brume_error *error);

#endif
