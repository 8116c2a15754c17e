#include "hydro/job/yaml.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "hydro/base/result.h"
#include "hydro/job/node.h"
#include "hydro/job/utf8.h"

namespace hydro::job {
namespace {

constexpr std::size_t kDeepest = 32;
constexpr std::size_t kMostNodes = 20'000;

struct Problem {
  std::string_view id;
  std::string what;
  Place place;
  std::size_t width = 1;
  std::string remedy;
};

/// NOLINTNEXTLINE(misc-no-recursion): trees are at most kDeepest deep
std::size_t depth_of(const Node& node) {
  std::size_t deepest = 0;
  for (const Node& item : node.items) {
    deepest = std::max(deepest, depth_of(item));
  }
  return deepest + 1;
}

/// NOLINTNEXTLINE(misc-no-recursion): trees are at most kDeepest deep
std::size_t size_of(const Node& node) {
  std::size_t size = 1;
  for (const Node& item : node.items) {
    size += size_of(item);
  }
  return size;
}

/// Builds the tree from yaml-cpp's events. After the first problem it ignores the rest:
/// yaml-cpp itself gives up at 500 levels, so that the stack stays small.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(std::size_t source) : source_(source) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 2) {
      fail(
          "H0102", "a second document starts here", place_of(mark), "keep one document a file");
    }
  }

  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    node.place = place_of(mark);
    add(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark,
                const std::string& tag,
                YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(tag, mark);
    Node node = make_scalar(value);
    node.quoted = tag == "!";
    node.place = place_of(mark);
    node.width = value.size() + (node.quoted ? 2 : 0);
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (problem_) {
      return;
    }
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      fail("H0102",
           "an alias stands inside its own anchor",
           place_of(mark),
           "write the value out");
      return;
    }
    nodes_ += size_of(found->second) - 1;
    if (frames_.size() + depth_of(found->second) > kDeepest) {
      fail_depth(place_of(mark));
      return;
    }
    add(found->second, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark,
                       const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(Node::Kind::kSequence, mark, tag, anchor);
  }

  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(Node::Kind::kMap, mark, tag, anchor);
  }

  void OnMapEnd() override { close(); }

  [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; }

  [[nodiscard]] std::optional<Node> take_root() { return std::move(root_); }

 private:
  /// A collection that is still open.
  struct Frame {
    Node node;
    YAML::anchor_t anchor = 0;
    std::optional<Key> key;  // of the value that comes next
    std::set<std::string, std::less<>> seen;
  };

  [[nodiscard]] Place place_of(const YAML::Mark& mark) const {
    return {.source = source_, .line = mark.line + 1, .column = mark.column + 1};
  }

  void fail(std::string_view id, std::string what, Place place, std::string remedy = {}) {
    if (!problem_) {
      problem_ = Problem{
          .id = id, .what = std::move(what), .place = place, .remedy = std::move(remedy)};
    }
  }

  void fail_depth(Place place) {
    fail("H0108", "nested more than " + std::to_string(kDeepest) + " levels deep", place);
  }

  void check_tag(const std::string& tag, const YAML::Mark& mark) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      fail("H0102",
           "tag `" + tag + "` is not used in job files",
           place_of(mark),
           "remove the tag: the key decides the type");
    }
  }

  void open(Node::Kind kind,
            const YAML::Mark& mark,
            const std::string& tag,
            YAML::anchor_t anchor) {
    if (problem_) {
      return;
    }
    check_tag(tag, mark);
    if (frames_.size() >= kDeepest) {
      fail_depth(place_of(mark));
      return;
    }
    if (awaits_key()) {
      fail("H0102", "a key must be plain text", place_of(mark));
      return;
    }
    Frame frame;
    frame.node.kind = kind;
    frame.node.place = place_of(mark);
    frame.anchor = anchor;
    frames_.push_back(std::move(frame));
  }

  void close() {
    if (problem_) {
      return;
    }
    HYDRO_CHECK(!frames_.empty());
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    add(std::move(frame.node), frame.anchor);
  }

  [[nodiscard]] bool awaits_key() const {
    return !frames_.empty() && frames_.back().node.is_map() && !frames_.back().key;
  }

  void add(Node node, YAML::anchor_t anchor) {
    if (problem_) {
      return;
    }
    if (++nodes_ > kMostNodes) {
      fail("H0108",
           "more than " + std::to_string(kMostNodes) + " values, aliases written out",
           node.place);
      return;
    }
    if (anchor != 0) {
      anchors_.insert_or_assign(anchor, node);
    }
    if (awaits_key()) {
      add_key(node);
      return;
    }
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.key) {  // of a map, since a key is not awaited
      if (node.is_null()) {
        node.place = frame.key->place;
      }
      frame.node.keys.push_back(std::move(*frame.key));
      frame.key.reset();
    }
    frame.node.items.push_back(std::move(node));
  }

  void add_key(const Node& node) {
    if (!node.is_scalar()) {
      fail("H0102", "a key must be plain text", node.place);
      return;
    }
    if (node.text == "<<" && !node.quoted) {
      fail("H0102",
           "merge keys (`<<`) are not used in job files",
           node.place,
           "write the merged keys out");
      return;
    }
    Frame& frame = frames_.back();
    if (!frame.seen.insert(node.text).second) {
      problem_ = Problem{.id = "H0104",
                         .what = "key `" + node.text + "` is repeated",
                         .place = node.place,
                         .width = node.text.size(),
                         .remedy = {}};
      return;
    }
    frame.key = Key{.text = node.text, .place = node.place};
  }

  std::size_t source_;
  int documents_ = 0;
  std::size_t nodes_ = 0;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::optional<Node> root_;
  std::optional<Problem> problem_;
};

/// Runs yaml-cpp over the text; its own complaint counts only when the builder had none before.
std::optional<Problem> drive(const std::string& text, std::size_t source, Builder& builder) {
  std::istringstream stream(text);
  try {
    YAML::Parser parser(stream);
    while (!builder.problem() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& exception) {
    if (builder.problem()) {
      return builder.problem();
    }
    const YAML::Mark& mark = exception.mark;
    return Problem{.id = "H0102",
                   .what = "this is not YAML: " + exception.msg,
                   .place = {.source = source,
                             .line = std::max(mark.line, 0) + 1,
                             .column = std::max(mark.column, 0) + 1},
                   .remedy = {}};
  }
  return builder.problem();
}

Error located(const std::vector<Source>& sources, const Problem& problem) {
  Error error = error_at(sources, problem.place, problem.width, problem.id, problem.what);
  return problem.remedy.empty() ? error : std::move(error).fix(problem.remedy);
}

}  // namespace

Result<Node> parse_yaml(const std::vector<Source>& sources, std::size_t index) {
  const Source& source = sources.at(index);
  if (source.text.size() > kLargestJob) {
    return make_error("H0101", "the job file has more than 1 MB").at(source.name);
  }
  if (const auto bad = find_bad_byte(source.text)) {
    const Place place{.source = index, .line = bad->line, .column = bad->column};
    return error_at(sources, place, 1, "H0107", bad->what);
  }
  Builder builder(index);
  if (const auto problem = drive(source.text, index, builder)) {
    return located(sources, *problem);
  }
  auto root = builder.take_root();
  if (!root) {
    return make_error("H0102", "there is nothing in it")
        .at(source.name)
        .fix("write at least the sections model, data and train");
  }
  return *std::move(root);
}

}  // namespace hydro::job
