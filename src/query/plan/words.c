/* What an answer calls a unit and a row. */
#include "query/plan/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = BRUME_UNIT_NAME };

brume_words brume_words_plain(void)
{
    return (brume_words){"unit", "units", "rows"};
}

static bool ends(const char *word, const char *with)
{
    size_t length = strlen(word), tail = strlen(with);
    return length > tail && strcasecmp(word + length - tail, with) == 0;
}

/* The usual plural of an English noun. */
static void write_plural(const char *one, char many[BRUME_WORD])
{
    static const char *const irregular[][2] = {
        {"person", "people"}, {"child", "children"}, {"woman", "women"}, {"man", "men"}};
    for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
        if (strcasecmp(one, irregular[i][0]) == 0) {
            snprintf(many, BRUME_WORD, "%s", irregular[i][1]);
            return;
        }
    size_t length = strlen(one);
    bool hisses = ends(one, "s") || ends(one, "x") || ends(one, "z") || ends(one, "ch") ||
                  ends(one, "sh");
    bool bare_y = ends(one, "y") && length > 1 && !strchr("aeiouAEIOU", one[length - 2]);
    if (bare_y)
        snprintf(many, BRUME_WORD, "%.*sies", (int)length - 1, one);
    else
        snprintf(many, BRUME_WORD, "%.60s%s", one, hisses ? "es" : "s");
}

static void take_name(brume_words *words, const char *name)
{
    size_t one = strcspn(name, "/");
    snprintf(words->unit, sizeof words->unit, "%.*s", (int)one, name);
    if (name[one])
        snprintf(words->units, sizeof words->units, "%.*s", BRUME_WORD - 1, name + one + 1);
    else
        write_plural(words->unit, words->units);
}

/* A name of SQL as words: line_items are line items. False where it has other signs. */
static bool as_words(const char *name, size_t length, char word[BRUME_WORD])
{
    if (length == 0 || length > LONGEST)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalpha((unsigned char)name[i]) && name[i] != '_')
            return false;
        word[i] = name[i] == '_' ? ' ' : name[i];
    }
    word[length] = '\0';
    return word[0] != ' ' && word[length - 1] != ' ';
}

/* patient_id and patientId are a patient; who is a person. */
static void take_column(brume_words *words, const char *column)
{
    static const char *const marks[] = {"_id",     "_key",  "_no",   "_nr",  "_number",
                                        "_code",   "_uuid", "_guid", "_uid", "_hash",
                                        "_pseudo", "_ref",  "key"};
    size_t length = strlen(column);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (ends(column, marks[i])) {
            length -= strlen(marks[i]);
            break;
        }
    if (length == strlen(column) && length > 2 && strcmp(column + length - 2, "Id") == 0)
        length -= 2;
    char word[BRUME_WORD];
    bool bare = (length == 2 && strncasecmp(column, "id", 2) == 0) || length < 3;
    if (bare || !as_words(column, length, word))
        return;
    take_name(words, strcasecmp(word, "who") == 0 ? "person" : word);
}

void brume_words_set_units(brume_words *words, brume_policy *const *policies, size_t count)
{
    bool by_column = false;
    for (size_t i = 0; i < count; i++)
        if (policies[i]->unit_name && !policies[i]->is_public) {
            take_name(words, policies[i]->unit_name);
            return;
        }
    for (size_t i = 0; i < count && !by_column; i++)
        if ((by_column = policies[i]->unit && !policies[i]->is_public))
            take_column(words, policies[i]->unit);
    bool linked = false;
    for (size_t i = 0; i < count; i++)
        linked = linked || policies[i]->link_column;
    if (!by_column && !linked)
        take_name(words, "row");
}

void brume_words_set_rows(brume_words *words, const char *table)
{
    char word[BRUME_WORD];
    snprintf(words->rows, sizeof words->rows, "rows");
    if (!table || !ends(table, "s") || ends(table, "ss") || ends(table, "us") ||
        !as_words(table, strlen(table), word) || strcasecmp(word, words->units) == 0)
        return;
    snprintf(words->rows, sizeof words->rows, "%s", word);
}
