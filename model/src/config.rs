//! The parameters of a configuration as one list. The RTL package, `atoms config show`, and the readers of
//! `rtl/configs.toml` and of design points are derived from this list.

use std::fmt;

use crate::port::{MAX_BANKS, MAX_LANES};

/// Order in which the lanes of a bank's group win (spec 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WinnerPolicy {
    /// Lowest waiting lane first.
    Lowest = 0,
    /// Highest waiting lane first.
    Highest = 1,
    /// First waiting lane from a start lane, which advances by one with every request.
    Rotating = 2,
}

impl WinnerPolicy {
    /// Every policy, in order of code.
    pub const ALL: [WinnerPolicy; 3] = [WinnerPolicy::Lowest, WinnerPolicy::Highest, WinnerPolicy::Rotating];

    /// Name as in `rtl/configs.toml`.
    pub const fn name(self) -> &'static str {
        match self {
            WinnerPolicy::Lowest => "lowest",
            WinnerPolicy::Highest => "highest",
            WinnerPolicy::Rotating => "rotating",
        }
    }
}

/// One configuration of the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Threads of a warp: 2 to 32, a power of two.
    pub num_lanes: u32,
    /// Banks, one word wide each: 4 to 64, a power of two.
    pub num_banks: u32,
    /// Words of one bank: 2 to 65536, and 16 MiB at most in all.
    pub num_rows: u32,
    /// CTAs that can be resident at once: 1 to 16.
    pub num_cta_slots: u32,
    /// Warp requests that wait for issue: 1 to 16.
    pub queue_depth: u32,
    /// Clock edges from reading a bank to writing it: 1 to 8.
    pub rmw_latency: u32,
    /// Forward words that the pipeline has yet to write. Without forwarding, a pass that needs such a word is
    /// held back.
    pub forwarding: bool,
    /// Order in which the lanes of a bank's group win.
    pub winner_policy: WinnerPolicy,
    /// CAST.SPIN requests to a group during which one lane keeps priority. Between two such periods, priority
    /// moves to the next lane with every request, for as many requests (spec 5.4). From `num_lanes` to 4096,
    /// a power of two.
    pub spin_hold: u32,
    /// Merge the lanes of one address for ADD, MIN, MAX, AND, OR and XOR if no result is wanted.
    pub merge_red: bool,
    /// Merge lanes that each arrive once at the same mbarrier object.
    pub merge_arrive: bool,
    /// Requests that can be suspended in MBAR.TRY_WAIT at once: 1 to 32.
    pub num_waiters: u32,
    /// Timeout of a suspended request in cycles, used if the request has no limit of its own (spec 6.10).
    pub try_wait_limit: u32,
    /// Swizzle the banks: XOR bits of the row into the bank number above a quad.
    pub bank_hash: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            num_lanes: 32,
            num_banks: 32,
            num_rows: 384,
            num_cta_slots: 16,
            queue_depth: 4,
            rmw_latency: 2,
            forwarding: true,
            winner_policy: WinnerPolicy::Lowest,
            spin_hold: 128,
            merge_red: false,
            merge_arrive: false,
            num_waiters: 16,
            try_wait_limit: 1000,
            bank_hash: false,
        }
    }
}

/// Format and range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// Integer from the first to the second number. If the third value is true, a power of two.
    Number(u32, u32, bool),
    /// Boolean: `true` or `false`.
    Flag,
    /// One of these names; the value is the index of the name.
    Choice(&'static [&'static str]),
}

/// Shows the allowed values, such as `4 to 64, a power of two`.
impl fmt::Display for ParameterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ParameterKind::Number(low, high, power) => {
                write!(f, "{low} to {high}{}", if power { ", a power of two" } else { "" })
            }
            ParameterKind::Flag => f.write_str("true or false"),
            ParameterKind::Choice(names) => f.write_str(&names.join(" or ")),
        }
    }
}

/// Name, range and accessors of one parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Name in `rtl/configs.toml` and in [`Config`].
    pub name: &'static str,
    /// Name in the RTL package `rtl/atoms_cfg_pkg.sv`.
    pub rtl_name: &'static str,
    /// Format and range of the values.
    pub kind: ParameterKind,
    /// One-line description, also used in the RTL package.
    pub summary: &'static str,
    /// Reads the parameter as a number.
    pub get: fn(&Config) -> u32,
    /// Sets the parameter from a number that `kind` allows.
    pub set: fn(&mut Config, u32),
}

impl Parameter {
    /// Parses a value such as `64`, `true` or `rotating`, by the parameter's kind.
    ///
    /// # Errors
    /// The parameter does not allow the value; the message lists the allowed values.
    pub fn parse(&self, text: &str) -> Result<u32, ConfigError> {
        let number = match self.kind {
            ParameterKind::Number(..) => text.parse().ok(),
            ParameterKind::Flag => text.parse::<bool>().ok().map(u32::from),
            ParameterKind::Choice(names) => names.iter().position(|name| *name == text).map(|at| at as u32),
        };
        number.filter(|number| self.allows(*number)).ok_or_else(|| self.refusal(text))
    }

    /// Value in `config` as text that [`Parameter::parse`] accepts.
    pub fn text(&self, config: &Config) -> String {
        self.text_of((self.get)(config))
    }

    /// Formats an allowed number as text that [`Parameter::parse`] accepts.
    pub fn text_of(&self, number: u32) -> String {
        match self.kind {
            ParameterKind::Number(..) => number.to_string(),
            ParameterKind::Flag => (number != 0).to_string(),
            ParameterKind::Choice(names) => {
                names.get(number as usize).copied().unwrap_or_default().to_string()
            }
        }
    }

    /// True if the number is in range. Does not check against other parameters.
    fn allows(&self, number: u32) -> bool {
        match self.kind {
            ParameterKind::Number(low, high, power) => {
                (low..=high).contains(&number) && (!power || number.is_power_of_two())
            }
            ParameterKind::Flag => number <= 1,
            ParameterKind::Choice(names) => (number as usize) < names.len(),
        }
    }

    fn refusal(&self, found: impl fmt::Display) -> ConfigError {
        ConfigError(format!("{} is {found}: expected {}", self.name, self.kind))
    }
}

const POLICIES: &[&str] = &{
    let [lowest, highest, rotating] = WinnerPolicy::ALL;
    [lowest.name(), highest.name(), rotating.name()]
};

/// Every parameter, in the order of the RTL's package.
#[rustfmt::skip]
pub const PARAMETERS: &[Parameter] = &[
    Parameter { name: "num_lanes",     rtl_name: "NumLanes",     kind: ParameterKind::Number(2, MAX_LANES as u32, true), summary: "Threads of a warp: 2 to 32, a power of two.", get: |c| c.num_lanes, set: |c, v| c.num_lanes = v },
    Parameter { name: "num_banks",     rtl_name: "NumBanks",     kind: ParameterKind::Number(4, MAX_BANKS as u32, true), summary: "Banks of shared memory, one word wide each: 4 to 64, a power of two.", get: |c| c.num_banks, set: |c, v| c.num_banks = v },
    Parameter { name: "num_rows",      rtl_name: "NumRows",      kind: ParameterKind::Number(2, 65536, false), summary: "Words of one bank: 2 to 65536, and 16 MiB at most in all.", get: |c| c.num_rows, set: |c, v| c.num_rows = v },
    Parameter { name: "num_cta_slots", rtl_name: "NumCtaSlots",  kind: ParameterKind::Number(1, 16, false), summary: "CTAs that can be resident at once: 1 to 16.", get: |c| c.num_cta_slots, set: |c, v| c.num_cta_slots = v },
    Parameter { name: "queue_depth",   rtl_name: "QueueDepth",   kind: ParameterKind::Number(1, 16, false), summary: "Warp requests that wait for issue: 1 to 16.", get: |c| c.queue_depth, set: |c, v| c.queue_depth = v },
    Parameter { name: "rmw_latency",   rtl_name: "RmwLatency",   kind: ParameterKind::Number(1, 8, false), summary: "Clock edges from reading a bank to writing it: 1 to 8.", get: |c| c.rmw_latency, set: |c, v| c.rmw_latency = v },
    Parameter { name: "forwarding",    rtl_name: "Forwarding",   kind: ParameterKind::Flag, summary: "1 forwards words on their way to a bank; 0 holds back a pass that would need one.", get: |c| u32::from(c.forwarding), set: |c, v| c.forwarding = v != 0 },
    Parameter { name: "winner_policy", rtl_name: "WinnerPolicy", kind: ParameterKind::Choice(POLICIES), summary: "Which lane of a bank's group goes first: 0 the lowest, 1 the highest, 2 rotating.", get: |c| c.winner_policy as u32, set: |c, v| c.winner_policy = WinnerPolicy::ALL[v as usize] },
    Parameter { name: "spin_hold",     rtl_name: "SpinHold",     kind: ParameterKind::Number(2, 4096, true), summary: "CAST.SPIN requests to a group that give priority to one lane: num_lanes to 4096, a power of two.", get: |c| c.spin_hold, set: |c, v| c.spin_hold = v },
    Parameter { name: "merge_red",     rtl_name: "MergeRed",     kind: ParameterKind::Flag, summary: "1 merges lanes of one address for ADD, MIN, MAX, AND, OR and XOR without a result.", get: |c| u32::from(c.merge_red), set: |c, v| c.merge_red = v != 0 },
    Parameter { name: "merge_arrive",  rtl_name: "MergeArrive",  kind: ParameterKind::Flag, summary: "1 merges lanes that arrive once at one mbarrier object.", get: |c| u32::from(c.merge_arrive), set: |c, v| c.merge_arrive = v != 0 },
    Parameter { name: "num_waiters",   rtl_name: "NumWaiters",   kind: ParameterKind::Number(1, 32, false), summary: "Requests that MBAR.TRY_WAIT can suspend at once: 1 to 32.", get: |c| c.num_waiters, set: |c, v| c.num_waiters = v },
    Parameter { name: "try_wait_limit", rtl_name: "TryWaitLimit", kind: ParameterKind::Number(1, 0x7fff_ffff, false), summary: "Cycles after which a suspended request is answered, where it names no limit.", get: |c| c.try_wait_limit, set: |c, v| c.try_wait_limit = v },
    Parameter { name: "bank_hash",     rtl_name: "BankHash",     kind: ParameterKind::Flag, summary: "1 swizzles the banks: bits of the row are added (XOR) to the bank number above a quad.", get: |c| u32::from(c.bank_hash), set: |c, v| c.bank_hash = v != 0 },
];

/// Reason why a configuration is invalid: the parameter, the value found, and the allowed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Checks the range of every parameter, and the rules between parameters.
    ///
    /// # Errors
    /// The first value that breaks a range or a rule.
    pub fn check(&self) -> Result<(), ConfigError> {
        for p in PARAMETERS {
            let found = (p.get)(self);
            if !p.allows(found) {
                return Err(p.refusal(found));
            }
        }
        if self.spin_hold < self.num_lanes {
            let Config { spin_hold, num_lanes, .. } = self;
            return Err(ConfigError(format!(
                "spin_hold is {spin_hold}: expected num_lanes, {num_lanes}, or more (spec 5.4)"
            )));
        }
        Ok(())
    }

    /// Bytes of shared memory: 16 MiB at most.
    pub fn bytes(&self) -> u64 {
        4 * u64::from(self.num_banks) * u64::from(self.num_rows)
    }

    /// Bytes of one row over all banks. Allocations start at multiples of this size.
    pub fn row_bytes(&self) -> u32 {
        4 * self.num_banks
    }

    /// Mask with one bit set for every lane.
    pub fn lane_mask(&self) -> u32 {
        u32::MAX >> (32 - self.num_lanes)
    }

    /// Number of responses that the cluster port can hold or owe (spec 4.7); `ClusterResponses` in
    /// `atoms_pkg`.
    pub fn cluster_responses(&self) -> u32 {
        self.rmw_latency + 4
    }

    /// Text of `atoms_cfg_pkg.sv` for this configuration. The text omits the configuration's name, so that
    /// builds with the same parameters are identical.
    pub fn rtl_package(&self) -> String {
        let mut text = "// Generated from a configuration of rtl/configs.toml: edit that file, not this one.\n\
             /// The parameters of one configuration. In rtl/ are those of `default`; every build writes its own.\n\
             package atoms_cfg_pkg;\n"
            .to_string();
        for p in PARAMETERS {
            let value = (p.get)(self);
            let (ty, value) = match p.kind {
                ParameterKind::Flag => ("bit", format!("1'b{value}")),
                ParameterKind::Number(..) | ParameterKind::Choice(_) => ("int unsigned", value.to_string()),
            };
            text += &format!("  /// {}\n  parameter {ty} {} = {value};\n", p.summary, p.rtl_name);
        }
        text + "endpackage : atoms_cfg_pkg\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_get_what_they_set() {
        for p in PARAMETERS {
            let mut config = Config::default();
            let other = u32::from((p.get)(&config) == 0);
            let value = match p.kind {
                ParameterKind::Number(low, ..) => low,
                ParameterKind::Flag | ParameterKind::Choice(_) => other,
            };
            (p.set)(&mut config, value);
            assert_eq!((p.get)(&config), value, "{}", p.name);
            assert_eq!(p.parse(&p.text(&config)), Ok(value), "{}", p.name);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for p in PARAMETERS {
            let values = match p.kind {
                ParameterKind::Number(low, high, _) => vec![low, high],
                ParameterKind::Flag => vec![0, 1],
                ParameterKind::Choice(names) => (0..names.len() as u32).collect(),
            };
            for value in values {
                assert_eq!(p.parse(&p.text_of(value)), Ok(value), "{}", p.name);
            }
            for wrong in ["", "-1", "1.5", "\"1\"", "4294967296", "TRUE", "yes"] {
                let message = p.parse(wrong).expect_err(p.name).to_string();
                assert_eq!(message, format!("{} is {wrong}: expected {}", p.name, p.kind));
            }
        }
    }

    #[test]
    fn values_out_of_range_are_named() {
        let config = Config { num_banks: 48, ..Config::default() };
        let message = config.check().expect_err("48 banks").to_string();
        assert_eq!(message, "num_banks is 48: expected 4 to 64, a power of two");
        let config = Config { num_rows: 65536, num_banks: 64, ..Config::default() };
        assert!(config.check().is_ok());
        assert_eq!(config.bytes(), 1 << 24, "the most that parameters allow is the window of spec 1.3");
        let message = |config: Config| config.check().expect_err("a bad hold").to_string();
        let config = Config { spin_hold: 16, ..Config::default() };
        assert_eq!(message(config), "spin_hold is 16: expected num_lanes, 32, or more (spec 5.4)");
        assert!(Config { spin_hold: 32, ..Config::default() }.check().is_ok());
        let config = Config { spin_hold: 96, ..Config::default() };
        assert_eq!(message(config), "spin_hold is 96: expected 2 to 4096, a power of two");
    }
}
