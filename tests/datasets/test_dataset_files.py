"""Data files of every kind: what is read of them, and what is found out about their columns."""

import bz2
import gzip
import os
import re
import struct

import numpy as np
import pytest
from scipy import sparse

from dcsvm.base.errors import DataError
from dcsvm.datasets.loading import open_table, read
from dcsvm.toolbox.table_schema import Column

TABLE = """id,size,colour,flat,kind
1,1.5,red,7,x
2,2.5,blue,7,y
3,NA,red,7,x
4,0.5,,7,y
"""


@pytest.fixture
def written(tmp_path):
    """Write a file and give its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_types_are_guessed_and_shown(written):
    data = read(written("a.csv", TABLE), "kind", missing="impute")
    assert [(fact.column, fact.kind, fact.about) for fact in data.facts] == [
        ("id", "id", "1 to 4"),
        ("size", "number", "0.5 to 2.5, 1 missing"),
        ("colour", "category", "2 different, 1 missing"),
        ("flat", "constant", "7 to 7"),
        ("kind", "target", "2 different"),
    ]
    assert data.schema.features == (Column("size"), Column("colour", ("blue", "red")))
    assert (data.schema.target, data.schema.ids, data.schema.left_out) == (
        "kind",
        ("id",),
        ("flat",),
    )
    np.testing.assert_array_equal(data.X, [[1.5, 1], [2.5, 0], [np.nan, 1], [0.5, np.nan]])
    assert data.y.tolist() == ["x", "y", "x", "y"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_and_line_ends_are_found_out(written, delimiter, end):
    text = "\ufeffa,b,kind\n\n1,2,x\n3,4,y\n".replace(",", delimiter).replace("\n", end)
    data = read(written("a.csv", text), "kind")
    assert data.features == ("a", "b")
    assert data.X.tolist() == [[1, 2], [3, 4]]


def test_a_tab_separated_file_that_is_compressed(written):
    text = b"a\tkind\n1\tx\n2\ty\n"
    for name, packed in (("a.tsv.gz", gzip.compress(text)), ("a.tsv.bz2", bz2.compress(text))):
        assert read(written(name, packed), "kind").X.tolist() == [[1], [2]]


def test_targets_by_name_and_by_number(written):
    path = written("a.csv", "kind,a,b\nx,1,3\ny,2,5\n")
    for target in ("kind", 1, -3):
        assert read(path, target).y.tolist() == ["x", "y"]
    assert read(path, -1).y.tolist() == [3, 5]


def test_a_file_without_a_header(written):
    data = read(written("a.csv", "1,x\n2,y\n"), 2, header=False)
    assert data.features == ("column1",)
    assert data.X.tolist() == [[1], [2]]


def test_numbers_that_stand_for_categories(written):
    data = read(written("a.csv", "a,b,kind\n10,1,x\n9,2,y\n10,4,y\n"), "kind", categorical=["a"])
    assert data.schema.features == (Column("a", ("9", "10")), Column("b"))
    assert data.X.tolist() == [[1, 1], [0, 2], [1, 4]]


def test_columns_that_are_dropped_are_not_even_looked_at(written):
    text = "a,day,kind\n1,2024-01-01,x\n2,2024-01-02,y\n"
    data = read(written("a.csv", text), "kind", drop=["day"])
    assert data.features == ("a",)
    assert data.schema.left_out == ("day",)


def test_a_column_that_begins_with_numbers_and_goes_on_with_words(written, monkeypatch):
    monkeypatch.setattr("dcsvm.datasets.delimited.BLOCK_BYTES", 64)
    rows = [f"{i % 3},{i % 2}\n" for i in range(20)] + [f"{'abc'[i % 3]},1\n" for i in range(60)]
    data = read(written("a.csv", "a,kind\n" + "".join(rows)), "kind")
    assert data.schema.features == (Column("a", ("0", "1", "2", "a", "b", "c")),)
    assert data.X[[0, 1, 20]].ravel().tolist() == [0, 1, 3]


def test_a_file_gives_the_same_rows_in_any_number_of_blocks(written, monkeypatch):
    generator = np.random.default_rng(0)
    rows = [f"{generator.normal()!r},{'abc'[i % 3]},{i % 2}\n" for i in range(50)]
    path = written("a.csv", "a,b,kind\n" + "".join(rows))
    whole = read(path, "kind")
    monkeypatch.setattr("dcsvm.datasets.delimited.BLOCK_BYTES", 37)
    pieces = read(path, "kind")
    np.testing.assert_array_equal(whole.X, pieces.X)
    np.testing.assert_array_equal(whole.y, pieces.y)
    assert whole.facts == pieces.facts


def test_a_mistake_in_a_later_block_has_its_line(written, monkeypatch):
    monkeypatch.setattr("dcsvm.datasets.delimited.BLOCK_BYTES", 16)
    rows = [f"{i},{i % 2}\n" for i in range(50)]
    rows[40] = "x,1\n"
    path = written("a.csv", "a,kind\n" + "".join(rows))
    with pytest.raises(DataError, match=r"a\.csv:42: 'x' in column 'a' is not a number"):
        read(path, "kind")


def test_a_header_of_many_columns(written):
    names = ",".join(f"a_rather_long_name_{number}" for number in range(5000))
    values = ",".join(map(str, range(5000)))
    others = ",".join(map(str, range(1, 5001)))
    path = written("a.csv", f"{names},kind\n{values},x\n{others},y\n")
    assert read(path, "kind").X.shape == (2, 5000)


def test_many_different_texts_must_be_asked_for(written):
    rows = "".join(f"n{i % 1001},{i % 2}\n" for i in range(2500))
    path = written("a.csv", "a,kind\n" + rows)
    with pytest.raises(DataError) as caught:
        read(path, "kind")
    assert str(caught.value).endswith(
        "a.csv: column 'a' has 1001 different strings, too many for a category; "
        "list it in `drop` or in `categorical`"
    )
    assert len(read(path, "kind", categorical=["a"]).schema.features[0].levels) == 1001


def test_a_column_that_counts_the_rows_alone_is_told_with_the_way_out(written):
    path = written("a.csv", "day,kind\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
    with pytest.raises(DataError) as caught:
        read(path, "kind")
    assert str(caught.value).endswith(
        "a.csv has no features: no column is left beside the target; left out: 'day' (id); "
        "list what counts the rows in `numeric` to learn from it"
    )


def test_numbers_in_a_data_frame_stand_for_levels_with_leading_zeros():
    assert Column("zip", ("01", "02", "10")).numbers([2, 1]).tolist() == [1, 0]
    assert Column("zip", ("01", "1")).numbers([1, 1]).tolist() == [1, 1]


SHUFFLED = [3, 0, 2, 1]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
def test_the_index_that_pandas_writes_is_an_id(written, name):
    rows = "".join(f"{number},{0.5 * number},{'xy'[number % 2]}\n" for number in SHUFFLED)
    data = read(written("a.csv", f"{name},a,kind\n{rows}"), "kind")
    assert data.features == ("a",)
    assert data.schema.ids == (name or "column1",)


def test_numbers_that_repeat_under_no_name_are_a_feature(written):
    data = read(written("a.csv", ",a,kind\n1,3,x\n1,1,y\n2,2,y\n"), "kind")
    assert data.features == ("column1", "a")


@pytest.mark.parametrize("step", [1, -1])
def test_a_column_that_counts_the_rows_is_an_id_whatever_it_is_called(written, step):
    rows = "".join(f"{100 + step * i},{i % 7},{'xy'[i % 2]}\n" for i in range(20))
    path = written("a.csv", "day,a,kind\n" + rows)
    data = read(path, "kind")
    assert (data.features, data.schema.ids) == (("a",), ("day",))
    ends = "100 to 119" if step > 0 else "81 to 100"
    assert (data.facts[0].kind, data.facts[0].about) == ("id", f"{ends}, counts the rows")
    kept = read(path, "kind", numeric=["day"])
    assert (kept.features, kept.schema.ids) == (("day", "a"), ())
    assert (kept.facts[0].kind, kept.facts[0].about) == ("number", ends)


@pytest.mark.parametrize(
    "values",
    [range(19), range(0, 40, 2), [i + 0.5 for i in range(20)], [*range(19), 20]],
    ids=["few rows", "by two", "halves", "a gap"],
)
def test_a_column_that_does_not_quite_count_the_rows_is_a_feature(written, values):
    rows = "".join(f"{value},{'xy'[i % 2]}\n" for i, value in enumerate(values))
    assert read(written("a.csv", "a,kind\n" + rows), "kind").features == ("a",)


def test_numbers_under_the_name_of_an_id_can_be_learned_from(written):
    data = read(written("a.csv", TABLE), "kind", missing="impute", numeric=["id"])
    assert data.features == ("id", "size", "colour")


ZIPS = "zip,a,kind\n" + "".join(f"{i % 4 * 1111:05d},{i % 7},{'xy'[i % 2]}\n" for i in range(30))
PADDED = (
    "a.csv: column 'zip' has numbers with leading zeros, such as '00000', and is read as "
    "a category; list it in `categorical`, `numeric` or `drop`"
)


def test_numbers_with_leading_zeros_are_a_category_and_told(written):
    path = written("a.csv", ZIPS)
    with pytest.warns(UserWarning, match=re.escape(PADDED) + "$"):
        data = read(path, "kind")
    assert data.schema.features[0] == Column("zip", ("00000", "01111", "02222", "03333"))
    assert read(path, "kind", categorical=["zip"]).schema == data.schema
    assert read(path, "kind", numeric=["zip"]).schema.features[0] == Column("zip")


def test_many_numbers_with_leading_zeros_are_told_as_many_texts_are(written):
    rows = "".join(f"{i % 1001:05d},{i % 2}\n" for i in range(2500))
    with pytest.raises(DataError, match="column 'zip' has 1001 different strings, too many"):
        read(written("a.csv", "zip,kind\n" + rows), "kind")
    rows = "".join(f"{97 * i % 1001:05d},{i % 7},{i % 2}\n" for i in range(800))
    path = written("b.csv", "zip,a,kind\n" + rows)
    with pytest.warns(UserWarning, match="such as '00000', and is read as an id;"):
        assert read(path, "kind").schema.ids == ("zip",)


@pytest.mark.parametrize("values", ["0.5 0.25 0", "007 0.5 3", "00.5 1 2", "-01 1 2", "0 10 20"])
def test_zeros_that_lead_no_whole_numbers_mean_nothing(written, values):
    rows = "".join(f"{value},{'xy'[i % 2]}\n" for i, value in enumerate(values.split()))
    assert read(written("a.csv", "a,kind\n" + rows), "kind").schema.features == (Column("a"),)


def test_a_padded_id_is_an_id(written):
    text = "id,a,kind\n001,3,x\n002,1,y\n003,2,y\n"
    assert read(written("a.csv", text), "kind").schema.ids == ("id",)


def test_texts_with_leading_zeros_in_typed_columns(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pip install 'dcsvm[arrow]'")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"zip": ["01", "02", "10", "02"], "kind": list("xyxy")})
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.warns(UserWarning, match="such as '01', and is read as a category;"):
        data = read(tmp_path / "a.parquet", "kind")
    assert data.schema.features == (Column("zip", ("01", "02", "10")),)


def test_what_is_listed_as_numeric_holds_numbers(written):
    text = "a,b,kind\nred,1,x\nblue,3,y\n"
    with pytest.raises(DataError) as caught:
        read(written("a.csv", text), "kind", numeric=["a"])
    assert str(caught.value).endswith(
        "a.csv:2: 'red' in column 'a' is not a number, but the column is listed in `numeric`; "
        "correct it, or remove the column from that list"
    )


def test_a_column_is_listed_as_one_kind(written, tmp_path):
    np.savez(tmp_path / "b.npz", X=np.arange(8.0).reshape(4, 2), y=[0, 1, 0, 1])
    assert read(tmp_path / "b.npz", numeric=["x1"]).features == ("x1", "x2")
    csv = written("a.csv", "x1,x2,y\n1,2,x\n3,4,y\n")
    for path in (csv, tmp_path / "b.npz"):
        with pytest.raises(DataError) as caught:
            read(path, "y", categorical=["x1"], numeric=["x1"])
        assert str(caught.value).endswith(
            f"{path.name}: column 'x1' cannot be listed in `numeric`: it is listed in "
            "`categorical`, or the file declares its levels"
        )


SVM = b"1 1:0.5 3:2 # a comment\n-1 2:1\n\n1 qid:3 1:4\n"


@pytest.mark.parametrize("name", ["a.svm", "a.libsvm.bz2", "a.svmlight.gz"])
def test_sparse_rows_whose_features_count_from_one(written, name):
    packed = {"bz2": bz2.compress, "gz": gzip.compress}.get(name.rpartition(".")[2], bytes)(SVM)
    data = read(written(name, packed))
    assert data.X.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0], [4, 0, 0]]
    assert data.y.tolist() == [1, -1, 1]
    assert data.schema.first_index == 1


def test_sparse_rows_whose_features_count_from_zero(written):
    data = read(written("a.svm", b"1 0:5\n2 1:6\n"))
    assert data.X.toarray().tolist() == [[5, 0], [0, 6]]
    assert data.schema.first_index == 0


ARFF = """% comment
@RELATION 'a b'
@ATTRIBUTE size REAL
@attribute 'the colour' {red, 'light blue'}
@attribute kind {x, y}
@DATA
"""


@pytest.mark.parametrize(
    "rows",
    [
        "1.5,red,x\n?,'light blue',y\n",
        '1.5,red,x\n% comment\n\n?, "light blue", y\n',
        "{0 1.5}\n{0 ?, 1 'light blue', 2 y}\n",
    ],
)
def test_arff_rows_dense_and_sparse(written, rows):
    data = read(written("a.arff", ARFF + rows), missing="impute")
    assert data.schema.features == (Column("size"), Column("the colour", ("red", "light blue")))
    np.testing.assert_array_equal(data.X, [[1.5, 0], [np.nan, 1]])
    assert data.y.tolist() == ["x", "y"]


def test_plain_arff_rows_take_the_quick_way(written):
    text = "@relation r\n@attribute a real\n@attribute b real\n@attribute kind {0,1}\n@data\n"
    data = read(written("a.arff", text + "1,2,0\n3,4,1\n"))
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert data.y.tolist() == [0, 1]
    with pytest.raises(DataError, match=r"a\.arff:7: 'x' in column 'a' is not a number"):
        read(written("a.arff", text + "1,2,0\nx,4,1\n3,4,1\n5,6,0\n"))


def test_npz_files_with_categories_classes_and_names(tmp_path):
    np.savez(
        tmp_path / "a.npz",
        X=np.array([[0, 5], [1, 6], [1, 7]], dtype=np.int16, order="F"),
        y=np.array([0, 1, 1], dtype=np.uint8),
        classes=np.array(["no", "yes"]),
        categorical=np.array([0]),
        levels_0=np.array(["red", "blue"]),
        feature_names=np.array(["colour", "size"]),
    )
    data = read(tmp_path / "a.npz")
    assert data.y.tolist() == ["no", "yes", "yes"]
    assert data.schema.features == (Column("colour", ("red", "blue")), Column("size"))
    assert data.X.tolist() == [[0, 5], [1, 6], [1, 7]]
    assert read(tmp_path / "a.npz", drop=["size"]).X.tolist() == [[0], [1], [1]]


@pytest.mark.parametrize("prefix", ["", "train_"])
def test_npz_files_with_parts_of_sparse_matrices(tmp_path, prefix):
    X = sparse.csr_array([[0, 1.5, 0], [2.5, 0, 0]])
    halves = ["train_", "test_"] if prefix else [""]
    arrays = {}
    for half in halves:
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        arrays |= {f"{half}{key}": value for key, value in parts.items()}
        arrays[f"y_{half[:-1]}" if half else "y"] = np.array([0, 1])
    np.savez(tmp_path / "a.npz", **arrays)
    data = read(tmp_path / "a.npz")
    assert sparse.issparse(data.X)
    assert data.X.toarray().tolist() == X.toarray().tolist() * len(halves)
    assert (data.published_test is None) == (prefix == "")


def test_a_sparse_matrix_with_indices_that_point_outside_is_refused(tmp_path):
    arrays = {"data": [1.0], "indices": [9], "indptr": [0, 1, 1], "shape": [2, 3], "y": [0, 1]}
    np.savez(tmp_path / "a.npz", **{key: np.array(value) for key, value in arrays.items()})
    with pytest.raises(DataError, match="the parts of a CSR matrix do not fit"):
        read(tmp_path / "a.npz")


def arrow_table():
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table(
        {
            "size": pyarrow.array([1.5, None, 2.5]),
            "colour": pyarrow.array(["red", "blue", "red"]).dictionary_encode(),
            "big": pyarrow.array([True, False, True]),
            "kind": ["x", "y", "y"],
        }
    )


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow"])
def test_parquet_and_arrow_files(tmp_path, name):
    table = arrow_table()
    import pyarrow.feather
    import pyarrow.parquet

    path = tmp_path / name
    if name == "a.parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, str(path))
    data = read(path, "kind", missing="impute")
    assert data.schema.features == (
        Column("size"),
        Column("colour", ("blue", "red")),
        Column("big"),
    )
    np.testing.assert_array_equal(data.X, [[1.5, 1, 1], [np.nan, 0, 0], [2.5, 1, 1]])
    with pytest.raises(DataError, match="row 2: a value is missing in column 'size'"):
        read(path, "kind")


def test_a_parquet_file_where_pyarrow_is_not_installed(written, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(DataError) as caught:
        read(written("a.parquet", b"PAR1"), "kind")
    assert str(caught.value).endswith(
        "a.parquet' needs pyarrow, which is not installed: pip install 'dcsvm[arrow]'"
    )


def test_a_parquet_file_that_is_none(written):
    pytest.importorskip("pyarrow")
    for name in ("a.parquet", "a.arrow"):
        with pytest.raises(DataError, match="cannot be read"):
            read(written(name, b"nonsense" * 9), "kind")


def test_a_file_without_a_named_target_says_what_there_is(written):
    with pytest.raises(DataError) as caught:
        read(written("a.csv", TABLE))
    assert str(caught.value).endswith(
        "a.csv: the target column is not given; available: id, size, colour, flat, kind"
    )


def test_a_file_of_typed_columns_whose_offsets_lead_astray_is_refused(tmp_path):
    """Compiled code would follow them out of the file, and end the process."""
    pyarrow = pytest.importorskip("pyarrow", reason="pip install 'dcsvm[arrow]'")
    feather = pytest.importorskip("pyarrow.feather")
    path = tmp_path / "a.feather"
    table = pyarrow.table({"colour": ["red", "blue", "red", "red"], "kind": list("xyxy")})
    feather.write_feather(table, str(path), compression="uncompressed")
    right, wrong = struct.pack("<5i", 0, 3, 7, 10, 13), struct.pack("<5i", 0, 3, 7, 10, 2**31 - 1)
    content = path.read_bytes()
    assert content.count(right) == 1
    path.write_bytes(content.replace(right, wrong))
    with pytest.raises(DataError, match=r"a\.feather' cannot be read: .*out of bounds"):
        read(path, "kind")


def test_a_file_of_typed_columns_cut_short_while_it_is_read_is_refused(tmp_path):
    """Mapped into memory, it would end the process."""
    pyarrow = pytest.importorskip("pyarrow", reason="pip install 'dcsvm[arrow]'")
    feather = pytest.importorskip("pyarrow.feather")
    path = tmp_path / "a.feather"
    table = pyarrow.table({"size": np.arange(200_000.0)})
    feather.write_feather(table, str(path), compression="uncompressed")
    blocks = open_table(path).blocks()
    next(blocks)
    os.truncate(path, 1 << 20)
    with pytest.raises(
        DataError, match=r"a\.feather' cannot be read: .*(too short|Expected to be able to read)"
    ):
        list(blocks)


def test_missing_values_lists_what_counts_as_missing(written):
    table = "size,colour,kind\n1,none,x\n-999,red,y\n3,Absent,x\n4,none,y\n"
    words = {"missing": "impute", "missing_values": ["absent", "-999"]}
    data = read(written("a.csv", table), "kind", **words)
    assert [column.levels for column in data.schema.features] == [None, ("none", "red")]
    assert np.isnan(data.X[1, 0])
    assert np.isnan(data.X[2, 1])
    assert np.isnan(data.X).sum() == 2
    usual = read(written("a.csv", table), "kind", missing="impute")
    assert usual.schema.features[1].levels == ("Absent", "red")


def test_of_many_mistakes_the_first_are_listed(written):
    names = [f"c{j}" for j in range(14)]
    rows = [",".join([str(i)] * 14) + f",{'xy'[i % 2]}" for i in range(8)]
    text = "\n".join([",".join([*names, "kind"]), *rows, ",".join(["red"] * 14) + ",x"])
    with pytest.raises(DataError) as caught:
        read(written("a.csv", text), "kind")
    lines = str(caught.value).split("\n")
    assert len(lines) == 11
    assert lines[-1].endswith("a.csv: 4 more such mistakes")


def test_words_of_a_category_that_count_as_missing_are_counted(tmp_path):
    path = tmp_path / "rows.csv"
    plans = ["none", "gold", "NA", "free", "none", ""]
    path.write_text("plan,a,y\n" + "".join(f"{plans[i % 6]},{i % 4},{i % 2}\n" for i in range(36)))
    facts = {fact.column: fact.words for fact in read(path, "y", missing="mark").facts}
    assert facts == {"plan": {"none": 12, "NA": 6}, "a": {}, "y": {}}
    levels = read(path, "y", missing="mark", missing_values=["NA"])
    assert levels.facts[0].words == {"NA": 6}
    assert levels.schema.features[0].levels == ("free", "gold", "none")


def test_rows_without_the_target_are_left_out_in_memory_and_on_disk(written, tmp_path):
    table = "a,colour,kind\n" + "".join(
        f"{i / 4},{('red', 'blue')[i % 2]},{('x', '', 'y')[i % 3]}\n" for i in range(30)
    )
    (tmp_path / "spill").mkdir()
    kept = [i for i in range(30) if i % 3 != 1]
    for spill in (None, tmp_path / "spill"):
        data = read(written("a.csv", table), "kind", missing_target="drop", spill=spill)
        assert data.X[:, 0].tolist() == [i / 4 for i in kept]
        assert data.y.tolist() == [("x", "", "y")[i % 3] for i in kept]
    with pytest.raises(DataError, match="is missing in 30 of 30 rows"):
        read(written("a.csv", "a,kind\n" + "1,\n2,\n" * 15), "kind", missing_target="drop")


def test_only_words_that_may_be_levels_are_doubtful(written):
    table = "coupon,price,y\n" + "none,1,a\nVIP,NA,b\nNA,3,a\n?,4,b\nVIP,5,a\n" * 4
    path = written("a.csv", table)
    facts = {
        fact.column: fact for fact in read(path, "y", missing="mark", numeric=["price"]).facts
    }
    assert facts["coupon"].words == {"none": 4, "NA": 4, "?": 4}
    assert facts["coupon"].doubtful == ("none",)  # NA stands for a price, too
    assert facts["price"].doubtful == ()
    chosen = read(path, "y", missing="mark", missing_values=["?", "NA"]).facts[0]
    assert (chosen.words, chosen.doubtful) == ({"NA": 4, "?": 4}, ())
