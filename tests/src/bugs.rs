//! Bugs that tests plant in the RTL.
//!
//! If an RTL assertion would detect a bug first, the patch also removes the assertion. The other checks must
//! then find the bug.

use atoms_model::Config;
use atoms_ops::Op;
use atoms_stimulus::configs::NamedConfig;
use atoms_verilated::Library;

use crate::config;
use crate::draw::Mix;
use crate::plant::{Patch, plant};

/// Small configuration that exposes a bug, and the operations to draw.
#[derive(Clone, Copy, Debug)]
pub enum On {
    Small,
    Forwarding,
    Merging,
    Objects,
    MergingArrivals,
}

impl On {
    pub fn named(self) -> NamedConfig {
        let small = config("small");
        let like = |name: &str, config| NamedConfig { name: name.to_string(), config, ..small.clone() };
        match self {
            On::Small | On::Objects => small,
            On::Forwarding => {
                like("small-forwarding", Config { forwarding: true, rmw_latency: 3, ..small.config })
            }
            On::Merging => like("small-merging", Config { merge_red: true, ..small.config }),
            On::MergingArrivals => {
                like("small-merging-arrivals", Config { merge_arrive: true, ..small.config })
            }
        }
    }

    pub fn mix(self) -> Mix {
        match self {
            On::Small | On::Forwarding | On::Merging => Mix::All,
            On::Objects | On::MergingArrivals => Mix::Objects,
        }
    }
}

#[derive(Debug)]
pub struct Bug {
    pub name: &'static str,
    pub on: On,
    pub patches: &'static [Patch],
    /// Fields of which the first lockstep mismatch names one.
    pub shows_in: &'static [&'static str],
    /// Operations of which one is in flight at the mismatch. Empty if any operation may be.
    pub ops: &'static [Op],
    /// Text in the objection of the oracle.
    pub objection: &'static str,
}

macro_rules! patches {
    ($($file:literal: $find:literal => $replace:literal),*) => {
        &[$(Patch { file: $file, find: $find, replace: $replace }),*]
    };
}

/// Defines [`BUGS`] and `test_each_bug!`, which generates one test per bug. An attribute of a bug applies to
/// its test. The first token must be a `$`, because a nested macro cannot write it otherwise.
macro_rules! bugs {
    ($dollar:tt $($(#[$attribute:meta])* $name:ident { $($field:tt)* })*) => {
        pub const BUGS: &[Bug] = &[$(Bug { name: stringify!($name), $($field)* }),*];

        /// Generates one test per bug of `BUGS`. The test calls `$run` with the bug.
        #[macro_export]
        macro_rules! test_each_bug {
            ($dollar run:path) => {
                $(
                    #[test]
                    $(#[$attribute])*
                    fn $name() {
                        $dollar run($dollar crate::bugs::Bug::named(stringify!($name)));
                    }
                )*
            };
        }
    };
}

bugs! {
    $
    allocations_may_overlap {
        on: On::Small,
        patches: patches!["atoms_cta_table.sv": "< end_row(base_i, size_i))) refused = 1'b1;" => "< end_row(base_i, size_i))) refused = 1'b0;"],
        shows_in: &["cta_reject"],
        ops: &[],
        objection: "(spec 1.3)",
    }
    inc_counts_one_beyond_its_bound {
        on: On::Small,
        patches: patches!["atoms_alu.sv": "(old[i] >= b[i])" => "(old[i] > b[i])"],
        shows_in: &["probe.wr_data"],
        ops: &[Op::Inc],
        objection: "(spec",
    }
    #[ignore = "nightly: another bug of a kind"]
    losers_of_a_bank_are_dropped {
        on: On::Small,
        patches: patches![
            "atoms_grouper.sv": "served_o = win_o;" => "served_o = pending_i;"
        ],
        shows_in: &["probe.pass_served", "probe.pass_last"],
        ops: &[],
        objection: "(spec",
    }
    #[ignore = "nightly: another bug of a kind"]
    a_lane_is_served_that_does_not_wait {
        on: On::Small,
        patches: patches![
            "atoms_grouper.sv": "slot         = {!pending[l], bank_t'(bank_addr.bank)};" =>
                "slot = {1'b0, bank_t'(bank_addr.bank)};",
            "atoms_issue.sv": "(served & ~pending_q) == '0" => "1'b1"
        ],
        shows_in: &["probe.win_valid", "probe.pass_served", "probe.win_lane"],
        ops: &[],
        objection: "",
    }
    #[ignore = "nightly: another bug of a kind"]
    nothing_is_forwarded {
        on: On::Forwarding,
        patches: patches!["atoms_pipe.sv": "? word_written[b] : word[b]" => "? word[b] : word[b]"],
        shows_in: &["probe.wr_en", "probe.wr_data", "rsp_rd", "rsp_pred", "cl_rsp_rd", "cl_rsp_pred"],
        ops: &[],
        objection: "(spec",
    }
    #[ignore = "nightly: another bug of a kind"]
    the_oldest_write_is_forwarded {
        on: On::Forwarding,
        patches: patches![
            "atoms_pipe.sv": "int s = int'(Last) - 1; s >= 0; s--" => "int s = 0; s < int'(Last); s++"
        ],
        shows_in: &["probe.wr_en", "probe.wr_data", "rsp_rd", "rsp_pred", "cl_rsp_rd", "cl_rsp_pred"],
        ops: &[],
        objection: "(spec",
    }
    spin_losers_report_a_store {
        on: On::Small,
        patches: patches!["atoms_collect.sv": "bank_addr_i) & pass_i.win;" => "bank_addr_i) & pass_i.served;"],
        shows_in: &["rsp_rd", "rsp_pred"],
        ops: &[Op::CastSpin],
        objection: "(spec 5.1)",
    }
    #[ignore = "nightly: another bug of a kind"]
    spin_losers_store {
        on: On::Small,
        patches: patches![
            "atoms_grouper.sv": "if (op_i == OpCastSpin) served_o = pending_i;" =>
                "if (op_i == OpCastSpin) begin
                   coalesce_rows(served_o, lane_o, pending_i, bank_addr_i, row_o, winner, 1'b1);
                   served_o = pending_i;
                 end"
        ],
        shows_in: &["probe.win_lane"],
        ops: &[Op::CastSpin],
        objection: "(spec",
    }
    #[ignore = "nightly: another bug of a kind"]
    spin_losers_wait {
        on: On::Small,
        patches: patches![
            "atoms_grouper.sv": "if (op_i == OpCastSpin) served_o = pending_i;" => "",
            "atoms_issue.sv": "!(valid_q && spins) || last" => "1'b1"
        ],
        shows_in: &["probe.pass_served", "probe.pass_last"],
        ops: &[Op::CastSpin],
        objection: "(spec 5.1)",
    }
    #[ignore = "nightly: another bug of a kind"]
    hazards_are_ignored {
        on: On::Small,
        patches: patches!["atoms_pipe.sv": "hazard_o = wait_for != '0;" => "hazard_o = 1'b0;"],
        shows_in: &["probe.hazard", "probe.win_valid"],
        ops: &[],
        objection: "(spec",
    }
    #[ignore = "nightly: another bug of a kind"]
    pairs_compare_by_the_lower_word {
        on: On::Small,
        patches: patches!["atoms_pipe.sv": "equal[i] && equal[i^1]" => "equal[i & ~32'd1]"],
        shows_in: &["probe.wr_en", "rsp_rd", "rsp_pred", "cl_rsp_rd", "cl_rsp_pred"],
        ops: &[Op::Cas, Op::Cast, Op::CastSpin],
        objection: "(spec",
    }
    #[ignore = "nightly: another bug of a kind"]
    bytes_are_stored_high_first {
        on: On::Small,
        patches: patches!["atoms_operands.sv": "{bank_addr.in_word[1:0], 3'b0}" => "{~bank_addr.in_word[1:0], 3'b0}"],
        shows_in: &["probe.wr_data"],
        ops: &[Op::Store],
        objection: "(spec",
    }
    #[ignore = "nightly: another bug of a kind"]
    allocations_reach_one_byte_too_far {
        on: On::Small,
        patches: patches!["atoms_agen.sv": "> last)" => "> last + 25'd1)"],
        shows_in: &["probe.win_valid"],
        ops: &[],
        objection: "(spec 2.4",
    }
    #[ignore = "nightly: another bug of a kind"]
    any_rank_will_do {
        on: On::Small,
        patches: patches!["atoms_agen.sv": "(addr[31:24] != rank)" => "1'b0"],
        shows_in: &["probe.win_valid"],
        ops: &[],
        objection: "(spec 2.4",
    }
    #[ignore = "nightly: another bug of a kind"]
    inactive_lanes_get_results {
        on: On::Small,
        patches: patches!["atoms_collect.sv": "served[l] ? word[l] : rd[l][0]" => "word[l]"],
        shows_in: &["rsp_rd"],
        ops: &[],
        objection: "(spec",
    }
    #[ignore = "nightly: another bug of a kind"]
    popc_inc_counts_one_lane {
        on: On::Small,
        patches: patches![
            "atoms_operands.sv": "word_t'($countones(lanes[i]))" => "word_t'(lanes[i] != '0)"
        ],
        shows_in: &["probe.wr_data"],
        ops: &[Op::PopcInc],
        objection: "(spec",
    }
    answers_carry_another_tag {
        on: On::Small,
        patches: patches!["atoms_collect.sv": "= tag_q;" => "= rsp_valid_q ? tag_q ^ 6'd1 : tag_q;"],
        shows_in: &["rsp_tag"],
        ops: &[],
        objection: "has tag",
    }
    #[ignore = "nightly: another bug of a kind"]
    back_pressure_loses_an_answer {
        on: On::Small,
        patches: patches!["atoms_collect.sv": "!pass_i.cluster && rsp_valid_q && !rsp_ready_i" => "1'b0"],
        shows_in: &["probe.wr_en", "probe.pass_fire", "probe.stall", "rsp_rd"],
        ops: &[],
        objection: "",
    }
    #[ignore = "nightly: another bug of a kind"]
    posted_requests_are_answered {
        on: On::Small,
        patches: patches!["atoms_pkg.sv": "posted = red && !compares(op);" => "posted = 1'b0;"],
        shows_in: &["probe.cl_owes", "probe.cl_owed"],
        ops: &[],
        objection: "does not belong to any request",
    }
    posted_faults_are_not_answered {
        on: On::Small,
        patches: patches!["atoms_pkg.sv": "!posted(op, red) || (fault != FaultNone);" => "!posted(op, red);"],
        shows_in: &["probe.cl_owes", "probe.cl_owed"],
        ops: &[],
        objection: "(spec 4.",
    }
    #[ignore = "nightly: another bug of a kind"]
    a_posted_request_is_dropped {
        on: On::Small,
        patches: patches!["atoms_issue.sv": "pending_d = (fault_d == FaultNone) ? meta.mask : '0;"
            => "pending_d = ((fault_d == FaultNone) && !(take_cluster && meta.red)) ? meta.mask : '0;"],
        shows_in: &["probe.issue_pending", "probe.win_valid"],
        ops: &[],
        objection: "(spec",
    }
    #[ignore = "nightly: another bug of a kind"]
    cluster_responses_lose_one {
        on: On::Small,
        patches: patches!["atoms_cluster_rsp.sv": "assign pop     = valid_o && ready_i;" => "assign pop     = valid_o && (ready_i || (held_q > count_t'(1)));"],
        shows_in: &["probe.cl_owed", "cl_rsp_pred", "cl_rsp_rd", "cl_rsp_tag"],
        ops: &[],
        objection: "",
    }
    #[ignore = "nightly: another bug of a kind"]
    merging_ors_instead_of_xors {
        on: On::Merging,
        patches: patches!["atoms_operands.sv": "combine = a ^ b;" => "combine = a | b;"],
        shows_in: &["probe.wr_data"],
        ops: &[Op::Xor],
        objection: "(spec",
    }
    #[ignore = "nightly: another bug of a kind"]
    only_the_first_place_is_woken {
        on: On::Objects,
        patches: patches!["atoms_waiters.sv": "wakes[p] = suspended_q[p] &&" => "wakes[p] = suspended_q[p] && (p == 0) &&"],
        shows_in: &["probe.wait_suspended", "probe.wait_ready"],
        ops: &[Op::MbarTryWait],
        objection: "(spec 6.12)",
    }
    #[ignore = "nightly: another bug of a kind"]
    a_wake_up_is_overwritten_before_it_is_taken {
        on: On::Objects,
        patches: patches!["atoms_waiters.sv": "(ready != '0) && (!wake_valid_q || wake_ready_i)" => "(ready != '0)"],
        shows_in: &["wake_tag", "wake_pred", "probe.wait_ready"],
        ops: &[Op::MbarTryWait],
        objection: "(spec 6",
    }
    #[ignore = "nightly: another bug of a kind"]
    the_limit_answers_true {
        on: On::Objects,
        patches: patches!["atoms_waiters.sv": "woken_q[next] ? waiter_q[next].mask : '0" => "waiter_q[next].mask"],
        shows_in: &["wake_pred"],
        ops: &[Op::MbarTryWait],
        objection: "(spec 6",
    }
    #[ignore = "nightly: another bug of a kind"]
    a_request_waits_at_one_of_two_objects {
        on: On::Objects,
        patches: patches![
            "atoms_pipe.sv": "one_object_o = (rest & (rest - bank_mask_t'(1))) == '0;" => "one_object_o = 1'b1;"
        ],
        shows_in: &["probe.wait_enter"],
        ops: &[Op::MbarTryWait],
        objection: "(spec 6",
    }
    a_phase_completes_with_transactions_outstanding {
        on: On::Objects,
        patches: patches![
            "atoms_mbar.sv": "(after.pending == '0) && (after.tx == '0)" => "(after.pending == '0)",
            "atoms_pipe.sv": "if (is.tx != '0) left_nothing = 1'b0;" => ""
        ],
        shows_in: &["probe.completed"],
        ops: &[],
        objection: "(spec 6.4",
    }
    #[ignore = "nightly: another bug of a kind"]
    tx_count_is_a_bit_too_narrow {
        on: On::Objects,
        patches: patches!["atoms_mbar.sv": "object.tx - by.tx;" => "{object.tx[20], 20'(object.tx - by.tx)};"],
        shows_in: &["probe.wr_data"],
        ops: &[],
        objection: "(spec 6",
    }
    #[ignore = "nightly: another bug of a kind"]
    arrive_expect_tx_forgets_to_expect {
        on: On::Objects,
        patches: patches![
            "atoms_mbar.sv": "OpMbarArriveExpectTx: begin\n        change.tx     = b;" =>
                "OpMbarArriveExpectTx: begin\n        change.tx     = '0;"
        ],
        shows_in: &["probe.wr_data", "probe.completed"],
        ops: &[Op::MbarArriveExpectTx],
        objection: "(spec 6",
    }
    #[ignore = "nightly: another bug of a kind"]
    a_drop_counts_a_phase_too_late {
        on: On::Objects,
        patches: patches![
            "atoms_mbar.sv": "after.pending = after.expected;" => "after.pending = object.expected;",
            "atoms_pipe.sv": "(is.pending != is.expected)" => "1'b0"
        ],
        shows_in: &["probe.wr_data"],
        ops: &[],
        objection: "(spec 6",
    }
    #[ignore = "nightly: another bug of a kind"]
    two_words_reload_the_wrong_count {
        on: On::Objects,
        patches: patches!["atoms_mbar.sv": "31'(low + 32'h4000_0000)" => "31'(low)"],
        shows_in: &["probe.wr_data"],
        ops: &[Op::MbarArriveSm80],
        objection: "(spec 6.2.1",
    }
    #[ignore = "nightly: another bug of a kind"]
    the_cluster_port_gives_states {
        on: On::Objects,
        patches: patches!["atoms_op_pkg.sv": "cluster_legal = red;" => "cluster_legal = 1'b1;"],
        shows_in: &["probe.issue_pending", "probe.pass_served", "probe.win_valid"],
        ops: &[],
        objection: "(spec 6.7",
    }
    #[ignore = "nightly: another bug of a kind"]
    merged_arrivals_forget_those_of_the_next_phase {
        on: On::MergingArrivals,
        patches: patches!["atoms_pkg.sv": "object.expected + 20'(rest)" => "object.expected"],
        shows_in: &["probe.wr_data"],
        ops: &[Op::MbarArrive],
        objection: "(spec 6",
    }
    #[ignore = "nightly: another bug of a kind"]
    a_merged_arrival_is_lost {
        on: On::MergingArrivals,
        patches: patches!["atoms_mbar.sv": "old[i]}, 6'(b[i]));" => "old[i]}, 6'(b[i] - 32'(b[i] > 1)));"],
        shows_in: &["probe.wr_data"],
        ops: &[Op::MbarArrive],
        objection: "(spec 6",
    }
    a_bank_forgets_row_3 {
        on: On::Small,
        patches: patches!["atoms_bank.sv": "if (we_i) mem_q" => "if (we_i && (waddr_i != 16'd3)) mem_q"],
        // No request reads the word again, so only the memory comparison at the end detects the bug.
        shows_in: &["memory"],
        ops: &[],
        objection: "(spec 4.6)",
    }
}

impl Bug {
    /// # Panics
    /// No bug has this name.
    pub fn named(name: &str) -> &'static Bug {
        BUGS.iter().find(|bug| bug.name == name).unwrap_or_else(|| panic!("no bug is called `{name}`"))
    }

    /// # Panics
    /// See [`plant`].
    pub fn planted(&self) -> Library {
        plant(self.name, &self.on.named(), self.patches)
    }
}
