/* Finding a file of the page. Nothing is opened: a path that is not in the table does not exist. */
#include "serve/page/page.h"

#include <string.h>

const brume_page_file *brume_page_find(const char *path)
{
    const char *name = strcmp(path, "/") == 0 ? "/index.html" : path;
    for (size_t i = 0; i < brume_page_file_count; i++)
        if (strcmp(name, brume_page_files[i].path) == 0)
            return &brume_page_files[i];
    return NULL;
}
