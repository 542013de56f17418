# How BoringSSL is compiled: CMake reads this file first, because .cargo/config.toml names it (CMAKE_TOOLCHAIN_FILE).
# Its own build asks for symbols of a debugger (-ggdb), which takes a third of the time and which nothing here reads.
# "MinSizeRel" is what Cargo's profile `dev` asks for, with opt-level "s". Ciphers and hashes are assembly in any case. Its warnings are
# errors, and at -O1 a compiler warns of what it does not warn of at -O3: -w.
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_RELEASE_INIT "-g0")
  set(CMAKE_${language}_FLAGS_MINSIZEREL "-g0 -w -O1 -DNDEBUG" CACHE STRING "")
endforeach()
