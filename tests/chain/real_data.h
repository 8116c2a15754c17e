// tests/chain/real_data.h — what each network of networks.py is trained on: Fashion-MNIST, or
// texts that every Debian has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/worker/settings.h"

namespace hydro::chain {

using SharedLoader = std::shared_ptr<const data::Loader>;

/// The tokens of a sample and the vocabulary, as networks.py has them.
constexpr std::int64_t kTokens = 16;
constexpr std::uint8_t kOtherToken = 95;

inline SharedLoader loader_of(data::Dataset set, std::vector<data::Transform> transforms = {}) {
  return std::make_shared<const data::Loader>(
      std::make_shared<const data::Dataset>(std::move(set)),
      transforms,
      data::Use::kTraining,
      1);
}

inline SharedLoader fashion(std::vector<data::Transform> transforms, std::int64_t limit) {
  const std::filesystem::path folder = "/usr/share/datasets/fashion-mnist";
  const data::IdxSource source = {.images = folder / "t10k-images-idx3-ubyte.gz",
                                  .labels = folder / "t10k-labels-idx1-ubyte.gz"};
  return loader_of(data::load_split({.source = source, .limit = limit}).value(),
                   std::move(transforms));
}

/// Printable characters from 0 on, all else one token: 96 of them.
inline data::Dataset licence(const std::string& name, std::int64_t limit) {
  const data::TextSource source = {
      .path = std::filesystem::path("/usr/share/common-licenses") / name, .block = kTokens};
  data::Dataset set = data::load_split({.source = source, .limit = limit}).value();
  for (auto& byte : set.inputs.front().bytes) {
    const auto letter = std::to_integer<std::uint8_t>(byte);
    const bool is_printable = letter >= ' ' && letter <= '~';
    byte = static_cast<std::byte>(is_printable ? letter - ' ' : kOtherToken);
  }
  return set;
}

inline SharedLoader text(std::int64_t limit) {
  return loader_of(licence("GPL-3", limit));
}

/// 0 a space or what is not printed, 1 a vowel, 2 anything else.
inline std::int64_t kind_of_letter(std::int64_t token) {
  if (token == 0 || token == kOtherToken) {
    return 0;
  }
  return std::string("aeiouAEIOU").find(static_cast<char>(token + ' ')) == std::string::npos
             ? 2
             : 1;
}

/// Blocks whose class is the kind of their first letter.
inline SharedLoader letters(std::int64_t limit) {
  const data::Dataset text = licence("GPL-3", limit);
  data::Dataset set;
  set.size = text.size;
  std::vector<std::int64_t> tokens;
  for (std::int64_t i = 0; i < set.size * kTokens; ++i) {
    const auto place = static_cast<std::size_t>(i);
    tokens.push_back(std::to_integer<std::int64_t>(text.inputs.front().bytes[place]));
    if (i % kTokens == 0) {
      set.target.classes.push_back(kind_of_letter(tokens.back()));
    }
  }
  set.inputs = {{.name = "",
                 .type = data::ElementType::kInt64,
                 .shape = {kTokens},
                 .bytes = hydro::testing::bytes_of(tokens)}};
  return loader_of(std::move(set));
}

struct RealData {
  worker::Task task = worker::Task::kClassification;
  SharedLoader loader;
};

/// For a network of networks.py, or one of torchvision's (32 x 32).
inline RealData real_data(const std::string& network, std::int64_t samples) {
  const data::Normalize normalize{.mean = {.286F}, .std = {.353F}};
  if (network == "swin" || network.starts_with("tv-")) {
    return {.loader = fashion({data::Resize{.height = 32, .width = 32}, data::Rgb{}, normalize},
                              samples)};
  }
  if (network == "vit" || network == "mobilenet_v3") {
    return {.loader = fashion({data::Rgb{}, normalize}, samples)};
  }
  if (network == "bert_classes") {
    return {.loader = letters(samples)};
  }
  return {.task = worker::Task::kLanguageModel, .loader = text(samples)};
}

}  // namespace hydro::chain
