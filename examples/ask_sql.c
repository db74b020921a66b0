/* Ask SQL from a program: register a table with a budget, see what a question costs, ask it.
 * Compile with `pkg-config --cflags --libs brume-sql`. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <brume/session.h>

static const char question[] = "SELECT town, COUNT(*) AS n FROM people GROUP BY town";

static brume_status ask(brume_session *session, brume_error *error)
{
    char *answer = NULL;
    brume_status status = brume_session_call(
        session, "register",
        "{\"name\": \"people\", \"source\": \"people.csv\", \"unit\": \"person\","
        " \"budget\": {\"epsilon\": 1}, \"domain\": {\"town\": [\"Bonn\", \"Ulm\"]}}",
        NULL, error);
    if (status == BRUME_OK)
        status = brume_session_explain(session, question, "{\"epsilon\": 0.5}", &answer, error);
    printf("it would cost: %s\n", answer ? answer : "");
    brume_free(answer);
    if (status == BRUME_OK) /* "format": "text" is for a person; without it the answer is JSON */
        status = brume_session_call(session, "query",
                                    "{\"sql\": \"SELECT town, COUNT(*) AS n FROM people GROUP BY "
                                    "town\", \"epsilon\": 0.5, \"format\": \"text\"}",
                                    &answer, error);
    if (status == BRUME_OK) {
        printf("%s", answer);
        brume_free(answer);
    }
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
    brume_session *session = NULL;
    brume_error error = {0};
    if (make_table(folder) != 0)
        return 1;
    brume_status status = brume_session_open("brume.db", NULL, &session, &error);
    if (status == BRUME_OK)
        status = ask(session, &error);
    brume_session_close(session);
    if (status != BRUME_OK)
        fprintf(stderr, "%s: %s\n%s\n", brume_status_word(status), error.message, error.hint);
    static const char *const files[] = {"people.csv", "brume.db", "brume.db-wal", "brume.db-shm"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    rmdir(folder);
    return brume_status_exit_code(status);
}
