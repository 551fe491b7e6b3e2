from typing import Any, final, type_check_only

__all__ = [
    "INPUTS",
    "NativeCoverage",
    "NativeModel",
    "NativeScoreboard",
    "NativeStimulus",
    "OPS",
    "OUTPUTS",
    "Rejected",
    "SIZES",
    "Undecided",
    "explore",
    "lower",
    "run",
]

INPUTS: dict[str, str]
OUTPUTS: dict[str, str]
OPS: dict[str, int]
SIZES: dict[str, int]

@type_check_only
class _Verdict:
    """Fields of `Rejected` and `Undecided`."""

    clause: str
    about: str
    cycle: int
    lanes: int
    address: int | None
    expected: int | None
    got: int | None
    port: str | None
    number: int | None
    tag: int | None
    op: str | None
    accepted: int | None

class Rejected(AssertionError, _Verdict): ...
class Undecided(RuntimeError, _Verdict): ...

@final
class NativeScoreboard:
    def __new__(cls, config: str, observed: bool, record: str | None) -> NativeScoreboard: ...
    def report(self, kind: str, arguments: dict[str, Any]) -> None: ...
    def judge(self, batches: dict[str, Any]) -> list[Rejected | Undecided]: ...
    def close(self) -> None: ...
    def word_index(self, row: int, bank: int) -> int: ...
    @property
    def judged(self) -> int: ...
    @property
    def unjudged(self) -> int: ...

@final
class NativeModel:
    def __new__(cls, config: str) -> NativeModel: ...
    def step(self, pins: dict[str, Any]) -> dict[str, int]: ...
    def evaluate(self, pins: dict[str, Any]) -> dict[str, int]: ...
    def set_words(self, words: Any) -> None: ...
    @property
    def memory(self) -> Any: ...

@final
class NativeStimulus:
    def __new__(cls, config: str, profile: str, seed: int, requests: int) -> NativeStimulus: ...
    def step(self, out: dict[str, Any] | None) -> dict[str, int]: ...
    @property
    def finished(self) -> bool: ...

@final
class NativeCoverage:
    def __new__(cls, config: str) -> NativeCoverage: ...
    def sample(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None: ...
    def groups(self) -> list[tuple[str, int, int]]: ...
    def bins(self, group: str) -> list[tuple[str, int]]: ...
    def write(self, path: str) -> None: ...

def run(kernel: str, launch: Any, config: str, arch: str | None, on: str) -> dict[str, Any]: ...
def lower(ptx: str, arches: list[str], unused: bool) -> list[dict[str, Any]]: ...
def explore(
    workload: str, config: str, settings: list[tuple[str, str]], launch: Any, seed: int, on: str
) -> dict[str, Any]: ...
