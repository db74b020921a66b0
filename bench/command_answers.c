/* What a command of brume answers on a table, again and again, through the library libbrume-sql:
 *
 *     command_answers COMMAND OPTIONS TABLE ANSWERS
 *
 * OPTIONS is a JSON object (brume/session.h), in which "TABLE" stands for the table's path. Each
 * answer is a line: the number in its member "value", or all of it without its cost, or the
 * refusal. For 'brume audit --program': so statistics, streams and synthetic data are audited as
 * they are shipped. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <brume/session.h>

static void print_answer(const char *text)
{
    json_t *answer = json_loads(text, 0, NULL);
    const json_t *value = json_object_get(answer, "value");
    if (json_is_number(value)) {
        printf("%.17g\n", json_number_value(value));
    } else {
        json_object_del(answer, "cost");
        char *rest = json_dumps(answer, JSON_COMPACT | JSON_SORT_KEYS);
        puts(rest ? rest : text);
        free(rest);
    }
    json_decref(answer);
}

/* The options with the table's path; the caller frees them. */
static char *options_for(const char *typed, const char *table)
{
    json_t *options = json_loads(typed, 0, NULL), *value;
    const char *name;
    json_object_foreach (options, name, value)
        if (json_is_string(value) && strcmp(json_string_value(value), "TABLE") == 0)
            json_string_set(value, table);
    char *text = options ? json_dumps(options, 0) : NULL;
    json_decref(options);
    return text;
}

int main(int count, char **words)
{
    brume_session *session = NULL;
    brume_error error = {0};
    if (count != 5) {
        fputs("command_answers COMMAND OPTIONS TABLE ANSWERS\n", stderr);
        return 2;
    }
    char *options = options_for(words[2], words[3]);
    if (!options || brume_session_open(NULL, NULL, &session, &error) != BRUME_OK) {
        fprintf(stderr, "command_answers: %s\n", options ? error.message : "OPTIONS is no JSON");
        return 2;
    }
    for (uintmax_t left = strtoumax(words[4], NULL, 10); left > 0; left--) {
        char *answer = NULL;
        if (brume_session_call(session, words[1], options, &answer, &error) == BRUME_OK)
            print_answer(answer);
        else
            printf("refused: %s\n", error.message);
        brume_free(answer);
    }
    brume_session_close(session);
    free(options);
    return 0;
}
