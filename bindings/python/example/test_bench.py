"""`pytest test_bench.py`: runs the bench in Verilator, on the unit as it is and with ten planted bugs.

pytest builds and runs the simulation; in the simulation, cocotb collects the tests of this file.
"""

import os

import atoms
import cocotb
from bench import compare, run

#: Planted bugs: kind of the altered event, what is altered, operations of the requests with the bug (None for all), and the
#: clause that is broken.
BUGS = [
    ("warp_response", lambda v: v["rd"] & 0xFFFFFFFF and {**v, "rd": v["rd"] ^ 1}, ("EXCH",), "spec 4.5"),
    ("warp_response", lambda v: v["rd"] and v["pred"] and {**v, "pred": 0}, ("CAST", "CAST.SPIN"), "spec 3.2"),
    ("warp_response", lambda v: {**v, "fault": 2}, None, "spec 2.4"),
    ("warp_response", lambda v: {**v, "passes": v["passes"] + 1}, None, "spec 4.3"),
    ("warp_response", lambda v: "dropped", None, "spec 4.6"),
    ("warp_response", lambda v: {**v, "tag": (v["tag"] + 1) % 64}, None, "spec 4.6"),
    ("cluster_response", lambda v: {**v, "rd": v["rd"] ^ 1 << 40}, None, "spec 4.5"),
    ("cta_result", lambda v: {**v, "refused": 1 - v["refused"]}, None, "spec 1.3"),
    ("wake_up", lambda v: {**v, "pred": v["pred"] ^ 1}, None, "spec 6.3"),
    ("finish", lambda v: {**v, "words": {word: value ^ 1 for word, value in v["words"].items()}}, None, "spec 4.6"),
]


@cocotb.test()
async def the_unit_is_accepted(dut):
    judged = await run(dut, seed=1, plant=lambda kind, values: values, record=os.environ.get("ATOMS_TRACE"))
    assert judged > 300


@cocotb.test()
@cocotb.parametrize(bug=range(len(BUGS)))
async def a_planted_bug_is_rejected_with_its_clause(dut, bug):
    kind, alter, ops, clause = BUGS[bug]
    op_of_tag, responses = {}, 0

    def plant(of, values):
        nonlocal responses
        responses += of == "warp_response"
        if of == "warp_request":
            op_of_tag[values["tag"]] = values["op"]
        is_target = ops is None or op_of_tag.get(values.get("tag")) in (atoms.OPS[op] for op in ops)
        if of != kind or not is_target or (responses < 50 and kind != "cta_result"):
            return values
        altered = alter(values)
        return None if altered == "dropped" else altered or values

    try:
        await run(dut, seed=1, plant=plant)
    except atoms.Rejected as rejected:
        assert rejected.clause == clause, rejected
    else:
        raise AssertionError("no event was rejected")


@cocotb.test()
async def the_unit_equals_the_model(dut):
    await compare(dut, "default")


def test_bench(simulate):
    """Runs the tests above in the simulation."""
    assert simulate("test_bench") == (2 + len(BUGS), 0)
