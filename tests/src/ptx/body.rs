//! Analysis of a line's machine code: which registers are its inputs, and the operand in each.
//!
//! Listings of single lines omit parameter loads, so the analysis follows each input register to its use.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use atoms_isa::Arch;

use super::spelling::{SpelledOperation, SpelledReduction, Spelling};

/// General register of a thread, or uniform register of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelRegister {
    pub uniform: bool,
    /// Register number. The zero register has no [`KernelRegister`].
    pub number: u8,
}

impl KernelRegister {
    fn next(self) -> KernelRegister {
        KernelRegister { number: self.number + 1, ..self }
    }
}

impl fmt::Display for KernelRegister {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}R{}", if self.uniform { "U" } else { "" }, self.number)
    }
}

/// Operand that an input register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegisterRole {
    /// Address of the object or of the data of an asynchronous operation: `%a`, or the low word of `%ga`.
    Address,
    /// Address, high word of `%ga`.
    AddressHigh,
    /// Address of the object, `%r3`, for an operation that also has a data address.
    Barrier,
    /// Global source address of a copy: low word of `%ga`.
    Source,
    /// Global source address of a copy: high word of `%ga`.
    SourceHigh,
    /// Count of arrivals, transactions or bytes, or data: `%c`.
    Count,
    /// Rank of a CTA: `%c` of `mapa`.
    Rank,
    State,
    StateHigh,
    Parity,
    Hint,
}

#[derive(Clone, Debug)]
pub struct Body {
    /// Instructions that only set `%r3` to the spare address. These tests do not use `%r3` before sm_90.
    ///
    /// In some rows the register later gets the object's address from a load that the listing omits. So these
    /// instructions must run before the inputs are set.
    pub spare: Vec<String>,
    pub lines: Vec<String>,
    /// Registers that the code reads before it writes them.
    pub inputs: BTreeMap<KernelRegister, RegisterRole>,
    /// Low register of the pair that holds the resulting state.
    pub state: Option<KernelRegister>,
    /// Register that is 1 if a phase is complete, and 0 if not.
    pub flag: Option<KernelRegister>,
    /// Register that the last instruction with a destination writes.
    pub last: Option<KernelRegister>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// Value of an input, possibly plus a constant.
    Input(KernelRegister),
    /// Value of an input, shifted left by 31.
    Shifted(KernelRegister),
    /// Any value other than these.
    Made,
}

/// Instruction without its guard; `text` includes the guard.
struct Instruction<'t> {
    text: &'t str,
    mnemonic: &'t str,
    operands: Vec<&'t str>,
}

impl<'t> Instruction<'t> {
    fn parse(text: &'t str) -> Instruction<'t> {
        let unguarded = match text.strip_prefix('@') {
            Some(guarded) => guarded.split_once(' ').map_or("", |(_, rest)| rest),
            None => text,
        };
        let (mnemonic, rest) = unguarded.split_once(' ').unwrap_or((unguarded, ""));
        Instruction { text, mnemonic, operands: rest.split(", ").filter(|o| !o.is_empty()).collect() }
    }

    fn is(&self, base: &str) -> bool {
        self.mnemonic.split('.').next() == Some(base)
    }

    fn has(&self, modifier: &str) -> bool {
        self.mnemonic.split('.').skip(1).any(|m| m == modifier)
    }

    fn plain(&self) -> Vec<&'t str> {
        let predicate = |o: &&&str| {
            let name = o.trim_start_matches('!').trim_start_matches('U');
            name.strip_prefix('P').is_some_and(|n| n == "T" || n.parse::<u8>().is_ok())
        };
        self.operands.iter().filter(|o| !predicate(o)).copied().collect()
    }

    fn writes(&self) -> bool {
        const NONE: [&str; 18] = [
            "STS",
            "ST",
            "BRA",
            "BSSY",
            "BSYNC",
            "NOP",
            "MEMBAR",
            "ERRBAR",
            "CGAERRBAR",
            "CCTL",
            "FENCE",
            "NANOSLEEP",
            "ARRIVES",
            "UBLKCP",
            "STAS",
            "REDAS",
            "ISETP",
            "PLOP3",
        ];
        let asks = self.is("SYNCS") && (self.has("PHASECHK") || self.has("CCTL"));
        !asks && !NONE.iter().any(|name| self.is(name))
    }

    fn wide(&self) -> bool {
        self.has("64") || self.has("TRANS64")
    }

    /// True if the instruction loads the spare address `0x40`, also as the bits of a packed half.
    fn is_spare(&self) -> bool {
        let constant = self.operands.last().copied().unwrap_or("");
        match self.mnemonic {
            "MOV" | "IMAD.MOV.U32" => constant == "0x40",
            "HFMA2.MMA" => constant == "3.814697265625e-06" && self.operands.ends_with(&["0", constant]),
            _ => false,
        }
    }
}

/// Returns the registers in an operand, in order, without zero registers.
fn registers(operand: &str) -> Vec<KernelRegister> {
    let names = operand.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let each = names.filter_map(|name| {
        let (uniform, rest) = match name.strip_prefix("UR") {
            Some(rest) => (true, rest),
            None => (false, name.strip_prefix('R')?),
        };
        Some(KernelRegister { uniform, number: rest.parse().ok()? })
    });
    each.collect()
}

#[derive(Default)]
struct Flow {
    origins: HashMap<KernelRegister, Origin>,
    inputs: BTreeMap<KernelRegister, Option<RegisterRole>>,
}

impl Flow {
    fn read(&mut self, register: KernelRegister) -> Origin {
        let inputs = &mut self.inputs;
        *self.origins.entry(register).or_insert_with(|| {
            inputs.insert(register, None);
            Origin::Input(register)
        })
    }

    fn operand(&mut self, operand: &str) -> Origin {
        registers(operand).first().map_or(Origin::Made, |register| self.read(*register))
    }

    fn is(&mut self, origin: Origin, role: RegisterRole) -> Result<(), String> {
        let Origin::Input(register) = origin else { return Ok(()) };
        match self.inputs.insert(register, Some(role)) {
            Some(Some(other)) if other != role => Err(format!("{register} is {other:?} and {role:?}")),
            _ => Ok(()),
        }
    }

    /// Records the register that selects a phase: the high word of a state, or a parity that was shifted.
    fn asks(&mut self, origin: Origin) -> Result<(), String> {
        match origin {
            Origin::Shifted(register) => self.is(Origin::Input(register), RegisterRole::Parity),
            other => self.is(other, RegisterRole::StateHigh),
        }
    }

    fn step(&mut self, i: &Instruction<'_>, wide_data: bool) -> Result<(), String> {
        let plain = i.plain();
        let sources = if i.writes() { plain.get(1..).unwrap_or(&[]) } else { &plain };
        let mut origins = Vec::new();
        for source in sources {
            for register in registers(source) {
                origins.push(self.read(register));
            }
        }
        self.uses(i, sources, wide_data)?;
        if i.writes()
            && let Some(target) = plain.first().and_then(|o| registers(o).first().copied())
        {
            let made = self.made(i, sources, &origins)?;
            self.origins.insert(target, made);
            if i.wide() {
                self.origins.insert(target.next(), Origin::Made);
            }
        }
        Ok(())
    }

    /// Records the roles of the operands of memory accesses and waits.
    fn uses(&mut self, i: &Instruction<'_>, sources: &[&str], wide_data: bool) -> Result<(), String> {
        let address = sources.first().filter(|s| s.starts_with('[')).map(|s| registers(s));
        let register = address.and_then(|a| a.first().copied());
        let data = sources.get(1).copied().unwrap_or("");
        if ["SYNCS", "ATOMS", "STS", "ARRIVES"].iter().any(|name| i.is(name))
            && let Some(register) = register
        {
            let origin = self.read(register);
            self.is(origin, RegisterRole::Address)?;
        }
        if ["LD", "ST", "ATOM"].iter().any(|name| i.is(name))
            && let Some(register) = register
        {
            for (register, role) in
                [(register, RegisterRole::Address), (register.next(), RegisterRole::AddressHigh)]
            {
                let origin = self.read(register);
                self.is(origin, role)?;
            }
        }
        match i.mnemonic.split('.').next().unwrap_or("") {
            "SYNCS" if i.has("PHASECHK") => {
                let origin = self.operand(data);
                self.asks(origin)?;
            }
            "SYNCS" if i.has("ARRIVE") => {
                let origin = self.operand(data);
                self.is(origin, RegisterRole::Count)?;
            }
            "ATOMS" | "ATOM" if i.has("ADD") => {
                let origin = self.operand(data);
                self.is(origin, RegisterRole::Count)?;
            }
            "LOP3" if sources.contains(&"0x80000000") => {
                let at = sources.iter().position(|s| *s == "0x80000000").unwrap_or(0);
                let origin = self.operand(sources.get(at + 1).copied().unwrap_or(""));
                self.asks(origin)?;
            }
            "NANOSLEEP" => {
                let origin = self.operand(sources.first().copied().unwrap_or(""));
                self.is(origin, RegisterRole::Hint)?;
            }
            "STAS" | "REDAS" => {
                let register = register.ok_or_else(|| format!("`{}`: no address", i.text))?;
                for (register, role) in
                    [(register, RegisterRole::Address), (register.next(), RegisterRole::Barrier)]
                {
                    let origin = self.read(register);
                    self.is(origin, role)?;
                }
                let origin = self.operand(data);
                self.is(origin, if wide_data { RegisterRole::State } else { RegisterRole::Count })?;
                if i.wide()
                    && let Some(low) = registers(data).first()
                {
                    let origin = self.read(low.next());
                    self.is(origin, if wide_data { RegisterRole::StateHigh } else { RegisterRole::Count })?;
                }
            }
            "UBLKCP" => {
                let pairs = [
                    (0, RegisterRole::Address, RegisterRole::Barrier),
                    (1, RegisterRole::Source, RegisterRole::SourceHigh),
                ];
                for (at, low, high) in pairs {
                    let register = registers(sources[at]).first().copied();
                    let register = register.ok_or_else(|| format!("`{}`: no address", i.text))?;
                    for (register, role) in [(register, low), (register.next(), high)] {
                        let origin = self.read(register);
                        self.is(origin, role)?;
                    }
                }
                let origin = self.operand(sources.get(2).copied().unwrap_or(""));
                self.is(origin, RegisterRole::Count)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn made(&mut self, i: &Instruction<'_>, sources: &[&str], origins: &[Origin]) -> Result<Origin, String> {
        let only = match origins {
            [only] => *only,
            _ => Origin::Made,
        };
        Ok(match i.mnemonic.split('.').next().unwrap_or("") {
            "MOV" | "UMOV" | "R2UR" => only,
            "IMAD" if sources.first() == Some(&"RZ") => only,
            "IADD3" | "UIADD3" | "IADD"
                if sources.iter().any(|s| s.starts_with("-R") || s.starts_with("-UR")) =>
            {
                self.is(only, RegisterRole::Count)?;
                Origin::Made
            }
            "IADD3" | "IADD" | "VIADD" => only,
            "SHF" | "USHF" if i.has("L") && sources.contains(&"0x1f") => match only {
                Origin::Input(register) => Origin::Shifted(register),
                other => other,
            },
            // Size of a bulk copy, in units of 16 bytes.
            "SHF" if i.has("R") && sources.contains(&"0x4") => only,
            "PRMT" if sources.contains(&"0x5410") => only,
            "PRMT" if sources.contains(&"0x654") => {
                let rank = self.operand(sources[0]);
                self.is(rank, RegisterRole::Rank)?;
                self.operand(sources[2])
            }
            _ => Origin::Made,
        })
    }
}

impl Body {
    /// Analyzes the registers in the code of a line.
    ///
    /// # Errors
    /// An input register has no role or two roles, or the inputs differ from the operands of the line.
    pub fn read(sass: &[String], arch: Arch, line: &Spelling) -> Result<Body, String> {
        let wide_data = line.operation == SpelledOperation::ReduceAsync(SpelledReduction::AddWide);
        let mut flow = Flow::default();
        let mut body = Body {
            spare: Vec::new(),
            lines: Vec::new(),
            inputs: BTreeMap::new(),
            state: None,
            flag: None,
            last: None,
        };
        for line in sass {
            if line.ends_with(':') {
                body.lines.push(line.clone());
                continue;
            }
            let i = Instruction::parse(line);
            if arch.number() < 90 && i.is_spare() {
                body.spare.push(line.clone());
                continue;
            }
            flow.step(&i, wide_data)?;
            body.lines.push(line.clone());
            let target = i.plain().first().and_then(|o| registers(o).first().copied()).filter(|_| i.writes());
            let hands_out = i.has("ARRIVE") || ((i.is("ATOMS") || i.is("ATOM")) && i.has("ADD"));
            body.state = target.filter(|_| hands_out).or(body.state);
            body.flag = target.filter(|_| i.is("SEL") || i.is("USEL")).or(body.flag);
            // A move copies the warp's uniform result to a register of each thread.
            let moved = i.plain().get(1).and_then(|o| registers(o).first().copied());
            let moved = moved.filter(|from| from.uniform && i.is("MOV"));
            if moved.is_some() && moved == body.state {
                body.state = target;
            }
            if moved.is_some() && moved == body.flag {
                body.flag = target;
            }
            body.last = target.or(body.last);
        }
        for (register, role) in flow.inputs {
            body.inputs
                .insert(register, role.ok_or_else(|| format!("what {register} is for does not show"))?);
        }
        body.check_operands(line)?;
        Ok(body)
    }

    /// Checks that the inputs are exactly the operands that the line names.
    fn check_operands(&self, line: &Spelling) -> Result<(), String> {
        let address = if line.generic() { "%ga" } else { "%a" };
        let name = |role: &RegisterRole| match role {
            RegisterRole::Address | RegisterRole::AddressHigh => address,
            RegisterRole::Barrier => "%r3",
            RegisterRole::Source | RegisterRole::SourceHigh => "%ga",
            RegisterRole::Count | RegisterRole::Rank => "%c",
            RegisterRole::State | RegisterRole::StateHigh => "%s",
            RegisterRole::Parity => "%par",
            RegisterRole::Hint => "%h",
        };
        let found: BTreeSet<&str> = self.inputs.values().map(name).collect();
        let named: BTreeSet<&str> = line.operands.iter().map(String::as_str).collect();
        // Before sm_90, inval produces no code.
        if found != named && !(line.operation == SpelledOperation::Inval && self.lines.is_empty()) {
            return Err(format!("operands {named:?}, but {found:?} are used"));
        }
        Ok(())
    }
}
