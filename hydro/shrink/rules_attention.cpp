// Rules of attention and of softmax. Which dimensions are heads is found afterwards, for fused
// and written-out attention alike (attention.cpp).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/shrink/atoms.h"
#include "hydro/shrink/rules.h"
#include "hydro/shrink/walk.h"

namespace hydro::shrink {

namespace {

/// Queries with k times the heads of keys and values: groups of k share one.
void unify_heads(Walk& walk,
                 const ir::Node& node,
                 const Dimension& query,
                 const Dimension& key) {
  Atoms& atoms = walk.atoms();
  const std::int64_t ratio = atoms.size(query) / std::max<std::int64_t>(atoms.size(key), 1);
  if (ratio <= 1) {
    walk.unify(node, query, key);
    return;
  }
  Dimension grouped = key;
  const Dimension group = atoms.add_free(ratio);
  grouped.insert(grouped.end(), group.begin(), group.end());
  walk.unify(node, query, grouped);
}

void unify_mask(Walk& walk,
                const ir::Node& node,
                const Dimensions& mask,
                const Dimensions& logits) {
  for (std::size_t i = 1; i <= mask.size() && i <= logits.size(); ++i) {
    const Dimension& own = mask[mask.size() - i];
    if (!own.empty() && !logits[logits.size() - i].empty()) {
      walk.unify(node, own, logits[logits.size() - i]);
    }
  }
}

}  // namespace

Result<void> attention_rule(Walk& walk, const ir::Node& node) {
  for (const char* name : {"query", "key", "value"}) {
    HYDRO_TRY_VOID(need_rank(walk, node, node.value(name), 2));
  }
  const Dimensions q = walk.dims(node.value("query"));
  const Dimensions k = walk.dims(node.value("key"));
  const Dimensions v = walk.dims(node.value("value"));
  const std::size_t rank = q.size();
  if (k.size() != rank || v.size() != rank) {
    return contradiction(node, "query, key and value differ in dimensions");
  }
  walk.unify(node, q[rank - 1], k[rank - 1]);
  walk.unify(node, k[rank - 2], v[rank - 2]);
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const bool is_heads = i + 3 == rank;
    for (const Dimensions& other : {k, v}) {
      if (is_heads) {
        unify_heads(walk, node, q[i], other[i]);
      } else if (!q[i].empty() && !other[i].empty()) {
        walk.unify(node, q[i], other[i]);
      }
    }
  }
  Dimensions out = q;
  out.back() = k[rank - 2];
  if (const auto mask = node.optional_value("attn_mask")) {
    unify_mask(walk, node, walk.dims(*mask), out);
  }
  out.back() = v.back();
  walk.set_outputs(node, out);
  return {};
}

Result<void> softmax_rule(Walk& walk, const ir::Node& node) {
  const Dimensions x = walk.dims(first_tensor(walk.graph(), node));
  if (!x.empty()) {
    walk.pin(node, x[Walk::index(node.integer("dim"), x.size())], "softmax over it");
  }
  walk.set_outputs(node, x);
  return {};
}

}  // namespace hydro::shrink
