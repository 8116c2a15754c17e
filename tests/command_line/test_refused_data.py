"""Data that do not fit: named by file, index and value before anything is trained."""

import gzip
import shutil

import numpy

from workplace import FASHION, Case, array_split, fashion, fashion_split, shared, small_job


class RefusedData(Case):
    def refuse(self, identity, *words, code=2, **data):
        done, folder = self.tune(small_job(data=data))
        self.assert_refused(done, identity, *words, code=code)
        self.assertNotIn("data.data", done.err)
        self.assertFalse(folder.exists(), "refused data left a folder")

    def arrays(self, images=None, labels=None, name="x"):
        """A split of arrays written beside the job."""
        good_images, good_labels = fashion("train", 64)
        numpy.save(self.folder / f"{name}.npy", good_images if images is None else images)
        numpy.save(self.folder / f"{name}_labels.npy", good_labels if labels is None else labels)
        return {"format": "arrays", "inputs": f"{name}.npy", "target": f"{name}_labels.npy"}

    def labels_with(self, index, value):
        labels = fashion("train", 64)[1].copy()
        labels[index] = value
        return labels

    def test_a_missing_file(self):
        self.refuse("H0401", "nowhere.npy", "No such file", train=array_split("train") | {"inputs": "nowhere.npy"})

    def test_a_missing_file_is_shown_where_the_job_names_it(self):
        split = array_split("train") | {"target": "nowhere.npy"}
        done, _ = self.tune(small_job(data={"test": split}))
        text = (self.folder / "job.yaml").read_text()
        line = next(n for n, row in enumerate(text.splitlines(), 1) if "nowhere.npy" in row)
        self.assert_refused(done, "H0401", f"job.yaml:{line}:14", '"target": "nowhere.npy"', "^" * len('"nowhere.npy"'))

    def test_a_label_beyond_the_classes_with_index_and_value(self):
        split = self.arrays(labels=self.labels_with(17, 10))
        self.refuse("H0406", "x_labels.npy", "17", "10", train=split)

    def test_a_negative_label(self):
        self.refuse("H0406", "x_labels.npy", "3", "-1", train=self.arrays(labels=self.labels_with(3, -1)))

    def test_a_bad_label_of_the_validation_split(self):
        self.refuse("H0406", "x_labels.npy", "63", "99", val=self.arrays(labels=self.labels_with(63, 99)))

    def test_a_bad_label_of_the_test_split(self):
        self.refuse("H0406", "x_labels.npy", "5", "12", test=self.arrays(labels=self.labels_with(5, 12)))

    def test_a_token_beyond_the_embedding_table(self):
        ids = numpy.full((300, 6), 99)
        for name, wrong in (("good", 99), ("bad", 100)):
            ids[17, 3] = wrong
            numpy.save(self.folder / f"{name}.npy", ids)
        numpy.save(self.folder / "y.npy", numpy.arange(300) % 10)
        split = {"format": "arrays", "inputs": "good.npy", "target": "y.npy"}
        for part in ("train", "val"):
            job = small_job("words")
            job["data"] = {"train": split, "val": split} | {part: split | {"inputs": "bad.npy"}}
            done, _ = self.tune(job)
            self.assert_refused(done, "H0406", "bad.npy", "number 100 of sample 17, place 3", "[0, 100)", "embedding")

    def test_a_truncated_archive_of_images(self):
        content = (FASHION / "t10k-images-idx3-ubyte.gz").read_bytes()
        (self.folder / "cut.gz").write_bytes(content[: len(content) // 2])
        self.refuse("H0403", "cut.gz", train=fashion_split("t10k", 64) | {"images": "cut.gz"})

    def test_plain_idx_that_ends_early(self):
        with gzip.open(FASHION / "t10k-labels-idx1-ubyte.gz") as file:
            (self.folder / "labels").write_bytes(file.read()[:-1])
        self.refuse("H0403", "labels", train=fashion_split("t10k", None) | {"labels": "labels", "limit": 10_000})

    def test_plain_idx_with_bytes_behind_its_end(self):
        with gzip.open(FASHION / "t10k-labels-idx1-ubyte.gz") as file:
            (self.folder / "labels").write_bytes(file.read() + b"\0")
        self.refuse("H0403", "labels", train=fashion_split("t10k", 64) | {"labels": "labels"})

    def test_a_file_of_another_format(self):
        (self.folder / "text.gz").write_text("not an image")
        self.refuse("H0402", "text.gz", train=fashion_split("t10k", 64) | {"images": "text.gz"})

    def test_images_where_labels_belong(self):
        wrong = str(FASHION / "t10k-images-idx3-ubyte.gz")
        self.refuse("H0402", "t10k-images", train=fashion_split("t10k", 64) | {"labels": wrong})

    def test_images_and_labels_that_differ_in_number(self):
        wrong = str(FASHION / "train-labels-idx1-ubyte.gz")
        self.refuse("H0404", "10000", "60000", train=fashion_split("t10k", 64) | {"labels": wrong})

    def test_an_empty_array(self):
        images, labels = fashion("train", 64)
        self.refuse("H0405", "x", train=self.arrays(images[:0], labels[:0]))

    def test_fewer_samples_than_the_largest_batch(self):
        self.refuse("H0408", "32", train=array_split("train") | {"limit": 20})

    def test_a_share_that_leaves_less_than_a_batch(self):
        done, _ = self.tune(small_job(data={"val": None, "val_share": 0.95}))
        self.assert_refused(done, "H0408", "32")

    def test_images_of_another_size_than_the_model_takes(self):
        self.refuse("H0407", "27", train=self.arrays(fashion("train", 64)[0][:, :, :27]))

    def test_images_with_three_channels_for_a_model_of_one(self):
        self.refuse("H0407", "3", transform=["rgb", {"normalize": {"mean": 0.5, "std": 0.5}}])

    def test_a_value_that_is_not_finite(self):
        images = fashion("train", 64)[0].astype("float32")
        images[7, 0, 3, 3] = numpy.nan
        self.refuse("H0413", "x.npy", "7", train=self.arrays(images), transform=[], val=self.arrays(images * 0, name="v"))

    def test_a_pickled_array_is_refused_unread(self):
        numpy.save(self.folder / "objects.npy", numpy.array([{}, []], dtype=object), allow_pickle=True)
        self.refuse("H0410", "objects.npy", train=array_split("train") | {"inputs": "objects.npy"})

    def test_an_array_in_fortran_order(self):
        numpy.save(self.folder / "fortran.npy", numpy.asfortranarray(fashion("train", 64)[0]))
        self.refuse("H0410", "fortran.npy", train=array_split("train") | {"inputs": "fortran.npy"})

    def test_labels_that_are_no_whole_numbers(self):
        split = self.arrays(labels=fashion("train", 64)[1].astype("float32") + 0.5)
        self.refuse("H0409", "x_labels.npy", train=split)

    def test_an_input_that_the_model_does_not_have(self):
        split = array_split("train")
        self.refuse("H0412", "pixels", "job.yaml:7:12", train=split | {"inputs": {"pixels": split["inputs"]}})

    def test_a_target_of_the_wrong_shape_for_regression(self):
        draw = numpy.random.default_rng(0)
        for name, width in (("left", 6), ("right", 3), ("target", 2)):
            numpy.save(self.folder / f"{name}.npy", draw.standard_normal((64, width), "float32"))
        job = small_job("pair", train={"task": "regression"})
        inputs = {"left": "left.npy", "right": "right.npy"}
        job["data"] = {"train": {"format": "arrays", "inputs": inputs, "target": "target.npy"}, "val_share": 0.5}
        done, folder = self.tune(job)
        self.assertEqual(done.code, 2, done)
        self.assertFalse(folder.exists(), "found only in training")

    def test_a_task_that_the_model_does_not_fit(self):
        done, folder = self.tune(small_job(train={"task": "regression", "optimizer": {"name": "sgd", "lr": 0.1}}))
        self.assertEqual(done.code, 2, done)
        self.assertFalse(folder.exists(), "found only in training")

    def test_an_array_with_every_sample_needed_is_accepted(self):
        shutil.copy(shared().arrays / "train_x.npy", self.folder / "x.npy")
        self.tuned(small_job(data={"train": array_split("train") | {"inputs": "x.npy", "limit": 32}}))
