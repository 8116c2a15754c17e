// Every archive that must not be read, by the id of its refusal.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hydro/base/bytes.h"
#include "hydro/base/json.h"
#include "hydro/base/result.h"
#include "hydro/pt2/archive.h"
#include "hydro/pt2/testing.h"

namespace hydro::pt2 {
namespace {

using EditJson = std::function<void(Json&)>;

// A whole archive with one JSON file changed.
Bytes edited(std::string_view ending, const EditJson& edit, std::string_view name = "cnn.pt2") {
  TestFiles files = files_of(fixture(name));
  edit_json(files, ending, edit);
  return zip_of(files);
}

Bytes with_entry(const std::string& name, const std::string& data) {
  TestFiles files = files_of(fixture("mlp.pt2"));
  const std::string root = files.begin()->first.substr(0, files.begin()->first.find('/') + 1);
  files[root + name] = data;
  return zip_of(files);
}

Bytes without_entry(std::string_view ending) {
  TestFiles files = files_of(fixture("mlp.pt2"));
  std::erase_if(files, [&](const auto& file) { return file.first.ends_with(ending); });
  return zip_of(files);
}

Error error_of(const Bytes& bytes) {
  const Result<Archive> archive = read_archive_bytes(bytes, {});
  EXPECT_FALSE(archive);
  return archive ? Error() : archive.error();
}

TEST(Refuses, PicklesBothBareAndZipped) {
  EXPECT_EQ(refusal_of(bytes_of("\x80\x02}q\x01.")), "H0231");
  EXPECT_EQ(refusal_of(zip_of({{"model/data.pkl", "\x80\x02"}, {"model/version", "3"}})),
            "H0231");
}

TEST(Refuses, TorchScript) {
  EXPECT_EQ(refusal_of(zip_of(
                {{"m/constants.pkl", ""}, {"m/data.pkl", ""}, {"m/code/__torch__.py", ""}})),
            "H0232");
}

TEST(Refuses, WhatIsNoZip) {
  EXPECT_EQ(refusal_of({}), "H0230");
  EXPECT_EQ(refusal_of(bytes_of("hello, world; this is no archive at all")), "H0230");
}

TEST(Refuses, ArchivesOfOthers) {
  EXPECT_EQ(refusal_of(without_entry("hydro_manifest.json")), "H0239");
  EXPECT_EQ(refusal_of(without_entry("models/eval.json")), "H0239");
  EXPECT_EQ(refusal_of(zip_of({{"a/x", "1"}})), "H0239");
  EXPECT_EQ(refusal_of(without_entry("train_constants_config.json")), "H0239");
}

TEST(Refuses, CompiledCodeAndScriptObjects) {
  EXPECT_EQ(refusal_of(with_entry("data/aotinductor/train/model.so", "ELF")), "H0238");
  EXPECT_EQ(refusal_of(with_entry("data/weights/evil.so", "ELF")), "H0238");
  EXPECT_EQ(refusal_of(with_entry("data/constants/custom_obj_0", "x")), "H0237");
  EXPECT_EQ(refusal_of(edited("train.json",
                              [](Json& json) {
                                json["graph_module"]["signature"]["input_specs"].push_back(
                                    {{"custom_obj",
                                      {{"arg", {{"name", "o"}}}, {"custom_obj_name", "o"}}}});
                              })),
            "H0237");
}

TEST(Refuses, UnsafeNames) {
  EXPECT_EQ(refusal_of(with_entry("../../etc/passwd", "x")), "H0234");
}

TEST(Refuses, PickledTensors) {
  EXPECT_EQ(refusal_of(edited(
                "train_weights_config.json",
                [](Json& json) { json["config"]["bn1.running_mean"]["use_pickle"] = true; })),
            "H0236");
}

TEST(Refuses, NewerManifestsAndOtherSchemas) {
  EXPECT_EQ(refusal_of(edited("hydro_manifest.json", [](Json& json) { json["format"] = 2; })),
            "H0240");
  EXPECT_EQ(
      refusal_of(edited("train.json", [](Json& json) { json["schema_version"]["major"] = 9; })),
      "H0241");
}

TEST(Refuses, BrokenJson) {
  TestFiles files = files_of(fixture("mlp.pt2"));
  for (auto& [name, data] : files) {
    data = name.ends_with("models/train.json") ? data.substr(0, data.size() / 2) : data;
  }
  EXPECT_EQ(refusal_of(zip_of(files)), "H0242");
  EXPECT_EQ(
      refusal_of(edited("train.json", [](Json& json) { json["graph_module"].erase("graph"); })),
      "H0243");
  EXPECT_EQ(refusal_of(edited("train.json", [](Json& json) { json = Json::array(); })),
            "H0243");
}

Json& first_node(Json& json) {
  return json["graph_module"]["graph"]["nodes"][0];
}

TEST(Refuses, UnknownArgumentKindsWithTheUsersLine) {
  const Error error = error_of(edited("train.json", [](Json& json) {
    first_node(json)["inputs"][0]["arg"] = {{"as_complex", {{"real", 1}, {"imag", 2}}}};
  }));
  EXPECT_EQ(error.id, "H0244");
  EXPECT_THAT(error.what, testing::HasSubstr("`as_complex`"));
  EXPECT_THAT(error.where, testing::HasSubstr("fixture_models.py:"));
  EXPECT_THAT(error.where, testing::HasSubstr("`conv1`"));
}

TEST(Refuses, UnknownTargetsAndOutputs) {
  EXPECT_EQ(refusal_of(edited("train.json",
                              [](Json& json) { first_node(json)["target"] = "os.system"; })),
            "H0244");
  EXPECT_EQ(
      refusal_of(edited("train.json",
                        [](Json& json) { first_node(json)["target"] = "torch.ops.x\n"; })),
      "H0244");
  EXPECT_EQ(
      refusal_of(edited("train.json",
                        [](Json& json) { first_node(json)["target"] = "torch.ops.hydro.x"; })),
      "H0244");
  EXPECT_EQ(refusal_of(edited("train.json",
                              [](Json& json) {
                                first_node(json)["outputs"][0] = {{"as_graph", Json::object()}};
                              })),
            "H0244");
}

TEST(Refuses, GraphsInGraphs) {
  const Error error = error_of(edited("train.json", [](Json& json) {
    first_node(json)["target"] = "torch.ops.higher_order.wrap_with_set_grad_enabled";
  }));
  EXPECT_EQ(error.id, "H0245");
  EXPECT_THAT(error.where, testing::HasSubstr("fixture_models.py:"));
}

TEST(Refuses, ComplexTensors) {
  EXPECT_EQ(refusal_of(edited("train.json",
                              [](Json& json) {
                                json["graph_module"]["graph"]["tensor_values"]["x"]["dtype"] =
                                    10;
                              })),
            "H0246");
}

TEST(Refuses, OutputsThatAreNotThere) {
  const Result<Archive> archive = read_archive(fixture("mlp.pt2"), {.output = "outptu"});
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().id, "H0247");
  EXPECT_THAT(archive.error().remedy, testing::HasSubstr("`output`"));
}

TEST(Refuses, ToChooseAmongSeveralOutputs) {
  const auto two = [](Json& json) {
    json["outputs"] =
        Json::array({{{"name", "first"}, {"index", 0}}, {{"name", "second"}, {"index", 1}}});
  };
  EXPECT_EQ(refusal_of(edited("hydro_manifest.json", two)), "H0247");
  EXPECT_EQ(refusal_of(edited("hydro_manifest.json", two), {.output = "first"}), "");
}

TEST(Refuses, OpsWithoutASchema) {
  EXPECT_EQ(
      refusal_of(edited("hydro_manifest.json",
                        [](Json& json) { json["schemas"].erase("aten.conv2d.default"); })),
      "H0250");
}

TEST(Refuses, DataThatDoNotFit) {
  const auto meta = [](Json& json) -> Json& {
    return json["config"]["bn1.running_mean"]["tensor_meta"];
  };
  const auto refusal = [&](const EditJson& edit) {
    return refusal_of(
        edited("train_weights_config.json", [&](Json& json) { edit(meta(json)); }));
  };
  EXPECT_EQ(refusal([](Json& json) { json["storage_offset"] = {{"as_int", 1}}; }), "H0251");
  EXPECT_EQ(refusal([](Json& json) { json["strides"][0] = {{"as_int", 2}}; }), "H0251");
  EXPECT_EQ(
      refusal([](Json& json) { json["strides"][0] = {{"as_int", 9'000'000'000'000'000'000}}; }),
      "H0251");
  EXPECT_EQ(refusal([](Json& json) { json["storage_offset"] = {{"as_int", -1}}; }), "H0243");
  EXPECT_EQ(refusal([](Json& json) { json["sizes"][0] = {{"as_int", 15}}; }), "H0253");
}

TEST(Refuses, StateThatDiffersFromTheManifest) {
  const auto refusal = [](const EditJson& edit) {
    return refusal_of(edited("hydro_manifest.json", edit));
  };
  EXPECT_EQ(refusal([](Json& json) { json["state"][0]["shape"][0] = 17; }), "H0253");
  EXPECT_EQ(refusal([](Json& json) { json["state"].erase(0); }), "H0253");
  EXPECT_EQ(refusal([](Json& json) { json["state"].push_back(json["state"][0]); }), "H0253");
  EXPECT_EQ(refusal([](Json& json) { json["state"][0]["tie"] = "fc.weight"; }), "H0253");
  EXPECT_EQ(refusal([](Json& json) { json["inputs"][0]["shape"][2] = 27; }), "H0253");
  EXPECT_EQ(refusal([](Json& json) { json["inputs"] = Json::array(); }), "H0253");
  EXPECT_EQ(refusal([](Json& json) { json["state"][0]["dtype"] = "complex64"; }), "H0246");
}

TEST(Refuses, LawsThatDoNotCoverTheirParameter) {
  const auto refusal = [](const EditJson& edit) {
    return refusal_of(edited("hydro_manifest.json", edit));
  };
  EXPECT_EQ(refusal([](Json& json) { json["initialization"].erase("conv1.weight"); }), "H0253");
  EXPECT_EQ(
      refusal([](Json& json) { json["initialization"]["conv1.weight"][0]["rows"] = {0, 15}; }),
      "H0253");
  EXPECT_EQ(
      refusal([](Json& json) { json["initialization"]["conv1.weight"][0]["law"] = "cauchy"; }),
      "H0243");
  EXPECT_EQ(
      refusal([](Json& json) { json["initialization"]["conv1.weight"][0]["low"] = "NaN"; }),
      "H0243");
}

TEST(Reads, TiedParametersAsTheirHolder) {
  const Result<Archive> archive =
      read_archive_bytes(edited("hydro_manifest.json",
                                [](Json& json) {
                                  for (Json& entry : json["state"]) {
                                    if (entry["name"] == "bn1.bias") {
                                      entry["tie"] = "bn1.weight";
                                    }
                                  }
                                }),
                         {});
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->model.train.find_input("bn1.bias"), nullptr);
  EXPECT_NE(archive->model.train.find_input("bn1.weight"), nullptr);
  EXPECT_TRUE(archive->model.find_state("bn1.bias")->laws.empty());
}

TEST(Reads, StridesAndOffsetsOfBuffers) {
  const auto reversed = [](Json& json) {
    json["config"]["bn1.running_var"]["tensor_meta"]["strides"][0] = {{"as_int", 0}};
  };
  const Result<Archive> archive =
      read_archive_bytes(edited("train_weights_config.json", reversed), {});
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->model.tensors.at("bn1.running_var").bytes.size(), 64U);
}

}  // namespace
}  // namespace hydro::pt2
