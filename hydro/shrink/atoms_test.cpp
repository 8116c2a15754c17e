#include "hydro/shrink/atoms.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/shrink/testing.h"

namespace hydro::shrink {

namespace {

TEST(Atoms, ADimensionOfOneHoldsNone) {
  Atoms atoms;
  EXPECT_TRUE(atoms.add_free(1).empty());
  EXPECT_EQ(atoms.size(Dimension{}), 1);
}

TEST(Atoms, JoinedDimensionsShareTheirPin) {
  Atoms atoms;
  const Dimension a = atoms.add_state(64, "a[0]");
  const Dimension b = atoms.add_state(64, "b[0]");
  atoms.mark_parameter(a);
  EXPECT_TRUE(atoms.has_width(a));
  ASSERT_TRUE(atoms.unify(a, b, ""));
  EXPECT_TRUE(atoms.has_width(b));
  atoms.pin(b, "user output");
  EXPECT_FALSE(atoms.has_width(a));
}

TEST(Atoms, EveryHolderOfASplitAtomSeesBothFactors) {
  Atoms atoms;
  const Dimension whole = atoms.add_state(25088, "fc.weight[1]");
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): a second holder is the case
  const Dimension holder = whole;
  const Dimensions parts = {atoms.add_free(512), atoms.add_free(7), atoms.add_free(7)};
  ASSERT_TRUE(atoms.unify_flat({whole}, parts, ""));
  EXPECT_EQ(sizes_of(atoms, holder), (std::vector<std::int64_t>{512, 7, 7}));
  EXPECT_EQ(atoms.leaves(holder)[1], atoms.leaves(parts[1])[0]);
}

TEST(Atoms, TheFirstStateNameNamesAClass) {
  Atoms atoms;
  const Dimension first = atoms.add_state(8, "first[0]");
  const Dimension second = atoms.add_state(8, "second[0]");
  const Dimension free = atoms.add_free(8);
  ASSERT_TRUE(atoms.unify(free, second, ""));
  EXPECT_EQ(atoms.name(atoms.leaves(free)[0]), "second[0]");
  ASSERT_TRUE(atoms.unify(second, first, ""));
  EXPECT_EQ(atoms.name(atoms.leaves(free)[0]), "first[0]");
}

TEST(Atoms, FactorsThatDoNotLineUpArePinnedWithTheReason) {
  Atoms atoms;
  const Dimensions left = {atoms.add_free(24), atoms.add_free(10)};
  const Dimensions right = {atoms.add_free(15), atoms.add_free(16)};
  EXPECT_FALSE(atoms.unify_flat(left, right, "opaque"));
  for (const Dimensions& side : {left, right}) {
    for (const Dimension& dimension : side) {
      EXPECT_EQ(atoms.pinned_because(atoms.leaves(dimension)[0]), "opaque");
    }
  }
}

TEST(Atoms, FactorsBesideAnOpaquePartStillAgree) {
  // An image of 56 pixels in windows of 7, then in a grid of 7.
  Atoms atoms;
  const Dimension channels = atoms.add_state(64, "c[0]");
  atoms.mark_parameter(channels);
  const Dimension pixels = atoms.add_pinned(56, "spatial size");
  ASSERT_TRUE(atoms.unify_flat({pixels}, {atoms.add_free(8), atoms.add_free(7)}, ""));
  const Dimension kept = atoms.add_free(64);
  EXPECT_FALSE(atoms.unify_flat(
      {pixels, channels}, {atoms.add_free(7), atoms.add_free(8), kept}, "opaque"));
  EXPECT_TRUE(atoms.has_width(kept));
  EXPECT_EQ(atoms.leaves(kept), atoms.leaves(channels));
}

TEST(Atoms, SizesThatDifferArePinned) {
  Atoms atoms;
  EXPECT_FALSE(atoms.unify(atoms.add_free(6), atoms.add_free(12), "differ"));
}

TEST(Atoms, ASplitFactorInheritsPinAndParameter) {
  Atoms atoms;
  const Dimension width = atoms.add_state(12, "w[0]");
  atoms.mark_parameter(width);
  ASSERT_TRUE(atoms.unify_flat({width}, {atoms.add_pinned(3, "parts"), atoms.add_free(4)}, ""));
  const Dimension leaves = atoms.leaves(width);
  EXPECT_FALSE(atoms.is_width(leaves[0]));
  EXPECT_TRUE(atoms.is_width(leaves[1]));
  EXPECT_EQ(atoms.name(leaves[1]), "w[0].inner");
}

}  // namespace

}  // namespace hydro::shrink
