# Google's sentencepiece from Debian (libsentencepiece-dev), which ships no CMake package of its own.
#   SentencePiece::SentencePiece   encoding and training
# Linked is a copy in the build folder that looks for its symbols in itself first: sentencepiece and libtorch's c10 both
# export FLAGS_minloglevel, an object of 32 bytes here, an int there (docs/decisions/0006).
find_path(SentencePiece_INCLUDE_DIR sentencepiece_processor.h)
find_library(SentencePiece_LIBRARY sentencepiece)
find_library(SentencePiece_TRAIN_LIBRARY sentencepiece_train)
find_program(SentencePiece_PYTHON3 python3)
mark_as_advanced(SentencePiece_INCLUDE_DIR SentencePiece_LIBRARY SentencePiece_TRAIN_LIBRARY SentencePiece_PYTHON3)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SentencePiece
  REQUIRED_VARS SentencePiece_LIBRARY SentencePiece_TRAIN_LIBRARY SentencePiece_INCLUDE_DIR SentencePiece_PYTHON3
  REASON_FAILURE_MESSAGE "install libsentencepiece-dev, or run tools/bootstrap")
if(SentencePiece_FOUND AND NOT TARGET SentencePiece::SentencePiece)
  set(SentencePiece_COPY "${CMAKE_BINARY_DIR}/lib/libsentencepiece.so.0")
  execute_process(
    COMMAND "${SentencePiece_PYTHON3}" "${CMAKE_CURRENT_LIST_DIR}/bind_own_symbols.py" "${SentencePiece_LIBRARY}" "${SentencePiece_COPY}"
    COMMAND_ERROR_IS_FATAL ANY)
  add_library(SentencePiece::SentencePiece SHARED IMPORTED)
  set_target_properties(SentencePiece::SentencePiece PROPERTIES
    IMPORTED_LOCATION "${SentencePiece_COPY}"
    IMPORTED_SONAME libsentencepiece.so.0
    INTERFACE_INCLUDE_DIRECTORIES "${SentencePiece_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${SentencePiece_TRAIN_LIBRARY}")
endif()
