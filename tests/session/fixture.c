/* A folder with a table, a ledger and a session. */
#include "fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "check.h"

static void write_rows(const char *path, int rows)
{
    static const char *const towns[] = {"Ulm", "Bonn", "Trier"};
    FILE *csv = fopen(path, "w");
    assert_non_null(csv);
    fprintf(csv, "person,town,smokes,income\n");
    for (int i = 0; i < rows; i++)
        fprintf(csv, "p%d,%s,%s,%d\n", i, towns[i % 3], i % 4 ? "false" : "true", i % 5000);
    assert_int_equal(fclose(csv), 0);
}

void fixture_open(fixture *all, int rows, const char *epsilon)
{
    brume_error error = {0};
    char options[512];
    snprintf(all->folder, sizeof all->folder, "/tmp/brume-session-XXXXXX");
    assert_non_null(mkdtemp(all->folder));
    snprintf(all->csv, sizeof all->csv, "%s/people.csv", all->folder);
    snprintf(all->ledger, sizeof all->ledger, "%s/brume.db", all->folder);
    write_rows(all->csv, rows);
    assert_ok(brume_session_open(all->ledger, NULL, &all->session, &error));
    snprintf(options, sizeof options,
             "{\"name\": \"people\", \"source\": \"%s\", \"unit\": \"person\", "
             "\"budget\": {\"epsilon\": \"%s\"}, \"rule\": \"pure\", \"max_groups\": 1, "
             "\"max_rows\": 1, \"limits\": \"fixed\", "
             "\"columns\": \"person text, town text, smokes boolean, income integer\", "
             "\"bounds\": {\"income\": \"0..5000\"}, "
             "\"domain\": {\"town\": [\"Ulm\", \"Bonn\", \"Trier\"]}}",
             all->csv, epsilon);
    free(fixture_call(all->session, "register", options));
}

void fixture_close(fixture *all)
{
    static const char *const endings[] = {"people.csv", "brume.db", "brume.db-wal", "brume.db-shm",
                                          "brume.db-stream"};
    brume_session_close(all->session);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", all->folder, endings[i]);
        unlink(path);
    }
    rmdir(all->folder);
}

char *fixture_call(brume_session *session, const char *command, const char *options)
{
    brume_error error = {0};
    char *answer = NULL;
    assert_ok(brume_session_call(session, command, options, &answer, &error));
    assert_non_null(answer);
    return answer;
}

static json_t *budget(brume_session *session)
{
    char *text = fixture_call(session, "budget", "{\"name\": \"people\"}");
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    brume_free(text);
    return json;
}

double fixture_left(brume_session *session)
{
    json_t *json = budget(session);
    double left = json_number_value(json_object_get(json_object_get(json, "remaining"), "epsilon"));
    json_decref(json);
    return left;
}

int fixture_queries(brume_session *session)
{
    json_t *json = budget(session);
    int queries = (int)json_integer_value(json_object_get(json, "queries"));
    json_decref(json);
    return queries;
}
