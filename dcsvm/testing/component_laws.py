"""Laws of all components: settings, parameters, documentation."""

import inspect
from typing import Any

import attrs
from sklearn.base import clone

from dcsvm.base.combiner import Combiner
from dcsvm.base.component import settings_of, type_hints
from dcsvm.base.decomposer import MODIFIERS, YIELDS, Decomposer
from dcsvm.base.errors import SettingError, did_you_mean
from dcsvm.drive.registry import default_registry
from dcsvm.testing.checks import expect, law
from dcsvm.testing.trials import send_through_pickle


@law("any")
def says_what_it_is_and_shows_an_example(component: Any) -> None:
    """its docstring has a first line and an Examples section"""
    text = inspect.getdoc(type(component)) or ""
    own = "__doc__" in vars(type(component)) and text
    expect(own, f"{type(component).__name__} has no docstring")
    expect(text.partition("\n")[0].strip(), "the first line of its docstring is empty")
    expect(">>>" in text, "its docstring shows no example that runs: add an Examples section")


@law("any")
def explains_every_setting(component: Any) -> None:
    """every setting has a line of help"""
    for name, field in settings_of(type(component)).items():
        expect(field.metadata.get("help"), f"setting {name!r} has none: use setting(help=...)")


@law("any")
def refuses_settings_of_the_wrong_type(component: Any) -> None:
    """a setting of the wrong type is refused with a SettingError that names it"""
    cls: Any = type(component)
    hints = type_hints(cls)
    for name, field in settings_of(type(component)).items():
        if field.metadata.get("kind") or hints.get(name, Any) is Any:
            continue
        _expect_refusal(component, name, object())


@law("any")
def refuses_settings_out_of_range(component: Any) -> None:
    """a number out of its range is refused with a SettingError that names the setting"""
    for name, field in settings_of(type(component)).items():
        limits = field.metadata.get("limits", {})
        for word, step in (("at_least", -1), ("above", 0), ("at_most", 1), ("below", 0)):
            if word in limits:
                _expect_refusal(component, name, limits[word] + step)


@law("any")
def keeps_its_settings_through_a_clone(component: Any) -> None:
    """get_params, set_params and clone give back the same settings"""
    before = component.get_params(deep=False)
    expected = set(settings_of(type(component)))
    expect(
        set(before) == expected,
        f"get_params lists {sorted(before)}, but its settings are {sorted(expected)}",
    )
    for other in (clone(component), clone(component).set_params(**before)):
        after = other.get_params(deep=False)
        for name, value in before.items():
            same = after[name] is value or repr(after[name]) == repr(value)
            expect(same, f"setting {name!r} was {value!r} and came back as {after[name]!r}")


@law("any")
def travels_to_a_worker_process(component: Any) -> None:
    """a component can be sent to a worker process and arrives with the same settings"""
    there = send_through_pickle(component)
    expect(
        repr(there.get_params()) == repr(component.get_params()),
        f"{component!r} arrived as {there!r}",
    )


@law("any")
def stores_attrs_classes_only(component: Any) -> None:
    """everything in stored_types is an attrs class"""
    for stored in type(component).stored_types:
        expect(attrs.has(stored), f"{stored!r} is not: the core cannot save and load it")


@law(
    "any",
    when=lambda component: isinstance(component, Decomposer | Combiner),
    otherwise="learners neither yield nor accept anything",
)
def declares_words_with_a_meaning(component: Any) -> None:
    """a word that it declares is new, used by itself, and explained"""
    used = component.yields if isinstance(component, Decomposer) else component.accepts
    for word, meaning in component.declares.items():
        expect(word not in YIELDS, f"it declares {word!r}, which is a word of the core")
        expect(word in used, f"it declares {word!r} and does not use it")
        expect(
            isinstance(meaning, str) and len(meaning.split()) > 1,
            f"it declares {word!r} with the meaning {meaning!r}: say it in a few words",
        )


def expect_known_words(component: Any, words: frozenset[str], what: str) -> None:
    """Fail if `yields` or `accepts` has a word that no component declares."""
    offered = [offer.what for offer in default_registry().offers.values()]
    declared = {
        word for each in [type(component), *offered] for word in getattr(each, "declares", ())
    }
    known = YIELDS | declared
    for word in sorted(words - known):
        expect(False, f"{what} {word!r}; {did_you_mean(word, known)}; `declares` adds words")
    expect(
        words <= known and words - MODIFIERS,
        f"{what} {sorted(words)}; the words to choose from are {sorted(known)}, and `declares` "
        "adds words with their meaning",
    )


def state_of(component: Any) -> str:
    """Return the attributes of a component, to check later whether they changed."""
    return repr(sorted((name, repr(value)) for name, value in vars(component).items()))


def expect_no_state(component: Any, before: str) -> None:
    """Fail if the attributes of the component changed."""
    added = sorted(set(vars(component)) - set(settings_of(type(component))))
    expect(
        state_of(component) == before,
        f"it changed while it was used (it now holds {', '.join(added) or 'other settings'}); "
        "components are used by several workers at once: return what is fitted instead",
    )


def _expect_refusal(component: Any, name: str, value: Any) -> None:
    try:
        clone(component).set_params(**{name: value})
    except SettingError as error:
        expect(name in str(error), f"the refusal of {name}={value!r} does not name it: {error}")
    except Exception as error:
        expect(False, f"{name}={value!r} raised {type(error).__name__}, not a SettingError")
    else:
        expect(False, f"{name}={value!r} was taken")
