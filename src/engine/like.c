/* SQL's LIKE as an automaton whose states are bits: see the header.
 *
 * State i means that the first i elements of the pattern, bytes and underscores, are matched. A
 * byte moves each state either on, where the element after it takes the byte, or keeps it: after a
 * % for every byte, after an _ for the further bytes of the same character. */
#include "engine/like.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 256, WORD = 64, MOST_WORDS = BRUME_LIKE_MOST / WORD + 1 };

struct brume_like {
    size_t words;   /* of a set of states */
    size_t last;    /* the state in which all elements are matched */
    bool open;      /* the pattern ends in %: once matched, whatever follows */
    uint64_t *on;   /* [byte][word]: the states that the byte moves on */
    uint64_t *keep; /* [byte][word]: the states that it keeps */
};

static bool is_letter(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool continues(unsigned byte)
{
    return byte >= 0x80 && byte < 0xC0;
}

static void add(uint64_t *sets, size_t words, unsigned byte, size_t state)
{
    sets[byte * words + state / WORD] |= UINT64_C(1) << (state % WORD);
}

static void read_pattern(brume_like *like, const unsigned char *pattern, size_t length, bool folds)
{
    size_t state = 0;
    like->open = false;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = pattern[i];
        like->open = byte == '%';
        if (byte == '%') {
            for (unsigned each = 0; each < BYTES; each++)
                add(like->keep, like->words, each, state);
        } else if (byte == '_') {
            for (unsigned each = 0; each < BYTES; each++)
                if (continues(each))
                    add(like->keep, like->words, each, state + 1);
                else
                    add(like->on, like->words, each, state);
            state++;
        } else {
            if (byte == '\\' && i + 1 < length)
                byte = pattern[++i];
            add(like->on, like->words, byte, state);
            if (folds && is_letter(byte))
                add(like->on, like->words, byte ^ 0x20, state);
            state++;
        }
    }
    like->last = state;
}

brume_like *brume_like_open(const char *pattern, size_t length, bool folds)
{
    brume_like *like = length <= BRUME_LIKE_MOST ? calloc(1, sizeof *like) : NULL;
    if (!like)
        return NULL;
    like->words = length / WORD + 1;
    like->on = calloc(BYTES * like->words, sizeof *like->on);
    like->keep = calloc(BYTES * like->words, sizeof *like->keep);
    if (!like->on || !like->keep) {
        brume_like_close(like);
        return NULL;
    }
    read_pattern(like, (const unsigned char *)pattern, length, folds);
    return like;
}

void brume_like_close(brume_like *like)
{
    if (!like)
        return;
    free(like->on);
    free(like->keep);
    free(like);
}

/* At most 63 elements: the states are one word. */
static bool match_short(const brume_like *like, const unsigned char *text, size_t length)
{
    uint64_t states = 1, last = UINT64_C(1) << like->last, settled = like->open ? last : 0;
    for (size_t i = 0; i < length; i++) {
        states = ((states & like->on[text[i]]) << 1) | (states & like->keep[text[i]]);
        if (!states || (states & settled))
            break;
    }
    return (states & last) != 0;
}

/* One byte; false if no state is left. */
static bool step(const brume_like *like, uint64_t *states, unsigned byte)
{
    const uint64_t *on = &like->on[byte * like->words], *keep = &like->keep[byte * like->words];
    uint64_t carry = 0, any = 0;
    for (size_t i = 0; i < like->words; i++) {
        uint64_t moved = states[i] & on[i];
        states[i] = (moved << 1) | carry | (states[i] & keep[i]);
        carry = moved >> (WORD - 1);
        any |= states[i];
    }
    return any != 0;
}

static bool has_last(const brume_like *like, const uint64_t *states)
{
    return (states[like->last / WORD] >> (like->last % WORD)) & 1;
}

bool brume_like_match(const brume_like *like, const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (like->words == 1)
        return match_short(like, bytes, length);
    uint64_t states[MOST_WORDS] = {1};
    for (size_t i = 0; i < length; i++)
        if (!step(like, states, bytes[i]) || (like->open && has_last(like, states)))
            break;
    return has_last(like, states);
}
