"""Each kind of search, optimizer, task and data goes from job file to weights."""

import shutil

import numpy
import torch
from safetensors.numpy import save_file
from safetensors.torch import load_file

from test_finished_study import evaluate
from user_models import Pair, mlp
from workplace import HERE, Case, fashion_split, rows, shared, small_job

SGD = {"name": "sgd", "lr": 0.05, "momentum": 0.9}


class KindsOfJobs(Case):
    def test_torchvisions_resnet18_gives_the_reported_value_in_torch_alone(self):
        import torchvision

        job = small_job(
            archive=None,
            data={
                "train": fashion_split("train", 500),
                "val": fashion_split("t10k", 500),
                "transform": ["rgb", {"normalize": {"mean": 0.286, "std": 0.353}}],
            },
            train={"batch_size": 64, "optimizer": {"name": "sgd", "lr": {"choice": [0.02, 0.05]}, "momentum": 0.9}},
            tune={"num_samples": 2, "scaling": 8},
        )
        job["model"] = {
            "export": "torchvision.models:resnet18",
            "kwargs": {"num_classes": 10},
            "input": "float32[*, 3, 28, 28]",
        }
        folder = self.tuned(job)
        model = torchvision.models.resnet18(num_classes=10)
        right, _, _ = evaluate(model, folder / "best" / "model.safetensors", "t10k", 500, channels=3)
        self.assertLessEqual(abs(right - 500 * self.result(folder)["target"]["value"]), 1)

    def test_adam_and_adamw_train(self):
        for name, extra in (("adam", {}), ("adamw", {"weight_decay": {"loguniform": [0.001, 0.1]}, "amsgrad": True})):
            with self.subTest(name):
                job = small_job("cnn", train={"optimizer": {"name": name, "lr": {"loguniform": [1e-3, 1e-1]}} | extra})
                folder = self.tuned(job, folder=name)
                self.assertTrue(all(row["state"] == "finished" for row in rows(folder / "trials.csv")))

    def test_the_optimizer_itself_can_be_a_choice(self):
        adam = {"name": "adam", "lr": {"loguniform": [1e-3, 1e-2]}}
        job = small_job(train={"optimizer": {"choice": [SGD, adam]}}, tune={"num_samples": 6})
        trials = rows(self.tuned(job) / "trials.csv")
        self.assertTrue(all(row["state"] == "finished" for row in trials), trials)

    def test_grid_search_tries_every_combination_once(self):
        job = small_job(
            train={"batch_size": {"grid": [16, 32]}, "optimizer": {"name": "sgd", "lr": {"choice": [0.01, 0.1]}}},
            tune={"search": "grid", "num_samples": None},
        )
        trials = rows(self.tuned(job) / "trials.csv")
        self.assertEqual(
            sorted((row["batch_size"], row["lr"]) for row in trials),
            [("16", "0.01"), ("16", "0.1"), ("32", "0.01"), ("32", "0.1")],
        )

    def test_schedules_smoothing_and_clipping_train(self):
        job = small_job(
            train={
                "epochs": 2,
                "schedule": {"name": "cosine", "warmup": "10%"},
                "label_smoothing": 0.1,
                "clip_norm": 1.0,
            }
        )
        self.tuned(job)

    def test_a_budget_in_steps_evaluates_at_its_end(self):
        job = small_job(train={"epochs": None, "steps": 20})
        folder = self.tuned(job)
        last = max(int(row["step"]) for row in rows(folder / "metrics.csv"))
        self.assertEqual(last, 20)

    def test_one_data_set_is_split_by_share(self):
        job = small_job(data={"val": None, "val_share": 0.25})
        folder = self.tuned(job)
        steps = {int(row["step"]) for row in rows(folder / "metrics.csv") if row["kind"] == "surrogate"}
        self.assertEqual(steps, {240 // 32})

    def test_two_inputs_and_a_regression_target_from_arrays(self):
        draw = numpy.random.default_rng(1)
        left, right = draw.standard_normal((400, 6), "float32"), draw.standard_normal((400, 3), "float32")
        target = (left.sum(1, keepdims=True) - right.sum(1, keepdims=True)).astype("float32")
        numpy.save(self.folder / "left.npy", left)
        save_file({"right": right}, self.folder / "right.safetensors")
        numpy.save(self.folder / "target.npy", target)
        optimizer = {"name": "adam", "lr": {"loguniform": [1e-3, 1e-2]}}
        job = small_job("pair", train={"task": "regression", "epochs": 20, "optimizer": optimizer})
        inputs = {"left": "left.npy", "right": "right.safetensors"}
        split = {"format": "arrays", "inputs": inputs, "target": "target.npy"}
        job["data"] = {"train": split | {"limit": 300}, "val": split}
        folder = self.tuned(job)
        result = self.result(folder)
        self.assertEqual((result["metric"], result["mode"]), ("val_loss", "min"))
        best = min(float(row["value"]) for row in rows(folder / "trials.csv"))
        self.assertEqual(result["best_trial"]["value"], best)
        model = Pair()
        model.load_state_dict(load_file(folder / "best" / "model.safetensors"), strict=True)
        with torch.no_grad():
            said = model(torch.from_numpy(left), torch.from_numpy(right))
        loss = torch.nn.functional.mse_loss(said, torch.from_numpy(target)).item()
        self.assertAlmostEqual(result["target"]["value"], loss, delta=1e-4 * loss)
        self.assertLess(loss, target.var() / 4)

    def test_a_loss_of_the_models_own_gives_what_the_same_regression_gives(self):
        draw = numpy.random.default_rng(2)
        arrays = {name: draw.standard_normal((301, width), "float32") for name, width in (("left", 6), ("right", 3))}
        arrays["target"] = arrays["left"][:, :1] * 2
        for name, array in arrays.items():
            numpy.save(self.folder / f"{name}.npy", array)
        optimizer = {"name": "adam", "lr": {"loguniform": [1e-3, 1e-2]}}
        values = []
        for task, archive in (("regression", "pair"), ("model_loss", "pair_loss")):
            inputs = {name: f"{name}.npy" for name in ("left", "right", "target")}
            target = {"target": inputs.pop("target")} if task == "regression" else {}
            job = small_job(archive, train={"task": task, "epochs": 5, "optimizer": optimizer})
            split = {"format": "arrays", "inputs": inputs} | target
            job["data"] = {"train": split | {"limit": 256}, "val": split}  # 301: the last batch is not full
            result = self.result(self.tuned(job, folder=task))
            self.assertEqual((result["metric"], result["mode"]), ("val_loss", "min"))
            values.append(result["target"]["value"])
        self.assertAlmostEqual(*values, delta=1e-3 * values[0])

    def test_a_choice_among_model_arguments_delivers_the_chosen_width(self):
        shutil.copy(shared().path / "model.py", self.folder / "model.py")
        job = small_job(archive=None, tune={"search": "grid", "num_samples": None})
        job["model"] = {
            "export": "./model.py:mlp",
            "kwargs": {"width": {"choice": [32, 48]}},
            "input": "float32[*, 1, 28, 28]",
        }
        job["train"]["optimizer"] = SGD
        folder = self.tuned(job)
        trials = rows(folder / "trials.csv")
        self.assertEqual(sorted(row["model.kwargs.width"] for row in trials), ["32", "48"])
        config = self.result(folder)["best_trial"]["config"]
        weights = load_file(folder / "best" / "model.safetensors")
        self.assertEqual(weights["1.weight"].shape[0], int(config["model.kwargs.width"]))

    def test_an_archive_of_hydro_export_can_be_tuned_from_anywhere(self):
        shutil.copy(shared().archive("mlp"), self.folder / "mine.pt2")
        job = small_job() | {"model": {"file": "mine.pt2"}}
        folder = self.tuned(job)
        right, _, _ = evaluate(mlp(), folder / "best" / "model.safetensors", "t10k", 200)
        self.assertLessEqual(abs(right - 200 * self.result(folder)["target"]["value"]), 1)

    def test_augmented_images_train(self):
        transform = [{"random_crop": {"padding": 2}}, "random_flip", {"normalize": {"mean": 0.286, "std": 0.353}}]
        self.tuned(small_job(data={"transform": transform}))

    def test_nothing_to_search_still_delivers(self):
        job = small_job(train={"optimizer": SGD}, tune={"num_samples": 1})
        folder = self.tuned(job)
        self.assertEqual(self.result(folder)["best_trial"]["config"], {})

    def test_more_cores_than_trials_is_no_obstacle(self):
        self.tuned(small_job(resources={"cores": 3}))

    def test_settings_of_the_command_line_go_over_the_job(self):
        self.write_job(small_job())
        done = self.hydro("tune", "job.yaml", "-o", "run", "--set", "tune.num_samples=3", "--set", "train.epochs=2")
        self.assertEqual(done.code, 0, done)
        trials = rows(self.folder / "run" / "trials.csv")
        self.assertEqual([row["epochs"] for row in trials], ["2"] * 3)

    def test_the_searcher_of_the_examples_searches_every_kind_of_parameter(self):
        searcher = HERE.parents[1] / "examples" / "searcher.py"
        optimizer = {"name": "sgd", "lr": {"qloguniform": [0.01, 0.5, 0.01]}, "momentum": {"ordinal": [0, 0.5, 0.9]}}
        job = small_job(
            train={"optimizer": optimizer, "batch_size": {"int": [16, 48]}},
            tune={"num_samples": 9, "search": {"command": [str(searcher)]}},
        )
        first, again = (rows(self.tuned(job, folder=f"run-{n}") / "trials.csv") for n in (1, 2))
        self.assertEqual([row["state"] for row in first], ["finished"] * 9)
        for name in ("lr", "momentum", "batch_size"):
            self.assertEqual([row[name] for row in first], [row[name] for row in again])

    def test_several_runs_get_folders_of_their_own(self):
        self.write_job(small_job(tune={"num_samples": 1}))
        for name in ("small", "small-2"):
            done = self.hydro("tune", "job.yaml", "-q")
            self.assertEqual(done.code, 0, done)
            self.assertEqual(done.out, "")
            self.assertEqual((self.folder / "runs" / "latest").resolve().name, name)
            self.assertTrue((self.folder / "runs" / name / "result.json").exists())
