/* A bundle: a folder of files that says of itself which files it has, and who signed that.
 *
 * Every file is listed in manifest.json with its length and SHA-256; `signature` is the Ed25519
 * signature of the bytes of manifest.json [RFC8032], 64 bytes as they are. The manifest has the
 * public key, so that every byte of every file is covered: a file that is changed, missing or not
 * listed is found, and so is a changed key (the signature then fails). What nobody can see from the
 * folder alone is whose key it is: a reader compares its fingerprint with one that was published
 * elsewhere. */
#ifndef BRUME_COMMAND_BUNDLE_H
#define BRUME_COMMAND_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include <brume/status.h>

/* ---- keys ---- */

typedef struct brume_signer brume_signer; /* Ed25519: a pair, or the public half alone */

enum { BRUME_SIGNER_TEXT = 65 }; /* 64 hexadecimal digits and the end */

/* Draw a pair, and write it to `path`, readable by its owner only, and the public half to
 * `path`.pub, both as PEM. EPOLICY: one of them is there already; EDISK. */
BRUME_MUST_USE brume_status brume_signer_create(const char *path, brume_signer **out,
                                                brume_error *error);

/* Read either half. ESOURCE: no such file; EPOLICY: others may read a secret key; ESYNTAX: it is no
 * Ed25519 key. */
BRUME_MUST_USE brume_status brume_signer_read(const char *path, brume_signer **out,
                                              brume_error *error);
void brume_signer_close(brume_signer *key);

/* The 32 bytes of the public half, and its fingerprint, the SHA-256 of them. */
void brume_signer_public(const brume_signer *key, char text[BRUME_SIGNER_TEXT]);
BRUME_MUST_USE brume_status brume_signer_fingerprint(const char *public_text,
                                                     char text[BRUME_SIGNER_TEXT],
                                                     brume_error *error);

/* ---- writing ---- */

typedef struct brume_bundle brume_bundle;

/* Begin one beside where it goes: nothing is at `folder` until it is finished. EPOLICY: there is
 * something; EDISK. Closing one that is not finished removes what was written. */
BRUME_MUST_USE brume_status brume_bundle_begin(const char *folder, brume_bundle **out,
                                               brume_error *error);
void brume_bundle_close(brume_bundle *bundle);

/* One more file. `path` is relative and plain: "tables/3.csv". */
BRUME_MUST_USE brume_status brume_bundle_add(brume_bundle *bundle, const char *path,
                                             const char *text, size_t length, brume_error *error);

/* Where a file of this path is written to by somebody else, who then says so with add_written. The
 * caller frees it. */
char *brume_bundle_place(const brume_bundle *bundle, const char *path);
BRUME_MUST_USE brume_status brume_bundle_add_written(brume_bundle *bundle, const char *path,
                                                     brume_error *error);

/* The files so far: [{"path","bytes","sha256"}]; borrowed. */
const json_t *brume_bundle_files(const brume_bundle *bundle);

/* Write the manifest, sign it (NULL: it stays unsigned, and says so) and move the folder into its
 * place. */
BRUME_MUST_USE brume_status brume_bundle_finish(brume_bundle *bundle, const brume_signer *key,
                                                brume_error *error);

/* ---- checking ---- */

/* Is the folder what its manifest says, and the manifest signed by the key in it, or by `expected`
 * (its public half in hexadecimal digits; NULL: any)? *manifest is what was checked; the caller
 * frees it. EDAMAGED with the first thing that is wrong. */
BRUME_MUST_USE brume_status brume_bundle_check(const char *folder, const char *expected,
                                               json_t **manifest, brume_error *error);

/* A file of a folder as text, and its length; the caller frees it. ESOURCE. */
BRUME_MUST_USE brume_status brume_bundle_read(const char *folder, const char *path, char **text,
                                              size_t *length, brume_error *error);

#endif
