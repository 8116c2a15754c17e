"""Models that cannot be exported: one error with the user's own file and line, why, and what to do."""

import shutil

from workplace import HERE, Case, small_job

IMAGE = "float32[*, 1, 28, 28]"
SOURCE = (HERE / "refused_models.py").read_text(encoding="utf-8").splitlines()


def line_of(name):
    """The number of the line that `class name` marks as refused."""
    start = next(n for n, text in enumerate(SOURCE) if text.startswith(f"class {name}("))
    return next(n + 1 for n in range(start, len(SOURCE)) if "# the refused line" in SOURCE[n])


class ModelsWithoutAGraph(Case):
    def setUp(self):
        super().setUp()
        shutil.copy(HERE / "refused_models.py", self.folder / "model.py")

    def export(self, name):
        return self.hydro("export", f"./model.py:{name}", "--input", IMAGE, "-o", "model.pt2")

    def refuse(self, name, identity, *words, line=None):
        done = self.export(name)
        place = f"model.py:{line_of(name) if line is None else line}"
        self.assert_refused(done, identity, place, *words)
        self.assertFalse((self.folder / "model.pt2").exists(), "a refused export left its file")

    def test_item(self):
        self.refuse("Item", "H0212")

    def test_a_custom_autograd_function(self):
        self.refuse("CustomAutograd", "H0213", "Straight", "backward")

    def test_a_script_object(self):
        self.refuse("Scripted", "H0214", "`body`")

    def test_a_quantised_tensor(self):
        self.refuse("Quantised", "H0217", "`levels`", "quantised")

    def test_a_layer_that_quantisation_left(self):
        self.refuse("DynamicallyQuantised", "H0217", "body", "quantised")

    def test_a_sparse_parameter(self):
        self.refuse("Sparse", "H0217", "`mixing`", "sparse")

    def test_complex_numbers(self):
        self.refuse("Complex", "H0225", "complex")

    def test_a_mixture_of_experts_that_routes_by_the_data(self):
        self.refuse("ExpertsChosenByTheData", "H0212")

    def test_a_batch_in_a_view(self):
        self.refuse("FixedBatch", "H0215", "x.shape")

    def test_an_output_that_does_not_depend_on_the_batch(self):
        self.refuse("Blind", "H0223")

    def test_a_hand_made_initialisation(self):
        self.refuse("HandMade", "H0208", "`body.weight`", "orthogonal", "standard")

    def test_two_outputs_and_none_named(self):
        job = small_job(archive=None) | {"model": {"export": "./model.py:TwoOutputs", "input": IMAGE}}
        done, folder = self.tune(job)
        self.assert_refused(done, "H0247", "scores, energy", "model.output", "job.yaml:")
        self.assertFalse(folder.exists(), "a refused study left its folder")

    def test_a_model_of_which_nothing_is_a_width(self):
        job = small_job(archive=None) | {"model": {"export": "./model.py:Wired", "input": IMAGE}}
        done, folder = self.tune(job)
        self.assert_refused(done, "H0302", "body.weight", "input features")
        self.assertFalse(folder.exists(), "a refused study left its folder")
