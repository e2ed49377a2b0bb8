# The libraries that a build needs, all of them header-only: xsimd for tables, JSON for models, and
# other libraries for the command. A library that is not installed is downloaded, unless
# POSENC_FETCH_DEPENDENCIES is off.

include(FetchContent)

# posenc_need(PACKAGE LEAST TARGET REPOSITORY TAG [DEFINITION]): finds PACKAGE of version LEAST or
# newer. Otherwise downloads a release and takes its headers as TARGET. Only the folder include/ of
# a download is used: nothing in it is built, tested or installed. FETCHCONTENT_SOURCE_DIR_<PACKAGE>
# names a folder to take instead of the download.
function(posenc_need package least target repository tag)
  if(TARGET ${target})
    return()
  endif()
  if(NOT POSENC_FETCH_DEPENDENCIES)
    find_package(${package} REQUIRED GLOBAL)
  else()
    find_package(${package} QUIET GLOBAL)
  endif()
  if(${package}_VERSION AND ${package}_VERSION VERSION_LESS least)
    message(FATAL_ERROR "posenc: ${package} ${${package}_VERSION} is installed; allowed: ${least} "
      "or newer, or none (CMAKE_DISABLE_FIND_PACKAGE_${package}=ON)")
  endif()
  if(TARGET ${target} OR NOT POSENC_FETCH_DEPENDENCIES)
    return()
  endif()
  message(STATUS "posenc: ${package} is not installed, taking ${tag} of "
    "https://github.com/${repository} (POSENC_FETCH_DEPENDENCIES)")
  # No folder of this name exists, so that its CMakeLists.txt is not read.
  FetchContent_Declare(${package} GIT_REPOSITORY https://github.com/${repository} GIT_TAG ${tag}
    GIT_SHALLOW ON SOURCE_SUBDIR only_headers)
  FetchContent_MakeAvailable(${package})
  if(TARGET ${target})  # from a declaration by the parent project, which takes precedence
    return()
  endif()
  string(TOLOWER ${package} name)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${${name}_SOURCE_DIR}/include)
  target_compile_definitions(${target} INTERFACE ${ARGN})
endfunction()

if(POSENC_VECTOR_ISAS)
  posenc_need(xsimd 8.1 xsimd xtensor-stack/xsimd 14.3.0)
endif()
if(POSENC_MODEL)
  posenc_need(nlohmann_json 3.11 nlohmann_json::nlohmann_json nlohmann/json v3.11.3)
endif()
if(POSENC_CLI OR POSENC_BENCHMARKS)
  posenc_need(fmt 9 fmt::fmt-header-only fmtlib/fmt 12.2.0 FMT_HEADER_ONLY=1)
  posenc_need(CLI11 2.1 CLI11::CLI11 CLIUtils/CLI11 v2.7.2)
endif()
