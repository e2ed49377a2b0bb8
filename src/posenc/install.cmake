# Installs the libraries that were built, a CMake package, and a pkg-config file for each library.
include(CMakePackageConfigHelpers)
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/posenc)
set(made ${PROJECT_BINARY_DIR}/install)

install(TARGETS ${POSENC_INSTALLED_LIBRARIES} EXPORT posenc-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT posenc-targets NAMESPACE posenc:: DESTINATION ${cmake_folder})

set(source ${PROJECT_SOURCE_DIR}/src/posenc)
list(TRANSFORM POSENC_INSTALLED_LIBRARIES REPLACE "^posenc_" "" OUTPUT_VARIABLE libraries)
include(${source}/public_headers.cmake)
posenc_public_headers(headers ${libraries})
foreach(header IN LISTS headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
if(POSENC_C)
  install(FILES ${PROJECT_SOURCE_DIR}/src/c/posenc/c_api.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/posenc)
endif()

# Libraries that a program must link besides the static library. The C++ compiler links them by
# itself; the C compiler must be told.
set(POSENC_RUNTIME ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER POSENC_RUNTIME INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|m)$")
list(REMOVE_DUPLICATES POSENC_RUNTIME)
configure_package_config_file(${source}/posencConfig.cmake.in
  ${made}/posencConfig.cmake INSTALL_DESTINATION ${cmake_folder})
write_basic_package_version_file(${made}/posencConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${made}/posencConfig.cmake ${made}/posencConfigVersion.cmake
  DESTINATION ${cmake_folder})

# The prefix is relative to the file, so that an installed tree can be moved.
file(RELATIVE_PATH POSENC_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
# posenc_pkg_config(LIBRARY REQUIRES CONTENTS)
function(posenc_pkg_config library requires contents)
  if(NOT TARGET ${library})
    return()
  endif()
  string(REPLACE _ - package ${library})
  set(libraries)
  if(NOT BUILD_SHARED_LIBS)
    set(libraries ${POSENC_RUNTIME})
    list(TRANSFORM libraries PREPEND "-l")
    list(JOIN libraries " " libraries)
    set(libraries " ${libraries} -pthread")
  endif()
  # The shared library of the C interface needs nothing else. The linker prefers it to the static
  # library, for which pkg-config --static names the rest.
  set(private)
  set(private_libraries)
  if(library STREQUAL posenc_c AND (BUILD_SHARED_LIBS OR POSENC_C_SHARED))
    set(private .private)
    set(private_libraries "\nLibs.private:${libraries}")
    set(libraries)
  endif()
  configure_file(${source}/posenc.pc.in ${made}/${package}.pc @ONLY)
  install(FILES ${made}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
posenc_pkg_config(posenc "" "")
posenc_pkg_config(posenc_model posenc ": axes, rotary embeddings, layers, configurations")
posenc_pkg_config(posenc_suite posenc-model ": accuracy reports, measurements")
posenc_pkg_config(posenc_check posenc-suite ": checks of tables and heads")
posenc_pkg_config(posenc_c posenc-model ": the interface in C")
