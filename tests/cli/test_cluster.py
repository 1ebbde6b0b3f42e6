"""`--cluster`: the bytes of a local run, answers for several files, and what is refused."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dcsvm.base.errors import UsageError
from dcsvm.cli.run import _parse_size
from dcsvm.persistence import checkpoint_mirror
from dcsvm.persistence.checkpoint_mirror import CheckpointMirror

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
fsspec = pytest.importorskip("fsspec", reason="it comes with Dask")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

GENERATOR = np.random.default_rng(0)
RECIPES = {
    "fixed": 'decomposer = { use = "tree", ceiling = 100 }',
    "searched": 'decomposer = { use = "tree", ceiling = 100 }\n[search]\nlearner.C = [1.0, 10.0]',
}


@pytest.fixture(scope="module")
def address():
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": None}
    with distributed.LocalCluster(n_workers=2, processes=False, **options) as workers:
        yield workers.scheduler_address


@pytest.fixture
def rows(tmp_path):
    X = GENERATOR.normal(size=(600, 3))
    lines = [f"{a:.6f},{b:.6f},{c:.6f},{'up' if a > b * c else 'down'}" for a, b, c in X]
    for name, some in (("rows.csv", lines), ("one.csv", lines[:200]), ("two.csv", lines[200:])):
        (tmp_path / name).write_text("\n".join(["a,b,c,kind", *some, ""]))


@pytest.mark.parametrize("text", RECIPES.values(), ids=RECIPES)
def test_a_run_on_a_cluster_leaves_the_bytes_of_a_local_run(text, rows, recipe, dcsvm, address):
    name = recipe(f'learner = "kernel_svm"\ncombiner = "route"\n{text}')
    command = ["run", name, "--data", "rows.csv", "--target", "kind", "--out"]
    assert dcsvm(*command, "here", "--jobs", 1).exit_code == 0
    result = dcsvm(*command, "there", "--cluster", address)
    assert result.exit_code == 0, result.stderr
    for file in ("predictions.csv", "model.dcsvm"):
        assert Path("here", file).read_bytes() == Path("there", file).read_bytes()
    options = ["predict", "there", "one.csv", "two.csv", "--scores", "--out"]
    assert dcsvm(*options, "here.csv").exit_code == 0
    result = dcsvm(*options, "there.csv", "--cluster", address)
    assert result.exit_code == 0, result.stderr
    assert "600 rows answered" in result.stderr
    assert Path("here.csv").read_bytes() == Path("there.csv").read_bytes()


@pytest.fixture
def certificates(tmp_path):
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl is not installed")
    asked = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=dcsvm"
    subprocess.run([program, *asked.split()], cwd=tmp_path, check=True, capture_output=True)
    shutil.copy(tmp_path / "cert.pem", tmp_path / "ca.pem")
    return tmp_path


def test_certificates_of_a_folder_encrypt_the_connections(certificates, recipe, dcsvm):
    trusted, own, key = (str(certificates / name) for name in ("ca.pem", "cert.pem", "key.pem"))
    roles = ("scheduler", "worker", "client")
    files = {
        f"tls_{role}_{what}": file
        for role in roles
        for what, file in (("cert", own), ("key", key))
    }
    security = distributed.Security(tls_ca_file=trusted, require_encryption=True, **files)
    name = recipe(
        'data.use = "iris"\ndecomposer = "class_pairs"\nlearner = "kernel_svm"\ncombiner = "vote"'
    )
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": None}
    secure = {"protocol": "tls://", "security": security, "processes": False}
    with distributed.LocalCluster(n_workers=1, **secure, **options) as workers:
        command = ["run", name, "--cluster", workers.scheduler_address]
        result = dcsvm(*command, "--cluster-tls", str(certificates))
        assert result.exit_code == 0, result.stderr
        result = dcsvm(*command)
        assert result.exit_code == 1
        assert "check your TLS configuration" in result.stderr


REFUSED = {
    "an address without a protocol": (["host:8786"], "local:4, got 'host:8786'"),
    "no workers": (["local:0"], "local:4, got 'local:0'"),
    "certificates that are not there": (["tls://host:8786", "--cluster-tls", "."], "no ca.pem"),
}


@pytest.mark.parametrize(("words", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_a_cluster_is_refused(words, sentence, dcsvm):
    result = dcsvm("run", "td_svm", "--cluster", *words)
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_certificates_need_a_cluster(dcsvm):
    result = dcsvm("run", "td_svm", "--cluster-tls", ".")
    assert result.exit_code == 2
    assert "name it with --cluster" in result.stderr


def test_a_silent_address_is_an_error(dcsvm, monkeypatch):
    monkeypatch.setattr("dcsvm.drive.cluster_address.PATIENCE", 1)
    result = dcsvm("run", "td_svm", "--cluster", "tcp://127.0.0.1:1")
    assert result.exit_code == 1
    assert "no scheduler of Dask can be reached at tcp://127.0.0.1:1" in result.stderr


def test_without_dask_the_error_says_what_to_install(dcsvm, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = dcsvm("run", "td_svm", "--cluster", "local:2")
    assert result.exit_code == 2
    assert "pip install 'dcsvm[dask]'" in result.stderr


@pytest.mark.parametrize(
    ("text", "size"), [("4GB", 4e9), ("500 mb", 5e8), ("1.5g", 1.5e9), ("8", 8.0)]
)
def test_sizes_are_read(text, size):
    assert _parse_size(text) == size


@pytest.mark.parametrize("text", ["", "four", "-1GB", "0", "4PB"])
def test_other_sizes_are_refused(text):
    with pytest.raises(UsageError, match="must be a size such as 4GB"):
        _parse_size(text)


def test_a_run_is_taken_over_on_another_cluster_from_a_folder_elsewhere(
    rows, recipe, dcsvm, address, monkeypatch
):
    name = recipe(f'learner = "kernel_svm"\ncombiner = "route"\n{RECIPES["searched"]}')
    command = ["run", name, "--data", "rows.csv", "--target", "kind", "--out"]
    assert dcsvm(*command, "here", "--jobs", 1).exit_code == 0
    add, finished = CheckpointMirror.add, []

    def stop_after_some(self, record):
        add(self, record)
        finished.append(record)
        if len(finished) == 9:
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint_mirror, "WRITE_SECONDS", 0.0)
    monkeypatch.setattr(CheckpointMirror, "add", stop_after_some)
    kept = ["--checkpoints", "memory://kept/run"]
    assert dcsvm(*command, "lost", *kept, "--jobs", 1).exit_code == 130
    shutil.rmtree("lost")
    result = dcsvm(*command, "there", *kept, "--cluster", address)
    assert result.exit_code == 0, result.stderr
    assert "not trained again: 9 parts" in result.stderr
    for file in ("predictions.csv", "model.dcsvm"):
        assert Path("here", file).read_bytes() == Path("there", file).read_bytes()
    assert not fsspec.filesystem("memory").find("/kept")
