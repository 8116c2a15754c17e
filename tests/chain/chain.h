// tests/chain/chain.h — archives made by Python, brought to running graphs.
#pragma once

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/base/safetensors.h"
#include "hydro/ops/executor.h"
#include "hydro/ops/torch.h"
#include "hydro/pt2/archive.h"
#include "hydro/shrink/surrogate.h"

namespace hydro::chain {

using NamedTensors = std::map<std::string, at::Tensor>;

inline std::filesystem::path archive_path(const std::string& file) {
  return std::filesystem::path(HYDRO_ARCHIVES) / file;
}

/// Those of networks.py.
inline std::vector<std::string> networks() {
  return {"gpt2",
          "gpt2_eager",
          "gpt_neo",
          "bert_words",
          "bert_classes",
          "swin",
          "vit",
          "mobilenet_v3",
          "lstm",
          "lstm_one_layer",
          "lstm_tied",
          "encoder"};
}

/// Fails the test when the archive cannot be read.
inline pt2::Archive archive_of(const std::string& name) {
  Result<pt2::Archive> archive = pt2::read_archive(archive_path(name + ".pt2"), {});
  if (!archive.has_value()) {
    ADD_FAILURE() << name << ": " << archive.error().what << " " << archive.error().where;
    return {};
  }
  return *std::move(archive);
}

inline shrink::Surrogate shrunk(const ir::Model& model, const shrink::Options& options) {
  Result<shrink::Surrogate> surrogate = shrink::shrink(model, options);
  if (!surrogate.has_value()) {
    ADD_FAILURE() << surrogate.error().what << " " << surrogate.error().where;
    return {};
  }
  return *std::move(surrogate);
}

inline at::Tensor tensor_of(const SafeTensor& stored) {
  const std::map<std::string, at::ScalarType> types = {
      {"F32", at::kFloat}, {"F64", at::kDouble}, {"I64", at::kLong}};
  at::Tensor out = at::empty(stored.shape, at::TensorOptions(types.at(stored.dtype)));
  std::memcpy(out.data_ptr(), stored.bytes.data(), stored.bytes.size());
  return out;
}

/// All tensors of a file of the chain's archives; keys as stored ("state/conv1.weight", "x",
/// "train32").
inline NamedTensors tensors_of(const std::string& name) {
  Result<SafeTensorFile> file = read_safetensors(archive_path(name + ".safetensors"));
  NamedTensors out;
  if (!file.has_value()) {
    ADD_FAILURE() << file.error().what;
    return out;
  }
  for (const auto& [key, stored] : file->tensors) {
    out.emplace(key, tensor_of(stored));
  }
  return out;
}

inline at::Tensor tensor_of(const ir::TensorData& data) {
  const std::map<ir::DType, at::ScalarType> types = {{ir::DType::kFloat32, at::kFloat},
                                                     {ir::DType::kInt64, at::kLong},
                                                     {ir::DType::kBool, at::kBool}};
  at::Tensor out = at::empty(data.shape, at::TensorOptions(types.at(data.dtype)));
  std::memcpy(out.data_ptr(), data.bytes.data(), data.bytes.size());
  return out;
}

/// What an input of a graph is fed: "x", state, or what the archive itself holds (masks).
inline at::Tensor feed_of(const ir::Model& model,
                          const ir::Input& input,
                          const NamedTensors& tensors) {
  if (input.kind == ir::InputKind::kUser) {
    return tensors.at("x");
  }
  const auto state = tensors.find("state/" + input.name);
  return state != tensors.end() ? state->second : tensor_of(model.tensors.at(input.name));
}

/// The selected output of `graph` with state and x from `tensors`, floating tensors as `dtype`.
inline at::Tensor run_graph(const ir::Model& model,
                            const ir::Graph& graph,
                            const NamedTensors& tensors,
                            at::ScalarType dtype) {
  const c10::NoGradGuard no_gradients;
  Result<ops::Program> program = ops::compile(graph, 1);
  if (!program.has_value()) {
    ADD_FAILURE() << program.error().what;
    return {};
  }
  std::vector<at::Tensor> feeds;
  for (const ir::Input& input : graph.inputs) {
    const at::Tensor found = feed_of(model, input, tensors);
    feeds.push_back(found.is_floating_point() ? found.to(dtype) : found);
  }
  const std::vector<at::Tensor> results = ops::run(*program, feeds, {.keys = {0}});
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (graph.outputs[i].kind == ir::OutputKind::kUser) {
      return results[i];
    }
  }
  return {};
}

}  // namespace hydro::chain
