/* Functions of a library that is loaded at run time. */
#ifndef BRUME_BASE_LIBRARY_H
#define BRUME_BASE_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Write the function of that name into *function, a pointer to a function of its type; false, and
 * NULL, if the library has none. */
static inline bool brume_library_find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found); /* an object pointer is no function pointer in C */
    return found != NULL;
}

#endif
