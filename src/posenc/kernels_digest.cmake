# Writes a C++ source with a digest of the sources that determine the speed and the error of the
# kernels: cmake -DSOURCE=FOLDER -DOUTPUT=FILE -P kernels_digest.cmake. Comments and empty lines do
# not affect the digest.
set(all "")
foreach(folder IN ITEMS backends exact simd)
  file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/${folder}/*.h ${SOURCE}/${folder}/*.cpp)
  list(SORT files)
  foreach(file IN LISTS files)
    file(READ ${SOURCE}/${file} text)
    string(REGEX REPLACE "([ \t]*(//[^\n]*)?\n)+" "\n" text "${text}")
    string(SHA256 digest "${text}")
    string(APPEND all "${file} ${digest}\n")
  endforeach()
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 12 digest)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"posenc/support/kernels_digest.h\"
std::string_view posenc::detail::kernels_digest() noexcept { return \"${digest}\"; }
")
