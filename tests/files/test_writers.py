"""Numbers and text that are written read back to the same."""

import ctypes
import errno
import io
import math
import os
import subprocess
import sys

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from armsim.errors import FileFaults, UsageError
from armsim.files.csv_reader import read_csv
from armsim.files.csv_writer import CsvTable, write_csv
from armsim.files.new_file import check_output, write_files
from armsim.files.nodes import Map, Scalar, Seq
from armsim.files.yaml_reader import parse_yaml
from armsim.files.yaml_writer import yaml_text


def plain(node):
    if isinstance(node, Map):
        return {key: plain(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, Seq):
        return [plain(item) for item in node.items]
    assert isinstance(node, Scalar)
    return node.value


numbers = st.floats(allow_nan=False)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
data = st.dictionaries(
    words,
    st.recursive(
        st.none() | st.booleans() | numbers | words,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
        max_leaves=12,
    ),
    min_size=1,
    max_size=5,
)


@given(data)
def test_yaml_reads_back_to_the_same_data_with_us_and_with_pyyaml(tree):
    text = yaml_text(tree)
    assert plain(parse_yaml(text, "f.yaml")) == tree
    assert yaml.safe_load(text) == tree


@given(numbers)
def test_a_number_in_yaml_reads_back_to_the_same_bits(x):
    for back in (parse_yaml(yaml_text({"a": x}), "f").get("a").value, yaml.safe_load(yaml_text({"a": x}))["a"]):
        assert float(back).hex() == x.hex()


def test_yaml_is_for_people():
    text = yaml_text({"q": [0.0, -1.1, 1e-5], "name": "arm5", "on": "yes", "empty": {}, "t": "2*t: x"}, "one\n\ntwo")
    assert text == ("# one\n#\n# two\nq: [0.0, -1.1, 1.0e-05]\nname: arm5\n'on': 'yes'\nempty: {}\nt: '2*t: x'\n")


def test_csv_has_the_fewest_digits_and_line_feeds(tmp_path):
    path = tmp_path / "a.csv"
    write_csv(path, ["a_m", "b"], [1.0, 0.1, 10.0, -0.0, 1e22, 3e-7])
    assert path.read_bytes() == b"a_m,b\n1,0.1\n10,-0\n1e+22,3e-7\n"


def test_csv_keeps_numbers_that_json_does_not_have(tmp_path):
    path = tmp_path / "a.csv"
    write_csv(path, ["a", "b"], [1.0, math.nan, math.inf, -math.inf])
    assert path.read_text() == "a,b\n1,nan\ninf,-inf\n"


@given(st.lists(numbers, min_size=1, max_size=40))
def test_csv_reads_back_to_the_same_bits(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    write_csv(path, ["x"], values)
    back = [float(line) for line in path.read_text().splitlines()[1:]]
    assert [x.hex() for x in back] == [x.hex() for x in values]


def test_csv_takes_chosen_columns_of_any_array_scaled_after_the_times():
    rows, width = 5000, 4
    values = [float(i) + 0.5 for i in range(rows * width)]
    times = [k / 1000 for k in range(rows)]
    expected = [f"{t!r},{2 * (4 * k + 2.5)!r},{4 * k + 0.5!r}" for k, t in enumerate(times)]
    for array in (values, (ctypes.c_double * len(values))(*values), np.array(values)):
        text = io.BytesIO()
        CsvTable(text.write, ["t_s", "c", "a"], [2, 0], [2.0, 1.0]).add(array, width, rows, times)
        lines = text.getvalue().decode().splitlines()
        assert lines[0] == "t_s,c,a"
        assert lines[1:] == [line.replace(".0,", ",").removesuffix(".0") for line in expected]
        text = io.BytesIO()
        CsvTable(text.write, ["t_s", "b", "c"], [1, 2], [1.0, 1.0]).add(array, width, 2, times[:2])
        assert text.getvalue() == b"t_s,b,c\n0,1.5,2.5\n0.001,5.5,6.5\n"


def test_csv_columns_are_read_by_their_headings(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbft_s,"tau, motor"\r\n0, 1e-3\r\n0.1,-2\r\n\r\n')
    columns = {name: list(values) for name, values in read_csv(str(path)).columns.items()}
    assert columns == {"t_s": [0, 0.1], "tau, motor": [1e-3, -2]}


@pytest.mark.parametrize(
    "text", ["", "a,b\n", "a,b\n1,2\n3,x\n", "a,b\n1,\n", "a,b\n1,nan\n", "a,b\n1,2,3\n", "a,a\n1,2\n"]
)
def test_a_faulty_csv_file_is_explained(tmp_path, monkeypatch, text, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FileFaults) as caught:
        read_csv("a.csv")
    told(caught.value)


def test_a_table_takes_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("before")
    with pytest.raises(TypeError):  # after the headings have been written
        write_csv(path, ["x"], [object()])
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path):
    path, link, dangling = tmp_path / "a.csv", tmp_path / "link.csv", tmp_path / "dangling.csv"
    path.write_text("before")
    link.symlink_to(path)
    dangling.symlink_to(tmp_path / "nowhere.csv")
    for one in (link, dangling):
        with pytest.raises(UsageError, match="one that exists"):
            check_output(str(one))
        check_output(str(one), force=True)
        write_csv(one, ["x"], [2.0])
        assert (one.is_symlink(), one.read_text()) == (False, "x\n2\n")
    assert path.read_text() == "before"
    assert not (tmp_path / "nowhere.csv").exists()


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="the system has no /dev/stdout")
def test_the_system_s_links_to_open_files_are_written_through(tmp_path):
    code = "from armsim.files.csv_writer import write_csv; write_csv('/dev/stdout', ['x'], [2.0])"
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "x\n2\n"
    assert os.path.islink("/dev/stdout")


def test_a_full_disk_leaves_neither_new_files_nor_the_folders_made_for_them(tmp_path, monkeypatch):
    flushed = []

    def full(path):
        flushed.append(path)
        if len(flushed) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("armsim.files.claim.flush", full)
    with pytest.raises(OSError, match="No space left"):
        write_files(str(tmp_path / "a" / "b"), {"x": "1", "y": "2"})
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "old").mkdir()
    (tmp_path / "old/x").write_text("before")
    flushed.clear()
    with pytest.raises(OSError, match="No space left"):
        write_files(str(tmp_path / "old"), {"x": "1", "y": "2"})
    assert sorted(path.name for path in (tmp_path / "old").iterdir()) == ["x"]
