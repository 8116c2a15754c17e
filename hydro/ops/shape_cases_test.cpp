// Parity cases of shapes, parts and reductions along dimensions.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hydro/ops/testing.h"
#include "hydro/ops/torch.h"

namespace hydro::ops {

namespace {

void add_shapes(std::vector<Case>& cases) {
  const std::vector<Operand> x = x_of({4, 6, 5});
  const auto shaped =
      [&](std::string_view op, int rank, std::string_view arguments, Plain plain) {
        cases.push_back(simple(op, x, rank, arguments, plain));
      };
  shaped("aten.view.default", 2, "self=%x, size=[4, -1]", [](const Tensors& in) {
    return in[0].view({4, -1});
  });
  shaped("aten.reshape.default", 2, "self=%x, shape=[-1, 10]", [](const Tensors& in) {
    return in[0].reshape({-1, 10});
  });
  shaped(
      "aten.flatten.using_ints", 2, "self=%x, start_dim=1, end_dim=-1", [](const Tensors& in) {
        return in[0].flatten(1);
      });
  shaped(
      "aten.flatten.using_ints", 1, "self=%x, start_dim=0, end_dim=-1", [](const Tensors& in) {
        return in[0].flatten();
      });
  shaped("aten.permute.default", 3, "self=%x, dims=[2, 0, -2]", [](const Tensors& in) {
    return in[0].permute({2, 0, 1});
  });
  shaped("aten.transpose.int", 3, "self=%x, dim0=0, dim1=-1", [](const Tensors& in) {
    return in[0].transpose(0, 2);
  });
  shaped("aten.unsqueeze.default", 4, "self=%x, dim=0", [](const Tensors& in) {
    return in[0].unsqueeze(0);
  });
  shaped("aten.unsqueeze.default", 4, "self=%x, dim=-1", [](const Tensors& in) {
    return in[0].unsqueeze(-1);
  });
  shaped("aten.mean.default", 0, "self=%x, dtype=None", [](const Tensors& in) {
    return in[0].mean();
  });
  shaped("aten.mean.dim",
         2,
         "self=%x, dim=[-1], keepdim=False, dtype=None",
         [](const Tensors& in) { return in[0].mean(2); });
  shaped("aten.mean.dim",
         3,
         "self=%x, dim=[0, 1], keepdim=True, dtype=None",
         [](const Tensors& in) { return in[0].mean(Ints{0, 1}, true); });
  shaped("aten.slice.Tensor",
         3,
         "self=%x, dim=1, start=1, end=9223372036854775807, step=2",
         [](const Tensors& in) { return in[0].slice(1, 1, std::nullopt, 2); });
  shaped("aten.slice.Tensor",
         3,
         "self=%x, dim=-1, start=None, end=-1, step=1",
         [](const Tensors& in) { return in[0].slice(2, 0, 4); });
  shaped("aten.select.int", 2, "self=%x, dim=0, index=-1", [](const Tensors& in) {
    return in[0].select(0, 3);
  });
}

/// Two tensors in one, and dimensions of size 1.
void add_joined_shapes(std::vector<Case>& cases) {
  for (const Role role : {Role::kState, Role::kConstant}) {
    cases.push_back(
        simple("aten.slice_scatter.default",
               {{"x", {4, 6, 5}}, {"s", {4, 2, 5}, role}},
               3,
               "self=%x, src=%s, dim=1, start=1, end=5, step=2",
               [](const Tensors& in) { return at::slice_scatter(in[0], in[1], 1, 1, 5, 2); }));
    cases.push_back(
        simple("aten.select_scatter.default",
               {{"x", {4, 6, 5}}, {"s", {4, 5}, role}},
               3,
               "self=%x, src=%s, dim=1, index=2",
               [](const Tensors& in) { return at::select_scatter(in[0], in[1], 1, 2); }));
    cases.push_back(simple("aten.cat.default",
                           {{"x", {4, 6, 5}}, {"s", {4, 2, 5}, role}},
                           3,
                           "tensors=[%x, %s], dim=-2",
                           [](const Tensors& in) { return at::cat({in[0], in[1]}, 1); }));
  }
  cases.push_back(
      simple("aten.squeeze.default", x_of({1, 6, 1}), 1, "self=%x", [](const Tensors& in) {
        return in[0].squeeze();
      }));
  cases.push_back(
      simple("aten.squeeze.dim", x_of({4, 1, 1}), 2, "self=%x, dim=-1", [](const Tensors& in) {
        return in[0].squeeze(2);
      }));
  cases.push_back(simple(
      "aten.squeeze.dims", x_of({4, 1, 1}), 1, "self=%x, dim=[1, 2]", [](const Tensors& in) {
        return in[0].squeeze(Ints{1, 2});
      }));
}

/// The axis in front moves every dimension by one.
void add_along_dims(std::vector<Case>& cases) {
  const std::vector<Operand> x = x_of({4, 6, 5});
  const auto along =
      [&](std::string_view op, int rank, std::string_view arguments, Plain plain) {
        cases.push_back(simple(op, x, rank, arguments, plain));
      };
  along("aten.softmax.int", 3, "self=%x, dim=0, dtype=None", [](const Tensors& in) {
    return at::softmax(in[0], 0);
  });
  along("aten.softmax.int", 3, "self=%x, dim=-1, dtype=float64", [](const Tensors& in) {
    return at::softmax(in[0], 2, at::kDouble);
  });
  along(
      "aten._softmax.default", 3, "self=%x, dim=1, half_to_float=False", [](const Tensors& in) {
        return at::softmax(in[0], 1);
      });
  along("aten.log_softmax.int", 3, "self=%x, dim=-2, dtype=None", [](const Tensors& in) {
    return at::log_softmax(in[0], 1);
  });
  along("aten._log_softmax.default",
        3,
        "self=%x, dim=2, half_to_float=False",
        [](const Tensors& in) { return at::log_softmax(in[0], 2); });
  along("aten.glu.default", 3, "self=%x, dim=1", [](const Tensors& in) {
    return at::glu(in[0], 1);
  });
  along("aten.cumsum.default", 3, "self=%x, dim=0, dtype=None", [](const Tensors& in) {
    return at::cumsum(in[0], 0);
  });
}

void add_reductions(std::vector<Case>& cases) {
  const std::vector<Operand> x = x_of({4, 6, 5});
  const auto along =
      [&](std::string_view op, int rank, std::string_view arguments, Plain plain) {
        cases.push_back(simple(op, x, rank, arguments, plain));
      };
  along("aten.logsumexp.default",
        1,
        "self=%x, dim=[0, -1], keepdim=False",
        [](const Tensors& in) { return at::logsumexp(in[0], Ints{0, 2}); });
  along("aten.amax.default", 3, "self=%x, dim=[1], keepdim=True", [](const Tensors& in) {
    return at::amax(in[0], 1, true);
  });
  along("aten.amax.default", 0, "self=%x, dim=[], keepdim=False", [](const Tensors& in) {
    return at::amax(in[0]);
  });
  along("aten.amin.default", 2, "self=%x, dim=[-3], keepdim=False", [](const Tensors& in) {
    return at::amin(in[0], 0);
  });
  along("aten.argmax.default", 2, "self=%x, dim=1, keepdim=False", [](const Tensors& in) {
    return at::argmax(in[0], 1);
  });
  along("aten.argmax.default", 0, "self=%x, dim=None, keepdim=False", [](const Tensors& in) {
    return at::argmax(in[0]);
  });
  along("aten.var.correction",
        2,
        "self=%x, dim=[1], correction=1, keepdim=False",
        [](const Tensors& in) { return at::var(in[0], 1); });
  along("aten.linalg_vector_norm.default",
        3,
        "self=%x, ord=2, dim=[1], keepdim=True, dtype=None",
        [](const Tensors& in) { return at::linalg_vector_norm(in[0], 2, Ints{1}, true); });
  along("aten.sum.default", 0, "self=%x, dtype=None", [](const Tensors& in) {
    return in[0].sum();
  });
  along("aten.sum.dim_IntList",
        1,
        "self=%x, dim=[0, 2], keepdim=False, dtype=None",
        [](const Tensors& in) { return in[0].sum(Ints{0, 2}); });
  along("aten.sum.dim_IntList",
        3,
        "self=%x, dim=None, keepdim=True, dtype=float64",
        [](const Tensors& in) { return in[0].to(at::kDouble).sum(Ints{0, 1, 2}, true); });
  cases.push_back({.op = "aten.max.dim",
                   .operands = x,
                   .body =
                       "  %y: float32[1, 1], %i: int64[1, 1] = aten.max.dim(self=%x, dim=-2, "
                       "keepdim=False)\n",
                   .results = {"y", "i"},
                   .reference = [](const Tensors& in, std::uint64_t) {
                     const auto [y, indices] = at::max(in[0], 1);
                     return Tensors{y, indices};
                   }});
}

void add_moves(std::vector<Case>& cases) {
  const std::vector<Operand> x = x_of({4, 6, 5});
  const auto moved =
      [&](std::string_view op, int rank, std::string_view arguments, Plain plain) {
        cases.push_back(simple(op, x, rank, arguments, plain));
      };
  moved("aten.swapaxes.default", 3, "self=%x, axis0=0, axis1=-1", [](const Tensors& in) {
    return in[0].transpose(0, 2);
  });
  moved("aten.movedim.int", 3, "self=%x, source=-1, destination=0", [](const Tensors& in) {
    return in[0].movedim(2, 0);
  });
  moved("aten._unsafe_view.default", 2, "self=%x, size=[4, 30]", [](const Tensors& in) {
    return in[0].view({4, 30});
  });
  moved("aten.unflatten.int", 4, "self=%x, dim=1, sizes=[2, -1]", [](const Tensors& in) {
    return in[0].unflatten(1, {2, 3});
  });
  moved("aten.expand.default",
        4,
        "self=%x, size=[2, 4, -1, 5], implicit=False",
        [](const Tensors& in) { return in[0].expand({2, 4, 6, 5}); });
  moved("aten.roll.default", 3, "self=%x, shifts=[1, -2], dims=[0, 2]", [](const Tensors& in) {
    return at::roll(in[0], {1, -2}, {0, 2});
  });
  moved("aten.roll.default", 3, "self=%x, shifts=[3], dims=[]", [](const Tensors& in) {
    return at::roll(in[0], 3);
  });
  moved("aten.flip.default", 3, "self=%x, dims=[0, -1]", [](const Tensors& in) {
    return at::flip(in[0], {0, 2});
  });
  moved("aten.tril.default", 3, "self=%x, diagonal=-1", [](const Tensors& in) {
    return at::tril(in[0], -1);
  });
  moved("aten.triu.default", 3, "self=%x, diagonal=1", [](const Tensors& in) {
    return at::triu(in[0], 1);
  });
  cases.push_back(simple("aten.t.default", x_of({4, 6}), 2, "self=%x", [](const Tensors& in) {
    return in[0].t();
  }));
  cases.push_back(simple(
      "aten.t.default", x_of({4}), 1, "self=%x", [](const Tensors& in) { return in[0].t(); }));
  cases.push_back(simple("aten.expand.default",
                         x_of({1, 5}),
                         2,
                         "self=%x, size=[4, 5], implicit=False",
                         [](const Tensors& in) { return in[0].expand({4, 5}); }));
}

/// A case of several parts of x [4, 6, 5], each of three dimensions or fewer.
Case parts_case(std::string_view op,
                std::string_view arguments,
                int rank,
                int count,
                std::vector<at::Tensor> (*plain)(const at::Tensor& x)) {
  std::string outputs;
  Case test{.op = op, .operands = x_of({4, 6, 5}), .body = "", .results = {}, .reference = {}};
  for (int i = 0; i < count; ++i) {
    const std::string node = node_text("y" + std::to_string(i), rank, "", "");
    outputs += (i == 0 ? "  " : ", ") + node.substr(2, node.find(" = ") - 2);
    test.results.push_back("y" + std::to_string(i));
  }
  test.body = outputs + " = " + std::string(op) + "(" + std::string(arguments) + ")\n";
  test.reference = [plain](const Tensors& in, std::uint64_t) { return plain(in[0]); };
  return test;
}

void add_parts(std::vector<Case>& cases) {
  cases.push_back(parts_case(
      "aten.split.Tensor", "self=%x, split_size=4, dim=1", 3, 2, [](const at::Tensor& x) {
        return x.split(4, 1);
      }));
  cases.push_back(
      parts_case("aten.split_with_sizes.default",
                 "self=%x, split_sizes=[1, 3], dim=0",
                 3,
                 2,
                 [](const at::Tensor& x) { return x.split_with_sizes({1, 3}, 0); }));
  cases.push_back(parts_case(
      "aten.chunk.default", "self=%x, chunks=3, dim=-2", 3, 3, [](const at::Tensor& x) {
        return x.chunk(3, 1);
      }));
  cases.push_back(
      parts_case("aten.unbind.int", "self=%x, dim=0", 2, 4, [](const at::Tensor& x) {
        return x.unbind(0);
      }));
  cases.push_back(simple("aten.narrow.default",
                         x_of({4, 6, 5}),
                         3,
                         "self=%x, dim=1, start=2, length=3",
                         [](const Tensors& in) { return in[0].narrow(1, 2, 3); }));
  for (const Role role : {Role::kState, Role::kConstant}) {
    cases.push_back(simple("aten.stack.default",
                           {{"x", {4, 6}}, {"s", {4, 6}, role}},
                           3,
                           "tensors=[%x, %s], dim=-1",
                           [](const Tensors& in) { return at::stack({in[0], in[1]}, 2); }));
  }
}

/// Indices of all trials or of each.
void add_indexed(std::vector<Case>& cases) {
  for (const Role role : {Role::kIds, Role::kIndex}) {
    cases.push_back(simple("aten.gather.default",
                           {{"x", {4, 6}, Role::kState}, {"i", {4, 3}, role}},
                           2,
                           "self=%x, dim=1, index=%i, sparse_grad=False",
                           [](const Tensors& in) { return at::gather(in[0], 1, in[1]); }));
    cases.push_back(simple("aten.index.Tensor",
                           {{"x", {9, 5}, Role::kState}, {"i", {7}, role}},
                           2,
                           "self=%x, indices=optionals[%i]",
                           [](const Tensors& in) { return in[0].index({in[1]}); }));
  }
  const std::vector<Operand> two = {
      {"x", {4, 6, 5}}, {"i", {3, 1}, Role::kIndex}, {"j", {2}, Role::kIndex}};
  cases.push_back(simple(
      "aten.index.Tensor", two, 3, "self=%x, indices=[None, %i, %j]", [](const Tensors& in) {
        return at::index(in[0], {std::nullopt, in[1], in[2]});
      }));
  cases.push_back(simple(
      "aten.index.Tensor", two, 3, "self=%x, indices=[%i, None, %j]", [](const Tensors& in) {
        return at::index(in[0], {in[1], std::nullopt, in[2]});
      }));
  cases.push_back(simple("aten.index.Tensor",
                         {{"x", {4, 6}, Role::kState}, {"k", {4}, Role::kMask}},
                         2,
                         "self=%x, indices=optionals[%k]",
                         [](const Tensors& in) { return at::index(in[0], {in[1]}); }));
}

}  // namespace

std::vector<Case> shape_cases() {
  std::vector<Case> cases;
  add_shapes(cases);
  add_joined_shapes(cases);
  add_along_dims(cases);
  add_reductions(cases);
  add_moves(cases);
  add_parts(cases);
  add_indexed(cases);
  return cases;
}

}  // namespace hydro::ops
