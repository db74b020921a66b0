/* The file that is called brume. It needs no library but libc: it says its version itself, and
 * loads the command line for everything else.
 *
 * The linker looks for each name of a library in all that the program itself is linked with, before
 * it looks into that library. What is loaded here is not among them, which makes DuckDB's 60,000
 * names quick to find. BRUME_LINKED: linked with the command line after all, for builds with
 * sanitizers, whose dlopen does not look where a program's libraries are. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <brume/version.h>

#include "base/library.h"
#include "cli/program.h"

static bool asks_version(int argc, char **argv)
{
    return argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0);
}

int main(int argc, char **argv)
{
    /* where it cannot be written, the command line says so */
    if (asks_version(argc, argv) && puts("brume " BRUME_VERSION) >= 0 && fflush(stdout) == 0)
        return 0;
#ifdef BRUME_LINKED
    return brume_program(argc, argv);
#else
    int (*program)(int, char **) = NULL;
    void *library = dlopen(BRUME_PROGRAM_FILE, RTLD_LAZY | RTLD_LOCAL);
    if (!library || !brume_library_find(library, "brume_program", &program)) {
        const char *why = dlerror();
        fprintf(stderr, "brume: %s\n", why ? why : "the command line cannot be loaded");
        return 70;
    }
    return program(argc, argv);
#endif
}
