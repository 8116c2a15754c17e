// hydro/data/dataset.h — decoded data in host memory, shared by all workers, and batches drawn
// from it. Thread-safety: a const Dataset may be shared; each worker owns its BatchBuffer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"

namespace hydro::data {

/// kInt32: only as stored, of a text whose tokens are pieces.
enum class ElementType : std::uint8_t { kUInt8, kInt32, kInt64, kFloat32 };

/// How many tokens further the labels of a text are.
enum class TextLabels : std::uint8_t { kSame, kNext };

/// One model input for all samples: [size, shape...], row-major. Images are kUInt8 [C, H, W]. A
/// text holds its tokens once (hydro/data/text.h).
struct Field {
  std::string name;  // the model input's name; empty: the only one
  ElementType type = ElementType::kFloat32;
  std::vector<std::int64_t> shape;  // of one sample
  Bytes bytes;
  bool is_image = false;            // scaled to [0, 1] and transformed
  bool is_text = false;             // cut into blocks [T] of int64
  std::filesystem::path file = {};  // where it came from, for messages
  TextLabels labels = TextLabels::kNext;
  /// Of a text of pieces: the bytes that each block's labels stand for, where they are the
  /// next.
  std::vector<std::int64_t> block_bytes = {};
};

/// What the loss compares with: class indices or floats, [size, shape...].
struct Target {
  std::vector<std::int64_t> classes;  // one of the two is empty; both where a text is its own
  std::vector<float> values;          // label, and where the model's output is the loss
  std::vector<std::int64_t> shape;    // of one sample
  std::filesystem::path file = {};    // where it came from, for messages
  std::vector<std::string> class_names = {};  // by class index; empty: the format has none
};

struct Dataset {
  std::int64_t size = 0;
  std::vector<Field> inputs;
  Target target;

  /// One input, a text; its labels are its own tokens.
  [[nodiscard]] bool is_text() const { return inputs.size() == 1 && inputs.front().is_text; }
};

struct Rgb {};

struct Normalize {
  std::vector<float> mean;
  std::vector<float> std;
};  // one value, or one a channel

struct RandomCrop {
  std::int64_t padding = 0;
  std::int64_t size = 0;
};  // size 0: keep the image's

struct RandomFlip {
  double p = 0.5;
};

struct Resize {
  std::int64_t height = 0;
  std::int64_t width = 0;
};  // bilinear, antialiased

using Transform = std::variant<Rgb, Normalize, RandomCrop, RandomFlip, Resize>;

/// Where a split comes from; a job's `data.train` and its like.
struct IdxSource {
  std::filesystem::path images;
  std::filesystem::path labels;
};

struct ArraySource {
  std::map<std::string, std::filesystem::path>
      inputs;                    // by model input name; "" for the only one
  std::filesystem::path target;  // .npy, or .safetensors (tensor named as the key); or empty
};

/// One folder a class.
struct ImageFolderSource {
  std::filesystem::path path;
  std::optional<Resize> resize = {};  // while loading, rounded to whole bytes
};

enum class CifarLabels : std::uint8_t { kFine, kCoarse };

struct CifarSource {
  std::vector<std::filesystem::path> files;  // one split, in this order
  std::optional<CifarLabels> labels = {};    // of CIFAR-100; nothing: fine, or CIFAR-10
};

struct TextSource {
  std::filesystem::path path;
  std::int64_t block = 0;                // T, tokens a sample
  std::filesystem::path tokenizer = {};  // a sentencepiece model; empty: bytes are tokens
  TextLabels labels = TextLabels::kNext;
};

struct SplitSource {
  std::variant<IdxSource, ArraySource, ImageFolderSource, CifarSource, TextSource> source;
  std::optional<std::int64_t> limit;  // the first N samples; of image folders spread by class
};

/// Decodes one split whole. IDX images [N, H, W] become samples [1, H, W]; uint8 arrays [N, C,
/// H, W] are images, other whole numbers become int64, all floats float32; image folders and
/// CIFAR become images [3, H, W]. Texts are cut into blocks, and what is left of them dropped.
///
/// Errors: H0401 to H0405, H0409, H0410, H0412, H0420 to H0422, H0424, H0425 naming file, and
/// index and value where there is one: missing, wrong magic, truncated, unequal counts, empty
[[nodiscard]] Result<Dataset> load_split(const SplitSource& source);

/// BERT's hiding of tokens (hydro/data/masking.h).
struct Masking {
  double share = 0;             // of each sample's tokens that are chosen
  std::int64_t token = 0;       // the mask
  std::int64_t vocabulary = 0;  // other tokens are drawn from [0, vocabulary)
};

/// What the model expects; a check before any training.
struct Expectation {
  struct Input {
    std::string name;
    ElementType type = ElementType::kFloat32;
    std::vector<std::int64_t> shape;        // of one sample
    std::optional<std::int64_t> rows = {};  // of the embedding table: values in [0, rows)
  };

  std::vector<Input> inputs;
  std::optional<std::int64_t> classes;  // labels must lie in [0, classes)
  std::vector<std::int64_t> label_shape =
      {};  // of one sample's labels: [] one class, [T] one token each
  std::optional<std::vector<std::int64_t>> target_shape =
      {};  // the target must hold floats of this shape a sample
  std::int64_t batch_size =
      1;  // the largest in the search space; training needs one full batch
  std::optional<Masking> masking = {};  // of the text
};

enum class Use : std::uint8_t { kTraining, kEvaluation };

/// `what` is the split's name in messages ("train").
///
/// Errors: H0406 to H0413: label and token range (file, index, value), shape after the
/// transforms, fewer samples than a
///         batch, element type, a transform that does not fit, input names, values that are not
///         finite
[[nodiscard]] Result<void> check_dataset(const Dataset& dataset,
                                         std::span<const Transform> transforms,
                                         const Expectation& expectation,
                                         Use use,
                                         const std::string& what);

/// A class must have the same index in both.
///
/// Errors: H0423 naming the classes that only one of them has
[[nodiscard]] Result<void> check_same_classes(const Dataset& train,
                                              const Dataset& other,
                                              const std::string& what);

/// Draws `share` of `whole` (by `seed`, without replacement) into a second data set: {rest,
/// drawn}. Both keep the file's order; each gets at least one sample. Of a text the share is
/// its tail.
///
/// Requires: 0 < share < 1, at least two samples (BugError)
[[nodiscard]] std::pair<Dataset, Dataset> split_off(const Dataset& whole,
                                                    double share,
                                                    std::uint64_t seed);

/// The order of epoch `epoch`: a permutation of [0, size) keyed by (seed, epoch).
[[nodiscard]] std::vector<std::int64_t> epoch_order(std::uint64_t seed,
                                                    std::int64_t epoch,
                                                    std::int64_t size);

/// A batch in host memory. Images (3-d samples) lie channels-last: [B, H, W, C] in memory.
struct BatchBuffer {
  struct Slot {
    ElementType type = ElementType::kFloat32;  // kFloat32 or kInt64 after the transforms
    std::vector<std::int64_t> shape;           // [B, sample...], logical (images: [B, C, H, W])
    bool channels_last = false;
    std::vector<float> floats;
    std::vector<std::int64_t> integers;
  };

  std::vector<Slot> inputs;           // in the data set's order
  std::vector<std::int64_t> classes;  // [B, the target's shape...], as values
  std::vector<float> values;
};

/// A data set seen through its transforms.
///
/// Requires: check_dataset() accepted data set and transforms (BugError)
class Loader {
 public:
  Loader(std::shared_ptr<const Dataset> dataset,
         const std::vector<Transform>& transforms,
         Use use,
         std::uint64_t seed,
         std::optional<Masking> masking = {});
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  ~Loader();

  [[nodiscard]] const Dataset& dataset() const { return *dataset_; }

  /// Gathers and transforms samples `indices`; augmentation is keyed by (seed, epoch, sample),
  /// so that it does not depend on batch size or order. Tokens of a text are hidden alike, in
  /// evaluation the same in all epochs. Thread-safe.
  void fill(std::span<const std::int64_t> indices,
            std::int64_t epoch,
            BatchBuffer& batch) const;

 private:
  struct Plan;
  std::shared_ptr<const Dataset> dataset_;
  Use use_;
  std::uint64_t seed_;
  std::optional<Masking> masking_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace hydro::data
