"""Reference for the shared-memory atomic unit of a GPU: scoreboard, model, stimulus, coverage, kernel runs, lowering.

`Scoreboard` judges an own unit from its ports, for example in cocotb. `Stimulus` draws random requests for it, `Coverage`
counts what was tested, and `Model` is the cycle-accurate model of `atoms_unit`. `INPUTS` and `OUTPUTS` have the port of each
pin: `rsp_tag_o` of `rsp_tag`. `run`, `lower` and `explore` return dictionaries and lists that pandas reads. Clauses such as
`spec 4.5` are those of docs/spec.md of the ATOMS repository.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from ._atoms import INPUTS, OPS, OUTPUTS, SIZES, Rejected, Undecided
from ._atoms import NativeCoverage, NativeModel, NativeScoreboard, NativeStimulus
from . import _atoms

__all__ = [
    "Coverage",
    "INPUTS",
    "Model",
    "OPS",
    "OUTPUTS",
    "Rejected",
    "SIZES",
    "Scoreboard",
    "Stimulus",
    "Undecided",
    "explore",
    "lower",
    "run",
]

Lanes = Any
Words = Any
Pins = dict[str, int]
Events = Any
Path = Union[str, "os.PathLike[str]"]


class Scoreboard:
    """Scoreboard of one unit, whose memory starts as zeros.

    Report the events that a monitor sees at the ports, in the order of the clock cycles. Any latency and any order that the
    ports allow is accepted. A call raises `Rejected` if the unit breaks a clause of the specification, and `Undecided` if
    that cannot be decided. The verdict on a request can come with a later event, at the latest with `finish`.

    `config` names a configuration of rtl/configs.toml with optional changes (`default`, `small,num_banks=8`), or of a file
    (`my_configs.toml:NAME`), or the declaration of another unit (`unit.toml`, docs/bring-your-own.md). `observed`: the testbench reports each cluster request that executes, with `executed`, and the
    words that each request writes. `record` is a file for the trace that `atoms check` reads; `close`, or the end of a
    `with` block, completes it.

    Lanes (`ra`, `b`, `c`, `rd`): a list or array of integers, lane 0 first; an array (lanes, 4) of 32-bit words, low word
    first; or one packed integer (or cocotb LogicArray) as read from the port. Lanes that are left out are 0.

    Words (`words`, `written`): a dictionary from index to value, or an array of all words from index 0. The index of a word
    is its physical byte address / 4; see `word_index`.

    >>> scoreboard = Scoreboard("default")
    >>> scoreboard.cta_write(0, slot=0, base_row=0, size_bytes=4096)
    >>> scoreboard.warp_request(1, tag=5, op="ADD", size="u32", ra=[64, 64], b=[1, 1])
    >>> scoreboard.warp_response(9, tag=5, rd=[0, 1])
    >>> scoreboard.warp_request(10, tag=6, op="ADD", size="u32", ra=[64], b=[1])
    >>> try:
    ...     scoreboard.warp_response(19, tag=6, rd=[1])
    ... except Rejected as rejected:
    ...     print(rejected.clause, rejected.lanes, rejected.address, rejected.got)
    spec 4.5 1 64 1
    """

    def __init__(self, config: Path = "default", *, observed: bool = False, record: Path | None = None) -> None:
        self._native = NativeScoreboard(os.fspath(config), observed, None if record is None else os.fspath(record))

    # The names of the arguments are the names of the native interface.

    def cta_write(
        self, cycle: int, slot: int, base_row: int, size_bytes: int, rank: int = 0, enable: bool = True
    ) -> None:
        """Reports an accepted write of the CTA table."""
        self._native.report("cta_write", locals())

    def cta_result(self, cycle: int, slot: int, refused: bool) -> None:
        """Reports if the unit refused the last write of a slot (`cta_reject_o`). Optional."""
        self._native.report("cta_result", locals())

    def warp_request(
        self,
        cycle: int,
        tag: int,
        op: int | str,
        size: int | str,
        ra: Lanes,
        b: Lanes | None = None,
        c: Lanes | None = None,
        *,
        mask: int | None = None,
        red: bool = False,
        absolute: bool = False,
        scale: int = 0,
        slot: int = 0,
        imm: int = 0,
        ur: int = 0,
    ) -> None:
        """Reports a request that the warp port accepted. `op` and `size` are codes, or names such as `CAST.SPIN` and `u32`.
        Without `mask`, the lanes in `ra` are active."""
        self._native.report("warp_request", locals())

    def warp_response(
        self,
        cycle: int,
        tag: int,
        rd: Lanes | None = None,
        pred: int = 0,
        fault: int = 0,
        fault_lane: int = 0,
        fault_addr: int = 0,
        *,
        passes: int | None = None,
        written: Words | None = None,
    ) -> None:
        """Reports a response of the warp port, in the cycle in which it appears. `passes` is the number of passes, if the
        unit states it. `written` has all words that the request wrote, if they are observed."""
        self._native.report("warp_response", locals())

    def cluster_request(
        self,
        cycle: int,
        tag: int,
        op: int | str,
        size: int | str,
        addr: int,
        b: Any = None,
        c: Any = None,
        *,
        red: bool = False,
        slot: int = 0,
    ) -> None:
        """Reports a request that the cluster port accepted."""
        self._native.report("cluster_request", locals())

    def cluster_response(
        self, cycle: int, tag: int, rd: Any = None, pred: int = 0, fault: int = 0, fault_addr: int = 0
    ) -> None:
        """Reports a response of the cluster port, in the cycle in which it appears."""
        self._native.report("cluster_response", locals())

    def executed(self, cycle: int, written: Words | None = None) -> None:
        """Reports that the oldest cluster request that has not executed executed in this cycle, and wrote these words. Only
        with `observed`."""
        self._native.report("executed", locals())

    def suspended(self, cycle: int, tag: int) -> None:
        """Reports that the unit suspended the MBAR.TRY_WAIT with this tag. Optional; then the exact end of the wait is
        judged."""
        self._native.report("suspended", locals())

    def wake_up(self, cycle: int, tag: int, pred: int) -> None:
        """Reports a wake-up, in the cycle in which it appears."""
        self._native.report("wake_up", locals())

    def quiet(self, first: int, cycle: int) -> None:
        """Reports that from cycle `first` to `cycle` no wake-up was offered and no answer was left untaken. Optional; then a
        wait that should have ended is found before the end of the run."""
        self._native.report("quiet", locals())

    def reset(self, cycle: int, written: Words | None = None) -> None:
        """Reports a reset. `written` has all words that requests without an answer wrote. Without it, the words that these
        requests may write are unknown until `set_words`."""
        self._native.report("reset", locals())

    def set_words(self, cycle: int, words: Words) -> None:
        """Sets words of memory from outside the unit, as a backdoor write does."""
        self._native.report("set_words", locals())

    def finish(self, cycle: int, words: Words | None = None) -> None:
        """Judges the end of the run: requests without an answer, events not judged so far, and words of memory that were
        read out."""
        self._native.report("finish", locals())

    def judge(self, **events: Events) -> list[Rejected | Undecided]:
        """Reports many events at once, in the order of their cycles. Returns the verdicts against them, and raises none;
        judging ends with the first `Undecided`.

        Each argument is a dictionary of arrays, a structured array, or a data frame. It has the name of a method for single
        events, one column for each argument of the method, and one row for each event. `op` and `size` are codes.

        >>> scoreboard = Scoreboard()
        >>> verdicts = scoreboard.judge(
        ...     cta_write={"cycle": [0], "slot": [0], "base_row": [0], "size_bytes": [4096]},
        ...     warp_request={"cycle": [1, 2], "tag": [0, 1], "op": [OPS["ADD"]] * 2, "size": [SIZES["u32"]] * 2,
        ...                   "ra": [[64], [64]], "b": [[5], [5]]},
        ...     warp_response={"cycle": [10, 12], "tag": [0, 1], "rd": [[0], [7]]})
        >>> [(verdict.clause, verdict.number, verdict.got) for verdict in verdicts]
        [('spec 4.5', 1, 7)]
        """
        return self._native.judge(events)

    def word_index(self, row: int, bank: int) -> int:
        """Index of the word that `bank` holds in `row`: its physical byte address / 4."""
        return self._native.word_index(row, bank)

    @property
    def judged(self) -> int:
        """Number of requests judged so far."""
        return self._native.judged

    @property
    def unjudged(self) -> int:
        """Number of requests that were not judged: they access a word that a rejected request, or a reset, left unknown."""
        return self._native.unjudged

    def close(self) -> None:
        """Writes the rest of the trace. Without a trace, it does nothing."""
        self._native.close()

    def __enter__(self) -> Scoreboard:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Model:
    """Cycle-accurate model of `atoms_unit` in its reset state, with memory of zeros. `config` is that of `Scoreboard`.

    Pins have the names of the ports in docs/ports.md without `_i` and `_o`; `rst_n` is the reset. Pins are integers, packed if
    they have one element for each lane; inputs with lanes can have the other forms of `Scoreboard`, too. Inputs that are left
    out are 0, but `rst_n` and ready inputs are 1.

    >>> model = Model("small")
    >>> _ = model.step(cta_valid=1, cta_enable=1, cta_size=128)
    >>> out = model.step(req_valid=1, req_op="ADD", req_size="u32", req_mask=0b11, req_ra=[64, 64], req_b=[5, 7])
    >>> out["req_ready"]
    1
    >>> while not out["rsp_valid"]:
    ...     out = model.step()
    >>> hex(out["rsp_rd"]), out["rsp_passes"], int(model.memory[16])
    ('0x500000000000000000000000000000000', 2, 12)
    """

    def __init__(self, config: Path = "default") -> None:
        self._native = NativeModel(os.fspath(config))

    def step(self, **pins: Any) -> Pins:
        """Runs one cycle with these inputs. Returns the outputs before the clock edge. A cycle with `rst_n` 0 resets the
        model, but not its memory."""
        return self._native.step(pins)

    def evaluate(self, **pins: Any) -> Pins:
        """Returns the outputs of a cycle without a clock edge. Only `cta_ready` depends on the inputs."""
        return self._native.evaluate(pins)

    @property
    def memory(self) -> Any:
        """Copy of all words, as an array. The index of a word is its physical byte address / 4."""
        return self._native.memory

    def set_words(self, words: Words) -> None:
        """Sets words of memory: a dictionary from index to value, or an array of all words."""
        self._native.set_words(words)


class Stimulus:
    """Random stimulus of `requests` warp requests, and of requests at the other ports meanwhile. Equal arguments and outputs of
    the unit give equal requests.

    `profile` is the name of a profile (docs/profiles.md), or the content of its file. `config` is that of `Scoreboard`. Pins
    are those of `Model`.

    >>> stimulus, model = Stimulus("small", profile="hazards", seed=7, requests=100), Model("small")
    >>> accepted, pins = 0, stimulus.step()
    >>> while not stimulus.finished or pins["req_valid"]:
    ...     out = model.step(**pins)
    ...     accepted += pins["req_valid"] & out["req_ready"]
    ...     pins = stimulus.step(out)
    >>> accepted
    100
    """

    def __init__(
        self, config: Path = "default", *, profile: str = "default", seed: int = 1, requests: int = 1000
    ) -> None:
        self._native = NativeStimulus(os.fspath(config), profile, seed, requests)

    def step(self, out: dict[str, Any] | None = None) -> Pins:
        """Returns the inputs of the next cycle, given the outputs of the cycle before. Outputs that are left out are 0. The
        first call ignores them."""
        return self._native.step(out)

    @property
    def finished(self) -> bool:
        """True if all requests have been offered. The last one may not be accepted yet, and requests may be in flight."""
        return self._native.finished


class Coverage:
    """Functional coverage of a unit after reset, without hits: the groups of docs/coverage.md that its ports show. `config` is
    that of `Scoreboard`. Pins are those of `Model`.

    >>> stimulus, model, coverage = Stimulus("small", requests=500), Model("small"), Coverage("small")
    >>> pins = stimulus.step()
    >>> while not stimulus.finished:
    ...     out = model.step(**pins)
    ...     coverage.sample(pins, out)
    ...     pins = stimulus.step(out)
    >>> hit, bins = coverage.groups()["lane_alone"]
    >>> hit == bins == len(coverage.bins("lane_alone"))
    True
    """

    def __init__(self, config: Path = "default") -> None:
        self._native = NativeCoverage(os.fspath(config))

    def sample(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """Samples the pins of the next cycle, as they are before the clock edge. Call it in every cycle."""
        self._native.sample(inputs, outputs)

    def groups(self) -> dict[str, tuple[int, int]]:
        """Returns the number of bins hit, and of all bins that the unit can hit, of each group."""
        return {name: (hit, bins) for name, hit, bins in self._native.groups()}

    def bins(self, group: str) -> dict[str, int]:
        """Returns the hits of each bin of a group, by name: `lanes[ADD, all]`."""
        return dict(self._native.bins(group))

    def write(self, path: Path) -> None:
        """Writes the hits to a file that `atoms cover` merges."""
        self._native.write(os.fspath(path))


def run(
    kernel: Path, launch: Path | Mapping[str, Any], *, config: str = "default", arch: str | None = None, on: str = "model"
) -> dict[str, Any]:
    """Runs a kernel on the unit, with the oracle, and returns what `atoms run --json` prints, and the content of each buffer
    as an array (`data`).

    `kernel` is a file with PTX or a SASS listing, or such a text. `launch` is a launch file (docs/launch-files.md), or its
    content as a dictionary. `on` is `model`, `lockstep` or `rtl`; the last two need the RTL, from a checkout around the
    working folder or from the folder in the environment variable ATOMS_RTL.

    >>> count = '''
    ... .version 8.0
    ... .target sm_90
    ... .address_size 64
    ... .visible .entry count(.param .u64 out) {
    ...     .reg .u32 %r<4>; .reg .u64 %rd<2>;
    ...     .shared .u32 counter;
    ...     mov.u32 %r1, counter;
    ...     atom.shared.add.u32 %r2, [%r1], 1;
    ...     bar.sync 0;
    ...     ld.shared.u32 %r3, [%r1];
    ...     ld.param.u64 %rd1, [out];
    ...     st.global.u32 [%rd1], %r3;
    ...     ret;
    ... }
    ... '''
    >>> launch = {"kernel": "count", "grid": 1, "block": 64, "param": [{"name": "out", "type": "u32", "zeros": 1}]}
    >>> result = run(count, launch)
    >>> result["buffers"][0]["data"], result["requests"]["POPC.INC"]
    (array([64], dtype=uint32), 2)
    """
    return _atoms.run(os.fspath(kernel), _launch(launch), config, arch, on)


def lower(ptx: Path, arch: str | Sequence[str] = (), *, unused: bool = False) -> list[dict[str, Any]]:
    """Lowers the atomics, mbarrier operations and asynchronous copies of PTX to machine code. Returns what `atoms lower
    --json` prints.

    `ptx` is a file, or a module or instructions as text. `arch` has names such as `sm_90`, or `all`. `unused` lowers as if
    the program reads no result.

    >>> lowered = lower("atom.shared.add.u32 %r1, [%r2], 1;", "sm_90")
    >>> lowered[0]["targets"]
    ['sm_90']
    """
    return _atoms.lower(os.fspath(ptx), [arch] if isinstance(arch, str) else list(arch), unused)


def explore(
    workload: Path,
    *,
    config: str = "default",
    settings: Mapping[str, Any] | None = None,
    launch: Path | Mapping[str, Any] | None = None,
    seed: int = 1,
    on: str = "model",
) -> dict[str, Any]:
    """Measures a workload on a configuration. Returns what `atoms explore run --json` prints.

    `workload` is a generated workload (`atoms explore workloads`) with `settings`, or a kernel with `launch`, as in `run`.
    `on` is `model`, or `lockstep`, which also certifies the result on the RTL.

    >>> measured = [explore("histogram", config=f"default,num_banks={banks}") for banks in (16, 32)]
    >>> [(one["parameters"]["num_banks"], one["measurement"]["cycles"]) for one in measured]
    [(16, 2261), (32, 1614)]

    `pandas.json_normalize(measured)` is a table of them.
    """
    pairs = [(name, str(value)) for name, value in (settings or {}).items()]
    return _atoms.explore(os.fspath(workload), config, pairs, None if launch is None else _launch(launch), seed, on)


def _launch(launch: Path | Mapping[str, Any]) -> Any:
    return os.fspath(launch) if isinstance(launch, (str, os.PathLike)) else dict(launch)
