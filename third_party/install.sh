#!/usr/bin/env bash
# install.sh PREFIX: archive, headers, licences and a pkg-config file, for modules that link with -tags xnn_system.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[[ $# -eq 1 && -n $1 ]] || die "usage: ./build.sh install PREFIX"
need_go
need_target
out="$here/out/$target"
[[ -f $out/libxnn.a ]] || die "there is no $out/libxnn.a: run ./build.sh native"

prefix="$1"
mkdir -p "$prefix/lib/pkgconfig" "$prefix/include" "$prefix/share/licenses/xnn"
prefix="$(cd "$prefix" && pwd)"
cp "$out/libxnn.a" "$prefix/lib/libxnn.a.$$"
mv -f "$prefix/lib/libxnn.a.$$" "$prefix/lib/libxnn.a"
cp "$out"/include/*.h "$prefix/include/"
cp "$out"/licenses/*.txt "$prefix/share/licenses/xnn/"
version="$(awk '$1 == "xnnpack" { sub(/~git/, "."); print $2; exit }' "$here/pins.txt")"

# ${pcfiledir} keeps the folder movable, and pkg-config escapes a space in it.
cat >"$prefix/lib/pkgconfig/xnn.pc" <<EOF
prefix=\${pcfiledir}/../..
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: xnn
Description: XNNPACK, pthreadpool and cpuinfo in one static archive, as github.com/xnngo/xnngo links it
Version: $version
Libs: -L\${libdir} -lxnn -lm -lpthread
Cflags: -I\${includedir}
EOF
say "install: $prefix (PKG_CONFIG_PATH=$prefix/lib/pkgconfig, go build -tags xnn_system)"
