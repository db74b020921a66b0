/* The law of a sampler by running it on every tape. */
#include "enumerate.h"

#include <stdlib.h>

#include "random/tape.h"

enum { MOST_WORDS = 60 };

typedef struct walk {
    tape_law law;
    tape_draw *draw;
    const void *context;
    unsigned word_bits;
    brume_bits *tape;
    uint64_t main_words[MOST_WORDS], more_words[MOST_WORDS];
    size_t main_count, more_count;
} walk;

static void visit(walk *w)
{
    unsigned used = (unsigned)(w->main_count + w->more_count) * w->word_bits;
    uint64_t mass = UINT64_C(1) << (w->law.depth - used);
    int64_t value;
    if (!brume_tape_write(w->tape, w->main_words, w->main_count, w->more_words, w->more_count))
        abort();
    w->law.runs++;
    if (w->draw(w->tape, w->context, &value)) {
        if (value >= w->law.least && (uint64_t)(value - w->law.least) < w->law.count)
            w->law.decided[value - w->law.least] += mass;
        else
            w->law.others += mass;
        return;
    }
    if (used + w->word_bits > w->law.depth) {
        w->law.open += mass;
        return;
    }
    bool more = brume_tape_wants_more(w->tape);
    uint64_t *words = more ? w->more_words : w->main_words;
    size_t *count = more ? &w->more_count : &w->main_count;
    for (uint64_t top = 0; top >> w->word_bits == 0; top++) {
        words[(*count)++] = top << (64 - w->word_bits);
        visit(w);
        (*count)--;
    }
}

tape_law tape_law_of(tape_draw *draw, const void *context, unsigned word_bits, unsigned depth,
                     int64_t least, size_t count)
{
    static walk w;
    memset(&w, 0, sizeof w);
    w.law.least = least;
    w.law.count = count;
    w.law.decided = calloc(count, sizeof *w.law.decided);
    w.law.depth = depth;
    w.draw = draw;
    w.context = context;
    w.word_bits = word_bits;
    w.tape = brume_tape_open(NULL, 0, NULL, 0);
    if (!w.law.decided || !w.tape || depth > MOST_WORDS || word_bits == 0)
        abort();
    visit(&w);
    brume_bits_close(w.tape);
    return w.law;
}

void tape_law_close(tape_law *law)
{
    free(law->decided);
    law->decided = NULL;
}

bool tape_law_allows(const tape_law *law, int64_t k, double lower, double upper)
{
    double total = (double)(UINT64_C(1) << law->depth);
    double decided = (double)law->decided[k - law->least];
    /* Quotients of integers below 2^53 by a power of two: exact. */
    return decided / total <= upper && (decided + (double)law->open) / total >= lower;
}

size_t tape_law_violations(const tape_law *law, tape_mass *mass, const void *context)
{
    size_t violations = 0;
    for (size_t i = 0; i < law->count; i++) {
        int64_t k = law->least + (int64_t)i;
        double p = mass(context, k);
        violations += !tape_law_allows(law, k, p * (1 - 1e-12), p * (1 + 1e-12));
    }
    return violations;
}
