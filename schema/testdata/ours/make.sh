#!/bin/sh
# Makes the files in this folder, which our own writer has no part in: fixtures.py says what is in them, as JSON, and flatc
# compiles that with our schema and the identifier of our dialect.
#
#   schema/testdata/ours/make.sh            writes them
#   schema/testdata/ours/make.sh --schema   prints that schema, which includes ours
set -eu

schema() {
	echo 'include "xnngraph.fbs";'
	echo 'root_type xnngraph.XNNGraph;'
	echo 'file_identifier "XNNG";'
}
if [ "${1-}" = --schema ]; then
	schema
	exit
fi

cd "$(dirname "$0")"
flatc=${FLATC:-flatc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
schema > "$tmp/ours.fbs"
rm -f -- *.json *.bin
PYTHONPATH=../executorch python3 -B fixtures.py .
"$flatc" -b -I ../.. -o . "$tmp/ours.fbs" ./*.json
