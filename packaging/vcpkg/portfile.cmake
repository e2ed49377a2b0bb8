vcpkg_from_github(
    OUT_SOURCE_PATH SOURCE_PATH
    REPO @REPOSITORY@
    REF "v${VERSION}"
    SHA512 @SHA512@
    HEAD_REF main
)

if(VCPKG_TARGET_IS_WINDOWS)
    vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
endif()
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DPOSENC_CLI=OFF
        -DPOSENC_TESTS=OFF
        -DPOSENC_BENCHMARKS=OFF
        -DPOSENC_FETCH_DEPENDENCIES=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/posenc)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
