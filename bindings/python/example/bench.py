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
IDLE = 400  # cycles after which all requests are answered: waits end within 50 cycles
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


def table():
    """Returns writes of the CTA table: an allocation of 2 KiB for each slot."""
    return [{"slot": slot, "enable": 1, "base": 16 * slot, "size": 2048, "rank": 0} for slot in range(SLOTS)]


async def driver(dut, rng):
    """Writes the CTA table, then offers random requests until REQUESTS warp requests are accepted."""
    await offer(dut, rng, "cta", table(), 1)
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
    """Offers requests on a port one after the other, in each idle cycle with the probability `rate`."""
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


async def watch(dut):
    """Yields the events at the ports, as they are in the middle of each clock cycle: number of the cycle, kinds and values."""
    cycle, written_slot = 0, None
    while True:
        await FallingEdge(dut.clk_i)
        cycle += 1
        events = []
        if written_slot is not None:
            events.append(("cta_result", {"slot": written_slot, "refused": int(dut.cta_reject_o.value)}))
            written_slot = None
        if dut.rsp_valid_o.value:
            names = ("tag", "rd", "pred", "fault", "fault_lane", "fault_addr", "passes")
            events.append(("warp_response", read(dut, "rsp", *names)))
        if dut.cl_rsp_valid_o.value:
            events.append(("cluster_response", read(dut, "cl_rsp", "tag", "rd", "pred", "fault", "fault_addr")))
        if dut.wake_valid_o.value:
            events.append(("wake_up", read(dut, "wake", "tag", "pred")))
        else:
            events.append(("quiet", {"first": cycle}))
        if dut.cta_valid_i.value and dut.cta_ready_o.value:
            write = read(dut, "cta", "slot", "enable", "base", "size", "rank")
            written_slot = write["slot"]
            events.append(("cta_write", {"base_row": write.pop("base"), "size_bytes": write.pop("size"), **write}))
        if dut.req_valid_i.value and dut.req_ready_o.value:
            names = ("tag", "op", "size", "ra", "b", "c", "mask", "red", "absolute", "scale", "slot", "imm", "ur")
            events.append(("warp_request", read(dut, "req", *names)))
        if dut.cl_valid_i.value and dut.cl_ready_o.value:
            events.append(("cluster_request", read(dut, "cl", "tag", "op", "size", "addr", "b", "c", "red", "slot")))
        yield cycle, events


async def monitor(dut, scoreboard, driving, plant):
    """Reports the events at the ports until the unit is idle."""

    def report(kind, cycle, values):
        values = plant(kind, values)
        if values is not None:
            getattr(scoreboard, kind)(cycle=cycle, **values)

    idle = 0
    async for cycle, events in watch(dut):
        for kind, values in events:
            report(kind, cycle, values)
        idle = idle + 1 if driving.done() else 0
        if idle == IDLE:
            break
    report("finish", cycle + 1, {"words": memory(dut, scoreboard)})


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


def pins(dut, ports):
    """Reads pins as integers: `ports` is `atoms.INPUTS` or `atoms.OUTPUTS`."""
    return {pin: int(getattr(dut, port).value) for pin, port in ports.items()}


def offered(out):
    """Outputs that have a meaning: without those of a response or wake-up that is not valid."""
    idle = tuple(f"{port}_" for port in ("rsp", "cl_rsp", "wake") if not out[f"{port}_valid"])
    return {pin: value for pin, value in out.items() if not pin.startswith(idle)}


async def compare(dut, profile):
    """Drives random requests, and compares all outputs with the cycle-accurate model in every cycle."""
    await start(dut)
    model, stimulus = atoms.Model("default"), atoms.Stimulus("default", profile=profile, requests=REQUESTS)
    model.set_words(memory(dut, atoms.Scoreboard("default")))
    inputs = stimulus.step()
    while not stimulus.finished:
        for pin, value in inputs.items():
            getattr(dut, atoms.INPUTS[pin]).value = value
        await FallingEdge(dut.clk_i)
        out = pins(dut, atoms.OUTPUTS)
        assert offered(out) == offered(model.step(**inputs))
        inputs = stimulus.step(out)
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
