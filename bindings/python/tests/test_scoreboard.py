"""Tests of the Python interface of the scoreboard."""

import json
import random
import threading

import atoms
import numpy as np
import pytest

ADD, U32 = atoms.OPS["ADD"], atoms.SIZES["u32"]


def scoreboard(**options):
    made = atoms.Scoreboard("default", **options)
    made.cta_write(0, slot=0, base_row=0, size_bytes=4096)
    return made


def additions(number, seed=1):
    """Requests that add 32 lanes to 16 words, and their results: (words, operands, results)."""
    rng, memory, all_events = random.Random(seed), [0] * 16, []
    for _ in range(number):
        words = [rng.randrange(16) for _ in range(32)]
        operands = [rng.randrange(100) for _ in range(32)]
        results = []
        for word, operand in zip(words, operands):
            results.append(memory[word])
            memory[word] += operand
        all_events.append((words, operands, results))
    return all_events


def pack(values, bits):
    return sum(value << bits * lane for lane, value in enumerate(values))


FORMS = {
    "lists": (list, list),
    "arrays": (np.array, np.array),
    "words": (lambda v: np.array(v, np.uint32), lambda v: np.array([[x, 0, 0, 0] for x in v], np.uint32)),
    "packed": (lambda v: pack(v, 32), lambda v: pack(v, 128)),
}


@pytest.mark.parametrize("form", FORMS)
def test_lanes_have_several_forms(form):
    narrow, wide = FORMS[form]
    one = scoreboard()
    for at, (words, operands, results) in enumerate(additions(20)):
        one.warp_request(2 * at + 1, at, "ADD", "u32", narrow([4 * word for word in words]), wide(operands))
        one.warp_response(2 * at + 2, at, wide(results))
    assert one.judged == 20
    wrong = [results[0] + 1] + results[1:]
    one.warp_request(100, 0, "ADD", "u32", narrow([4 * word for word in words]), wide([0] * 32))
    with pytest.raises(atoms.Rejected, match="spec 4.5"):
        one.warp_response(101, 0, wide(wrong))


def test_a_list_can_have_128_bit_values():
    one = scoreboard()
    one.warp_request(1, 0, "STS", "b128", [0, 16], [1 << 100 | 7, 5], mask=3)
    one.warp_response(2, 0)
    one.warp_request(3, 1, "LDS", "b128", [0, 16], mask=3)
    one.warp_response(4, 1, [1 << 100 | 7, 5])


def batch(number):
    all_events = additions(number)
    cycles, tags = np.arange(number) * 2 + 1, np.arange(number) % 64
    words, operands, results = (np.array([event[part] for event in all_events]) for part in range(3))
    request = {"cycle": cycles, "tag": tags, "op": [ADD] * number, "size": [U32] * number, "ra": 4 * words, "b": operands}
    return request, {"cycle": cycles + 1, "tag": tags, "rd": results}


def test_a_batch_is_judged_as_single_events():
    request, response = batch(200)
    one = scoreboard()
    assert one.judge(warp_request=request, warp_response=response) == []
    assert one.judged == 200
    response["rd"][50, 7] += 1
    one = scoreboard()
    (rejected,) = one.judge(warp_request=request, warp_response=response)
    assert (rejected.number, rejected.lanes, rejected.clause) == (50, 1 << 7, "spec 4.5")
    assert one.judged == 200


def test_a_structured_array_is_a_batch():
    request, response = batch(10)
    table = np.zeros(10, [("cycle", "u8"), ("tag", "u1"), ("rd", "u4", (32, 4))])
    table["cycle"], table["tag"], table["rd"][:, :, 0] = response["cycle"], response["tag"], response["rd"]
    one = scoreboard()
    assert one.judge(warp_request=request, warp_response=table) == []
    assert one.judged == 10


def test_a_rejection_has_fields():
    one = scoreboard()
    one.warp_request(3, 5, "ADD", "u32", [32, 64], [1, 1], mask=3)
    with pytest.raises(atoms.Rejected) as raised:
        one.warp_response(9, 5, [0, 7])
    verdict = raised.value
    assert (verdict.clause, verdict.about, verdict.port, verdict.number) == ("spec 4.5", "rd", "warp", 0)
    assert (verdict.tag, verdict.op, verdict.accepted, verdict.cycle) == (5, "ADD", 3, 9)
    assert (verdict.lanes, verdict.address, verdict.expected, verdict.got) == (2, 64, None, 7)


def test_judging_goes_on_after_a_rejection():
    one = scoreboard()
    one.warp_request(1, 0, "ADD", "u32", [0], [1], mask=1)
    with pytest.raises(atoms.Rejected):
        one.warp_response(2, 0, [7])
    one.set_words(3, {0: 1})
    one.warp_request(4, 1, "ADD", "u32", [0], [1], mask=1)
    one.warp_response(5, 1, [1])
    with pytest.raises(atoms.Rejected, match="word"):
        one.finish(6, {0: 3})


def test_other_events_are_judged():
    one = scoreboard(observed=True)
    with pytest.raises(atoms.Rejected, match="1.3"):
        one.cta_result(1, 0, refused=True)
    one = scoreboard(observed=True)
    one.cluster_request(2, 7, "ADD", "u32", addr=8, b=5)
    one.executed(3, {2: 5})
    one.cluster_response(4, 7, rd=0)
    one.warp_request(5, 1, "LDS", "u32", [8], mask=1)
    one.warp_response(6, 1, [5], passes=1, written={})
    one.reset(7)
    one.cta_write(8, slot=0, base_row=0, size_bytes=4096)
    memory = np.zeros(12288, np.uint32)
    memory[2] = 5
    one.finish(9, memory)


BAD = [
    (ValueError, "no operation is called `ADDD`", lambda s: s.warp_request(1, 0, "ADDD", "u32", [0])),
    (ValueError, "`op` is 40; expected 0 to 31", lambda s: s.warp_request(1, 0, 40, "u32", [0])),
    (ValueError, "`tag` is -1; expected an integer that is not negative", lambda s: s.warp_request(1, -1, "ADD", "u32", [0])),
    (ValueError, "no size is called `u33`", lambda s: s.warp_request(1, 0, "ADD", "u33", [0])),
    (ValueError, r"`ra` has the shape \[33\]", lambda s: s.warp_request(1, 0, 0, 0, [0] * 33)),
    (ValueError, "`ra` has the shape", lambda s: s.warp_request(1, 0, 0, 0, np.zeros((2, 2), np.uint32))),
    (ValueError, "negative", lambda s: s.warp_request(1, 0, 0, 0, np.array([-4]))),
    (TypeError, "float64", lambda s: s.warp_request(1, 0, 0, 0, [0.5])),
    (ValueError, r"expected 0 to 2\*\*1024 - 1", lambda s: s.warp_request(1, 0, 0, 0, 1 << 1024)),
    (ValueError, "expected 32 bits", lambda s: s.warp_request(1, 0, 0, 0, [1 << 32])),
    (ValueError, "`fault` is 4; expected 0 to 3", lambda s: s.warp_response(1, 0, fault=4)),
    (ValueError, "`word` is 99999; expected 0 to", lambda s: s.set_words(1, {99999: 0})),
    (ValueError, "the memory has 384 rows, 32 banks", lambda s: s.word_index(384, 0)),
    (ValueError, "no kind of event is called `warp`", lambda s: s.judge(warp={})),
    (ValueError, "expected a dictionary of arrays", lambda s: s.judge(wake_up=3)),
    (ValueError, "column `pred` is missing", lambda s: s.judge(wake_up={"cycle": [1], "tag": [0]})),
    (ValueError, "column `lane` is unknown", lambda s: s.judge(suspended={"cycle": [1], "tag": [0], "lane": [1]})),
    (ValueError, "`cycle` has 2 rows, column `tag` 1", lambda s: s.judge(suspended={"cycle": [1, 2], "tag": [0]})),
    (ValueError, "row 1: `tag` is 300", lambda s: s.judge(suspended={"cycle": [1, 2], "tag": [0, 300]})),
    (ValueError, "cannot be a column", lambda s: s.judge(reset={"cycle": [1], "written": [0]})),
    (atoms.Rejected, "no request", lambda s: s.warp_response(1, 3)),
    (OSError, "No such file", lambda s: atoms.Scoreboard(record="/no/such/folder/trace.jsonl")),
    (ValueError, "unknown configuration|no configuration", lambda s: atoms.Scoreboard("nothing")),
]


@pytest.mark.parametrize("kind, text, call", BAD, ids=[text for _, text, _ in BAD])
def test_a_wrong_call_has_a_clear_error(kind, text, call):
    one = scoreboard()
    with pytest.raises(kind, match=text):
        call(one)
    one.warp_request(10, 0, "ADD", "u32", [0], [1], mask=1)
    one.warp_response(11, 0, [0])


def test_events_that_go_back_are_undecided():
    one = scoreboard()
    one.warp_request(10, 0, "ADD", "u32", [0], [1])
    with pytest.raises(atoms.Undecided, match="keep the order"):
        one.warp_request(9, 1, "ADD", "u32", [0], [1])


def test_a_trace_is_complete_after_the_block(tmp_path):
    path = tmp_path / "trace.jsonl"
    with scoreboard(record=path) as one:
        one.warp_request(1, 0, "ADD", "u32", [0], [1], mask=1)
        one.warp_response(2, 0, [0])
        one.finish(3)
    kinds = [next(iter(json.loads(line))) for line in path.read_text().splitlines()]
    assert len(kinds) >= 4


def test_two_threads_never_crash():
    one, (request, response), errors = scoreboard(), batch(2000), []

    def judge():
        try:
            one.judge(warp_request=request, warp_response=response)
        except RuntimeError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=judge) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("another thread" in error for error in errors)


def test_runs_and_measurements_have_clear_errors():
    with pytest.raises(ValueError, match="unknown workload|no workload|nothing"):
        atoms.explore("nothing")
    with pytest.raises(ValueError, match="expected model"):
        atoms.explore("histogram", on="silicon")
    with pytest.raises(ValueError, match="unknown architecture `sm_9`"):
        atoms.lower("red.shared.add.u32 [%r1], 1;", "sm_9")
    with pytest.raises(ValueError, match="cannot read"):
        atoms.run("no_such_kernel.ptx", {"kernel": "k", "grid": 1, "block": 32})
