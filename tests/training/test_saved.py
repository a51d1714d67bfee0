"""Runs in a folder: what was saved is what is loaded, and nothing else is."""

import json
import os

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paritylab as pl
from paritylab.training.saved import recipe_form, recipe_from

TASK = pl.Uniform(pl.Parity(10, (0, 1)))
SETTINGS = {"rate": [0.1, 1.0], "seeds": 2, "steps": 300, "lanes": 4, "validation": 512, "watch": False}
RECORDS = pl.training.Recording((pl.training.ValidationError(), pl.training.Weights((0, 1))), every=100)


def own_network(n, *, key):
    return eqx.nn.MLP(n, "scalar", 8, 1, key=key)


@pytest.fixture(scope="module")
def runs():
    return pl.train(TASK, pl.MLP(20), **SETTINGS, records=RECORDS, keep=True)


@pytest.fixture
def folder(runs, tmp_path):
    runs.save(tmp_path / "runs")
    return tmp_path / "runs"


def same(left, right) -> bool:
    pairs = zip(*(jax.tree.leaves(eqx.filter(each, eqx.is_array)) for each in (left, right)), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)


def test_what_is_loaded_is_what_was_saved(runs, folder):
    again = pl.load(folder)
    assert again.table().equals(runs.table()) and repr(again) == repr(runs)
    left, right = again.curves(), runs.curves()
    assert left.drop(columns="weights").equals(right.drop(columns="weights"))
    np.testing.assert_array_equal(np.stack(left.weights), np.stack(right.weights))
    assert left.weights[0].shape == (2, 10) and left.weights[0].dtype == right.weights[0].dtype
    for run in (0, 3, -1):
        assert same(again.network(run), runs.network(run))
    point = jnp.ones(10)
    assert again.network(1)(point) == runs.network(1)(point)
    bits = lambda keys: np.array([jax.random.key_data(key) for key in keys])
    np.testing.assert_array_equal(bits(again.keys), bits(runs.keys))
    assert again.summary() == runs.summary()


def test_a_folder_has_no_code_in_it_and_says_what_each_file_is(folder):
    about = json.loads((folder / "runs.json").read_text())
    assert {path.name for path in folder.iterdir()} == {"runs.json", *about["files"]}
    assert {path.rpartition(".")[2] for path in about["files"]} == {"parquet", "npz"}
    with np.load(folder / "networks-0.npz", allow_pickle=False) as arrays:
        assert all(arrays[name].dtype.kind in "fi" for name in arrays.files)


def test_a_network_of_ones_own_needs_its_recipe(tmp_path):
    runs = pl.train(TASK, own_network, **SETTINGS | {"rate": 0.1}, keep=True)
    runs.save(tmp_path / "own")
    with pytest.raises(ValueError, match=r"pl.load\(folder, network=recipe\)"):
        pl.load(tmp_path / "own").network(0)
    assert same(pl.load(tmp_path / "own", network=own_network).network(1), runs.network(1))
    with pytest.raises(ValueError, match="Give the recipe that they were trained with"):
        pl.load(tmp_path / "own", network=pl.MLP(8))


def test_runs_without_networks_have_none_afterwards(tmp_path):
    runs = pl.train(TASK, pl.MLP(20), **SETTINGS, records=RECORDS)
    runs.save(tmp_path / "plain")
    with pytest.raises(ValueError, match="Networks were not kept"):
        pl.load(tmp_path / "plain").network(0)


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def replace(path, old, new):
    path.write_text(path.read_text().replace(old, new))


DAMAGE = {
    "a bit of the table": (
        lambda place: damage(place / "table.parquet"),
        "table.parquet is damaged: its content",
    ),
    "a bit of a network": (lambda place: damage(place / "networks-0.npz"), "networks-0.npz is damaged"),
    "a missing file": (lambda place: (place / "curves-0.parquet").unlink(), "cannot be read .No such file"),
    "no page": (lambda place: (place / "runs.json").unlink(), "There are no saved runs in"),
    "half a page": (lambda place: damage_page(place), "runs.json is damaged, or not a page of saved runs"),
    "a later format": (lambda place: replace(place / "runs.json", '"format": 1', '"format": 2'), "have format 2"),
    "another page": (lambda place: (place / "runs.json").write_text("[1]"), "not a page of saved runs"),
    "a path": (lambda place: replace(place / "runs.json", '"table.parquet"', '"../table.parquet"'), "outside of its"),
    "a pipe": (lambda place: pipe(place / "table.parquet"), "is a pipe, and not a file"),
    "a recipe of code": (lambda place: replace(place / "runs.json", '"made": "MLP"', '"made": "os"'), "no network is"),
    "a store": (lambda place: (place / "store.json").write_text("{}"), "is the store of a sweep"),
}


def damage_page(place):
    text = (place / "runs.json").read_text()
    (place / "runs.json").write_text(text[: len(text) // 2])


def pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(("harm", "sentence"), DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_or_foreign_is_refused_in_a_sentence(folder, harm, sentence):
    harm(folder)
    with pytest.raises(ValueError, match=sentence) as refusal:
        pl.load(folder)
    assert len(str(refusal.value).splitlines()) == 1


def test_nothing_is_overwritten_and_nothing_half_written(runs, folder, monkeypatch):
    with pytest.raises(ValueError, match="is there already"):
        runs.save(folder)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    monkeypatch.setattr("paritylab.documents.os.fsync", lambda *_: (_ for _ in ()).throw(OSError(28, "No space")))
    with pytest.raises(OSError, match="cannot be written"):
        runs.save(folder.parent / "new")
    assert {path.name for path in folder.parent.iterdir()} == {"runs"}


@pytest.mark.parametrize(
    "recipe",
    [
        pl.MLP((10, 5), pl.networks.Zigzag(3), pl.networks.GaussianInitialization()),
        pl.Neuron(pl.networks.Sinusoid(k=3)),
        pl.PolyNet(3),
        pl.Transformer(),
    ],
    ids=lambda recipe: type(recipe).__name__,
)
def test_a_recipe_that_is_written_down_gives_the_same_networks(recipe):
    form = json.loads(json.dumps(recipe_form(recipe)))
    key = pl.root_key(0)
    assert same(recipe_from(form)(6, key=key), recipe(6, key=key))


def test_a_recipe_with_something_else_in_it_is_not_written_down():
    assert recipe_form(pl.MLP(4, jax.nn.tanh)) is None and recipe_form(own_network) is None
