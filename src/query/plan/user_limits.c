/* Limits of users: read, written, in force. Promises: user_limits.h. */
#include "query/plan/user_limits.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* More than what a number takes while an answer is drawn, shown and recorded, which
 * tests/serve/run_limits.py measures. */
static const double BYTES_OF_NUMBER = 1024;

static const brume_user_limits defaults = {
    .memory = UINT64_C(1) << 30, .cells = UINT64_C(1) << 17, .ledger_bytes = UINT64_C(1) << 28};

static const struct {
    const char *word;
    size_t offset;
    bool is_size;
} members[] = {
    {"memory", offsetof(brume_user_limits, memory), true},
    {"cells", offsetof(brume_user_limits, cells), false},
    {"ledger-bytes", offsetof(brume_user_limits, ledger_bytes), true},
};
enum { MEMBERS = sizeof members / sizeof *members };

static uint64_t *member_of(brume_user_limits *limits, size_t i)
{
    return (uint64_t *)(void *)((char *)limits + members[i].offset);
}

/* "64MiB"; 0: it is none. */
static uint64_t read_size(const char *text, size_t length, bool is_size)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    uint64_t value = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 15 || digits > length)
        return 0;
    value = strtoull(text, NULL, 10);
    for (size_t i = 0; i < (is_size ? 4 : 1); i++)
        if (strlen(units[i]) == length - digits &&
            strncmp(text + digits, units[i], length - digits) == 0)
            return value <= (UINT64_MAX >> 11) >> (10 * i) ? value << (10 * i) : 0;
    return 0;
}

static brume_status read_member(const char *text, size_t length, brume_user_limits *out,
                                brume_error *error)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        size_t word = strlen(members[i].word);
        if (length <= word || strncmp(text, members[i].word, word) != 0 || text[word] != '=')
            continue;
        uint64_t value = read_size(text + word + 1, length - word - 1, members[i].is_size);
        if (value == 0 || *member_of(out, i))
            return brume_fail(error, BRUME_EARGUMENT,
                              members[i].is_size ? "a whole number of bytes, KiB, MiB or GiB"
                                                 : "a whole number",
                              "'%.60s' of the limits per user cannot be read, or is there twice",
                              members[i].word);
        *member_of(out, i) = value;
        return BRUME_OK;
    }
    return brume_fail(error, BRUME_ESYNTAX, "memory=512MiB,cells=20000,ledger-bytes=64MiB",
                      "'%.*s' is no limit per user", (int)(length < 60 ? length : 60), text);
}

brume_status brume_user_limits_parse(const char *text, brume_user_limits *out, brume_error *error)
{
    brume_user_limits read = {0};
    for (;;) {
        size_t length = strcspn(text, ",");
        BRUME_TRY(read_member(text, length, &read, error));
        if (!text[length])
            break;
        text += length + 1;
    }
    *out = read;
    return BRUME_OK;
}

void brume_user_limits_print(const brume_user_limits *limits, char text[BRUME_USER_LIMITS_TEXT])
{
    brume_user_limits copy = *limits;
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < MEMBERS; i++)
        if (*member_of(&copy, i))
            used += (size_t)snprintf(text + used, BRUME_USER_LIMITS_TEXT - used, "%s%s=%llu",
                                     used ? "," : "", members[i].word,
                                     (unsigned long long)*member_of(&copy, i));
}

brume_user_limits brume_user_limits_in_force(const brume_user_limits *said)
{
    brume_user_limits all = *said, standard = defaults;
    for (size_t i = 0; i < MEMBERS; i++)
        if (!*member_of(&all, i))
            *member_of(&all, i) = *member_of(&standard, i);
    return all;
}

brume_status brume_user_limits_check(const brume_user_limits *said, const char *dataset,
                                     double cells, double numbers, brume_error *error)
{
    static const char hint[] = "group by less, ask in several queries, or ask the owner";
    brume_user_limits all = brume_user_limits_in_force(said);
    if (cells > (double)all.cells)
        return brume_fail(error, BRUME_EPOLICY, hint,
                          "the answer would have %.15g cells, at most %llu are for a user of '%s'; "
                          "nothing was spent",
                          cells, (unsigned long long)all.cells, dataset);
    if (numbers * BYTES_OF_NUMBER > (double)all.memory)
        return brume_fail(error, BRUME_EPOLICY, hint,
                          "the answer would take about %.3g MiB of memory, at most %.4g are for a "
                          "user of '%s'; nothing was spent",
                          numbers * BYTES_OF_NUMBER / 1048576, (double)all.memory / 1048576,
                          dataset);
    return BRUME_OK;
}
