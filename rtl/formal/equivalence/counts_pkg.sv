/// Relevant parts of the values that modules exchange; all other parts may differ.
package counts_pkg;
  import atoms_cfg_pkg::*;
  import atoms_op_pkg::*;
  import atoms_pkg::*;

  /// True if operand B is relevant.
  function automatic logic takes_b(op_e op);
    takes_b = op != OpLoad;
  endfunction

  /// True if operand C is relevant.
  function automatic logic takes_c(op_e op);
    takes_c = reads_c(op) || (op == OpStore);
  endfunction

  /// Sets irrelevant fields of a pass to zero: `win` unless the operation compares, `asked` unless it tests a
  /// phase.
  function automatic pass_t counting(pass_t pass);
    counting       = pass;
    counting.win   = compares(pass.op) ? pass.win : '0;
    counting.asked = asks_phase(pass.op) ? pass.asked & pass.served : '0;
  endfunction

  /// Banks of the words of a lane's access; the first is aligned.
  function automatic bank_mask_t words_of(bank_addr_t bank_addr, size_e size);
    words_of = '0;
    for (int unsigned w = 0; w < MaxWords; w++) begin
      if (w <= 32'(last_word(size))) words_of = words_of | (bank_mask_t'(1) << (bank_t'(bank_addr.bank) | bank_t'(w)));
    end
  endfunction

  /// True if a pass uses exactly these banks: all words of the accesses of its served lanes, and word pairs
  /// for mbarrier operations. The lanes that perform their operation must be served.
  function automatic logic works_on(pass_t pass, bank_addrs_t bank_addr, bank_mask_t banks);
    works_on = ((banks == '0) || !is_mbarrier(pass.op) || (pass.size == SizeU64))
               && (!compares(pass.op) || ((pass.win & ~pass.served) == '0));
    for (int unsigned i = 0; i < NumBanks; i++) begin
      if (banks[i] != banks[bank_t'(i) & ~bank_t'(last_word(pass.size))]) works_on = 1'b0;
    end
    for (int unsigned l = 0; l < NumLanes; l++) begin
      if (pass.served[l] && ((words_of(bank_addr[l], pass.size) & ~banks) != '0)) works_on = 1'b0;
    end
  endfunction
endpackage : counts_pkg
