# Language, warnings, sanitizers, linking: what every target of ours is built with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Line tables are kept: profiles name lines.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")

find_program(KAFSCOPE_CCACHE ccache)
if(KAFSCOPE_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${KAFSCOPE_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${KAFSCOPE_CCACHE}")
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=lld-19)
endif()
if(KAFSCOPE_SANITIZE)
  add_compile_options("-fsanitize=${KAFSCOPE_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  string(REPLACE "fuzzer-no-link," "" link_sanitize "${KAFSCOPE_SANITIZE}")
  add_link_options("-fsanitize=${link_sanitize}")
endif()

# Our own code only: third-party headers come in as SYSTEM.
add_library(kafscope_options INTERFACE)
target_compile_options(kafscope_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                       -Woverloaded-virtual -Wimplicit-fallthrough -Wno-missing-field-initializers -Werror
                       # GCC 12 wrongly warns of `"text" + std::string(…)` (GCC bug 105329).
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_include_directories(kafscope_options INTERFACE "${CMAKE_SOURCE_DIR}/src" "${CMAKE_BINARY_DIR}/generated")

# A program for users needs nothing but libc, libm and the loader.
function(kafscope_static_runtime target)
  if(NOT KAFSCOPE_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

configure_file("${CMAKE_SOURCE_DIR}/cmake/version.h.in" "${CMAKE_BINARY_DIR}/generated/base/version.h")
