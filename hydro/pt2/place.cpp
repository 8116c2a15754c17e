#include "hydro/pt2/place.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace hydro::pt2 {

namespace {

// What follows the last "site-packages/" or "dist-packages/"; all of a relative path; else the
// file name.
std::string_view shortened(std::string_view path) {
  constexpr std::string_view kPackages = "-packages/";
  const std::size_t packages = path.rfind(kPackages);
  if (packages != std::string_view::npos) {
    return path.substr(packages + kPackages.size());
  }
  return path.starts_with('/') ? path.substr(path.rfind('/') + 1) : path;
}

bool inside_torch(std::string_view path) {
  return shortened(path).starts_with("torch/") ||
         path.find("/torch/nn/") != std::string_view::npos ||
         path.find("/torch/_") != std::string_view::npos;
}

}  // namespace

std::string user_place(std::string_view stack_trace) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  std::string place;
  bool place_is_users = false;
  for (std::size_t at = stack_trace.find(kFile); at != std::string_view::npos;
       at = stack_trace.find(kFile, at + kFile.size())) {
    const std::size_t start = at + kFile.size();
    const std::size_t end = stack_trace.find(kLine, start);
    if (end == std::string_view::npos) {
      break;
    }
    const std::string_view path = stack_trace.substr(start, end - start);
    const std::size_t number = end + kLine.size();
    const std::size_t number_end =
        std::min(stack_trace.find_first_not_of("0123456789", number), stack_trace.size());
    const bool is_users = !inside_torch(path);
    if (is_users || !place_is_users) {
      place = std::string(shortened(path)) + ":" +
              std::string(stack_trace.substr(number, number_end - number));
      place_is_users = is_users;
    }
  }
  return place;
}

std::string owning_module(std::string_view nn_module_stack) {
  const std::size_t last = nn_module_stack.rfind(';');
  const std::string_view entry =
      nn_module_stack.substr(last == std::string_view::npos ? 0 : last + 1);
  const std::size_t first_comma = entry.find(',');
  if (first_comma == std::string_view::npos) {
    return {};
  }
  const std::size_t second_comma = std::min(entry.find(',', first_comma + 1), entry.size());
  return std::string(entry.substr(first_comma + 1, second_comma - first_comma - 1));
}

}  // namespace hydro::pt2
