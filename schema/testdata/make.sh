#!/bin/sh
# Makes the files in xnngraph/ that our own writer had no part in: flatc compiles each JSON with the schema as the
# format's authors publish it. They keep the schema; SCHEMA is the path of a copy.
#
#   schema/testdata/make.sh SCHEMA
#
# A copy taken from a source browser can begin with that browser's own line, `xref: ...`: it is left out on the way to
# flatc, and nothing else is.
set -eu

if [ $# != 1 ] || [ ! -r "$1" ]; then
	echo "usage: make.sh SCHEMA, the authors' XNNGraph schema" >&2
	exit 2
fi
flatc=${FLATC:-flatc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
sed '1{/^xref:/d}' "$1" > "$tmp/schema.fbs"

cd "$(dirname "$0")/xnngraph"
rm -f -- *.bin bad/*.bin
"$flatc" -b -o . "$tmp/schema.fbs" ./*.json
"$flatc" -b -o bad "$tmp/schema.fbs" bad/*.json
