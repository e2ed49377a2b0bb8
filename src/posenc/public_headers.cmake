# posenc_public_headers(OUT LIBRARIES...): the public headers of these libraries, relative to the
# folder that contains `posenc`. A library's public headers are its umbrella header, posenc/NAME.h,
# and the headers that it includes.
function(posenc_public_headers out)
  set(source ${PROJECT_SOURCE_DIR}/src)
  set(headers)
  foreach(library IN LISTS ARGN)
    if(EXISTS ${source}/posenc/${library}.h)
      file(STRINGS ${source}/posenc/${library}.h included REGEX "^#include \"posenc/")
      list(TRANSFORM included REPLACE "#include \"(.*)\"" "\\1")
      list(APPEND headers posenc/${library}.h ${included})
    endif()
  endforeach()
  set(${out} ${headers} PARENT_SCOPE)
endfunction()
