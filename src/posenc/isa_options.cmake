# Options of kernel files. They are compiled for the ISA that the build names, whatever flags the
# user sets.

include(CheckCXXSourceCompiles)

# The compiler's own macros tell the processor: systems call the same processor x86_64, AMD64 or
# amd64, and the compiler may compile for another processor.
check_cxx_source_compiles("#if !defined(__x86_64__)\n#error\n#endif\nint main() {}"
  POSENC_IS_X86_64)
check_cxx_source_compiles("#if !defined(__aarch64__)\n#error\n#endif\nint main() {}"
  POSENC_IS_AARCH64)
if(POSENC_IS_X86_64)
  set(POSENC_VECTOR_ISAS sse2 avx2 avx512)
elseif(POSENC_IS_AARCH64)
  set(POSENC_VECTOR_ISAS neon64)
else()
  set(POSENC_VECTOR_ISAS)
endif()

# The first one runs on every processor of its kind, so that it cannot be left out.
if(POSENC_ISAS)
  list(GET POSENC_ISAS 0 first)
  foreach(isa IN LISTS POSENC_ISAS)
    if(NOT isa IN_LIST POSENC_VECTOR_ISAS OR NOT POSENC_VECTOR_ISAS MATCHES "^${first}")
      list(JOIN POSENC_VECTOR_ISAS ";" allowed)
      message(FATAL_ERROR "posenc: POSENC_ISAS is '${POSENC_ISAS}'; allowed for this processor: "
        "the first of '${allowed}', and any of the others")
    endif()
  endforeach()
  string(REPLACE ";" "|" names "${POSENC_ISAS}")
  set(chosen ${POSENC_VECTOR_ISAS})
  list(FILTER chosen INCLUDE REGEX "^(${names})$")
  set(POSENC_VECTOR_ISAS ${chosen})
endif()

# Clang gives up unrolling loops over the few vectors of a tile, and then keeps these vectors in
# memory. With this option, AVX2 and clang 14, rotation32 takes 0.64 to 0.75 of the instructions,
# and 16-bit types take 0.56 to 0.63.
set(unroll_more)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(unroll_more -mllvm -unroll-threshold=1000)
endif()

# posenc_compile_for(ISA FILES...): kernel files are always optimised, so that no inline function of
# the standard library is left for the linker to merge into the baseline path. They are never
# optimised across files, where such a function could appear again. The first flags of an ISA revoke
# -march=native or -mavx2 among the user's flags. Portable kernels are compiled for the processor
# that the user's flags name.
function(posenc_compile_for isa)
  set(flags_sse2 -march=x86-64 -mno-sse3 -mno-avx -mno-avx512f)
  set(flags_avx2 -march=x86-64 -mno-avx512f -mavx2 -mfma -mf16c)
  set(flags_avx512 -march=x86-64 -mavx2 -mfma -mf16c -mavx512f -mavx512cd -mavx512dq -mavx512bw)
  # GCC 12 warns about its own intrinsics headers.
  set(no_warning $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # GCC stops inlining when a file has grown by 40 %, and then calls a function for each vector. It
  # also splits the loop over a tile's rows in two, and computes the recurrence in both.
  set(optimisation ${unroll_more} $<$<CXX_COMPILER_ID:GNU>:--param=inline-unit-growth=100>
    $<$<CXX_COMPILER_ID:GNU>:-fno-tree-loop-distribution>)
  # With sanitizers, -O3 takes three times as long to compile.
  set(level $<IF:$<CONFIG:Debug>,-O1,-O3>)
  set(options -fvisibility=hidden -fno-exceptions -fno-lto)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS
    "${level};${options};${optimisation};${no_warning};${flags_${isa}}")
endfunction()
