// tests/chain/narrow.h — two exported models at an eighth of their width, with data to train
// them on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hydro/data/dataset.h"
#include "hydro/train/testing.h"
#include "hydro/train/train.h"

#include "tests/chain/chain.h"

namespace hydro::chain {

struct Family {
  std::string name;
  std::vector<std::int64_t> shape;
};

inline const Family kMlp{"noisy_mlp", {32}};
inline const Family kResnet{"resnet18_dropout", {3, 28, 28}};

/// Fashion-MNIST's first images: with made-up pixels a deep net multiplies rounding by
/// millions.
inline std::shared_ptr<const data::Loader> images() {
  const std::filesystem::path folder = "/usr/share/datasets/fashion-mnist";
  data::Dataset set =
      data::load_split(
          {.source = data::IdxSource{.images = folder / "train-images-idx3-ubyte.gz",
                                     .labels = folder / "train-labels-idx1-ubyte.gz"},
           .limit = 96})
          .value();
  return std::make_shared<const data::Loader>(
      std::make_shared<const data::Dataset>(std::move(set)),
      std::vector<data::Transform>{data::Rgb{}, data::Normalize{.mean = {.286}, .std = {.353}}},
      data::Use::kTraining,
      1);
}

inline train::Study narrow(const Family& family) {
  train::Study study = train::testing::study_of(
      shrunk(archive_of(family.name).model, {.scaling = 8, .roles = {}}), family.shape);
  if (family.shape.size() == 3) {
    study.training = images();
  }
  return study;
}

}  // namespace hydro::chain
