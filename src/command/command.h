/* A command of the library and the command line, described once.
 *
 * A file of src/command/<group>/ exports one const brume_command for each of its commands, and
 * commands.def has one line for each. Parsing, help, the man page and the completions of all shells
 * read this description, so that a command is added in three steps:
 *
 *   1. `const brume_command brume_command_<name> = {...};` in a file of src/command/<group>/
 *   2. the line `BRUME_COMMAND(<name>)` in commands.def (`ledger verify` is ledger_verify there)
 *   3. the file, if it is new, in src/command/meson.build, and its tests in tests/cli/
 *
 * What `run` may count on: options are known, of their type and in their range; required ones and
 * required operands are there. It writes text to call->out, or with call->json exactly one object
 * by brume_call_write_json; nothing of it reaches anybody unless `run` returns BRUME_OK. */
#ifndef BRUME_COMMAND_COMMAND_H
#define BRUME_COMMAND_COMMAND_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <brume/status.h>

#include "base/error.h"
#include "base/json_real.h"
#include "base/read_number.h"
#include "base/text.h"

typedef enum brume_option_type {
    BRUME_OPTION_FLAG,   /* given or not */
    BRUME_OPTION_TEXT,   /* any text */
    BRUME_OPTION_REAL,   /* a finite decimal in the option's range */
    BRUME_OPTION_COUNT,  /* a whole number in the option's range, at most 2^53 */
    BRUME_OPTION_CHOICE, /* one of `choices` */
    BRUME_OPTION_FILE,   /* a path; shells complete it */
} brume_option_type;

typedef struct brume_option {
    const char *name; /* without the dashes */
    brume_option_type type;
    const char *argument;    /* "N", "FILE"; NULL for a flag */
    const char *help;        /* one line, lower case, no full stop */
    bool required, repeated; /* repeated: may be given several times */
    double least, most;      /* range of a real or a count: both 0 means no range (count: >= 0) */
    bool least_open, most_open; /* whether the ends are excluded */
    const char *const *choices; /* of a choice; NULL ends */
    char letter;                /* its short form: 'f' for -f; 0: it has none */
} brume_option;

/* What an operand is; shells complete by it. */
typedef enum brume_operand_type {
    BRUME_OPERAND_TEXT,
    BRUME_OPERAND_EXPRESSION, /* laplace(scale=10)*5 + ... */
    BRUME_OPERAND_MECHANISM,  /* the name of a card */
    BRUME_OPERAND_COMMAND,    /* the name of a command */
    BRUME_OPERAND_FILE,
    BRUME_OPERAND_CHOICE, /* one of `choices` */
} brume_operand_type;

typedef struct brume_operand {
    const char *name; /* "EXPR" */
    brume_operand_type type;
    const char *help;
    bool optional, repeated; /* only the last may be either */
    const char *const *choices;
} brume_operand;

typedef struct brume_command brume_command;
typedef struct brume_typed brume_typed; /* a value as it was typed */
struct brume_stream_answer;
typedef struct brume_host brume_host; /* who runs the command (host.h) */

/* One invocation. */
typedef struct brume_call {
    const brume_command *command;
    FILE *out;              /* a buffer: it becomes the answer when the command succeeds */
    bool json;              /* --json was given */
    bool colour;            /* the text is for a terminal that wants colour */
    const brume_host *host; /* NULL: nobody */
    const char **operands;
    size_t operand_count;
    brume_typed *values; /* read them with the functions below */
    size_t value_count, value_room;
    struct brume_call_kept *kept; /* what is closed with the call */
    size_t kept_count;
    char *buffer; /* what `out` writes to */
    size_t buffer_length;
} brume_call;

struct brume_command {
    const char *name;        /* "noise", "ledger verify" */
    const char *summary;     /* one line, no full stop */
    const char *description; /* paragraphs for help and the man page, parted by an empty line */
    const char *usage;       /* what follows the name; NULL: made from operands and options */
    const brume_operand *operands;
    size_t operand_count;
    const brume_option *options; /* --json and --help belong to every command */
    size_t option_count;
    const char *const *examples; /* without the leading "brume"; every one is run by the tests */
    /* A stream, which answers questions one by one (host.h): write one answer. NULL: it is none. */
    void (*answer)(const brume_call *call, uint64_t index,
                   const struct brume_stream_answer *answer);
    brume_status (*run)(brume_call *call, brume_error *error);
};

/* The fields of a command that are lists: BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a user")). */
#define BRUME_OPERANDS(...)                                                                        \
    .operands = (const brume_operand[]){__VA_ARGS__},                                              \
    .operand_count = sizeof((const brume_operand[]){__VA_ARGS__}) / sizeof(brume_operand)
#define BRUME_OPTIONS(...)                                                                         \
    .options = (const brume_option[]){__VA_ARGS__},                                                \
    .option_count = sizeof((const brume_option[]){__VA_ARGS__}) / sizeof(brume_option)
#define BRUME_EXAMPLES(...)                                                                        \
    .examples = (const char *const[])                                                              \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* An operand of a table; after its help stand further fields, if it has any. */
#define BRUME_OPERAND(type_, name_, ...)                                                           \
    {                                                                                              \
        .type = BRUME_OPERAND_##type_, .name = name_, .help = __VA_ARGS__                          \
    }

/* An option of a table: BRUME_OPTION(COUNT, "rows", "N", "how many rows", BRUME_FROM_TO(1, 10)).
 * After its help stand further fields, if it has any: a range, .repeated = true, .choices = words.
 */
#define BRUME_OPTION(type_, name_, argument_, ...)                                                 \
    {                                                                                              \
        .type = BRUME_OPTION_##type_, .name = name_, .argument = argument_, .help = __VA_ARGS__    \
    }
#define BRUME_FLAG(name_, ...)                                                                     \
    {                                                                                              \
        .type = BRUME_OPTION_FLAG, .name = name_, .help = __VA_ARGS__                              \
    }

/* Its range: [a, b], (a, b], [a, b), (a, b). */
#define BRUME_FROM_TO(least_, most_)    .least = least_, .most = most_
#define BRUME_ABOVE_TO(least_, most_)   .least = least_, .most = most_, .least_open = true
#define BRUME_FROM_BELOW(least_, most_) .least = least_, .most = most_, .most_open = true
#define BRUME_BETWEEN(least_, most_)    BRUME_ABOVE_TO(least_, most_), .most_open = true

/* Options of a kind: a probability in (0, 1), a delta in [0, 1), a number above 0. */
#define BRUME_PROBABILITY_OPTION(name_, argument_, help_)                                          \
    BRUME_OPTION(REAL, name_, argument_, help_, BRUME_BETWEEN(0, 1))
#define BRUME_DELTA_OPTION(help_) BRUME_OPTION(REAL, "delta", "D", help_, BRUME_FROM_BELOW(0, 1))
#define BRUME_POSITIVE_OPTION(name_, argument_, help_)                                             \
    BRUME_OPTION(REAL, name_, argument_, help_, BRUME_BETWEEN(0, INFINITY))

/* --ledger FILE, the same for all commands that open one. */
#define BRUME_LEDGER_OPTION                                                                        \
    BRUME_OPTION(FILE, "ledger", "FILE",                                                           \
                 "the ledger, a file or postgresql://...; else $BRUME_LEDGER, else ./brume.db")
#define BRUME_WINDOW_OPTION                                                                        \
    BRUME_OPTION(TEXT, "windows", "WINDOW", "the one window that is read, of a table that grows")

/* --project NAME, of all commands that ask (ledger/review.h). */
#define BRUME_PROJECT_OPTION BRUME_OPTION(TEXT, "project", "NAME", "ask in this project")

/* Every command, in the order of commands.def. */
const brume_command *const *brume_commands(size_t *count);
const brume_command *brume_command_by_name(const char *name);

/* Is `family` the first word of the command's two, as "ledger" of "ledger verify"? */
bool brume_command_is_of(const brume_command *command, const char *family);

/* --- reading the call ------------------------------------------------------------------------- */

/* How often the option was given; whether it was. */
size_t brume_call_times(const brume_call *call, const char *option);
bool brume_call_has(const brume_call *call, const char *option);

/* The text as typed (decimals that must be exact are read from it), or NULL if it was not given;
 * the index-th of a repeated option. */
const char *brume_call_text(const brume_call *call, const char *option);
const char *brume_call_text_at(const brume_call *call, const char *option, size_t index);

/* The first of the command's options, in their order, that was given and is none of `names`, which
 * NULL ends; and the first of `names` that was given. NULL: none. */
const char *brume_call_other_than(const brume_call *call, const char *const *names);
const char *brume_call_any_of(const brume_call *call, const char *const *names);

/* What the call asks for, by which charges are told apart: `first`, then the options that were
 * given but `left_out`, as " --column 'age'", or without the quotes. The call keeps the text. */
BRUME_MUST_USE brume_status brume_call_describe(brume_call *call, const char *first,
                                                const char *const *left_out, bool quoted,
                                                const char **what, brume_error *error);

/* All texts of a repeated option, `*count` of them; the call keeps the list. */
BRUME_MUST_USE brume_status brume_call_texts(brume_call *call, const char *option,
                                             const char *const **texts, size_t *count,
                                             brume_error *error);

/* The number, or `otherwise` if the option was not given. */
double brume_call_real(const brume_call *call, const char *option, double otherwise);
uint64_t brume_call_count(const brume_call *call, const char *option, uint64_t otherwise);

/* The operand, or NULL. */
const char *brume_call_operand(const brume_call *call, size_t index);

/* Exactly one of the two options must be given; BRUME_EARGUMENT otherwise. */
BRUME_MUST_USE brume_status brume_call_one_of(const brume_call *call, const char *first,
                                              const char *second, brume_error *error);

/* What the command opens is the call's from here on, and closed with it: the last first, also after
 * an error. `what` is closed at once if that fails. NULL is a failed allocation: EMEMORY. */
BRUME_MUST_USE brume_status brume_call_keep(brume_call *call, void (*close)(void *), void *what,
                                            brume_error *error);
BRUME_MUST_USE brume_status brume_call_keep_json(brume_call *call, json_t *json,
                                                 brume_error *error);

/* --- writing the answer (output.c) ------------------------------------------------------------ */

/* The one object of --json; takes over `object`. NULL is taken as a failed allocation, so that
 * json_pack may be written in place. Reals are as in command/frame/output.h. */
BRUME_MUST_USE brume_status brume_call_write_json(brume_call *call, json_t *object,
                                                  brume_error *error);

/* A line for a person that is no part of the answer, if the host has somebody to tell. */
void brume_call_note(const brume_call *call, const char *format, ...) BRUME_PRINTF(2, 3);

/* Give what is in call->out away now, if the host takes parts of an answer; only for streams of
 * lines too long to hold, and for answers that must be out before the next is charged. */
BRUME_MUST_USE brume_status brume_call_flush(brume_call *call, brume_error *error);

/* The shortest decimal that reads back as `value`, for text; at most 25 characters. */
typedef struct brume_number_text {
    char text[32];
} brume_number_text;
brume_number_text brume_shortest(double value);

/* A number above 0 with so many significant digits, rounded up (what something costs, how far off
 * it may be) or down (what is left). */
brume_number_text brume_digits_up(double value, int digits);
brume_number_text brume_digits_down(double value, int digits);

/* Escape sequences on a terminal, "" elsewhere. */
const char *brume_bold(const brume_call *call);
const char *brume_dim(const brume_call *call);
const char *brume_plain(const brume_call *call);

#endif
