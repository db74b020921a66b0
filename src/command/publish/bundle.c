/* A bundle: a folder of files that says of itself which files it has, and who signed that. */
#include "command/publish/bundle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/error.h"

static const char manifest_name[] = "manifest.json", signature_name[] = "signature";
static const char format_name[] = "brume bundle 1";

enum { KEY_BYTES = 32, HASH_BYTES = 32, SIGNATURE_BYTES = 64, HASH_TEXT = 65 };

static brume_status disk_fault(const char *doing, const char *path, brume_error *error)
{
    return brume_fail(error, BRUME_EDISK, NULL, "cannot %s '%s': %s", doing, path, strerror(errno));
}

static brume_status crypto_fault(brume_error *error)
{
    return brume_fail(error, BRUME_EINTERNAL, NULL, "libcrypto refused an Ed25519 key");
}

static void as_digits(const uint8_t *bytes, size_t count, char *text)
{
    for (size_t i = 0; i < count; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static bool as_bytes(const char *text, size_t count, uint8_t *bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 2 * count; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit)
            return false;
        uint8_t value = (uint8_t)(digit - digits);
        bytes[i / 2] = (uint8_t)(i % 2 ? bytes[i / 2] | value : value << 4);
    }
    return text[2 * count] == 0;
}

static brume_status hash_text(const void *text, size_t length, char out[HASH_TEXT],
                              brume_error *error)
{
    uint8_t hash[HASH_BYTES];
    if (EVP_Digest(text, length, hash, NULL, EVP_sha256(), NULL) != 1)
        return brume_fail(error, BRUME_EMEMORY, NULL, "libcrypto could not compute a SHA-256");
    as_digits(hash, sizeof hash, out);
    return BRUME_OK;
}

/* "FOLDER/PATH"; NULL: no memory. */
static char *join(const char *folder, const char *path)
{
    char *text = NULL;
    return asprintf(&text, "%s/%s", folder, path) < 0 ? NULL : text;
}

/* ---- keys ---- */

struct brume_signer {
    EVP_PKEY *pair;
    char text[BRUME_SIGNER_TEXT];
};

static brume_status take_pair(EVP_PKEY *pair, brume_signer **out, brume_error *error)
{
    uint8_t bytes[KEY_BYTES];
    size_t length = sizeof bytes;
    brume_signer *key = calloc(1, sizeof *key);
    bool good = key && EVP_PKEY_get_raw_public_key(pair, bytes, &length) == 1 &&
                length == sizeof bytes;
    if (!good) {
        EVP_PKEY_free(pair);
        free(key);
        return crypto_fault(error);
    }
    key->pair = pair;
    as_digits(bytes, sizeof bytes, key->text);
    *out = key;
    return BRUME_OK;
}

void brume_signer_close(brume_signer *key)
{
    if (key)
        EVP_PKEY_free(key->pair);
    free(key);
}

void brume_signer_public(const brume_signer *key, char text[BRUME_SIGNER_TEXT])
{
    memcpy(text, key->text, BRUME_SIGNER_TEXT);
}

brume_status brume_signer_fingerprint(const char *public_text, char text[BRUME_SIGNER_TEXT],
                                      brume_error *error)
{
    uint8_t bytes[KEY_BYTES];
    if (!as_bytes(public_text, sizeof bytes, bytes))
        return brume_fail(error, BRUME_ESYNTAX, NULL,
                          "the public key is not 64 hexadecimal digits");
    return hash_text(bytes, sizeof bytes, text, error);
}

/* Make a file that was not there and write half of the pair. */
static brume_status write_half(const char *path, mode_t mode, EVP_PKEY *pair, bool secret,
                               brume_error *error)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0 && errno == EEXIST)
        return brume_fail(error, BRUME_EPOLICY, "a key is never written over",
                          "there is something at '%s' already", path);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    if (!out) {
        if (file >= 0)
            close(file);
        return disk_fault("write", path, error);
    }
    int written = secret ? PEM_write_PKCS8PrivateKey(out, pair, NULL, NULL, 0, NULL, NULL)
                         : PEM_write_PUBKEY(out, pair);
    bool good = written == 1 && fflush(out) == 0 && fsync(fileno(out)) == 0;
    good = fclose(out) == 0 && good;
    if (good)
        return BRUME_OK;
    unlink(path);
    return disk_fault("write", path, error);
}

brume_status brume_signer_create(const char *path, brume_signer **out, brume_error *error)
{
    char *public_path = NULL;
    if (asprintf(&public_path, "%s.pub", path) < 0)
        return brume_no_memory(error, "a key");
    EVP_PKEY *pair = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    brume_status status = pair ? BRUME_OK : crypto_fault(error);
    if (status == BRUME_OK)
        status = write_half(path, 0600, pair, true, error);
    if (status == BRUME_OK &&
        (status = write_half(public_path, 0644, pair, false, error)) != BRUME_OK)
        unlink(path);
    free(public_path);
    if (status == BRUME_OK)
        return take_pair(pair, out, error);
    EVP_PKEY_free(pair);
    return status;
}

brume_status brume_signer_read(const char *path, brume_signer **out, brume_error *error)
{
    struct stat file;
    FILE *in = fopen(path, "re");
    if (!in || fstat(fileno(in), &file) != 0) {
        if (in)
            fclose(in);
        return brume_fail(error, BRUME_ESOURCE, "make one with 'brume key new FILE'",
                          "cannot read the key '%s': %s", path, strerror(errno));
    }
    EVP_PKEY *pair = PEM_read_PrivateKey(in, NULL, NULL, NULL);
    bool secret = pair != NULL;
    if (!pair && fseek(in, 0, SEEK_SET) == 0)
        pair = PEM_read_PUBKEY(in, NULL, NULL, NULL);
    fclose(in);
    if (!pair || EVP_PKEY_get_base_id(pair) != EVP_PKEY_ED25519) {
        EVP_PKEY_free(pair);
        return brume_fail(error, BRUME_ESYNTAX, "make one with 'brume key new FILE'",
                          "'%s' is no Ed25519 key without a passphrase", path);
    }
    if (secret && (file.st_mode & (S_IRWXG | S_IRWXO))) {
        EVP_PKEY_free(pair);
        return brume_fail(error, BRUME_EPOLICY, "chmod 600 it, or make a new one",
                          "others may read the secret key '%s'", path);
    }
    return take_pair(pair, out, error);
}

static brume_status sign(const brume_signer *key, const char *text, size_t length,
                         uint8_t signature[SIGNATURE_BYTES], brume_error *error)
{
    size_t size = SIGNATURE_BYTES;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context && EVP_DigestSignInit(context, NULL, NULL, NULL, key->pair) == 1 &&
                EVP_DigestSign(context, signature, &size, (const uint8_t *)text, length) == 1 &&
                size == SIGNATURE_BYTES;
    EVP_MD_CTX_free(context);
    return good ? BRUME_OK
                : brume_fail(error, BRUME_EARGUMENT, "the public half cannot sign",
                             "the key could not sign");
}

/* Is it the signature of that text by the key with this public half? */
static bool is_signed(const uint8_t public_bytes[KEY_BYTES], const char *text, size_t length,
                      const uint8_t signature[SIGNATURE_BYTES])
{
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_bytes, KEY_BYTES);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good =
        key && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
        EVP_DigestVerify(context, signature, SIGNATURE_BYTES, (const uint8_t *)text, length) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return good;
}

/* ---- writing ---- */

struct brume_bundle {
    char *folder;  /* where it will be */
    char *partial; /* where it is until then */
    json_t *files;
    bool finished;
};

static bool is_there(const char *path)
{
    struct stat file;
    return lstat(path, &file) == 0;
}

brume_status brume_bundle_begin(const char *folder, brume_bundle **out, brume_error *error)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    brume_bundle *bundle = calloc(1, sizeof *bundle);
    if (!bundle || !(bundle->folder = strndup(folder, length)) ||
        asprintf(&bundle->partial, "%s.partial-XXXXXX", bundle->folder) < 0 ||
        !(bundle->files = json_array())) {
        brume_bundle_close(bundle);
        return brume_no_memory(error, "a bundle");
    }
    brume_status status = BRUME_OK;
    if (is_there(bundle->folder))
        status = brume_fail(error, BRUME_EPOLICY, "name a new folder",
                            "there is something at '%s' already", bundle->folder);
    else if (!mkdtemp(bundle->partial) || chmod(bundle->partial, 0755) != 0)
        status = disk_fault("make", bundle->folder, error);
    if (status == BRUME_OK)
        *out = bundle;
    else
        brume_bundle_close(bundle);
    return status;
}

/* Remove a folder of plain files and folders of these. */
static void remove_folder(const char *path, int depth)
{
    DIR *folder = depth > 0 ? opendir(path) : NULL;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        char *inner = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0
                          ? NULL
                          : join(path, entry->d_name);
        if (inner && unlink(inner) != 0)
            remove_folder(inner, depth - 1);
        free(inner);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
}

void brume_bundle_close(brume_bundle *bundle)
{
    if (!bundle)
        return;
    if (!bundle->finished && bundle->partial && is_there(bundle->partial))
        remove_folder(bundle->partial, 4);
    json_decref(bundle->files);
    free(bundle->partial);
    free(bundle->folder);
    free(bundle);
}

char *brume_bundle_place(const brume_bundle *bundle, const char *path)
{
    char *place = join(bundle->partial, path);
    for (char *slash = place ? strchr(place + strlen(bundle->partial) + 1, '/') : NULL; slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(place, 0755); /* if this fails, writing the file does */
        *slash = '/';
    }
    return place;
}

static brume_status write_file(const brume_bundle *bundle, const char *path, const void *text,
                               size_t length, brume_error *error)
{
    char *place = brume_bundle_place(bundle, path);
    if (!place)
        return brume_no_memory(error, "a bundle");
    FILE *out = fopen(place, "wxe");
    bool good = out && fwrite(text, 1, length, out) == length;
    good = out && fclose(out) == 0 && good;
    brume_status status = good ? BRUME_OK : disk_fault("write", place, error);
    free(place);
    return status;
}

static brume_status list(brume_bundle *bundle, const char *path, const char *text, size_t length,
                         brume_error *error)
{
    char hash[HASH_TEXT];
    BRUME_TRY(hash_text(text, length, hash, error));
    json_t *file =
        json_pack("{s:s,s:I,s:s}", "path", path, "bytes", (json_int_t)length, "sha256", hash);
    return json_array_append_new(bundle->files, file) == 0 ? BRUME_OK
                                                           : brume_no_memory(error, "a bundle");
}

brume_status brume_bundle_add(brume_bundle *bundle, const char *path, const char *text,
                              size_t length, brume_error *error)
{
    BRUME_TRY(write_file(bundle, path, text, length, error));
    return list(bundle, path, text, length, error);
}

brume_status brume_bundle_add_written(brume_bundle *bundle, const char *path, brume_error *error)
{
    char *text = NULL;
    size_t length = 0;
    BRUME_TRY(brume_bundle_read(bundle->partial, path, &text, &length, error));
    brume_status status = list(bundle, path, text, length, error);
    free(text);
    return status;
}

const json_t *brume_bundle_files(const brume_bundle *bundle)
{
    return bundle->files;
}

brume_status brume_bundle_finish(brume_bundle *bundle, const brume_signer *key, brume_error *error)
{
    uint8_t signature[SIGNATURE_BYTES];
    json_t *manifest = json_pack("{s:s,s:O,s:s?}", "format", format_name, "files", bundle->files,
                                 "public_key", key ? key->text : NULL);
    char *text = manifest ? json_dumps(manifest, JSON_INDENT(1) | JSON_SORT_KEYS) : NULL;
    json_decref(manifest);
    if (!text)
        return brume_no_memory(error, "a bundle");
    brume_status status = write_file(bundle, manifest_name, text, strlen(text), error);
    if (status == BRUME_OK && key)
        status = sign(key, text, strlen(text), signature, error);
    if (status == BRUME_OK && key)
        status = write_file(bundle, signature_name, signature, sizeof signature, error);
    free(text);
    if (status == BRUME_OK && is_there(bundle->folder))
        status = brume_fail(error, BRUME_EPOLICY, "name a new folder",
                            "there is something at '%s' already", bundle->folder);
    if (status == BRUME_OK && rename(bundle->partial, bundle->folder) != 0)
        status = disk_fault("make", bundle->folder, error);
    bundle->finished = status == BRUME_OK;
    return status;
}

/* ---- checking ---- */

static brume_status damaged(const char *what, const char *path, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "do not trust this copy; get it again",
                      "the bundle does not hold: %s%s%s%s", what, path ? " '" : "",
                      path ? path : "", path ? "'" : "");
}

brume_status brume_bundle_read(const char *folder, const char *path, char **text, size_t *length,
                               brume_error *error)
{
    enum { MOST = 1 << 30 };
    struct stat file;
    char *place = join(folder, path);
    if (!place)
        return brume_no_memory(error, "a bundle");
    int in = open(place, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char *read_text = NULL;
    bool good = in >= 0 && fstat(in, &file) == 0 && S_ISREG(file.st_mode) && file.st_size < MOST &&
                (read_text = malloc((size_t)file.st_size + 1));
    size_t got = 0;
    while (good && got < (size_t)file.st_size) {
        ssize_t more = read(in, read_text + got, (size_t)file.st_size - got);
        good = more > 0;
        got += more > 0 ? (size_t)more : 0;
    }
    if (in >= 0)
        close(in);
    brume_status status = good ? BRUME_OK
                               : brume_fail(error, BRUME_ESOURCE, NULL, "cannot read '%s'", place);
    free(place);
    if (!good) {
        free(read_text);
        return status;
    }
    read_text[got] = 0;
    *text = read_text;
    *length = got;
    return BRUME_OK;
}

/* A path that leads into the folder and nowhere else. */
static bool is_plain(const char *path)
{
    return path && *path && *path != '/' && !strstr(path, "..") && !strstr(path, "//") &&
           strcmp(path, manifest_name) != 0 && strcmp(path, signature_name) != 0;
}

static brume_status check_file(const char *folder, const json_t *file, brume_error *error)
{
    const char *path = json_string_value(json_object_get(file, "path"));
    const char *expected = json_string_value(json_object_get(file, "sha256"));
    char *text = NULL, hash[HASH_TEXT] = "";
    size_t length = 0;
    if (!is_plain(path) || !expected)
        return damaged("the manifest names no plain file", path, error);
    if (brume_bundle_read(folder, path, &text, &length, NULL) != BRUME_OK)
        return damaged("a file is missing:", path, error);
    brume_status status = hash_text(text, length, hash, error);
    free(text);
    bool same = strcmp(hash, expected) == 0 &&
                (json_int_t)length == json_integer_value(json_object_get(file, "bytes"));
    return status != BRUME_OK || same ? status : damaged("a file was changed:", path, error);
}

static bool is_listed(const json_t *files, const char *path)
{
    for (size_t i = 0; i < json_array_size(files); i++) {
        const char *one = json_string_value(json_object_get(json_array_get(files, i), "path"));
        if (one && strcmp(one, path) == 0)
            return true;
    }
    return false;
}

/* Is there anything in the folder that is not listed? `inner` is a folder of it, "" the whole. */
static brume_status check_nothing_else(const char *folder, const char *inner, const json_t *files,
                                       int depth, brume_error *error)
{
    char *place = join(folder, inner);
    DIR *open_folder = place ? opendir(place) : NULL;
    brume_status status = BRUME_OK;
    free(place);
    if (!open_folder)
        return damaged("cannot look into", folder, error);
    for (const struct dirent *entry; status == BRUME_OK && (entry = readdir(open_folder));) {
        const char *name = entry->d_name;
        char *path = NULL;
        struct stat file;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            (!*inner && (strcmp(name, manifest_name) == 0 || strcmp(name, signature_name) == 0)))
            continue;
        if (asprintf(&path, "%s%s%s", inner, *inner ? "/" : "", name) < 0)
            status = brume_no_memory(error, "a bundle");
        else if (fstatat(dirfd(open_folder), name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
                 S_ISDIR(file.st_mode) && depth > 0)
            status = check_nothing_else(folder, path, files, depth - 1, error);
        else if (!is_listed(files, path))
            status = damaged("a file is not in the manifest:", path, error);
        free(path);
    }
    closedir(open_folder);
    return status;
}

static brume_status check_signature(const char *folder, const json_t *manifest, const char *text,
                                    size_t length, const char *expected, brume_error *error)
{
    const char *key = json_string_value(json_object_get(manifest, "public_key"));
    char *signature = NULL;
    size_t size = 0;
    uint8_t bytes[KEY_BYTES];
    if (!key && !expected)
        return BRUME_OK; /* unsigned, and the caller says so */
    if (!key || (expected && strcmp(key, expected) != 0))
        return damaged("it is not signed by the key that was expected", NULL, error);
    if (!as_bytes(key, sizeof bytes, bytes))
        return damaged("its public key is none", NULL, error);
    if (brume_bundle_read(folder, signature_name, &signature, &size, NULL) != BRUME_OK)
        return damaged("a file is missing:", signature_name, error);
    bool good = size == SIGNATURE_BYTES &&
                is_signed(bytes, text, length, (const uint8_t *)signature);
    free(signature);
    return good ? BRUME_OK
                : damaged("the signature is not of this manifest by this key", NULL, error);
}

brume_status brume_bundle_check(const char *folder, const char *expected, json_t **manifest,
                                brume_error *error)
{
    char *text = NULL;
    size_t length = 0;
    BRUME_TRY(brume_bundle_read(folder, manifest_name, &text, &length, error));
    json_t *read_manifest = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const json_t *files = json_object_get(read_manifest, "files");
    const char *format = json_string_value(json_object_get(read_manifest, "format"));
    brume_status status = BRUME_OK;
    if (!format || strcmp(format, format_name) != 0 || !json_is_array(files))
        status = damaged("the manifest is none", NULL, error);
    if (status == BRUME_OK)
        status = check_signature(folder, read_manifest, text, length, expected, error);
    for (size_t i = 0; status == BRUME_OK && i < json_array_size(files); i++)
        status = check_file(folder, json_array_get(files, i), error);
    if (status == BRUME_OK)
        status = check_nothing_else(folder, "", files, 4, error);
    free(text);
    if (status == BRUME_OK)
        *manifest = read_manifest;
    else
        json_decref(read_manifest);
    return status;
}
