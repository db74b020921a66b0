/* SHA-256 of a few byte strings, written as 64 hexadecimal digits. */
#include "ledger/digest.h"

#include <stdint.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/error.h"

static int add_part(EVP_MD_CTX *context, const char *part)
{
    size_t length = strlen(part);
    uint8_t prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (uint8_t)((uint64_t)length >> (56 - 8 * i));
    return EVP_DigestUpdate(context, prefix, sizeof prefix) == 1 &&
           EVP_DigestUpdate(context, part, length) == 1;
}

brume_status brume_digest(const char *const *parts, size_t count, char out[BRUME_DIGEST_TEXT],
                          brume_error *error)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t hash[32];
    unsigned length = 0;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int good = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
    for (size_t i = 0; good && i < count; i++)
        good = add_part(context, parts[i]);
    good = good && EVP_DigestFinal_ex(context, hash, &length) == 1 && length == sizeof hash;
    EVP_MD_CTX_free(context);
    if (!good)
        return brume_fail(error, BRUME_EMEMORY, NULL, "libcrypto could not compute a SHA-256");
    for (size_t i = 0; i < sizeof hash; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
    out[2 * sizeof hash] = 0;
    return BRUME_OK;
}
