/* The record of requests. Promises: record.h. */
#include "serve/http/record.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct brume_http_record {
    pthread_mutex_t lock;
    char *path;
    uint64_t missing; /* lines that could not be added since the last one that could */
    bool is_torn;     /* the newest line of the file is not whole */
};

brume_http_record *brume_http_record_open(const char *path)
{
    brume_http_record *record = calloc(1, sizeof *record);
    char *copy = strdup(path);
    if (!record || !copy) {
        free(record);
        free(copy);
        return NULL;
    }
    pthread_mutex_init(&record->lock, NULL);
    record->path = copy;
    return record;
}

void brume_http_record_close(brume_http_record *record)
{
    if (!record)
        return;
    pthread_mutex_destroy(&record->lock);
    free(record->path);
    free(record);
}

/* With the lock held. */
static bool append(brume_http_record *record, const char *line)
{
    char *text = NULL;
    int length = asprintf(&text, "%s%s\n", record->is_torn ? "\n" : "", line);
    int file = length < 0 ? -1
                          : open(record->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
                                 S_IRUSR | S_IWUSR);
    ssize_t wrote = file < 0 ? -1 : write(file, text, (size_t)length);
    bool good = wrote == length;
    if (file >= 0)
        good = close(file) == 0 && good;
    if (wrote > 0)
        record->is_torn = wrote != length;
    if (length >= 0)
        free(text);
    return good;
}

/* With the lock held: tell how many lines are missing, if that can be told now. */
static bool mend(brume_http_record *record)
{
    char line[120], time_text[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (record->missing == 0)
        return true;
    if (gmtime_r(&now, &parts))
        strftime(time_text, sizeof time_text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    snprintf(line, sizeof line, "{\"event\":\"missing\",\"requests\":%llu,\"time\":\"%s\"}",
             (unsigned long long)record->missing, time_text);
    if (!append(record, line))
        return false;
    record->missing = 0;
    return true;
}

bool brume_http_record_is_good(brume_http_record *record)
{
    pthread_mutex_lock(&record->lock);
    bool good = mend(record);
    pthread_mutex_unlock(&record->lock);
    return good;
}

void brume_http_record_add(brume_http_record *record, const char *line)
{
    pthread_mutex_lock(&record->lock);
    if (!mend(record) || !append(record, line))
        record->missing++;
    pthread_mutex_unlock(&record->lock);
}
