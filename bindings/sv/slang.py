"""Compiles SystemVerilog with the driver of slang: `slang.py ARGUMENTS...`. Needs the package pyslang."""
import sys

from pyslang.driver import Driver

driver = Driver()
driver.addStandardArgs()
read = driver.parseCommandLine(" ".join(["slang", *sys.argv[1:]])) and driver.processOptions() and driver.parseAllSources()
sys.exit(0 if read and driver.runFullCompilation() else 1)
