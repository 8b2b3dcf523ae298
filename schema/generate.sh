#!/bin/sh
# Regenerates what flatc makes from our schemas: the Go accessors, the binary schemas (.bfbs) the verifier reads, and the
# binaries of the tests' own schemas. Files of other writers' making come from testdata/make.sh.
#
#   schema/generate.sh           writes them
#   schema/generate.sh --check   generates into a temporary folder and fails with a diff where the committed files differ
#
# Only one version of flatc is compared with, because the text it writes changes from version to version. FLATC names
# another binary than the one on the path.
set -eu

want=2.0.8
flatc=${FLATC:-flatc}
check=
case "${1-}" in
	'') ;;
	--check) check=1 ;;
	*) echo "usage: generate.sh [--check]" >&2; exit 2 ;;
esac

cd "$(dirname "$0")"

have=$("$flatc" --version 2>/dev/null | sed -n 's/^flatc version //p') || true
if [ "$have" != "$want" ]; then
	if [ -n "$check" ]; then
		echo "generate.sh: flatc is ${have:-missing}, the committed files come from $want: not compared"
		exit 0
	fi
	echo "generate.sh: needs flatc $want (Debian: flatbuffers-compiler), found ${have:-none}" >&2
	exit 1
fi

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# accessors DIR NAME: flatc puts the Go files into a folder named after the schema's namespace, which is ours to choose
# and equal to the schema's name.
accessors() {
	"$flatc" --go -o "$tmp/$1" "$1/$2.fbs"
	gofmt -w "$tmp/$1/$2"
	chmod -R a+rX "$tmp/$1/$2"
}

# description DIR NAME: the binary schema.
description() {
	"$flatc" -b --schema -o "$tmp/$1" "$1/$2.fbs"
}

# binary DIR NAME: a file of the schema, from its JSON.
binary() {
	"$flatc" -b -o "$tmp/$1" "$1/$2.fbs" "$1/$2.json"
}

for name in xnngraph tflite; do
	accessors . "$name"
	description . "$name"
done
accessors testdata zoo
description testdata zoo
binary testdata zoo
description testdata herd # no accessors: flatc makes no Go for what this schema is about
binary testdata herd

status=0
# replace PATH: puts the generated file or folder in place of the committed one, or compares the two.
replace() {
	if [ -n "$check" ]; then
		diff -ruN "$1" "$tmp/$1" || status=1
		return
	fi
	rm -rf "$1"
	mkdir -p "$(dirname "$1")"
	mv "$tmp/$1" "$1"
}

for path in xnngraph xnngraph.bfbs tflite tflite.bfbs testdata/zoo testdata/zoo.bfbs testdata/zoo.bin testdata/herd.bfbs testdata/herd.bin; do
	replace "$path"
done

# same FOLDER SCHEMA: the folder's binaries are what flatc makes of its JSON with this schema.
same() {
	"$flatc" -b -I . -o "$tmp/$1" "$2" "$1"/*.json
	for file in "$tmp/$1"/*.bin; do
		cmp "$file" "$1/$(basename "$file")" || status=1
	done
}

if [ -n "$check" ]; then
	# Other writers' files must come out the same with our schema, byte for byte: the proof that the wire format is theirs.
	same testdata/xnngraph xnngraph.fbs
	same testdata/xnngraph/bad xnngraph.fbs
	same testdata/executorch testdata/executorch/executorch.fbs
	same testdata/executorch/bad testdata/executorch/executorch.fbs
	testdata/ours/make.sh --schema > "$tmp/ours.fbs"
	same testdata/ours "$tmp/ours.fbs"
fi

if [ "$status" != 0 ]; then
	echo "generate.sh: generated files are not those of their schema: run schema/generate.sh" >&2
fi
exit "$status"
