#!/bin/sh
# same_digest.sh SHA256 FILE: is the file, which the build has made, the one that was checked?
set -eu
printf '%s  %s\n' "$1" "$2" | sha256sum --check
