"""YAML as it is written: a list of numbers in a line, whatever its length."""

from __future__ import annotations

import yaml

from armsim.files.yaml_writer import block, yaml_text


def test_a_list_of_numbers_stands_in_one_line_and_a_matrix_has_a_row_a_line():
    row = [round(1.2345678 * k, 6) for k in range(40)]
    data = {"K": [row, row], "names": ["x" * 60, "y" * 60], "kp": row}
    lines = yaml_text(data).splitlines()
    assert [line[:5] for line in lines] == ["K:", "- [0.", "- [0.", "names", "- xxx", "- yyy", "kp: ["]
    assert yaml.safe_load("\n".join(lines)) == data


def test_a_block_has_a_key_a_line_where_a_mapping_would_fit_into_one():
    assert block("control", {"law": "pd", "kp": [1.0, 2.0]}) == "control:\n  law: pd\n  kp: [1.0, 2.0]"
