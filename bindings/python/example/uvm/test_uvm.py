"""`pytest test_uvm.py`: runs the UVM bench in Verilator, on the unit as it is and with a planted bug."""

import atoms
import bench
import cocotb
import pyuvm
from cocotb.triggers import ClockCycles
from pyuvm import uvm_factory, uvm_test
from uvm_bench import GROUP, ClosureSequence, Env, Monitor, RandomSequence, TableSequence


@pyuvm.test()
class ClosureTest(uvm_test):
    """Sends random requests, then requests for the bins of one group that are still not hit."""

    def build_phase(self):
        self.env = Env.create("env", self)

    async def run_phase(self):
        self.raise_objection()
        await bench.start(cocotb.top)
        coverage, sequencer = self.env.coverage, self.env.agent.sequencer
        await TableSequence("table").start(sequencer)
        await RandomSequence("random", 200).start(sequencer)
        self.logger.info(f"after random requests, {len(coverage.missing())} bins of {GROUP} are not hit")
        await ClosureSequence("closure", coverage, limit=1000).start(sequencer)
        await ClockCycles(cocotb.top.clk_i, bench.IDLE)
        self.drop_objection()

    def check_phase(self):
        judged, missing = self.env.scoreboard.scoreboard.judged, self.env.coverage.missing()
        self.logger.info(f"{judged} requests judged")
        assert judged > 200 and not missing, f"not hit: {missing}"


class WrongResultMonitor(Monitor):
    """Changes results of lane 0."""

    def report(self, kind, cycle, values):
        if kind == "warp_response" and values["rd"] & 0xFFFFFFFF:
            values["rd"] ^= 1
        super().report(kind, cycle, values)


@pyuvm.test(expect_error=atoms.Rejected)
class WrongResultTest(ClosureTest):
    def build_phase(self):
        uvm_factory().set_type_override_by_type(Monitor, WrongResultMonitor)
        super().build_phase()


def test_uvm(simulate):
    """Runs the tests above in the simulation."""
    assert simulate("test_uvm") == (2, 0)
