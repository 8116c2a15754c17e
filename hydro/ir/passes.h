// hydro/ir/passes.h — the passes that turn an exported graph into one that shrink, fuse and ops
// understand, in the one order in which they run. Each pass is one file named for it and
// rewrites the graph in place.
//
// What holds afterwards, for whoever reads such a graph:
// - Every ATen node has all arguments of its schema, in schema order, under their schema names;
// devices, layouts,
//   memory formats, generators and the flags pin_memory, non_blocking and cudnn_enabled are
//   gone.
// - Wrapped scalars: a number that was given where the schema wants a Tensor (`add.Tensor(x,
// 1)`) stays a number
//   argument (integer, float or bool). An op with a Tensor argument such as `other` or `value`
//   must accept both. It takes part in type promotion as PyTorch's wrapped number does: it
//   never changes a tensor's category's dtype.
// - Sizes: one integer for int[2] is written out, [1, 1]; integers for floats are floats.
// - Nothing mutates. In-place ops are their out-of-place forms (zero_ is aten.fill.Scalar with
// 0; copy_ is its
//   source when types are equal, else aten.copy.default).
// - Batch norm in training with running statistics is
//     %y: T, %next_mean: M, %next_var: M = hydro.batch_norm(input=, weight=, bias=,
//     running_mean=, running_var=,
//                                                           training=True, momentum=, eps=)
//   and next_mean, next_var leave as outputs of kind buffer (the second use of a shared module
//   reads the first one's next values). In every other case (training=False, or no running
//   statistics) it is the one-output
//     aten.batch_norm.default(input=, weight=, bias=, running_mean=, running_var=, training=,
//     momentum=, eps=).
// - num_batches_tracked is aten.add.Tensor(self=, other=1, alpha=1) with an output of kind
// buffer.
// - A node whose result is the same for every trial and step of one input shape is marked
// constant.
// - One output of kind user. Inputs are all user inputs, and the parameters, buffers and
// constants in use.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/model.h"
#include "hydro/ir/schema.h"

namespace hydro::ir {

/// What passes know beside the graph.
struct PassContext {
  Schemas schemas;
  std::map<std::string, std::string, std::less<>>
      ties;            // state-dict name -> the name that holds its storage
  std::string output;  // user output to keep; empty: all
};

struct Pass {
  std::string_view name;
  std::string_view purpose;
  Result<void> (*run)(Graph& graph, const PassContext& context);
};

/// All passes in their order.
[[nodiscard]] std::span<const Pass> pass_order();
/// Null when there is no such pass.
[[nodiscard]] const Pass* find_pass(std::string_view name);
/// Runs all in order, verifying after each. Errors: those of the passes, H0258.
[[nodiscard]] Result<void> run_passes(Graph& graph, const PassContext& context);

/// Missing arguments from the schema. Errors: H0250 no schema, or an argument that it does not
/// have; H0252 an op that writes into an argument and is no in-place op.
[[nodiscard]] Result<void> fill_defaults(Graph& graph, const PassContext& context);
/// Uses of a tied entry read the entry that holds its storage.
[[nodiscard]] Result<void> merge_ties(Graph& graph, const PassContext& context);
/// The two forms of batch norm above. Errors: H0252 instance norm with running statistics.
[[nodiscard]] Result<void> batch_norm_state(Graph& graph, const PassContext& context);
/// The outputs of lstm, gru and rnn behind the first have the types of `hx`.
[[nodiscard]] Result<void> recurrent_types(Graph& graph, const PassContext& context);
/// In-place ops become out-of-place ops (see functionalize.cpp). Errors: H0248, H0249, H0252.
[[nodiscard]] Result<void> functionalize(Graph& graph, const PassContext& context);
/// Drops alias, lift_fresh_copy, slices of everything, and detach of what no gradient reaches.
[[nodiscard]] Result<void> drop_identities(Graph& graph, const PassContext& context);
/// Keeps the context's output, and buffer updates of modules that it uses. Errors: H0247.
[[nodiscard]] Result<void> select_output(Graph& graph, const PassContext& context);
/// Drops nodes (checks among them) and state inputs that no output needs.
[[nodiscard]] Result<void> dead_code(Graph& graph, const PassContext& context);

/// After both graphs' passes: marks the nodes that read no parameter, no data of the user, no
/// buffer that changes, and draw nothing (masks, position ids, rotary tables); sizes they may
/// read. Such a node is computed once per input shape and shared by all trials.
void mark_constants(Model& model);

}  // namespace hydro::ir
