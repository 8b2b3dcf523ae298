#!/usr/bin/env bash
# compile.sh STAMP PINS DEST LOG: builds libxnn.a and its headers into the new folder DEST. The work happens in a temporary
# folder without a space in its name, since neither CMake's scripts nor compiler flags can be trusted with one.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$here/hash.sh"

stamp="$1"
pins="$2"
dest="$3"
log="$4"
work=""
trap '[[ -z $work ]] || rm -rf -- "$work"' EXIT

# logged COMMAND...: its output into the log; on failure the end of the log.
logged() {
  printf '+ %s\n' "$*" >>"$log"
  "$@" >>"$log" 2>&1 </dev/null || failed "$1"
}
failed() {
  show_log "$log"
  die "$1 failed"
}

make_work() {
  local folder
  for folder in "$cache" "${TMPDIR:-/tmp}" /tmp; do
    [[ $folder != *[[:space:]]* ]] || continue
    work="$(mktemp -d "$folder/build.XXXXXX")" && break
  done
  [[ -n $work ]] || die "no folder without a space in its name to build in: set TMPDIR"
  mkdir "$work/tar" "$work/src" "$work/build" "$work/out"
}

unpack() {
  local tarball name strip patch
  for tarball in "$work"/tar/*.tar.xz; do
    name="$(basename "$tarball" .tar.xz)"
    mkdir "$work/src/$name"
    # XNNPACK's tarball has no top folder, the others have one.
    strip=1
    [[ $name != xnnpack ]] || strip=0
    logged tar -C "$work/src/$name" --strip-components="$strip" --no-same-owner -xJf "$tarball"
  done
  # A repository of its own: inside another one git would silently leave out files it does not know.
  logged git -c init.defaultBranch=main init -q "$work/src/xnnpack"
  for patch in "$here"/patches/*.patch; do
    logged git -C "$work/src/xnnpack" apply --verbose "$patch"
  done
}

# real_python: not a version manager's shim, which may pick another version, or none, in the folder where CMake runs it.
real_python() {
  local candidate
  while read -r candidate; do
    "$candidate" -c 'import sys; print(sys.executable)' 2>/dev/null && return
  done < <(type -aP python3)
  die "python3 does not run"
}

configure() {
  local cross=() map="-ffile-prefix-map=$work/src/=" python
  python="$(real_python)"
  if [[ $goarch != "$gohost" ]]; then
    cross=(-DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$("${cc[@]}" -dumpmachine | cut -d- -f1)")
  fi
  export CC="${cc[*]}" CXX="${cxx[*]}"
  unset CFLAGS CXXFLAGS CPPFLAGS ASMFLAGS LDFLAGS CPATH C_INCLUDE_PATH LIBRARY_PATH # the stamp knows nothing of them
  logged cmake -G Ninja -S "$work/src/xnnpack" -B "$work/build" "${flags[@]}" "${cross[@]}" \
    "-DCMAKE_C_FLAGS=$c_flags $map" "-DCMAKE_CXX_FLAGS=$map" "-DPython_EXECUTABLE=$python" \
    "-DPTHREADPOOL_SOURCE_DIR=$work/src/pthreadpool" "-DCPUINFO_SOURCE_DIR=$work/src/cpuinfo" \
    "-DFP16_SOURCE_DIR=$work/src/fp16" "-DFXDIV_SOURCE_DIR=$work/src/fxdiv"
}

compile() {
  NINJA_STATUS="[%f/%t] " cmake --build "$work/build" --target XNNPACK 2>&1 </dev/null |
    "$here/progress.sh" "native: compile XNNPACK" "$log" || failed "the compile"
}

# merge: every object of every archive and our stamp in one archive, so that no order of archives can be wrong.
merge() {
  local archive
  logged "${cc[@]}" -O2 -fPIC "-DXG_STAMP=\"$stamp\"" "-DXG_PINS=\"$pins\"" -c "$here/stamp.c" -o "$work/build/xg_stamp.o"
  {
    say "create $work/out/libxnn.a"
    for archive in "${archives[@]}"; do
      say "addlib $work/build/$archive"
    done
    say "addmod $work/build/xg_stamp.o"
    say "save"
    say "end"
  } >"$work/merge.mri"
  "$("${cc[@]}" -print-prog-name=ar)" -M <"$work/merge.mri" >>"$log" 2>&1 || failed "ar"
}

# collect: what goes with the archive. Binary copies must carry the licences.
collect() {
  local name
  mkdir "$work/out/include" "$work/out/licenses"
  for name in xnnpack pthreadpool cpuinfo; do
    cp "$work/src/$name/include/$name.h" "$work/out/include/"
  done
  for name in "$work"/src/*/LICENSE; do
    cp "$name" "$work/out/licenses/$(basename "$(dirname "$name")").txt"
  done
  say "$stamp" >"$work/out/stamp"
}

# store: complete under another name first, so that whoever looks finds all of it or nothing.
store() {
  mkdir -p "$(dirname "$dest")"
  rm -rf -- "$dest.new"
  cp -r "$work/out" "$dest.new"
  mv -T -- "$dest.new" "$dest"
}

main() {
  need_go
  need_target
  make_work
  say "native: sources"
  "$here/fetch.sh" "$work/tar"
  say "native: unpack and patch"
  unpack
  say "native: configure"
  configure
  compile
  say "native: merge"
  merge
  collect
  store
}

# In functions, so that it has been read before the build, in which this file may change.
main
exit
