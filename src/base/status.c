/* The status table, read from status.def. */
#include <brume/status.h>
#include <brume/version.h>

#include <stddef.h>

typedef struct status_row {
    brume_status status;
    int exit_code;
    const char *sqlstate, *word, *text;
} status_row;

static const status_row status_table[] = {
#define BRUME_STATUS(name, value, exit_code, sqlstate, word, text)                                 \
    {BRUME_##name, exit_code, sqlstate, word, text},
#include <brume/status.def>
#undef BRUME_STATUS
};

static const status_row unknown_status = {BRUME_EINTERNAL, 70, "XX000", "internal",
                                          "unknown status"};

static const status_row *find(brume_status status)
{
    for (size_t i = 0; i < sizeof status_table / sizeof *status_table; i++)
        if (status_table[i].status == status)
            return &status_table[i];
    return &unknown_status;
}

const char *brume_status_text(brume_status status)
{
    return find(status)->text;
}

const char *brume_status_word(brume_status status)
{
    return find(status)->word;
}

const char *brume_status_sqlstate(brume_status status)
{
    return find(status)->sqlstate;
}

int brume_status_exit_code(brume_status status)
{
    return find(status)->exit_code;
}

const char *brume_version(void)
{
    return BRUME_VERSION;
}
