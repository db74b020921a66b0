/* The bit source: its stream is AES-256-CTR with fast key erasure, words are wiped, forks get
 * fresh words, and any failure of the kernel or of libcrypto gives an error and no output. */
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "random/bits.h"
#include "random/tape.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* --wrap: what the library calls. */
ssize_t __real_getrandom(void *buffer, size_t length, unsigned flags);
ssize_t __wrap_getrandom(void *buffer, size_t length, unsigned flags);
int __real_EVP_EncryptUpdate(EVP_CIPHER_CTX *c, unsigned char *out, int *made,
                             const unsigned char *in, int length);
int __wrap_EVP_EncryptUpdate(EVP_CIPHER_CTX *c, unsigned char *out, int *made,
                             const unsigned char *in, int length);
int __real_EVP_EncryptInit_ex(EVP_CIPHER_CTX *c, const EVP_CIPHER *type, ENGINE *engine,
                              const unsigned char *key, const unsigned char *iv);
int __wrap_EVP_EncryptInit_ex(EVP_CIPHER_CTX *c, const EVP_CIPHER *type, ENGINE *engine,
                              const unsigned char *key, const unsigned char *iv);
int __real_madvise(void *address, size_t length, int advice);
int __wrap_madvise(void *address, size_t length, int advice);
void *__real_mmap64(void *address, size_t length, int protection, int flags, int file,
                    off_t offset);
void *__wrap_mmap64(void *address, size_t length, int protection, int flags, int file,
                    off_t offset);

static struct {
    bool known_key;     /* getrandom gives 00 01 .. 1f, then a5 a5 .. */
    int kernel_calls;   /* so far */
    int kernel_fails;   /* this call of getrandom fails (1 = first); 0: none */
    int kernel_short;   /* this one gives 31 bytes */
    int kernel_retries; /* first calls that give EINTR */
    int update_calls, update_fails;
    int init_calls, init_fails;
    bool cannot_wipe;   /* madvise(MADV_WIPEONFORK) fails */
    bool takes_all;     /* madvise does nothing, and says that it did */
    bool seems_to_wipe; /* as on Linux where nobody forks, also under an emulator */
    bool no_memory;
} fake;

ssize_t __wrap_getrandom(void *buffer, size_t length, unsigned flags)
{
    if (fake.kernel_retries > 0) {
        fake.kernel_retries--;
        errno = EINTR;
        return -1;
    }
    fake.kernel_calls++;
    if (fake.kernel_calls == fake.kernel_fails) {
        errno = ENOSYS;
        return -1;
    }
    if (!fake.known_key)
        return __real_getrandom(buffer, length, flags);
    unsigned char *bytes = buffer;
    for (size_t i = 0; i < length; i++)
        bytes[i] = fake.kernel_calls <= 2 ? (unsigned char)i : 0xa5;
    return fake.kernel_calls == fake.kernel_short ? 31 : (ssize_t)length;
}

int __wrap_EVP_EncryptUpdate(EVP_CIPHER_CTX *c, unsigned char *out, int *made,
                             const unsigned char *in, int length)
{
    if (++fake.update_calls == fake.update_fails)
        return 0;
    return __real_EVP_EncryptUpdate(c, out, made, in, length);
}

int __wrap_EVP_EncryptInit_ex(EVP_CIPHER_CTX *c, const EVP_CIPHER *type, ENGINE *engine,
                              const unsigned char *key, const unsigned char *iv)
{
    if (++fake.init_calls == fake.init_fails)
        return 0;
    return __real_EVP_EncryptInit_ex(c, type, engine, key, iv);
}

int __wrap_madvise(void *address, size_t length, int advice)
{
    if (fake.cannot_wipe && advice == MADV_WIPEONFORK) {
        errno = EINVAL;
        return -1;
    }
    if (fake.seems_to_wipe)
        return advice < 0 ? -1 : 0;
    return fake.takes_all ? 0 : __real_madvise(address, length, advice);
}

void *__wrap_mmap64(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
    if (fake.no_memory)
        return MAP_FAILED;
    return __real_mmap64(address, length, protection, flags, file, offset);
}

static int forget(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    return 0;
}

static brume_bits *open_bits(void)
{
    brume_error error;
    brume_bits *bits = NULL;
    assert_ok(brume_bits_open(&bits, &error));
    return bits;
}

static bool all_zero(const void *memory, size_t size)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* Expected: `openssl enc -aes-256-ctr -K 000102...1f -iv 0`, zeros as input, 32 + 16384 bytes; the
 * first 32 bytes are the next key; the 256th next key is XORed with a5a5... */
static void the_stream_is_aes_256_ctr_with_the_key_replaced_at_each_refill(void **state)
{
    (void)state;
    brume_error error;
    fake.known_key = true;
    brume_bits *bits = open_bits();
    static uint64_t words[2048];
    assert_ok(brume_bits_words(bits, words, 2048, &error));
    assert_true(words[0] == 0xbd832cb5deb5bc0eu && words[1] == 0x99912c1835a9a808u);
    assert_true(words[2] == 0x2f608128535643d2u && words[3] == 0x565dffc583b39e80u);
    assert_true(words[2047] == 0x3b5c037628cc98b4u);
    assert_ok(brume_bits_words(bits, words, 2048, &error));
    assert_true(words[0] == 0x2c7d401605e42097u && words[1] == 0x1af7466a759b9a24u);
    for (int refill = 3; refill <= 257; refill++)
        assert_ok(brume_bits_words(bits, words, 2048, &error));
    assert_int_equal(fake.kernel_calls, 3); /* two keys, one mixing */
    assert_true(words[0] == 0x73592aceb9b1e1ecu);
    brume_bits_close(bits);
}

static void an_interrupted_kernel_call_is_repeated(void **state)
{
    (void)state;
    fake.kernel_retries = 3;
    brume_bits_close(open_bits());
    assert_int_equal(fake.kernel_retries, 0);
}

static void words_are_zero_in_the_block_once_handed_out(void **state)
{
    (void)state;
    brume_error error;
    fake.seems_to_wipe = true;
    brume_bits *bits = open_bits();
    uint64_t word, words[100];
    assert_true(brume_bits_word(bits, bits->main, &word));
    assert_true(word != 0);
    assert_ok(brume_bits_words(bits, words, 100, &error));
    assert_true(all_zero(bits->main->block, (4 + 101) * sizeof(uint64_t)));
    assert_false(all_zero(bits->main->block + 4 + 101, 64));
    size_t got = 0;
    uint64_t *run = brume_bits_run(bits, bits->main, 5000, &got);
    assert_int_equal(got, 2048 - 101);
    assert_false(all_zero(run, 64));
    brume_bits_done(run, got);
    assert_true(all_zero(bits->main->block, sizeof bits->main->block));
    brume_bits_close(bits);
}

/* Look for a key in all writable memory of this process; the needle is kept inverted. */
static int key_found(const unsigned char *inverted)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[512];
    int found = 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char mode[5];
        if (sscanf(line, "%lx-%lx %4s", &from, &to, mode) != 3 || mode[0] != 'r' || mode[1] != 'w')
            continue;
        for (const unsigned char *at = (const unsigned char *)from;
             at + 32 <= (const unsigned char *)to; at += 4) {
            int same = 0;
            while (same < 32 && (at[same] ^ inverted[same]) == 0xff)
                same++;
            found += same == 32;
        }
    }
    fclose(maps);
    return found;
}

static void the_key_of_handed_out_words_is_nowhere_in_memory(void **state)
{
    (void)state;
    /* Not under tools that keep memory of their own: there is too much of it to look through. */
    const char *preloaded = getenv("LD_PRELOAD");
    if (SANITIZED || (preloaded && strstr(preloaded, "vgpreload")))
        return; /* their shadow memory cannot be walked; the plain build looks */
    fake.known_key = true;
    unsigned char inverted[32];
    for (int i = 0; i < 32; i++)
        inverted[i] = (unsigned char)~i;
    brume_bits *bits = open_bits();
    /* The round keys begin with the key: while it is loaded it can be found ... */
    assert_true(key_found(inverted) >= 2);
    uint64_t word;
    assert_true(brume_bits_word(bits, bits->main, &word));
    assert_true(brume_bits_word(bits, bits->more, &word));
    /* ... and once its words exist it cannot. */
    assert_int_equal(key_found(inverted), 0);
    brume_bits_close(bits);
}

static void a_failure_at_opening_gives_an_error_and_no_handle(void **state)
{
    (void)state;
    brume_error error;
    for (int call = 1; call <= 6; call++) {
        for (int kind = 0; kind < 3; kind++) {
            memset(&fake, 0, sizeof fake);
            if (kind == 0 && call <= 2)
                fake.kernel_fails = call;
            else if (kind == 1 && call <= 4)
                fake.init_fails = call;
            else if (kind == 2 && call <= 2)
                fake.known_key = true, fake.kernel_short = call;
            else
                continue;
            brume_bits *bits = (brume_bits *)(uintptr_t)1;
            assert_fails(brume_bits_open(&bits, &error), BRUME_ERANDOM);
            assert_ptr_equal(bits, (void *)(uintptr_t)1);
            assert_int_equal(error.status, BRUME_ERANDOM);
        }
    }
    memset(&fake, 0, sizeof fake);
    fake.no_memory = true;
    brume_bits *bits = NULL;
    assert_fails(brume_bits_open(&bits, &error), BRUME_EMEMORY);
    assert_null(bits);
    assert_fails(brume_bits_open(NULL, &error), BRUME_EARGUMENT);
}

static void a_failure_in_a_batch_wipes_the_batch_and_both_streams(void **state)
{
    (void)state;
    brume_error error;
    static uint64_t words[10000];
    for (int kind = 0; kind < 3; kind++) {
        memset(&fake, 0, sizeof fake);
        brume_bits *bits = open_bits();
        uint64_t word;
        assert_true(brume_bits_word(bits, bits->more, &word));
        assert_ok(brume_bits_words(bits, words, 100, &error));
        if (kind == 0)
            fake.update_fails = fake.update_calls + 2;
        else if (kind == 1)
            fake.init_fails = fake.init_calls + 3;
        else { /* the mixing of the 256th refill */
            fake.kernel_fails = fake.kernel_calls + 1;
            bits->main->refills = 253;
        }
        memset(words, 0xff, sizeof words);
        assert_fails(brume_bits_words(bits, words, 10000, &error), BRUME_ERANDOM);
        assert_true(all_zero(words, sizeof words));
        assert_true(all_zero(bits->main, sizeof *bits->main));
        assert_true(all_zero(bits->more, sizeof *bits->more));
        /* The handle stays usable: it starts again from the kernel. */
        assert_ok(brume_bits_words(bits, words, 10000, &error));
        assert_false(all_zero(words, 64));
        brume_bits_close(bits);
    }
}

/* The first words that parent and child see after a fork, and what was left in the parent. */
static void fork_and_compare(brume_bits *bits)
{
    brume_error error;
    uint64_t mine[8], theirs[8];
    int pipe_ends[2];
    assert_ok(brume_bits_words(bits, mine, 1, &error));
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        uint64_t seen[8];
        bool done = brume_bits_words(bits, seen, 4, NULL) == BRUME_OK &&
                    brume_bits_take(bits, bits->more, seen + 4, 4) &&
                    write(pipe_ends[1], seen, sizeof seen) == (ssize_t)sizeof seen;
        _exit(done ? 0 : 1);
    }
    assert_int_equal(read(pipe_ends[0], theirs, sizeof theirs), sizeof theirs);
    int outcome;
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_int_equal(outcome, 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    assert_ok(brume_bits_words(bits, mine, 4, &error));
    assert_true(brume_bits_take(bits, bits->more, mine + 4, 4));
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            assert_true(mine[i] != theirs[j]);
    assert_false(all_zero(theirs, sizeof theirs));
}

static void a_forked_child_gets_other_words(void **state)
{
    (void)state;
    brume_bits *bits = open_bits();
    uint64_t word;
    assert_true(brume_bits_word(bits, bits->more, &word));
    fork_and_compare(bits);
    brume_bits_close(bits);
}

static void check_without_wiping(void)
{
    brume_bits *bits = open_bits();
    uint64_t word;
    assert_true(brume_bits_word(bits, bits->more, &word));
    assert_int_equal(bits->more->left, 0); /* nothing stays readable between calls */
    fork_and_compare(bits);
    brume_bits_close(bits);
}

static void a_forked_child_gets_other_words_where_the_kernel_cannot_wipe(void **state)
{
    (void)state;
    fake.cannot_wipe = true;
    check_without_wiping();
}

static void a_forked_child_gets_other_words_where_wiping_is_promised_and_not_done(void **state)
{
    (void)state;
    fake.takes_all = true;
    check_without_wiping();
}

/* Without wiping, the words come in runs of what was asked; none may come twice or stay behind. */
static void guarded_words_are_all_different_and_wiped(void **state)
{
    (void)state;
    brume_error error;
    fake.cannot_wipe = true;
    brume_bits *bits = open_bits();
    static uint64_t words[6000];
    size_t count = 0;
    for (size_t ask = 1; count + ask <= 6000; count += ask, ask = ask % 37 + 1)
        assert_ok(brume_bits_words(bits, words + count, ask, &error));
    for (size_t i = 0; i < count; i++) {
        assert_true(words[i] != 0);
        for (size_t j = 0; j < i; j++)
            if (words[i] == words[j])
                fail_msg("word %zu equals word %zu", i, j);
    }
    for (size_t i = bits->main->held; i < BRUME_STREAM_WORDS; i++)
        assert_true(bits->main->block[BRUME_STREAM_KEY_WORDS + i] == 0);
    brume_bits_close(bits);
}

static void a_reseed_drops_the_words_and_the_key(void **state)
{
    (void)state;
    brume_error error;
    fake.known_key = true;
    fake.seems_to_wipe = true;
    brume_bits *bits = open_bits();
    uint64_t word;
    assert_ok(brume_bits_words(bits, &word, 1, &error));
    assert_true(word == 0xbd832cb5deb5bc0eu);
    assert_ok(brume_bits_reseed(bits, &error));
    assert_int_equal(bits->main->left, 0);
    assert_true(all_zero(bits->main->block, sizeof bits->main->block));
    assert_ok(brume_bits_words(bits, &word, 1, &error));
    assert_true(word != 0x99912c1835a9a808u && word != 0x2c7d401605e42097u);
    fake.kernel_fails = fake.kernel_calls + 1;
    assert_fails(brume_bits_reseed(bits, &error), BRUME_ERANDOM);
    assert_true(all_zero(bits->main, sizeof *bits->main));
    assert_fails(brume_bits_reseed(NULL, &error), BRUME_EARGUMENT);
    assert_fails(brume_bits_words(NULL, &word, 1, &error), BRUME_EARGUMENT);
    brume_bits_close(bits);
    brume_bits_close(NULL);
}

static void a_tape_gives_its_words_and_runs_out(void **state)
{
    (void)state;
    brume_error error;
    const uint64_t main_words[3] = {7, 8, 9}, more_words[1] = {5};
    brume_bits *tape = brume_tape_open(main_words, 3, more_words, 1);
    assert_non_null(tape);
    uint64_t words[4] = {1, 1, 1, 1}, word;
    assert_ok(brume_bits_words(tape, words, 2, &error));
    assert_true(words[0] == 7 && words[1] == 8);
    assert_int_equal(brume_tape_main_read(tape), 2);
    assert_true(brume_bits_word(tape, tape->more, &word) && word == 5);
    assert_fails(brume_bits_words(tape, words, 2, &error), BRUME_ERANDOM);
    assert_true(words[0] == 0 && words[1] == 0);
    brume_tape_rewind(tape);
    brume_tape_limit(tape, 2);
    assert_ok(brume_bits_words(tape, words, 3, &error));
    assert_true(words[0] == 7 && words[1] == 8 && words[2] == 9);
    assert_false(brume_bits_word(tape, tape->main, &word));
    assert_fails(brume_bits_reseed(tape, &error), BRUME_EUNSUPPORTED);
    brume_bits_close(tape);

    brume_bits *one = brume_tape_open_seeded(1), *other = brume_tape_open_seeded(1);
    uint64_t a[5000], b[5000];
    brume_tape_limit(other, 7);
    assert_ok(brume_bits_words(one, a, 5000, &error));
    assert_ok(brume_bits_words(other, b, 5000, &error));
    assert_memory_equal(a, b, sizeof a);
    brume_bits_close(one);
    brume_bits_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_stream_is_aes_256_ctr_with_the_key_replaced_at_each_refill,
                                  forget),
        cmocka_unit_test_teardown(an_interrupted_kernel_call_is_repeated, forget),
        cmocka_unit_test_teardown(words_are_zero_in_the_block_once_handed_out, forget),
        cmocka_unit_test_teardown(the_key_of_handed_out_words_is_nowhere_in_memory, forget),
        cmocka_unit_test_teardown(a_failure_at_opening_gives_an_error_and_no_handle, forget),
        cmocka_unit_test_teardown(a_failure_in_a_batch_wipes_the_batch_and_both_streams, forget),
        cmocka_unit_test_teardown(a_forked_child_gets_other_words, forget),
        cmocka_unit_test_teardown(a_forked_child_gets_other_words_where_the_kernel_cannot_wipe,
                                  forget),
        cmocka_unit_test_teardown(
            a_forked_child_gets_other_words_where_wiping_is_promised_and_not_done, forget),
        cmocka_unit_test_teardown(guarded_words_are_all_different_and_wiped, forget),
        cmocka_unit_test_teardown(a_reseed_drops_the_words_and_the_key, forget),
        cmocka_unit_test_teardown(a_tape_gives_its_words_and_runs_out, forget),
    };
    return cmocka_run_group_tests_name("bits", tests, NULL, NULL);
}
