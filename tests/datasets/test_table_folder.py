"""Folders of tables and matrices on disk: read block by block, they are what one file is."""

import numpy as np
import pytest

from dcsvm import DataError, TablePreparation
from dcsvm.datasets import table_folder
from dcsvm.datasets.loading import measure_shape, open_table, read
from dcsvm.numeric import MappedRows, mapped_rows

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

GENERATOR = np.random.default_rng(0)
FRAME = pd.DataFrame(GENERATOR.normal(size=(1_000, 3)), columns=["a", "b", "c"])
FRAME["colour"] = np.where(FRAME.b > 1, "red", np.where(FRAME.c > 0, "blue", "green"))
FRAME["zip"] = [f"{number:05}" for number in GENERATOR.integers(9, size=1_000)]
FRAME["always"] = 3.0
FRAME["id"] = np.arange(1_000)
FRAME["kind"] = np.where(FRAME.a > 0, "up", "down")
FRAME.loc[FRAME.index % 7 == 0, ["b", "colour"]] = None


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "parts"
    path.mkdir()
    FRAME[:300].to_parquet(path / "0.parquet", row_group_size=70)
    FRAME[300:][list(FRAME.columns[::-1])].reset_index(drop=True).to_feather(path / "1.feather")
    return path


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(mapped_rows, "COLUMN_BYTES", 8 * 1_000 * 2)


@pytest.mark.filterwarnings("ignore:.*leading zeros")
def test_a_folder_on_disk_is_the_file_in_memory(folder, tmp_path):
    FRAME.to_parquet(tmp_path / "rows.parquet")
    (tmp_path / "spill").mkdir()
    expected = read(tmp_path / "rows.parquet", "kind", missing="impute")
    found = read(folder, "kind", missing="impute", spill=tmp_path / "spill")
    assert isinstance(found.X, MappedRows)
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.y, expected.y)
    assert found.schema == expected.schema
    assert found.facts == expected.facts
    assert [each.name for each in (tmp_path / "spill").iterdir()] == ["X.npy"]


@pytest.mark.filterwarnings("ignore:.*leading zeros")
@pytest.mark.parametrize("scale", ["minmax", "standard", "robust", "quantile", "none"])
@pytest.mark.parametrize("missing", ["impute", "mark"])
def test_rows_on_disk_are_prepared_to_the_bits_of_rows_in_memory(folder, tmp_path, scale, missing):
    (tmp_path / "spill").mkdir()
    data = read(folder, "kind", missing=missing, spill=tmp_path / "spill")
    on_disk, in_memory = (TablePreparation(scale, missing=missing) for _ in range(2))
    on_disk, in_memory = (
        on_disk.set_params(schema=data.schema),
        in_memory.set_params(schema=data.schema),
    )
    found = on_disk.fit(data.X).transform(data.X)
    expected = in_memory.fit(np.array(data.X)).transform(np.array(data.X))
    assert isinstance(found, MappedRows)
    np.testing.assert_array_equal(found, expected)
    assert on_disk.features() == in_memory.features()


def test_a_matrix_is_a_table_whose_columns_are_numbered(tmp_path):
    X = np.column_stack([FRAME.a, FRAME.c, FRAME.a > 0])
    np.save(tmp_path / "X.npy", X)
    data = read(tmp_path / "X.npy", -1)
    assert data.features == ("x1", "x2")
    np.testing.assert_array_equal(data.X, X[:, :2])
    assert data.y.tolist() == X[:, 2].tolist()


def test_the_memory_of_a_table_is_known_before_it_is_read(folder, tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((50, 3), dtype=np.float32))
    assert measure_shape(tmp_path / "X.npy") == (50, 3)
    assert measure_shape(folder / "0.parquet") == (300, 8)
    assert measure_shape(folder)[0] > 300
    FRAME.to_csv(tmp_path / "rows.csv")
    assert measure_shape(tmp_path / "rows.csv") == (0, 0)


def test_places_in_a_folder_are_rows_of_the_whole_table(folder):
    table = open_table(folder)
    assert isinstance(table, table_folder.TableFolder)
    assert [block.place(0) for block in table.blocks()] == [1, 301]


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros(3), "must hold a matrix of numbers, but holds float64 of shape"),
        (np.array([["a"]]), "must hold a matrix of numbers, but holds <U1"),
        (np.array([[{}]]), "is not a matrix of numbers"),
    ],
)
def test_other_arrays_are_refused(array, said, tmp_path):
    np.save(tmp_path / "X.npy", array, allow_pickle=True)
    with pytest.raises(DataError, match=said):
        read(tmp_path / "X.npy", 1)


def test_files_of_other_columns_are_refused(folder):
    FRAME.drop(columns="a").to_parquet(folder / "2.parquet")
    with pytest.raises(DataError, match=r"2.parquet' has other columns than .*0.parquet"):
        read(folder, "kind")


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"holds no file that ends in \.parquet"):
        read(tmp_path, "kind")
