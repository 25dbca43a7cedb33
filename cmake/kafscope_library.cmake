# kafscope_library(NAME SOURCES … [TESTS …] [DEPS …] [TEST_DEPS …])
#
# The static library kafscope_NAME of a folder of src/, and its unit tests as one program NAME_test whose tests carry
# the label NAME. DEPS may be names of folders ("frame") or of any targets.
include(GoogleTest)
find_package(GTest REQUIRED)

function(kafscope_resolve_deps out)
  set(resolved "")
  foreach(dep ${ARGN})
    if(TARGET "kafscope_${dep}")
      list(APPEND resolved "kafscope_${dep}")
    else()
      list(APPEND resolved "${dep}")
    endif()
  endforeach()
  set(${out} "${resolved}" PARENT_SCOPE)
endfunction()

function(kafscope_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;TESTS;DEPS;TEST_DEPS" ${ARGN})
  kafscope_resolve_deps(deps ${ARG_DEPS})
  add_library(kafscope_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(kafscope_${name} PUBLIC ${deps} kafscope_options)
  if(ARG_TESTS)
    kafscope_resolve_deps(test_deps ${ARG_TEST_DEPS})
    add_executable(${name}_test ${ARG_TESTS})
    target_link_libraries(${name}_test PRIVATE kafscope_${name} ${test_deps} GTest::gtest GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE "KAFSCOPE_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
                         PROPERTIES LABELS ${name} TIMEOUT 300)
  endif()
endfunction()
