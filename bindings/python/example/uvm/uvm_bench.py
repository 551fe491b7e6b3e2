"""UVM bench of `atoms_unit` in Python: agent, scoreboard, functional coverage, and sequences of requests.

One sequence reads which bins of a group of coverage are not hit, and sends requests for these bins.
"""

import itertools
import random

import atoms
import bench
import cocotb
from pyuvm import uvm_agent, uvm_analysis_port, uvm_driver, uvm_env, uvm_monitor
from pyuvm import uvm_sequence, uvm_sequence_item, uvm_sequencer, uvm_subscriber

GROUP = "conflict"  # passes of a request: operation, size, lanes at the fullest group of banks
RNG = random.Random(1)
NUMBERS = itertools.count()


class Request(uvm_sequence_item):
    """One request: a port, and the values of its signals."""

    def __init__(self, port, values):
        super().__init__(port)
        self.port, self.values = port, values


class RequestSequence(uvm_sequence):
    """Base of the sequences. `send` returns when the unit has accepted the request."""

    async def send(self, port, values):
        item = Request(port, values)
        await self.start_item(item)
        await self.finish_item(item)


class TableSequence(RequestSequence):
    """Writes the CTA table."""

    async def body(self):
        for write in bench.table():
            await self.send("cta", write)


class RandomSequence(RequestSequence):
    """Sends random warp requests."""

    def __init__(self, name, requests):
        super().__init__(name)
        self.requests = requests

    async def body(self):
        for _ in range(self.requests):
            await self.send("req", bench.warp_request(RNG, next(NUMBERS)))


class ClosureSequence(RequestSequence):
    """Sends requests for bins of `GROUP` that are not hit, until all are hit, or `limit` requests are sent."""

    def __init__(self, name, coverage, limit):
        super().__init__(name)
        self.coverage, self.limit = coverage, limit

    async def body(self):
        for _ in range(self.limit):
            missing = self.coverage.missing()
            if not missing:
                break
            await self.send("req", self.request_for(RNG.choice(missing)))

    def request_for(self, bin_name):
        """Draws a request that hits a bin such as `conflict[ADD, u32, 3-4]`: 3 or 4 lanes access one group of banks."""
        op, size, count = bin_name.removeprefix(f"{GROUP}[").removesuffix("]").split(", ")
        least, _, most = count.partition("-")
        lanes = RNG.sample(range(32), RNG.randint(int(least), int(most or least)))
        # Second half of a row of 128 bytes: words and objects of the random requests are in first halves.
        offset = 64 + 16 * RNG.randrange(4)
        return bench.warp_request(RNG, next(NUMBERS)) | {
            "op": atoms.OPS[op],
            "size": atoms.SIZES[size],
            "mask": sum(1 << lane for lane in lanes),
            "ra": bench.pack([offset + 128 * RNG.randrange(16) for _ in range(32)], 32),
        }


class Driver(uvm_driver):
    """Offers each item on its port until the unit accepts it."""

    async def run_phase(self):
        while True:
            item = await self.seq_item_port.get_next_item()
            await bench.offer(cocotb.top, RNG, item.port, [item.values], 0.75)
            self.seq_item_port.item_done()


class Monitor(uvm_monitor):
    """Writes the events at the ports to `events`, and the pins of each cycle to `pins`."""

    def build_phase(self):
        self.events = uvm_analysis_port("events", self)
        self.pins = uvm_analysis_port("pins", self)

    async def run_phase(self):
        async for cycle, events in bench.watch(cocotb.top):
            self.pins.write([bench.pins(cocotb.top, ports) for ports in (atoms.INPUTS, atoms.OUTPUTS)])
            for kind, values in events:
                self.report(kind, cycle, values)

    def report(self, kind, cycle, values):
        self.events.write((kind, cycle, values))


class Agent(uvm_agent):
    def build_phase(self):
        super().build_phase()
        self.sequencer = uvm_sequencer.create("sequencer", self)
        self.driver = Driver.create("driver", self)
        self.monitor = Monitor.create("monitor", self)

    def connect_phase(self):
        self.driver.seq_item_port.connect(self.sequencer.seq_item_export)


class Scoreboard(uvm_subscriber):
    """Judges the events. An event that breaks the specification raises `atoms.Rejected`, which fails the test."""

    def start_of_simulation_phase(self):
        self.scoreboard, self.cycle = atoms.Scoreboard("default"), 0
        # A reset does not clear the memory.
        self.scoreboard.set_words(0, bench.memory(cocotb.top, self.scoreboard))

    def write(self, event):
        kind, self.cycle, values = event
        getattr(self.scoreboard, kind)(cycle=self.cycle, **values)

    def check_phase(self):
        self.scoreboard.finish(self.cycle + 1, words=bench.memory(cocotb.top, self.scoreboard))


class Coverage(uvm_subscriber):
    """Samples coverage in each cycle, and writes it to a file for `atoms cover`."""

    def build_phase(self):
        self.coverage = atoms.Coverage("default")

    def write(self, pins):
        self.coverage.sample(*pins)

    def missing(self):
        """Returns the bins of `GROUP` that are not hit."""
        return [name for name, hits in self.coverage.bins(GROUP).items() if not hits]

    def report_phase(self):
        self.coverage.write("coverage.json")


class Env(uvm_env):
    def build_phase(self):
        self.agent = Agent.create("agent", self)
        self.scoreboard = Scoreboard.create("scoreboard", self)
        self.coverage = Coverage.create("coverage", self)

    def connect_phase(self):
        self.agent.monitor.events.connect(self.scoreboard.analysis_export)
        self.agent.monitor.pins.connect(self.coverage.analysis_export)
