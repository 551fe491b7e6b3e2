// Sources in the order they are read.
atoms_cfg_pkg.sv
atoms_pkg.sv
atoms_fifo.sv
atoms_cta_table.sv
atoms_agen.sv
atoms_grouper.sv
atoms_spin.sv
atoms_operands.sv
atoms_alu.sv
atoms_mbar.sv
atoms_bank.sv
atoms_issue.sv
atoms_pipe.sv
atoms_collect.sv
atoms_cluster_rsp.sv
atoms_waiters.sv
atoms_unit.sv
