/* Subjects of an audit. Promises: nothing here knows what a mechanism should do, or which there
 * are; its card says on which neighbours and how it is run (mechanism/trial.h). */
#include "audit/subject.h"

#include <stdlib.h>
#include <string.h>

#include <brume/mechanism/mechanism.h>

#include "base/error.h"
#include "mechanism/trial.h"

enum { MOST_REPEATED = 10000 };

struct brume_subject {
    brume_event event;
    const brume_trial *trial;
    max_align_t state[];
};

size_t brume_subject_pairs(const brume_event *event)
{
    const brume_card *card = brume_card_by_id(event->mechanism);
    const brume_trial *trial = card ? card->trial : NULL;
    return !trial ? 0 : trial->pairs > 0 ? trial->pairs : 1;
}

brume_status brume_subject_open(const brume_event *event, size_t pair, brume_subject **out,
                                brume_error *error)
{
    BRUME_TRY(brume_event_check(event, error));
    const brume_card *card = brume_card_by_id(event->mechanism);
    const brume_trial *trial = card->trial;
    if (!trial)
        return brume_fail(error, BRUME_EUNSUPPORTED,
                          "'brume mechanisms NAME' says of each whether it can",
                          "%s cannot be audited", card->name);
    if (event->count < 1 || event->count > MOST_REPEATED)
        return brume_fail(error, BRUME_EARGUMENT, NULL,
                          "the count is %llu, an audit takes 1 to %d repetitions",
                          (unsigned long long)event->count, MOST_REPEATED);
    brume_subject *subject = calloc(1, sizeof *subject + trial->state_size);
    if (!subject)
        return brume_no_memory(error, "an audit");
    subject->event = *event;
    subject->trial = trial;
    brume_status status = trial->prepare ? trial->prepare(event, pair, subject->state, error)
                                         : BRUME_OK;
    if (status != BRUME_OK) {
        free(subject);
        return status;
    }
    *out = subject;
    return BRUME_OK;
}

void brume_subject_close(brume_subject *subject)
{
    free(subject);
}

static brume_status draw_once(const brume_subject *subject, bool second, brume_bits *bits,
                              int64_t *out, size_t n, brume_error *error)
{
    return subject->trial->draw(&subject->event, subject->state, second, bits, out, n, error);
}

brume_status brume_subject_draw(const void *context, bool second, brume_bits *bits, int64_t *out,
                                size_t n, brume_error *error)
{
    enum { PART = 4096 };
    const brume_subject *subject = context;
    if (subject->event.count == 1)
        return draw_once(subject, second, bits, out, n, error);
    int64_t part[PART];
    memset(out, 0, n * sizeof *out);
    for (uint64_t repetition = 0; repetition < subject->event.count; repetition++)
        for (size_t done = 0; done < n; done += PART) {
            size_t count = n - done < PART ? n - done : PART;
            BRUME_TRY(draw_once(subject, second, bits, part, count, error));
            for (size_t i = 0; i < count; i++)
                if (__builtin_add_overflow(out[done + i], part[i], &out[done + i]))
                    out[done + i] = BRUME_TRIAL_HIDDEN;
        }
    return BRUME_OK;
}

bool brume_subject_has_law(const brume_subject *subject)
{
    const brume_trial *trial = subject->trial;
    return trial->mass && subject->event.count == 1 &&
           (!trial->has_law || trial->has_law(&subject->event, subject->state));
}

void brume_subject_support(const brume_subject *subject, int64_t *least, int64_t *most)
{
    subject->trial->support(&subject->event, subject->state, least, most);
}

brume_status brume_subject_mass(const brume_subject *subject, bool second, int64_t outcome,
                                brume_interval *mass, brume_error *error)
{
    *mass = (brume_interval){0, 0};
    if (outcome == BRUME_TRIAL_HIDDEN && !subject->trial->hides)
        return BRUME_OK;
    return subject->trial->mass(&subject->event, subject->state, second, outcome, mass, error);
}

const char *brume_subject_neighbours(const brume_subject *subject)
{
    const brume_trial *trial = subject->trial;
    return trial->describe ? trial->describe(&subject->event, subject->state) : trial->neighbours;
}

const char *brume_subject_outcome(const brume_subject *subject)
{
    return subject->trial->outcome;
}

double brume_subject_step(const brume_subject *subject)
{
    return subject->trial->step;
}

size_t brume_subject_samples(const brume_subject *subject)
{
    return subject->trial->slow ? 20000 : 200000;
}
