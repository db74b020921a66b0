/* The texts of a bundle that follow from its release.json: for readers, catalogues, the registry.
 */
#include "command/publish/release.h"

#include <stdlib.h>
#include <string.h>

#include "command/frame/output.h"
#include "command/publish/guarantee.h"
#include "command/query/write_answer.h"

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* A text, or the texts of a list with commas between them; "" where there is none. */
static void write_said(FILE *out, const json_t *value)
{
    if (json_is_string(value))
        fputs(json_string_value(value), out);
    for (size_t i = 0; i < json_array_size(value); i++)
        fprintf(out, "%s%s", i ? ", " : "", json_string_value(json_array_get(value, i)));
}

static const char *title_of(const json_t *document)
{
    const char *title = text_at(json_object_get(document, "about"), "title");
    return *title ? title : text_at(json_object_get(document, "dataset"), "name");
}

/* ---- what is promised, in words ---- */

void brume_published_neighbours(FILE *out, const json_t *dataset)
{
    const char *unit = text_at(dataset, "unit");
    const char *where = json_is_false(json_object_get(dataset, "whole_histories"))
                            ? "one window"
                            : "all tables together";
    bool row = strcmp(unit, "row") == 0,
         replace = strcmp(text_at(dataset, "adjacency"), "replace") == 0;
    if (row)
        fprintf(out, "Two databases are neighbours if one of them has %s.",
                replace ? "one row that differs from the other's" : "one row more");
    else
        fprintf(out,
                "Two databases are neighbours if they differ in the rows of one value of '%s' in "
                "%s: %s.",
                unit, where,
                replace ? "in one of them these rows are replaced by any others of one value"
                        : "one of them does not have these rows");
}

/* The least epsilon among the guarantees, with its delta. */
static const json_t *best_guarantee(const json_t *guarantees)
{
    const json_t *best = NULL;
    for (size_t i = 0; i < json_array_size(guarantees); i++) {
        const json_t *one = json_array_get(guarantees, i);
        if (!best || json_number_value(json_object_get(one, "delta")) <= 1e-6)
            best = one; /* in the order of delta: the last that is small enough */
    }
    return best;
}

static double member(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void write_guarantees(FILE *out, const char *before, const json_t *guarantees)
{
    for (size_t i = 0; i < json_array_size(guarantees); i++) {
        const json_t *one = json_array_get(guarantees, i);
        double delta = member(one, "delta");
        fprintf(out, "%sepsilon %s", before, brume_digits_up(member(one, "epsilon_upper"), 6).text);
        if (delta > 0)
            fprintf(out, " at delta %s", brume_digits_up(delta, 3).text);
        fputs("\n", out);
    }
}

/* ---- what somebody may believe afterwards ---- */

static brume_belief belief_of(const json_t *guarantee, int steps)
{
    return brume_belief_of(member(guarantee, "epsilon_upper"), member(guarantee, "delta"), steps);
}

static brume_number_text percent_after(double before, const brume_belief *belief)
{
    return brume_digits_up(100 * brume_belief_after(before, belief), 4);
}

static bool under_replace(const json_t *dataset)
{
    return strcmp(text_at(dataset, "adjacency"), "replace") == 0;
}

/* The odds that a guarantee bounds. */
static void write_subject(FILE *out, const json_t *dataset)
{
    const char *unit = text_at(dataset, "unit");
    fputs(under_replace(dataset) ? "that something is true of " : "that the data have ", out);
    if (strcmp(unit, "row") == 0)
        fputs("one row", out);
    else
        fprintf(out, "the rows of one '%s'", unit);
}

/* Under add-remove: what is true of somebody who is known to be there is two steps away. */
static void write_second_step(FILE *out, const json_t *dataset, const json_t *guarantee)
{
    if (under_replace(dataset))
        return;
    brume_belief belief = belief_of(guarantee, 2);
    fprintf(
        out,
        "If the data are known to have these rows, epsilon counts twice for what is true of them: "
        "what was thought 50 %% likely is then thought %s %% likely at most",
        percent_after(0.5, &belief).text);
    if (belief.fails > 0)
        fprintf(out, ", except with a probability of %s", brume_digits_up(belief.fails, 3).text);
    fputs(".\n\n", out);
}

void brume_published_belief(FILE *out, const json_t *dataset)
{
    const json_t *best = best_guarantee(json_object_get(dataset, "guarantees"));
    if (!best)
        return;
    brume_belief belief = belief_of(best, 1);
    fputs("Who thought it 50 % likely ", out);
    write_subject(out, dataset);
    fprintf(out, " thinks it at most %s %% likely afterwards", percent_after(0.5, &belief).text);
    if (belief.fails > 0)
        fprintf(out, ", except with a probability of %s", brume_digits_up(belief.fails, 3).text);
    fputs(".\n", out);
    write_second_step(out, dataset, best);
}

/* ---- README.md ---- */

static void write_columns(FILE *out, const json_t *answer)
{
    const json_t *columns = json_object_get(answer, "columns");
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i);
        const char *name = text_at(column, "name");
        if (strcmp(text_at(column, "role"), "key") == 0)
            fprintf(out, "- `%s`: a key of the rows\n", name);
        else
            fprintf(out,
                    "- `%s`: a value with noise; the columns after it are its error bar (95 %%)\n",
                    name);
    }
}

static void write_answer(FILE *out, const json_t *answer)
{
    const json_t *notes = json_object_get(answer, "notes");
    const json_t *as_of = json_object_get(answer, "as_of");
    fprintf(out, "### %s\n\n```sql\n%s\n```\n\n", text_at(answer, "csv"), text_at(answer, "sql"));
    fprintf(out, "%lld rows", (long long)json_integer_value(json_object_get(answer, "rows")));
    if (json_is_object(as_of))
        fprintf(out, "; the data were read at %s", text_at(as_of, "read"));
    fprintf(out, "; charged: %s.\n\n", text_at(json_object_get(answer, "cost"), "exact"));
    write_columns(out, answer);
    for (size_t i = 0; i < json_array_size(notes); i++)
        fprintf(out, "- %s\n", json_string_value(json_array_get(notes, i)));
    fputc('\n', out);
}

static void write_adversary(FILE *out, const json_t *dataset, const json_t *guarantees)
{
    static const double priors[] = {0.01, 0.1, 0.5};
    const json_t *best = best_guarantee(guarantees);
    if (!best)
        return;
    brume_belief belief = belief_of(best, 1);
    fputs("How likely a reader of these tables, and of no others, may think it ", out);
    write_subject(out, dataset);
    fputs(":\n\n| before | afterwards, at most |\n|---|---|\n", out);
    for (size_t i = 0; i < sizeof priors / sizeof *priors; i++)
        fprintf(out, "| %g %% | %s %% |\n", 100 * priors[i],
                percent_after(priors[i], &belief).text);
    fputc('\n', out);
    write_second_step(out, dataset, best);
    if (belief.fails > 0)
        fprintf(out, "The table holds except with a probability of %s.\n\n",
                brume_digits_up(belief.fails, 3).text);
}

void brume_published_readme(FILE *out, const json_t *document)
{
    const json_t *about = json_object_get(document, "about");
    const json_t *dataset = json_object_get(document, "dataset");
    const json_t *answers = json_object_get(document, "answers");
    const json_t *guarantees = json_object_get(json_object_get(document, "cost"), "guarantees");
    fprintf(out, "# %s\n\n", title_of(document));
    if (*text_at(about, "description"))
        fprintf(out, "%s\n\n", text_at(about, "description"));
    fprintf(out, "Published %s", text_at(document, "published"));
    if (json_object_get(about, "publisher")) {
        fputs(" by ", out);
        write_said(out, json_object_get(about, "publisher"));
    }
    fputs(
        ". These are statistics with noise, which limits what anybody can learn from them about one "
        "person; how much is said below.\n\n## How to read the numbers\n\n"
        "Each value comes with an error bar: the truth is within value ± bar with a probability of "
        "95 %, for each value by itself. The bar covers the noise, and what limits on one person's "
        "rows leave out where that is known; the notes below each table say what it does not cover. "
        "A count, sum or share that is no larger than its bar cannot be told from zero, and an empty "
        "value has no bar that says anything: `index.html` shows both as `too few`. "
        "Totals of different tables may differ from each other by their noise.\n\n"
        "## Whom it protects, and how much\n\n",
        out);
    brume_published_neighbours(out, dataset);
    fputs(" Any set of results has for one of them at most e^epsilon times the probability that it "
          "has for the other, plus delta where one is said, whatever somebody knows besides.\n\n",
          out);
    write_guarantees(out, "- these tables together: ", guarantees);
    write_guarantees(out, "- all answers about these data until then, published or not: ",
                     json_object_get(dataset, "guarantees"));
    fputc('\n', out);
    write_adversary(out, dataset, guarantees);
    fputs(
        "The names of columns, their types, bounds and declared values are public and not protected; "
        "`release.json` lists them.\n\n## Tables\n\n",
        out);
    for (size_t i = 0; i < json_array_size(answers); i++)
        write_answer(out, json_array_get(answers, i));
    fputs(
        "## Checking it\n\n"
        "`manifest.json` lists every file with its SHA-256, and `signature` is the Ed25519 signature of "
        "it. `release.json` has the rows of the ledger that charged for these tables, with a proof "
        "that they are in its journal. `brume verify-bundle FOLDER` checks all of it; so does the "
        "independent program `verify_bundle.py` of brume's sources.\n",
        out);
}

/* ---- the page ---- */

static const char style[] =
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem "
    "auto;padding:0 1rem}h1{line-height:1.2}table{border-collapse:collapse;font-variant-numeric:"
    "tabular-nums}td,th{padding:.2rem .8rem;border-bottom:1px solid #8886}pre{white-space:pre-wrap;"
    "background:#8882;padding:.8rem;border-radius:4px}.wide{overflow-x:auto}p.note{margin:.3rem 0;"
    "color:#666}@media(prefers-color-scheme:dark){p.note{color:#aaa}}@media print{body{margin:0;"
    "max-width:none}section{break-inside:avoid}}th,td[style]{white-space:nowrap}";

/* A part that is plain text, for the page: names of columns are anybody's. NULL: no memory, and the
 * part is left out. */
typedef struct plain_part {
    char *text;
    size_t length;
    FILE *out;
} plain_part;

static FILE *begin_plain(plain_part *part)
{
    *part = (plain_part){0};
    part->out = open_memstream(&part->text, &part->length);
    return part->out;
}

static void end_plain(FILE *out, plain_part *part)
{
    if (part->out && fclose(part->out) == 0)
        brume_write_escaped(out, part->text);
    free(part->text);
}

/* What an adversary gains: belief before against belief after, as a curve in a square. */
static void draw_adversary(FILE *out, const json_t *dataset, const json_t *guarantee)
{
    brume_belief belief = belief_of(guarantee, 1);
    enum { SIDE = 260, STEPS = 100 };
    fprintf(
        out,
        "<figure><svg viewBox=\"-44 -12 %d %d\" width=\"%d\" role=\"img\" aria-label=\"belief after "
        "against belief before\" style=\"max-width:100%%\" fill=\"none\" stroke=\"currentColor\" "
        "font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" stroke-opacity=\".4\"/>\n"
        "<path d=\"M0 %dL%d 0\" stroke-opacity=\".4\" stroke-dasharray=\"4\"/>\n<path "
        "stroke=\"#0a7\" stroke-width=\"2\" d=\"",
        SIDE + 60, SIDE + 60, SIDE + 100, SIDE, SIDE, SIDE, SIDE);
    for (int i = 0; i <= STEPS; i++) {
        double prior = (double)i / STEPS;
        double after = i == STEPS ? 1 : brume_belief_after(prior, &belief);
        fprintf(out, "%s%.1f %.1f", i ? "L" : "M", SIDE * prior, SIDE * (1 - after));
    }
    fprintf(
        out,
        "\"/>\n<g fill=\"currentColor\" stroke=\"none\"><text x=\"0\" y=\"%d\">0 %%</text><text "
        "x=\"%d\" y=\"%d\" text-anchor=\"end\">100 %% believed before</text><text x=\"-6\" y=\"10\" "
        "text-anchor=\"end\">100 %%</text><text x=\"8\" y=\"16\">at most after</text></g>\n"
        "</svg><figcaption>How likely somebody who reads these tables, and no others, may think it ",
        SIDE + 18, SIDE, SIDE + 18);
    plain_part part;
    if (begin_plain(&part))
        write_subject(part.out, dataset);
    end_plain(out, &part);
    if (belief.fails > 0)
        fprintf(out, ", except with a probability of %s", brume_digits_up(belief.fails, 3).text);
    fputs(".</figcaption></figure>\n<p>", out);
    if (begin_plain(&part))
        write_second_step(part.out, dataset, guarantee);
    end_plain(out, &part);
    fputs("</p>\n", out);
}

static void write_page_head(FILE *out, const json_t *document)
{
    const json_t *about = json_object_get(document, "about");
    fputs(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\"><title>",
        out);
    brume_write_escaped(out, title_of(document));
    fprintf(out, "</title><style>%s</style></head><body>\n<h1>", style);
    brume_write_escaped(out, title_of(document));
    fputs("</h1>\n", out);
    if (*text_at(about, "description")) {
        fputs("<p>", out);
        brume_write_escaped(out, text_at(about, "description"));
        fputs("</p>\n", out);
    }
    fprintf(out,
            "<p class=\"note\">Published %s. Each value has noise; ± is its error bar at "
            "95 %%. <a href=\"README.md\">How to read the numbers</a>, <a "
            "href=\"release.json\">the same for programs</a>.</p>\n",
            text_at(document, "published"));
}

brume_status brume_published_page(FILE *out, const brume_published *release, brume_error *error)
{
    const json_t *document = release->document;
    const json_t *guarantees = json_object_get(json_object_get(document, "cost"), "guarantees");
    const json_t *best = best_guarantee(guarantees);
    write_page_head(out, document);
    for (size_t i = 0; i < release->count; i++) {
        const json_t *answer = json_array_get(json_object_get(document, "answers"), i);
        fputs("<section><pre>", out);
        brume_write_escaped(out, text_at(answer, "sql"));
        fputs("</pre>\n<div class=\"wide\">", out);
        BRUME_TRY(brume_answer_html(out, release->tables[i].answer, error));
        fprintf(out, "</div><p><a href=\"%s\">CSV</a> <a href=\"%s\">Parquet</a></p></section>\n",
                text_at(answer, "csv"), text_at(answer, "parquet"));
    }
    fputs("<section><h2>Whom it protects, and how much</h2><p>", out);
    plain_part part;
    if (begin_plain(&part))
        brume_published_neighbours(part.out, json_object_get(document, "dataset"));
    end_plain(out, &part);
    fputs("</p><ul>\n", out);
    write_guarantees(out, "<li>these tables together: ", guarantees);
    write_guarantees(out, "<li>all answers about these data until then, published or not: ",
                     json_object_get(json_object_get(document, "dataset"), "guarantees"));
    fputs("</ul>\n", out);
    if (best)
        draw_adversary(out, json_object_get(document, "dataset"), best);
    fputs("</section></body></html>\n", out);
    return BRUME_OK;
}

/* ---- the registry: schema of github.com/opendp/deployments-registry-data ---- */

/* A key with a text as a literal block, which needs no quoting whatever stands in it. */
static void write_block(FILE *out, int depth, const char *key, const char *text)
{
    fprintf(out, "%*s%s: |-\n%*s", 2 * depth, "", key, 2 * depth + 2, "");
    for (; *text; text++) {
        fputc(*text == '\t' || *text == '\r' ? ' ' : *text, out);
        if (*text == '\n')
            fprintf(out, "%*s", 2 * depth + 2, "");
    }
    fputc('\n', out);
}

static void write_owner(FILE *out, int depth, const char *key, const json_t *about,
                        const char *name)
{
    char room[100];
    const char *text = text_at(about, name);
    snprintf(room, sizeof room, "(to be said by the publisher: %.40s)", name);
    write_block(out, depth, key, *text ? text : room);
}

static void write_owner_list(FILE *out, int depth, const char *key, const json_t *about,
                             const char *name)
{
    const json_t *said = json_object_get(about, name);
    size_t count = json_is_array(said) ? json_array_size(said) : 1;
    fprintf(out, "%*s%s:\n", 2 * depth, "", key);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_is_array(said) ? json_array_get(said, i) : said);
        char room[100];
        snprintf(room, sizeof room, "(to be said by the publisher: %.40s)", name);
        fprintf(out, "%*s- |-\n%*s%s\n", 2 * depth + 2, "", 2 * depth + 4, "", text ? text : room);
    }
}

static const char *variant_of(const json_t *dataset)
{
    const char *rule = text_at(dataset, "rule");
    return strcmp(rule, "pure") == 0           ? "Pure DP"
           : strcmp(rule, "concentrated") == 0 ? "Zero-concentrated DP"
                                               : "Approximate DP";
}

static void write_parameters(FILE *out, const json_t *document)
{
    const json_t *cost = json_object_get(document, "cost");
    const json_t *best = best_guarantee(json_object_get(cost, "guarantees"));
    fputs("      privacy_parameters:\n", out);
    if (!best)
        fputs("        {}\n", out);
    else
        fprintf(out, "        epsilon: %s\n        delta: %s\n",
                brume_shortest(member(best, "epsilon_upper")).text,
                brume_shortest(member(best, "delta")).text);
}

static void write_mechanisms(FILE *out, const json_t *document)
{
    const char *name = NULL;
    json_t *card = NULL;
    fputs("      mechanisms: |-\n", out);
    json_object_foreach (json_object_get(document, "mechanisms"), name, card)
        fprintf(out, "        - %s: %s (%s)\n", name, text_at(card, "summary"),
                text_at(card, "guarantee"));
    fprintf(
        out,
        "        Implemented by brume %s. Noise is drawn on integers with the exact law, so that "
        "floating point leaks nothing; answers of a server leave at quantised times; the price is on "
        "a durable ledger before rows are read; sources are read by the owner's program alone.\n",
        text_at(json_object_get(document, "program"), "version"));
}

static void write_accounting(FILE *out)
{
    fputs("    accounting:\n", out);
    write_block(
        out, 3, "post_processing",
        "Arithmetic, ordering and rounding of noisy values, as the SQL of each table says; "
        "counts are not made positive, and totals are not made to agree unless a table says so.");
    write_block(
        out, 3, "composition",
        "Sequential, by a privacy filter: each answer is charged to the dataset's budget before "
        "rows are read, and refused when it does not fit. Limits that answers choose are part of "
        "their price.");
}

static void write_model(FILE *out, const json_t *about)
{
    fputs("    deployment_model:\n      model_name: Central\n      release_type: One release\n"
          "      data_source_type: Static\n      access_type: Non-interactive\n",
          out);
    write_block(out, 3, "model_name_details",
                "The curator holds the data and runs brume on it; only noisy tables leave.");
    write_block(
        out, 3, "actors",
        "The curator is trusted with the data. Analysts who asked and readers of the tables are not: "
        "they may know all of the data but one unit's, and may work together.");
    write_block(out, 3, "data_source_type_details", "Each table says when its data were read.");
    write_block(
        out, 3, "access_type_details",
        "Published tables; whatever else was asked of the data is in the total of the dataset.");
    if (*text_at(about, "updates"))
        write_block(out, 3, "release_type_details", text_at(about, "updates"));
}

static void write_privacy(FILE *out, const json_t *document)
{
    const json_t *dataset = json_object_get(document, "dataset");
    char *adjacent = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&adjacent, &length);
    if (text) {
        brume_published_neighbours(text, dataset);
        fclose(text);
    }
    fprintf(out, "    dp_variant:\n      variant_name: %s\n", variant_of(dataset));
    write_block(
        out, 3, "data_domain",
        "All databases whose tables have the declared columns and types (release.json lists them).");
    write_block(
        out, 3, "unprotected_quantities",
        "Names, types, declared bounds and values of columns; tables that are declared public. No "
        "statistic of protected rows is published without noise.");
    fputs("    privacy_loss:\n", out);
    write_block(out, 3, "privacy_unit", text_at(dataset, "unit"));
    write_block(out, 3, "privacy_unit_details", adjacent ? adjacent : "");
    write_parameters(out, document);
    write_block(
        out, 3, "privacy_parameters_details",
        "A certified upper bound for the published tables together; release.json has it at several "
        "deltas, and that of everything that was ever answered about the data.");
    free(adjacent);
}

void brume_published_registry(FILE *out, const json_t *document)
{
    const json_t *about = json_object_get(document, "about");
    const char *name = text_at(json_object_get(document, "dataset"), "name");
    fputs("url_slug: ", out);
    for (const char *c = name; *c; c++)
        fputc((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') ? *c
              : *c >= 'A' && *c <= 'Z'                             ? *c - 'A' + 'a'
                                                                   : '_',
              out);
    fputs("\nstatus: Draft\ntier: 3\ndeployment:\n    basic:\n", out);
    write_block(out, 3, "name", title_of(document));
    write_owner_list(out, 3, "data_curators", about, "publisher");
    write_owner(out, 3, "description", about, "description");
    write_owner(out, 3, "intended_use", about, "use");
    fputs("      data_product_type: Summary statistics\n", out);
    write_owner(out, 3, "data_product_region", about, "region");
    fprintf(out, "      publication_date: \"%s\"\n", text_at(document, "published"));
    if (*text_at(about, "sector"))
        fprintf(out, "      data_product_sector: %s\n", text_at(about, "sector"));
    write_privacy(out, document);
    write_model(out, about);
    write_accounting(out);
    fputs("    implementation:\n", out);
    write_owner(out, 3, "preprocessing_and_hyperparameter_tuning", about, "preprocessing");
    write_mechanisms(out, document);
    write_owner(out, 3, "justification", about, "justification");
    fputs("    administrative:\n", out);
    if (*text_at(about, "sources"))
        write_block(out, 3, "sources", text_at(about, "sources"));
    write_block(out, 3, "notes", "Made by 'brume publish' from the ledger of what was run.");
    write_owner_list(out, 3, "registry_authors", about, "authors");
}

/* ---- metadata for catalogues ---- */

static const char *csvw_type(const json_t *column)
{
    return strcmp(text_at(column, "role"), "key") == 0 ? "string" : "number";
}

/* The columns of a table's CSV, as write_answer.c writes them. */
static json_t *csvw_columns(const json_t *answer)
{
    const json_t *columns = json_object_get(answer, "columns");
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(columns); i++) {
        static const char *const ends[] = {"low", "high", "error"};
        const json_t *column = json_array_get(columns, i);
        const char *name = text_at(column, "name");
        bool key = strcmp(text_at(column, "role"), "key") == 0;
        bool interval = json_object_get(column, "rank_error_95") != NULL;
        json_array_append_new(list, json_pack("{s:s,s:s,s:s}", "name", name, "titles", name,
                                              "datatype", csvw_type(column)));
        for (size_t j = interval ? 0 : 2; !key && j < (interval ? 2 : 3); j++) {
            char bar[160];
            snprintf(bar, sizeof bar, "%.120s_%s_95", name, ends[j]);
            json_array_append_new(
                list, json_pack("{s:s,s:s,s:s}", "name", bar, "titles", bar, "datatype", "number"));
        }
    }
    return list;
}

json_t *brume_published_csvw(const json_t *document)
{
    const json_t *answers = json_object_get(document, "answers");
    json_t *tables = json_array();
    for (size_t i = 0; i < json_array_size(answers); i++) {
        const json_t *answer = json_array_get(answers, i);
        char url[80];
        snprintf(url, sizeof url, "../%.70s", text_at(answer, "csv"));
        json_array_append_new(tables, json_pack("{s:s,s:s,s:{s:o}}", "url", url, "dc:description",
                                                text_at(answer, "sql"), "tableSchema", "columns",
                                                csvw_columns(answer)));
    }
    return json_pack("{s:s,s:s,s:s,s:o}", "@context", "http://www.w3.org/ns/csvw", "dc:title",
                     title_of(document), "dc:issued", text_at(document, "published"), "tables",
                     tables);
}

static void set_if_said(json_t *object, const char *key, const json_t *about, const char *name)
{
    json_t *said = json_object_get(about, name);
    if (said)
        json_object_set(object, key, said);
}

json_t *brume_published_dcat(const json_t *document)
{
    const json_t *answers = json_object_get(document, "answers");
    const json_t *about = json_object_get(document, "about");
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(answers); i++) {
        static const char *const forms[][2] = {{"csv", "text/csv"},
                                               {"parquet", "application/vnd.apache.parquet"}};
        for (size_t j = 0; j < 2; j++) {
            char url[80];
            snprintf(url, sizeof url, "../%.70s", text_at(json_array_get(answers, i), forms[j][0]));
            json_array_append_new(list, json_pack("{s:s,s:{s:s},s:s}", "@type", "dcat:Distribution",
                                                  "dcat:downloadURL", "@id", url, "dcat:mediaType",
                                                  forms[j][1]));
        }
    }
    json_t *object = json_pack(
        "{s:{s:s,s:s},s:s,s:s,s:s,s:o}", "@context", "dcat", "http://www.w3.org/ns/dcat#", "dct",
        "http://purl.org/dc/terms/", "@type", "dcat:Dataset", "dct:title", title_of(document),
        "dct:issued", text_at(document, "published"), "dcat:distribution", list);
    set_if_said(object, "dct:description", about, "description");
    set_if_said(object, "dct:publisher", about, "publisher");
    set_if_said(object, "dct:license", about, "license");
    set_if_said(object, "dct:spatial", about, "region");
    set_if_said(object, "dcat:contactPoint", about, "contact");
    return object;
}

static const char *hash_of(const json_t *files, const char *path)
{
    for (size_t i = 0; i < json_array_size(files); i++)
        if (strcmp(text_at(json_array_get(files, i), "path"), path) == 0)
            return text_at(json_array_get(files, i), "sha256");
    return "";
}

static json_t *croissant_fields(const json_t *answer, const char *file)
{
    json_t *columns = csvw_columns(answer), *fields = json_array(), *column = NULL;
    size_t i = 0;
    json_array_foreach (columns, i, column) {
        const char *name = text_at(column, "name");
        bool number = strcmp(text_at(column, "datatype"), "number") == 0;
        char id[300];
        snprintf(id, sizeof id, "%.80s/%.160s", file, name);
        json_array_append_new(
            fields, json_pack("{s:s,s:s,s:s,s:s,s:{s:{s:s},s:{s:s}}}", "@type", "cr:Field", "@id",
                              id, "name", name, "dataType", number ? "sc:Float" : "sc:Text",
                              "source", "fileObject", "@id", file, "extract", "column", name));
    }
    json_decref(columns);
    return fields;
}

json_t *brume_published_croissant(const json_t *document, const json_t *files)
{
    const json_t *answers = json_object_get(document, "answers");
    const json_t *about = json_object_get(document, "about");
    json_t *distribution = json_array(), *sets = json_array();
    for (size_t i = 0; i < json_array_size(answers); i++) {
        const json_t *answer = json_array_get(answers, i);
        const char *csv = text_at(answer, "csv");
        char url[80], set[80];
        snprintf(url, sizeof url, "../%.70s", csv);
        snprintf(set, sizeof set, "rows of %.60s", csv);
        json_array_append_new(distribution, json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "@type",
                                                      "cr:FileObject", "@id", csv, "name", csv,
                                                      "contentUrl", url, "encodingFormat",
                                                      "text/csv", "sha256", hash_of(files, csv)));
        json_array_append_new(sets,
                              json_pack("{s:s,s:s,s:s,s:s,s:o}", "@type", "cr:RecordSet", "@id",
                                        set, "name", set, "description", text_at(answer, "sql"),
                                        "field", croissant_fields(answer, csv)));
    }
    json_t *object = json_pack(
        "{s:{s:s,s:s,s:s,s:s,s:{s:s,s:s},s:s,s:s,s:s,s:s,s:s,s:s,s:s},s:s,s:s,s:s,s:s,s:o,s:o}",
        "@context", "@language", "en", "@vocab", "https://schema.org/", "sc", "https://schema.org/",
        "cr", "http://mlcommons.org/croissant/", "dataType", "@id", "cr:dataType", "@type",
        "@vocab", "column", "cr:column", "conformsTo", "dct:conformsTo", "dct",
        "http://purl.org/dc/terms/", "extract", "cr:extract", "field", "cr:field", "fileObject",
        "cr:fileObject", "recordSet", "cr:recordSet", "@type", "sc:Dataset", "conformsTo",
        "http://mlcommons.org/croissant/1.0", "name", title_of(document), "datePublished",
        text_at(document, "published"), "distribution", distribution, "recordSet", sets);
    set_if_said(object, "description", about, "description");
    set_if_said(object, "license", about, "license");
    set_if_said(object, "creator", about, "publisher");
    return object;
}
