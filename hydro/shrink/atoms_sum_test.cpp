#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/shrink/atoms.h"
#include "hydro/shrink/testing.h"

namespace hydro::shrink {

namespace {

Dimension parameter(Atoms& atoms, std::int64_t size, const char* name) {
  Dimension made = atoms.add_state(size, name);
  atoms.mark_parameter(made);
  return made;
}

TEST(Sums, AWeightThatReadsOneIsItsParts) {
  Atoms atoms;
  const Dimension a = parameter(atoms, 12, "a[0]");
  const Dimension b = parameter(atoms, 20, "b[0]");
  const Dimension joined = atoms.add_sum({a, b});
  const Dimension reader = parameter(atoms, 32, "c[1]");
  ASSERT_TRUE(atoms.unify(reader, joined, ""));
  EXPECT_EQ(sizes_of(atoms, reader), (std::vector<std::int64_t>{12, 20}));
  atoms.pin(a, "user output");
  EXPECT_TRUE(atoms.has_width(reader));
  atoms.pin(b, "user output");
  EXPECT_FALSE(atoms.has_width(reader));
}

TEST(Sums, ACutIsSeenByEveryHolder) {
  Atoms atoms;
  const Dimension weight = parameter(atoms, 96, "qkv.weight[0]");
  const Dimension activation = atoms.add_free(96);
  ASSERT_TRUE(atoms.unify(weight, activation, ""));
  const std::optional<Dimension> query = atoms.part(activation, 0, 64);
  const std::optional<Dimension> rest = atoms.part(activation, 64, 96);
  ASSERT_TRUE(query && rest);
  EXPECT_EQ(sizes_of(atoms, weight), (std::vector<std::int64_t>{64, 32}));
  EXPECT_EQ(atoms.leaves(*query).front(), atoms.leaves(weight).front());
  EXPECT_EQ(atoms.name(atoms.leaves(weight).front()), "qkv.weight[0][:64]");
}

TEST(Sums, TwoOfThemAreCutAtEachOthersBoundaries) {
  Atoms atoms;
  const Dimension left = atoms.add_sum({atoms.add_free(8), atoms.add_free(24)});
  const Dimension right = atoms.add_sum({atoms.add_free(16), atoms.add_free(16)});
  ASSERT_TRUE(atoms.unify(left, right, ""));
  EXPECT_EQ(sizes_of(atoms, left), (std::vector<std::int64_t>{8, 8, 16}));
  EXPECT_EQ(atoms.leaves(left), atoms.leaves(right));
}

TEST(Sums, APartOfAProductIsCutBetweenItsRows) {
  Atoms atoms;
  Dimension heads = parameter(atoms, 8, "w[0]");
  const Dimension entries = parameter(atoms, 16, "w[1]");
  heads.insert(heads.end(), entries.begin(), entries.end());
  const std::optional<Dimension> first = atoms.part(heads, 0, 32);
  ASSERT_TRUE(first);
  EXPECT_EQ(sizes_of(atoms, *first), (std::vector<std::int64_t>{2, 16}));
  EXPECT_FALSE(atoms.part(heads, 0, 24));
}

TEST(Sums, OneCannotBeViewedAsAProduct) {
  Atoms atoms;
  const Dimension sum = atoms.add_sum({atoms.add_free(12), atoms.add_free(20)});
  Dimension product = atoms.add_free(4);
  const Dimension inner = atoms.add_free(8);
  product.insert(product.end(), inner.begin(), inner.end());
  EXPECT_FALSE(atoms.lines_up(sum, product));
  EXPECT_FALSE(atoms.unify(sum, product, "a view"));
  EXPECT_TRUE(atoms.is_pinned(sum));
  EXPECT_TRUE(atoms.is_pinned(product));
}

TEST(Sums, WhatACutLeavesAndNothingTakesStaysWhereTheRestDoes) {
  Atoms atoms;
  const Dimension rows = parameter(atoms, 1000, "positions[0]");
  const std::optional<Dimension> used = atoms.part(rows, 0, 64);
  ASSERT_TRUE(used);
  atoms.pin_unused_parts("not used");
  EXPECT_TRUE(atoms.has_width(rows));
  atoms.pin(*used, "sequence length");
  EXPECT_FALSE(atoms.is_pinned(rows));
  atoms.pin_unused_parts("not used");
  EXPECT_TRUE(atoms.is_pinned(rows));
}

}  // namespace

}  // namespace hydro::shrink
