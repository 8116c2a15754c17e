// Errors of training (H05), storage and the study (H06): one row each, sorted by id.
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
    row("H0501",
        kUnsupported,
        kEnvironment,
        "libtorch refused to go on",
        "A tensor operation threw while a container was launched, trained or exported; the "
        "message gives libtorch's reason. The container is gone, others go on; when no trial "
        "succeeds the study ends with H0640 and its exit code.",
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
        "parameter and constant that the graphs read.",
        "export the model again; select one output with `model.output`"),
    row("H0504",
        kInvalidInput,
        kUsage,
        "the data lack a model input",
        "Every argument of the model's forward that the graph reads must be an array of the "
        "data set.",
        "name the array after the argument in the job's `data`"),
    row("H0505",
        kInvalidInput,
        kUsage,
        "the model's output does not fit the task",
        "Classification needs one score a class, [batch, classes]; regression needs the "
        "shape of the targets; a language model needs the scores of every token, [batch, "
        "tokens, vocabulary]; with model_loss the output is one number, the mean over the "
        "batch.",
        "change `task`, or select another output of the model"),
    row("H0506",
        kUnavailable,
        kEnvironment,
        "the container is gone",
        "A command named a container that failed, was dissolved or was never launched on "
        "this worker.",
        "see the error that closed the container before"),
    row("H0601",
        kIo,
        kStorage,
        "a file cannot be read",
        "The operating system refused to open or read the file; the message gives its "
        "reason.",
        "check that the path exists and that you may read it"),
    row("H0602",
        kInvalidInput,
        kUsage,
        "a file is larger than its limit",
        "Files of this kind are read whole, so they are limited in size; a larger one is "
        "not what it claims to be.",
        "check that the path names the file you meant"),
    row("H0603",
        kIo,
        kStorage,
        "a file cannot be written",
        "Results are written to a temporary file, flushed and renamed. One of these steps "
        "was refused; the file's old content, if there was one, is untouched.",
        "check free space and permissions of the folder"),
    row("H0604",
        kCorrupt,
        kUsage,
        "a safetensors file is damaged",
        "The file breaks a rule of the format: its header must be JSON no longer than the "
        "file, without repeated keys; tensors must have known types and sizes that fit "
        "their shapes, and fill the file without gap or overlap. Nothing of it is used.",
        "write or download the file again"),
    row("H0610",
        kIo,
        kStorage,
        "the study database cannot be opened",
        "SQLite could not open or create `study.db`: the folder is read-only, missing, on a "
        "file system without locks, or the file may not be read.",
        "check permissions, and that the folder is on a local file system"),
    row("H0611",
        kIo,
        kStorage,
        "the study database cannot be written",
        "A transaction could not be committed, because the disk is full or an operation "
        "failed. Everything acknowledged before is still there.",
        "free space in the run folder and start again"),
    row("H0612",
        kCorrupt,
        kIncompatible,
        "the study database is damaged",
        "A row's checksum does not match its content, a sequence number is missing, or the "
        "file is no database. Results built on it could be wrong, so nothing is read.",
        "restore the run folder from a copy, or start a new study"),
    row("H0613",
        kUnsupported,
        kIncompatible,
        "the study was written by a newer version",
        "`study.db` carries a format number that this version does not know. Not a byte of "
        "it was changed.",
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
        "the output folder holds a study already",
        "A new study is never mixed with an old one's files, be it of the same job or of "
        "another.",
        "give another folder with -o, or leave -o out to get a fresh one under runs/"),
    row("H0616",
        kIo,
        kStorage,
        "the run folder cannot be made",
        "Creating or locking the run folder was refused by the system; nothing has been "
        "trained yet.",
        "check permissions and free space, or choose another folder with -o"),
    row("H0617",
        kNotFound,
        kUsage,
        "no study in this folder",
        "The folder has no `study.db`, so there is nothing to read.",
        "give the folder that `hydro tune` printed, or `runs/latest`"),
    row("H0618",
        kIo,
        kStorage,
        "the study's folder was moved or removed",
        "While the study ran, the file `study.db` of its folder was moved, removed or "
        "replaced. "
        "What is reported from then on could be found by nobody, so the study ends. What was "
        "reported before is in the folder, wherever it is.",
        "leave the folder in its place until the study has ended, and start it again"),
    row("H0630",
        kIo,
        kStorage,
        "paused trials cannot be written",
        "The states of paused trials went beyond `tune.pause_memory`, and the run folder "
        "could not take them. They stay in memory, so the study goes on and nothing is lost, "
        "but it may need more memory than was meant for it.",
        "free space in the run folder, or raise `tune.pause_memory`"),
    row("H0631",
        kCorrupt,
        kStorage,
        "a paused trial's state is gone",
        "A paused trial waits with its weights and its optimizer's averages, in memory or "
        "as a file in the run folder. What was found is missing, torn or of another model, "
        "so the trial cannot go on as if nothing had happened; it fails, others go on.",
        "keep other programs out of the run folder; raise `tune.pause_memory` to need no "
        "files"),
    row("H0632",
        kInvalidInput,
        kIncompatible,
        "the study read other data or another model",
        "job.yaml keeps a fingerprint of every file that a study reads. One of them has "
        "another now, so numbers of the same trial would differ for that reason alone.",
        "put the file back as it was, or start a new study"),
    row("H0633",
        kNotFound,
        kUsage,
        "no such trial to run again",
        "Trials count from 0. One that has not reported anything has no numbers to compare.",
        "`hydro show DIR` lists the trials"),
    row("H0634",
        kInvalidInput,
        kIncompatible,
        "a trial gives other numbers than before",
        "The trial was run again alone with the same model, data, seeds and settings, and "
        "reported other numbers. Bits may differ on another processor or with another "
        "version of libtorch; on the same ones they must not.",
        "run it on the machine and with the torch of the study (`hydro doctor`); if it "
        "differs there too, please report it"),
    row("H0640",
        kInvalidInput,
        kNoTrialSucceeded,
        "no trial succeeded",
        "Every trial of the search failed, so there is no best configuration and nothing is "
        "delivered. The message groups the causes; trials.csv has each trial's own.",
        "when losses turn NaN, lower the upper end of the learning rate's range or set "
        "train.clip_norm"),
    row("H0641",
        kInvalidInput,
        kNoTrialSucceeded,
        "no target could be trained",
        "The best configuration failed at full width, and so did the next best ones (at "
        "most four are tried). The search's results are kept, no weights are delivered.",
        "when the loss turned NaN, narrow the learning rate's range or run `hydro check "
        "--coordinates`; when memory ran out, lower the batch sizes"),
    row("H0642",
        kUnavailable,
        kInterrupted,
        "the study was stopped",
        "A signal asked the study to stop. What had ended is in its folder; trials that "
        "were in training are lost.",
        "continuing a study is not built yet: start it again with a new folder"),
    row("H0643",
        kUnsupported,
        kIncompatible,
        "an event that this program does not know",
        "The study was written by another version of this program, whose events have types "
        "or versions that this one cannot read.",
        "open the study with the version that wrote it"),
    row("H0644",
        kCorrupt,
        kIncompatible,
        "a damaged event",
        "A stored event lacks a field or holds a value of the wrong type, so the study's "
        "state cannot be rebuilt.",
        "restore the study's folder from a copy"),
    row("H0650",
        kUnavailable,
        kInterrupted,
        "stopped on request",
        "A signal asked the program to stop before the work at hand was done.",
        "start it again when it suits"),
});

}  // namespace

std::span<const CatalogueRow> study_rows() {
  return kRows;
}

}  // namespace hydro
