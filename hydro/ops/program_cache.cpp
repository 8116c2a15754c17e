#include "hydro/ops/program_cache.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "hydro/ops/torch.h"

namespace hydro::ops {

bool ConstantKey::operator==(const ConstantKey& other) const {
  const auto is_same = [](const at::Tensor& a, const at::Tensor& b) { return a.is_same(b); };
  return place == other.place && shapes == other.shapes &&
         std::ranges::equal(sources, other.sources, is_same);
}

std::shared_ptr<const Constants> ProgramCache::find(const ConstantKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      constants_, [&](const std::shared_ptr<const Constants>& one) { return one->key == key; });
  return found == constants_.end() ? nullptr : *found;
}

void ProgramCache::add(Constants constants) {
  constexpr std::size_t kMost = 4;
  const auto made = std::make_shared<const Constants>(std::move(constants));
  const std::lock_guard lock(mutex_);
  if (constants_.size() == kMost) {
    constants_.erase(constants_.begin());
  }
  constants_.push_back(made);
}

}  // namespace hydro::ops
