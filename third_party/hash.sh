# shellcheck shell=bash disable=SC2034,SC2154 # variables come from common.sh and go to the scripts that source this
# The two hashes that name a native build. Sourced after common.sh.

# flags: every option of the build that does not depend on where it happens. They are part of the stamp.
flags=(
  -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON
  -DXNNPACK_LIBRARY_TYPE=static
  -DXNNPACK_BUILD_TESTS=OFF
  -DXNNPACK_BUILD_BENCHMARKS=OFF
  -DXNNPACK_BUILD_ALL_MICROKERNELS=OFF
  -DXNNPACK_ENABLE_KLEIDIAI=OFF # it downloads
)

# c_flags: the error log is compiled in, for the bridge hands its messages to the caller.
c_flags="-DXNN_LOG_LEVEL=2"

# archives: what is merged into libxnn.a, relative to the build folder.
archives=(
  libXNNPACK.a
  libmicrokernels-prod.a
  pthreadpool/libpthreadpool.a
  cpuinfo/libcpuinfo.a
)

# pins_hash: of pins and patches only. It is committed in cgo/xnnpack/pins.go.
pins_hash() {
  (
    cd "$here" || exit
    grep -v '^#' pins.txt
    sha256sum patches/*.patch
  ) | sha256sum | cut -d' ' -f1
}

# stamp_hash PINS: the key of the cache. The compiler is named by its version line and the machine it builds for.
stamp_hash() {
  {
    printf '%s\n' "$1" "$target" "${flags[@]}" "$c_flags" "${archives[@]}"
    cat "$here/stamp.c"
    "${cc[@]}" --version | head -n 1
    "${cc[@]}" -dumpmachine
  } | sha256sum | cut -d' ' -f1
}
