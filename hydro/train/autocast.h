// hydro/train/autocast.h — mixed precision: while the object lives, this thread's products run
// in bf16 where PyTorch's autocast holds that to be safe; weights stay in single precision.
#pragma once

namespace hydro::train {

class Autocast {
 public:
  /// `on` false: changes nothing.
  explicit Autocast(bool on);
  ~Autocast();

  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  Autocast(Autocast&&) = delete;
  Autocast& operator=(Autocast&&) = delete;

 private:
  bool on_;
};

}  // namespace hydro::train
