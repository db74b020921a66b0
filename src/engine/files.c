/* The files behind a path or a glob: which they are, and by which marks they are known.
 *
 * A file has up to three marks. Its resolved path finds symbolic links and other spellings of a
 * name; device, inode and time of birth find hard links and renamed files (the time of birth,
 * where the file system keeps one, tells a file from a later one that got the same inode); size and
 * a hash find copies of files that have rows. The hash reads at most 64 blocks of 64 KiB, evenly
 * spaced, the first and the last among them: two files of one size that agree in all of them are
 * taken for copies. */
#include "engine/files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/error.h"
#include "engine/driver.h"

enum { BLOCK = 1 << 16, BLOCKS = 64, HASH = 32 };

/* ---- finding ---- */

static int unreadable(const char *path, int code)
{
    (void)path;
    (void)code;
    return 1;
}

/* A file that exists is meant literally, whatever its name. */
static char *escape_pattern(const char *name)
{
    char *escaped = malloc(2 * strlen(name) + 1), *end = escaped;
    if (!escaped)
        return NULL;
    for (; *name; name++) {
        if (strchr("*?[]\\", *name))
            *end++ = '\\';
        *end++ = *name;
    }
    *end = 0;
    return escaped;
}

/* A file is known by its resolved path; a glob by its pattern behind the resolved folder that it
 * starts in, so that it stays the same source when files are added. */
static char *identity_of(const char *location, const char *resolved)
{
    if (access(location, F_OK) == 0)
        return brume_engine_format("file:%s", resolved);
    const char *wild = location + strcspn(location, "*?[\\"), *rest = location;
    for (const char *c = location; c < wild; c++)
        if (*c == '/')
            rest = c + 1;
    char *folder = rest > location ? strndup(location, (size_t)(rest - location)) : strdup(".");
    char *resolved_folder = folder ? realpath(folder, NULL) : NULL;
    char *identity =
        resolved_folder
            ? brume_engine_format("glob:%s/%s",
                                  strcmp(resolved_folder, "/") == 0 ? "" : resolved_folder, rest)
            : NULL;
    free(folder);
    free(resolved_folder);
    return identity;
}

brume_file_format brume_file_format_of(const char *location)
{
    if (brume_engine_ends_with(location, ".parquet"))
        return BRUME_FILE_PARQUET;
    return brume_engine_ends_with(location, ".json") ||
                   brume_engine_ends_with(location, ".jsonl") ||
                   brume_engine_ends_with(location, ".ndjson")
               ? BRUME_FILE_JSON
               : BRUME_FILE_CSV;
}

typedef struct file_place {
    dev_t device;
    ino_t inode;
    size_t index;
} file_place;

static int compare_places(const void *left, const void *right)
{
    const file_place *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static bool is_same_file(const file_place *a, const file_place *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* A file with several names, by links, is read once: else a row would count for each of them. */
static brume_status drop_other_names(brume_files *files, brume_error *error)
{
    file_place *places = calloc(files->count + 1, sizeof *places);
    if (!places)
        return brume_no_memory(error, NULL);
    for (size_t i = 0; i < files->count; i++) {
        struct stat found;
        if (stat(files->paths[i], &found) != 0) {
            free(places);
            return brume_fail(error, BRUME_ESOURCE, "put the file back and ask again",
                              "the file '%s' is gone or may not be read any more", files->location);
        }
        places[i] = (file_place){found.st_dev, found.st_ino, i};
    }
    qsort(places, files->count, sizeof *places, compare_places);
    for (size_t i = 1; i < files->count; i++)
        if (is_same_file(&places[i - 1], &places[i])) {
            free(files->paths[places[i].index]);
            files->paths[places[i].index] = NULL;
        }
    free(places);
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++)
        if (files->paths[i])
            files->paths[kept++] = files->paths[i];
    files->paths[kept] = NULL;
    files->owner.gl_pathc = files->count = kept;
    return BRUME_OK;
}

brume_status brume_files_find(const char *location, brume_files *files, brume_error *error)
{
    *files = (brume_files){.format = brume_file_format_of(location), .location = strdup(location)};
    bool literal = access(location, F_OK) == 0;
    char *pattern = literal ? escape_pattern(location) : strdup(location);
    if (!pattern || !files->location) {
        free(pattern);
        return brume_no_memory(error, NULL);
    }
    glob_t names;
    int code = glob(pattern, 0, unreadable, &names);
    free(pattern);
    if (code == GLOB_NOSPACE)
        return brume_no_memory(error, NULL);
    if (code != 0)
        return brume_fail(error, BRUME_ESOURCE, "is the path right, and may it be read?",
                          "no file '%s'", location);
    files->owner = names;
    files->paths = names.gl_pathv;
    files->count = names.gl_pathc;
    /* Resolve every name, so that what is allowed is a file and not a link that may move. */
    for (size_t i = 0; i < files->count; i++) {
        char *resolved = realpath(files->paths[i], NULL);
        struct stat found;
        bool folder = resolved && stat(resolved, &found) == 0 && S_ISDIR(found.st_mode);
        if (!resolved || folder || access(resolved, R_OK) != 0) {
            brume_status status =
                folder
                    ? brume_fail(error, BRUME_ESOURCE,
                                 "a glob such as 'folder/*.csv' names its files",
                                 literal ? "'%s' is a folder" : "'%s' matches a folder", location)
                    : brume_fail(error, BRUME_ESOURCE, "check its permissions", "cannot read '%s'",
                                 location);
            free(resolved);
            return status;
        }
        free(files->paths[i]);
        files->paths[i] = resolved;
    }
    BRUME_TRY(drop_other_names(files, error));
    files->identity = identity_of(location, files->paths[0]);
    return files->identity ? BRUME_OK : brume_no_memory(error, NULL);
}

void brume_files_clear(brume_files *files)
{
    free(files->location);
    free(files->identity);
    if (files->paths)
        globfree(&files->owner);
    *files = (brume_files){0};
}

/* ---- marks ---- */

/* SHA-256 of the blocks at offsets i (size - BLOCK) / (BLOCKS - 1); of a short file, of all of it.
 */
static bool hash_blocks(int descriptor, uint64_t size, unsigned char hash[HASH])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    unsigned char *block = malloc(BLOCK);
    bool good = context && block && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
    bool whole = size <= (uint64_t)BLOCK * BLOCKS;
    uint64_t blocks = whole ? (size + BLOCK - 1) / BLOCK : BLOCKS;
    for (uint64_t i = 0; good && i < blocks; i++) {
        uint64_t at = whole ? i * BLOCK : (size - BLOCK) / (BLOCKS - 1) * i;
        if (!whole && i == BLOCKS - 1)
            at = size - BLOCK;
        ssize_t got = pread(descriptor, block, BLOCK, (off_t)at);
        good = got >= 0 && EVP_DigestUpdate(context, block, (size_t)got) == 1;
    }
    unsigned length = 0;
    good = good && EVP_DigestFinal_ex(context, hash, &length) == 1 && length == HASH;
    free(block);
    EVP_MD_CTX_free(context);
    return good;
}

static brume_status mark_contents(const char *path, brume_marks *marks, brume_error *error)
{
    unsigned char hash[HASH];
    char digits[2 * HASH + 1];
    struct stat file;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    bool good = descriptor >= 0 && fstat(descriptor, &file) == 0 &&
                hash_blocks(descriptor, (uint64_t)file.st_size, hash);
    if (descriptor >= 0)
        close(descriptor);
    if (!good)
        return brume_fail(error, BRUME_ESOURCE, "check its permissions", "cannot read '%s'", path);
    for (size_t i = 0; i < HASH; i++)
        snprintf(digits + 2 * i, 3, "%02x", hash[i]);
    return brume_marks_add(
        marks, brume_engine_format("contents:%lld:%s", (long long)file.st_size, digits), error);
}

static brume_status mark_file(const brume_files *files, size_t index, bool contents,
                              brume_marks *marks, brume_error *error)
{
    const char *path = files->paths[index];
    struct statx file;
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_SIZE | STATX_BTIME, &file) != 0)
        return brume_fail(error, BRUME_ESOURCE, "put the file back and ask again",
                          "the file '%s' is gone or may not be read any more", files->location);
    bool born = file.stx_mask & STATX_BTIME;
    BRUME_TRY(brume_marks_add(marks, brume_engine_format("path:%s", path), error));
    BRUME_TRY(
        brume_marks_add(marks,
                        brume_engine_format("inode:%u:%u:%llu:%lld.%09u", file.stx_dev_major,
                                            file.stx_dev_minor, (unsigned long long)file.stx_ino,
                                            born ? (long long)file.stx_btime.tv_sec : 0,
                                            born ? file.stx_btime.tv_nsec : 0),
                        error));
    return contents ? mark_contents(path, marks, error) : BRUME_OK;
}

brume_status brume_files_mark(const brume_files *files, const bool *contents, brume_marks *marks,
                              brume_error *error)
{
    for (size_t i = 0; i < files->count; i++)
        BRUME_TRY(mark_file(files, i, contents && contents[i], marks, error));
    return BRUME_OK;
}
