/* Projects, and answers that are held until others approve them.
 *
 *  1. A project has a purpose, members, and an allotment on each dataset that it may ask: one
 * filter for all of its members, charged as an allotment of a user is (user.h). A question of a
 * project is charged to it and not to the user's own allotment.
 *  2. A user who is a member of an open project asks in a project: of one, in that one; of several,
 *     in the one that is named. So nobody who is in one asks past it. Owners, and whoever is in no
 *     project, ask outside of projects, or as an owner in one that they name.
 *  3. Answers of a project are seen by its members, who are so at that moment, and by owners. They
 *     are recorded under keys of the project: who asks the same elsewhere finds none of them.
 *  4. Where a project takes approvals, the answer of a question is charged, drawn, recorded and
 * shown to nobody until so many reviewers or owners, of whom none asked it, have approved it, and
 * none rejected it. How many is fixed in the row of its charge. A rejection is final. What was
 *     recorded on the way (looks at a limit) is held with it.
 *  5. One function decides what may be shown, brume_review_check, and everything that gives an
 *     answer out of the ledger asks it: brume_ledger_recall, _recall_reservation, _recorded and
 *     _find; a new answer asks it before it leaves the release path. What it says depends on the
 *     journal, and on no answer.
 *  6. A reviewer sees the question, its price, its purpose, what the project has spent, and the
 *     answer only if the project says so: not one who asked it, and no member of the project.
 *
 * Who may read the ledger's file reads all answers: reviewing is for whoever asks through brume. */
#ifndef BRUME_LEDGER_REVIEW_H
#define BRUME_LEDGER_REVIEW_H

#include "ledger/ledger.h"
#include "ledger/user.h"

enum { BRUME_MOST_PROJECT_NAME = 50, BRUME_MOST_APPROVALS = 9 };

typedef struct brume_project_change {
    const char *name;           /* as of users */
    const char *purpose;        /* NULL: as it is */
    const char *const *members; /* names of users: all of them from now on; NULL: as they are */
    size_t member_count;
    int approvals;     /* -1: as they are, or none */
    int shows_answers; /* to reviewers; -1: as it is, or no */
    const brume_allotment *allotments;
    size_t allotment_count;
} brume_project_change;

/* Open a project, or change an open one; each is a row of the journal. EPOLICY: no owner, the name
 * was a project's before, an allotment below what was spent; EARGUMENT; EUNKNOWN: a member, a
 * dataset, or for a change the project. */
BRUME_MUST_USE brume_status brume_ledger_open_project(brume_ledger *ledger,
                                                      const brume_project_change *change,
                                                      brume_error *error);
BRUME_MUST_USE brume_status brume_ledger_amend_project(brume_ledger *ledger,
                                                       const brume_project_change *change,
                                                       brume_error *error);

/* Nothing is asked in it any more; what was answered stays. */
BRUME_MUST_USE brume_status brume_ledger_close_project(brume_ledger *ledger, const char *name,
                                                       brume_error *error);

/* All projects by name: [{"name","state":"open"|"closed","purpose","members","approvals",
 * "shows_answers","allotments":[{"dataset","filter"}]}], the caller frees it. */
BRUME_MUST_USE brume_status brume_ledger_projects(brume_ledger *ledger, json_t **out,
                                                  brume_error *error);

/* Whatever this handle asks is asked in this project (NULL: see 2). EPOLICY with one text where
 * there is no such project, it is closed, or it is not the user's. */
BRUME_MUST_USE brume_status brume_ledger_ask_in(brume_ledger *ledger, const char *project,
                                                brume_error *error);

/* ---- reviewing ---- */

/* Approve or reject the answer of a charge. EUNKNOWN: no held answer has this number; EPOLICY: who
 * asked it, or who decided on it already, or no reviewer; EARGUMENT: no reason. */
BRUME_MUST_USE brume_status brume_ledger_review(brume_ledger *ledger, uint64_t id, bool approves,
                                                const char *reason, brume_error *error);

/* The questions that are or were held, oldest first:
 * [{"id","time","project","purpose","user","sql",
 * "state":"held"|"approved"|"rejected"|"running"|"failed","approvals","needed","cost",
 * "decisions":[{"by","time","approves","reason"}],"spent":[{"dataset","filter"}]}]. `id`: of that
 * one alone; 0: all. The caller frees it. */
BRUME_MUST_USE brume_status brume_ledger_reviews(brume_ledger *ledger, uint64_t id, json_t **out,
                                                 brume_error *error);

/* The recorded answer for its reviewer (6). EPOLICY: the project keeps it from reviewers, the
 * caller asked it, is a member, or is no reviewer. */
BRUME_MUST_USE brume_status brume_ledger_review_answer(brume_ledger *ledger, uint64_t id,
                                                       json_t **answer, brume_error *error);

/* May the answer of charge `id` be shown to whom this handle acts for (5)? EPOLICY: it is held or
 * was rejected, or it is of a project that they are not in. */
BRUME_MUST_USE brume_status brume_review_check(brume_ledger *ledger, uint64_t id,
                                               brume_error *error);

#endif
