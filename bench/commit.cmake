# Writes OUTPUT, a header that names the commit of SOURCE: "1a2b3c4", "1a2b3c4-dirty", or "unknown"
# without git.
cmake_policy(VERSION 3.25)
set(commit "")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} describe --always --dirty --exclude=* WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit STREQUAL "")
  set(commit "unknown")
endif()
# Leaves an unchanged file alone, so that nothing is compiled again for the same commit.
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define POSENC_COMMIT \"@commit@\"\n" @ONLY)
