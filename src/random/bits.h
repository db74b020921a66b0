/* Inside a bit source: two streams of words, and how a sampler takes words from them.
 *
 * 1. A stream is a block of memory that the kernel wipes in a forked child. The unread words are
 *    the last `left` of its block, so a wiped stream reads as empty: one comparison serves both
 *    "used up" and "forked", and nothing else is checked on the way to a word.
 * 2. A word is zeroed as it is handed out (brume_bits_word) or when its reader is done with it
 *    (brume_bits_done after brume_bits_run).
 * 3. A source that fails wipes both streams. The reader then returns brume_bits_failed and releases
 *    nothing. The next read starts again from the kernel; there is no weaker fall-back.
 * 4. `main` gives each attempt of a sampler its fixed number of words; whatever is needed only
 *    sometimes comes from `more`. A batch that still misses r values makes at most r attempts. Then
 *    n single draws, one batch of n and any block size read the same words. */
#ifndef BRUME_RANDOM_BITS_H
#define BRUME_RANDOM_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <brume/bits.h>

enum {
    BRUME_STREAM_KEY_WORDS = 4, /* the next key, 256 bits, made with the words */
    BRUME_STREAM_WORDS = 2048,  /* 16 KiB */
    BRUME_STREAM_BLOCK = BRUME_STREAM_KEY_WORDS + BRUME_STREAM_WORDS,
};

typedef struct brume_stream {
    size_t left;      /* words that may be read now: the last `left` of `block` */
    size_t held;      /* words made but kept back, where every call has to look for a fork */
    uint64_t live;    /* 0: not keyed (new, forked or failed) */
    uint64_t process; /* who keyed it */
    uint64_t refills;
    uint64_t block[BRUME_STREAM_BLOCK]; /* next key (only while refilling), then the words */
} brume_stream;

struct brume_bits {
    brume_stream *main;
    brume_stream *more;
    /* Make at least 1 word readable in an empty stream; more than `want` only if forks wipe it.
     * false: failed, both streams wiped. */
    bool (*refill)(brume_bits *bits, brume_stream *stream, size_t want);
    void (*close)(brume_bits *bits);
    const char *failure; /* what failed last, for the message */
};

/* Fill `error` after a read returned false or NULL; BRUME_ERANDOM. */
brume_status brume_bits_failed(const brume_bits *bits, brume_error *error);

/* Overwrite in a way the compiler keeps. */
static inline void brume_bits_wipe(void *memory, size_t size)
{
    memset(memory, 0, size);
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* The next word of a stream that has one left. */
static inline uint64_t brume_bits_next(brume_stream *stream)
{
    uint64_t *next = stream->block + (BRUME_STREAM_BLOCK - stream->left);
    uint64_t word = *next;
    *next = 0;
    stream->left--;
    return word;
}

/* The next word of a stream. false: the source failed. */
static inline bool brume_bits_word(brume_bits *bits, brume_stream *stream, uint64_t *word)
{
    if (__builtin_expect(stream->left == 0, 0) && !bits->refill(bits, stream, 1))
        return false;
    *word = brume_bits_next(stream);
    return true;
}

/* The next words of a stream, in place: 1 .. want of them, *got says how many; none is skipped.
 * They are the caller's until it calls brume_bits_done on them. NULL: the source failed. */
static inline uint64_t *brume_bits_run(brume_bits *bits, brume_stream *stream, size_t want,
                                       size_t *got)
{
    if (__builtin_expect(stream->left == 0, 0) && !bits->refill(bits, stream, want))
        return NULL;
    uint64_t *next = stream->block + (BRUME_STREAM_BLOCK - stream->left);
    *got = want < stream->left ? want : stream->left;
    stream->left -= *got;
    return next;
}

static inline void brume_bits_done(uint64_t *words, size_t count)
{
    brume_bits_wipe(words, count * sizeof *words);
}

/* Exactly `count` words of a stream, moved to `out`. false: the source failed, `out` is wiped. */
bool brume_bits_take(brume_bits *bits, brume_stream *stream, uint64_t *out, size_t count);

/* For those who make another kind of source (the test tape): a stream in memory of its own, NULL
 * if there is none; *wiped says whether forks wipe it. */
brume_stream *brume_stream_open(bool *wiped);
void brume_stream_close(brume_stream *stream);

#endif
