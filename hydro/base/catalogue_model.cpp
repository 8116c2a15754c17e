// Errors of the model archive: one row each, sorted by id.
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
    row("H0230",
        kInvalidInput,
        kUsage,
        "not a model archive",
        "A model is read from the archive that `hydro export` writes, a zip file. This file "
        "is something else.",
        "write the archive with `hydro export package.module:callable --input '...' -o "
        "model.pt2`"),
    row("H0231",
        kUnsupported,
        kUsage,
        "a pickle is no model archive",
        "Files of torch.save (.pt, .pth) are pickles: reading one can run any code. Nothing "
        "of it was parsed or executed.",
        "export the model that made it: `hydro export package.module:callable --input '...' "
        "-o model.pt2`"),
    row("H0232",
        kUnsupported,
        kUsage,
        "TorchScript is no model archive",
        "TorchScript files carry code and do not keep what training needs. There is no "
        "loader to fall back to.",
        "export the nn.Module itself: `hydro export package.module:callable --input '...' "
        "-o model.pt2`"),
    row("H0233",
        kInvalidInput,
        kUsage,
        "an archive is over a limit",
        "Number of entries, sizes, compression ratio and name lengths of an archive are "
        "limited, so that a small file cannot fill memory. Nothing was unpacked.",
        "export the model again; archives of `hydro export` stay far below the limits"),
    row("H0234",
        kInvalidInput,
        kUsage,
        "an archive has an unsafe entry",
        "Absolute names, `..`, backslashes, links and repeated names have no place in a "
        "model archive; they are the usual means of an attack. Nothing was unpacked.",
        "do not trust this file; export the model again from its source"),
    row("H0235",
        kCorrupt,
        kUsage,
        "an archive is damaged",
        "The zip structure contradicts itself or a checksum does not fit: the file was cut "
        "off, changed or made to mislead.",
        "copy it again or export the model again"),
    row("H0236",
        kUnsupported,
        kUsage,
        "an archive holds pickled tensors",
        "A tensor of a subclass or with special storage is saved as a pickle, and reading a "
        "pickle can run any code.",
        "make the model's parameters and buffers plain dense tensors and export again with "
        "`hydro export`"),
    row("H0237",
        kUnsupported,
        kUsage,
        "an archive holds script objects",
        "The model keeps custom class objects (script or opaque objects); they are code, "
        "not data.",
        "keep such objects out of forward and export again with `hydro export`"),
    row("H0238",
        kUnsupported,
        kUsage,
        "an archive holds compiled code",
        "Packages of AOTInductor carry shared libraries. A model file is never loaded as "
        "code.",
        "export the nn.Module itself: `hydro export package.module:callable --input '...' "
        "-o model.pt2`"),
    row("H0239",
        kInvalidInput,
        kUsage,
        "an archive was not written by `hydro export`",
        "The train and eval graphs and the manifest (inputs, state, initialisation laws) "
        "must all be there; archives of torch.export.save have one graph and no manifest.",
        "write the archive with `hydro export package.module:callable --input '...' -o "
        "model.pt2`"),
    row("H0240",
        kUnsupported,
        kUsage,
        "an archive is of a newer format",
        "The manifest's format number is higher than this program knows.",
        "update hydro, or export again with this version"),
    row("H0241",
        kUnsupported,
        kUsage,
        "an archive is of another graph schema",
        "PyTorch's graph schema has another major version than 8, which this program reads.",
        "export again with torch 2.11 to 2.15"),
    row("H0242",
        kCorrupt,
        kUsage,
        "a file of an archive is not valid JSON",
        "The graphs, tensor tables and the manifest are JSON; this one cannot be parsed.",
        "copy the archive again or export the model again"),
    row("H0243",
        kCorrupt,
        kUsage,
        "a field of an archive is missing or wrong",
        "A JSON field that every archive has is absent or of another kind, or names "
        "something that does not exist.",
        "export the model again; if it persists, report it with the archive"),
    row("H0244",
        kUnsupported,
        kUsage,
        "an argument of an op is of an unknown kind",
        "The exported graph uses a kind of argument or call target that the reader does not "
        "know, such as nested lists, complex numbers or conditions computed from data.",
        "write this part of the model with tensor ops and constant arguments"),
    row("H0245",
        kUnsupported,
        kUsage,
        "a graph inside a graph",
        "The model uses a higher-order op (a no_grad block, cond, map, checkpoint), which "
        "is not supported yet.",
        "write this part of the model without it"),
    row("H0246",
        kUnsupported,
        kUsage,
        "a tensor type that is not supported",
        "Complex, quantized, unsigned wide, 8-bit float and sparse tensors are not "
        "supported.",
        "use float, integer or boolean dense tensors"),
    row("H0247",
        kInvalidInput,
        kUsage,
        "which output to train on is not clear",
        "The model has several outputs, or none with the name that was asked for.",
        "name one of its outputs with `model.output`"),
    row("H0248",
        kUnsupported,
        kUsage,
        "a write through a view cannot be undone",
        "An in-place op writes into a view that overlaps itself (expand, as_strided, "
        "unfold), or into a tensor that may or may not share memory with one that is read "
        "later.",
        "use the out-of-place op there, or clone() the view first"),
    row("H0249",
        kUnsupported,
        kUsage,
        "forward writes into a parameter or constant",
        "Only buffers may change in forward; a parameter or constant that changes has no "
        "defined value under training.",
        "make it a buffer, or write the new value into a new tensor"),
    row("H0250",
        kCorrupt,
        kUsage,
        "an op's schema is missing or unreadable",
        "The manifest gives the schema of every op, from which defaults are filled in.",
        "export the model again; if it persists, report it with the archive"),
    row("H0251",
        kCorrupt,
        kUsage,
        "a tensor's data do not fit its description",
        "Sizes, strides and storage offset of a tensor point outside its stored bytes, or "
        "the data are missing.",
        "copy the archive again or export the model again"),
    row("H0252",
        kUnsupported,
        kUsage,
        "an in-place op without an out-of-place form",
        "The op changes a tensor's own shape or memory, or writes into an argument other "
        "than its first.",
        "use the out-of-place form of the op there"),
    row("H0253",
        kCorrupt,
        kUsage,
        "graphs and manifest do not name the same state",
        "A parameter, buffer, input or output of a graph is not in the manifest, or with "
        "another shape or type.",
        "export the model again; if it persists, report it with the archive"),
    row("H0254",
        kNotFound,
        kUsage,
        "the model archive cannot be read",
        "`model.file` names the archive that `hydro export` wrote.",
        "check that the path exists and that you may read it; it is relative to the job file"),
    row("H0255",
        kInvalidInput,
        kUsage,
        "the model returns probabilities",
        "The losses of classification and of language models take scores and normalise them "
        "themselves; a softmax in the model would be applied twice, and train slowly and "
        "badly.",
        "return the scores from forward, before the softmax; log_softmax is fine"),
    row("H0258",
        kCorrupt,
        kUsage,
        "a graph does not hold together",
        "A value is used before it is defined, defined twice, or an output does not fit "
        "what it replaces. In a model archive this means damage.",
        "export the model again; if it persists, report it with the archive"),
    row("H0259",
        kInvalidInput,
        kUsage,
        "a graph's text cannot be read",
        "The text form of graphs is used by tests and by `--dump`; the place gives line and "
        "column.",
        "compare with the form in hydro/ir/graph.h"),
    row("H0260",
        kInvalidInput,
        kUsage,
        "the exporter died",
        "The Python process that exports the model ended without a message of its own: it "
        "was killed, or the user's code ended the interpreter.",
        "run `hydro export` by hand and read what Python prints"),
});

}  // namespace

std::span<const CatalogueRow> model_rows() {
  return kRows;
}

}  // namespace hydro
