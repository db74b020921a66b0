/* The test tape. Linked by tests only. */
#include "random/tape.h"

#include <stdlib.h>

typedef struct tape_stream {
    uint64_t *words;
    size_t count;
    size_t offered;
    uint64_t state; /* of the generator, if endless */
} tape_stream;

typedef struct tape {
    brume_bits bits; /* first: a brume_bits is one of these */
    tape_stream main, more;
    bool endless;
    size_t limit;
    bool wants_more; /* the stream that ran out */
} tape;

uint64_t brume_tape_splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static bool refill(brume_bits *bits, brume_stream *stream, size_t want)
{
    (void)want;
    tape *self = (tape *)bits;
    tape_stream *from = stream == bits->main ? &self->main : &self->more;
    size_t offer = self->limit;
    if (!self->endless && offer > from->count - from->offered)
        offer = from->count - from->offered;
    if (offer == 0) {
        brume_bits_wipe(bits->main, sizeof *bits->main);
        brume_bits_wipe(bits->more, sizeof *bits->more);
        self->wants_more = stream == bits->more;
        bits->failure = "the tape has run out";
        return false;
    }
    uint64_t *to = stream->block + BRUME_STREAM_BLOCK - offer;
    for (size_t i = 0; i < offer; i++)
        to[i] = self->endless ? brume_tape_splitmix(&from->state) : from->words[from->offered + i];
    from->offered += offer;
    stream->left = offer;
    return true;
}

static void close_tape(brume_bits *bits)
{
    tape *self = (tape *)bits;
    brume_stream_close(bits->main);
    brume_stream_close(bits->more);
    free(self->main.words);
    free(self->more.words);
    free(self);
}

static tape *open_tape(void)
{
    tape *self = calloc(1, sizeof *self);
    bool wiped;
    if (!self)
        return NULL;
    self->bits.main = brume_stream_open(&wiped);
    self->bits.more = brume_stream_open(&wiped);
    self->bits.refill = refill;
    self->bits.close = close_tape;
    self->limit = BRUME_STREAM_WORDS;
    if (self->bits.main && self->bits.more)
        return self;
    close_tape(&self->bits);
    return NULL;
}

static bool write_words(tape_stream *stream, const uint64_t *words, size_t count)
{
    uint64_t *place = realloc(stream->words, (count + 1) * sizeof *place);
    if (!place)
        return false;
    if (count > 0)
        memcpy(place, words, count * sizeof *words);
    stream->words = place;
    stream->count = count;
    return true;
}

brume_bits *brume_tape_open(const uint64_t *main_words, size_t main_count,
                            const uint64_t *more_words, size_t more_count)
{
    tape *self = open_tape();
    if (!self)
        return NULL;
    if (write_words(&self->main, main_words, main_count) &&
        write_words(&self->more, more_words, more_count))
        return &self->bits;
    close_tape(&self->bits);
    return NULL;
}

brume_bits *brume_tape_open_seeded(uint64_t seed)
{
    tape *self = open_tape();
    if (!self)
        return NULL;
    self->endless = true;
    self->main.state = seed;
    self->more.state = ~brume_tape_splitmix(&seed);
    return &self->bits;
}

void brume_tape_limit(brume_bits *bits, size_t words)
{
    ((tape *)bits)->limit = words;
}

size_t brume_tape_main_read(const brume_bits *bits)
{
    return ((const tape *)bits)->main.offered - bits->main->left;
}

size_t brume_tape_more_read(const brume_bits *bits)
{
    return ((const tape *)bits)->more.offered - bits->more->left;
}

void brume_tape_rewind(brume_bits *bits)
{
    tape *self = (tape *)bits;
    self->main.offered = self->more.offered = 0;
    bits->main->left = bits->more->left = 0;
}

bool brume_tape_write(brume_bits *bits, const uint64_t *main_words, size_t main_count,
                      const uint64_t *more_words, size_t more_count)
{
    tape *self = (tape *)bits;
    brume_tape_rewind(bits);
    return write_words(&self->main, main_words, main_count) &&
           write_words(&self->more, more_words, more_count);
}

bool brume_tape_wants_more(const brume_bits *bits)
{
    return ((const tape *)bits)->wants_more;
}
