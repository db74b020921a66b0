/* brume audit --command: a command of brume that is not SQL (a statistic, a synthetic table), run
 * again and again in this process on tables that are made for it, against the price that it names.
 *
 * Promises: without a ledger, so that nothing is spent; files appear in a folder of their own. */
#include "command/audit/audit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/program_subject.h"
#include "audit/query/line_features.h"
#include "audit/query/score.h"
#include "command/frame/call.h"
#include "command/frame/output.h"
#include "command/host.h"

enum { MOST_WORDS = 100 };

/* What is typed, in words; TABLE and OUTPUT stand for files. */
typedef struct typed {
    char *room;
    char *words[MOST_WORDS];
    int count, used; /* used: by the name of the command */
    const brume_command *command;
} typed;

typedef struct subject {
    const typed *line;
    brume_program_subject *tables;
    brume_score *score;
} subject;

static brume_status add_word(typed *line, char *word, brume_error *error)
{
    if (line->count == MOST_WORDS)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "'--command' has more than %d words",
                          MOST_WORDS);
    line->words[line->count++] = word;
    return BRUME_OK;
}

/* Words with spaces between them; what stands between single quotes is one. */
static brume_status split(const char *text, typed *line, brume_error *error)
{
    line->room = strdup(text);
    if (!line->room)
        return brume_no_memory(error, "an audit");
    for (char *from = line->room, *to = line->room; *from;) {
        bool quoted = false;
        char *word = to;
        from += strspn(from, " \t\n");
        for (; *from && (quoted || !strchr(" \t\n", *from)); from++) {
            if (*from == '\'')
                quoted = !quoted;
            else
                *to++ = *from;
        }
        bool any = *from != 0;
        if (to > word)
            BRUME_TRY(add_word(line, word, error));
        from += any;
        *to++ = 0;
    }
    return BRUME_OK;
}

static brume_status read_words(const char *text, typed *line, brume_error *error)
{
    static char no_ledger[] = "--no-ledger";
    bool told = false, table = false;
    BRUME_TRY(split(text, line, error));
    BRUME_TRY(brume_find_command(line->count, line->words, &line->command, &line->used, error));
    if (line->command->answer || !brume_find_option(line->command, "no-ledger", 9))
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "statistics and synthetic tables are: for example --command 'release sum "
                          "TABLE --column value --bounds 0..1 --epsilon 1'",
                          "'%s' is not audited as a command", line->command->name);
    for (int i = line->used; i < line->count; i++) {
        told = told || strcmp(line->words[i], no_ledger) == 0;
        table = table || strcmp(line->words[i], "TABLE") == 0;
    }
    if (!table)
        return brume_fail(error, BRUME_EARGUMENT, "TABLE stands for the file",
                          "'--command' names no TABLE");
    return told ? BRUME_OK : add_word(line, no_ledger, error);
}

/* ---- one answer ---- */

/* What a command said (NULL: it was refused), and the file that it wrote (NULL: none). */
typedef struct command_said {
    json_t *answer;
    brume_error refused;
    char *written;
} command_said;

static void clear_said(command_said *of)
{
    json_decref(of->answer);
    free(of->written);
}

static char *read_file(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = NULL;
    size_t length = 0;
    if (!in)
        return NULL;
    if (getdelim(&text, &length, 0, in) < 0) {
        free(text);
        text = NULL;
    }
    fclose(in);
    return text;
}

static brume_status call_it(const typed *line, char **words, command_said *out, brume_error *error)
{
    bool help = false;
    brume_host nobody = {0};
    brume_call call = {.json = true, .host = &nobody};
    brume_status status = brume_call_open_output(&call, error);
    if (status == BRUME_OK)
        status =
            brume_call_parse(line->command, line->count - line->used, words, &call, &help, error);
    if (status == BRUME_OK) {
        call.json = true;
        out->refused = (brume_error){0};
        status = line->command->run(&call, &out->refused);
        if (status == BRUME_OK)
            status = brume_call_output(&call, error);
        else if (status != BRUME_EMEMORY && status != BRUME_EDISK && status != BRUME_ECANCELLED)
            status = BRUME_OK; /* a refusal is an answer */
        else if (error)
            *error = out->refused;
        if (status == BRUME_OK && out->refused.status == BRUME_OK) {
            out->answer = json_loads(call.buffer, 0, NULL);
            if (!out->answer)
                status = brume_fail(error, BRUME_EINTERNAL, NULL, "an answer is no JSON");
        }
    }
    brume_call_close(&call);
    brume_call_close_output(&call);
    return status;
}

/* The names of the files are the auditor's: what is said of them says nothing. */
static void forget_names(json_t *answer, const char *table, const char *written)
{
    const char *key;
    json_t *value;
    json_object_foreach (answer, key, value) {
        const char *text = json_string_value(value);
        if (text && (strcmp(text, table) == 0 || strcmp(text, written) == 0))
            json_string_set(value, "FILE");
    }
}

static brume_status answer(const subject *of, bool second, command_said *out, brume_error *error)
{
    char *words[MOST_WORDS], *written = NULL;
    const typed *line = of->line;
    const char *table = brume_program_subject_path(of->tables, second);
    *out = (command_said){0};
    if (asprintf(&written, "%s-%lx.csv", brume_program_subject_path(of->tables, false),
                 (unsigned long)pthread_self()) < 0)
        return brume_no_memory(error, "an audit");
    for (int i = line->used; i < line->count; i++)
        words[i - line->used] = strcmp(line->words[i], "TABLE") == 0    ? (char *)(uintptr_t)table
                                : strcmp(line->words[i], "OUTPUT") == 0 ? written
                                                                        : line->words[i];
    brume_status status = call_it(line, words, out, error);
    forget_names(out->answer, table, written);
    out->written = status == BRUME_OK ? read_file(written) : NULL;
    unlink(written);
    free(written);
    return status;
}

/* ---- what is seen of it ---- */

typedef struct command_visitor {
    brume_feature_visit *each;
    void *context;
} command_visitor;

/* Every number under its place in the answer; every other value as a name of its own. */
static void visit_json(const command_visitor *v, const char *place, const json_t *value)
{
    char name[300];
    const char *key;
    json_t *part;
    size_t index;
    if (json_is_number(value)) {
        v->each(v->context, place, json_number_value(value));
    } else if (json_is_object(value)) {
        json_object_foreach ((json_t *)(uintptr_t)value, key, part) {
            if (!*place && strcmp(key, "cost") == 0)
                continue; /* the same for all */
            snprintf(name, sizeof name, "%.200s.%.80s", place, key);
            visit_json(v, name, part);
        }
    } else if (json_is_array(value)) {
        json_array_foreach (value, index, part) {
            snprintf(name, sizeof name, "%.200s.%zu", place, index);
            visit_json(v, name, part);
        }
    } else {
        const char *text = json_is_string(value) ? json_string_value(value)
                           : json_is_true(value) ? "true"
                           : json_is_null(value) ? "null"
                                                 : "false";
        snprintf(name, sizeof name, "%.200s=%.80s", place, text);
        v->each(v->context, name, 1);
    }
}

static bool visit(const void *outcome, brume_feature_visit *each, void *context)
{
    const command_said *of = outcome;
    command_visitor v = {each, context};
    char name[500];
    if (!of->answer) {
        snprintf(name, sizeof name, "refused %d %.300s", (int)of->refused.status,
                 of->refused.message);
        each(context, name, 1);
        return true;
    }
    visit_json(&v, "", of->answer);
    return !of->written || brume_line_features_visit(of->written, each, context);
}

static brume_status draw(const void *context, bool second, brume_bits *bits, int64_t *out, size_t n,
                         brume_error *error)
{
    (void)bits; /* commands open their own */
    const subject *of = context;
    for (size_t i = 0; i < n; i++) {
        command_said one;
        BRUME_TRY(answer(of, second, &one, error));
        out[i] = brume_score_of(of->score, visit, &one);
        clear_said(&one);
    }
    return BRUME_OK;
}

/* ---- looking for tables ---- */

static void close_subject(subject *of)
{
    brume_program_subject_close(of->tables);
    brume_score_close(of->score);
    *of = (subject){of->line, NULL, NULL};
}

static brume_status learn(subject *of, const brume_audited *a, size_t count, brume_error *error)
{
    brume_audit_options options = brume_audited_options(a);
    brume_score_close(of->score);
    of->score = NULL;
    BRUME_TRY(brume_score_open(count, &of->score, error));
    for (size_t i = 0; i < 2 * count; i++) {
        command_said one;
        BRUME_TRY(brume_audit_check_stopped(&options, error));
        BRUME_TRY(answer(of, i % 2 != 0, &one, error));
        brume_status status = brume_score_learn(of->score, visit, &one, i % 2 != 0, error);
        clear_said(&one);
        BRUME_TRY(status);
    }
    brume_score_settle(of->score);
    return BRUME_OK;
}

static size_t between(size_t least, size_t count, size_t most)
{
    return count < least ? least : count > most ? most : count;
}

/* The pair of tables of which some draws promise most; then a score from more of them. */
static brume_status choose(subject *best, const brume_audited *a, double low, double high,
                           brume_adjacency adjacency, brume_error *error)
{
    double most = -INFINITY;
    brume_audit_options options = brume_audited_options(a);
    size_t few = between(40, a->samples / 16, 800);
    brume_status status = BRUME_OK;
    for (size_t pair = 0; status == BRUME_OK && pair < brume_program_pairs(); pair++) {
        subject next = {.line = best->line};
        double epsilon = 0, delta = 0;
        status = brume_program_subject_open("", low, high, adjacency, pair, &next.tables, error);
        if (status == BRUME_OK)
            status = learn(&next, a, few, error);
        if (status == BRUME_OK)
            status = brume_audit_guess(draw, &next, &options, few, NULL, &epsilon, &delta, error);
        if (status == BRUME_OK && (epsilon > most || !best->tables)) {
            subject before = *best;
            *best = next;
            next = before;
            most = epsilon;
        }
        close_subject(&next);
    }
    return status == BRUME_OK ? learn(best, a, between(40, a->samples / 4, 4000), error) : status;
}

/* ---- the audit ---- */

/* What the command says that it costs; nothing is charged. */
static brume_status read_claim(const typed *line, double low, double high, brume_audited *a,
                               brume_error *error)
{
    subject of = {.line = line};
    command_said one;
    BRUME_TRY(brume_program_subject_open("", low, high, BRUME_ADD_REMOVE, 0, &of.tables, error));
    brume_status status = answer(&of, true, &one, error);
    close_subject(&of);
    BRUME_TRY(status);
    const json_t *cost = json_object_get(one.answer, "cost");
    const json_t *epsilon = json_object_get(cost, "epsilon");
    if (!one.answer)
        status = one.refused.status;
    else if (!json_is_number(epsilon))
        status = brume_fail(error, BRUME_EUNSUPPORTED, "a price in epsilon can be",
                            "a command that does not say its epsilon cannot be audited");
    if (!one.answer && error)
        *error = one.refused;
    a->claimed = json_number_value(epsilon);
    a->delta = json_number_value(json_object_get(cost, "delta"));
    clear_said(&one);
    return status;
}

static brume_adjacency adjacency_of(const typed *line)
{
    for (int i = line->used; i + 1 < line->count; i++)
        if (strcmp(line->words[i], "--adjacency") == 0 &&
            strcmp(line->words[i + 1], "replace") == 0)
            return BRUME_REPLACE;
    return BRUME_ADD_REMOVE;
}

static brume_status save(brume_call *call, const subject *of, const brume_audited *a,
                         brume_error *error)
{
    const char *folder = brume_call_text(call, "save");
    if (!folder)
        return BRUME_OK;
    BRUME_TRY(brume_program_subject_save(of->tables, folder, error));
    BRUME_TRY(
        brume_audit_save_text(folder, "command.txt", brume_call_text(call, "command"), error));
    return brume_audit_save_event(folder, a, "score", brume_score_to_json(of->score), error);
}

static brume_status audit(brume_call *call, const typed *line, brume_audited *a, brume_error *error)
{
    double low, high;
    subject of = {.line = line};
    BRUME_TRY(brume_audit_bounds(brume_call_text(call, "bounds"), &low, &high, error));
    BRUME_TRY(read_claim(line, low, high, a, error));
    brume_status status = choose(&of, a, low, high, adjacency_of(line), error);
    if (status == BRUME_OK) {
        a->neighbours = brume_program_subject_neighbours(of.tables);
        if (brume_call_has(call, "time"))
            status = brume_audited_time(call, a, draw, &of, NULL, error);
        else
            status = brume_audited_draw(call, a, draw, &of, NULL, error);
    }
    if (status == BRUME_OK && !brume_call_has(call, "time"))
        status = brume_audited_write(call, a, error);
    if (status == BRUME_OK && !brume_call_has(call, "time"))
        status = save(call, &of, a, error);
    close_subject(&of);
    return status;
}

brume_status brume_audit_command(brume_call *call, brume_audited *a, brume_error *error)
{
    typed line = {0};
    a->samples = brume_call_count(call, "samples", brume_call_has(call, "time") ? 200 : 2000);
    a->threads = brume_audit_processors();
    a->step = 1;
    a->ordered = true;
    a->outcome = "a score of what the command says, in 64ths";
    BRUME_TRY(brume_audit_make_folder(brume_call_text(call, "save"), error));
    brume_status status = read_words(brume_call_text(call, "command"), &line, error);
    if (status == BRUME_OK)
        status = audit(call, &line, a, error);
    free(line.room);
    return status;
}
