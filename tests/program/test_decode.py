"""`kafscope decode`: forms of input and output, exit codes, usage."""

import base64
import io
import json

import pyarrow
import pytest
from program import rows, run


def test_version_and_help():
    assert run("--version").stdout.startswith(b"kafscope 0.")
    for command in ["demo", "serve", "tail", "decode", "produce", "topics", "bench"]:
        result = run(command, "--help")
        assert result.returncode == 0 and b"Usage" in result.stdout, command


@pytest.mark.parametrize("arguments, named", [
    ([], b"subcommand"),
    (["decode", "--no-such-option"], b"--no-such-option"),
    (["decode", "--max-depth", "99"], b"--max-depth"),
    (["decode", "--format", "xml"], b"--format"),
    (["decode", "--input", "xml"], b"--input"),
    (["decode", "--json", "--arrow"], b"--json"),
    (["decode", "--time-unit", "ms"], b"--time-unit"),
    (["decode", "--schema", "/no/such/file"], b"--schema"),
    (["decode", "--format", "avro"], b"--schema"),
    (["decode", "/no/such/file"], b"/no/such/file"),
    (["tail", "t"], b"--brokers"),
    (["tail", "a b", "--brokers", "localhost:1"], b"topic"),
    (["tail", "t", "--brokers", "localhost:1", "--from", "yesterday"], b"--from"),
    (["tail", "t", "--brokers", "localhost:1", "-X", "no.such.property=1"], b"no.such.property"),
    (["serve", "--brokers", "localhost:1", "--listen", "0.0.0.0:0"], b"--token"),
    (["serve", "--brokers", "localhost:1", "--listen", "nonsense"], b"--listen"),
    (["serve", "--brokers", "localhost:1", "--memory-budget", "1"], b"--memory-budget"),
    (["bench", "--time", "soon"], b"--time"),
])
def test_bad_usage_exits_2_and_names_the_option(arguments, named):
    result = run(*arguments, env={"KAFSCOPE_BROKERS": ""})
    assert result.returncode == 2
    assert named in result.stderr


def test_inputs_give_the_same_rows():
    values = ['{"a":1}', '{"a":2,"b":"x"}']
    lines = run("decode", "--json", "--input", "lines", stdin="\n".join(values).encode())
    hexadecimal = run("decode", "--json", "--input", "hex", stdin="\n".join(v.encode().hex() for v in values).encode())
    base = run("decode", "--json", "--input", "base64",
               stdin=b"\n".join(base64.b64encode(v.encode()) for v in values))
    assert lines.returncode == 0
    assert lines.stdout == hexadecimal.stdout == base.stdout
    assert rows(lines) == [{"time": None, "offset": 0, "a": 1, "b": None}, {"time": None, "offset": 1, "a": 2, "b": "x"}]


def test_raw_takes_each_file_as_a_record(tmp_path):
    for name in ["1", "2"]:
        (tmp_path / name).write_text('{\n "a": %s }\n' % name)
    result = run("decode", "--json", str(tmp_path / "1"), str(tmp_path / "2"))
    assert [row["a"] for row in rows(result)] == [1, 2]


def test_an_error_row_has_its_reason_and_exits_1():
    result = run("decode", "--json", "--input", "lines", stdin=b'{"a":1}\n{"a" 2}\n{"a":3}\n')
    assert result.returncode == 1
    good, bad, last = rows(result)
    assert good["a"] == 1 and last["a"] == 3 and good["error"] is None
    assert bad["a"] is None and bad["error"].startswith("invalid_json at byte 5:")


def test_bad_hexadecimal_names_its_line():
    result = run("decode", "--input", "hex", stdin=b"00\nzz\n")
    assert result.returncode == 1
    assert b"line 2" in result.stderr and b"--input" in result.stderr


def test_values_are_exact():
    value = b'{"id":9223372036854775807,"big":18446744073709551615,"more":18446744073709551616,"f":0.1}'
    text = run("decode", "--json", stdin=value).stdout.decode()
    for part in ['"id":9223372036854775807', '"big":18446744073709551615', '"more":"18446744073709551616"', '"f":0.1']:
        assert part in text


def test_arrow_has_one_final_schema():
    lines = b'{"a":1}\n{"a":1.5,"b":true}\n{"c":"x"}\n'
    result = run("decode", "--arrow", "--batch-rows", "1", "--input", "lines", stdin=lines)
    with pyarrow.ipc.open_stream(io.BytesIO(result.stdout)) as reader:
        table = reader.read_all()
    assert table.column_names == ["time", "offset", "a", "b", "c"]
    assert table.column("a").to_pylist() == [1.0, 1.5, None]
    assert table.column("c").to_pylist() == [None, None, "x"]


def test_frame_is_what_grafana_reads():
    result = run("decode", "--frame", stdin=b'{"a":1}')
    frame = json.loads(result.stdout)
    assert [field["name"] for field in frame["schema"]["fields"]] == ["time", "offset", "a"]
    assert frame["data"]["values"] == [[None], [0], [1]]


def test_output_repeats():
    lines = b"\n".join(b'{"n":%d,"t":"x%d"}' % (i, i) for i in range(20000))
    first = run("decode", "--frame", "--input", "lines", stdin=lines)
    assert first.returncode == 0
    assert first.stdout == run("decode", "--frame", "--input", "lines", stdin=lines).stdout


def test_table_is_safe_for_a_terminal():
    result = run("decode", "--format", "plaintext", stdin=b"\x1b[31mred")
    assert b"\x1b" not in result.stdout and b"\\x1b[31mred" in result.stdout
