/* Rows of a text as the reader gives them, written as one text. */
#ifndef BRUME_TESTS_READER_ROWS_OF_H
#define BRUME_TESTS_READER_ROWS_OF_H

#include "reader/text_files.h"

/* A file in memory. */
typedef struct memory_file {
    int descriptor;
    char path[40];
} memory_file;

void memory_file_open(memory_file *file);
void memory_file_write(const memory_file *file, const void *bytes, size_t length);
void memory_file_close(memory_file *file);

/* The wanted columns of all rows, part by part, all of them TEXT: of each field its bytes, or ~ for
 * NULL, each field ended by \1 and each row by \2. */
void rows_of(const brume_text_table *table, const size_t *wanted, size_t wanted_count, char *out,
             size_t room);

#endif
