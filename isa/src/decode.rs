//! From a statement to an instruction: which decoder reads which mnemonic.

mod args;
mod arith;
mod barrier;
mod copy;
mod direct;
mod float;
mod global;
mod logic;
mod shared;
mod warp;

use crate::instruction::Operation;
use crate::listing::Statement;
use crate::mnemonic::{self, Support};
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
    let mut args = Args::new(statement, parts.collect());
    let operation = match base {
        "LDS" | "STS" | "ATOMS" => shared::decode(base, &mut args),
        "SYNCS" => barrier::decode(&mut args),
        "LDGSTS" | "ARRIVES" | "UBLKCP" | "STAS" | "REDAS" => copy::decode(base, &mut args),
        "LDG" | "STG" | "LD" | "ST" | "RED" | "REDG" | "ATOM" | "ATOMG" | "QSPC" | "LDC" | "ULDC"
        | "LDCU" => global::decode(base, &mut args),
        "BRA" | "EXIT" | "BSSY" | "BSYNC" | "BREAK" | "BMOV" | "WARPSYNC" | "YIELD" | "NANOSLEEP" | "BAR"
        | "MEMBAR" | "ERRBAR" | "CGAERRBAR" | "CCTL" | "NOP" | "FENCE" | "RPCMOV" | "UCGABAR_ARV"
        | "UCGABAR_WAIT" => direct::decode(base, &mut args, targets),
        "VOTE" | "VOTEU" | "SHFL" | "REDUX" | "CREDUX" | "R2UR" | "ELECT" | "S2R" | "S2UR" | "CS2R" => {
            warp::decode(base, &mut args)
        }
        "FADD" | "FMUL" | "FFMA" | "FSETP" | "FMNMX" | "FSEL" | "MUFU" | "I2F" | "F2I" | "HADD2"
        | "HMUL2" | "HFMA2" | "DADD" | "DMUL" | "DFMA" => float::decode(base, &mut args),
        "LOP3" | "ULOP3" | "PLOP3" | "UPLOP3" | "SHF" | "USHF" | "PRMT" | "UPRMT" | "POPC" | "UPOPC"
        | "FLO" | "UFLO" | "BREV" | "UBREV" | "SEL" | "USEL" | "MOV" | "UMOV" => {
            logic::decode(base, &mut args)
        }
        _ => arith::decode(base, &mut args),
    }?;
    args.finish()?;
    Ok(operation)
}
