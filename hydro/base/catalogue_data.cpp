// Errors of data: one row each, sorted by id.
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
        "The first bytes of the file do not say what the job file says: another format, or "
        "a header that contradicts itself.",
        "check that the path names the file you meant, and `format`"),
    row("H0403",
        kCorrupt,
        kUsage,
        "a data file is damaged or has the wrong length",
        "The file ends before all samples that its header announces, carries bytes behind "
        "them, or cannot be decompressed. Nothing of it is used, since samples may be "
        "shifted against their labels.",
        "download or write the file again"),
    row("H0404",
        kInvalidInput,
        kUsage,
        "inputs and targets differ in number",
        "Each sample needs one entry in every input file and one target. Two files of one "
        "split hold different numbers.",
        "name files that belong together"),
    row("H0405",
        kInvalidInput,
        kUsage,
        "a data set is empty",
        "The split holds no sample, so that nothing could be trained or measured. A text "
        "needs one block of tokens and the token behind it.",
        "check the file and `limit`"),
    row("H0406",
        kInvalidInput,
        kUsage,
        "a label or token is out of range",
        "Class labels must lie between 0 and the model's number of classes, which is the "
        "size of its output; tokens likewise, in the vocabulary that is the last axis of the "
        "output. The numbers of an input that chooses rows of an embedding must lie between "
        "0 and the table's rows. Training on others would read beside the table.",
        "number the classes from 0, or give the model as many outputs as there are classes"),
    row("H0407",
        kInvalidInput,
        kUsage,
        "samples do not fit the model's input",
        "The shape of one sample, after all transforms, differs from the shape that "
        "`model.input` declares, or its labels from what the model gives. A sample of a text "
        "is a block of `block` tokens.",
        "change `model.input`, or add a transform such as rgb or resize"),
    row("H0408",
        kInvalidInput,
        kUsage,
        "fewer samples than one batch",
        "Training uses full batches only, and the split is smaller than the largest batch "
        "size of the search space.",
        "lower batch_size, or raise `limit`"),
    row("H0409",
        kUnsupported,
        kUsage,
        "an element type that cannot be used",
        "Arrays may hold uint8, int32, int64, float32 or float64 numbers in little-endian "
        "order; class labels are whole numbers; and an input's type must be the one that "
        "the model declares.",
        "convert the array, for example numpy.save(file, array.astype('float32'))"),
    row("H0410",
        kUnsupported,
        kUsage,
        "an array in a form that is not read",
        "Only plain arrays in row-major order are read: no pickled objects (loading them "
        "could run code), no structured records, no Fortran order.",
        "save it again with numpy.save(file, numpy.ascontiguousarray(array), "
        "allow_pickle=False)"),
    row("H0411",
        kInvalidInput,
        kUsage,
        "a transform does not fit the images",
        "A transform under `data.transform` cannot be applied to images of this shape, or "
        "the data hold no images. Images are uint8 arrays [N, C, H, W] or IDX files.",
        "change or remove the transform"),
    row("H0412",
        kNotFound,
        kUsage,
        "no such input or tensor in the data",
        "The names under `data` must be the names of the model's inputs, and a safetensors "
        "file must hold a tensor of that name (or exactly one tensor).",
        "use the names that the message lists"),
    row("H0413",
        kInvalidInput,
        kUsage,
        "a value in the data is not finite",
        "A NaN or infinity in inputs or targets would make every trial diverge.",
        "remove or replace the sample"),
    row("H0420",
        kInvalidInput,
        kUsage,
        "images differ in size",
        "All samples of a data set have one shape. The images of a folder may differ in size "
        "only when the first transform is `resize`, which then acts while they are loaded.",
        "write `resize: {size: N}` as the first of data.transform"),
    row("H0421",
        kInvalidInput,
        kUsage,
        "a folder that is no image folder",
        "An image folder holds one folder a class, named for it, and in each at least one "
        "image, at any depth. Links may lead to files within the folder only, so that what "
        "was trained on is what the folder holds.",
        "put the images of each class into a folder named for the class"),
    row("H0422",
        kUnsupported,
        kUsage,
        "an image in a form that is not read",
        "Read are JPEG (grey, RGB) and PNG (all but grey of 16 bits) of at most 64 million "
        "pixels. Other images are refused rather than left out, since the data set would "
        "silently be another.",
        "convert the image to JPEG or PNG, or remove it"),
    row("H0423",
        kInvalidInput,
        kUsage,
        "splits have different classes",
        "Classes are numbered by the sorted names of their folders. With other names in "
        "another split, the same number would mean different classes.",
        "give both folders the same class folders"),
    row("H0424",
        kCorrupt,
        kUsage,
        "a file that is no sentencepiece model",
        "`tokenizer` names a model of Google's sentencepiece, as `hydro tokenize` or "
        "sentencepiece itself writes it, usually with the ending .model. Tokenizers of other "
        "libraries, such as tokenizer.json, are other formats.",
        "check the path, or make a model by `hydro tokenize TEXT -o tokens.model`"),
    row("H0425",
        kInvalidInput,
        kUsage,
        "a text that is not UTF-8",
        "A sentencepiece model reads UTF-8. It would replace other bytes by a sign for the "
        "unknown, so that training would see another text and bits per byte would be of "
        "another one. Tokens that are bytes have no such limit.",
        "convert the text (`iconv -f latin1 -t utf8`), or use `tokenizer: bytes`"),
    row("H0426",
        kInvalidInput,
        kUsage,
        "a vocabulary that does not fit the text",
        "A tokenizer has exactly as many pieces as asked for. 256 of them are bytes, one is "
        "the line break, one [MASK], one the unknown, and each frequent character is one; "
        "the others must occur in the text again and again.",
        "choose another --vocabulary"),
    row("H0427",
        kInvalidInput,
        kUsage,
        "a file is in the way",
        "`hydro tokenize` replaces no file: weights that were trained with a tokenizer mean "
        "nothing without it.",
        "give another name by -o, or remove the file yourself"),
    row("H0428",
        kInvalidInput,
        kUsage,
        "a tokenizer without a mask",
        "A masked language model needs a token that stands for the hidden ones. Models of "
        "`hydro "
        "tokenize` have the piece [MASK]; others may call it otherwise, or have none.",
        "write `train.mask_token: N` with a token that the text does not have, or make a "
        "tokenizer by `hydro tokenize`"),
});

}  // namespace

std::span<const CatalogueRow> data_rows() {
  return kRows;
}

}  // namespace hydro
