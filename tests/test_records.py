"""Results as plain data, and back."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from importlib import import_module
from types import ModuleType
from typing import Literal

import pytest

from armsim.records import OMIT, PARTS, Mismatch, as_plain, from_plain, light_record, mutable_record, record


@dataclass(frozen=True)
class Peak:
    peak: float
    ise: float


@dataclass(frozen=True)
class Stop:
    kind: Literal["stop"]
    joint: str
    from_: float


@dataclass(frozen=True)
class Winding:
    kind: Literal["winding"]
    celsius: float | None


@dataclass(frozen=True, kw_only=True)
class Joint:
    joint: str
    note: str | None = field(default=None, metadata=OMIT)
    peaks: Peak | None = field(default=None, metadata=PARTS)
    limits: dict[str, int]
    found: tuple[Stop | Winding, ...] = ()


WHOLE = Joint(
    joint="R1",
    note="hot",
    peaks=Peak(1.0, 2.0),
    limits={"voltage": 3},
    found=(Stop("stop", "R1", 0.5), Winding("winding", None)),
)
PLAIN = {
    "joint": "R1",
    "note": "hot",
    "peak": 1.0,
    "ise": 2.0,
    "limits": {"voltage": 3},
    "found": [{"kind": "stop", "joint": "R1", "from": 0.5}, {"kind": "winding", "celsius": None}],
}


def test_plain_data_has_the_fields_in_their_order_and_parts_among_those_of_the_whole():
    assert json.dumps(as_plain(WHOLE)) == json.dumps(PLAIN)
    assert as_plain(Joint(joint="R1", limits={})) == {"joint": "R1", "limits": {}, "found": []}


@pytest.mark.parametrize("result", [WHOLE, Joint(joint="R1", limits={})])
def test_a_result_comes_back_from_its_plain_data(result):
    assert from_plain(Joint, {**as_plain(result), "of_a_later_version": 1}) == result


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({"joint": None}, ("joint",)),
        ({"ise": "x"}, ("ise",)),
        ({"limits": {"voltage": -1}}, ("limits", "voltage")),
        ({"limits": []}, ("limits",)),
        ({"found": [PLAIN["found"][0], {"kind": "winding", "celsius": "warm"}]}, ("found", "1", "celsius")),
        ({"found": [{"kind": "fire"}]}, ("found", "0", "kind")),
    ],
)
def test_data_of_another_kind_are_refused_with_the_keys_that_lead_there(changes, keys):
    with pytest.raises(Mismatch) as refused:
        from_plain(Joint, {**PLAIN, **changes})
    assert refused.value.keys == keys


@dataclass(frozen=True)
class Part:
    b: float
    a: tuple[int, ...]


@dataclass(frozen=True)
class Whole:
    second: Part | None
    first: list[Part]
    known: float | None = field(default=None, metadata=OMIT)


def test_fields_keep_their_order_and_what_is_within_becomes_plain_too():
    plain = as_plain({"of": Whole(Part(1.0, (2, 3)), [Part(0.5, ())], 0.0)})
    assert plain == {"of": {"second": {"b": 1.0, "a": [2, 3]}, "first": [{"b": 0.5, "a": []}], "known": 0.0}}
    assert [list(plain["of"]), list(plain["of"]["second"])] == [["second", "first", "known"], ["b", "a"]]


def test_a_field_may_be_left_out_where_it_is_none():
    assert as_plain(Whole(None, [])) == {"second": None, "first": []}


@record
class Sample:
    """A record whose fields nobody has asked for."""

    t: float
    name: str = field(default="q", metadata=OMIT)


@pytest.fixture
def later():
    """A record that is derived from `Sample`, anew for each test: whatever order they come in."""

    @record
    class Later(Sample):
        kept: list[int] = field(default_factory=list, kw_only=True)

    return Later


def test_fields_of_a_record_are_found_when_they_are_asked_for_once_and_by_all_threads(later):
    assert not isinstance(vars(later)["__dataclass_fields__"], dict)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: [(of.name, dict(of.metadata)) for of in fields(later)], range(32)))
    assert found == [[("t", {}), ("name", OMIT), ("kept", {})]] * 32
    one = later(1.0, kept=[2])
    assert (one.t, one.name, one.kept) == (1.0, "q", [2])
    assert replace(one, t=2.0) == later(2.0, "q", kept=[2])
    with pytest.raises(FrozenInstanceError):
        one.t = 3.0


def test_what_is_derived_from_a_record_is_frozen_as_dataclasses_want_it(later):
    @dataclass(frozen=True)
    class Plain(later):
        """A plain dataclass."""

        more: float = 0.0

    with pytest.raises(FrozenInstanceError):
        Plain(1.0).more = 1.0
    with pytest.raises(TypeError, match="non-frozen"):
        dataclass(type("Loose", (later,), {}))


def test_a_light_record_has_a_hash_by_its_fields_and_comes_back_from_a_pickle():
    assert {Corner(1.0), Corner(1.0, 0.0)} == {Corner(1.0)} != {Corner(2.0)}
    assert pickle.loads(pickle.dumps(Corner(1.0, 2.0))) == Corner(1.0, 2.0)


@light_record
class Corner:
    """A record of which thousands are made."""

    x: float
    y: float = 0.0


def test_a_mutable_record_of_a_frozen_one_is_made():
    @mutable_record
    class Moving(Sample):
        speed: float = 0.0

    assert Moving(1.0, speed=2.0).speed == 2.0


@pytest.mark.parametrize(
    "package", ["actuation", "document", "dynamics", "expr", "geometry", "loading", "measures", "plant"]
)
def test_a_package_opens_each_of_its_public_names_in_a_module_that_has_another_name(package):
    whole = import_module(f"armsim.{package}")
    for name in whole.__all__:
        assert not isinstance(getattr(whole, name), ModuleType)
