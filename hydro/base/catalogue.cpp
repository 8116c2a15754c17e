#include "hydro/base/catalogue.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "hydro/base/result.h"
#include "hydro/base/text.h"

namespace hydro {
namespace {

using enum ErrorCode;
using enum ExitCode;

constexpr CatalogueRow row(std::string_view id,
                           ErrorCode code,
                           ExitCode exit,
                           std::string_view title,
                           std::string_view meaning,
                           std::string_view remedy) {
  return {.id = id,
          .code = code,
          .exit = exit,
          .title = title,
          .meaning = meaning,
          .remedy = remedy};
}

// Sorted by id within each section; sections in the order of the ids. One row an error a user
// can meet.
constexpr auto kRows = std::to_array<CatalogueRow>({
    // ---- H01: the job file ----
    row("H0100",
        kInvalidInput,
        kUsage,
        "the job file cannot be read",
        "The path given to `tune` or `check` is not a file that can be opened.",
        "check the path"),
    row("H0101",
        kInvalidInput,
        kUsage,
        "the job file is too large",
        "Job files are read whole and hold settings, not data; a larger one is not a job file.",
        "keep it under 1 MB; data belong in files of their own"),
    row("H0102",
        kInvalidInput,
        kUsage,
        "the job file is not YAML as job files use it",
        "Besides faults of syntax: a second document, tags, merge keys, keys that are not "
        "plain "
        "text, and aliases "
        "inside their own anchor are refused, since readers disagree about them.",
        "mend the line shown"),
    row("H0103",
        kInvalidInput,
        kUsage,
        "an unknown key",
        "Every key of a job file is known; a misspelt one would silently do nothing.",
        "see docs for the keys of a job file"),
    row("H0104",
        kInvalidInput,
        kUsage,
        "a key is repeated",
        "Of two equal keys, readers of YAML take the first or the last. Job files may not hold "
        "any.",
        "keep one of them"),
    row("H0105",
        kInvalidInput,
        kUsage,
        "a value has the wrong type",
        "The key decides the type: booleans are true and false only, numbers have no leading "
        "zeros, quoted values are "
        "text.",
        "write a value of the type named"),
    row("H0106",
        kInvalidInput,
        kUsage,
        "a key is missing",
        "Nothing sensible can stand in for it.",
        "add it"),
    row("H0107",
        kInvalidInput,
        kUsage,
        "the job file is not plain UTF-8 text",
        "A byte order mark, a control character or a byte sequence that is not UTF-8.",
        "save the file as UTF-8 without a byte order mark"),
    row("H0108",
        kInvalidInput,
        kUsage,
        "the job file is nested too deep or too big",
        "At most 32 levels and 20,000 values, aliases counted as often as they are used.",
        "write it flatter, without nested aliases"),
    row("H0109",
        kInvalidInput,
        kUsage,
        "two settings exclude each other",
        "Only one of the two can be meant.",
        "keep one of them"),
    row("H0110",
        kInvalidInput,
        kUsage,
        "a distribution is malformed or stands where none can",
        "A distribution is a mapping with one key, such as {uniform: [0, 1]}. Values under "
        "`train` (but task, epochs, "
        "steps, evaluate, drop_last, amp) and `model.kwargs` may be distributions.",
        "write one value, or a distribution of the form shown"),
    row("H0111",
        kInvalidInput,
        kUsage,
        "model arguments need a small finite choice",
        "Each value under `model.kwargs` is a model of its own, exported before the search: "
        "choice, grid or randint, at "
        "most 1000 models in all.",
        "use choice with the values to try"),
    row("H0112",
        kInvalidInput,
        kUsage,
        "a --set cannot be applied",
        "--set takes KEY=VALUE with the key's dotted path in the job file, such as --set "
        "tune.num_samples=50.",
        "write --set KEY=VALUE"),
    row("H0120",
        kInvalidInput,
        kUsage,
        "searched, but not transferable across width",
        "The search runs on models S times narrower than the target. The best value of "
        "dropout, "
        "label smoothing and L2 "
        "weight decay depends on the width, so what is best there is not best for the target.",
        "fix it to one value, set `scaling: 1`, or search it on the target with "
        "`target_search` "
        "(a later version)"),
    row("H0121",
        kInvalidInput,
        kUsage,
        "L2 weight decay inside adam at S > 1",
        "Adam divides the penalty's gradient by the same running mean as the loss's, so no "
        "factor "
        "keeps its effect "
        "equal at two widths.",
        "use adamw (decoupled decay, which transfers), set weight_decay: 0, or `scaling: 1`"),
    row("H0122",
        kInvalidInput,
        kUsage,
        "a metric that is never reported",
        "The task decides which metrics trials report; a comparison by another one could never "
        "be "
        "made.",
        "use one of the metrics named"),
    row("H0124",
        kInvalidInput,
        kUsage,
        "a configuration does not fit the search space",
        "Every parameter of the space needs a value that it can take.",
        "compare the configuration with the job's distributions"),
    row("H0130",
        kUnsupported,
        kUsage,
        "not in this version",
        "The job file's format knows this setting, but the part of the program behind it is "
        "built "
        "later. Ignoring it "
        "would give another result than asked for.",
        "remove the key"),
    row("H0140",
        kInvalidInput,
        kUsage,
        "the mode contradicts the metric",
        "A loss is better when smaller, an accuracy when larger; the job asks for the "
        "opposite. "
        "It runs as asked.",
        "remove `mode`, or check the metric"),
    row("H0141",
        kInvalidInput,
        kUsage,
        "a schedule boundary never fires",
        "The step schedule's first boundary lies at or behind the end of training, so the rate "
        "stays constant. It runs "
        "as asked.",
        "make step_size shorter than the training, such as 40%"),
    // ---- H02: export and the model archive ----
    row("H0201",
        kInvalidInput,
        kUsage,
        "the model's callable is not named",
        "A model is given as code that builds it: package.module:callable, or "
        "./file.py:callable. "
        "A file of weights or a "
        "pickle holds no code, and loading a pickle runs whatever is in it.",
        "name the callable that builds the model"),
    row("H0202",
        kNotFound,
        kUsage,
        "the model's module cannot be imported",
        "Python finds no such module or file, or running it failed. Imports are resolved from "
        "the "
        "job's folder and from the "
        "interpreter that `python:` names.",
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
        "line "
        "of the user's own code.",
        "correct the arguments (`model.kwargs`) or the callable"),
    row("H0205",
        kInvalidInput,
        kUsage,
        "the callable does not build a model",
        "It must build and return a new nn.Module with the same parameters at each call: "
        "models "
        "are built several times, to "
        "learn by which laws they are initialised.",
        "name a function or class that returns a new nn.Module"),
    row("H0206",
        kInvalidInput,
        kUsage,
        "the callable's arguments cannot be read",
        "Arguments are JSON; a nested object with the key `call` is replaced by what that call "
        "returns.",
        "write the arguments as in --kwargs '{\"num_classes\": 10}'"),
    row("H0207",
        kUnsupported,
        kUsage,
        "the model starts with loaded weights",
        "A parameter has the same values in every build and they are no constant. Hydro draws "
        "weights anew at every width "
        "and trains from scratch; what was learned by a wide model cannot be shrunk. "
        "Fine-tuning "
        "is not what it does.",
        "build the model without pretrained weights, and without a fixed seed for its values"),
    row("H0208",
        kUnsupported,
        kUsage,
        "a parameter's initialisation follows no known law",
        "Surrogates are initialised by the model's own laws, scaled by the width: uniform, "
        "normal, truncated normal or "
        "constant, by rows. This one is none of them (orthogonal, a pattern, a product of "
        "other "
        "values).",
        "initialise it by torch.nn.init, or accept PyTorch's standard law with "
        "`initialization: "
        "standard`"),
    row("H0209",
        kInvalidInput,
        kUsage,
        "an input's description cannot be read",
        "An input is [name=]dtype[sizes] with exactly one `*`, the batch.",
        "write it as float32[*,3,28,28]"),
    row("H0210",
        kInvalidInput,
        kUsage,
        "the inputs do not fit the model's forward",
        "Each input is named after a parameter of forward; all parameters without a default "
        "must "
        "be given.",
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
        "A graph has no branches: an `if`, a loop or a size that is decided by the values of a "
        "tensor cannot be exported.",
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
        "TorchScript modules, functions and objects are compiled apart; their widths cannot be "
        "found.",
        "use plain Python instead of torch.jit.script or torch.jit.trace"),
    row("H0215",
        kUnsupported,
        kUsage,
        "the model works for one batch size only",
        "The batch size is computed with as a plain number, so that trials with other batch "
        "sizes "
        "would fail.",
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
        "Parameters and buffers must be dense CPU tensors of real numbers with a known shape "
        "and "
        "memory of their own.",
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
        "graph, "
        "the same in every step.",
        "draw it with torch.rand"),
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
    row("H0230",
        kInvalidInput,
        kUsage,
        "not a model archive",
        "A model is read from the archive that `hydro export` writes, a zip file. This file is "
        "something else.",
        "write the archive with `hydro export package.module:callable --input '...' -o "
        "model.pt2`"),
    row("H0231",
        kUnsupported,
        kUsage,
        "a pickle is no model archive",
        "Files of torch.save (.pt, .pth) are pickles: reading one can run any code. Nothing of "
        "it "
        "was parsed or executed.",
        "export the model that made it: `hydro export package.module:callable --input '...' -o "
        "model.pt2`"),
    row("H0232",
        kUnsupported,
        kUsage,
        "TorchScript is no model archive",
        "TorchScript files carry code and do not keep what training needs. There is no loader "
        "to "
        "fall back to.",
        "export the nn.Module itself: `hydro export package.module:callable --input '...' -o "
        "model.pt2`"),
    row("H0233",
        kInvalidInput,
        kUsage,
        "an archive is over a limit",
        "Number of entries, sizes, compression ratio and name lengths of an archive are "
        "limited, "
        "so that a small file "
        "cannot fill memory. Nothing was unpacked.",
        "export the model again; archives of `hydro export` stay far below the limits"),
    row("H0234",
        kInvalidInput,
        kUsage,
        "an archive has an unsafe entry",
        "Absolute names, `..`, backslashes, links and repeated names have no place in a model "
        "archive; they are the usual "
        "means of an attack. Nothing was unpacked.",
        "do not trust this file; export the model again from its source"),
    row("H0235",
        kCorrupt,
        kUsage,
        "an archive is damaged",
        "The zip structure contradicts itself or a checksum does not fit: the file was cut "
        "off, "
        "changed or made to mislead.",
        "copy it again or export the model again"),
    row("H0236",
        kUnsupported,
        kUsage,
        "an archive holds pickled tensors",
        "A tensor of a subclass or with special storage is saved as a pickle, and reading a "
        "pickle can run any code.",
        "make the model's parameters and buffers plain dense tensors and export again with "
        "`hydro "
        "export`"),
    row("H0237",
        kUnsupported,
        kUsage,
        "an archive holds script objects",
        "The model keeps custom class objects (script or opaque objects); they are code, not "
        "data.",
        "keep such objects out of forward and export again with `hydro export`"),
    row("H0238",
        kUnsupported,
        kUsage,
        "an archive holds compiled code",
        "Packages of AOTInductor carry shared libraries. A model file is never loaded as code.",
        "export the nn.Module itself: `hydro export package.module:callable --input '...' -o "
        "model.pt2`"),
    row("H0239",
        kInvalidInput,
        kUsage,
        "an archive was not written by `hydro export`",
        "The train and eval graphs and the manifest (inputs, state, initialisation laws) must "
        "all "
        "be there; archives of "
        "torch.export.save have one graph and no manifest.",
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
        "A JSON field that every archive has is absent or of another kind, or names something "
        "that does not exist.",
        "export the model again; if it persists, report it with the archive"),
    row("H0244",
        kUnsupported,
        kUsage,
        "an argument of an op is of an unknown kind",
        "The exported graph uses a kind of argument or call target that the reader does not "
        "know, "
        "such as nested lists, "
        "complex numbers or conditions computed from data.",
        "write this part of the model with tensor ops and constant arguments"),
    row("H0245",
        kUnsupported,
        kUsage,
        "a graph inside a graph",
        "The model uses a higher-order op (a no_grad block, cond, map, checkpoint), which is "
        "not "
        "supported yet.",
        "write this part of the model without it"),
    row("H0246",
        kUnsupported,
        kUsage,
        "a tensor type that is not supported",
        "Complex, quantized, unsigned wide, 8-bit float and sparse tensors are not supported.",
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
        "An in-place op writes into a view that overlaps itself (expand, as_strided, unfold), "
        "or "
        "into a tensor that may "
        "or may not share memory with one that is read later.",
        "use the out-of-place op there, or clone() the view first"),
    row("H0249",
        kUnsupported,
        kUsage,
        "forward writes into a parameter or constant",
        "Only buffers may change in forward; a parameter or constant that changes has no "
        "defined "
        "value under training.",
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
        "Sizes, strides and storage offset of a tensor point outside its stored bytes, or the "
        "data are missing.",
        "copy the archive again or export the model again"),
    row("H0252",
        kUnsupported,
        kUsage,
        "an in-place op without an out-of-place form",
        "The op changes a tensor's own shape or memory, or writes into an argument other than "
        "its "
        "first.",
        "use the out-of-place form of the op there"),
    row("H0253",
        kCorrupt,
        kUsage,
        "graphs and manifest do not name the same state",
        "A parameter, buffer, input or output of a graph is not in the manifest, or with "
        "another "
        "shape or type.",
        "export the model again; if it persists, report it with the archive"),
    row("H0258",
        kCorrupt,
        kUsage,
        "a graph does not hold together",
        "A value is used before it is defined, defined twice, or an output does not fit what "
        "it "
        "replaces. In a model "
        "archive this means damage.",
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
        "The Python process that exports the model ended without a message of its own: it was "
        "killed, or the user's "
        "code ended the interpreter.",
        "run `hydro export` by hand and read what Python prints"),
    // ---- H03: shrinking, fusing, ops ----
    row("H0301",
        kUnsupported,
        kUsage,
        "an op that shrinking has no rule for",
        "Which numbers of a model are widths is found op by op. Of this op it is not known how "
        "its sizes follow the "
        "width, so the narrower model could silently be a different one. The message names the "
        "op "
        "and your line.",
        "write this line with ops that have a rule, or ask for the op to be added"),
    row("H0302",
        kInvalidInput,
        kUsage,
        "shrinking saves too little",
        "The surrogate keeps more than half of the target's parameters, because most of its "
        "sizes "
        "are held by the "
        "input, the output, a reshape or the minimum width. The table lists the largest "
        "tensors "
        "and what keeps sizes.",
        "raise `tune.scaling`, lower `tune.min_width`, or set `scaling: 1` to search at full "
        "width"),
    row("H0303",
        kInvalidInput,
        kUsage,
        "a role override that matches nothing",
        "A key of `model.roles` is neither a parameter's name nor a pattern that matches one.",
        "use a name or pattern of the list that `hydro check` prints"),
    row("H0304",
        kUnsupported,
        kUsage,
        "a width is cut into unequal parts",
        "Slicing, splitting, padding or joining is followed only where a width falls into "
        "equal "
        "parts: parts of unequal "
        "size would not stay the same parts after shrinking.",
        "cut the width into equal parts, or set `scaling: 1` and search at full width"),
    row("H0305",
        kUnsupported,
        kUsage,
        "a weight that is computed",
        "Learning rates and initial values are scaled by the role of each parameter. A weight "
        "that is computed from other "
        "tensors (weight_norm, spectral_norm, weight standardization) has no known role.",
        "remove the reparametrization"),
    row("H0306",
        kUnsupported,
        kUsage,
        "a weight used in two roles",
        "One parameter is, for example, an input weight in one place and an output weight in "
        "another; its learning rate "
        "cannot follow both rules.",
        "give each use its own parameter"),
    row("H0307",
        kCorrupt,
        kUsage,
        "shapes that contradict an op",
        "The shapes written in the model archive do not fit what the op does with its "
        "operands. "
        "The archive is damaged, or "
        "its exporter and this program disagree about the op.",
        "export the model again; if it persists, report it with the archive"),
    row("H0310",
        kInvalidInput,
        kUsage,
        "the coordinate check failed",
        "Some layers learn at another speed in the narrow model than in the wide one, so that "
        "a "
        "learning rate found on "
        "surrogates need not be good at full width. With `coordinate_check: warn` the study "
        "goes "
        "on, marked.",
        "run `hydro check JOB --coordinates` for the layers; check `model.roles`, or lower "
        "`tune.scaling`"),
    row("H0330",
        kUnsupported,
        kUsage,
        "an op of the model cannot be run",
        "The model uses an operation that has no row in the table of ops; the place is the "
        "line "
        "of the model's own code "
        "that asked for it. Nothing is skipped or guessed.",
        "rewrite that line with supported ops (docs list them), or add the op: one row in "
        "hydro/ops/table.cpp, one in "
        "hydro/shrink"),
    row("H0331",
        kBug,
        kUsage,
        "a tensor has another shape than predicted",
        "Shrinking predicted the shape of every tensor, and a real run on random data "
        "disagrees "
        "at the named node. "
        "Training would go on with a model that is not the one described.",
        "report it with the model archive; `scaling: 1` avoids shrinking meanwhile"),
    // ---- H04: data ----
    row("H0401",
        kNotFound,
        kUsage,
        "a data file cannot be opened",
        "A file named under `data` does not exist or may not be read; the message gives the "
        "system's reason.",
        "check the path; relative paths start at the job file's folder"),
    row("H0402",
        kCorrupt,
        kUsage,
        "a data file is not of its format",
        "The first bytes of the file do not say what the job file says: another format, or a "
        "header that contradicts "
        "itself.",
        "check that the path names the file you meant, and `format`"),
    row("H0403",
        kCorrupt,
        kUsage,
        "a data file is damaged or has the wrong length",
        "The file ends before all samples that its header announces, carries bytes behind "
        "them, "
        "or cannot be "
        "decompressed. Nothing of it is used, since samples may be shifted against their "
        "labels.",
        "download or write the file again"),
    row("H0404",
        kInvalidInput,
        kUsage,
        "inputs and targets differ in number",
        "Each sample needs one entry in every input file and one target. Two files of one "
        "split "
        "hold different numbers.",
        "name files that belong together"),
    row("H0405",
        kInvalidInput,
        kUsage,
        "a data set is empty",
        "The split holds no sample, so that nothing could be trained or measured.",
        "check the file and `limit`"),
    row("H0406",
        kInvalidInput,
        kUsage,
        "a label is out of range",
        "Class labels must lie between 0 and the model's number of classes, which is the size "
        "of "
        "its output. Training "
        "on others would read outside the model's output.",
        "number the classes from 0, or give the model as many outputs as there are classes"),
    row("H0407",
        kInvalidInput,
        kUsage,
        "samples do not fit the model's input",
        "The shape of one sample, after all transforms, differs from the shape that "
        "`model.input` "
        "declares.",
        "change `model.input`, or add a transform such as rgb or resize"),
    row("H0408",
        kInvalidInput,
        kUsage,
        "fewer samples than one batch",
        "Training uses full batches only, and the split is smaller than the largest batch size "
        "of "
        "the search space.",
        "lower batch_size, or raise `limit`"),
    row("H0409",
        kUnsupported,
        kUsage,
        "an element type that cannot be used",
        "Arrays may hold uint8, int32, int64, float32 or float64 numbers in little-endian "
        "order; "
        "class labels are whole "
        "numbers; and an input's type must be the one that the model declares.",
        "convert the array, for example numpy.save(file, array.astype('float32'))"),
    row("H0410",
        kUnsupported,
        kUsage,
        "an array in a form that is not read",
        "Only plain arrays in row-major order are read: no pickled objects (loading them could "
        "run code), no structured "
        "records, no Fortran order.",
        "save it again with numpy.save(file, numpy.ascontiguousarray(array), "
        "allow_pickle=False)"),
    row("H0411",
        kInvalidInput,
        kUsage,
        "a transform does not fit the images",
        "A transform under `data.transform` cannot be applied to images of this shape, or the "
        "data hold no images. "
        "Images are uint8 arrays [N, C, H, W] or IDX files.",
        "change or remove the transform"),
    row("H0412",
        kNotFound,
        kUsage,
        "no such input or tensor in the data",
        "The names under `data` must be the names of the model's inputs, and a safetensors "
        "file "
        "must hold a tensor of "
        "that name (or exactly one tensor).",
        "use the names that the message lists"),
    row("H0413",
        kInvalidInput,
        kUsage,
        "a value in the data is not finite",
        "A NaN or infinity in inputs or targets would make every trial diverge.",
        "remove or replace the sample"),
    // ---- H05: training ----
    row("H0501",
        kUnsupported,
        kEnvironment,
        "libtorch refused to go on",
        "A tensor operation threw while a container was launched, trained or exported; the "
        "message gives libtorch's "
        "reason. The container is gone, others go on.",
        "see the reason; if it speaks of shapes or types, please report it with the model"),
    row("H0502",
        kOutOfMemory,
        kEnvironment,
        "out of memory",
        "Training needed more memory than there is. The container is gone, others go on.",
        "lower `batch_size` or `fusion`, or run fewer trials at a time with "
        "`max_concurrent_trials`"),
    row("H0503",
        kInvalidInput,
        kUsage,
        "the model cannot be trained as it is",
        "Training needs exactly one selected output, and data for every buffer, frozen "
        "parameter "
        "and constant that the "
        "graphs read.",
        "export the model again; select one output with `model.output`"),
    row("H0504",
        kInvalidInput,
        kUsage,
        "the data lack a model input",
        "Every argument of the model's forward that the graph reads must be an array of the "
        "data "
        "set.",
        "name the array after the argument in the job's `data`"),
    row("H0505",
        kInvalidInput,
        kUsage,
        "the model's output does not fit the task",
        "Classification needs one score a class, [batch, classes]; regression needs the shape "
        "of "
        "the targets.",
        "change `task`, or select another output of the model"),
    row("H0506",
        kUnavailable,
        kEnvironment,
        "the container is gone",
        "A command named a container that failed, was dissolved or was never launched on this "
        "worker.",
        "see the error that closed the container before"),
    // ---- H06: storage and the study ----
    row("H0601",
        kIo,
        kStorage,
        "a file cannot be read",
        "The operating system refused to open or read the file; the message gives its reason.",
        "check that the path exists and that you may read it"),
    row("H0602",
        kInvalidInput,
        kUsage,
        "a file is larger than its limit",
        "Files of this kind are read whole, so they are limited in size; a larger one is not "
        "what "
        "it claims to be.",
        "check that the path names the file you meant"),
    row("H0603",
        kIo,
        kStorage,
        "a file cannot be written",
        "Results are written to a temporary file, flushed and renamed. One of these steps was "
        "refused; the file's old "
        "content, if there was one, is untouched.",
        "check free space and permissions of the folder"),
    row("H0604",
        kCorrupt,
        kUsage,
        "a safetensors file is damaged",
        "The file breaks a rule of the format: its header must be JSON no longer than the "
        "file, "
        "without repeated keys; "
        "tensors must have known types and sizes that fit their shapes, and fill the file "
        "without "
        "gap or overlap. "
        "Nothing of it is used.",
        "write or download the file again"),
    row("H0610",
        kIo,
        kStorage,
        "the study database cannot be opened",
        "SQLite could not open or create `study.db`: the folder is read-only, missing, on a "
        "file "
        "system without locks, "
        "or the file may not be read.",
        "check permissions, and that the folder is on a local file system"),
    row("H0611",
        kIo,
        kStorage,
        "the study database cannot be written",
        "A transaction could not be committed, because the disk is full or an operation "
        "failed. "
        "Everything "
        "acknowledged before is still there.",
        "free space in the run folder and start again"),
    row("H0612",
        kCorrupt,
        kIncompatible,
        "the study database is damaged",
        "A row's checksum does not match its content, a sequence number is missing, or the "
        "file "
        "is no database. "
        "Results built on it could be wrong, so nothing is read.",
        "restore the run folder from a copy, or start a new study"),
    row("H0613",
        kUnsupported,
        kIncompatible,
        "the study was written by a newer version",
        "`study.db` carries a format number that this version does not know. Not a byte of it "
        "was "
        "changed.",
        "use the version of hydro that wrote it, or a newer one"),
    row("H0614",
        kUnavailable,
        kUsage,
        "another process works on this study",
        "One process at a time may write a study; the lock on its folder is held. The lock "
        "vanishes with its owner.",
        "wait for it or stop it; `hydro show` may read meanwhile"),
    row("H0615",
        kInvalidInput,
        kUsage,
        "the output folder holds another study",
        "A new study is never mixed with an old one's files.",
        "give another folder with -o, or leave -o out to get a fresh one under runs/"),
    row("H0616",
        kIo,
        kStorage,
        "the run folder cannot be made",
        "Creating or locking the run folder was refused by the system; nothing has been "
        "trained "
        "yet.",
        "check permissions and free space, or choose another folder with -o"),
    row("H0617",
        kNotFound,
        kUsage,
        "no study in this folder",
        "The folder has no `study.db`, so there is nothing to read.",
        "give the folder that `hydro tune` printed, or `runs/latest`"),
    row("H0640",
        kInvalidInput,
        kNoTrialSucceeded,
        "no trial succeeded",
        "Every trial of the search failed, so there is no best configuration and nothing is "
        "delivered. The message "
        "groups the causes; trials.csv has each trial's own.",
        "when losses turn NaN, lower the upper end of the learning rate's range or set "
        "train.clip_norm"),
    row("H0641",
        kInvalidInput,
        kNoTrialSucceeded,
        "no target could be trained",
        "The best configuration failed at full width, and so did the next best ones (at most "
        "four "
        "are tried). The "
        "search's results are kept, no weights are delivered.",
        "when the loss turned NaN, narrow the learning rate's range or run `hydro check "
        "--coordinates`; "
        "when memory ran out, lower the batch sizes"),
    row("H0642",
        kUnavailable,
        kInterrupted,
        "the study was stopped",
        "A signal asked the study to stop. What had ended is in its folder; trials that were "
        "in "
        "training are lost.",
        "continuing a study is not built yet: start it again with a new folder"),
    row("H0643",
        kUnsupported,
        kIncompatible,
        "an event that this program does not know",
        "The study was written by another version of this program, whose events have types or "
        "versions that this one "
        "cannot read.",
        "open the study with the version that wrote it"),
    row("H0644",
        kCorrupt,
        kIncompatible,
        "a damaged event",
        "A stored event lacks a field or holds a value of the wrong type, so the study's state "
        "cannot be rebuilt.",
        "restore the study's folder from a copy"),
    row("H0650",
        kUnavailable,
        kInterrupted,
        "stopped on request",
        "A signal asked the program to stop before the work at hand was done.",
        "start it again when it suits"),
    // ---- H07: search ----
    row("H0701",
        kInvalidInput,
        kUsage,
        "a range is empty or inverted",
        "The lower bound of a distribution must lie below its upper bound, else there is "
        "nothing "
        "to draw from.",
        "write [low, high] with low below high"),
    row("H0702",
        kInvalidInput,
        kUsage,
        "a logarithmic range touches 0",
        "loguniform and qloguniform draw uniformly in the logarithm of the value; bounds are "
        "values, not exponents.",
        "start the range above 0, or use uniform"),
    row("H0703",
        kInvalidInput,
        kUsage,
        "a bound or option is not a finite number",
        "NaN and infinity cannot bound a range or be tried as a value.",
        "write a finite number"),
    row("H0704",
        kInvalidInput,
        kUsage,
        "a bound is not on the grid's step",
        "quniform and qloguniform draw low + k q; the step must be above 0 and the upper bound "
        "must be one of these "
        "points, written in at most 18 digits.",
        "change the upper bound or the step so that (high - low) / q is a whole number"),
    row("H0705",
        kInvalidInput,
        kUsage,
        "options are missing or repeated",
        "A choice or grid needs at least one option, and each only once: a repeated option "
        "would "
        "be drawn twice as "
        "often, or trained twice.",
        "write each option once"),
    row("H0706",
        kInvalidInput,
        kUsage,
        "grid search over a continuous parameter",
        "Grid search tries the product of all values, so every parameter must have finitely "
        "many.",
        "use choice, grid, randint, quniform or qloguniform for it, or `search: random`"),
    row("H0707",
        kInvalidInput,
        kUsage,
        "the search space has too many configurations",
        "The product of all grids (and samples) passes a billion.",
        "use fewer values, or `search: random` with choice in place of grid"),
    row("H0708",
        kInvalidInput,
        kUsage,
        "a grid inside a branch of a random search",
        "In a random search, grid multiplies the number of samples; inside an option of a "
        "choice "
        "it would exist for "
        "some samples only.",
        "write choice in place of grid, or use `search: grid`"),
    // ---- H08: environment ----
    row("H0801",
        kUnavailable,
        kEnvironment,
        "torch is not usable",
        "The Python interpreter that runs the user's model cannot import torch, or its torch "
        "is "
        "older than 2.11.",
        "install torch 2.11 or later into it, or name another interpreter by `python:`"),
    row("H0802",
        kUnavailable,
        kEnvironment,
        "the exporter is not found",
        "The Python package that exports models belongs beside this program; the program looks "
        "upwards from its own "
        "place for python/hydro/export.py.",
        "set HYDRO_HOME to the checkout's folder"),
    row("H0803",
        kUnavailable,
        kEnvironment,
        "another program cannot be started",
        "The operating system refused to start the program named in the message.",
        "run tools/bootstrap, or set model.python to an interpreter that exists"),
    // ---- H09: command line and bugs ----
    row("H0901",
        kInvalidInput,
        kUsage,
        "the command line is wrong",
        "The verb, an option or an argument is not one that this program knows.",
        "see `hydro --help` or `hydro VERB --help`"),
    row("H0902",
        kInvalidInput,
        kUsage,
        "no such error code or trial",
        "`hydro explain` takes an error code such as H0103, or a run's folder and a trial "
        "number.",
        "copy the code from the brackets of the message"),
    row("H0999",
        kBug,
        kUsage,
        "a fault of this program",
        "A condition that the program itself should guarantee was broken. Nothing that was "
        "acknowledged is lost.",
        "please report it with the message, the job file and log.txt"),
});

}  // namespace

std::span<const CatalogueRow> catalogue() {
  return kRows;
}

const CatalogueRow* find_catalogue_row(std::string_view id) {
  const auto* row = std::ranges::find(kRows, id, &CatalogueRow::id);
  return row == kRows.end() ? nullptr : row;
}

namespace {

/// Text of the user's files must not steer the terminal; line breaks are our own.
std::string visible(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '\n' ? std::string(1, c) : printable(std::string_view(&c, 1));
  }
  return out;
}

std::string render_as(std::string_view word, const Error& error) {
  std::string text = std::string(word) + "[" + error.id + "]: " + visible(error.what);
  if (!error.where.empty()) {
    constexpr std::size_t kPlaceColumn = 56;
    text +=
        text.size() + 2 < kPlaceColumn ? std::string(kPlaceColumn - text.size(), ' ') : "  ";
    text += visible(error.where);
  }
  text += '\n';
  if (!error.excerpt.empty()) {
    text += visible(error.excerpt);
    if (!text.ends_with('\n')) {
      text += '\n';
    }
  }
  for (const auto& [label, part] :
       {std::pair{"why", &error.why}, {"do", &error.remedy}, {"kept", &error.kept}}) {
    if (!part->empty()) {
      text += std::string("   ") + label + ": " + visible(*part) + '\n';
    }
  }
  return text;
}

}  // namespace

std::string render(const Error& error) {
  return render_as("error", error);
}

std::string render_warning(const Error& warning) {
  return render_as("warning", warning);
}

}  // namespace hydro
