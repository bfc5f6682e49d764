"""Answers are those of the command line, number by number."""

import numpy as np
import pytest

import paynter

EXAMPLES = [
    "ac_resistor", "cascaded_tanks", "dc_motor", "half_wave_rectifier", "parallel_tanks", "robertson", "se_on_c", "two_carts_loop",
    "two_tanks",
]

QUESTIONS = {
    "check": {},
    "causality": {},
    "equations": {},
    "structure": {},
    "tf": {},
    "poles": {},
    "bode": {"omega": "0.1:100:7"},
    "operating_point": {},
    "equations --steps": {"steps": True},
    "sensitivity": {},
    "sensitivity --omega": {"omega": "0.1:100:3"},
    "robust": {"nodes": 5, "omega": "0.1:100:3"},
    "ensemble": {"samples": 5, "t_end": 0.1, "points": 3},
    "lft": {},
    "simulate": {"t_end": 0.3, "points": 11, "sensitivity": "all"},
}


def plain(value):
    """A document as JSON has it: lists, and nothing where a number is not finite."""
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def without_words(document):
    """Remedies are spelled in the words of each edge, and files are known by other names."""
    if isinstance(document, dict):
        return {key: without_words(value) for key, value in document.items() if key not in ("help", "file")}
    if isinstance(document, list):
        return [without_words(item) for item in document]
    return document


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.filterwarnings("ignore::paynter.ModelWarning")
def test_the_document_is_that_of_the_command_line(name, question, document, tmp_path):
    model = paynter.examples[name]
    file = tmp_path / f"{name}.bg"
    file.write_text(model.text, encoding="utf-8")
    data = paynter.examples._all()[name]["data"]
    if data:
        (tmp_path / f"{name}.csv").write_text(data)
    arguments = QUESTIONS[question]
    question = question.split()[0]
    words = [question.replace("_", "-"), file]
    for key, value in arguments.items():
        words += [f"--{key.replace('_', '-')}"] + ([] if value is True else [value])
    expected = document(*words)
    try:
        found = getattr(model, question)(**arguments).document
    except paynter.ModelError as error:
        assert expected["ok"] is False
        codes = [diagnostic["code"] for diagnostic in expected["diagnostics"]]
        assert [diagnostic.code for diagnostic in error.diagnostics] == codes
        return
    assert without_words(plain(found)) == without_words(plain(expected))
