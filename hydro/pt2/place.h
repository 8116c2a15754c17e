// hydro/pt2/place.h — where the user's code asked for a node, out of the metadata that
// torch.export leaves.
#pragma once

#include <string>
#include <string_view>

namespace hydro::pt2 {

/// "net.py:42": the innermost frame of a Python stack trace that is not inside the torch
/// package (the innermost of all when every frame is). Paths lose what comes before
/// site-packages; absolute ones keep their file name only.
[[nodiscard]] std::string user_place(std::string_view stack_trace);
/// "layer1.0.conv1": the innermost module of "key,fqn,class;key,fqn,class".
[[nodiscard]] std::string owning_module(std::string_view nn_module_stack);

}  // namespace hydro::pt2
