"""Which outputs an archive names when the two graphs differ, or do not depend on the data."""

import unittest

from support import export_model, refusal


class Outputs(unittest.TestCase):
    def names(self, target):
        return export_model(target).manifest["outputs"]

    def test_a_lone_output_of_evaluation_is_the_first_of_training(self):
        self.assertEqual(
            self.names("user_nets:AuxiliaryHead"), [{"name": "output.0", "index": 0}]
        )

    def test_an_output_that_does_not_depend_on_the_data_has_no_name(self):
        self.assertEqual(
            self.names("user_nets:OneConstantOutput"), [{"name": "logits", "index": 1}]
        )

    def test_without_a_usable_output_the_model_is_refused(self):
        for name, id in (("ConstantOutput", "H0223"), ("OtherOutputs", "H0224")):
            error = refusal(f"user_nets:{name}")
            self.assertEqual(error.id, id)
            self.assertIn("user_nets.py:", error.where)
            self.assertTrue(error.do)


if __name__ == "__main__":
    unittest.main()
