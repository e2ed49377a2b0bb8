#!/usr/bin/env bash
# Makes the header-only libraries of this machine visible to a cross compiler, as CMake packages in
# a separate folder: stage_headers.sh PREFIX. Only the folders of these libraries are copied,
# because /usr/include also holds the libc of this machine.
set -euo pipefail

prefix=${1:?usage: stage_headers.sh PREFIX}
headers=/usr/include

# stage PACKAGE TARGETS FOLDER [DEFINITION]
stage() {
  local package=$1 libraries=$2 folder=$3 definition=${4:-}
  mkdir -p "$prefix/include" "$prefix/lib/cmake/$package"
  cp -rLu "$headers/$folder" "$prefix/include/"
  cat >"$prefix/lib/cmake/$package/${package}Config.cmake" <<CMAKE
foreach(library IN ITEMS $libraries)
  add_library(\${library} INTERFACE IMPORTED)
  set_target_properties(\${library} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "$prefix/include"
                        INTERFACE_COMPILE_DEFINITIONS "$definition")
endforeach()
CMAKE
}

stage xsimd xsimd xsimd
stage fmt fmt::fmt-header-only fmt FMT_HEADER_ONLY=1
stage nlohmann_json nlohmann_json::nlohmann_json nlohmann
stage CLI11 CLI11::CLI11 CLI
