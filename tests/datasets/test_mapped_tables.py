"""Tables on disk: one file or a folder, cut in any way, give the same rows."""

import numpy as np
import pytest

from dcsvm import DataError
from dcsvm.datasets.mapped_tables import map_rows, map_table

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

FRAME = pd.DataFrame(np.random.default_rng(0).normal(size=(1_000, 3)), columns=["a", "b", "c"])
FRAME["kind"] = np.where(FRAME.a > 0, "up", "down")


def test_rows_of_a_folder_are_those_of_its_files_in_the_order_of_names(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    FRAME[:300].to_parquet(folder / "0.parquet", row_group_size=70)
    FRAME[300:].reset_index(drop=True).to_feather(folder / "1.feather")
    X, y = map_table(folder, "kind", tmp_path / "X.npy")
    np.testing.assert_array_equal(X, FRAME[["a", "b", "c"]].to_numpy())
    assert y.tolist() == FRAME.kind.tolist()
    np.testing.assert_array_equal(map_rows(tmp_path / "X.npy"), X)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["X.npy", "parts"]


def test_whole_numbers_as_labels_are_integers(tmp_path):
    FRAME.assign(kind=np.arange(1_000) % 3).to_parquet(tmp_path / "rows.parquet")
    _, y = map_table(tmp_path / "rows.parquet", "kind", tmp_path / "X.npy")
    assert y.dtype == np.int64
    assert y.tolist() == [number % 3 for number in range(1_000)]


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (FRAME.assign(b="red"), "column 'b' holds texts"),
        (FRAME.assign(b=np.nan), "column 'b' has missing or infinite values"),
        (FRAME.rename(columns={"kind": "kinds"}), "no column 'kind'; did you mean 'kinds'"),
        (FRAME[["kind"]], "no column besides 'kind'"),
        (FRAME[:0], "has no rows"),
    ],
)
def test_a_table_that_cannot_be_mapped_is_refused(frame, said, tmp_path):
    frame.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=said):
        map_table(tmp_path / "rows.parquet", "kind", tmp_path / "X.npy")
    assert [each.name for each in tmp_path.iterdir()] == ["rows.parquet"]


def test_files_of_other_columns_are_refused(tmp_path):
    FRAME.to_parquet(tmp_path / "0.parquet")
    FRAME.drop(columns="a").to_parquet(tmp_path / "1.parquet")
    with pytest.raises(DataError, match=r"1.parquet' has other columns than .*0.parquet"):
        map_table(tmp_path, "kind", tmp_path / "X.npy")


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"holds no file that ends in \.parquet"):
        map_table(tmp_path, "kind", tmp_path / "X.npy")


def test_a_spill_file_has_the_ending_of_its_format(tmp_path):
    FRAME.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"the spill file must end in \.npy"):
        map_table(tmp_path / "rows.parquet", "kind", tmp_path / "X.bin")


def test_rows_that_cannot_be_mapped_are_refused(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros(3))
    with pytest.raises(DataError, match=r"X.npy' cannot be mapped: must hold a matrix"):
        map_rows(tmp_path / "X.npy")
    with pytest.raises(DataError, match=r"Y.npy' cannot be read: No such file"):
        map_rows(tmp_path / "Y.npy")
