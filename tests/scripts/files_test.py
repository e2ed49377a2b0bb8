"""scripts/measuring/files.py: files that appear whole, and none that a killed run leaves behind.
First argument: the folder of the built programs, of which none is used."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import script_support
from script_support import SCRIPTS, ScriptTest

from measuring import files
from measuring.errors import BadInput


class FilesTest(ScriptTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_file_that_cannot_be_written_leaves_nothing(self):
        taken = self.folder / "taken"
        (taken / "inside").mkdir(parents=True)
        with self.assertRaisesRegex(BadInput, "taken: "):
            files.write_whole(str(taken), b"text")
        self.assertEqual(os.listdir(self.folder), ["taken"])

    def test_a_link_stays_a_link_and_a_pipe_a_pipe(self):
        target, link, pipe = (self.folder / name for name in ("target", "link", "pipe"))
        target.write_text("old", encoding="utf-8")
        link.symlink_to(target)
        files.write_whole(str(link), "new")
        self.assertTrue(link.is_symlink())
        self.assertEqual(target.read_text(encoding="utf-8"), "new")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        files.check_writable(str(pipe))
        files.write_whole(str(pipe), "through")
        self.assertEqual(os.read(reader, 100), b"through")
        self.assertTrue(pipe.is_fifo())
        files.check_writable("/dev/null")

    def test_what_cannot_be_read_or_written_is_named(self):
        (self.folder / "bad.json").write_text("{", encoding="utf-8")
        for path in (self.folder / "bad.json", "/nonexistent/x.json"):
            with self.assertRaisesRegex(BadInput, f"^{path}: "):
                files.read_json(str(path))
        for path in (self.folder, "/nonexistent/x", "/dev/null/x"):
            with self.assertRaisesRegex(BadInput, f"^--output is '{path}'; allowed: "):
                files.check_writable(str(path))


class LeftoversTest(ScriptTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        done = subprocess.Popen([sys.executable, "-c", ""])
        done.wait()
        self.dead = done.pid

    def test_a_file_of_a_killed_run_is_removed_by_the_next(self):
        kept = [f"x.json.{os.getppid()}.tmp", "x.json.mine.tmp", f"y.json.{self.dead}.tmp"]
        for name in (*kept, f"x.json.{self.dead}.tmp"):
            (self.folder / name).touch()
        files.write_whole(str(self.folder / "x.json"), "{}\n")
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*kept, "x.json"]))

    def test_a_folder_of_a_killed_run_is_removed_by_the_next(self):
        old = self.folder / f"posenc-{self.dead}-scripts"
        old.mkdir()
        (old / "run.json").touch()
        tempfile.tempdir, before = str(self.folder), tempfile.tempdir
        try:
            with files.temporary_folder() as folder:
                self.assertEqual(os.listdir(self.folder), [os.path.basename(folder)])
        finally:
            tempfile.tempdir = before
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_run_that_is_ended_tidies_up(self):
        code = (
            f"import sys, time; sys.path.insert(0, {SCRIPTS!r})\n"
            "from measuring import command, files\n"
            "def main():\n"
            "    with files.temporary_folder():\n"
            "        print('ready', flush=True)\n"
            "        time.sleep(60)\n"
            "command.run_main(main)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(self.folder)},
        ) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            self.assertEqual(len(os.listdir(self.folder)), 1)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 128 + signal.SIGTERM)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    script_support.main()
