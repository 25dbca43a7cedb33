#!/usr/bin/env python3
"""Runs the stages of ./test.sh and counts.

Each stage prints one line; its whole output is in build/test-logs/STAGE.log. The last line is `N passed, N failed`.
A stage whose part of the project does not exist is not in the list. A failed test of the stages that drive other
programs (broker, browser) is run once more alone: if it passes then, it counts as passed and is listed as UNSTABLE with
the log of its first run, so that it is neither hidden nor fatal on a loaded machine. Unit tests are never run again.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test-logs"
DEPS = pathlib.Path(os.environ.get("KAFSCOPE_DEPS_DIR", ROOT / ".deps"))
PYTHON = DEPS / "venv" / "bin" / "python"
IN_CI = os.environ.get("CI", "") not in ("", "0", "false")
FUZZ_SECONDS = int(os.environ.get("FUZZ_SECONDS", "30" if IN_CI else "10"))
SOURCES = ("*.h", "*.cc")
TSAN_LABELS = ("base", "pipeline", "source", "web", "schema", "grafana", "load", "profile")


class Result:
    """What a stage counted."""

    def __init__(self):
        self.passed = 0
        self.failures = []  # (test, text)
        self.unstable = []  # (test, text of the first run)
        self.skipped = []  # (test, reason)
        self.notes = []

    def fail(self, test, text):
        self.failures.append((test, text))


def run(command, log, timeout, env=None, cwd=ROOT):
    """Runs to the end or kills the whole group; gives (exit code, output)."""
    environment = dict(os.environ, **(env or {}))
    with open(log, "ab") as out:
        out.write(f"$ {' '.join(map(str, command))}\n".encode())
        out.flush()
        begin = out.tell()
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=subprocess.STDOUT, cwd=cwd,
                                   env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = -1
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    with open(log, "rb") as written:
        written.seek(begin)
        text = written.read().decode(errors="replace")
    if code == -1:
        text += f"\nstopped after {timeout} s\n"
    return code, text


def tail(text, lines=60):
    return "\n".join(text.splitlines()[-lines:])


def source_files():
    tracked = subprocess.run(["git", "ls-files", "--", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in tracked.stdout.splitlines() if not line.startswith("third_party/")]


# What was compiled in one of the builds is not compiled again in another, or in another checkout, with the same flags.
os.environ.update(CCACHE_BASEDIR=str(ROOT), CCACHE_NOHASHDIR="true")


def build(preset, log, result, targets=()):
    """Configures and builds; a failure is one failed test of the stage."""
    began = time.time()
    code, text = run(["cmake", "--preset", preset], log, 300)
    if code == 0:
        target_args = ["--target", *targets] if targets else []
        code, text = run(["cmake", "--build", "--preset", preset, *target_args], log, 3000)
    if code != 0:
        errors = [line for line in text.splitlines() if "error" in line or "FAILED" in line]
        result.fail(f"build {preset}", "\n".join(errors[:20]) + "\n" + tail(text, 30))
        return False
    result.notes.append(f"built {preset} in {time.time() - began:.0f} s")
    return True


def ctest(preset, log, result, labels=(), timeout=1800, jobs=2, env=None):
    """Every unit test is one test of the stage."""
    report = LOGS / f"ctest-{preset}.xml"
    report.unlink(missing_ok=True)
    command = ["ctest", "--preset", preset, "--output-junit", report, "-j", str(jobs), "--timeout", "300"]
    if labels:
        command += ["-L", "^(" + "|".join(labels) + ")$"]
    code, text = run(command, log, timeout, env=env)
    known = len(result.failures)
    read_junit(report, text, result)
    if code != 0 and len(result.failures) == known:  # a program that could not even list its tests
        result.fail(f"ctest {preset}", tail(text))


def read_junit(report, text, result):
    import xml.etree.ElementTree as xml

    if not report.exists():
        result.fail(report.stem, tail(text))
        return
    for case in xml.parse(report).getroot().iter("testcase"):
        name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        skipped = case.find("skipped")
        if bad is not None or case.get("status") == "fail":
            output = case.findtext("system-out") or ""
            result.fail(case.get("name") if not case.get("classname") else name, (bad.text or "" if bad is not None else "") + output)
        elif skipped is not None or case.get("status") in ("notrun", "disabled"):
            result.skipped.append((name, skipped.get("message", "") if skipped is not None else "not run"))
        else:
            result.passed += 1


# ---- stages -----------------------------------------------------------------------------------------------------------


def stage_format(log, result):
    files = source_files()
    code, text = run(["clang-format-19", "--dry-run", "-Werror", *files], log, 300)
    if code == 0:
        result.passed += 1
    else:
        result.fail("clang-format", tail(text, 20))


def stage_page_build(log, result):
    code, text = run(["scripts/build_ui.sh"], log, 900)
    if code == 0:
        result.passed += 1
    else:
        result.fail("scripts/build_ui.sh", tail(text))


def stage_build(log, result):
    if build("release", log, result):
        result.passed += 1


def stage_unit(log, result):
    ctest("release", log, result)


def stage_link(log, result):
    """The programs need nothing but libc, libm and the loader."""
    allowed = re.compile(r"^(linux-vdso|libc\.|libm\.|libpthread\.|libdl\.|librt\.|ld-linux|/lib64/ld-linux)")
    for program in sorted((ROOT / "build/release/bin").glob("*")):
        if not program.is_file() or not os.access(program, os.X_OK):
            continue
        _, text = run(["ldd", program], log, 60)
        foreign = [line.strip() for line in text.splitlines() if line.strip() and not allowed.match(line.strip())]
        if foreign:
            result.fail(f"ldd {program.name}", "\n".join(foreign))
        else:
            result.passed += 1


def pytest_once(log, report, targets, timeout):
    command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1", "--timeout=600",
               f"--junitxml={report}", *targets]
    return run(command, log, timeout, env={"PYTHONDONTWRITEBYTECODE": "1"})


def pytest_ids(report):
    """Node ids of the failed tests."""
    import xml.etree.ElementTree as xml

    ids = []
    for case in xml.parse(report).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            file, classname, name = case.get("file") or "", case.get("classname") or "", case.get("name")
            inner = classname.removeprefix(file.removesuffix(".py").replace("/", ".")).strip(".")
            node = "::".join([file, *inner.split("."), name] if inner else [file, name])
            ids.append((node, ".".join(filter(None, [classname, name]))))
    return ids


def run_pytest(log, result, folders, timeout):
    report = LOGS / f"pytest-{log.stem}.xml"
    report.unlink(missing_ok=True)
    _, text = pytest_once(log, report, folders, timeout)
    first = Result()
    read_junit(report, text, first)
    result.passed += first.passed
    result.skipped += first.skipped
    failures = dict(first.failures)
    if not report.exists():
        result.failures += first.failures
        return
    failed = pytest_ids(report)
    result.failures += [(name, body) for name, body in first.failures if name not in {n for _, n in failed}]
    for node, name in failed:
        retry = LOGS / "pytest-retry.xml"
        retry.unlink(missing_ok=True)
        code, text = pytest_once(log, retry, [node], 600)
        if code == 0:
            result.passed += 1
            result.unstable.append((name, failures.get(name, "")))
        else:
            result.fail(name, failures.get(name, "") + "\n---- run again alone ----\n" + tail(text))


def stage_program(log, result):
    folders = sorted({f"tests/{test.parent.name}" for test in (ROOT / "tests").glob("*/test_*.py")})
    run_pytest(log, result, folders, 2400)


def node_suite(log, result, script, timeout, env=None):
    """A browser suite: `ok NAME`, `FAILED NAME`, last `N passed, N failed`; `--only NAME` runs one."""
    report = LOGS / f"{log.stem}.json"
    report.unlink(missing_ok=True)
    _, text = run(["node", script, "--json", report], log, timeout, env=env)
    if not report.exists():
        result.fail(script, tail(text))
        return
    for test in json.loads(report.read_text()):
        if test["ok"]:
            result.passed += 1
            continue
        code, again = run(["node", script, "--only", test["name"]], log, 600, env=env)
        if code == 0:
            result.passed += 1
            result.unstable.append((test["name"], test.get("error", "")))
        else:
            result.fail(test["name"], test.get("error", "") + "\n---- run again alone ----\n" + tail(again))


def vitest(log, result, folder):
    report = LOGS / f"{log.stem}.json"
    report.unlink(missing_ok=True)
    _, text = run(["npx", "--no-install", "vitest", "run", "--reporter=json", f"--outputFile={report}"], log, 600,
                  cwd=ROOT / folder)
    if not report.exists():
        result.fail(f"vitest {folder}", tail(text))
        return
    for file in json.loads(report.read_text())["testResults"]:
        if not file["assertionResults"] and file["status"] != "passed":
            result.fail(file["name"], file.get("message", ""))
        for test in file["assertionResults"]:
            if test["status"] == "passed":
                result.passed += 1
            elif test["status"] == "failed":
                result.fail(test["fullName"], "\n".join(test["failureMessages"]))
            else:
                result.skipped.append((test["fullName"], test["status"]))


def stage_page_unit(log, result):
    vitest(log, result, "ui")


def stage_page(log, result):
    node_suite(log, result, "tests/page/run.mjs", 1500,
               env={"KAFSCOPE_BIN": str(ROOT / "build/release/bin/kafscope")})


def stage_grafana_unit(log, result):
    code, text = run(["scripts/build_grafana_ui.sh"], log, 1200)
    if code != 0:
        result.fail("scripts/build_grafana_ui.sh", tail(text))
        return
    result.passed += 1
    vitest(log, result, "grafana")


def stage_grafana_page(log, result):
    code, text = run(["cmake", "--build", "--preset", "release", "--target", "plugin"], log, 1200)
    if code != 0:
        result.fail("target plugin", tail(text))
        return
    node_suite(log, result, "tests/grafana-page/run.mjs", 1500)


def stage_bench(log, result):
    """Every benchmark once: its answer against the reference, no speed."""
    kafscope = ROOT / "build/release/bin/kafscope"
    code, text = run([kafscope, "bench", "--list"], log, 60)
    if code != 0:
        result.fail("bench --list", tail(text))
        return
    names = [line.strip() for line in text.splitlines() if line.startswith("Benchmark")]
    code, text = run([kafscope, "bench", "--check"], log, 900)
    if code == 0:
        result.passed += len(names)
    else:
        result.fail("bench --check", tail(text))


def stage_asan(log, result):
    if build("asan", log, result):
        ctest("asan", log, result, timeout=2400,
              env={"ASAN_OPTIONS": "detect_stack_use_after_return=1", "UBSAN_OPTIONS": "print_stacktrace=1"})


def stage_tsan(log, result):
    labels = [label for label in TSAN_LABELS if list((ROOT / "src" / label).glob("*_test.cc"))]
    if build("tsan", log, result, [f"{label}_test" for label in labels]):
        ctest("tsan", log, result, labels, timeout=2400)


def fuzz_one(program, log):
    """Begins at a fixed seed, so that a run can be repeated; fuzz/long.sh begins anywhere."""
    corpus = ROOT / "fuzz" / "corpus" / program.name
    fresh = ROOT / "build" / "fuzz-found" / program.name
    fresh.mkdir(parents=True, exist_ok=True)
    corpus.mkdir(parents=True, exist_ok=True)
    options = ["-rss_limit_mb=3072", "-timeout=60", "-print_final_stats=1", f"-artifact_prefix={fresh}/"]
    return run([program, *options, f"-max_total_time={FUZZ_SECONDS}", "-max_len=65536", "-seed=1", fresh, corpus], log,
               FUZZ_SECONDS + 600)


def stage_fuzz(log, result):
    # In the build of the stage asan: the preset fuzz has the same settings, in a folder of its own for long campaigns.
    if not build("asan", log, result, ["fuzzers"]):
        return
    names = re.findall(r"^kafscope_fuzzer\((\w+)", (ROOT / "fuzz/CMakeLists.txt").read_text(), re.MULTILINE)
    programs = [ROOT / f"build/asan/fuzz/{name}_fuzz" for name in names]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {p: pool.submit(fuzz_one, p, log.with_name(f"fuzz-{p.name}.log")) for p in programs}
    for program, job in jobs.items():
        code, text = job.result()
        if code == 0:
            result.passed += 1
            found = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
            if found:
                result.notes.append(f"{program.name}: {int(found.group(1)):,} inputs")
        else:
            result.fail(program.name, tail(text, 80))


def stage_tidy(log, result):
    """clang-tidy with the compile commands of the asan build, which are clang's."""
    if not (ROOT / "build/asan/compile_commands.json").exists():
        code, text = run(["cmake", "--preset", "asan"], log, 300)
        if code != 0:
            result.fail("cmake --preset asan", tail(text))
            return
    known = {entry["file"] for entry in json.loads((ROOT / "build/asan/compile_commands.json").read_text())}
    files = [f for f in source_files() if f.startswith("src/") and f.endswith(".cc") and not f.endswith("_test.cc")
             and str(ROOT / f) in known]

    def tidy(file):
        return run(["clang-tidy-19", "--quiet", "-p", "build/asan", file], log.with_name(f"tidy-{file.replace('/', '-')}.log"), 600)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for file, (code, text) in zip(files, pool.map(tidy, files)):
            if code == 0:
                result.passed += 1
            else:
                result.fail(f"clang-tidy {file}", "\n".join(l for l in text.splitlines() if "error:" in l or "warning:" in l)[:2000])


def exists(*paths):
    return lambda: all((ROOT / path).exists() for path in paths)


STAGES = [
    ("format", "clang-format finds nothing to change", stage_format, exists(".clang-format")),
    ("page-build", "ui/dist, which the release build puts into the binary", stage_page_build, exists("scripts/build_ui.sh")),
    ("build", "release, by GCC with warnings as errors", stage_build, exists("CMakeLists.txt")),
    ("unit", "unit tests, release", stage_unit, exists("src")),
    ("link", "the programs need nothing but libc", stage_link, exists("src/cli/CMakeLists.txt")),
    ("program", "whole-program tests on a real Kafka and the embedded broker", stage_program, exists("tests")),
    ("page-unit", "unit tests of the page", stage_page_unit, exists("ui/package.json")),
    ("page", "the page in headless Chromium", stage_page, exists("tests/page/run.mjs")),
    ("grafana-unit", "unit tests of the Grafana plugin's front end", stage_grafana_unit, exists("grafana/package.json")),
    ("grafana-page", "the Grafana plugin's front end in headless Chromium", stage_grafana_page, exists("tests/grafana-page/run.mjs")),
    ("bench", "every benchmark once: its answer against the reference, no speed", stage_bench, exists("src/prove/CMakeLists.txt", "src/cli/CMakeLists.txt")),
    ("asan", "unit tests under AddressSanitizer and UndefinedBehaviorSanitizer", stage_asan, exists("src")),
    ("tsan", "unit tests of what has threads under ThreadSanitizer", stage_tsan, exists("src")),
    ("fuzz", "each fuzz target over its stored corpus", stage_fuzz, exists("fuzz/CMakeLists.txt")),
    ("tidy", "clang-tidy on the sources", stage_tidy, exists(".clang-tidy")),
]
QUICK = ("format", "page-build", "build", "unit", "link", "page-unit")


def report(result, seconds):
    for note in result.notes:
        print(f"    {note}")
    for test, reason in result.skipped:
        print(f"    left out {test}: {reason}")
    for test, text in result.unstable:
        print(f"    UNSTABLE {test}: failed in the run, passed alone. The first failure:")
        print("\n".join("        " + line for line in tail(text, 30).splitlines()))
    for test, text in result.failures:
        print(f"FAILED {test}")
        print("\n".join("        " + line for line in tail(text, 60).splitlines()))
    print(f"    {result.passed} good, {len(result.failures)} bad, {len(result.skipped)} left out in {seconds:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", help="only these, by commas")
    parser.add_argument("--quick", action="store_true", help="only " + ", ".join(QUICK))
    parser.add_argument("--list", action="store_true", help="print the stages")
    arguments = parser.parse_args()
    stages = [stage for stage in STAGES if stage[3]()]
    if arguments.list:
        for name, about, _, _ in stages:
            print(f"{name:14} {about}")
        return 0
    wanted = QUICK if arguments.quick else arguments.stages.split(",") if arguments.stages else None
    if wanted:
        unknown = set(wanted) - {name for name, *_ in STAGES}
        if unknown:
            print(f"run_tests: --stages: unknown {', '.join(sorted(unknown))}", file=sys.stderr)
            return 2
        stages = [stage for stage in stages if stage[0] in wanted]
    LOGS.mkdir(parents=True, exist_ok=True)
    began = time.time()
    passed = failed = skipped = 0
    for number, (name, about, stage, _) in enumerate(stages, 1):
        print(f"[{number}/{len(stages)}] {name}: {about}", flush=True)
        log = LOGS / f"{name}.log"
        log.unlink(missing_ok=True)
        result = Result()
        stage_began = time.time()
        try:
            stage(log, result)
        except Exception as error:  # a fault of the runner itself is a failure, with its name
            result.fail(f"stage {name}", repr(error))
        if IN_CI and result.skipped:
            for test, reason in result.skipped:
                result.fail(test, f"left out in CI: {reason}")
            result.skipped = []
        if result.passed == 0 and not result.failures:
            result.fail(f"stage {name}", "ran no test")
        report(result, time.time() - stage_began)
        passed += result.passed
        failed += len(result.failures)
        skipped += len(result.skipped)
    print(f"all stages in {(time.time() - began) / 60:.1f} minutes")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
