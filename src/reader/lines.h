/* The lines of a text file, plain or gzip, in blocks of whole lines; of a plain file also the lines
 * of a range of bytes, so that several threads may share it.
 *
 * A line belongs to the range in which its first byte is. A line of more than 2^28 bytes, its LF
 * among them, cannot be read. What is appended to a file after it was opened is not seen; a file
 * that has become another one, or shorter, is ESOURCE. */
#ifndef BRUME_READER_LINES_H
#define BRUME_READER_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include <brume/status.h>

/* A file as it was found. */
typedef struct brume_text_file {
    const char *path;  /* the caller's, as long as anything uses this */
    const char *named; /* what messages call it; likewise */
    bool gzip;
    uint64_t device, inode, size; /* a gzip file's size is unknown: UINT64_MAX */
    uint64_t first; /* where a header line begins: 3 behind a byte-order mark, else 0 */
} brume_text_file;

/* Where the row of a line begins, in a file whose first line is a row: behind a byte-order mark,
 * wherever the line stands. Dropped at the beginning of a file alone, a mark would let the row
 * before it decide how its own row is read. The line ends with LF. */
static inline char *brume_row_begin(char *line)
{
    return line[0] == '\xef' && line[1] == '\xbb' && line[2] == '\xbf' ? line + 3 : line;
}

/* Find out the above. ESOURCE if it cannot be read. */
BRUME_MUST_USE brume_status brume_text_file_look(const char *path, const char *named,
                                                 brume_text_file *out, brume_error *error);

typedef struct brume_lines brume_lines;

/* Whole lines: from `begin` to `end`, each ended by LF, also the last one of a file. The bytes are
 * the caller's to change until the next block, and BRUME_FIND_PADDING readable ones follow. */
typedef struct brume_line_block {
    char *begin, *end;
    bool too_long; /* one line that cannot be read, in place of begin and end */
} brume_line_block;

/* The lines that begin at the bytes from..to-1 of the file. `begins`: at `from` a line does begin.
 * In a gzip file only from..UINT64_MAX with `begins`. */
BRUME_MUST_USE brume_status brume_lines_open(const brume_text_file *file, uint64_t from,
                                             uint64_t to, bool begins, brume_lines **out,
                                             brume_error *error);
void brume_lines_close(brume_lines *lines);

/* The next block; *more is false after the last. */
BRUME_MUST_USE brume_status brume_lines_next(brume_lines *lines, brume_line_block *block,
                                             bool *more, brume_error *error);

#endif
