// hydro/ops/torch.h — the only door to libtorch: tensors, autograd, ops by name, and the
// functorch layers behind vmap. ivalue.h stands early, because ATen's headers fail under clang
// in C++20 mode without it.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/functorch/BatchedFallback.h>
#include <ATen/functorch/DynamicLayer.h>
#include <ATen/functorch/PlumbingHelper.h>
#include <torch/csrc/autograd/autograd.h>
