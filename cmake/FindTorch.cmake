# Imported targets straight from a pip wheel of torch, without torch's own CMake package (which demands a CUDA
# toolkit for CUDA wheels). Looks in HYDRO_TORCH_DIR (the folder that holds lib/ and include/), then in .venv.
#   Torch::c10  Torch::torch_cpu  Torch::torch   (and, with HYDRO_CUDA, Torch::torch_cuda)
#   Torch_VERSION, Torch_DIR_FOUND
set(HYDRO_TORCH_DIR "" CACHE PATH "The torch package's folder (holds lib/libtorch_cpu.so)")
set(_torch_hints ${HYDRO_TORCH_DIR})
file(GLOB _torch_venv "${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
list(APPEND _torch_hints ${_torch_venv})
find_path(Torch_ROOT_FOUND NAMES lib/libtorch_cpu.so HINTS ${_torch_hints} NO_DEFAULT_PATH NO_CACHE)
if(Torch_ROOT_FOUND AND EXISTS "${Torch_ROOT_FOUND}/version.py")
  file(STRINGS "${Torch_ROOT_FOUND}/version.py" _torch_version REGEX "^__version__")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" Torch_VERSION "${_torch_version}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Torch REQUIRED_VARS Torch_ROOT_FOUND VERSION_VAR Torch_VERSION
  REASON_FAILURE_MESSAGE "run tools/bootstrap, or pass -DHYDRO_TORCH_DIR=.../site-packages/torch")
if(Torch_FOUND AND NOT TARGET Torch::torch)
  if(Torch_VERSION VERSION_LESS 2.11)
    message(FATAL_ERROR "torch ${Torch_VERSION} in ${Torch_ROOT_FOUND} is too old: 2.11 or newer is needed")
  endif()
  get_filename_component(_site "${Torch_ROOT_FOUND}" DIRECTORY)
  set(_torch_includes "${Torch_ROOT_FOUND}/include" "${Torch_ROOT_FOUND}/include/torch/csrc/api/include")
  set(_torch_libraries c10 torch_cpu torch)
  if(HYDRO_CUDA)
    list(APPEND _torch_libraries c10_cuda torch_cuda)
  endif()
  foreach(_lib IN LISTS _torch_libraries)
    add_library(Torch::${_lib} SHARED IMPORTED)
    set_target_properties(Torch::${_lib} PROPERTIES
      IMPORTED_LOCATION "${Torch_ROOT_FOUND}/lib/lib${_lib}.so"
      INTERFACE_INCLUDE_DIRECTORIES "${_torch_includes}"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_torch_includes}")
  endforeach()
  # A CUDA wheel's libtorch_cpu.so needs libcupti and libcudart also where no GPU is used.
  # libtorch.so exports parts of std::filesystem of its own build; the real libstdc++ must come first in the
  # search order, or std::filesystem::remove_all ends in a null call.
  set_property(TARGET Torch::torch_cpu PROPERTY INTERFACE_LINK_OPTIONS
    "LINKER:-rpath-link,${_site}/nvidia/cu13/lib"
    "SHELL:-Wl,--push-state,--no-as-needed -lstdc++ -Wl,--pop-state")
  set_property(TARGET Torch::torch_cpu PROPERTY INTERFACE_LINK_LIBRARIES Torch::c10)
  # Clang 18 and later spell some templates (TensorBase::const_data_ptr<T>) otherwise than g++, which built libtorch.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 18)
    set_property(TARGET Torch::torch_cpu PROPERTY INTERFACE_COMPILE_OPTIONS -fclang-abi-compat=17)
  endif()
  set_property(TARGET Torch::torch PROPERTY INTERFACE_LINK_LIBRARIES Torch::torch_cpu)
endif()
