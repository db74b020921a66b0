/* Answers that are held leave the ledger by no door before they are approved.
 *
 *     test_review [SEQUENCES]
 *
 * Random sequences of calls by everybody, against a model of who may see which answer: 1,000 in the
 * suite, 100,000 in the suite audit. */
#include "users.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/redact.h"
#include "ledger/review.h"

enum { PEOPLE = 9, PROJECTS = 3, QUESTIONS = 3, MOST_CHARGES = 6000, A_LEDGER = 250 };

/* Nobody is the owner at the shell. The last three ask nothing. */
static const char *const people[PEOPLE] = {NULL,  "ann", "bob", "cas", "own",
                                           "rev", "sue", "tim", "aud"};
static const brume_role roles[PEOPLE] = {
    BRUME_ROLE_OWNER,    BRUME_ROLE_ANALYST,  BRUME_ROLE_ANALYST,
    BRUME_ROLE_ANALYST,  BRUME_ROLE_OWNER,    BRUME_ROLE_REVIEWER,
    BRUME_ROLE_REVIEWER, BRUME_ROLE_REVIEWER, BRUME_ROLE_AUDITOR};
static const char *const projects[PROJECTS] = {"free", "one", "two"};

/* ---- the model ---- */

typedef struct charge {
    uint64_t id;
    int project, question, asker; /* project -1: none */
    int needed, approvals;
    bool rejected, decided_by[PEOPLE];
} charge;

static struct {
    bool removed[PEOPLE], member[PROJECTS][PEOPLE], open[PROJECTS], shows[PROJECTS];
    int approvals[PROJECTS];
    charge charges[MOST_CHARGES];
    size_t count;
} model;

static size_t shown, hidden; /* how often a door gave something, and kept it */

static bool is_owner(int who)
{
    return roles[who] == BRUME_ROLE_OWNER;
}

static bool is_decided(const charge *of)
{
    return of->rejected || of->approvals >= of->needed;
}

static bool may_see(int who, const charge *of)
{
    bool mine = of->project < 0 ||
                (!model.removed[who] && (is_owner(who) || model.member[of->project][who]));
    return mine && !of->rejected && of->approvals >= of->needed;
}

/* In which project does a person ask who types `typed` (-1: none)? -2: refused; -3: it must be
 * named. */
static int asks_in(int who, int typed)
{
    int found = -1, count = 0;
    if (typed >= 0)
        return !model.removed[who] && model.open[typed] &&
                       (is_owner(who) || model.member[typed][who])
                   ? typed
                   : -2;
    for (int i = 0; who > 0 && i < PROJECTS; i++)
        if (model.open[i] && model.member[i][who]) {
            found = i;
            count++;
        }
    return count > 1 ? -3 : found;
}

/* ---- calls ---- */

static brume_ledger *shell, *server; /* the owner's, and the one that acts for users */

static int pick(int below)
{
    return (int)(random() % below);
}

static brume_ledger *as(int who)
{
    brume_error error = {0};
    if (who == 0)
        return shell;
    assert_ok(brume_ledger_act_as(server, people[who], 0, &error));
    return server;
}

static json_t *answer_of(uint64_t id)
{
    char text[32];
    snprintf(text, sizeof text, "noisy number %llu;", (unsigned long long)id);
    return json_pack("{s:s,s:[]}", "value", text, "columns");
}

/* Is it the recorded answer of this charge, and may it be seen? */
static void check_shown(int who, const json_t *answer, const charge *of)
{
    json_t *expected = answer_of(of->id);
    assert_true(json_equal(answer, expected));
    assert_true(may_see(who, of));
    json_decref(expected);
    shown++;
}

static void key_of(const char *kind, int question, char key[40])
{
    snprintf(key, 40, "%s %d", kind, question);
}

/* The newest charge of a question in a project that may be seen, or one that is hidden. */
static const charge *newest(int who, int project, int question, bool *any)
{
    const charge *found = NULL;
    *any = false;
    for (size_t i = 0; i < model.count; i++)
        if (model.charges[i].project == project && model.charges[i].question == question) {
            *any = true;
            if (may_see(who, &model.charges[i]))
                found = &model.charges[i];
        }
    return found;
}

/* By the question, as query and explain do. True: there is nothing, and it may be asked. */
static bool recall_question(brume_ledger *ledger, int who, int project, int question)
{
    char key[40];
    brume_error error = {0};
    json_t *answer = NULL;
    bool any = false;
    key_of("question", question, key);
    brume_status status = brume_ledger_recall(ledger, key, &answer, NULL, &error);
    if (project == -3) {
        assert_int_equal(status, BRUME_EPOLICY);
        return false;
    }
    const charge *expected = newest(who, project, question, &any);
    if (expected) {
        assert_ok(status);
        check_shown(who, answer, expected);
    } else {
        assert_int_equal(status, any ? BRUME_EPOLICY : BRUME_OK);
        assert_null(answer);
        hidden += any;
    }
    json_decref(answer);
    return !any;
}

/* What was noted on the way is as if it were not there, unless one of its charges may be seen. */
static void recall_note(brume_ledger *ledger, int who, int project, int question)
{
    char key[40];
    brume_error error = {0};
    json_t *note = NULL;
    key_of("look", question, key);
    if (project < -1)
        return;
    assert_ok(brume_ledger_recall(ledger, key, &note, NULL, &error));
    bool may = false, any = false;
    const charge *first = NULL; /* the first note under a key stays */
    for (size_t i = 0; i < model.count; i++)
        if (model.charges[i].project == project && model.charges[i].question == question && !first)
            first = &model.charges[i];
    any = first != NULL;
    may = any && may_see(who, first);
    assert_int_equal(note != NULL, may);
    hidden += any && !may;
    json_decref(note);
}

/* The release path: recall, reserve, note, commit, and what leaves. */
static void ask(int who)
{
    int typed = pick(3) == 0 ? -1 : pick(PROJECTS), question = pick(QUESTIONS);
    brume_ledger *ledger = as(who);
    brume_error error = {0};
    int project = asks_in(who, typed);
    brume_status status = brume_ledger_ask_in(ledger, typed >= 0 ? projects[typed] : NULL, &error);
    assert_int_equal(status, project == -2 ? BRUME_EPOLICY : BRUME_OK);
    if (status != BRUME_OK) {
        assert_ok(brume_ledger_ask_in(ledger, NULL, &error));
        return;
    }
    recall_note(ledger, who, project, question);
    bool fresh = pick(4) == 0, asks = recall_question(ledger, who, project, question);
    if ((asks || fresh) && model.count < MOST_CHARGES) {
        char key[40], look[40];
        uint64_t id = 0;
        brume_charge price = price_of("0.001", NULL);
        brume_ledger_charge one = {.dataset = "visits", .price = &price};
        key_of("question", question, key);
        key_of("look", question, look);
        brume_reservation reservation = {
            .charges = &one, .charge_count = 1, .sql = key, .answer_key = key, .anew = !asks};
        status = brume_ledger_reserve(ledger, &reservation, &id, &error);
        bool may = !model.removed[who] && project != -3 &&
                   (is_owner(who) || roles[who] == BRUME_ROLE_ANALYST);
        if (!may) {
            assert_int_equal(status, BRUME_EPOLICY);
        } else {
            assert_ok(status);
            charge *made = &model.charges[model.count++];
            *made = (charge){.id = id,
                             .project = project,
                             .question = question,
                             .asker = who,
                             .needed = project >= 0 ? model.approvals[project] : 0};
            json_t *answer = answer_of(id), *noted = json_pack("{s:i}", "look", 1);
            assert_ok(brume_ledger_note(ledger, id, look, noted, &error));
            assert_ok(brume_ledger_commit(ledger, id, answer, &error));
            json_decref(answer);
            json_decref(noted);
            assert_int_equal(brume_review_check(ledger, id, &error),
                             may_see(who, made) ? BRUME_OK : BRUME_EPOLICY);
        }
    }
    assert_ok(brume_ledger_ask_in(ledger, NULL, &error));
}

/* By number: history, answer_N in every place, bundles. */
static void read_by_number(int who, const charge *of)
{
    brume_ledger *ledger = as(who);
    brume_error error = {0};
    json_t *answer = NULL, *names = NULL, *recorded = NULL;
    bool may = may_see(who, of);
    assert_ok(brume_ledger_ask_in(ledger, NULL, &error));
    brume_status status =
        brume_ledger_recall_reservation(ledger, of->id, &answer, &names, NULL, &error);
    assert_int_equal(status, may ? BRUME_OK : BRUME_EPOLICY);
    if (may)
        check_shown(who, answer, of);
    assert_int_equal(brume_ledger_recorded(ledger, of->id, &recorded, &error),
                     may ? BRUME_OK : BRUME_EPOLICY);
    assert_int_equal(recorded != NULL, may);
    hidden += !may;
    json_decref(recorded);
    json_decref(answer);
    json_decref(names);
}

/* A bundle has the answer's own text, and is an owner's. */
static void publish(int who, const charge *of)
{
    brume_ledger *ledger = as(who);
    brume_error error = {0};
    json_t *proof = NULL;
    brume_publication what = {"visits", &of->id, 1, "tables"};
    bool may = may_see(who, of) && is_owner(who) && !model.removed[who];
    assert_int_equal(brume_ledger_publish(ledger, &what, &proof, &error),
                     may ? BRUME_OK : BRUME_EPOLICY);
    assert_int_equal(proof != NULL, may);
    json_decref(proof);
}

static void find(int who, const charge *of)
{
    char text[32];
    brume_ledger *ledger = as(who);
    brume_error error = {0};
    json_t *found = NULL;
    snprintf(text, sizeof text, "noisy number %llu;", (unsigned long long)of->id);
    assert_ok(brume_ledger_find(ledger, text, &found, &error));
    assert_int_equal(json_array_size(json_object_get(found, "charges")), may_see(who, of) ? 1 : 0);
    json_decref(found);
}

static void decide(int who, charge *of)
{
    brume_ledger *ledger = as(who);
    brume_error error = {0};
    bool approves = pick(4) > 0;
    bool reviewer = !model.removed[who] && (is_owner(who) || roles[who] == BRUME_ROLE_REVIEWER);
    bool may = of->needed > 0 && reviewer && who != of->asker && !is_decided(of) &&
               !of->decided_by[who];
    brume_status status = brume_ledger_review(ledger, of->id, approves, "a reason", &error);
    assert_int_equal(status, may ? BRUME_OK : of->needed == 0 ? BRUME_EUNKNOWN : BRUME_EPOLICY);
    if (!may)
        return;
    of->decided_by[who] = true;
    of->approvals += approves;
    of->rejected = !approves;
}

static void review_answer(int who, const charge *of)
{
    brume_ledger *ledger = as(who);
    brume_error error = {0};
    json_t *answer = NULL;
    bool reviewer = !model.removed[who] && (is_owner(who) || roles[who] == BRUME_ROLE_REVIEWER);
    bool may = of->needed > 0 && reviewer && who != of->asker && model.shows[of->project] &&
               !model.member[of->project][who];
    brume_status status = brume_ledger_review_answer(ledger, of->id, &answer, &error);
    assert_int_equal(status, may ? BRUME_OK : of->needed == 0 ? BRUME_EUNKNOWN : BRUME_EPOLICY);
    assert_int_equal(answer != NULL, may);
    json_decref(answer);
}

/* Whoever may not see it finds its value in no word of the list. */
static void list(int who, const charge *of)
{
    brume_ledger *ledger = as(who);
    brume_error error = {0};
    json_t *reviews = NULL;
    brume_status status = brume_ledger_reviews(ledger, of->id, &reviews, &error);
    bool member = of->project >= 0 && model.member[of->project][who];
    bool may = of->needed > 0 && !model.removed[who] &&
               (roles[who] != BRUME_ROLE_ANALYST || member);
    assert_int_equal(status == BRUME_OK, may);
    if (may) {
        const json_t *one = json_array_get(reviews, 0);
        char *text = json_dumps(reviews, 0);
        assert_null(strstr(text, "noisy number"));
        assert_string_equal(json_string_value(json_object_get(one, "state")),
                            of->rejected     ? "rejected"
                            : is_decided(of) ? "approved"
                                             : "held");
        free(text);
    }
    json_decref(reviews);
}

static void amend(int who)
{
    const char *members[PEOPLE];
    bool member[PEOPLE] = {false};
    size_t count = 0;
    int project = pick(PROJECTS);
    for (int i = 1; i < 5; i++)
        if (!model.removed[i] && pick(2) == 0) {
            members[count++] = people[i];
            member[i] = true;
        }
    brume_error error = {0};
    brume_project_change change = {.name = projects[project],
                                   .members = members,
                                   .member_count = count,
                                   .approvals = pick(3),
                                   .shows_answers = pick(2)};
    brume_status status = brume_ledger_amend_project(as(who), &change, &error);
    bool may = is_owner(who) && !model.removed[who];
    assert_int_equal(status, may ? BRUME_OK : BRUME_EPOLICY);
    if (!may)
        return;
    memcpy(model.member[project], member, sizeof member);
    model.approvals[project] = change.approvals;
    model.shows[project] = change.shows_answers;
}

static void remove_user(void)
{
    brume_error error = {0};
    int who = 1 + pick(PEOPLE - 1);
    if (model.removed[who] || who == 4)
        return;
    assert_ok(brume_ledger_remove_user(shell, people[who], &error));
    model.removed[who] = true;
}

static void one_call(void)
{
    int who = pick(PEOPLE), what = pick(100);
    charge *of = model.count > 0 ? &model.charges[pick((int)model.count)] : NULL;
    if (of && pick(2)) /* often a new one */
        of = &model.charges[model.count - 1];
    if (!of || what < 30)
        ask(who);
    else if (what < 50)
        read_by_number(who, of);
    else if (what < 70)
        decide(who, of);
    else if (what < 78)
        review_answer(who, of);
    else if (what < 88)
        list(who, of);
    else if (what < 92)
        amend(who);
    else if (what < 94)
        publish(who, of);
    else if (what == 94 && model.count < 60)
        find(who, of);
    else if (what == 95 && pick(40) == 0)
        remove_user();
    else
        ask(who);
}

static void open_all(const place *where)
{
    brume_error error = {0};
    char token[BRUME_TOKEN_TEXT];
    memset(&model, 0, sizeof model);
    shell = open_ledger(where);
    register_dataset(shell, "visits", "1000000", NULL);
    for (int i = 1; i < PEOPLE; i++)
        add_with(shell, people[i], roles[i], NULL, NULL, NULL, token);
    brume_allotment allotment = {"visits", "1000", NULL};
    for (int i = 0; i < PROJECTS; i++) {
        brume_project_change change = {.name = projects[i],
                                       .purpose = "a purpose",
                                       .members = &people[1 + i],
                                       .member_count = 1,
                                       .approvals = i,
                                       .shows_answers = i == 2,
                                       .allotments = &allotment,
                                       .allotment_count = 1};
        assert_ok(brume_ledger_open_project(shell, &change, &error));
        model.open[i] = model.member[i][1 + i] = true;
        model.approvals[i] = i;
        model.shows[i] = i == 2;
    }
    server = open_ledger(where);
}

static void close_all(const place *where)
{
    brume_error error = {0};
    brume_ledger_report report;
    assert_ok(brume_ledger_verify(shell, &report, &error));
    brume_ledger_close(server);
    brume_ledger_close(shell);
    remove_place(where);
}

static int sequences = 1000;

/* On a disk in memory, where there is one: nothing here is about durability. */
static void make_fast_place(place *where)
{
    snprintf(where->folder, sizeof where->folder, "/dev/shm/brume-review-XXXXXX");
    if (!mkdtemp(where->folder)) {
        make_place(where);
        return;
    }
    where->schema[0] = 0; /* a file, also where others are on a server */
    snprintf(where->path, sizeof where->path, "%s/brume.db", where->folder);
}

static void no_door_gives_an_answer_that_is_not_approved(void **state)
{
    (void)state;
    place where;
    for (int i = 0; i < sequences; i++) {
        if (i % A_LEDGER == 0) {
            if (i > 0)
                close_all(&where);
            make_fast_place(&where);
            open_all(&where);
        }
        for (int calls = 3 + pick(5); calls > 0; calls--)
            one_call();
    }
    close_all(&where);
    print_message("# %d sequences: shown %zu times, kept %zu times\n", sequences, shown, hidden);
    assert_holds(shown > 100 && hidden > 100);
}

/* ---- by hand ---- */

static void what_verify_finds(void **state)
{
    (void)state;
    static const char *const edits[] = {
        "DELETE FROM review",
        "UPDATE review SET reservation = reservation + 1",
        "UPDATE project SET stated = stated + 1 WHERE name = 'one'",
        "DELETE FROM project WHERE name = 'one'",
        "INSERT INTO review VALUES(1, 2)",
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        place where;
        brume_error error = {0};
        brume_ledger_report report;
        make_fast_place(&where);
        open_all(&where);
        assert_ok(brume_ledger_act_as(server, "bob", 0, &error));
        assert_ok(brume_ledger_ask_in(server, "one", &error));
        uint64_t id = 0;
        assert_ok(reserve(server, "visits", "0.5", "key", &id, &error));
        json_t *answer = answer_of(id);
        assert_ok(brume_ledger_commit(server, id, answer, &error));
        json_decref(answer);
        assert_ok(brume_ledger_review(shell, id, true, "a reason", &error));
        assert_ok(brume_ledger_verify(shell, &report, &error));
        tamper(&where, edits[i]);
        assert_fails(brume_ledger_verify(shell, &report, &error), BRUME_EDAMAGED);
        brume_ledger_close(server);
        brume_ledger_close(shell);
        remove_place(&where);
    }
}

/* One question that is paid for twice at once: each answer is approved for itself. */
static void answers_of_one_question_are_held_apart(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    uint64_t first = 0, second = 0;
    json_t *names = NULL, *found = NULL;
    make_fast_place(&where);
    open_all(&where);
    assert_ok(brume_ledger_act_as(server, "bob", 0, &error));
    assert_ok(brume_ledger_ask_in(server, "one", &error));
    assert_ok(reserve(server, "visits", "0.5", "key", &first, &error));
    assert_ok(reserve(server, "visits", "0.5", "key", &second, &error));
    json_t *one = answer_of(first), *other = answer_of(second);
    assert_ok(brume_ledger_commit(server, first, one, &error));
    assert_ok(brume_ledger_commit(server, second, other, &error));
    assert_ok(brume_ledger_review(shell, second, true, "a reason", &error));
    assert_ok(brume_ledger_recall_reservation(server, second, &found, &names, NULL, &error));
    assert_true(json_equal(found, other));
    json_decref(found);
    json_decref(names);
    assert_fails(brume_ledger_recall_reservation(server, first, &found, &names, NULL, &error),
                 BRUME_EPOLICY);
    json_decref(one);
    json_decref(other);
    close_all(&where);
}

static void a_project_charges_its_allotment(void **state)
{
    (void)state;
    place where;
    brume_error error = {0};
    uint64_t id = 0;
    make_fast_place(&where);
    open_all(&where);
    brume_allotment little = {"visits", "1", NULL};
    brume_project_change less = {.name = "one",
                                 .approvals = -1,
                                 .shows_answers = -1,
                                 .allotments = &little,
                                 .allotment_count = 1};
    assert_ok(brume_ledger_amend_project(shell, &less, &error));
    register_dataset(shell, "rooms", "10", NULL);
    assert_ok(brume_ledger_act_as(server, "bob", 0, &error));
    assert_ok(brume_ledger_ask_in(server, NULL, &error)); /* the only one that he is in */
    assert_ok(reserve(server, "visits", "0.6", "key", &id, &error));
    assert_fails(reserve(server, "visits", "0.6", "key", &id, &error), BRUME_EBUDGET);
    assert_fails(reserve(server, "rooms", "0.1", "key", &id, &error), BRUME_EPOLICY);
    assert_ok(brume_ledger_ask_in(shell, "one", &error)); /* together with the owner's */
    assert_fails(reserve(shell, "visits", "0.5", "key", &id, &error), BRUME_EBUDGET);
    assert_ok(reserve(shell, "visits", "0.4", "key", &id, &error));
    assert_ok(brume_ledger_ask_in(shell, NULL, &error));
    assert_ok(reserve(shell, "visits", "5", "key", &id, &error));
    assert_fails(brume_ledger_begin_stream(server, &error), BRUME_EUNSUPPORTED);
    /* who was put into a project while asking outside is refused */
    assert_ok(brume_ledger_act_as(server, "ann", 0, &error));
    assert_ok(brume_ledger_ask_in(server, "free", &error));
    const char *const nobody[] = {"cas"};
    brume_project_change out = {
        .name = "free", .members = nobody, .member_count = 1, .approvals = -1, .shows_answers = -1};
    assert_ok(brume_ledger_amend_project(shell, &out, &error));
    assert_fails(reserve(server, "visits", "0.1", "key", &id, &error), BRUME_EPOLICY);
    assert_ok(brume_ledger_ask_in(server, NULL, &error));
    assert_ok(reserve(server, "visits", "0.1", "key", &id, &error));
    const char *const again[] = {"ann"};
    out.members = again;
    assert_ok(brume_ledger_amend_project(shell, &out, &error));
    assert_fails(reserve(server, "visits", "0.1", "key", &id, &error), BRUME_EPOLICY);
    assert_ok(brume_ledger_close_project(shell, "free", &error));
    assert_ok(reserve(server, "visits", "0.1", "key", &id, &error));
    assert_fails(brume_ledger_open_project(shell, &out, &error), BRUME_EARGUMENT);
    out.purpose = "again";
    out.allotments = &little;
    out.allotment_count = 1;
    assert_fails(brume_ledger_open_project(shell, &out, &error), BRUME_EPOLICY);
    close_all(&where);
}

int main(int count, char **words)
{
    if (count > 1)
        sequences = atoi(words[1]);
    srandom(20261120); /* which sequences; each must agree with the model */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_door_gives_an_answer_that_is_not_approved),
        cmocka_unit_test(what_verify_finds),
        cmocka_unit_test(answers_of_one_question_are_held_apart),
        cmocka_unit_test(a_project_charges_its_allotment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
