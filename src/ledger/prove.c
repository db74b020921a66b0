/* Proof that rows are in the journal, for somebody who sees no other row. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ledger/journal.h"
#include "ledger/merkle.h"
#include "ledger/wording.h"

static const char digits[] = "0123456789abcdef";

static bool read_hash(const char *text, brume_merkle_hash *out)
{
    for (size_t i = 0; i < 2 * sizeof out->bytes; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit)
            return false;
        uint8_t value = (uint8_t)(digit - digits);
        out->bytes[i / 2] = (uint8_t)(i % 2 ? out->bytes[i / 2] | value : value << 4);
    }
    return text[2 * sizeof out->bytes] == 0;
}

static json_t *hash_to_json(const brume_merkle_hash *hash)
{
    char text[2 * BRUME_MERKLE_BYTES + 1] = "";
    for (size_t i = 0; i < BRUME_MERKLE_BYTES; i++) {
        text[2 * i] = digits[hash->bytes[i] >> 4];
        text[2 * i + 1] = digits[hash->bytes[i] & 15];
    }
    return json_string(text);
}

typedef struct hash_list {
    brume_merkle_hash *hashes;
    size_t count, room;
} hash_list;

static brume_status add_hash(hash_list *list, const brume_journal_row *row, brume_error *error)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 1024;
        brume_merkle_hash *more = realloc(list->hashes, room * sizeof *more);
        if (!more)
            return brume_no_memory(error, "the journal's tree");
        list->hashes = more;
        list->room = room;
    }
    if (row->id != list->count + 1 || !read_hash(row->hash, &list->hashes[list->count]))
        return brume_fail(error, BRUME_EDAMAGED, "run 'brume ledger verify'",
                          "row %zu of the ledger's journal does not hold", list->count + 1);
    list->count++;
    return BRUME_OK;
}

/* All rows' hashes; of the rows in `wanted`, which ascend, also what they say, without their paths.
 */
static brume_status read_rows(brume_ledger *ledger, const uint64_t *wanted, size_t count,
                              hash_list *list, json_t *rows, brume_error *error)
{
    brume_statement *statement = NULL;
    char previous[BRUME_DIGEST_TEXT] = "";
    brume_journal_row row = {0};
    bool more = true;
    size_t found = 0;
    BRUME_TRY(brume_journal_read(ledger, 1, &statement, error));
    brume_status status = BRUME_OK;
    while (status == BRUME_OK &&
           (status = brume_journal_step(ledger, statement, &row, &more, error)) == BRUME_OK &&
           more) {
        status = add_hash(list, &row, error);
        if (status != BRUME_OK)
            break;
        if (found < count && wanted[found] == row.id) {
            found++;
            json_t *said = json_pack("{s:I,s:s,s:s,s:s,s:s,s:s}", "id", (json_int_t)row.id, "time",
                                     row.time, "kind", row.kind, "body", row.body, "previous",
                                     previous, "hash", row.hash);
            if (json_array_append_new(rows, said) != 0)
                status = brume_no_memory(error, "a proof");
        }
        memcpy(previous, row.hash, sizeof previous);
    }
    brume_store_finish(statement);
    if (status == BRUME_OK && (found < count || list->count == 0))
        status = brume_fail(error, BRUME_EUNKNOWN, "'brume history' lists them",
                            "there is no row %llu in the journal",
                            found < count ? (unsigned long long)wanted[found] : 1ULL);
    return status;
}

static bool add_paths(const brume_merkle *tree, const uint64_t *wanted, const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        brume_merkle_hash path[BRUME_MERKLE_LEVELS];
        json_t *list = json_array();
        size_t length = brume_merkle_path(tree, (size_t)wanted[i] - 1, path);
        if (json_object_set_new(json_array_get(rows, i), "path", list) != 0)
            return false;
        for (size_t j = 0; j < length; j++)
            if (json_array_append_new(list, hash_to_json(&path[j])) != 0)
                return false;
    }
    return true;
}

brume_status brume_ledger_prove(brume_ledger *ledger, const uint64_t *rows, size_t count,
                                json_t **out, brume_error *error)
{
    hash_list list = {0};
    brume_merkle *tree = NULL;
    json_t *said = json_array(), *proof = NULL;
    brume_status status = said ? read_rows(ledger, rows, count, &list, said, error)
                               : brume_no_memory(error, "a proof");
    if (status == BRUME_OK)
        status = brume_merkle_open(list.hashes, list.count, &tree, error);
    if (status == BRUME_OK) {
        brume_merkle_hash root = brume_merkle_root(tree);
        if (add_paths(tree, rows, said))
            proof = json_pack("{s:I,s:o,s:O}", "size", (json_int_t)list.count, "root",
                              hash_to_json(&root), "rows", said);
        status = proof ? BRUME_OK : brume_no_memory(error, "a proof");
    }
    brume_merkle_close(tree);
    free(list.hashes);
    json_decref(said);
    if (status == BRUME_OK)
        *out = proof;
    return status;
}

/* ---- checking ---- */

static brume_status check_row(const json_t *row, size_t size, const brume_merkle_hash *root,
                              brume_error *error)
{
    brume_journal_row said = {(uint64_t)json_integer_value(json_object_get(row, "id")),
                              json_string_value(json_object_get(row, "time")),
                              json_string_value(json_object_get(row, "kind")),
                              json_string_value(json_object_get(row, "body")),
                              json_string_value(json_object_get(row, "hash"))};
    const char *previous = json_string_value(json_object_get(row, "previous"));
    const json_t *list = json_object_get(row, "path");
    brume_merkle_hash path[BRUME_MERKLE_LEVELS], data, found;
    char hash[BRUME_DIGEST_TEXT] = "";
    size_t length = json_array_size(list);
    bool good = said.id > 0 && said.time && said.kind && said.body && said.hash && previous &&
                length <= BRUME_MERKLE_LEVELS && read_hash(said.hash, &data);
    for (size_t i = 0; good && i < length; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        good = text && read_hash(text, &path[i]);
    }
    if (good)
        BRUME_TRY(brume_journal_hash(&said, previous, hash, error));
    good = good && strcmp(hash, said.hash) == 0 &&
           brume_merkle_follow(&data, (size_t)said.id - 1, size, path, length, &found, NULL) ==
               BRUME_OK &&
           memcmp(&found, root, sizeof found) == 0;
    return good ? BRUME_OK
                : brume_fail(error, BRUME_EDAMAGED, NULL,
                             "the proof of the journal's row %llu does not hold",
                             (unsigned long long)said.id);
}

brume_status brume_ledger_check_proof(const json_t *proof, brume_error *error)
{
    const json_t *rows = json_object_get(proof, "rows");
    const char *text = json_string_value(json_object_get(proof, "root"));
    json_int_t size = json_integer_value(json_object_get(proof, "size"));
    brume_merkle_hash root;
    if (!text || !read_hash(text, &root) || size <= 0 || json_array_size(rows) == 0)
        return brume_fail(error, BRUME_EDAMAGED, NULL, "there is no proof of journal rows");
    for (size_t i = 0; i < json_array_size(rows); i++)
        BRUME_TRY(check_row(json_array_get(rows, i), (size_t)size, &root, error));
    return BRUME_OK;
}

brume_status brume_ledger_hash(const char *salt, const char *text, char hash[BRUME_RECORDED_HASH],
                               brume_error *error)
{
    return brume_salted_digest(salt, text, hash, error);
}
