/* brume, the command line (frame/run.c runs the command).
 *
 * Exit codes come from the status table. Nothing here is seeded and nothing can be: randomness is
 * the kernel's. */
#include "cli/program.h"

#include <sys/resource.h>

#include "cli/frame/run.h"
#include "cli/serve/serve.h"
#include "cli/shell/shell.h"

/* A process that is killed or fails leaves no image of its memory behind: rows are in it. */
static void leave_no_core(void)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none); /* to lower it is always allowed */
}

int brume_program(int argc, char **argv)
{
    static const brume_own_command own[] = {
        {"shell", brume_shell_run}, {"serve", brume_serve_run}, {NULL, NULL}};
    leave_no_core();
    return argc > 0 ? brume_run_words(argc - 1, argv + 1, own) : brume_run_words(0, argv, own);
}
