/* The page of the server: HTML, CSS and ES modules, compiled into the program.
 *
 * 1. What is served is a constant: no file is read while the server runs, no path reaches a file
 *    system, and nothing in it depends on a user, a dataset or a request.
 * 2. The page needs no network but the server it came from, and no inline script or style: every
 *    answer of this table goes out with the headers that brume_page_headers lists. */
#ifndef BRUME_SERVE_PAGE_H
#define BRUME_SERVE_PAGE_H

#include <stddef.h>

typedef struct brume_page_file {
    const char *path; /* "/app.js" */
    const char *type; /* of its content, with the character set */
    const char *tag;  /* an entity tag, with its quotation marks */
    const unsigned char *bytes;
    size_t size;
} brume_page_file;

/* All files, sorted by path. */
extern const brume_page_file brume_page_files[];
extern const size_t brume_page_file_count;

/* The file of a path, compared byte by byte; "/" is "/index.html". NULL: there is none. */
const brume_page_file *brume_page_find(const char *path);

typedef struct brume_page_header {
    const char *name, *value;
} brume_page_header;

/* The headers of every file of the page; the last has the name NULL. Cache-Control makes a browser
 * ask each time, with the entity tag: answer 304 where If-None-Match is the tag. */
extern const brume_page_header brume_page_headers[];

#endif
