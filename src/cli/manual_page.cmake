# Writes the manual page of the command, or of one of its subcommands, with help2man:
#   cmake -DHELP2MAN=... -DPROGRAM=... -DSUBCOMMAND=list -DVERSION=... -DSEE_ALSO=posenc
#         -DPAGE=.../posenc-list.1 -P manual_page.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} ${SUBCOMMAND} --help
                OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "\n*Usage:.*" "" name "${help}")
string(REPLACE "\n" " " name "${name}")
string(STRIP "${name}" name)

# help2man takes the page's name from the file that it runs, and sections that it does not know from
# titles between asterisks.
string(REGEX REPLACE "\\.1$" "" wrapper "${PAGE}")
file(WRITE ${wrapper} "#!/bin/sh
'${PROGRAM}' ${SUBCOMMAND} \"$@\" |
  sed -e 's/^Subcommands:$/*Subcommands*/' -e 's/^Exit status:$/*Exit status*/'\n")
file(CHMOD ${wrapper} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

string(REGEX REPLACE "([^;]+)" ".BR \\1 (1)" see_also "${SEE_ALSO}")
string(REPLACE ";" ",\n" see_also "${see_also}")
file(WRITE ${wrapper}.h2m "[see also]\n${see_also}\n")

execute_process(COMMAND ${HELP2MAN} --no-info "--name=${name}" "--source=posenc ${VERSION}"
                        --version-string=${VERSION} --include=${wrapper}.h2m --output=${PAGE}
                        ${wrapper} COMMAND_ERROR_IS_FATAL ANY)
