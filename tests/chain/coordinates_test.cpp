// The coordinate check of an MLP and ResNet-18 on real images: the right table passes for every
// optimizer, each wrong one fails and names the layers. Learning rates: at most a quarter of
// the optimum. Source: DESIGN "Coordinate check"; transfer-measured.md.
#include "tests/chain/coordinates.h"

#include <string>

#include <gtest/gtest.h>

#include "hydro/data/dataset.h"
#include "hydro/shrink/coordinates.h"
#include "hydro/shrink/surrogate.h"

#include "tests/chain/real_data.h"
#include "tests/chain/wrong_tables.h"

namespace hydro::chain {
namespace {

using shrink::Parametrization;
using shrink::Role;

Net mlp() {
  return {.archive = "mlp784",
          .data = {.loader = fashion({data::Normalize{{.286F}, {.353F}}}, 256)},
          .momentum_lr = .002,
          .adam_lr = 1e-4};
}

Net resnet18() {
  return {.archive = "tv-resnet18",
          .data = {.loader = fashion({data::Resize{.height = 32, .width = 32},
                                      data::Rgb{},
                                      data::Normalize{{.286F}, {.353F}}},
                                     256)},
          .momentum_lr = .002,
          .adam_lr = 1e-4};
}

void expect_passes(const Net& net, const std::string& optimizer) {
  const shrink::CoordinateVerdict found = CoordinateCheck(net, optimizer).verdict();
  EXPECT_TRUE(found.passed) << optimizer << "\n" << text_of(found);
  EXPECT_TRUE(found.losses_equal);
  for (const Role role : {Role::kInput, Role::kHidden, Role::kOutput}) {
    EXPECT_FALSE(layers_of(found, {role}).empty());
  }
}

/// Every judged layer of the role is named.
void expect_names(const Net& net,
                  const std::string& optimizer,
                  Role role,
                  const Edit& edit,
                  Parametrization parametrization = Parametrization::kMup) {
  const shrink::CoordinateVerdict found =
      CoordinateCheck(net, optimizer, parametrization).verdict(edit);
  expect_misses(found, layers_of(found, {role}));
}

class RightTable : public ::testing::TestWithParam<std::string> {};

TEST_P(RightTable, PassesOnAnMlp) {
  expect_passes(mlp(), GetParam());
}

TEST_P(RightTable, PassesOnResNet18) {
  expect_passes(resnet18(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Optimizers,
                         RightTable,
                         ::testing::Values("sgd", "momentum", "adam", "adamw"),
                         [](const auto& row) { return row.param; });

TEST(WrongTable, StandardFailsOnAnMlp) {
  for (const char* optimizer : {"sgd", "adamw"}) {
    expect_names(mlp(), optimizer, Role::kOutput, {}, Parametrization::kStandard);
  }
}

TEST(WrongTable, StandardFailsOnResNet18) {
  for (const char* optimizer : {"momentum", "adamw"}) {
    expect_names(resnet18(), optimizer, Role::kOutput, {}, Parametrization::kStandard);
  }
}

TEST(WrongTable, ThePapersHiddenRateFailsUnderSgd) {
  expect_names(mlp(), "sgd", Role::kHidden, {}, Parametrization::kPaper);
  expect_names(resnet18(), "momentum", Role::kHidden, {}, Parametrization::kPaper);
}

TEST(WrongTable, HiddenAdamLeftUnscaledFails) {
  for (const Net& net : {mlp(), resnet18()}) {
    expect_names(net, "adam", Role::kHidden, leave_hidden_adam_unscaled);
  }
}

TEST(WrongTable, WithoutTheReadoutsMultiplierFails) {
  for (const Net& net : {mlp(), resnet18()}) {
    expect_names(net, "momentum", Role::kOutput, take_multipliers_out);
  }
}

}  // namespace
}  // namespace hydro::chain
