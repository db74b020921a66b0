/* Blocks of lines: see the header. Bytes are read and never mapped: a mapped file that is cut short
 * would end the process. */
#include "reader/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "base/error.h"
#include "reader/find.h"

enum { BLOCK = 1 << 18, LONGEST = 1 << 28, BEYOND = 1 << 12 };

struct brume_lines {
    const brume_text_file *file;
    int descriptor;
    gzFile gzip;
    uint64_t at; /* of the file: where reading goes on */
    uint64_t to; /* lines that begin here or later are others' */
    char *buffer;
    size_t room;          /* without the padding */
    size_t begin, filled; /* buffer[begin..filled) is to be given; a line begins at `begin` */
    uint64_t line;        /* the place of buffer[begin] in the file */
    bool read_all;
};

static brume_status gone(const brume_text_file *file, brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE, "put the file back and ask again",
                      "the file '%s' is gone or may not be read any more", file->named);
}

static brume_status changed(const brume_text_file *file, brume_error *error)
{
    return brume_fail(error, BRUME_ESOURCE, "ask again when nobody writes to it",
                      "the file '%s' was changed while it was read", file->named);
}

static bool is_gzip(const char *path)
{
    size_t length = strlen(path);
    return length >= 3 && strcasecmp(path + length - 3, ".gz") == 0;
}

static brume_status open_bytes(brume_lines *lines, brume_error *error)
{
    const brume_text_file *file = lines->file;
    struct stat now;
    lines->descriptor = open(file->path, O_RDONLY | O_CLOEXEC);
    if (lines->descriptor < 0 || fstat(lines->descriptor, &now) != 0)
        return gone(file, error);
    if ((uint64_t)now.st_dev != file->device || (uint64_t)now.st_ino != file->inode)
        return changed(file, error);
    if (!file->gzip)
        return BRUME_OK;
    lines->gzip = gzdopen(lines->descriptor, "rb");
    if (!lines->gzip)
        return brume_no_memory(error, NULL);
    lines->descriptor = -1; /* gzip's now */
    gzbuffer(lines->gzip, BLOCK);
    return BRUME_OK;
}

/* Read at most `most` bytes; *got is 0 at the end. */
static brume_status read_bytes(brume_lines *lines, char *into, size_t most, size_t *got,
                               brume_error *error)
{
    const brume_text_file *file = lines->file;
    if (file->gzip) {
        int count = gzread(lines->gzip, into, (unsigned)most), code = Z_OK;
        if (count == 0)
            (void)gzerror(lines->gzip, &code);
        if (count < 0 || (code != Z_OK && code != Z_STREAM_END))
            return brume_fail(error, BRUME_ESOURCE, "is it whole?",
                              "the file '%s' cannot be decompressed", file->named);
        *got = (size_t)count;
        lines->at += (size_t)count;
        return BRUME_OK;
    }
    if (most > file->size - lines->at)
        most = (size_t)(file->size - lines->at);
    ssize_t count = 0;
    while (most > 0 && (count = pread(lines->descriptor, into, most, (off_t)lines->at)) < 0)
        if (errno != EINTR)
            return gone(file, error);
    if (most > 0 && count == 0)
        return changed(file, error);
    *got = (size_t)count;
    lines->at += (size_t)count;
    return BRUME_OK;
}

brume_status brume_text_file_look(const char *path, const char *named, brume_text_file *out,
                                  brume_error *error)
{
    brume_text_file file = {.path = path, .named = named, .gzip = is_gzip(path)};
    brume_lines lines = {.file = &file, .descriptor = -1};
    struct stat found;
    if (stat(path, &found) != 0 || S_ISDIR(found.st_mode) || access(path, R_OK) != 0)
        return brume_fail(error, BRUME_ESOURCE, "is the path right, and may it be read?",
                          "cannot read '%s'", named);
    file.device = (uint64_t)found.st_dev;
    file.inode = (uint64_t)found.st_ino;
    file.size = file.gzip ? UINT64_MAX : (uint64_t)found.st_size;
    char mark[3];
    size_t have = 0, got = 1;
    brume_status status = open_bytes(&lines, error);
    while (status == BRUME_OK && have < sizeof mark && got > 0) {
        status = read_bytes(&lines, mark + have, sizeof mark - have, &got, error);
        have += status == BRUME_OK ? got : 0;
    }
    if (lines.gzip)
        (void)gzclose(lines.gzip);
    if (lines.descriptor >= 0)
        close(lines.descriptor);
    BRUME_TRY(status);
    file.first = have == sizeof mark && memcmp(mark, "\xef\xbb\xbf", sizeof mark) == 0 ? 3 : 0;
    *out = file;
    return BRUME_OK;
}

/* How far to read ahead: a range ends soon behind its end. */
static size_t ahead(const brume_lines *lines, size_t room)
{
    uint64_t most = lines->at < lines->to ? lines->to - lines->at : 0;
    most = most > UINT64_MAX - BEYOND ? UINT64_MAX : most + BEYOND;
    if (lines->filled - lines->begin > BLOCK / 2)
        most = UINT64_MAX; /* a long line */
    return most < room ? (size_t)most : room;
}

/* Go on to the byte behind the next LF; nothing is left if there is none before `limit`. */
static brume_status skip_line(brume_lines *lines, uint64_t limit, brume_error *error)
{
    lines->begin = lines->filled = 0;
    while (lines->at < limit) {
        uint64_t before = lines->at;
        size_t got;
        BRUME_TRY(read_bytes(lines, lines->buffer, ahead(lines, lines->room), &got, error));
        char *end = memchr(lines->buffer, '\n', got);
        if (end) {
            lines->begin = (size_t)(end + 1 - lines->buffer);
            lines->filled = got;
            lines->line = before + lines->begin;
            return BRUME_OK;
        }
        if (got == 0)
            break;
    }
    lines->read_all = true;
    lines->line = lines->at;
    return BRUME_OK;
}

/* Bytes before `from` of a stream that cannot be read from the middle. */
static brume_status skip_bytes(brume_lines *lines, uint64_t from, brume_error *error)
{
    size_t got = 1;
    while (lines->at < from && got > 0) {
        uint64_t left = from - lines->at;
        size_t most = left < lines->room ? (size_t)left : lines->room;
        BRUME_TRY(read_bytes(lines, lines->buffer, most, &got, error));
    }
    return BRUME_OK;
}

static brume_status start(brume_lines *lines, uint64_t from, bool begins, brume_error *error)
{
    BRUME_TRY(open_bytes(lines, error));
    if (lines->file->gzip)
        BRUME_TRY(skip_bytes(lines, from, error));
    lines->at = lines->line = from;
    if (begins || from == 0)
        return BRUME_OK;
    lines->at = from - 1; /* is the byte before the range an LF? */
    return skip_line(lines, lines->to - 1, error);
}

brume_status brume_lines_open(const brume_text_file *file, uint64_t from, uint64_t to, bool begins,
                              brume_lines **out, brume_error *error)
{
    brume_lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return brume_no_memory(error, NULL);
    *lines = (brume_lines){.file = file, .descriptor = -1, .to = to, .room = BLOCK};
    uint64_t end = to < file->size ? to : file->size;
    if (end < from + BLOCK - BEYOND) /* a small file, or a short range */
        lines->room = (size_t)(end > from ? end - from : 0) + BEYOND;
    lines->buffer = malloc(lines->room + 1 + BRUME_FIND_PADDING);
    brume_status status = lines->buffer ? start(lines, from, begins, error)
                                        : brume_no_memory(error, NULL);
    if (status != BRUME_OK) {
        brume_lines_close(lines);
        return status;
    }
    *out = lines;
    return BRUME_OK;
}

void brume_lines_close(brume_lines *lines)
{
    if (!lines)
        return;
    if (lines->gzip)
        (void)gzclose(lines->gzip);
    if (lines->descriptor >= 0)
        close(lines->descriptor);
    free(lines->buffer);
    free(lines);
}

/* Make room behind what is there, and read on. A line that is too long is not kept. */
static brume_status read_more(brume_lines *lines, bool *too_long, brume_error *error)
{
    size_t have = lines->filled - lines->begin, got = 0;
    memmove(lines->buffer, lines->buffer + lines->begin, have);
    lines->begin = 0;
    lines->filled = have;
    if (have >= LONGEST) {
        *too_long = true;
        return skip_line(lines, UINT64_MAX, error);
    }
    if (have == lines->room) {
        char *grown = realloc(lines->buffer, 2 * lines->room + 1 + BRUME_FIND_PADDING);
        if (!grown)
            return brume_no_memory(error, NULL);
        lines->buffer = grown;
        lines->room *= 2;
    }
    /* Never more than the longest line: so that what is too long does not depend on how it is read.
     */
    size_t room = (lines->room < LONGEST ? lines->room : LONGEST) - have;
    BRUME_TRY(read_bytes(lines, lines->buffer + have, ahead(lines, room), &got, error));
    lines->filled += got;
    lines->read_all = got == 0;
    return BRUME_OK;
}

/* The end of the last whole line of the range in the buffer; NULL if there is none yet. */
static char *last_end(const brume_lines *lines)
{
    char *begin = lines->buffer + lines->begin;
    size_t have = lines->filled - lines->begin;
    uint64_t own = lines->to - lines->line; /* bytes of the range from here on */
    if (have >= own) {
        char *end = memchr(begin + own - 1, '\n', have - (size_t)(own - 1));
        if (end)
            return end + 1;
        have = (size_t)(own - 1);
    }
    char *end = memrchr(begin, '\n', have);
    return end ? end + 1 : NULL;
}

static void give(brume_lines *lines, char *end, brume_line_block *block)
{
    *block = (brume_line_block){.begin = lines->buffer + lines->begin, .end = end};
    lines->line += (uint64_t)(end - block->begin);
    lines->begin = (size_t)(end - lines->buffer);
}

brume_status brume_lines_next(brume_lines *lines, brume_line_block *block, bool *more,
                              brume_error *error)
{
    *more = lines->line < lines->to;
    while (*more) {
        char *end = lines->begin < lines->filled ? last_end(lines) : NULL;
        if (end) {
            give(lines, end, block);
            return BRUME_OK;
        }
        if (lines->read_all) {
            *more = lines->begin < lines->filled;
            if (!*more)
                return BRUME_OK;
            lines->buffer[lines->filled++] = '\n';
            give(lines, lines->buffer + lines->filled, block);
            return BRUME_OK;
        }
        bool too_long = false;
        BRUME_TRY(read_more(lines, &too_long, error));
        if (too_long) {
            *block = (brume_line_block){.too_long = true};
            return BRUME_OK;
        }
    }
    return BRUME_OK;
}
