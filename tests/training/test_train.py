"""`train` as users meet it: what `help` says of it."""

import inspect
import pydoc
import typing

import paritylab as pl


def test_help_on_train_says_what_it_gives_back():
    assert inspect.signature(pl.train).return_annotation is pl.Runs
    assert typing.get_type_hints(pl.train)["return"] is pl.Runs
    assert list(inspect.signature(pl.train).parameters) == list(inspect.signature(pl.plan).parameters)
    said = pydoc.render_doc(pl.train, renderer=pydoc.plaintext)
    assert f"-> {pl.Runs.__module__}.Runs\n" in said and "Plan" not in said
    assert inspect.signature(pl.plan).return_annotation.__name__ == "Plan"


def test_help_on_train_and_plan_names_every_parameter():
    for function in (pl.train, pl.plan):
        said = inspect.getdoc(function)
        assert [name for name in inspect.signature(function).parameters if f"`{name}`" not in said] == []
