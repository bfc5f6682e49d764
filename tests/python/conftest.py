"""What the tests of the Python package share."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root():
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def paynter_command():
    """The command line, built from the same sources: its documents are what answers are compared with."""
    named = os.environ.get("PAYNTER_COMMAND")
    if named is None:
        pytest.skip("PAYNTER_COMMAND names no command line")
    return named


@pytest.fixture(scope="session")
def document(paynter_command):
    """The JSON that the command line prints for a question."""

    def ask(*words):
        done = subprocess.run([paynter_command, *map(str, words), "--json"], capture_output=True, text=True)
        return json.loads(done.stdout)

    return ask
