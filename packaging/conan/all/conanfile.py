import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir
from conan.tools.microsoft import is_msvc

required_conan_version = ">=2.0.9"


class PosencConan(ConanFile):
    name = "posenc"
    description = "Sinusoidal positional encodings of Transformers, fast and correctly rounded"
    license = "MIT"
    url = "https://github.com/conan-io/conan-center-index"
    homepage = "https://github.com/@REPOSITORY@"
    topics = ("positional-encoding", "rotary-embedding", "transformer", "simd")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]

    def layout(self):
        cmake_layout(self, src_folder="src")

    def requirements(self):
        # Headers that the library alone includes, and only in its sources.
        for headers in ("nlohmann_json/[>=3.11 <4]", "xsimd/[>=8.1]"):
            self.requires(headers, visible=False, libs=False)

    def validate(self):
        check_min_cppstd(self, 20)
        if is_msvc(self):
            raise ConanInvalidConfiguration(
                "compiler is msvc, which has no 128-bit integers; allowed: gcc, clang"
            )
        if self.settings.os == "Windows" and self.options.shared:
            raise ConanInvalidConfiguration("shared is True; allowed on Windows: False")
        if self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration(
                f"arch is {self.settings.arch}; allowed: x86_64, armv8"
            )

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("POSENC_CLI", "POSENC_TESTS", "POSENC_BENCHMARKS"):
            toolchain.cache_variables[part] = False
        toolchain.cache_variables["POSENC_FETCH_DEPENDENCIES"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        for folder in ("cmake", "pkgconfig"):
            rmdir(self, os.path.join(self.package_folder, "lib", folder))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "posenc")
        for component in ("posenc", "model", "suite", "c"):
            name = component if component == "posenc" else f"posenc_{component}"
            info = self.cpp_info.components[component]
            info.set_property("cmake_target_name", f"posenc::{component}")
            info.set_property("pkg_config_name", name.replace("_", "-"))
            info.libs = [name]
            if self.settings.os in ("Linux", "FreeBSD"):
                info.system_libs = ["m", "pthread"]
        requires = {
            "posenc": ["xsimd::xsimd"],
            "model": ["posenc", "nlohmann_json::nlohmann_json"],
            "suite": ["model"],
            "c": ["suite"],
        }
        for component, needed in requires.items():
            self.cpp_info.components[component].requires = needed
