/* Ask SQL from a program. Everything that a program needs is in `ask`: open a ledger, register a
 * table with a budget, ask, close. Compile with `pkg-config --cflags --libs brume-sql`. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <brume/session.h>

/* The options of 'brume register', as JSON: what is known of the table without a row. */
static const char people[] = "{\"name\": \"people\", \"source\": \"people.csv\", \"unit\": "
                             "\"person\", \"budget\": {\"epsilon\": 1}, \"domain\": {\"town\": "
                             "[\"Bonn\", \"Ulm\"]}}";
static const char question[] = "SELECT town, COUNT(*) AS n FROM people GROUP BY town";
static const char price[] = "{\"epsilon\": 0.5}";

static brume_status ask(void)
{
    brume_session *session = NULL;
    brume_error error = {0};
    char *plan = NULL, *answer = NULL;
    brume_status status = brume_session_open("brume.db", NULL, &session, &error);
    if (status == BRUME_OK)
        status = brume_session_call(session, "register", people, NULL, &error);
    if (status == BRUME_OK)
        status = brume_session_explain(session, question, price, &plan, &error);
    if (status == BRUME_OK)
        status = brume_session_query(session, question, price, NULL, &answer, &error);
    if (status == BRUME_OK)
        printf("before, for free: %s\nthe answer: %s\n", plan, answer);
    else
        fprintf(stderr, "%s: %s\n%s\n", brume_status_word(status), error.message, error.hint);
    brume_free(plan);
    brume_free(answer);
    brume_session_close(session);
    return status;
}

/* A table of 200 people, in a folder of its own. */
static int make_table(char *folder)
{
    FILE *file = mkdtemp(folder) && chdir(folder) == 0 ? fopen("people.csv", "w") : NULL;
    if (!file)
        return 1;
    fputs("person,town\n", file);
    for (int i = 0; i < 200; i++)
        fprintf(file, "p%d,%s\n", i, i % 3 ? "Bonn" : "Ulm");
    return fclose(file);
}

int main(void)
{
    char folder[] = "/tmp/brume-example-XXXXXX";
    if (make_table(folder) != 0)
        return 1;
    brume_status status = ask();
    static const char *const files[] = {"people.csv", "brume.db", "brume.db-wal", "brume.db-shm"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    rmdir(folder);
    return brume_status_exit_code(status);
}
