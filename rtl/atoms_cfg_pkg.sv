// Generated from a configuration of rtl/configs.toml: edit that file, not this one.
/// The parameters of one configuration. In rtl/ are those of `default`; every build writes its own.
package atoms_cfg_pkg;
  /// Threads of a warp: 2 to 32, a power of two.
  parameter int unsigned NumLanes = 32;
  /// Banks of shared memory, one word wide each: 4 to 64, a power of two.
  parameter int unsigned NumBanks = 32;
  /// Words of one bank: 2 to 65536, and 16 MiB at most in all.
  parameter int unsigned NumRows = 384;
  /// CTAs that can be resident at once: 1 to 16.
  parameter int unsigned NumCtaSlots = 16;
  /// Warp requests that wait for issue: 1 to 16.
  parameter int unsigned QueueDepth = 4;
  /// Clock edges from reading a bank to writing it: 1 to 8.
  parameter int unsigned RmwLatency = 2;
  /// 1 forwards words on their way to a bank; 0 holds back a pass that would need one.
  parameter bit Forwarding = 1'b1;
  /// Which lane of a bank's group goes first: 0 the lowest, 1 the highest, 2 rotating.
  parameter int unsigned WinnerPolicy = 0;
  /// CAST.SPIN requests to a group that give priority to one lane: num_lanes to 4096, a power of two.
  parameter int unsigned SpinHold = 128;
  /// 1 merges lanes of one address for ADD, MIN, MAX, AND, OR and XOR without a result.
  parameter bit MergeRed = 1'b0;
  /// 1 merges lanes that arrive once at one mbarrier object.
  parameter bit MergeArrive = 1'b0;
  /// Requests that MBAR.TRY_WAIT can suspend at once: 1 to 32.
  parameter int unsigned NumWaiters = 16;
  /// Cycles after which a suspended request is answered, where it names no limit.
  parameter int unsigned TryWaitLimit = 1000;
  /// 1 swizzles the banks: bits of the row are added (XOR) to the bank number above a quad.
  parameter bit BankHash = 1'b0;
endpackage : atoms_cfg_pkg
