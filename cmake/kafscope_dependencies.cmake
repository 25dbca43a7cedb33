# Third-party libraries as targets, static where a program of ours links them.
find_package(Threads REQUIRED)

# The pinned librdkafka of scripts/fetch_sources.sh; under ThreadSanitizer the one that was built for it.
set(rdkafka_dir "${KAFSCOPE_DEPS_DIR}/librdkafka")
if(KAFSCOPE_SANITIZE STREQUAL "thread" AND EXISTS "${KAFSCOPE_DEPS_DIR}/librdkafka-tsan/lib/librdkafka.a")
  set(rdkafka_dir "${KAFSCOPE_DEPS_DIR}/librdkafka-tsan")
endif()
if(EXISTS "${rdkafka_dir}/lib/librdkafka.a")
  add_library(kafscope_rdkafka INTERFACE)
  target_include_directories(kafscope_rdkafka SYSTEM INTERFACE "${rdkafka_dir}/include")
  target_link_libraries(kafscope_rdkafka INTERFACE "${rdkafka_dir}/lib/librdkafka.a" libzstd.a liblz4.a libssl.a
                        libcrypto.a libz.a Threads::Threads ${CMAKE_DL_LIBS} m)
endif()

# The pinned simdjson (single file) of scripts/setup.sh.
set(simdjson_dir "${KAFSCOPE_DEPS_DIR}/simdjson")
if(EXISTS "${simdjson_dir}/simdjson.cpp")
  add_library(kafscope_simdjson STATIC "${simdjson_dir}/simdjson.cpp")
  target_include_directories(kafscope_simdjson SYSTEM PUBLIC "${simdjson_dir}")
endif()

# libprotobuf, with its .proto compiler; gzip streams want zlib.
find_path(KAFSCOPE_PROTOBUF_INCLUDE google/protobuf/compiler/importer.h REQUIRED)
add_library(kafscope_libprotobuf INTERFACE)
target_include_directories(kafscope_libprotobuf SYSTEM INTERFACE "${KAFSCOPE_PROTOBUF_INCLUDE}")
target_link_libraries(kafscope_libprotobuf INTERFACE libprotobuf.a libz.a Threads::Threads)

# gRPC, static with all that it needs. Its archives name each other in circles: hence the group.
find_program(KAFSCOPE_PKG_CONFIG pkg-config REQUIRED)
execute_process(COMMAND "${KAFSCOPE_PKG_CONFIG}" --static --libs-only-l grpc++ OUTPUT_VARIABLE grpc_names
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(grpc_names)
list(REMOVE_DUPLICATES grpc_names)
list(REMOVE_ITEM grpc_names -ldl -lrt -latomic)
list(TRANSFORM grpc_names REPLACE "^-l(.+)$" "lib\\1.a")
add_library(kafscope_grpc INTERFACE)
target_link_libraries(kafscope_grpc INTERFACE -Wl,--start-group ${grpc_names} libprotobuf.a -Wl,--end-group -latomic
                      Threads::Threads ${CMAKE_DL_LIBS})
