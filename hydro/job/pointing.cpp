// Errors met after the job file was read point back into it: the document keeps the places.
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"

namespace hydro::job {
namespace {

Error pointed(const Job& job, const Node* node, Error error) {
  if (node == nullptr || node->place.line == 0) {
    return error;
  }
  const Error placed = error_at(job.document.sources, *node, error.id, error.what);
  return std::move(error).at(placed.where).showing(placed.excerpt);
}

/// The first text below `node` that is `text`.
// NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
const Node* find_text(const Node& node, std::string_view text) {
  if (node.is_scalar()) {
    return node.text == text ? &node : nullptr;
  }
  for (const Node& item : node.items) {
    if (const Node* found = find_text(item, text); found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

/// Whether `message` speaks of the file or module of "module:callable", or of a package on the
/// way to it.
bool speaks_of(std::string_view message, std::string_view target) {
  const std::string module(target.substr(0, target.rfind(':')));
  if (module.ends_with(".py")) {
    const std::string file = std::filesystem::path(module).filename().string();
    return message.find('/' + file) != std::string_view::npos ||
           message.find('`' + module + '`') != std::string_view::npos;
  }
  for (std::size_t end = module.find('.');; end = module.find('.', end + 1)) {
    if (message.find('`' + module.substr(0, end) + '`') != std::string_view::npos) {
      return true;
    }
    if (end == std::string::npos) {
      return false;
    }
  }
}

/// The value of a `call` below `node` that `message` speaks of.
// NOLINTNEXTLINE(misc-no-recursion): trees are at most 32 levels deep
const Node* find_call(const Node& node, std::string_view message) {
  if (const Node* call = node.find("call");
      call != nullptr && call->is_scalar() && speaks_of(message, call->text)) {
    return call;
  }
  for (const Node& item : node.items) {
    if (const Node* found = find_call(item, message); found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

}  // namespace

Error point_at(const Job& job, std::string_view path, Error error) {
  return pointed(job, find_path(job.document.root, path), std::move(error));
}

Error point_at_file(const Job& job,
                    std::string_view section,
                    const std::filesystem::path& file,
                    Error error) {
  const Node* node = find_path(job.document.root, section);
  return pointed(
      job, node == nullptr ? nullptr : find_text(*node, file.string()), std::move(error));
}

Error point_at_callable(const Job& job, Error error) {
  const Node* target = find_path(job.document.root, "model.export");
  if (target == nullptr || !target->is_scalar() || speaks_of(error.what, target->text)) {
    return pointed(job, target, std::move(error));
  }
  for (const std::string_view arguments : {"model.args", "model.kwargs"}) {
    const Node* node = find_path(job.document.root, arguments);
    if (const Node* call = node == nullptr ? nullptr : find_call(*node, error.what);
        call != nullptr) {
      return pointed(job, call, std::move(error));
    }
  }
  return pointed(job, target, std::move(error));
}

}  // namespace hydro::job
