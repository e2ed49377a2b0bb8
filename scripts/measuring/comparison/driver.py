"""bench_driver: a process of the library's side, which times what it is told."""

import os
import subprocess

from measuring.errors import BadInput


class Driver:
    def __init__(self, command: str, backend: str | None) -> None:
        environment = {**os.environ, **({"POSENC_BACKEND": backend} if backend else {})}
        pipe = subprocess.PIPE
        try:
            self.process = subprocess.Popen(
                [command], stdin=pipe, stdout=pipe, text=True, env=environment
            )
        except OSError as error:
            allowed = f"the bench_driver binary ({error.strerror})"
            raise BadInput(f"--driver is '{command}'; allowed: {allowed}") from error

    def ask(self, *words: object) -> str:
        """Its reply to a command of these words. Its own one-line error becomes BadInput."""
        command = " ".join(map(str, words))
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            reply = self.process.stdout.readline().strip()
        except BrokenPipeError:
            reply = ""
        if reply.split(" ")[0] != "ok":
            raise BadInput(reply.removeprefix("error ") or f"bench_driver ended at: {command}")
        return reply[3:]

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()
