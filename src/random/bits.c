/* The secure bit source: AES-256 in counter mode, keyed by the kernel, with fast key erasure.
 *
 * 1. A stream's cipher is always keyed with the key of the *next* block. A refill encrypts zeros
 *    from counter 0: the first 32 bytes are the key after it, the rest are words. Loading that key
 *    overwrites the round keys of the block just made, so nothing in memory can recompute a word
 *    that has been handed out.
 * 2. A key makes 1026 cipher blocks, once, from counter 0: no nonce is ever used twice.
 * 3. Every 256 refills (4 MiB) 256 fresh bits of the kernel are mixed into the next key by XOR,
 *    which cannot weaken it.
 * 4. Fork: the stream's memory is wiped in the child (MADV_WIPEONFORK), so it reads as empty and
 *    unkeyed, and the child keys it afresh; a refill also compares the process id. Where the kernel
 *    cannot wipe, no word stays readable between two calls, and every call compares the process id
 *    and a count of forks first.
 * 5. A copied or resumed virtual machine is not noticed until the next mixing: that is what
 *    brume_bits_reseed is for.
 * 6. On any failure both streams are wiped; no call returns part of what was asked. */
#include "random/bits.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/error.h"

enum { KEY_BYTES = 8 * BRUME_STREAM_KEY_WORDS, REFILLS_PER_MIXING = 256 };

typedef struct secure_bits {
    brume_bits bits; /* first: a brume_bits is one of these */
    EVP_CIPHER_CTX *main_cipher;
    EVP_CIPHER_CTX *more_cipher;
    bool guarded; /* forks do not wipe: keep words back and look for a fork at every call */
    uint64_t forks;
} secure_bits;

/* Forks of this process line, counted in the child; used by guarded sources only. */
static atomic_uint_fast64_t forks_seen;
static pthread_once_t count_forks_once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
    atomic_fetch_add(&forks_seen, 1);
}

static void count_forks(void)
{
    (void)pthread_atfork(NULL, NULL, count_fork);
}

/* Will a fork wipe this memory? Emulators take every advice and follow none, so an advice that does
 * not exist must be refused. */
static bool wipes_on_fork(void *memory, size_t size)
{
    enum { NO_ADVICE = -1 };
    return madvise(memory, size, MADV_WIPEONFORK) == 0 && madvise(memory, size, NO_ADVICE) != 0;
}

brume_stream *brume_stream_open(bool *wiped)
{
    brume_stream *stream =
        mmap(NULL, sizeof *stream, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stream == MAP_FAILED)
        return NULL;
    (void)madvise(stream, sizeof *stream, MADV_DONTDUMP);
    *wiped = wipes_on_fork(stream, sizeof *stream);
    return stream;
}

void brume_stream_close(brume_stream *stream)
{
    if (!stream)
        return;
    OPENSSL_cleanse(stream, sizeof *stream);
    (void)munmap(stream, sizeof *stream);
}

static bool fail(secure_bits *source, const char *what)
{
    OPENSSL_cleanse(source->bits.main, sizeof *source->bits.main);
    OPENSSL_cleanse(source->bits.more, sizeof *source->bits.more);
    source->bits.failure = what;
    return false;
}

static bool ask_kernel(void *key)
{
    ssize_t got;
    do {
        got = getrandom(key, KEY_BYTES, 0);
    } while (got < 0 && errno == EINTR);
    return got == KEY_BYTES;
}

static EVP_CIPHER_CTX *cipher_of(const secure_bits *source, const brume_stream *stream)
{
    return stream == source->bits.main ? source->main_cipher : source->more_cipher;
}

/* Key the cipher with the stream's next key, which is wiped. */
static bool load_key(secure_bits *source, brume_stream *stream)
{
    static const unsigned char zero[16];
    int ok = EVP_EncryptInit_ex(cipher_of(source, stream), NULL, NULL,
                                (const unsigned char *)stream->block, zero);
    OPENSSL_cleanse(stream->block, KEY_BYTES);
    return ok == 1 || fail(source, "loading a cipher key");
}

static bool seed(secure_bits *source, brume_stream *stream)
{
    OPENSSL_cleanse(stream, sizeof *stream);
    if (!ask_kernel(stream->block))
        return fail(source, "asking the kernel for a key");
    if (!load_key(source, stream))
        return false;
    stream->process = (uint64_t)getpid();
    stream->live = 1;
    return true;
}

static bool mix_kernel(secure_bits *source, brume_stream *stream)
{
    uint64_t fresh[BRUME_STREAM_KEY_WORDS];
    if (!ask_kernel(fresh))
        return fail(source, "asking the kernel for fresh bits");
    for (int i = 0; i < BRUME_STREAM_KEY_WORDS; i++)
        stream->block[i] ^= fresh[i];
    OPENSSL_cleanse(fresh, sizeof fresh);
    return true;
}

/* New key and new words from the keyed cipher; the words are left to be offered. */
static bool make_block(secure_bits *source, brume_stream *stream, bool mix)
{
    int made = 0;
    memset(stream->block, 0, sizeof stream->block);
    if (EVP_EncryptUpdate(cipher_of(source, stream), (unsigned char *)stream->block, &made,
                          (const unsigned char *)stream->block, sizeof stream->block) != 1 ||
        made != (int)sizeof stream->block)
        return fail(source, "making a keystream block");
    stream->refills++;
    if (mix && !mix_kernel(source, stream))
        return false;
    return load_key(source, stream);
}

static bool is_ours(const brume_stream *stream)
{
    return stream->live && stream->process == (uint64_t)getpid();
}

static bool refill(brume_bits *bits, brume_stream *stream, size_t want)
{
    (void)want;
    secure_bits *source = (secure_bits *)bits;
    if (!is_ours(stream) && !seed(source, stream))
        return false;
    if (!make_block(source, stream, (stream->refills + 1) % REFILLS_PER_MIXING == 0))
        return false;
    stream->left = BRUME_STREAM_WORDS;
    return true;
}

/* Where forks do not wipe: offer just what is wanted, after looking for a fork. */
static bool guarded_refill(brume_bits *bits, brume_stream *stream, size_t want)
{
    secure_bits *source = (secure_bits *)bits;
    uint64_t forks = atomic_load(&forks_seen);
    if (source->forks != forks) {
        OPENSSL_cleanse(bits->main, sizeof *bits->main);
        OPENSSL_cleanse(bits->more, sizeof *bits->more);
        source->forks = forks;
    }
    if (!is_ours(stream) && !seed(source, stream))
        return false;
    if (stream->held == 0) {
        if (!make_block(source, stream, (stream->refills + 1) % REFILLS_PER_MIXING == 0))
            return false;
        stream->held = BRUME_STREAM_WORDS;
    }
    /* Readers take the last `left` words of the block: move the offered ones there, the held ones
     * stay before them. Words are independent and uniform, so their order means nothing. */
    size_t offer = want < stream->held ? want : stream->held;
    stream->held -= offer;
    uint64_t *from = stream->block + BRUME_STREAM_KEY_WORDS + stream->held;
    uint64_t *to = stream->block + BRUME_STREAM_BLOCK - offer;
    size_t apart = (size_t)(to - from);
    memmove(to, from, offer * sizeof *to);
    brume_bits_wipe(from, (apart < offer ? apart : offer) * sizeof *from);
    stream->left = offer;
    return true;
}

static void close_secure(brume_bits *bits)
{
    secure_bits *source = (secure_bits *)bits;
    EVP_CIPHER_CTX_free(source->main_cipher);
    EVP_CIPHER_CTX_free(source->more_cipher);
    brume_stream_close(bits->main);
    brume_stream_close(bits->more);
    free(source);
}

brume_status brume_bits_failed(const brume_bits *bits, brume_error *error)
{
    return brume_fail(error, BRUME_ERANDOM, "nothing was drawn; try again when the system recovers",
                      "the source of randomness failed: %s",
                      bits->failure ? bits->failure : "unknown cause");
}

brume_status brume_bits_open(brume_bits **out, brume_error *error)
{
    if (!out)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no place for the bit source");
    secure_bits *source = calloc(1, sizeof *source);
    if (!source)
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for a bit source");
    bool main_wiped = false, more_wiped = false;
    source->bits.main = brume_stream_open(&main_wiped);
    source->bits.more = brume_stream_open(&more_wiped);
    if (!source->bits.main || !source->bits.more) {
        close_secure(&source->bits);
        return brume_fail(error, BRUME_EMEMORY, NULL, "no memory for a bit source");
    }
    source->guarded = !main_wiped || !more_wiped;
    source->bits.refill = source->guarded ? guarded_refill : refill;
    source->bits.close = close_secure;
    if (source->guarded) {
        (void)pthread_once(&count_forks_once, count_forks);
        source->forks = atomic_load(&forks_seen);
    }
    source->main_cipher = EVP_CIPHER_CTX_new();
    source->more_cipher = EVP_CIPHER_CTX_new();
    bool ready = source->main_cipher && source->more_cipher &&
                 EVP_EncryptInit_ex(source->main_cipher, EVP_aes_256_ctr(), NULL, NULL, NULL) ==
                     1 &&
                 EVP_EncryptInit_ex(source->more_cipher, EVP_aes_256_ctr(), NULL, NULL, NULL) == 1;
    if (!ready)
        (void)fail(source, "opening AES-256-CTR");
    if (!ready || !seed(source, source->bits.main) || !seed(source, source->bits.more)) {
        brume_status status = brume_bits_failed(&source->bits, error);
        close_secure(&source->bits);
        return status;
    }
    *out = &source->bits;
    return BRUME_OK;
}

void brume_bits_close(brume_bits *bits)
{
    if (bits)
        bits->close(bits);
}

static bool reseed(secure_bits *source, brume_stream *stream)
{
    if (!is_ours(stream))
        return seed(source, stream);
    if (!make_block(source, stream, true))
        return false;
    /* The words of that block came from the old key: drop them, and those not yet read. */
    OPENSSL_cleanse(stream->block, sizeof stream->block);
    stream->left = stream->held = 0;
    return true;
}

brume_status brume_bits_reseed(brume_bits *bits, brume_error *error)
{
    if (!bits)
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no bit source");
    if (bits->close != close_secure)
        return brume_fail(error, BRUME_EUNSUPPORTED, NULL, "this bit source cannot be reseeded");
    secure_bits *source = (secure_bits *)bits;
    if (!reseed(source, bits->main) || !reseed(source, bits->more))
        return brume_bits_failed(bits, error);
    return BRUME_OK;
}

bool brume_bits_take(brume_bits *bits, brume_stream *stream, uint64_t *out, size_t count)
{
    for (size_t done = 0; done < count;) {
        size_t got;
        uint64_t *words = brume_bits_run(bits, stream, count - done, &got);
        if (!words) {
            brume_bits_wipe(out, count * sizeof *out);
            return false;
        }
        memcpy(out + done, words, got * sizeof *out);
        brume_bits_done(words, got);
        done += got;
    }
    return true;
}

brume_status brume_bits_words(brume_bits *bits, uint64_t *out, size_t n, brume_error *error)
{
    if (!bits || (!out && n > 0))
        return brume_fail(error, BRUME_EARGUMENT, NULL, "no bit source or no place for the words");
    return brume_bits_take(bits, bits->main, out, n) ? BRUME_OK : brume_bits_failed(bits, error);
}
