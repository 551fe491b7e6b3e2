"""cocotb bench of `atoms_unit`: random driver, monitor, and the ATOMS scoreboard; the ATOMS stimulus and model.

Everything wakes on clock edges only: in Verilator, waiting for an edge of `valid` can hang.
"""

import random

import atoms
import cocotb
from atoms import OPS, SIZES
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

REQUESTS = 400
SLOTS = 2
WORDS = range(OPS["ADD"], OPS["STS"] + 1)
OBJECTS = range(OPS["MBAR.EXPECT_TX"], OPS["MBAR.TRY_WAIT"] + 1)


def pack(lanes, bits):
    """Packs one value for each lane into one integer, lane 0 lowest."""
    return sum(value << bits * lane for lane, value in enumerate(lanes))


def drive(dut, port, values):
    """Sets the signals of a port: `{port}_{name}_i`."""
    for name, value in values.items():
        getattr(dut, f"{port}_{name}_i").value = value


def read(dut, port, *names):
    """Reads the signals of a port as integers: `{port}_{name}_o`, or `_i` for the ports of requests."""
    end = "i" if port in ("req", "cl", "cta") else "o"
    return {name: int(getattr(dut, f"{port}_{name}_{end}").value) for name in names}


def warp_request(rng, number):
    """Draws a request: operations of 32 bits on 16 words, waits and arrivals on two objects."""
    is_object = rng.random() < 0.2
    lanes = range(32)
    address = 0x80 + 8 * rng.randrange(2)
    if is_object:
        # Counts of an arrival, or the parity of a wait (bit 31), which ends after 50 cycles.
        parity = rng.randrange(2) << 31
        b, c = [rng.randrange(4) | parity for _ in lanes], [50 for _ in lanes]
    else:
        b, c = [rng.randrange(8) for _ in lanes], [rng.randrange(8) for _ in lanes]
    return {
        "op": rng.choice(OBJECTS if is_object else WORDS),
        "size": SIZES["u64" if is_object else "u32"],
        "red": rng.randrange(4) == 0,
        "absolute": 0,
        "scale": 0,
        "tag": number % 64,
        "slot": rng.randrange(SLOTS),
        "mask": rng.getrandbits(32),
        "imm": 0,
        "ur": 0,
        "ra": pack([address if is_object else 4 * rng.randrange(16) for _ in lanes], 32),
        "b": pack(b, 128),
        "c": pack(c, 128),
    }


def cluster_request(rng):
    return {
        "op": rng.randrange(OPS["ADD"], OPS["XOR"] + 1),
        "size": SIZES["u32"],
        "red": rng.randrange(2),
        "tag": rng.randrange(64),
        "slot": rng.randrange(SLOTS),
        "addr": 4 * rng.randrange(16),
        "b": rng.randrange(8),
        "c": 0,
    }


async def driver(dut, rng):
    """Writes the CTA table, then offers random requests until REQUESTS warp requests are accepted."""
    for slot in range(SLOTS):
        drive(dut, "cta", {"slot": slot, "enable": 1, "base": 16 * slot, "size": 2048, "rank": 0, "valid": 1})
        await accepted(dut, "cta")
    dut.cta_valid_i.value = 0
    warp = cocotb.start_soon(offer(dut, rng, "req", (warp_request(rng, n) for n in range(REQUESTS)), 0.75))
    cluster = cocotb.start_soon(offer(dut, rng, "cl", (cluster_request(rng) for _ in range(REQUESTS // 8)), 0.1))
    await warp
    await cluster


async def accepted(dut, port):
    """Waits for the clock edge at which the request on a port is accepted."""
    while True:
        await FallingEdge(dut.clk_i)
        ready = getattr(dut, f"{port}_ready_o").value
        await RisingEdge(dut.clk_i)
        if ready:
            return


async def offer(dut, rng, port, requests, rate):
    valid = getattr(dut, f"{port}_valid_i")
    for request in requests:
        while rng.random() > rate:
            await RisingEdge(dut.clk_i)
        drive(dut, port, request)
        valid.value = 1
        await accepted(dut, port)
        valid.value = 0


def memory(dut, scoreboard):
    """Reads the words of the slots' rows through the hierarchy: index to value."""
    words = {}
    for bank in range(len(dut.g_bank)):
        rows = dut.g_bank[bank].u_bank.mem_q
        for row in range(16 * SLOTS):
            words[scoreboard.word_index(row, bank)] = int(rows[row].value)
    return words


async def monitor(dut, scoreboard, driving, plant):
    """Reports the events at the ports, as they are in the middle of each clock cycle, until the unit is idle."""

    def report(kind, cycle, **values):
        values = plant(kind, values)
        if values is not None:
            getattr(scoreboard, kind)(cycle, **values)

    cycle, idle, written_slot = 0, 0, None
    while idle < 400:  # all waits end within 50 cycles
        await FallingEdge(dut.clk_i)
        cycle += 1
        if written_slot is not None:
            report("cta_result", cycle, slot=written_slot, refused=int(dut.cta_reject_o.value))
            written_slot = None
        if dut.rsp_valid_o.value:
            names = ("tag", "rd", "pred", "fault", "fault_lane", "fault_addr", "passes")
            report("warp_response", cycle, **read(dut, "rsp", *names))
        if dut.cl_rsp_valid_o.value:
            report("cluster_response", cycle, **read(dut, "cl_rsp", "tag", "rd", "pred", "fault", "fault_addr"))
        if dut.wake_valid_o.value:
            report("wake_up", cycle, **read(dut, "wake", "tag", "pred"))
        else:
            scoreboard.quiet(cycle, cycle)
        if dut.cta_valid_i.value and dut.cta_ready_o.value:
            write = read(dut, "cta", "slot", "enable", "base", "size", "rank")
            written_slot = write["slot"]
            report("cta_write", cycle, base_row=write.pop("base"), size_bytes=write.pop("size"), **write)
        if dut.req_valid_i.value and dut.req_ready_o.value:
            names = ("tag", "op", "size", "ra", "b", "c", "mask", "red", "absolute", "scale", "slot", "imm", "ur")
            report("warp_request", cycle, **read(dut, "req", *names))
        if dut.cl_valid_i.value and dut.cl_ready_o.value:
            report("cluster_request", cycle, **read(dut, "cl", "tag", "op", "size", "addr", "b", "c", "red", "slot"))
        idle = idle + 1 if driving.done() else 0
    report("finish", cycle + 1, words=memory(dut, scoreboard))


async def start(dut):
    """Starts the clock and resets the unit."""
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    for signal in (dut.req_valid_i, dut.cl_valid_i, dut.cta_valid_i, dut.rst_ni):
        signal.value = 0
    for signal in (dut.rsp_ready_i, dut.cl_rsp_ready_i, dut.wake_ready_i):
        signal.value = 1
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1


def offered(out):
    """Outputs that have a meaning: without those of a response or wake-up that is not valid."""
    idle = tuple(f"{port}_" for port in ("rsp", "cl_rsp", "wake") if not out[f"{port}_valid"])
    return {pin: value for pin, value in out.items() if not pin.startswith(idle)}


async def compare(dut, profile):
    """Drives random requests, and compares all outputs with the cycle-accurate model in every cycle."""
    await start(dut)
    model, stimulus = atoms.Model("default"), atoms.Stimulus("default", profile=profile, requests=REQUESTS)
    model.set_words(memory(dut, atoms.Scoreboard("default")))
    pins = stimulus.step()
    while not stimulus.finished:
        for pin, value in pins.items():
            getattr(dut, atoms.INPUTS[pin]).value = value
        await FallingEdge(dut.clk_i)
        out = {pin: int(getattr(dut, port).value) for pin, port in atoms.OUTPUTS.items()}
        assert offered(out) == offered(model.step(**pins))
        pins = stimulus.step(out)
        await RisingEdge(dut.clk_i)


async def run(dut, seed, plant, record=None):
    """Resets the unit and runs a random test. `plant` alters the values of an event, or drops the event with None."""
    rng = random.Random(seed)
    await start(dut)
    with atoms.Scoreboard("default", record=record) as scoreboard:
        # A reset does not clear the memory.
        scoreboard.set_words(0, memory(dut, scoreboard))
        driving = cocotb.start_soon(driver(dut, rng))
        await monitor(dut, scoreboard, driving, plant)
        return scoreboard.judged
