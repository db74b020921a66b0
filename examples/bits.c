/* Bits: open a secure source, draw from small laws exactly, close it. */
#include <inttypes.h>
#include <stdio.h>

#include <brume/bits.h>
#include <brume/noise/primitive.h>

int main(void)
{
    brume_error error;
    brume_bits *bits = NULL;
    uint64_t words[2], die = 0;
    bool rain = false, decay = false;

    brume_status status = brume_bits_open(&bits, &error);
    if (status == BRUME_OK)
        status = brume_bits_words(bits, words, 2, &error);
    if (status == BRUME_OK)
        status = brume_sample_below(bits, 6, &die, &error); /* uniform on 0..5, no modulo bias */
    if (status == BRUME_OK)
        status = brume_sample_bernoulli(bits, 1, 3, &rain, &error); /* exactly one third */
    if (status == BRUME_OK)
        status = brume_sample_bernoulli_exp(bits, 1, 2, &decay, &error); /* exactly exp(-1/2) */
    if (status == BRUME_OK)
        printf("words %016" PRIx64 " %016" PRIx64 "\na die shows %" PRIu64
               "\nprobability 1/3: %s\nprobability exp(-1/2): %s\n",
               words[0], words[1], die + 1, rain ? "yes" : "no", decay ? "yes" : "no");
    else
        fprintf(stderr, "bits: %s\n", error.message);
    brume_bits_close(bits); /* wipes; NULL is allowed */
    return brume_status_exit_code(status);
}
