"""scripts/plot_encoding.py: pictures that appear whole, and bad input. First argument: the folder
of the built programs."""

import os
import xml.etree.ElementTree

import script_support
from script_support import ScriptTest, binary, run, skip_without

skip_without("matplotlib", "numpy")
PICTURES = ("heat_map", "drift")


class PlotEncodingTest(ScriptTest):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "new" / "pictures"

    def plot(self, *arguments, posenc=None):
        common = ("--posenc", posenc or binary("posenc"), "--output", self.output)
        return run("plot_encoding.py", *common, *arguments)

    def test_draws_every_picture_and_the_same_bytes_again(self):
        contents = []
        for _ in range(2):
            self.assert_good(self.plot("--", "--d-model", 4, "--backend=rotation"))
            contents.append({path.name: path.read_bytes() for path in self.output.iterdir()})
        self.assertEqual(sorted(contents[0]), sorted(f"{name}.svg" for name in PICTURES))
        self.assertEqual(contents[0], contents[1])
        for content in contents[0].values():
            self.assertTrue(xml.etree.ElementTree.fromstring(content).tag.endswith("svg"))

    def test_bad_input_is_one_line_and_writes_nothing(self):
        def refused(words, *arguments, **named):
            with self.subTest(arguments):
                self.assert_refused(self.plot(*arguments, **named), *words)

        refused(("PICTURE", "heat", "drift"), "heat")
        refused(("d_model is 7", "even"), "heat_map", "--", "--d-model", 7)
        refused(("none", "whisper"), "heat_map", "--", "--preset", "none")
        refused(("none", "rotation"), "heat_map", "--", "--backend", "none")
        refused(("--unknown",), "--unknown")
        refused(("--posenc",), posenc="/nonexistent/posenc")
        self.assertEqual([name for _, _, names in os.walk(self.output) for name in names], [])
        self.output = "/dev/null/pictures"
        refused(("--output", "/dev/null/pictures"), "heat_map")


if __name__ == "__main__":
    script_support.main()
