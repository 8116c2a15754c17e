// tests/chain/study_on_real_data.h — a network of the chain's archives with real data to train
// on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hydro/shrink/surrogate.h"
#include "hydro/train/train.h"

#include "tests/chain/chain.h"
#include "tests/chain/real_data.h"

namespace hydro::chain {

/// Of networks.py, or of torchvision ("tv-resnet18").
inline train::Study study_on_real_data(const std::string& network, double scaling) {
  constexpr std::int64_t kValidated = 24;
  RealData data = real_data(network, 384);
  const std::string archive = network.starts_with("tv-") ? network : network + "-1";
  return {.task = data.task,
          .models = {{"m",
                      std::make_shared<const shrink::Surrogate>(
                          shrunk(archive_of(archive).model, {.scaling = scaling}))}},
          .training = data.loader,
          .validation = real_data(network, kValidated).loader,
          .test = nullptr,
          .evaluation_batch = kValidated};
}

}  // namespace hydro::chain
