#!/bin/sh
# Makes the files in this folder, which our own writer has no part in: fixtures.py and faults.py say what is in them, as JSON,
# and flatc compiles that with executorch.fbs.
#
#   schema/testdata/executorch/make.sh
set -eu
cd "$(dirname "$0")"
flatc=${FLATC:-flatc}
rm -rf -- *.json *.bin bad
mkdir bad
python3 -B fixtures.py .
python3 -B faults.py bad
"$flatc" -b -o . executorch.fbs ./*.json
"$flatc" -b -o bad executorch.fbs bad/*.json
