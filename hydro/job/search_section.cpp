// `tune.search`: where configurations come from.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hydro/base/result.h"
#include "hydro/base/text.h"
#include "hydro/job/job.h"
#include "hydro/job/node.h"
#include "hydro/job/reader.h"
#include "hydro/job/schema.h"
#include "hydro/job/sections.h"

namespace hydro::job {
namespace {

constexpr std::string_view kType = "random, grid, sobol, optuna, or a mapping with a command";

constexpr auto kKinds =
    std::to_array<std::pair<std::string_view, SearchKind>>({{"random", SearchKind::kRandom},
                                                            {"grid", SearchKind::kGrid},
                                                            {"sobol", SearchKind::kSobol},
                                                            {"optuna", SearchKind::kProcess}});

Result<void> read_deadline(const Reader& reader,
                           const Node& node,
                           const Row<SearchSection>& row,
                           SearchSection& out) {
  const auto time = as_duration(node);
  if (!time || time->count() == 0) {
    return reader.wrong(node, row.key, row.type);
  }
  out.deadline = *time;
  return {};
}

/// A program's path starts at the job's folder; a bare name is looked for in PATH.
Result<void> read_command(const Reader& reader,
                          const Node& node,
                          const Row<SearchSection>& row,
                          SearchSection& out) {
  const bool texts = node.is_sequence() && !node.items.empty() &&
                     std::ranges::all_of(node.items, &Node::is_scalar) &&
                     !node.items.front().text.empty();
  if (!texts) {
    return reader.wrong(node, row.key, row.type);
  }
  for (const Node& item : node.items) {
    out.command.push_back(item.text);
  }
  if (out.command.front().find('/') != std::string::npos) {
    out.command.front() = reader.absolute(out.command.front()).string();
  }
  return {};
}

constexpr Row<SearchSection> kDeadlineRow = {
    "deadline", "a time such as 60 s", "60 s", "for one answer", &read_deadline};

constexpr auto kOptunaRows = std::to_array<Row<SearchSection>>({
    {"name", "optuna", "", "which searcher", &ignore<SearchSection>},
    {"sampler",
     "a sampler's name",
     "TPESampler",
     "a class of optuna.samplers; keys besides these are its arguments",
     &read_text<&SearchSection::sampler, SearchSection>},
    kDeadlineRow,
});

constexpr auto kCommandRows = std::to_array<Row<SearchSection>>({
    {"command",
     "a list: a program and its arguments",
     "",
     "a searcher's process",
     &read_command},
    kDeadlineRow,
});

/// Rows read what they know; all else is an argument of the sampler.
Result<SearchSection> read_optuna(const Reader& reader, const Node& node) {
  const std::vector<std::string> known =
      keys_of(std::span<const Row<SearchSection>>(kOptunaRows));
  Node ours = node;
  ours.keys.clear();
  ours.items.clear();
  Node arguments = make_map();
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    Node& side = std::ranges::find(known, node.keys[i].text) != known.end() ? ours : arguments;
    side.keys.push_back(node.keys[i]);
    side.items.push_back(node.items[i]);
  }
  SearchSection search{.kind = SearchKind::kProcess};
  HYDRO_TRY_VOID(read_rows(
      reader, ours, "search", std::span<const Row<SearchSection>>(kOptunaRows), search));
  HYDRO_TRY(search.arguments, to_json(reader, arguments));
  return search;
}

Result<SearchSection> read_process(const Reader& reader, const Node& node) {
  SearchSection search{.kind = SearchKind::kProcess};
  HYDRO_TRY_VOID(read_rows(
      reader, node, "search", std::span<const Row<SearchSection>>(kCommandRows), search));
  return search;
}

/// `word`, or {name: word, ...}.
const Node* name_node(const Node& node) {
  const Node* name = node.is_map() ? node.find("name") : &node;
  return name != nullptr && name->is_scalar() ? name : nullptr;
}

Error unknown_search(const Reader& reader, const Node& node, const Node* name) {
  Error fault = reader.wrong(name == nullptr ? node : *name, "search", kType);
  std::vector<std::string> words;
  words.reserve(kKinds.size());
  for (const auto& [word, kind] : kKinds) {
    words.emplace_back(word);
  }
  const std::string meant = name == nullptr ? std::string() : nearest(name->text, words);
  return meant.empty() ? fault : std::move(fault).fix("did you mean `" + meant + "`?");
}

}  // namespace

Result<SearchSection> read_search(const Reader& reader, const Node& node) {
  if (node.is_map() && node.find("command") != nullptr) {
    return read_process(reader, node);
  }
  const Node* name = name_node(node);
  const auto* row =
      name == nullptr
          ? kKinds.end()
          : std::ranges::find(kKinds, name->text, &decltype(kKinds)::value_type::first);
  if (row == kKinds.end()) {
    return unknown_search(reader, node, name);
  }
  if (row->second == SearchKind::kProcess) {
    Node whole = make_map();
    whole.add("name", node);
    return read_optuna(reader, node.is_map() ? node : whole);
  }
  if (node.is_map()) {
    const std::vector<std::string> only = {"name"};
    HYDRO_TRY_VOID(check_keys(reader, node, "search", only));
  }
  return SearchSection{.kind = row->second};
}

void complete_search(Node& node, const SearchSection& read) {
  if (Node* command = node.find("command"); command != nullptr && !read.command.empty()) {
    command->items.front().text = read.command.front();
  }
}

void list_search(std::vector<KnownKey>& keys) {
  list_rows("search optuna", std::span<const Row<SearchSection>>(kOptunaRows), keys);
  list_rows("search command", std::span<const Row<SearchSection>>(kCommandRows), keys);
}

}  // namespace hydro::job
