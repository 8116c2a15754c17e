#include "hydro/train/autocast.h"

#include "hydro/ops/torch.h"

namespace hydro::train {

Autocast::Autocast(bool on) : on_(on) {
  if (on_) {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::increment_nesting();
  }
}

Autocast::~Autocast() {
  if (on_) {
    // Casts of weights are kept by address: those of the next step are others.
    if (at::autocast::decrement_nesting() == 0) {
      at::autocast::clear_cache();
    }
    at::autocast::set_autocast_enabled(at::kCPU, false);
  }
}

}  // namespace hydro::train
