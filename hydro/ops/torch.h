// hydro/ops/torch.h — the only door to libtorch: tensors and autograd. ivalue.h stands first,
// because ATen's headers fail under clang in C++20 mode without it.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/autograd.h>
