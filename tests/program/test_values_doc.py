"""Every example of docs/values.md, run as it stands.

An example is a block ```sh with one command that reads a here-document, then a block ```json with the rows that it
prints. A block whose first line is ```LANGUAGE NAME is the file NAME.
"""

import pathlib
import re
import shlex
import subprocess

import pytest
from program import BINARY, PATIENCE

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "values.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"\Akafscope (.*) <<'END'\n(.*)^END\n\Z", re.MULTILINE | re.DOTALL)


def blocks():
    return [(match[1], match[2], match[3]) for match in BLOCK.finditer(DOCUMENT.read_text())]


def examples():
    all_blocks = blocks()
    for (language, _, text), (next_language, name, rows) in zip(all_blocks, all_blocks[1:]):
        if language == "sh":
            assert next_language == "json" and name is None, f"no rows after: {text}"
            yield text, rows


def decode(command, folder):
    parsed = COMMAND.match(command)
    assert parsed, f"not of the form of an example: {command}"
    for _, name, text in blocks():
        if name is not None:
            (folder / name).write_text(text)
    done = subprocess.run([BINARY, *shlex.split(parsed[1])], input=parsed[2].encode(), cwd=folder, timeout=PATIENCE,
                          capture_output=True, check=False)
    return done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("command,rows", list(examples()))
def test_example(command, rows, tmp_path):
    out, errors = decode(command, tmp_path)
    assert out == rows, errors


def test_there_are_examples():
    assert len(list(examples())) >= 20
