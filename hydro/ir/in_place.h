// hydro/ir/in_place.h — the out-of-place form of an in-place op.
#pragma once

#include "hydro/base/result.h"
#include "hydro/ir/graph.h"
#include "hydro/ir/view.h"

namespace hydro::ir {

/// Appends what computes the new value of the first argument of `node` ("aten.add_.Tensor",
/// operands renamed) and returns it; it has the type of that argument, as in-place ops keep it.
///
/// Errors: H0252.
[[nodiscard]] Result<ValueId> emit_out_of_place(Emitter& emitter, Node node);

}  // namespace hydro::ir
