/* brume publish, key new, verify-bundle, card: what leaves the ledger so that others can check it.
 */
#include "command/command.h"

#include <stdlib.h>
#include <string.h>

#include "command/frame/output.h"
#include "command/host.h"
#include "command/ledger/open_ledger.h"
#include "command/publish/bundle.h"
#include "command/publish/guarantee.h"
#include "command/publish/release.h"
#include "command/query/write_answer.h"
#include "engine/parquet.h"

static void close_key(void *key)
{
    brume_signer_close(key);
}

static void close_bundle(void *bundle)
{
    brume_bundle_close(bundle);
}

static void close_release(void *release)
{
    brume_published_close(release);
}

/* ---- key new ---- */

static brume_status run_key(brume_call *call, brume_error *error)
{
    const char *path = brume_call_operand(call, 0);
    char text[BRUME_SIGNER_TEXT], fingerprint[BRUME_SIGNER_TEXT];
    brume_signer *key = NULL;
    BRUME_TRY(brume_signer_create(path, &key, error));
    BRUME_TRY(brume_call_keep(call, close_key, key, error));
    brume_signer_public(key, text);
    BRUME_TRY(brume_signer_fingerprint(text, fingerprint, error));
    if (call->json)
        return brume_call_write_json(call,
                                     json_pack("{s:s,s:s,s:s}", "file", path, "public_key", text,
                                               "fingerprint", fingerprint),
                                     error);
    fprintf(call->out,
            "wrote the secret key %s and its public half %s.pub\nfingerprint %s\n"
            "Tell readers this fingerprint at a place that they trust; keep the secret key.\n",
            path, path, fingerprint);
    return BRUME_OK;
}

const brume_command brume_command_key_new = {
    .name = "key new",
    .summary = "make a key that signs what is published",
    .description =
        "Draws an Ed25519 key and writes it to FILE, readable by its owner only, and its public half to "
        "FILE.pub. 'brume publish --key FILE' signs with it; 'brume verify-bundle --key FILE.pub' asks "
        "for it. A key is never written over.",
    BRUME_OPERANDS(BRUME_OPERAND(FILE, "FILE", "where the secret key goes; not there yet")),
    BRUME_EXAMPLES("key new office.key"),
    .run = run_key,
};

/* ---- publish ---- */

typedef struct publishing {
    brume_published *release;
    brume_bundle *bundle;
} publishing;

/* What is written to a text and then added as a file. */
typedef struct file_text {
    char *text;
    size_t length;
    FILE *out;
} file_text;

static brume_status begin_text(file_text *file, brume_error *error)
{
    *file = (file_text){0};
    file->out = open_memstream(&file->text, &file->length);
    return file->out ? BRUME_OK : brume_no_memory(error, "a bundle");
}

static brume_status add_text(const publishing *what, const char *path, file_text *file,
                             brume_error *error)
{
    brume_status status = fclose(file->out) == 0 ? brume_bundle_add(what->bundle, path, file->text,
                                                                    file->length, error)
                                                 : brume_no_memory(error, "a bundle");
    free(file->text);
    return status;
}

/* Takes the object; NULL is a failed allocation. */
static brume_status add_json(const publishing *what, const char *path, json_t *object,
                             brume_error *error)
{
    file_text file;
    if (!object)
        return brume_no_memory(error, "a bundle");
    brume_status status = begin_text(&file, error);
    if (status == BRUME_OK) {
        brume_json_write_lines(object, file.out); /* what fails here fails when it is closed */
        status = add_text(what, path, &file, error);
    }
    json_decref(object);
    return status;
}

/* The names and types of a CSV's columns, as the metadata has them. */
static brume_status add_parquet(const publishing *what, size_t table, const char *csv,
                                const char *path, brume_error *error)
{
    json_t *csvw = brume_published_csvw(what->release->document);
    const json_t *described = json_array_get(json_object_get(csvw, "tables"), table);
    const json_t *columns = json_object_get(json_object_get(described, "tableSchema"), "columns");
    size_t count = json_array_size(columns);
    const char **names = calloc(count, sizeof *names);
    brume_parquet_type *types = calloc(count, sizeof *types);
    for (size_t i = 0; names && types && i < count; i++) {
        const json_t *column = json_array_get(columns, i);
        const char *type = json_string_value(json_object_get(column, "datatype"));
        names[i] = json_string_value(json_object_get(column, "name"));
        types[i] = type && strcmp(type, "number") == 0 ? BRUME_PARQUET_REAL : BRUME_PARQUET_TEXT;
    }
    char *from = brume_bundle_place(what->bundle, csv),
         *to = brume_bundle_place(what->bundle, path);
    brume_status status = csvw && names && types && from && to
                              ? brume_parquet_write(from, names, types, count, to, error)
                              : brume_no_memory(error, "a bundle");
    free(from);
    free(to);
    free(names);
    free(types);
    json_decref(csvw);
    return status == BRUME_OK ? brume_bundle_add_written(what->bundle, path, error) : status;
}

static brume_status add_table(const publishing *what, size_t i, brume_error *error)
{
    const brume_published_table *table = &what->release->tables[i];
    char csv[64], parquet[64], recorded[64];
    file_text file;
    snprintf(csv, sizeof csv, "tables/%llu.csv", (unsigned long long)table->id);
    snprintf(parquet, sizeof parquet, "tables/%llu.parquet", (unsigned long long)table->id);
    snprintf(recorded, sizeof recorded, "answers/%llu.json", (unsigned long long)table->id);
    BRUME_TRY(begin_text(&file, error));
    brume_answer_csv(file.out, table->answer);
    BRUME_TRY(add_text(what, csv, &file, error));
    BRUME_TRY(add_parquet(what, i, csv, parquet, error));
    const char *text = json_string_value(json_object_get(table->recorded, "text"));
    return brume_bundle_add(what->bundle, recorded, text, strlen(text), error);
}

/* The hash of the list of files that hold the answers, for the row of the journal. */
static brume_status digest_of(const json_t *files, char hash[BRUME_RECORDED_HASH],
                              brume_error *error)
{
    file_text list;
    BRUME_TRY(begin_text(&list, error));
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *file = json_array_get(files, i);
        const char *path = json_string_value(json_object_get(file, "path"));
        if (path && (strncmp(path, "tables/", 7) == 0 || strncmp(path, "answers/", 8) == 0))
            fprintf(list.out, "%s %s\n", json_string_value(json_object_get(file, "sha256")), path);
    }
    brume_status status = fclose(list.out) == 0 ? brume_ledger_hash("", list.text, hash, error)
                                                : brume_no_memory(error, "a bundle");
    free(list.text);
    return status;
}

static brume_status add_descriptions(const publishing *what, brume_error *error)
{
    const json_t *document = what->release->document;
    file_text readme, page, registry;
    BRUME_TRY(begin_text(&readme, error));
    brume_published_readme(readme.out, document);
    BRUME_TRY(add_text(what, "README.md", &readme, error));
    BRUME_TRY(begin_text(&page, error));
    brume_status status = brume_published_page(page.out, what->release, error);
    if (status != BRUME_OK) {
        fclose(page.out);
        free(page.text);
        return status;
    }
    BRUME_TRY(add_text(what, "index.html", &page, error));
    BRUME_TRY(begin_text(&registry, error));
    brume_published_registry(registry.out, document);
    BRUME_TRY(add_text(what, "registry.yaml", &registry, error));
    BRUME_TRY(add_json(what, "metadata/csvw.json", brume_published_csvw(document), error));
    BRUME_TRY(add_json(what, "metadata/dcat.json", brume_published_dcat(document), error));
    return add_json(what, "metadata/croissant.json",
                    brume_published_croissant(document, brume_bundle_files(what->bundle)), error);
}

static brume_status compare_numbers(const uint64_t *ids, size_t count, brume_error *error)
{
    for (size_t i = 1; i < count; i++)
        if (ids[i] == ids[i - 1])
            return brume_fail(error, BRUME_EARGUMENT, NULL, "'--answer %llu' stands twice",
                              (unsigned long long)ids[i]);
    return BRUME_OK;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The charges that were named, in order; the call keeps the list. */
static brume_status read_answers(brume_call *call, uint64_t **out, size_t *count,
                                 brume_error *error)
{
    *count = brume_call_times(call, "answer");
    uint64_t *ids = calloc(*count, sizeof *ids);
    BRUME_TRY(brume_call_keep(call, free, ids, error));
    for (size_t i = 0; i < *count; i++)
        BRUME_TRY(
            brume_read_count(brume_call_text_at(call, "answer", i), "--answer", &ids[i], error));
    qsort(ids, *count, sizeof *ids, ascending);
    BRUME_TRY(compare_numbers(ids, *count, error));
    *out = ids;
    return BRUME_OK;
}

static brume_status read_key(brume_call *call, brume_signer **key, brume_error *error)
{
    const char *path = brume_call_text(call, "key");
    if (!path && !brume_call_has(call, "unsigned"))
        return brume_fail(error, BRUME_EARGUMENT,
                          "make one with 'brume key new FILE'; --unsigned publishes without",
                          "'--key' is missing");
    if (!path)
        return BRUME_OK;
    BRUME_TRY(brume_signer_read(path, key, error));
    return brume_call_keep(call, close_key, *key, error);
}

static brume_status write_made(brume_call *call, const publishing *what, const char *folder,
                               const brume_signer *key, brume_error *error)
{
    const json_t *document = what->release->document;
    json_t *missing = json_object_get(document, "missing");
    char text[BRUME_SIGNER_TEXT] = "", fingerprint[BRUME_SIGNER_TEXT] = "";
    if (key) {
        brume_signer_public(key, text);
        BRUME_TRY(brume_signer_fingerprint(text, fingerprint, error));
    }
    if (call->json)
        return brume_call_write_json(call,
                                     json_pack("{s:s,s:I,s:O,s:O,s:s?,s:O}", "folder", folder,
                                               "tables", (json_int_t)what->release->count, "files",
                                               brume_bundle_files(what->bundle), "missing", missing,
                                               "fingerprint", key ? fingerprint : NULL, "cost",
                                               json_object_get(document, "cost")),
                                     error);
    fprintf(call->out, "wrote %s: %zu table%s, %zu files", folder, what->release->count,
            what->release->count == 1 ? "" : "s",
            json_array_size(brume_bundle_files(what->bundle)) + (key ? 2 : 1));
    if (key)
        fprintf(call->out, ", signed by the key %.16s...\n", fingerprint);
    else
        fputs(", not signed\n", call->out);
    for (size_t i = 0; i < json_array_size(missing); i++)
        fprintf(call->out, "%s%s%s", i ? ", " : "still to be said in --about for the registry: ",
                json_string_value(json_array_get(missing, i)),
                i + 1 == json_array_size(missing) ? "\n" : "");
    return BRUME_OK;
}

static brume_status run_publish(brume_call *call, brume_error *error)
{
    const char *name = brume_call_operand(call, 0), *folder = brume_call_text(call, "out");
    char digest[BRUME_RECORDED_HASH];
    uint64_t *answers = NULL;
    size_t count = 0;
    brume_ledger *ledger = NULL;
    brume_signer *key = NULL;
    json_t *about = NULL, *proof = NULL;
    publishing what = {0};
    BRUME_TRY(read_answers(call, &answers, &count, error));
    BRUME_TRY(read_key(call, &key, error));
    BRUME_TRY(brume_published_about(brume_call_text(call, "about"), &about, error));
    BRUME_TRY(brume_call_keep_json(call, about, error));
    BRUME_TRY(brume_call_open_ledger(call, BRUME_LEDGER_WRITE, &ledger, error));
    BRUME_TRY(brume_published_open(ledger, name, answers, count, about, &what.release, error));
    BRUME_TRY(brume_call_keep(call, close_release, what.release, error));
    BRUME_TRY(brume_bundle_begin(folder, &what.bundle, error));
    BRUME_TRY(brume_call_keep(call, close_bundle, what.bundle, error));
    for (size_t i = 0; i < count; i++)
        BRUME_TRY(add_table(&what, i, error));
    BRUME_TRY(digest_of(brume_bundle_files(what.bundle), digest, error));
    const brume_publication publication = {name, answers, count, digest};
    BRUME_TRY(brume_ledger_publish(ledger, &publication, &proof, error));
    if (json_object_set_new(what.release->document, "ledger", proof) != 0)
        return brume_no_memory(error, "a bundle");
    BRUME_TRY(add_json(&what, "release.json", json_incref(what.release->document), error));
    BRUME_TRY(add_descriptions(&what, error));
    BRUME_TRY(brume_bundle_finish(what.bundle, key, error));
    return write_made(call, &what, folder, key, error);
}

const brume_command brume_command_publish = {
    .name = "publish",
    .summary = "write recorded answers as a folder that others can check",
    .description =
        "Makes a bundle of answers that were paid for already; it costs nothing. Each table is there as "
        "CSV and Parquet with its error bars; release.json says what was asked, what it cost, what all "
        "answers cost together, and which rows of the ledger prove it, without showing others; README.md "
        "and index.html are for readers; metadata/ and registry.yaml for catalogues and the registry of "
        "deployments. manifest.json lists every file, and the key signs it.\n\n"
        "--about names a YAML file with what only the publisher knows: title, publisher, description, "
        "use, region, authors, and what else 'brume publish' says is missing.\n\n"
        "The journal gets a row that says what was published. 'brume history' has the numbers of answers.",
    BRUME_OPERANDS(BRUME_OPERAND(TEXT, "NAME", "a dataset")),
    BRUME_OPTIONS(BRUME_OPTION(TEXT, "answer", "ID", "the number of a charge in 'brume history'",
                               .repeated = true, .required = true),
                  BRUME_OPTION(FILE, "out", "FOLDER", "the folder that is made", .required = true),
                  BRUME_OPTION(FILE, "key", "FILE", "the secret key that signs it"),
                  BRUME_FLAG("unsigned", "without a signature"),
                  BRUME_OPTION(FILE, "about", "FILE", "a YAML file with what the publisher says"),
                  BRUME_LEDGER_OPTION),
    BRUME_EXAMPLES("publish visits --answer 4 --out release --key office.key"),
    .run = run_publish,
};

/* ---- verify-bundle ---- */

static brume_status wrong(const char *what, brume_error *error)
{
    return brume_fail(error, BRUME_EDAMAGED, "do not trust this copy; get it again",
                      "the bundle does not hold: %s", what);
}

/* The body of the row of that kind that belongs to a charge (its own row: 0); the caller frees it.
 */
static json_t *find_row(const json_t *rows, const char *kind, json_int_t charge)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *has = json_string_value(json_object_get(row, "kind"));
        if (!has || strcmp(has, kind) != 0)
            continue;
        json_t *body =
            json_loads(json_string_value(json_object_get(row, "body")), JSON_ALLOW_NUL, NULL);
        const json_t *number = strcmp(kind, "reserve") == 0 ? json_object_get(row, "id")
                                                            : json_object_get(body, "reservation");
        if (charge == 0 || json_integer_value(number) == charge)
            return body;
        json_decref(body);
    }
    return NULL;
}

static bool same_text(const json_t *a, const json_t *b)
{
    return json_is_string(a) && json_equal(a, b);
}

/* Is the SQL the one that was charged for? Rows of before schema 5 have it themselves, later ones
 * the hash of a salted text. */
static bool is_asked(const json_t *answer, const json_t *charge)
{
    const json_t *wording = json_object_get(answer, "wording");
    const char *text = json_string_value(json_object_get(wording, "text"));
    const char *salt = json_string_value(json_object_get(wording, "salt"));
    const char *said = json_string_value(json_object_get(charge, "wording"));
    char hash[BRUME_RECORDED_HASH];
    /* without a hash of it a wording proves nothing */
    json_t *words = said && text ? json_loads(text, JSON_ALLOW_NUL, NULL)
                                 : json_copy((json_t *)charge);
    bool good = words &&
                (!said || (text && salt && brume_ledger_hash(salt, text, hash, NULL) == BRUME_OK &&
                           strcmp(hash, said) == 0));
    const json_t *typed = json_object_get(words, "typed");
    good = good && json_equal(typed ? typed : json_object_get(words, "sql"),
                              json_object_get(answer, "sql"));
    json_decref(words);
    return good;
}

/* Is the text of that file the answer whose hash the journal has? */
static brume_status check_record(const char *folder, const json_t *answer, const json_t *commit,
                                 brume_error *error)
{
    const char *path = json_string_value(json_object_get(answer, "recorded"));
    const char *salt = json_string_value(json_object_get(answer, "salt"));
    const char *said = json_string_value(json_object_get(commit, "answer_hash"));
    char *text = NULL, hash[BRUME_RECORDED_HASH] = "";
    size_t length = 0;
    if (!path || !salt || !said)
        return wrong("an answer was not recorded", error);
    BRUME_TRY(brume_bundle_read(folder, path, &text, &length, error));
    brume_status status = brume_ledger_hash(salt, text, hash, error);
    free(text);
    return status != BRUME_OK || strcmp(said, hash) == 0
               ? status
               : wrong("an answer is not the one that the ledger recorded", error);
}

/* Was it asked and charged as it says, and is the recorded answer the one of the journal? */
static brume_status check_answer(const char *folder, const json_t *answer, const json_t *rows,
                                 const char *dataset, brume_error *error)
{
    json_int_t id = json_integer_value(json_object_get(answer, "id"));
    json_t *reserve = find_row(rows, "reserve", id), *commit = find_row(rows, "commit", id);
    const json_t *charges = json_object_get(reserve, "charges");
    const json_t *charge = json_array_get(charges, 0);
    const char *charged = json_string_value(json_object_get(charge, "dataset"));
    bool good = reserve && commit && json_array_size(charges) == 1 && charged &&
                strcmp(charged, dataset) == 0 && is_asked(answer, reserve) &&
                same_text(json_object_get(charge, "price"),
                          json_object_get(json_object_get(answer, "cost"), "exact"));
    brume_status status = good ? check_record(folder, answer, commit, error)
                               : wrong("an answer is not what was charged", error);
    json_decref(reserve);
    json_decref(commit);
    return status;
}

/* Are the answers of release.json those that were published, in their order? */
static bool are_published(const json_t *answers, const json_t *published)
{
    bool good = json_array_size(answers) == json_array_size(published);
    for (size_t i = 0; good && i < json_array_size(answers); i++)
        good = json_equal(json_object_get(json_array_get(answers, i), "id"),
                          json_array_get(published, i));
    return good;
}

/* Does the journal say that these files were published, in the state that release.json says? */
static brume_status check_publication(const json_t *document, const json_t *files,
                                      brume_error *error)
{
    char digest[BRUME_RECORDED_HASH];
    const json_t *dataset = json_object_get(document, "dataset");
    json_t *row =
        find_row(json_object_get(json_object_get(document, "ledger"), "rows"), "publish", 0);
    const char *tables = json_string_value(json_object_get(row, "tables"));
    brume_status status = digest_of(files, digest, error);
    if (status == BRUME_OK &&
        (!tables || strcmp(tables, digest) != 0 ||
         !are_published(json_object_get(document, "answers"), json_object_get(row, "answers")) ||
         !same_text(json_object_get(row, "filter"), json_object_get(dataset, "filter")) ||
         !same_text(json_object_get(row, "dataset"), json_object_get(dataset, "name"))))
        status = wrong("the ledger did not publish these tables in this state", error);
    json_decref(row);
    return status;
}

/* Could the charges keep this promise? Epsilon falls with delta, so that what is proved to be
 * needed at a delta is needed at every smaller one. Another version may prove more or less, but not
 * that. */
static bool is_kept(const json_t *said, const json_t *proved)
{
    double delta = json_number_value(json_object_get(said, "delta"));
    double epsilon = json_number_value(json_object_get(said, "epsilon_upper"));
    for (size_t i = 0; i < json_array_size(proved); i++) {
        const json_t *one = json_array_get(proved, i);
        const json_t *lower = json_object_get(one, "epsilon_lower");
        double least = json_number_value(
            json_is_number(lower) ? lower : json_object_get(one, "epsilon_upper"));
        if (json_number_value(json_object_get(one, "delta")) >= delta)
            return epsilon >= least * (1 - 1e-9);
    }
    return false;
}

static bool are_guarantees(const json_t *said, const json_t *charges, brume_adjacency adjacency)
{
    json_t *proved = NULL;
    if (brume_guarantees_of(charges, adjacency, &proved, NULL) != BRUME_OK)
        return false;
    bool good = json_is_array(said);
    for (size_t i = 0; good && i < json_array_size(said); i++)
        good = is_kept(json_array_get(said, i), proved);
    json_decref(proved);
    return good;
}

/* What release.json says of sums and guarantees follows from the prices of its answers and from
 * what the dataset had spent, which the journal has. */
static brume_status check_sums(const json_t *document, brume_error *error)
{
    const json_t *answers = json_object_get(document, "answers"), *answer = NULL;
    const json_t *cost = json_object_get(document, "cost");
    const json_t *dataset = json_object_get(document, "dataset");
    const char *word = json_string_value(json_object_get(dataset, "adjacency"));
    const char *text = json_string_value(json_object_get(dataset, "filter"));
    char spent[BRUME_CHARGE_TEXT];
    brume_filter filter;
    brume_adjacency adjacency;
    json_t *charges = json_array(), *whole = json_array();
    size_t i = 0;
    bool good = word && brume_adjacency_parse(word, &adjacency) && text &&
                brume_filter_parse(text, &filter, NULL) == BRUME_OK &&
                brume_published_spent(&filter, spent, NULL) == BRUME_OK &&
                json_array_append_new(whole, json_string(spent)) == 0;
    json_array_foreach (answers, i, answer)
        good = good && json_array_append(
                           charges, json_object_get(json_object_get(answer, "cost"), "exact")) == 0;
    good = good && json_equal(json_object_get(cost, "charges"), charges) &&
           are_guarantees(json_object_get(cost, "guarantees"), charges, adjacency) &&
           json_equal(json_object_get(dataset, "spent_exact"), json_array_get(whole, 0)) &&
           are_guarantees(json_object_get(dataset, "guarantees"), whole, adjacency);
    json_decref(charges);
    json_decref(whole);
    return good ? BRUME_OK : wrong("a sum or a guarantee is not that of the charges", error);
}

static brume_status check_release(const char *folder, const json_t *document, const json_t *files,
                                  brume_error *error)
{
    const json_t *answers = json_object_get(document, "answers");
    const json_t *ledger = json_object_get(document, "ledger");
    const char *dataset =
        json_string_value(json_object_get(json_object_get(document, "dataset"), "name"));
    BRUME_TRY(brume_ledger_check_proof(ledger, error));
    if (!dataset || json_array_size(answers) == 0)
        return wrong("release.json has no answers", error);
    for (size_t i = 0; i < json_array_size(answers); i++)
        BRUME_TRY(check_answer(folder, json_array_get(answers, i), json_object_get(ledger, "rows"),
                               dataset, error));
    BRUME_TRY(check_publication(document, files, error));
    return check_sums(document, error);
}

static brume_status run_verify(brume_call *call, brume_error *error)
{
    const char *folder = brume_call_operand(call, 0), *path = brume_call_text(call, "key");
    char expected[BRUME_SIGNER_TEXT], fingerprint[BRUME_SIGNER_TEXT] = "", *text = NULL;
    size_t length = 0;
    json_t *manifest = NULL;
    if (path) {
        brume_signer *key = NULL;
        BRUME_TRY(brume_signer_read(path, &key, error));
        brume_signer_public(key, expected);
        brume_signer_close(key);
    }
    BRUME_TRY(brume_bundle_check(folder, path ? expected : NULL, &manifest, error));
    BRUME_TRY(brume_call_keep_json(call, manifest, error));
    BRUME_TRY(brume_bundle_read(folder, "release.json", &text, &length, error));
    json_t *document = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    if (!document)
        return wrong("release.json cannot be read", error);
    BRUME_TRY(brume_call_keep_json(call, document, error));
    json_t *files = json_object_get(manifest, "files");
    BRUME_TRY(check_release(folder, document, files, error));
    const char *signer = json_string_value(json_object_get(manifest, "public_key"));
    if (signer)
        BRUME_TRY(brume_signer_fingerprint(signer, fingerprint, error));
    json_t *cost = json_object_get(json_object_get(document, "cost"), "guarantees");
    if (call->json)
        return brume_call_write_json(
            call,
            json_pack("{s:b,s:I,s:I,s:s?,s:b,s:O}", "holds", 1, "files",
                      (json_int_t)json_array_size(files), "tables",
                      (json_int_t)json_array_size(json_object_get(document, "answers")),
                      "fingerprint", signer ? fingerprint : NULL, "expected", path != NULL,
                      "guarantees", cost),
            error);
    size_t tables = json_array_size(json_object_get(document, "answers"));
    fprintf(call->out, "the bundle holds: %zu files, %zu table%s, each charged as it says\n",
            json_array_size(files), tables, tables == 1 ? "" : "s");
    if (!signer)
        fputs("it is not signed: anybody can have made it\n", call->out);
    else
        fprintf(call->out, "signed by the key with fingerprint %s%s\n", fingerprint,
                path ? ", as expected" : ": is it the publisher's?");
    return BRUME_OK;
}

const brume_command brume_command_verify_bundle = {
    .name = "verify-bundle",
    .summary = "check a folder that 'brume publish' made",
    .description =
        "Checks the signature, every file against the manifest, that no other file is there, that each "
        "table is the answer which the ledger recorded and charged as release.json says, and that the "
        "journal says so, with its proofs. It needs no ledger.\n\n"
        "Without --key it says who signed, and the reader compares the fingerprint with one from "
        "a place that is trusted.",
    BRUME_OPERANDS(BRUME_OPERAND(FILE, "FOLDER", "the bundle")),
    BRUME_OPTIONS(BRUME_OPTION(FILE, "key", "FILE.pub", "the key that must have signed it")),
    BRUME_EXAMPLES("verify-bundle release"),
    .run = run_verify,
};
