/* The page: files that are compiled into the program (tools/embed_files). GET / gives /index.html,
 * and every other file is served under its path below src/serve/page/files, to anybody: nothing in
 * a file is secret. A file is added by its line in meson.build here. The strict policy that is sent
 * with them allows scripts, styles, images and connections of the same origin only, nothing inline.
 */
#ifndef BRUME_SERVE_PAGE_PAGE_H
#define BRUME_SERVE_PAGE_PAGE_H

#include <stddef.h>

typedef struct brume_page_file {
    const char *path; /* "/index.html" */
    const char *type; /* of the content */
    const unsigned char *bytes;
    size_t length;
    const char *tag; /* "\"0123...\"", for If-None-Match */
} brume_page_file;

extern const brume_page_file brume_page_files[];
extern const size_t brume_page_file_count;

/* The file of a path, exactly as it is written; "/" is the first page. NULL: there is none. */
const brume_page_file *brume_page_find(const char *path);

#endif
