# Writes the manual pages of the command and of its subcommands with help2man:
#   cmake -DHELP2MAN=... -DPROGRAM=... -DVERSION=... "-DPAGES=posenc;posenc-list" -DFOLDER=...
#         -P manual_pages.cmake
cmake_minimum_required(VERSION 3.25)
foreach(page IN LISTS PAGES)
  string(REGEX REPLACE "^posenc-?" "" subcommand ${page})
  set(others posenc)
  if(NOT subcommand)
    set(others ${PAGES})
    list(FILTER others INCLUDE REGEX "-")
  endif()
  execute_process(COMMAND ${PROGRAM} ${subcommand} --help
                  OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "\n*Usage:.*" "" name "${help}")
  string(REPLACE "\n" " " name "${name}")

  # help2man takes the name of the page from the file that it runs. It recognises titles between
  # asterisks as sections of their own.
  set(wrapper ${FOLDER}/${page})
  file(WRITE ${wrapper} "#!/bin/sh
'${PROGRAM}' ${subcommand} \"$@\" |
  sed -e 's/^Subcommands:$/*Subcommands*/' -e 's/^Exit status:$/*Exit status*/'\n")
  file(CHMOD ${wrapper} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  list(TRANSFORM others REPLACE "(.+)" ".BR \\1 (1)")
  string(REPLACE ";" ",\n" others "${others}")
  file(WRITE ${wrapper}.h2m "[see also]\n${others}\n")
  execute_process(COMMAND ${HELP2MAN} --no-info "--name=${name}" "--source=posenc ${VERSION}"
                          --version-string=${VERSION} --include=${wrapper}.h2m
                          --output=${wrapper}.1 ${wrapper} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
