// Errors of the exporter (python/hydro): one row each, sorted by id.
#include <array>
#include <span>

#include "hydro/base/catalogue.h"
#include "hydro/base/catalogue_rows.h"
#include "hydro/base/result.h"

namespace hydro {
namespace {

using enum ErrorCode;
using enum ExitCode;

constexpr auto kRows = std::to_array<CatalogueRow>({
    row("H0201",
        kInvalidInput,
        kUsage,
        "the model's callable is not named",
        "A model is given as code that builds it: package.module:callable, or "
        "./file.py:callable. A file of weights or a pickle holds no code, and loading a "
        "pickle runs whatever is in it.",
        "name the callable that builds the model"),
    row("H0202",
        kNotFound,
        kUsage,
        "the model's module cannot be imported",
        "Python finds no such module or file, or running it failed. Imports are resolved "
        "from the job's folder and from the interpreter that `python:` names.",
        "correct the name, or install what it needs into that interpreter"),
    row("H0203",
        kNotFound,
        kUsage,
        "the module has no such callable",
        "The module was imported, but the name after the colon is not in it.",
        "correct the name after the colon"),
    row("H0204",
        kInvalidInput,
        kUsage,
        "the model's callable failed",
        "It raised an exception while it built the model. The place shown is the innermost "
        "line of the user's own code.",
        "correct the arguments (`model.kwargs`) or the callable"),
    row("H0205",
        kInvalidInput,
        kUsage,
        "the callable does not build a model",
        "It must build and return a new nn.Module with the same parameters at each call: "
        "models are built several times, to learn by which laws they are initialised.",
        "name a function or class that returns a new nn.Module"),
    row("H0206",
        kInvalidInput,
        kUsage,
        "the callable's arguments cannot be read",
        "Arguments are JSON; a nested object with the key `call` is replaced by what that "
        "call returns.",
        "write the arguments as in --kwargs '{\"num_classes\": 10}'"),
    row("H0207",
        kUnsupported,
        kUsage,
        "the model starts with loaded weights",
        "A parameter has the same values in every build and they are no constant. Hydro "
        "draws weights anew at every width and trains from scratch; what was learned by a "
        "wide model cannot be shrunk. Fine-tuning is not what it does.",
        "build the model without pretrained weights, and without a fixed seed for its "
        "values"),
    row("H0208",
        kUnsupported,
        kUsage,
        "a parameter's initialisation follows no known law",
        "Surrogates are initialised by the model's own laws, scaled by the width: uniform, "
        "normal, truncated normal or constant, by rows. This one is none of them "
        "(orthogonal, a pattern, a product of other values).",
        "initialise it by torch.nn.init, or accept PyTorch's standard law with "
        "`model.initialization: standard`"),
    row("H0209",
        kInvalidInput,
        kUsage,
        "an input's description cannot be read",
        "An input is [name=]dtype[sizes] with exactly one `*`, the batch. One sample has at "
        "most 2^31 numbers, and an example of a few samples must fit into memory.",
        "write it as float32[*,3,28,28]"),
    row("H0210",
        kInvalidInput,
        kUsage,
        "the inputs do not fit the model's forward",
        "Each input is named after a parameter of forward; all parameters without a default "
        "must be given.",
        "name each input after a parameter of forward: --input name=dtype[sizes]"),
    row("H0211",
        kInvalidInput,
        kUsage,
        "the model's forward fails on the given input",
        "forward was run once on tensors of the given sizes and raised an exception.",
        "correct the sizes or the dtype of the input"),
    row("H0212",
        kUnsupported,
        kUsage,
        "the model's control flow depends on data",
        "A graph has no branches: an `if`, a loop or a size that is decided by the values "
        "of a tensor cannot be exported.",
        "write the choice with torch.where or a mask, or make it an argument of the "
        "constructor"),
    row("H0213",
        kUnsupported,
        kUsage,
        "the model uses a custom autograd function",
        "An exported graph holds forward operations only; the backward of a "
        "torch.autograd.Function would be lost.",
        "write the operation with PyTorch's own functions, whose gradients are known"),
    row("H0214",
        kUnsupported,
        kUsage,
        "the model holds script objects",
        "TorchScript modules, functions and objects are compiled apart; their widths cannot "
        "be found.",
        "use plain Python instead of torch.jit.script or torch.jit.trace"),
    row("H0215",
        kUnsupported,
        kUsage,
        "the model works for one batch size only",
        "The batch size is computed with as a plain number, so that trials with other batch "
        "sizes would fail.",
        "take the batch from x.shape, and let `*` stand at the batch axis"),
    row("H0216",
        kInvalidInput,
        kUsage,
        "the model has nothing to train",
        "It has no parameter with requires_grad True.",
        "leave some parameters trainable"),
    row("H0217",
        kUnsupported,
        kUsage,
        "a tensor of the model cannot be carried",
        "Parameters and buffers must be dense CPU tensors of real numbers with a known "
        "shape and memory of their own.",
        "build the model on the CPU with plain tensors"),
    row("H0218",
        kUnsupported,
        kUsage,
        "torch.export cannot carry the model",
        "torch.export refused it in both of its modes, although forward runs.",
        "use tensor operations only in the line that it names, or move it out of forward"),
    row("H0219",
        kIo,
        kStorage,
        "the archive cannot be written",
        "The folder is missing or not writable, or the disk is full. No part of a file is "
        "left.",
        "choose another output, or make room on the disk"),
    row("H0220",
        kInvalidInput,
        kUsage,
        "a forward argument cannot be baked in",
        "`forward` gives what forward takes beside its tensors: null, true, false, numbers, "
        "strings and lists of these.",
        "give only parameters of forward that are no inputs"),
    row("H0221",
        kInvalidInput,
        kUsage,
        "the model's forward returns no tensor",
        "A model is trained on a tensor that forward returns: its logits or its loss.",
        "return the logits, or the loss, from forward"),
    row("H0222",
        kUnsupported,
        kUsage,
        "the model draws random numbers outside PyTorch",
        "A number that forward draws by random or numpy.random becomes a constant of the "
        "graph, the same in every step.",
        "draw it with torch.rand"),
    row("H0223",
        kInvalidInput,
        kUsage,
        "no output of the model depends on its inputs",
        "What forward returns is the same for all data (at most its size follows the batch), "
        "so "
        "that there is nothing to learn.",
        "return what is computed from the inputs"),
    row("H0224",
        kInvalidInput,
        kUsage,
        "the model returns other outputs in training than in evaluation",
        "Both graphs must give the output that is trained. A single output of evaluation "
        "counts "
        "as the first one of training.",
        "return the same in both, the logits first"),
    row("H0225",
        kUnsupported,
        kUsage,
        "the model computes with complex numbers",
        "Operations, laws and optimizers are those of real numbers. Fourier transforms give "
        "complex ones.",
        "compute with real and imaginary parts as two real tensors"),
    row("H0226",
        kUnsupported,
        kUsage,
        "the model uses an operator that is not PyTorch's own",
        "Operators that a package registers, and operators that take functions (such as "
        "torch.cond), have no counterpart outside Python.",
        "write the operation with PyTorch's own functions"),
    row("H0227",
        kUnavailable,
        kInterrupted,
        "the export was stopped",
        "It was interrupted or told to end. No file was written.",
        "start it again"),
    row("H0228",
        kInvalidInput,
        kUsage,
        "the exporter's arguments cannot be read",
        "An argument is missing or unknown.",
        "see `hydro export --help`"),
    row("H0229",
        kBug,
        kUsage,
        "the exporter failed",
        "Something happened in the exporter that it does not know. No file was written.",
        "please report it with the callable that shows it"),
});

}  // namespace

std::span<const CatalogueRow> export_rows() {
  return kRows;
}

}  // namespace hydro
