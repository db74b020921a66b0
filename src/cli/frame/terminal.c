/* What a terminal gets: see the header. */
#include "cli/frame/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

bool brume_terminal_wants_colour(void)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
}

/* The bytes at `text` that go to a terminal as they are. */
static size_t kept_on_terminal(const char *text, size_t length)
{
    /* what brume_bold, brume_dim and brume_plain write: in a name of the data it does no harm */
    static const char *const own[] = {"\n", "\t", "\033[0m", "\033[1m", "\033[2m"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        size_t most = strlen(own[i]);
        if (length >= most && memcmp(text, own[i], most) == 0 &&
            (own[i][0] != '\033' || brume_terminal_wants_colour()))
            return most;
    }
    return 0;
}

size_t brume_terminal_piece(const char **text, size_t *length, char piece[BRUME_TERMINAL_PIECE])
{
    size_t used = 0;
    while (*length > 0 && used + BRUME_VISIBLE_MOST <= BRUME_TERMINAL_PIECE) {
        size_t step = kept_on_terminal(*text, *length), shown = step;
        if (step > 0)
            memcpy(piece + used, *text, step);
        else
            step = brume_visible_character(*text, *length, piece + used, &shown);
        used += shown;
        *text += step;
        *length -= step;
    }
    return used;
}
