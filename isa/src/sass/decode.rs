//! From a statement to an instruction: which decoder reads which mnemonic.

mod args;
mod arith;
mod barrier;
mod convert;
mod copy;
mod direct;
mod float;
mod global;
mod half;
mod logic;
mod preds;
mod shared;
mod video;
mod warp;

use crate::kernel::instruction::Operation;
use crate::sass::listing::{INSTRUCTION_BYTES, Statement};
use crate::sass::mnemonic::{self, Support};
use args::Args;
use std::collections::HashMap;
use std::ops::Range;

/// Why a statement is not a decoded instruction.
pub(crate) enum Failure {
    /// It exists and is not decoded here.
    Lacking,
    /// It is wrong.
    Wrong { range: Range<usize>, message: String, help: String },
}

pub(crate) type Decoded<T> = Result<T, Failure>;

/// What branch targets are resolved with.
pub(crate) struct Targets<'t> {
    /// Index of the instruction after each label.
    pub(crate) labels: HashMap<&'t str, u32>,
    /// Index of the instruction at each byte offset.
    pub(crate) offsets: HashMap<u64, u32>,
    /// Number of instructions.
    pub(crate) count: u32,
    /// Index of the instruction that is decoded.
    pub(crate) at: u32,
    /// Where the listing says byte offsets, they are those of its instructions.
    pub(crate) regular: bool,
}

impl Targets<'_> {
    /// Half of a code address, as the text of relocatable code names it: `32@lo((kernel + .L_x_5@srel))`.
    pub(crate) fn code_word(&self, text: &str) -> Option<u32> {
        if !self.regular {
            return None;
        }
        let (high, sum) = match text.strip_prefix("32@lo(") {
            Some(sum) => (false, sum),
            None => (true, text.strip_prefix("32@hi(")?),
        };
        let sum = sum.trim_matches(['(', ')']);
        let terms = sum.split('+').map(|term| {
            let term = term.trim();
            self.labels.get(term.split('@').next()?.trim()).copied()
        });
        let index = terms.sum::<Option<u32>>()?;
        Some(if high { 0 } else { index.checked_mul(INSTRUCTION_BYTES)? })
    }
}

/// Decodes one statement.
pub(crate) fn decode(statement: &Statement<'_>, targets: &Targets<'_>) -> Decoded<Operation> {
    let mut parts = statement.mnemonic.split('.');
    let base = parts.next().unwrap_or("");
    match mnemonic::find(base) {
        None => {
            return Err(Failure::Wrong {
                range: statement.mnemonic_range.clone(),
                message: format!("unknown mnemonic `{base}`"),
                help: format!("the nearest known one is `{}`", mnemonic::nearest(base)),
            });
        }
        Some(row) if row.support == Support::Named => return Err(Failure::Lacking),
        Some(_) => {}
    }
    if let Some(operand) = statement.uniform_beyond() {
        let last = statement.limits.uniforms - 1;
        return Err(Failure::Wrong {
            range: operand.range.clone(),
            message: format!("no uniform register beyond UR{last} on this architecture"),
            help: format!("the last one is UR{last}, or URZ; there are more from sm_100 on"),
        });
    }
    let mut args = Args::new(statement, parts.collect(), targets);
    let operation = match base {
        "LDS" | "STS" | "ATOMS" | "LDL" | "STL" => shared::decode(base, &mut args),
        "SYNCS" | "USYNCS" => barrier::decode(base, &mut args),
        "LDGSTS" | "ARRIVES" | "UBLKCP" | "UBLKRED" | "STAS" | "REDAS" => copy::decode(base, &mut args),
        "LDG" | "STG" | "LD" | "ST" | "RED" | "REDG" | "ATOM" | "ATOMG" | "QSPC" | "LDC" | "ULDC"
        | "LDCU" => global::decode(base, &mut args),
        "BRA" | "EXIT" | "BSSY" | "BSYNC" | "BREAK" | "BMOV" | "WARPSYNC" | "YIELD" | "NANOSLEEP" | "BAR"
        | "MEMBAR" | "ERRBAR" | "CGAERRBAR" | "CCTL" | "CCTLL" | "CCTLT" | "NOP" | "FENCE" | "RPCMOV"
        | "UCGABAR_ARV" | "UCGABAR_WAIT" | "JMP" | "CALL" | "BRX" | "BRXU" | "JMX" | "JMXU" | "RET"
        | "BPT" | "LDGDEPBAR" | "DEPBAR" | "UTMACMDFLUSH" | "ENDCOLLECTIVE" | "ACQBULK" | "ACQSHMINIT"
        | "PREEXIT" | "UBLKPF" => direct::decode(base, &mut args, targets),
        "VOTE" | "VOTEU" | "SHFL" | "REDUX" | "CREDUX" | "R2UR" | "ELECT" | "S2R" | "S2UR" | "CS2R"
        | "CS2UR" | "MATCH" | "B2R" => warp::decode(base, &mut args),
        "P2R" | "R2P" | "UP2UR" | "UR2UP" => preds::decode(base, &mut args),
        "LEPC" | "ULEPC" => logic::program_counter(base, &mut args, targets),
        "HADD2" | "HMUL2" | "HFMA2" | "HMNMX2" | "HSETP2" | "HSET2" => half::decode(base, &mut args),
        _ => match base.strip_prefix('U').unwrap_or(base) {
            "FADD" | "FMUL" | "FFMA" | "FSETP" | "FSET" | "FMNMX" | "FSEL" | "FCHK" | "MUFU" | "DADD"
            | "DMUL" | "DFMA" | "DSETP" => float::decode(base, &mut args),
            "I2F" | "I2FP" | "F2I" | "F2F" | "F2FP" | "FRND" | "I2I" => convert::decode(base, &mut args),
            "LOP3" | "PLOP3" | "PSETP" | "SHF" | "PRMT" | "POPC" | "FLO" | "BREV" | "SEL" | "MOV"
            | "BMSK" | "SGXT" => logic::decode(base, &mut args),
            "VABSDIFF" | "VABSDIFF4" | "VIADDMNMX" | "VIMNMX3" | "IDP" | "IDP4A" | "I2IP" => {
                video::decode(base, &mut args)
            }
            _ => arith::decode(base, &mut args),
        },
    }?;
    args.finish()?;
    Ok(operation)
}
