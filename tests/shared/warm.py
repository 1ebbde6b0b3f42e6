"""A `dcsvm` that is imported once: commands and scripts are forked from it, each a process.

Importing takes two seconds, and some tests start dozens of commands. As a script, this is the
server.
"""

import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

#: What stands in for the console script: it hands its words and files over, and waits for the end.
CLIENT = """#!{python} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
request = json.dumps([["dcsvm", *sys.argv[1:]], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(request).to_bytes(4, "big")], [0, 1, 2])
server.sendall(request)
answer = b"".join(iter(lambda: server.recv(64), b""))
sys.exit(int(answer.split()[1]))
"""


class Command:
    """A command on its way, to be waited for or killed."""

    def __init__(
        self, address: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> None:
        self.server = socket.socket(socket.AF_UNIX)
        self.server.connect(address)
        said, there = os.pipe()
        _ask(self.server, ["dcsvm", *arguments], folder, environment, [0, there, there])
        os.close(there)
        self.said = open(said, encoding="utf-8")  # noqa: SIM115 - closed by `communicate`
        self.answer = b""
        while b"\n" not in self.answer:
            self.answer += self.server.recv(64)
        self.pid = int(self.answer.split()[0])

    @property
    def returncode(self) -> int | None:
        """As of subprocess: None while it goes on, minus the signal if one ended it."""
        try:
            while not self.said.closed and (more := self.server.recv(64, socket.MSG_DONTWAIT)):
                self.answer += more
        except BlockingIOError:
            return None
        words = self.answer.split()
        return int(words[1]) if len(words) > 1 else -signal.SIGKILL

    def poll(self) -> int | None:
        return self.returncode

    def kill(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def communicate(self) -> str:
        """All that it says, once it has ended."""
        with self.said:
            text = self.said.read()
        with self.server:
            while more := self.server.recv(64):
                self.answer += more
        return text


@contextmanager
def warm_server() -> Iterator[str]:
    """Start a server, and say where it is to be asked."""
    with tempfile.TemporaryDirectory() as folder:  # an address must be short
        address = str(Path(folder, "warm"))
        server = subprocess.Popen([sys.executable, __file__, address], stdout=subprocess.PIPE)
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield address
        finally:
            server.kill()
            server.communicate()


def write_command(address: str, folder: Path) -> Path:
    """Make a folder for PATH whose `dcsvm` is forked from the server."""
    client = folder / "bin" / "dcsvm"
    client.parent.mkdir()
    client.write_text(CLIENT.format(python=sys.executable, address=address))
    client.chmod(0o755)
    return client.parent


def run_script(address: str, script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a Python script in a fork of the server, and wait for its end."""
    words, folder = [str(script), *arguments], Path.cwd()
    with (
        socket.socket(socket.AF_UNIX) as server,
        open(os.devnull) as nothing,
        tempfile.TemporaryFile("w+", encoding="utf-8") as output,
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
    ):
        server.connect(address)
        files = [each.fileno() for each in (nothing, output, errors)]
        _ask(server, words, folder, os.environ, files)
        answer = b"".join(iter(lambda: server.recv(64), b"")).split()
        output.seek(0)
        errors.seek(0)
        code = int(answer[1]) if len(answer) > 1 else -signal.SIGKILL
        return subprocess.CompletedProcess(words, code, output.read(), errors.read())


def _ask(
    server: socket.socket,
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    files: Sequence[int],
) -> None:
    """Send what to run, where, and with which standard files."""
    request = json.dumps([[*words], str(folder), dict(environment)]).encode()
    socket.send_fds(server, [len(request).to_bytes(4, "big")], files)
    server.sendall(request)


def serve(address: str) -> None:
    """Import all that a run needs, then fork one process for each command."""
    import matplotlib.figure  # noqa: F401
    import sklearn.model_selection  # noqa: F401

    import dcsvm.experiments.run.resumable_run  # noqa: F401
    import dcsvm_report.load_facts  # noqa: F401
    from dcsvm.drive.registry import default_registry

    default_registry()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            carry_out(connection)
        connection.close()


def carry_out(connection: socket.socket) -> None:
    """Be the command or script that was asked for, and end."""
    connection.sendall(f"{os.getpid()}\n".encode())
    size, files, _, _ = socket.recv_fds(connection, 4, 3)
    request = b""
    while len(request) < int.from_bytes(size, "big"):
        request += connection.recv(2**16)
    words, folder, environment = json.loads(request)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = words
    threading.Thread(target=die_with, args=(connection,), daemon=True).start()
    code = 1
    try:
        if words[0] == "dcsvm":
            from dcsvm.cli import main

            main()
        else:
            sys.path[0] = str(Path(words[0]).parent)
            runpy.run_path(words[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except Exception:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(str(code).encode())
        os._exit(code)


def die_with(client: socket.socket) -> None:
    """Whoever kills the client means the command."""
    if not client.recv(1):
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    serve(sys.argv[1])
