"""Tests of the model and the stimulus."""

import atoms
import numpy as np
import pytest


def cycles(model, stimulus, idle=300):
    """Runs the model under the stimulus, and then `idle` more cycles. Yields inputs and outputs of each cycle."""
    pins = stimulus.step()
    while idle:
        out = model.step(**pins)
        yield pins, out
        pins = stimulus.step(out)
        idle -= stimulus.finished


class Monitor:
    """Reports the events at the pins to a scoreboard."""

    def __init__(self, scoreboard):
        self.scoreboard, self.cycle, self.table, self.standing = scoreboard, 0, None, {}

    def see(self, pins, out, memory):
        def ports(of, port, names):
            return {name: of[f"{port}_{name}"] for name in names.split()}

        one, self.cycle = self.scoreboard, self.cycle + 1
        if self.table is not None:
            one.cta_result(self.cycle, self.table, bool(out["cta_reject"]))
            self.table = None
        answers = [
            ("rsp", one.warp_response, "tag rd pred fault fault_lane fault_addr passes"),
            ("cl_rsp", one.cluster_response, "tag rd pred fault fault_addr"),
            ("wake", one.wake_up, "tag pred"),
        ]
        for port, report, names in answers:
            if out[f"{port}_valid"] and not self.standing.get(port):
                report(self.cycle, **ports(out, port, names))
            self.standing[port] = out[f"{port}_valid"] and not pins[f"{port}_ready"]
        if not pins["rst_n"]:
            self.standing = {}
            one.reset(self.cycle)
            one.set_words(self.cycle, memory())
            return
        if pins["cta_valid"] and out["cta_ready"]:
            write = ports(pins, "cta", "slot enable base size rank")
            self.table = write["slot"]
            one.cta_write(self.cycle, base_row=write.pop("base"), size_bytes=write.pop("size"), **write)
        if pins["req_valid"] and out["req_ready"]:
            names = "tag op size ra b c mask red absolute scale slot imm ur"
            one.warp_request(self.cycle, **ports(pins, "req", names))
        if pins["cl_valid"] and out["cl_ready"]:
            one.cluster_request(self.cycle, **ports(pins, "cl", "tag op size addr b c red slot"))


@pytest.mark.parametrize("config", ["default", "hashed"])
@pytest.mark.parametrize("profile", ["default", "resets", "cluster = 0.5\nred = 0.1"])
def test_the_scoreboard_accepts_the_model_under_stimulus(config, profile):
    model, stimulus = atoms.Model(config), atoms.Stimulus(config, profile=profile, seed=3, requests=400)
    monitor = Monitor(atoms.Scoreboard(config))
    for pins, out in cycles(model, stimulus, idle=3000):
        monitor.see(pins, out, lambda: model.memory)
    monitor.scoreboard.finish(monitor.cycle + 1, words=model.memory)
    assert monitor.scoreboard.judged > 100


def test_a_wrong_output_is_rejected():
    model, stimulus = atoms.Model(), atoms.Stimulus(profile="busy", requests=400)
    monitor = Monitor(atoms.Scoreboard())
    with pytest.raises(atoms.Rejected, match="got 0x0 .*spec 4.2"):
        for pins, out in cycles(model, stimulus):
            out["rsp_rd"] ^= bool(out["rsp_rd"] & 0xFFFFFFFF) and monitor.cycle > 1000
            monitor.see(pins, out, lambda: model.memory)


def test_equal_seeds_give_equal_cycles():
    def run(seed):
        return list(cycles(atoms.Model("small"), atoms.Stimulus("small", seed=seed, requests=300)))

    assert run(5) == run(5)
    assert run(5) != run(6)


def test_lanes_and_codes_have_several_forms():
    def run(**request):
        model = atoms.Model()
        model.set_words({16: 3, 17: 4})
        model.step(cta_valid=True, cta_enable=1, cta_size=4096)
        out = model.step(req_valid=1, req_mask=3, **request)
        while not out["rsp_valid"]:
            assert model.evaluate() == (out := model.step())
        assert list(model.memory[15:18]) == [0, 8, 10]
        return out

    packed = run(req_op=atoms.OPS["ADD"], req_size=atoms.SIZES["u32"], req_ra=68 << 32 | 64, req_b=6 << 128 | 5)
    assert packed["rsp_rd"] == 4 << 128 | 3
    assert packed == run(req_op="ADD", req_size="u32", req_ra=[64, 68], req_b=[5, 6])
    words = np.array([[5, 0, 0, 0], [6, 0, 0, 0]], np.uint32)
    assert packed == run(req_op="ADD", req_size="u32", req_ra=np.array([64, 68], np.uint32), req_b=words)


def test_pins_have_ports():
    assert set(atoms.Stimulus().step()) == set(atoms.INPUTS)
    assert set(atoms.Model().step()) == set(atoms.OUTPUTS)
    assert (atoms.INPUTS["rst_n"], atoms.INPUTS["req_b"], atoms.OUTPUTS["rsp_rd"]) == ("rst_ni", "req_b_i", "rsp_rd_o")


def test_coverage_counts_what_the_ports_show(tmp_path):
    stimulus, model, coverage = atoms.Stimulus("small", requests=300), atoms.Model("small"), atoms.Coverage("small")
    pins, adds = stimulus.step(), 0
    while not stimulus.finished:
        out = model.step(**pins)
        coverage.sample(pins, out)
        is_add = pins["req_valid"] & out["req_ready"] and (pins["req_op"], pins["req_size"]) == (atoms.OPS["ADD"], atoms.SIZES["u32"])
        adds += bool(is_add)
        pins = stimulus.step(out)
    assert coverage.bins("decode")[f"decode[{atoms.OPS['ADD']}, {atoms.SIZES['u32']}]"] <= adds
    groups = coverage.groups()
    assert "forward" not in groups, "only a probe shows it"
    assert all(hit <= bins == len(coverage.bins(name)) for name, (hit, bins) in groups.items())
    coverage.write(tmp_path / "coverage.json")
    assert (tmp_path / "coverage.json").read_text().startswith('{"atoms_coverage":1,"config":"small"')


def test_another_unit_has_its_own_rules(tmp_path):
    unit = tmp_path / "unit.toml"
    unit.write_text('name = "own"\nmodule = "own"\nsources = ["own.sv"]\nconfig = "small"\noperations = ["ADD"]\nsizes = ["u32"]\n')
    coverage, stimulus, model = atoms.Coverage(unit), atoms.Stimulus(unit, requests=50), atoms.Model("small")
    assert coverage.groups()["lanes"][1] == 4 and "objects" not in coverage.groups()
    pins = stimulus.step()
    while not stimulus.finished:
        assert pins["req_op"] == atoms.OPS["ADD"] or not pins["req_valid"]
        pins = stimulus.step(model.step(**pins))
    # The order of the lanes is a rule of `atoms_unit`, not of every unit.
    for config, accepted in (("small", False), (unit, True)):
        scoreboard = atoms.Scoreboard(config)
        scoreboard.cta_write(0, slot=0, base_row=0, size_bytes=128)
        scoreboard.warp_request(1, tag=1, op="ADD", size="u32", ra=[0, 0], b=[1, 1])
        try:
            scoreboard.warp_response(5, tag=1, rd=[1, 0])
            assert accepted
        except atoms.Rejected:
            assert not accepted


def second_step(**out):
    stimulus = atoms.Stimulus()
    stimulus.step()
    stimulus.step(out or None)


BAD = [
    ("no pin is called `nothing`; there are req_b, ", lambda: atoms.Model().step(nothing=1)),
    ("`req_tag` is 0x40; expected at most 0x3f", lambda: atoms.Model().step(req_tag=64)),
    ("`req_tag` is 0x100; expected at most 8 bits", lambda: atoms.Model().step(req_tag=256)),
    ("`req_tag` is -1; expected 0", lambda: atoms.Model().step(req_tag=-1)),
    (r"`req_ra\[4\]` is 0x1; expected", lambda: atoms.Model("small").step(req_ra=[0, 0, 0, 0, 1])),
    ("`cl_b` is an array; expected an integer", lambda: atoms.Model().step(cl_b=[1])),
    ("no operation is called `SUB`", lambda: atoms.Model().step(req_op="SUB")),
    ("`word` is 1048576; expected 0 to", lambda: atoms.Model().set_words({1 << 20: 0})),
    ("no configuration `nothing`", lambda: atoms.Model("nothing")),
    ("no profile `nothing`", lambda: atoms.Stimulus(profile="nothing")),
    ("`profile`: .*no_knob", lambda: atoms.Stimulus(profile="no_knob = 1")),
    ("the outputs are missing", second_step),
    ("`req_ready` is 0x2; expected at most 0x1", lambda: second_step(req_ready=2)),
    ("no group is called `nothing`; there are operation, ", lambda: atoms.Coverage().bins("nothing")),
    ("`rsp_tag` is 0x40; expected at most 0x3f", lambda: atoms.Coverage().sample({}, {"rsp_tag": 64})),
]


@pytest.mark.parametrize("text, call", BAD, ids=[text for text, _ in BAD])
def test_a_wrong_call_has_a_clear_error(text, call):
    with pytest.raises(ValueError, match=f"(?s){text}"):
        call()
