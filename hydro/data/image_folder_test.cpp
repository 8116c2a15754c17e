#include "hydro/data/image_folder.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "hydro/base/bytes.h"
#include "hydro/base/result.h"
#include "hydro/base/safetensors.h"
#include "hydro/base/testing.h"
#include "hydro/data/dataset.h"
#include "hydro/data/testing.h"

namespace hydro::data {
namespace {

namespace fs = std::filesystem;
using hydro::testing::numbers_of;
using hydro::testing::TemporaryFolder;
using hydro::testing::to_bytes;
using hydro::testing::words;
using testing::png_bytes;
using testing::write_bytes;

using Integers = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

/// Two classes: three cats of values 1, 2, 3 and one dog of value 9, all of 2 x 3 pixels.
class ImageFolders : public ::testing::Test {
 protected:
  void SetUp() override {
    write("dog/a.PNG", png_bytes(2, 3, 9));
    write("cat/b.png", png_bytes(2, 3, 2));
    write("cat/a.jpeg", png_bytes(2, 3, 1));
    write("cat/deep/er/0.jpg", png_bytes(2, 3, 3));
  }

  void write(const std::string& name, const Bytes& content) const {
    fs::create_directories((root() / name).parent_path());
    write_bytes(root() / name, content);
  }

  [[nodiscard]] fs::path root() const { return folder_ / "train"; }

  [[nodiscard]] Result<Dataset> load(std::optional<std::int64_t> limit = {},
                                     std::optional<Resize> resize = {}) const {
    return load_split(
        {.source = ImageFolderSource{.path = root(), .resize = resize}, .limit = limit});
  }

  /// The names below the folder, in order.
  [[nodiscard]] Names listed(std::optional<std::int64_t> limit = {}) const {
    Names names;
    const ImageFolder folder = list_image_folder(root(), limit).value();
    for (const ImageFile& file : folder.files) {
      names.push_back(file.path.lexically_relative(root()).string());
    }
    return names;
  }

  void expect_refusal(const std::string& id,
                      const std::string& name,
                      const std::string& part) const {
    const std::string text = words(load());
    EXPECT_EQ(text.substr(0, 5), id) << text;
    const fs::path place = name.empty() ? root() : root() / name;
    EXPECT_NE(text.find(place.string()), std::string::npos) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  TemporaryFolder folder_;
};

TEST_F(ImageFolders, BecomeColourImagesWithTheirClassesIndices) {
  const auto dataset = load();
  ASSERT_EQ(words(dataset), "ok");
  EXPECT_EQ(dataset->size, 4);
  EXPECT_EQ(dataset->inputs.at(0).shape, (Integers{3, 2, 3}));
  EXPECT_TRUE(dataset->inputs.at(0).is_image);
  EXPECT_EQ(dataset->target.classes, (Integers{0, 0, 0, 1}));
  EXPECT_EQ(dataset->target.class_names, (Names{"cat", "dog"}));
  const Bytes& bytes = dataset->inputs.at(0).bytes;
  ASSERT_EQ(bytes.size(), 4U * 18U);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(bytes[i],
              (std::vector{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{9}})[i / 18]);
  }
}

TEST_F(ImageFolders, LayColoursInPlanes) {
  const SafeTensorFile golden =
      read_safetensors(fs::path(HYDRO_SOURCE_DIR) / "tests/data/images/golden.safetensors")
          .value();
  fs::remove_all(root());
  const auto& file = golden.tensors.at("file_png_rgb").bytes;
  write("cat/a.png", {file.begin(), file.end()});
  const SafeTensor& rgb = golden.tensors.at("rgb_png_rgb");
  const auto dataset = load();
  ASSERT_EQ(words(dataset), "ok");
  EXPECT_EQ(dataset->inputs.at(0).shape, (Integers{3, rgb.shape[0], rgb.shape[1]}));
  const auto plane = static_cast<std::size_t>(rgb.shape[0] * rgb.shape[1]);
  for (std::size_t i = 0; i < 3 * plane; ++i) {
    ASSERT_EQ(dataset->inputs.at(0).bytes[i % 3 * plane + i / 3], rgb.bytes[i]) << i;
  }
}

TEST_F(ImageFolders, ComeInTheOrderOfTorchvision) {
  write("cat/deep.png", png_bytes(2, 3, 4));
  write("cat/deep-1/z.png", png_bytes(2, 3, 4));
  write("cat/A.png", png_bytes(2, 3, 4));
  // Folders are walked by their paths, each one's own files before those of the next.
  EXPECT_EQ(listed(),
            (Names{"cat/A.png",
                   "cat/a.jpeg",
                   "cat/b.png",
                   "cat/deep.png",
                   "cat/deep-1/z.png",
                   "cat/deep/er/0.jpg",
                   "dog/a.PNG"}));
}

TEST_F(ImageFolders, OtherFilesAreIgnored) {
  write("labels.csv", to_bytes("a"));
  write("cat/notes.txt", to_bytes("a"));
  fs::create_symlink("nowhere", root() / "cat" / "link.txt");
  EXPECT_EQ(load()->size, 4);
}

TEST_F(ImageFolders, LimitTakesOneOfEachClassInTurn) {
  EXPECT_EQ(listed(1), (Names{"cat/a.jpeg"}));
  EXPECT_EQ(listed(2), (Names{"cat/a.jpeg", "dog/a.PNG"}));
  EXPECT_EQ(listed(3), (Names{"cat/a.jpeg", "cat/b.png", "dog/a.PNG"}));
  EXPECT_EQ(listed(99).size(), 4U);
  write("dog/b.png", png_bytes(2, 3, 9));
  EXPECT_EQ(listed(4), (Names{"cat/a.jpeg", "cat/b.png", "dog/a.PNG", "dog/b.png"}));
  EXPECT_EQ(load(4)->target.classes, (Integers{0, 0, 1, 1}));
  EXPECT_EQ(load(1)->target.class_names.size(), 2U);
  EXPECT_EQ(words(load(0)).substr(0, 5), "H0405");
}

TEST_F(ImageFolders, SizesThatDifferNeedAResize) {
  write("dog/b.png", png_bytes(5, 4, 9));
  expect_refusal("H0420", "dog/b.png", "5 x 4");
  expect_refusal("H0420", "cat/a.jpeg", "2 x 3");
  expect_refusal("H0420", "dog/b.png", "resize");
  const auto dataset = load({}, Resize{.height = 4, .width = 5});
  ASSERT_EQ(words(dataset), "ok");
  EXPECT_EQ(dataset->inputs.at(0).shape, (Integers{3, 4, 5}));
  EXPECT_EQ(dataset->inputs.at(0).bytes.front(), std::byte{1});
  EXPECT_EQ(dataset->inputs.at(0).bytes.back(), std::byte{9});
}

TEST_F(ImageFolders, ResizeAsTorchvisionResizesBytes) {
  const SafeTensorFile golden =
      read_safetensors(fs::path(HYDRO_SOURCE_DIR) / "tests/data/images/golden.safetensors")
          .value();
  const auto& file = golden.tensors.at("file_png_rgb").bytes;
  fs::remove_all(root());
  write("cat/a.png", {file.begin(), file.end()});
  for (const char* name : {"resized_smaller", "resized_larger"}) {
    const SafeTensor& expected = golden.tensors.at(name);
    const auto dataset =
        load({}, Resize{.height = expected.shape[0], .width = expected.shape[1]});
    ASSERT_EQ(words(dataset), "ok");
    const auto found = numbers_of<std::uint8_t>(dataset->inputs.at(0).bytes);
    const auto wanted = numbers_of<std::uint8_t>(expected.bytes);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {  // [H, W, 3] there, [3, H, W] here
      ASSERT_LE(std::abs(found[i % 3 * (wanted.size() / 3) + i / 3] - wanted[i]), 1) << i;
    }
  }
}

TEST_F(ImageFolders, AResizeThatDoesNotFitIsRefused) {
  EXPECT_EQ(words(load({}, Resize{.height = 100'000, .width = 1})).substr(0, 5), "H0411");
}

TEST_F(ImageFolders, DamagedImagesAreNamedTheFirstOfThem) {
  for (const char* name : {"dog/a.PNG", "cat/b.png"}) {
    Bytes cut = png_bytes(2, 3, 9);
    cut.pop_back();
    write(name, cut);
    expect_refusal("H0403", name, "ends inside");
  }
}

TEST_F(ImageFolders, FilesThatAreNoImagesAreNamed) {
  write("cat/b.png", to_bytes("not an image"));
  expect_refusal("H0402", "cat/b.png", "`not an image`");
}

TEST_F(ImageFolders, ImagesOfFormatsThatTorchvisionReadsBesidesAreRefused) {
  write("cat/c.WebP", to_bytes("RIFF"));
  expect_refusal("H0422", "cat/c.WebP", "convert");
}

TEST_F(ImageFolders, EmptyClassesAreNamed) {
  fs::create_directory(root() / "ant");
  expect_refusal("H0421", "ant", "it is empty");
  write("ant/a.txt", to_bytes("a"));
  write("ant/deep/b.txt", to_bytes("a"));
  expect_refusal("H0421", "ant", "2 files were ignored");
}

TEST_F(ImageFolders, FoldersWithoutClassesAreNamed) {
  fs::remove_all(root());
  fs::create_directory(root());
  write("a.png", png_bytes(2, 3, 1));
  write("a.txt", to_bytes("a"));
  expect_refusal("H0421", "", "1 images and 1 other files");
}

TEST_F(ImageFolders, FoldersThatAreNoneAreNamed) {
  fs::remove_all(root());
  expect_refusal("H0401", "", "No such file");
  write_bytes(root(), to_bytes("a"));
  expect_refusal("H0401", "", "it is a file");
}

TEST_F(ImageFolders, LinksInsideAreFollowed) {
  fs::create_symlink("../cat/b.png", root() / "dog" / "b.png");
  EXPECT_EQ(load()->size, 5);
  fs::create_symlink(root(), folder_ / "link");
  EXPECT_EQ(list_image_folder(folder_ / "link", {}).value().files.size(), 5U);
}

TEST_F(ImageFolders, LinksThatLeadOutAreRefused) {
  write_bytes(folder_ / "out.png", png_bytes(2, 3, 1));
  fs::create_symlink("../../out.png", root() / "dog" / "b.png");
  expect_refusal("H0421", "dog/b.png", (folder_ / "out.png").string());
  fs::remove(root() / "dog" / "b.png");
  fs::create_symlink("nowhere.png", root() / "dog" / "b.png");
  expect_refusal("H0401", "dog/b.png", "leads nowhere");
}

TEST_F(ImageFolders, LinksToFoldersAreRefused) {
  fs::create_directory_symlink(root() / "cat", root() / "dog" / "more");
  expect_refusal("H0421", "dog/more", "cp -rL");
  fs::remove(root() / "dog" / "more");
  fs::create_directory_symlink("cat", root() / "kitten");
  expect_refusal("H0421", "kitten", "cp -rL");
}

TEST_F(ImageFolders, PipesAreNotWaitedFor) {
  ASSERT_EQ(::mkfifo((root() / "dog" / "b.png").c_str(), 0600), 0);
  expect_refusal("H0401", "dog/b.png", "no regular file");
}

TEST_F(ImageFolders, SplitsNeedTheSameClasses) {
  const Dataset train = load().value();
  EXPECT_EQ(words(check_same_classes(train, train, "val")), "ok");
  EXPECT_EQ(words(check_same_classes(train, testing::counting_images(2, 1, 2, 2), "val")),
            "ok");
  fs::rename(root() / "dog", root() / "cow");
  const std::string text = words(check_same_classes(train, load().value(), "val"));
  EXPECT_EQ(text.substr(0, 5), "H0423") << text;
  EXPECT_NE(text.find("only in train: `dog`; only in val: `cow`"), std::string::npos) << text;
  EXPECT_NE(text.find(root().string()), std::string::npos) << text;
}

TEST_F(ImageFolders, ADrawnPartKeepsTheNamesOfItsClasses) {
  const auto [rest, drawn] = split_off(load().value(), 0.5, 1);
  EXPECT_EQ(rest.target.class_names, (Names{"cat", "dog"}));
  EXPECT_EQ(drawn.target.class_names, (Names{"cat", "dog"}));
}

}  // namespace
}  // namespace hydro::data
