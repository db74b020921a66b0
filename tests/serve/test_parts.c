/* The parts of the server that need no network: times of leaving, order, routes, bodies, rates,
 * addresses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "check.h"

#include "serve/address.h"
#include "serve/http/body.h"
#include "serve/http/guard.h"
#include "serve/http/route.h"
#include "serve/page/page.h"
#include "serve/pool_state.h"

/* pool.h, 4 */
static void answers_leave_at_quantised_times(void **state)
{
    (void)state;
    static const double powers[][2] = {{0, .25}, {.001, .25}, {.25, .25}, {.2501, .5}, {.5, .5},
                                       {.9, 1},  {1.0001, 2}, {31.9, 32}, {32.1, 64}};
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
        assert_true(brume_pool_leaving_time(powers[i][0], 0) == powers[i][1]);
    assert_true(brume_pool_leaving_time(0, 3) == 3);
    assert_true(brume_pool_leaving_time(2.9, 3) == 3);
    assert_true(brume_pool_leaving_time(3.1, 3) == 6);
}

/* pool.h, 1: nothing that spends or reads data is on the list. */
static void commands_that_touch_rows_are_not_free(void **state)
{
    (void)state;
    static const char *const touching[] = {"query",  "limits", "release",   "register",
                                           "amend",  "synth",  "inspect",   "stream pmw",
                                           "attack", "audit",  "statistic", "unheard of"};
    for (size_t i = 0; i < sizeof touching / sizeof *touching; i++)
        assert_false(brume_pool_is_free(touching[i]));
    assert_true(brume_pool_is_free("explain") && brume_pool_is_free("budget"));
}

/* pool.h, 3: too many datasets, never too few. */
static void a_text_names_its_datasets(void **state)
{
    (void)state;
    static char visits[] = "visits", wards[] = "wards", people[] = "people";
    static char *const names[] = {visits, wards, people};
    uint64_t one = brume_pool_datasets_of(names, 3, "SELECT COUNT(*) FROM Visits", NULL);
    uint64_t other = brume_pool_datasets_of(names, 3, NULL, "{\"sql\":\"SELECT 1 FROM wards\"}");
    uint64_t both = brume_pool_datasets_of(names, 3, "FROM visits JOIN wards", "{}");
    assert_true(one != ~(uint64_t)0 && other != ~(uint64_t)0);
    assert_true((both & one) == one && (both & other) == other);
    assert_true(brume_pool_datasets_of(names, 3, "SELECT COUNT(*) FROM unknown", "{}") ==
                ~(uint64_t)0);
}

static const brume_http_route *found(const char *method, const char *path, const char *rest)
{
    const char *got = NULL;
    bool other = false;
    const brume_http_route *route = brume_http_route_find(method, path, &got, &other);
    if (route)
        assert_string_equal(got, rest);
    return route;
}

static void paths_find_their_routes(void **state)
{
    (void)state;
    size_t count = 0;
    const char *rest = NULL;
    bool other = false;
    const brume_http_route *routes = brume_http_routes(&count);
    for (size_t i = 0; i < count; i++) {
        char path[100];
        const char *brace = strchr(routes[i].path, '{');
        int length = brace ? (int)(brace - routes[i].path) : (int)strlen(routes[i].path);
        snprintf(path, sizeof path, "%.*s%s", length, routes[i].path, brace ? "x y" : "");
        assert_ptr_equal(found(routes[i].method, path, brace ? "x y" : ""), &routes[i]);
    }
    assert_string_equal(found("HEAD", "/v1/datasets", "")->command, "datasets");
    assert_string_equal(found("POST", "/v1/call/ledger/verify", "ledger/verify")->path,
                        "/v1/call/{command}");
    assert_null(found("GET", "/v1/datasets/", ""));
    assert_null(found("GET", "/v1/datasets/a/b", ""));
    assert_null(found("GET", "/v1/../v1/me", ""));
    assert_null(found("GET", "/V1/me", ""));
    assert_null(brume_http_route_find("DELETE", "/v1/query", &rest, &other));
    assert_true(other);
    assert_null(brume_http_route_find("GET", "/v2", &rest, &other));
    assert_false(other);
}

static void the_document_has_every_route(void **state)
{
    (void)state;
    size_t count = 0;
    const brume_http_route *routes = brume_http_routes(&count);
    char *text = brume_http_route_openapi();
    json_t *document = json_loads(text, 0, NULL);
    const json_t *paths = json_object_get(document, "paths");
    for (size_t i = 0; i < count; i++) {
        char method[8] = {0};
        for (size_t c = 0; routes[i].method[c]; c++)
            method[c] = (char)(routes[i].method[c] | 0x20);
        const json_t *one = json_object_get(json_object_get(paths, routes[i].path), method);
        assert_string_equal(json_string_value(json_object_get(one, "summary")), routes[i].summary);
        assert_true((routes[i].needs == BRUME_HTTP_ROUTE_NOBODY) ==
                    (json_object_get(one, "security") != NULL));
    }
    json_decref(document);
    free(text);
}

/* body.h, 1 to 6 */
static brume_status read_body(const char *method, const char *path, const char *body,
                              brume_http_call *call)
{
    const char *rest = NULL;
    bool other = false;
    brume_error error = {0};
    const brume_http_route *route = brume_http_route_find(method, path, &rest, &other);
    assert_non_null(route);
    *call = (brume_http_call){0};
    brume_status status = brume_http_read_call(route, rest, body, strlen(body), call, &error);
    assert_true(status == BRUME_OK || (error.status == status && !call->command));
    return status;
}

static void bodies_become_calls(void **state)
{
    (void)state;
    brume_http_call call;
    assert_int_equal(read_body("POST", "/v1/query", "{\"sql\":\"S\",\"epsilon\":0.1}", &call), 0);
    assert_string_equal(call.command, "query");
    json_t *options = json_loads(call.options, 0, NULL);
    assert_true(json_real_value(json_object_get(options, "epsilon")) == 0.1);
    json_decref(options);
    brume_http_call_clear(&call);
    assert_int_equal(
        read_body("POST", "/v1/query", "{\"sql\":\"S; T\",\"format\":\"json\"}", &call), 0);
    brume_http_call_clear(&call);
    assert_int_equal(read_body("POST", "/v1/query", "{\"sql\":\"S; -- end\"}", &call), 0);
    brume_http_call_clear(&call);
    assert_int_equal(read_body("POST", "/v1/call/ledger/verify", "", &call), 0);
    assert_string_equal(call.command, "ledger verify");
    assert_string_equal(call.options, "{}");
    brume_http_call_clear(&call);
    assert_int_equal(read_body("GET", "/v1/datasets/a b", "", &call), 0);
    assert_string_equal(call.options, "{\"name\":\"a b\"}");
    brume_http_call_clear(&call);
    assert_int_equal(
        read_body("POST", "/v1/datasets", "{\"name\":\"n\",\"policy\":\"a: b\"}", &call), 0);
    assert_int_equal(access(call.policy_file, R_OK), 0);
    char file[60];
    snprintf(file, sizeof file, "%s", call.policy_file);
    brume_http_call_clear(&call);
    assert_int_not_equal(access(file, R_OK), 0);
}

static void bad_bodies_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        brume_status status;
    } bad[] = {
        {"{", BRUME_ESYNTAX},
        {"[]", BRUME_EARGUMENT},
        {"null", BRUME_ESYNTAX},
        {"{\"a\":1,\"a\":2}", BRUME_ESYNTAX},
        {"{} {}", BRUME_ESYNTAX},
        {"{\"a\":\"\xff\"}", BRUME_ESYNTAX},
        {"{\"a\":\"\\u0000\"}", BRUME_ESYNTAX},
        {"{\"a\":1e999}", BRUME_ESYNTAX},
        {"{\"ledger\":\"/elsewhere.db\"}", BRUME_EARGUMENT},
        {"{\"sql\":\"SELECT 1; SELECT 2\"}", BRUME_EARGUMENT},
    };
    brume_http_call call;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(read_body("POST", "/v1/query", bad[i].body, &call), bad[i].status);
    char deep[5000] = "{\"a\":";
    for (size_t i = strlen(deep); i < 1000; i++)
        deep[i] = '[';
    assert_int_equal(read_body("POST", "/v1/query", deep, &call), BRUME_ESYNTAX);
    for (size_t i = 1000; i < 1995; i++)
        deep[i] = ']';
    deep[1995] = '}';
    assert_int_equal(read_body("POST", "/v1/query", deep, &call), BRUME_EARGUMENT);
    assert_int_equal(read_body("GET", "/v1/datasets/a", "{\"name\":\"b\"}", &call),
                     BRUME_EARGUMENT);
}

static void rates_are_each_users_own(void **state)
{
    (void)state;
    brume_http_guard *guard = brume_http_guard_open(&(brume_http_guard_options){.rate = 5});
    for (int i = 0; i < 10; i++)
        assert_true(brume_http_guard_pass(guard, "ann", 100));
    assert_false(brume_http_guard_pass(guard, "ann", 100));
    assert_true(brume_http_guard_pass(guard, "bob", 100));
    assert_true(brume_http_guard_pass(guard, "ann", 100.25));
    assert_false(brume_http_guard_pass(guard, "ann", 100.25));
    for (int i = 0; i < 10; i++)
        assert_true(brume_http_guard_pass(guard, "ann", 200));
    assert_false(brume_http_guard_pass(guard, "ann", 200));
    brume_http_guard_close(guard);
}

static void connections_are_each_users_own(void **state)
{
    (void)state;
    brume_http_guard *guard = brume_http_guard_open(&(brume_http_guard_options){.connections = 2});
    assert_true(brume_http_guard_enter(guard, "ann") && brume_http_guard_enter(guard, "ann"));
    assert_false(brume_http_guard_enter(guard, "ann"));
    assert_true(brume_http_guard_enter(guard, "bob"));
    brume_http_guard_leave(guard, "ann");
    assert_true(brume_http_guard_enter(guard, "ann"));
    assert_false(brume_http_guard_enter(guard, "ann"));
    for (int i = 0; i < 5000; i++) { /* more users than are kept: those with connections stay */
        char name[16];
        snprintf(name, sizeof name, "u%d", i);
        assert_true(brume_http_guard_enter(guard, name));
        brume_http_guard_leave(guard, name);
    }
    assert_false(brume_http_guard_enter(guard, "ann"));
    brume_http_guard_close(guard);
}

static brume_status try_listen(const char *text, bool tls, bool insecure)
{
    int file = -1;
    unsigned port = 0;
    brume_error error = {0};
    brume_status status = brume_listen(text, tls, insecure, &file, &port, &error);
    if (status == BRUME_OK) {
        assert_true(port > 0);
        close(file);
    }
    return status;
}

static void other_machines_need_tls(void **state)
{
    (void)state;
    assert_int_equal(try_listen("127.0.0.1:0", false, false), BRUME_OK);
    assert_int_equal(try_listen("localhost:0", false, false), BRUME_OK);
    assert_int_equal(try_listen("0.0.0.0:0", false, false), BRUME_EPOLICY);
    assert_int_equal(try_listen("[::]:0", false, false), BRUME_EPOLICY);
    assert_int_equal(try_listen("0.0.0.0:0", true, false), BRUME_OK);
    assert_int_equal(try_listen("0.0.0.0:0", false, true), BRUME_OK);
    static const char *const bad[] = {"",
                                      ":",
                                      "8080",
                                      "127.0.0.1",
                                      "127.0.0.1:",
                                      "127.0.0.1:x",
                                      "127.0.0.1:70000",
                                      "host.example:80",
                                      "127.0.0.1:-1",
                                      "[::1:80",
                                      "127.0.0.1:80:"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(try_listen(bad[i], true, true), BRUME_EARGUMENT);
}

static void only_the_pages_files_are_found(void **state)
{
    (void)state;
    assert_non_null(brume_page_find("/"));
    assert_ptr_equal(brume_page_find("/"), brume_page_find("/index.html"));
    assert_null(brume_page_find("/../index.html"));
    assert_null(brume_page_find("//index.html"));
    assert_null(brume_page_find("index.html"));
    assert_null(brume_page_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_leave_at_quantised_times),
        cmocka_unit_test(commands_that_touch_rows_are_not_free),
        cmocka_unit_test(a_text_names_its_datasets),
        cmocka_unit_test(paths_find_their_routes),
        cmocka_unit_test(the_document_has_every_route),
        cmocka_unit_test(bodies_become_calls),
        cmocka_unit_test(bad_bodies_are_refused),
        cmocka_unit_test(rates_are_each_users_own),
        cmocka_unit_test(connections_are_each_users_own),
        cmocka_unit_test(other_machines_need_tls),
        cmocka_unit_test(only_the_pages_files_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
