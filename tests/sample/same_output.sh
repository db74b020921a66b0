#!/bin/sh
# same_output.sh FILE COMMAND...: does the command print exactly this file?
set -eu
file=$1
shift
"$@" | cmp - "$file"
