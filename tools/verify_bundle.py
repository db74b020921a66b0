#!/usr/bin/env python3
"""Check a folder that 'brume publish' made, without brume.

    verify_bundle.py FOLDER [--key FILE.pub]

Written from the formats alone: docs/publishing.md describes them. Checked are
  1. the Ed25519 signature of manifest.json, by the key that is in it or by FILE.pub;
  2. length and SHA-256 of every file, and that no other file is there;
  3. each row of the ledger's journal in release.json: its hash, and its path to the root of the log;
  4. for each table: its charge is the price that is said, its record is the one that the journal has
     the hash of, and the numbers of its CSV file are those of the record;
  5. the row of the journal that says that these tables were published, and with which sums;
  6. the sum of the prices, where they are numbers that add up.
Prints one line and exits with 0, or says what is wrong and exits with 1. Needs the package cryptography.
"""
import argparse
import csv
import hashlib
import json
import os
import re
import sys
from decimal import Decimal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key


class Wrong(Exception):
    pass


def demand(holds, what):
    if not holds:
        raise Wrong(what)


def sha256(data):
    return hashlib.sha256(data).digest()


def digest(parts):
    """SHA-256 of texts, each after its length in eight bytes."""
    encoded = [part.encode() for part in parts]
    return sha256(b"".join(len(part).to_bytes(8, "big") + part for part in encoded)).hex()


def no_twins(pairs):
    keys = [key for key, _ in pairs]
    demand(len(keys) == len(set(keys)), "a name stands twice in an object")
    return dict(pairs)


def read_json(text):
    return json.loads(text, object_pairs_hook=no_twins, parse_float=Decimal)


def read_file(folder, path):
    with open(os.path.join(folder, path), "rb") as file:
        return file.read()


# --- 1 and 2: the folder ---------------------------------------------------------------------------

def check_signature(folder, text, manifest, key_file):
    key = manifest.get("public_key")
    if key_file:
        with open(key_file, "rb") as file:
            expected = load_pem_public_key(file.read())
        raw = expected.public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
        demand(key == raw, "it is not signed by the key that was expected")
    if key is None:
        return None
    demand(re.fullmatch("[0-9a-f]{64}", key), "its public key is none")
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public.verify(read_file(folder, "signature"), text)
    except InvalidSignature:
        raise Wrong("the signature is not of this manifest by this key") from None
    return sha256(bytes.fromhex(key)).hex()


def check_files(folder, manifest):
    there = set()
    for place, folders, files in os.walk(folder):
        for name in files + [f for f in folders if os.path.islink(os.path.join(place, f))]:
            path = os.path.join(place, name)
            demand(not os.path.islink(path), f"a file is a link: {path}")
            there.add(os.path.relpath(path, folder).replace(os.sep, "/"))
    listed = [file["path"] for file in manifest["files"]]
    demand(len(listed) == len(set(listed)), "a file is listed twice")
    outside = {"manifest.json"} | ({"signature"} if manifest.get("public_key") else set())
    for path in sorted(there ^ (set(listed) | outside)):
        raise Wrong(f"a file is {'not listed' if path in there else 'missing'}: {path}")
    for file in manifest["files"]:
        data = read_file(folder, file["path"])
        demand(len(data) == file["bytes"] and sha256(data).hex() == file["sha256"],
               f"a file was changed: {file['path']}")


# --- 3: rows of the journal ------------------------------------------------------------------------

def root_of(data, index, size, path):
    """The root of a Merkle tree [RFC 9162, 2.1] of `size` leaves with this leaf and path."""
    node, path = sha256(b"\0" + data), list(path)
    demand(0 <= index < size, "a row is not in the log")
    while size > 1:
        if index ^ 1 < size:
            demand(path, "a path is too short")
            other = bytes.fromhex(path.pop(0))
            node = sha256(b"\1" + (other + node if index & 1 else node + other))
        index, size = index // 2, (size + 1) // 2
    demand(not path, "a path is too long")
    return node.hex()


def check_rows(ledger):
    rows = {}
    for row in ledger["rows"]:
        parts = [row["previous"], str(row["id"]), row["time"], row["kind"], row["body"]]
        demand(digest(parts) == row["hash"], f"the hash of journal row {row['id']} is wrong")
        root = root_of(bytes.fromhex(row["hash"]), row["id"] - 1, ledger["size"], row["path"])
        demand(root == ledger["root"], f"journal row {row['id']} is not in the log")
        rows[row["id"]] = (row["kind"], read_json(row["body"]))
    return rows


# --- 4: the tables ---------------------------------------------------------------------------------

def same_value(text, value):
    """Is the field of a CSV file the value of the record?"""
    if value is None or text == "":
        return text == ""
    if isinstance(value, bool):
        return text == str(value).lower()
    if isinstance(value, (int, Decimal)):
        return float(text) == float(value)
    return text == value or (value.startswith(text) and re.fullmatch(r"[-0-9T: .]+", value))


def check_table(folder, answer, record):
    names = [column["name"] for column in record["columns"]]
    lines = list(csv.reader(read_file(folder, answer["csv"]).decode().splitlines(keepends=True)))
    head, body = lines[0], lines[1:]
    places, at = [], 0
    for name in names:
        demand(name in head[at:], f"a column is missing in {answer['csv']}")
        at = head.index(name, at)
        places.append(at)
        at += 1
    demand(len(body) == len(record["rows"]) == answer["rows"],
           f"{answer['csv']} has not as many rows as the record")
    flags = record.get("rows_too_few") or [[False] * len(names)] * len(body)
    for line, row, few in zip(body, record["rows"], flags):
        for place, value, is_few in zip(places, row, few):
            demand(is_few or same_value(line[place], value) or line[place] == "total",
                   f"{answer['csv']} has another number than the record")


def check_answer(folder, answer, rows, dataset):
    kind, charge = rows.get(answer["id"], (None, None))
    demand(kind == "reserve", f"answer {answer['id']} has no charge")
    prices = {one["dataset"]: one["price"] for one in charge["charges"]}
    demand(prices == {dataset: answer["cost"]["exact"]},
           f"answer {answer['id']} was not charged what it says")
    words = charge
    if "wording" in charge:  # without a hash of it a wording proves nothing
        wording = answer["wording"]
        demand(digest([wording["salt"], wording["text"]]) == charge["wording"],
               f"answer {answer['id']} was not asked so")
        words = read_json(wording["text"])
    demand(words.get("typed", words["sql"]) == answer["sql"], f"answer {answer['id']} was not asked so")
    commits = [body for kind, body in rows.values()
               if kind == "commit" and body["reservation"] == answer["id"]]
    demand(len(commits) == 1, f"answer {answer['id']} was not recorded")
    recorded = read_file(folder, answer["recorded"]).decode()
    salted = [answer["salt"], recorded] if answer["salt"] else [recorded]
    demand(digest(salted) == commits[0]["answer_hash"],
           f"answer {answer['id']} is not the one that was recorded")
    check_table(folder, answer, read_json(recorded))


# --- 5 and 6: what was published, and what it cost -------------------------------------------------

def amounts(text):
    """The numbers of 'pure epsilon=0.4 delta=0' or of the state of a filter."""
    return {name: Decimal(number) for name, number in re.findall(r"(\w+)=([-+.eE0-9]+)", text)}


def check_publication(document, manifest, rows):
    published = [body for kind, body in rows.values() if kind == "publish"]
    dataset = document["dataset"]
    demand(len(published) == 1, "no row of the journal says that it was published")
    row = published[0]
    files = "".join(f"{file['sha256']} {file['path']}\n" for file in manifest["files"]
                    if file["path"].startswith(("tables/", "answers/")))
    demand(row["tables"] == digest([files]), "other tables were published")
    demand(row["dataset"] == dataset["name"] and row["filter"] == dataset["filter"] and
           row["answers"] == [answer["id"] for answer in document["answers"]],
           "it was published in another state")
    costs = [amounts(answer["cost"]["exact"]) for answer in document["answers"]]
    key = "rho" if "rho" in costs[0] else "epsilon"
    total = sum(cost[key] for cost in costs)
    spent = amounts(row["filter"])["spent"]
    demand(total <= spent, "the tables cost more than the dataset has spent")
    demand(document["cost"]["charges"] == [answer["cost"]["exact"] for answer in document["answers"]],
           "the charges are not those of the tables")
    demand(amounts(dataset["spent_exact"])[key] == spent, "the dataset has spent another sum")
    said = document["cost"]["guarantees"]
    if key == "epsilon" and all(cost["delta"] == 0 for cost in costs):
        demand(said and said[0]["delta"] == 0 and float(total) <= float(said[0]["epsilon_upper"]),
               "the tables cost more than is said")
    return key, total, spent


def check(folder, key_file):
    text = read_file(folder, "manifest.json")
    manifest = read_json(text)
    demand(manifest["format"] == "brume bundle 1", "the manifest is of no format that is known")
    signer = check_signature(folder, text, manifest, key_file)
    check_files(folder, manifest)
    document = read_json(read_file(folder, "release.json"))
    rows = check_rows(document["ledger"])
    for answer in document["answers"]:
        check_answer(folder, answer, rows, document["dataset"]["name"])
    key, total, spent = check_publication(document, manifest, rows)
    return (f"holds: {len(manifest['files'])} files, {len(document['answers'])} tables, {key} {total} "
            f"of {spent} spent; " + (f"signed by {signer}" if signer else "not signed"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--key", help="the public key that must have signed it")
    given = parser.parse_args()
    try:
        print(check(given.folder, given.key))
    except (Wrong, OSError, KeyError, ValueError, TypeError, IndexError, AttributeError) as fault:
        print(f"does not hold: {fault}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
