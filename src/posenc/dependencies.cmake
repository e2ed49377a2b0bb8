# The libraries that posenc needs to build, all of them headers. One that is not installed is
# downloaded, unless POSENC_FETCH_DEPENDENCIES is off.

include(FetchContent)

# posenc_need(PACKAGE TARGET REPOSITORY TAG [DEFINITION]): find_package(PACKAGE), or the headers of
# a release as TARGET. Only the folder include/ of a download is used: nothing of it is built,
# tested or installed. FETCHCONTENT_SOURCE_DIR_<PACKAGE> names a folder to take instead.
function(posenc_need package target repository tag)
  if(TARGET ${target})
    return()
  endif()
  if(NOT POSENC_FETCH_DEPENDENCIES)
    find_package(${package} REQUIRED GLOBAL)
    return()
  endif()
  find_package(${package} QUIET GLOBAL)
  if(TARGET ${target})
    return()
  endif()
  message(STATUS "posenc: ${package} is not installed, taking ${tag} of "
    "https://github.com/${repository} (POSENC_FETCH_DEPENDENCIES)")
  # No folder of this name exists, so that its CMakeLists.txt is not read.
  FetchContent_Declare(${package} GIT_REPOSITORY https://github.com/${repository} GIT_TAG ${tag}
    GIT_SHALLOW ON SOURCE_SUBDIR only_headers)
  FetchContent_MakeAvailable(${package})
  string(TOLOWER ${package} name)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${${name}_SOURCE_DIR}/include)
  target_compile_definitions(${target} INTERFACE ${ARGN})
endfunction()

posenc_need(fmt fmt::fmt-header-only fmtlib/fmt 12.2.0 FMT_HEADER_ONLY=1)
if(NOT TARGET fmt::fmt)
  add_library(fmt::fmt INTERFACE IMPORTED GLOBAL)
  target_link_libraries(fmt::fmt INTERFACE fmt::fmt-header-only)
endif()
posenc_need(nlohmann_json nlohmann_json::nlohmann_json nlohmann/json v3.11.3)
if(POSENC_VECTOR_ISAS)
  posenc_need(xsimd xsimd xtensor-stack/xsimd 14.3.0)
endif()
if(POSENC_CLI)
  posenc_need(CLI11 CLI11::CLI11 CLIUtils/CLI11 v2.7.2)
endif()
