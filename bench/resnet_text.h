// bench/resnet_text.h — ResNet-18 of any width in the IR's text form, as torchvision's exports
// to it; so that benchmarks of training need no archive.
#pragma once

#include <cstdint>
#include <string>

namespace hydro::bench {

enum class Mode : std::uint8_t { kTrain, kEval };

class ResnetText {
 public:
  ResnetText(Mode mode, std::int64_t width, std::int64_t size) : mode_(mode), size_(size) {
    const std::int64_t stem = conv("x", 3, {width, 7, 2, 3});
    std::string x = relu(norm(stem, width));
    size_ = ((size_ - 1) / 2) + 1;
    const std::string pooled = "%pool: " + type(width);
    nodes_ += "  " + pooled + " = aten.max_pool2d.default(self=%" + x +
              ", kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], dilation=[1, 1], "
              "ceil_mode=False)\n";
    x = "pool";
    std::int64_t channels = width;
    for (std::int64_t stage = 0; stage < 4; ++stage) {
      for (std::int64_t block = 0; block < 2; ++block) {
        const std::int64_t wider = width << stage;
        x = basic_block(x, channels, wider, stage > 0 && block == 0 ? 2 : 1);
        channels = wider;
      }
    }
    head(x, channels);
  }

  [[nodiscard]] std::string text() const {
    return "graph {\n" + inputs_ + nodes_ + "  output user y %y\n" + outputs_ + "}\n";
  }

 private:
  struct Filter {
    std::int64_t out = 0;
    std::int64_t kernel = 0;
    std::int64_t stride = 1;
    std::int64_t padding = 0;
  };

  [[nodiscard]] std::string type(std::int64_t channels) const {
    const std::string n = std::to_string(size_);
    return "float32[~5, " + std::to_string(channels) + ", " + n + ", " + n + "]";
  }

  static std::string pair(std::int64_t n) {
    return "[" + std::to_string(n) + ", " + std::to_string(n) + "]";
  }

  /// Returns its number; the value is %c<number>.
  std::int64_t conv(const std::string& x, std::int64_t in, const Filter& filter) {
    if (inputs_.empty()) {
      inputs_ = "  input user x %x: " + type(3) + "\n";
    }
    const std::string n = std::to_string(++count_);
    const std::string k = std::to_string(filter.kernel);
    size_ = ((size_ + (2 * filter.padding) - filter.kernel) / filter.stride) + 1;
    inputs_ += "  input parameter conv" + n + ".weight %w" + n + ": float32[" +
               std::to_string(filter.out) + ", " + std::to_string(in) + ", " + k + ", " + k +
               "]\n";
    nodes_ += "  %c" + n + ": " + type(filter.out) + " = aten.conv2d.default(input=%" + x +
              ", weight=%w" + n + ", bias=None, stride=" + pair(filter.stride) +
              ", padding=" + pair(filter.padding) + ", dilation=[1, 1], groups=1)\n";
    return count_;
  }

  std::string norm(std::int64_t number, std::int64_t channels) {
    const std::string n = std::to_string(number);
    const std::string w = ": float32[" + std::to_string(channels) + "]";
    const std::string name = "bn" + n + ".";
    inputs_ += "  input parameter " + name + "weight %g" + n + w + "\n  input parameter " +
               name + "bias %s" + n + w + "\n  input buffer " + name + "running_mean %m" + n +
               w + "\n  input buffer " + name + "running_var %v" + n + w + "\n";
    const std::string state = "(input=%c" + n + ", weight=%g" + n + ", bias=%s" + n +
                              ", running_mean=%m" + n + ", running_var=%v" + n;
    if (mode_ == Mode::kEval) {
      nodes_ += "  %b" + n + ": " + type(channels) + " = aten.batch_norm.default" + state +
                ", training=False, momentum=0.1, eps=1e-05)\n";
      return "b" + n;
    }
    inputs_ += "  input buffer " + name + "num_batches_tracked %n" + n + ": int64[]\n";
    nodes_ += "  %o" + n + ": int64[] = aten.add.Tensor(self=%n" + n +
              ", other=1, alpha=1)\n  %b" + n + ": " + type(channels) + ", %mm" + n + w +
              ", %vv" + n + w + " = hydro.batch_norm" + state + ", num_batches_tracked=%o" + n +
              ", training=True, momentum=0.1, eps=1e-05)\n";
    outputs_ += "  output buffer " + name + "running_mean %mm" + n + "\n  output buffer " +
                name + "running_var %vv" + n + "\n  output buffer " + name +
                "num_batches_tracked %o" + n + "\n";
    channels_ = channels;
    return "b" + n;
  }

  std::string relu(const std::string& x) {
    const std::string name = "r" + std::to_string(++relus_);
    nodes_ += "  %" + name + ": " + type(channels_) + " = aten.relu.default(self=%" + x + ")\n";
    return name;
  }

  std::string basic_block(const std::string& x,
                          std::int64_t in,
                          std::int64_t out,
                          std::int64_t stride) {
    const std::int64_t before = size_;
    channels_ = out;
    const std::string middle = relu(norm(conv(x, in, {out, 3, stride, 1}), out));
    const std::string last = norm(conv(middle, out, {out, 3, 1, 1}), out);
    std::string shortcut = x;
    if (stride != 1) {
      const std::int64_t after = size_;
      size_ = before;
      shortcut = norm(conv(x, in, {out, 1, stride, 0}), out);
      size_ = after;
    }
    const std::string sum = "a" + last;
    nodes_ += "  %" + sum + ": " + type(out) + " = aten.add.Tensor(self=%" + last +
              ", other=%" + shortcut + ", alpha=1)\n";
    return relu(sum);
  }

  void head(const std::string& x, std::int64_t channels) {
    const std::string c = std::to_string(channels);
    inputs_ += "  input parameter fc.weight %fw: float32[10, " + c +
               "]\n  input parameter fc.bias %fb: float32[10]\n";
    nodes_ += "  %p: float32[~5, " + c + ", 1, 1] = aten.adaptive_avg_pool2d.default(self=%" +
              x + ", output_size=[1, 1])\n  %f: float32[~5, " + c +
              "] = aten.flatten.using_ints(self=%p, start_dim=1, end_dim=-1)\n"
              "  %y: float32[~5, 10] = aten.linear.default(input=%f, weight=%fw, bias=%fb)\n";
  }

  Mode mode_;
  std::int64_t size_;
  std::int64_t channels_ = 0;
  std::int64_t count_ = 0;
  std::int64_t relus_ = 0;
  std::string inputs_;
  std::string nodes_;
  std::string outputs_;
};

}  // namespace hydro::bench
