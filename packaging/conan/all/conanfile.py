# SPDX-License-Identifier: BSL-1.0
from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir
from os.path import join

required_conan_version = ">=2.0"


class Redlock(ConanFile):
    name = "redlock"
    description = "Distributed locks over independent Redis nodes, for C++20 coroutines on Boost.Asio"
    license = "BSL-1.0"
    url = "https://github.com/conan-io/conan-center-index"
    homepage = "https://github.com/TODO/redlock"
    topics = ("redis", "redlock", "distributed-lock", "asio", "coroutines")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "command": [True, False]}
    default_options = {"shared": False, "fPIC": True, "command": False}
    implements = ["auto_shared_fpic"]

    def requirements(self):
        # Types of Asio are part of the interface: another Boost is another package.
        self.requires("boost/1.88.0", transitive_headers=True, package_id_mode="full_version_mode")
        self.requires("nlohmann_json/3.11.3", transitive_headers=True)
        self.requires("openssl/[>=3 <4]")

    def build_requirements(self):
        if self.options.command:
            self.test_requires("cli11/2.4.2")

    def validate(self):
        if self.settings.os == "Windows":
            raise ConanInvalidConfiguration("redlock needs a POSIX system")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self, src_folder="src")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["REDLOCK_BOOST_INCLUDE"] = self.dependencies["boost"].cpp_info.aggregated_components().includedirs[0]
        toolchain.cache_variables["REDLOCK_INSTALL_BOOST"] = False
        toolchain.cache_variables["REDLOCK_BUILD_CLI"] = bool(self.options.command)
        toolchain.cache_variables["REDLOCK_BUILD_TESTS"] = False
        toolchain.cache_variables["REDLOCK_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["REDLOCK_BUILD_BENCHMARKS"] = False
        toolchain.cache_variables["REDLOCK_WARNINGS_AS_ERRORS"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, join(self.package_folder, "licenses"))
        CMake(self).install()
        # CMakeDeps and PkgConfigDeps make these for whoever requires the package.
        rmdir(self, join(self.package_folder, "lib", "cmake"))
        rmdir(self, join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        library = self.cpp_info.components["redlock"]
        library.libs = ["redlock"]
        library.set_property("cmake_target_name", "redlock::redlock")
        library.requires = ["boost::headers", "nlohmann_json::nlohmann_json", "openssl::ssl", "openssl::crypto"]
        if self.settings.os in ("Linux", "FreeBSD"):
            library.system_libs = ["pthread"]
        testing = self.cpp_info.components["testing"]
        testing.libs = ["redlock_testing"]
        testing.set_property("cmake_target_name", "redlock::testing")
        testing.requires = ["redlock"]
