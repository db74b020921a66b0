/* Users in a ledger: what tests of users, tokens and allotments share. */
#include "users.h"

#include <time.h>

int64_t now(void)
{
    return (int64_t)time(NULL);
}

void add_with(brume_ledger *ledger, const char *name, brume_role role, const char *dataset,
              const char *epsilon, const char *delta, char token[BRUME_TOKEN_TEXT])
{
    brume_error error = {0};
    brume_allotment allotment = {dataset, epsilon, delta};
    brume_new_user user = {
        .name = name, .role = role, .allotments = &allotment, .allotment_count = dataset ? 1 : 0};
    assert_ok(brume_ledger_add_user(ledger, &user, token, &error));
}

void act(brume_ledger *ledger, const char *name)
{
    brume_error error = {0};
    assert_ok(brume_ledger_act_as(ledger, name, 0, &error));
}

void check_verified(brume_ledger *ledger, uint64_t users)
{
    brume_error error = {0};
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(ledger, &report, &error));
    assert_int_equal(report.users, users);
}

const place *place_of(void **state)
{
    return (const place *)*state; /* the first member of what the fixture keeps */
}
